// Tensors of random numbers, two from each block of the stream, each of 64 bits, in float64 as on the CPU: the same bits.
#include "map.h"
#include "math64.h"

// a and b are the lowest number and the distance to the highest of uniform ones, the mean and the deviation of normal ones; whole ones are span
// numbers from low on. In a captured step the seed and the first block of the stream lie at origin.
struct Drawn {
  u64 out, origin, seed, block;
  i64 n, low, span;
  double a, b;
};

// ht_unit is a number in [0,1] of 53 bits from 64: both halves are exact, so that their sum is rounded once.
HT_FN double ht_unit(u32 hi, u32 lo) { return (double)hi / 4294967296.0 + (double)lo / 18446744073709551616.0; }

struct uniform_numbers {
  template <class T> HT_FN void pair(const Drawn& p, const double u[2], T y[2]) {
    y[0] = narrow<T>::of(p.a + p.b * u[0]), y[1] = narrow<T>::of(p.a + p.b * u[1]);
  }
};
// Normal numbers are made as Box and Muller do it.
struct normal_numbers {
  template <class T> HT_FN void pair(const Drawn& p, const double u[2], T y[2]) {
    const double radius = ht_sqrt(-2.0 * log1p64(-u[0])), angle = 6.283185307179586 * u[1];
    y[0] = narrow<T>::of(p.a + p.b * (radius * cos64(angle))), y[1] = narrow<T>::of(p.a + p.b * (radius * sin64(angle)));
  }
};
struct whole_numbers {
  HT_FN i64 one(const Drawn& p, double u) {
    const i64 k = (i64)(u * (double)p.span);
    return p.low + (k < p.span ? k : p.span - 1);
  }
  HT_FN void pair(const Drawn& p, const double u[2], i64 y[2]) { y[0] = one(p, u[0]), y[1] = one(p, u[1]); }
};

template <class Kind, class T> HT_FN void drawn(const Drawn& p) {
  const i64 at = (i64)blockIdx.x * MAP_THREADS + threadIdx.x, i = 2 * at;
  if (i >= p.n) return;
  const four b = philox(stream_of((const void*)p.origin, p.seed, p.block), (u64)at);
  const double u[2] = {ht_unit(b.v[0], b.v[1]), ht_unit(b.v[2], b.v[3])};
  T y[2];
  Kind::pair(p, u, y);
  T* out = (T*)p.out + i;
  typedef vec<2, T> Two;
  if (i + 1 < p.n && (u64)out % sizeof(Two) == 0) *(Two*)out = Two{{y[0], y[1]}};
  else {
    out[0] = y[0];
    if (i + 1 < p.n) out[1] = y[1];
  }
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
