// What a tensor holds, for traces: its numbers by their power of two, one bin each over the dtype's whole range, zeros, subnormals,
// infinities, NaNs, the largest and smallest magnitude, and some elements, in one pass. Whole numbers are counted, and extremes compared as bits, so that
// blocks may come in any order.
#include "prelude.h"

enum { HEALTH_THREADS = 256, HEALTH_EACH = 32 };  // elements of a thread, about
enum { HEALTH_SAMPLE = 16 };
enum { HEALTH_ZERO, HEALTH_SUBNORMAL, HEALTH_INF, HEALTH_NAN, HEALTH_OTHERS };

// Counts is what the host reads: all 0 before. Magnitudes are the bits of float64 numbers, the smallest one inverted; bins follow.
struct Counts {
  u32 others[HEALTH_OTHERS];
  u64 amax, amin;
  float sample[HEALTH_SAMPLE];  // the elements at evenly spaced places
  u32 bins[1];
};
struct Health {
  const void* x;
  Counts* to;
  i64 n;              // below 2^32
  int rank, vector;   // vector: the elements lie in a row, at a multiple of 16 bytes
  int shape[8];
  i64 stride[8];
  double normal;      // the smallest normal number
};

// The bins' exponents begin with that of the smallest subnormal number: halves and float32 go by float32's, others by float64's.
template <class T> struct health_of { typedef float type; enum { bins = 277, low = -149 }; };
template <> struct health_of<double> { typedef double type; enum { bins = 2098, low = -1074 }; };
template <> struct health_of<i64> { typedef double type; enum { bins = 2098, low = -1074 }; };
template <> struct health_of<b8> { typedef double type; enum { bins = 2098, low = -1074 }; };

HT_FN int health_high(u64 v) {  // the place of the highest bit
  int at = 0;
  HT_UNROLL for (int by = 32; by > 0; by >>= 1)
    if (v >> by) v >>= by, at += by;
  return at;
}
HT_FN int health_exponent(float a) {
  const u32 b = ht_bits32(a);
  return b >> 23 ? (int)(b >> 23) - 127 : health_high(b) - 149;
}
HT_FN int health_exponent(double a) {
  const u64 b = ht_bits(a);
  return b >> 52 ? (int)(b >> 52) - 1023 : health_high(b) - 1074;
}

template <class T> struct Tally {
  typedef typename health_of<T>::type C;
  u32 others[HEALTH_OTHERS];
  C amax, amin, normal;
  int bin;            // of the last numbers, which are not in the block's bins yet
  u32 run, *bins;
  __device__ __forceinline__ void flush() {
    if (run) atomicAdd(bins + bin, run);
    run = 0;
  }
  __device__ __forceinline__ void add(C v) {
    const C a = ht_abs(v);
    if (a == 0) { others[HEALTH_ZERO]++; return; }
    if (!ht_finite(a)) { others[a != a ? HEALTH_NAN : HEALTH_INF]++; return; }
    if (a < normal) others[HEALTH_SUBNORMAL]++;
    if (a > amax) amax = a;
    if (a < amin) amin = a;
    const int at = health_exponent(a) - health_of<T>::low;
    if (at != bin) flush(), bin = at;
    run++;
  }
};

HT_FN i64 health_place(const Health& p, u32 at) {
  i64 off = 0;
  HT_ROLLED for (int d = p.rank - 1; d >= 0; d--) {
    const u32 q = at / (u32)p.shape[d];
    off += (at - q * (u32)p.shape[d]) * p.stride[d];
    at = q;
  }
  return off;
}

template <class T> HT_FN void health(const Health& p) {
  typedef typename health_of<T>::type C;
  const int B = health_of<T>::bins;
  __shared__ u32 bins[health_of<T>::bins];
  __shared__ u32 others[HEALTH_OTHERS];
  __shared__ u64 extremes[2];
  for (int i = threadIdx.x; i < B; i += HEALTH_THREADS) bins[i] = 0;
  if (threadIdx.x < HEALTH_OTHERS) others[threadIdx.x] = 0;
  if (threadIdx.x < 2) extremes[threadIdx.x] = 0;
  __syncthreads();
  Tally<T> t = {{0, 0, 0, 0}, 0, ht_inf<C>(), (C)p.normal, 0, 0, bins};
  const T* x = (const T*)p.x;
  const i64 step = (i64)gridDim.x * HEALTH_THREADS, first = (i64)blockIdx.x * HEALTH_THREADS + threadIdx.x;
  if (p.vector) {
    const int V = 16 / sizeof(T) > 8 ? 8 : 16 / sizeof(T);
    struct alignas(V * sizeof(T)) Vec { T v[V]; };
    for (i64 i = first; i < p.n / V; i += step) {
      const Vec in = ((const Vec*)x)[i];
      HT_UNROLL for (int k = 0; k < V; k++) t.add((C)wide(in.v[k]));
    }
    const i64 rest = p.n / V * V + first;
    if (rest < p.n) t.add((C)wide(x[rest]));
  } else {
    for (i64 i = first; i < p.n; i += step) t.add((C)wide(x[health_place(p, (u32)i)]));
  }
  const i64 some = p.n < HEALTH_SAMPLE ? p.n : HEALTH_SAMPLE;
  if (first < some) p.to->sample[first] = (float)(C)wide(x[health_place(p, (u32)(first * p.n / some))]);
  t.flush();
  HT_UNROLL for (int k = 0; k < HEALTH_OTHERS; k++)
    if (t.others[k]) atomicAdd(others + k, t.others[k]);
  if (t.amax > 0) atomicMax(extremes, ht_bits((double)t.amax)), atomicMax(extremes + 1, ~ht_bits((double)t.amin));
  __syncthreads();
  for (int i = threadIdx.x; i < B; i += HEALTH_THREADS)
    if (bins[i]) atomicAdd(p.to->bins + i, bins[i]);
  if (threadIdx.x < HEALTH_OTHERS && others[threadIdx.x]) atomicAdd(p.to->others + threadIdx.x, others[threadIdx.x]);
  if (threadIdx.x == 0 && extremes[0]) atomicMax(&p.to->amax, extremes[0]), atomicMax(&p.to->amin, extremes[1]);
}
HT_KERNEL(health_f16, Health, p) { health<f16>(p); }
HT_KERNEL(health_bf16, Health, p) { health<bf16>(p); }
HT_KERNEL(health_f32, Health, p) { health<float>(p); }
HT_KERNEL(health_f64, Health, p) { health<double>(p); }
HT_KERNEL(health_i64, Health, p) { health<i64>(p); }
HT_KERNEL(health_b8, Health, p) { health<b8>(p); }
