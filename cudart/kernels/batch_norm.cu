// Batch and group norms: statistics per channel by reductions, the rest element by element. x is [n, c, plane].
#include "map.h"
#include "spreads.h"

// Mean and biased variance of each channel.
struct Stats : Spreads {
  HT_FN double finish(const A& a, const Reduce&) { return a.n == 0 ? a.square / a.n : settled(a).from; }
  HT_FN double second(const A& a, const Reduce&) { return settled(a).square / a.n; }
};
template <> struct reduces<Stats> : reduces<Spreads> {};
// Σ dy·x̂ and Σ dy: in dy, x; more is mean and variance [2, c] in float32, or float64 for float64; attr[0] is eps.
template <class S> struct Sums {
  struct A { double mean, rate, sum, product; };
  HT_FN A start(const Reduce&) { return A{0, 0, 0, 0}; }
  HT_FN void begin(A& a, i64 k, const Reduce& p) {
    a.mean = (double)((const S*)p.more)[k];
    a.rate = 1 / ht_sqrt((double)((const S*)p.more)[p.kept + k] + p.attr[0]);
  }
  template <class C> HT_FN void step(A& a, C dy, C x, i64, const Reduce&) {
    a.sum += (double)dy;
    a.product += (double)dy * ((double)x - a.mean);
  }
  HT_FN void merge(A& a, const A& b) { a.sum += b.sum, a.product += b.product; }
  HT_FN double finish(const A& a, const Reduce&) { return a.product * a.rate; }
  HT_FN double second(const A& a, const Reduce&) { return a.sum; }
};
template <class S> struct reduces<Sums<S>> : Reduces { static const int ahead = 2; };
#define STATS(S, T, D, O, W)                                                                                          \
  HT_KERNEL(batch_norm_stats_##S##_##D, Reduce, p) { reduce_pass<Stats, 1, O, T, true>(p); }                          \
  HT_KERNEL(batch_norm_sums_##S##_##D, Reduce, p) { reduce_pass<Sums<W>, 2, O, T, true>(p); }
STATS(f16, f16, f16, f16, float) STATS(f16, f16, f32, float, float) STATS(bf16, bf16, bf16, bf16, float) STATS(bf16, bf16, f32, float, float)
STATS(f32, float, f32, float, float) STATS(f64, double, f64, double, double)

enum { CHANNEL_F16, CHANNEL_BF16, CHANNEL_F32, CHANNEL_F64, CHANNEL_NONE };  // dtypes of parameters
struct Channels {
  void* out;
  const void *x, *dy, *weight, *bias, *stats, *sums;
  i64 n, c, plane;                   // n counts all elements
  int wdtype, bdtype, sdtype, flags;  // flags: 1 vectors; 2 the statistics are constants (running ones)
  double eps, per;                   // per: elements of a channel
};
HT_FN double channel_value(const void* p, int dt, i64 i) {
  if (dt == CHANNEL_F32) return (double)((const float*)p)[i];
  if (dt == CHANNEL_F64) return ((const double*)p)[i];
  if (dt == CHANNEL_F16) return (double)wide(((const f16*)p)[i]);
  return (double)wide(((const bf16*)p)[i]);
}

template <class T, bool Slope> HT_FN void channel_pass(const Channels& p) {
  typedef typename as<T>::wide C;
  const int V = 16 / sizeof(T), width = p.flags & 1 ? V : 1;
  const i64 i = ((i64)blockIdx.x * MAP_THREADS + threadIdx.x) * width;
  if (i >= p.n) return;
  const i64 ch = i / p.plane % p.c;  // of all of a vector, where there are vectors
  const C mean = (C)channel_value(p.stats, p.sdtype == CHANNEL_F64 ? CHANNEL_F64 : CHANNEL_F32, ch);
  const C rate = (C)(1 / ht_sqrt(channel_value(p.stats, p.sdtype == CHANNEL_F64 ? CHANNEL_F64 : CHANNEL_F32, p.c + ch) + p.eps));
  C scale = rate, shift = 0, slope = 0;
  if (p.wdtype != CHANNEL_NONE) scale *= (C)channel_value(p.weight, p.wdtype, ch);
  if (Slope) {
    if (!(p.flags & 2)) {
      slope = rate * ((C)channel_value(p.sums, p.bdtype, ch) / (C)p.per);
      shift = (C)channel_value(p.sums, p.bdtype, p.c + ch) / (C)p.per;
    }
  } else if (p.bdtype != CHANNEL_NONE) {
    shift = (C)channel_value(p.bias, p.bdtype, ch);
  }
  struct alignas(16) Vec { T v[V]; };
  if (p.flags & 1) {
    const Vec x = *(const Vec*)((const T*)p.x + i);
    Vec out, dy;
    if (Slope) dy = *(const Vec*)((const T*)p.dy + i);
    HT_UNROLL for (int k = 0; k < V; k++) {
      const C d = wide(x.v[k]) - mean;
      out.v[k] = narrow<T>::of(Slope ? (wide(dy.v[k]) - shift - d * slope) * scale : d * scale + shift);
    }
    *(Vec*)((T*)p.out + i) = out;
    return;
  }
  const C d = wide(((const T*)p.x)[i]) - mean;
  C y;
  if (Slope) y = (wide(((const T*)p.dy)[i]) - shift - d * slope) * scale;
  else y = d * scale + shift;
  ((T*)p.out)[i] = narrow<T>::of(y);
}
// group_norm: a block per group of channels; c is the number of groups, eps as above, per the channels of a group, plane the elements of
// a channel.
template <class T> HT_FN void group_pass(const Channels& p) {
  typedef typename as<T>::wide C;
  __shared__ double cell[2][MAP_THREADS];
  const i64 channels = (i64)p.per, n = channels * p.plane, base = (i64)blockIdx.x * n;
  const T* x = (const T*)p.x + base;
  T* out = (T*)p.out + base;
  double sum = 0, square = 0;
  for (i64 i = threadIdx.x; i < n; i += MAP_THREADS) sum += (double)wide(x[i]);
  cell[0][threadIdx.x] = sum;
  __syncthreads();
  for (int half = MAP_THREADS / 2; half > 0; half >>= 1) {
    if ((int)threadIdx.x < half) cell[0][threadIdx.x] += cell[0][threadIdx.x + half];
    __syncthreads();
  }
  const double mean = cell[0][0] / (double)n;
  for (i64 i = threadIdx.x; i < n; i += MAP_THREADS) {
    const double d = (double)wide(x[i]) - mean;
    square += d * d;
  }
  cell[1][threadIdx.x] = square;
  __syncthreads();
  for (int half = MAP_THREADS / 2; half > 0; half >>= 1) {
    if ((int)threadIdx.x < half) cell[1][threadIdx.x] += cell[1][threadIdx.x + half];
    __syncthreads();
  }
  const C rate = (C)(1 / ht_sqrt(cell[1][0] / (double)n + p.eps)), m = (C)mean;
  for (i64 i = threadIdx.x; i < n; i += MAP_THREADS) {
    const i64 ch = (i64)blockIdx.x % p.c * channels + i / p.plane;
    C scale = rate, shift = 0;
    if (p.wdtype != CHANNEL_NONE) scale *= (C)channel_value(p.weight, p.wdtype, ch);
    if (p.bdtype != CHANNEL_NONE) shift = (C)channel_value(p.bias, p.bdtype, ch);
    out[i] = narrow<T>::of((wide(x[i]) - m) * scale + shift);
  }
}
#define CHANNELS(S, T)                                                               \
  HT_KERNEL(batch_norm_##S, Channels, p) { channel_pass<T, false>(p); }              \
  HT_KERNEL(batch_norm_backward_##S, Channels, p) { channel_pass<T, true>(p); }      \
  HT_KERNEL(group_norm_##S, Channels, p) { group_pass<T>(p); }
CHANNELS(f16, f16) CHANNELS(bf16, bf16) CHANNELS(f32, float) CHANNELS(f64, double)
// running_stats_: attr[0] is the momentum, attr[1] the factor of the new statistic.
struct running_row {
  template <class C, class D> HT_FN double f(C was, D now, i64, const Map& m) { return (1 - m.attr[0]) * (double)was + m.attr[0] * m.attr[1] * (double)now; }
};
#define RUNNING(S, T, D, O) \
  HT_KERNEL(running_stats_##S##_##D, Map, m) { map2<running_row, T, T, O>(m); }
RUNNING(f16, f16, f32, float) RUNNING(bf16, bf16, f32, float) RUNNING(f32, float, f32, float) RUNNING(f64, double, f64, double)
