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
  int lanes, chunks;                 // of vectors: threads side by side on a plane; pieces of a plane of CHANNEL_EACH vectors for each of them
};
enum { CHANNEL_EACH = 4, CHANNEL_THREADS = 256 };
HT_FN double channel_value(const void* p, int dt, i64 i) {
  if (dt == CHANNEL_F32) return (double)((const float*)p)[i];
  if (dt == CHANNEL_F64) return ((const double*)p)[i];
  if (dt == CHANNEL_F16) return (double)wide(((const f16*)p)[i]);
  return (double)wide(((const bf16*)p)[i]);
}

// Affine is what a channel's elements go through: d·scale + shift of their distance d from the mean, or for the slope (dy - shift - d·slope)·scale,
// and dy·scale with constant statistics, also where x is infinite.
template <class T, bool Slope> struct Affine {
  typedef typename as<T>::wide C;
  C mean, scale, shift, slope;
  bool still;
  __device__ __forceinline__ Affine(const Channels& p, i64 ch) : shift(0), slope(0), still(p.flags & 2) {
    const int stats = p.sdtype == CHANNEL_F64 ? CHANNEL_F64 : CHANNEL_F32;
    mean = (C)channel_value(p.stats, stats, ch);
    const C rate = (C)(1 / ht_sqrt(channel_value(p.stats, stats, p.c + ch) + p.eps));
    scale = rate;
    if (p.wdtype != CHANNEL_NONE) scale *= (C)channel_value(p.weight, p.wdtype, ch);
    if (Slope) {
      if (!still) {
        slope = rate * ((C)channel_value(p.sums, p.bdtype, ch) / (C)p.per);
        shift = (C)channel_value(p.sums, p.bdtype, p.c + ch) / (C)p.per;
      }
    } else if (p.bdtype != CHANNEL_NONE) {
      shift = (C)channel_value(p.bias, p.bdtype, ch);
    }
  }
  __device__ __forceinline__ T of(T x, T dy) const {
    const C d = wide(x) - mean;
    if (Slope) return narrow<T>::of(still ? wide(dy) * scale : (wide(dy) - shift - d * slope) * scale);
    return narrow<T>::of(d * scale + shift);
  }
};

// With vectors a thread has CHANNEL_EACH of one plane, which it reads before it asks for the channel's numbers.
template <class T, bool Slope> HT_FN void channel_vectors(const Channels& p) {
  const int V = 16 / sizeof(T), most = CHANNEL_EACH;
  struct alignas(16) Vec { T v[V]; };
  const u32 unit = blockIdx.x * (u32)(CHANNEL_THREADS / p.lanes) + threadIdx.x / (u32)p.lanes, plane = unit / (u32)p.chunks;
  const int per = (int)(p.plane / V), first = (int)(unit - plane * (u32)p.chunks) * most * p.lanes + (int)(threadIdx.x % (u32)p.lanes);
  const i64 base = (i64)plane * per;
  if ((base + first) * V >= p.n) return;
  Vec x[most], dy[most];
  HT_UNROLL for (int j = 0; j < most; j++) {
    const int at = first + j * p.lanes;
    if (at < per) {
      x[j] = ((const Vec*)p.x)[base + at];
      if (Slope) dy[j] = ((const Vec*)p.dy)[base + at];
    }
  }
  const Affine<T, Slope> affine(p, plane % (u32)p.c);
  HT_UNROLL for (int j = 0; j < most; j++) {
    const int at = first + j * p.lanes;
    if (at >= per) return;
    Vec out;
    HT_UNROLL for (int k = 0; k < V; k++) out.v[k] = affine.of(x[j].v[k], Slope ? dy[j].v[k] : x[j].v[k]);
    ((Vec*)p.out)[base + at] = out;
  }
}
template <class T, bool Slope> HT_FN void channel_pass(const Channels& p) {
  if (p.flags & 1) return channel_vectors<T, Slope>(p);
  const i64 i = (i64)blockIdx.x * CHANNEL_THREADS + threadIdx.x;
  if (i >= p.n) return;
  const Affine<T, Slope> affine(p, i / p.plane % p.c);
  const T x = ((const T*)p.x)[i];
  ((T*)p.out)[i] = affine.of(x, Slope ? ((const T*)p.dy)[i] : x);
}
// group_norm: a block per group of channels; c is the number of groups, eps as above, per the channels of a group, plane the elements of
// a channel.
template <class T> HT_FN void group_pass(const Channels& p) {
  typedef typename as<T>::wide C;
  __shared__ double cell[2][CHANNEL_THREADS];
  const i64 channels = (i64)p.per, n = channels * p.plane, base = (i64)blockIdx.x * n;
  const T* x = (const T*)p.x + base;
  T* out = (T*)p.out + base;
  double sum = 0, square = 0;
  for (i64 i = threadIdx.x; i < n; i += CHANNEL_THREADS) sum += (double)wide(x[i]);
  cell[0][threadIdx.x] = sum;
  __syncthreads();
  for (int half = CHANNEL_THREADS / 2; half > 0; half >>= 1) {
    if ((int)threadIdx.x < half) cell[0][threadIdx.x] += cell[0][threadIdx.x + half];
    __syncthreads();
  }
  const double mean = cell[0][0] / (double)n;
  for (i64 i = threadIdx.x; i < n; i += CHANNEL_THREADS) {
    const double d = (double)wide(x[i]) - mean;
    square += d * d;
  }
  cell[1][threadIdx.x] = square;
  __syncthreads();
  for (int half = CHANNEL_THREADS / 2; half > 0; half >>= 1) {
    if ((int)threadIdx.x < half) cell[1][threadIdx.x] += cell[1][threadIdx.x + half];
    __syncthreads();
  }
  const C rate = (C)(1 / ht_sqrt(cell[1][0] / (double)n + p.eps)), m = (C)mean;
  for (i64 i = threadIdx.x; i < n; i += CHANNEL_THREADS) {
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
