// Tensors of random numbers, two from each block of the stream, each of 64 bits, in float64 as on the CPU: the same bits.
#include "map.h"
// The functions are inlined here: the sine and the cosine of an angle then share all but their last operations.
#undef HT_MATH
#define HT_MATH HT_FN
#include "math64.h"

// a and b are the lowest number and the distance to the highest of uniform ones, the mean and the deviation of normal ones; whole ones are span
// numbers from low on. Uniform halves above most become it: they would be rounded to the highest number, which is none of theirs. In a captured step the seed and the first block of the stream lie at origin.
struct Drawn {
  u64 out, origin, seed, block;
  i64 n, low, span;
  double a, b, most;
};

// The blocks that a thread draws; also the host's number. All have the same keys, which are made once.
enum { DRAWN_BLOCKS = 4 };

// ht_unit is a number in [0,1] of 53 bits from 64, hi/2³² + lo/2⁶⁴: both are exact, so that their sum is rounded once. Words need no conversion where
// they are the end of a mantissa: 2²⁰ + hi/2³² and 2⁻¹² + lo/2⁶⁴ have 52 bits behind the first.
HT_FN double ht_unit(u32 hi, u32 lo) {
  return (ht_double((u64)0x41300000u << 32 | hi) - 0x1p20) + (ht_double((u64)0x3f300000u << 32 | lo) - 0x1p-12);
}

template <int N, class T> HT_FN void narrowed(const double (&x)[N], T (&y)[N]) { HT_UNROLL for (int k = 0; k < N; k++) y[k] = narrow<T>::of(x[k]); }

// A kind's numbers are made of uniform ones, two by two.
struct uniform_numbers {
  template <int N, class T> HT_FN void of(const Drawn& p, double (&u)[N], T (&y)[N]) {
    if (p.a != 0 || p.b != 1) {  // else a + b·u has the bits of u, which is never -0
      HT_UNROLL for (int k = 0; k < N; k++) u[k] = p.a + p.b * u[k];
    }
    if (sizeof(T) == 2) {
      HT_UNROLL for (int k = 0; k < N; k++) u[k] = u[k] > p.most ? p.most : u[k];
    }
    narrowed(u, y);
  }
};
// Normal numbers are made as Box and Muller do it.
struct normal_numbers {
  template <int N, class T> HT_FN void of(const Drawn& p, double (&u)[N], T (&y)[N]) {
    HT_UNROLL for (int k = 0; k < N; k += 2) {
      const double radius = ht_sqrt(-2.0 * log1p64(-u[k])), angle = 6.283185307179586 * u[k + 1];
      u[k] = p.a + p.b * (radius * cos64(angle)), u[k + 1] = p.a + p.b * (radius * sin64(angle));
    }
    narrowed(u, y);
  }
};
struct whole_numbers {
  template <int N> HT_FN void of(const Drawn& p, const double (&u)[N], i64 (&y)[N]) {
    HT_UNROLL for (int k = 0; k < N; k++) {
      const i64 whole = (i64)(u[k] * (double)p.span);
      y[k] = p.low + (whole < p.span ? whole : p.span - 1);
    }
  }
};

// put_chunk writes V numbers, 16 bytes, by one instruction: clang would write some of them together with those of the tail.
template <int V, class T> HT_FN void put_chunk(T* to, const T* y) {
  vec<V, T> v;
  HT_UNROLL for (int k = 0; k < V; k++) v.v[k] = y[k];
  const Chunk c = __builtin_bit_cast(Chunk, v);
#if defined(HALFTONE_EMULATOR)
  *(Chunk*)to = c;
#else
  asm volatile("st.global.v4.u32 [%0],{%1,%2,%3,%4};" ::"l"(to), "r"(c.v[0]), "r"(c.v[1]), "r"(c.v[2]), "r"(c.v[3]) : "memory");
#endif
}

// A thread's numbers come in runs of V, which are neighbors; those of a block's threads lie side by side, and HOP after them the next runs.
template <class Kind, class T> HT_FN void drawn(const Drawn& p) {
  const int V = 16 / sizeof(T), N = 2 * DRAWN_BLOCKS, HOP = MAP_THREADS * V;
  const i64 i = (i64)blockIdx.x * (MAP_THREADS * N) + threadIdx.x * V;
  if (i >= p.n) return;
  const Stream s = stream_of((const void*)p.origin, p.seed, p.block);
  double u[N];
  HT_UNROLL for (int k = 0; k < N; k += 2) {
    const four b = philox(s, (u64)(i + k / V * HOP + k % V) / 2);
    u[k] = ht_unit(b.v[0], b.v[1]), u[k + 1] = ht_unit(b.v[2], b.v[3]);
  }
  T y[N];
  Kind::of(p, u, y);
  T* out = (T*)p.out + i;
  if ((u64)out % 16 == 0 && i + (N / V - 1) * HOP + V <= p.n) {
    HT_UNROLL for (int k = 0; k < N; k += V) put_chunk<V>(out + k / V * HOP, y + k);
    return;
  }
  HT_UNROLL for (int k = 0; k < N; k++) if (i + k / V * HOP + k % V < p.n) out[k / V * HOP + k % V] = y[k];
}
HT_KERNEL(uniform_f16, Drawn, p) { drawn<uniform_numbers, f16>(p); }
HT_KERNEL(uniform_bf16, Drawn, p) { drawn<uniform_numbers, bf16>(p); }
HT_KERNEL(uniform_f32, Drawn, p) { drawn<uniform_numbers, float>(p); }
HT_KERNEL(uniform_f64, Drawn, p) { drawn<uniform_numbers, double>(p); }
HT_KERNEL(normal_f16, Drawn, p) { drawn<normal_numbers, f16>(p); }
HT_KERNEL(normal_bf16, Drawn, p) { drawn<normal_numbers, bf16>(p); }
HT_KERNEL(normal_f32, Drawn, p) { drawn<normal_numbers, float>(p); }
HT_KERNEL(normal_f64, Drawn, p) { drawn<normal_numbers, double>(p); }
HT_KERNEL(whole_i64, Drawn, p) { drawn<whole_numbers, i64>(p); }
