// cdist: the p-norms of the differences of all rows of a and b, and its gradient; cross products of vectors of three. Sums are in float64,
// as the norms', in a fixed order.
#include "lines.h"
#include "special.h"

enum { PAIR_THREADS = 256, PAIR_TILE = 16 };
enum { PAIR_SQUARE = 0, PAIR_ABS = 1, PAIR_COUNT = 2, PAIR_LARGEST = 3, PAIR_POWER = 4 };  // Pairs.kind: p is 2, 1, 0, infinite, another

struct Pairs {
  void* out;
  const void *a, *b, *dy;
  double* norm;       // of the gradient: the distances, and behind them what a pair's slope is multiplied by
  i64 batches;
  int n, m, k;        // rows of a, rows of b, features
  int kind, rank, lanes;
  int shape[6];       // of the batches
  i64 stride[3][6];   // of a, b and dy from batch to batch
  i64 row[3], step[3];  // of a, b and dy
  double power;
};

HT_FN void pair_batch(const Pairs& p, i64 at, i64 (&off)[3]) {
  off[0] = off[1] = off[2] = 0;
  HT_ROLLED for (int d = p.rank - 1; d >= 0; d--) {
    const i64 r = at % p.shape[d];
    HT_UNROLL for (int i = 0; i < 3; i++) off[i] += r * p.stride[i][d];
    at /= p.shape[d];
  }
}

// What a distance is made of.
template <int Kind> HT_FN void pair_add(double& sum, double d, double power) {
  d = ht_abs(d);
  if (Kind == PAIR_SQUARE) sum += d * d;
  if (Kind == PAIR_ABS) sum += d;
  if (Kind == PAIR_COUNT) sum += d != 0 ? 1 : 0;
  if (Kind == PAIR_POWER) sum += ht_pow(d, power);
  if (Kind == PAIR_LARGEST && (d > sum || d != d)) sum = d;
}
template <int Kind> HT_FN double pair_norm(double sum, double power) {
  return Kind == PAIR_SQUARE ? ht_sqrt(sum) : (Kind == PAIR_POWER ? ht_pow(sum, 1 / power) : sum);
}
// The slope of a distance y to a feature is this times the difference, its sign, or its power. Each of several largest differences has all of it.
template <int Kind> HT_FN double pair_factor(double y, double dy) {
  if (y == 0 || Kind == PAIR_COUNT) return 0;
  return Kind == PAIR_SQUARE ? dy / y : dy;
}

// A block makes a tile of the distances from tiles of a and b. blockIdx.y, and every gridDim.y-th after it, are rows
// of a; blockIdx.z, and what follows it alike, batches.
template <class T, bool Slope, int Kind> HT_FN void pair_tiles(const Pairs& p) {
  __shared__ double ta[PAIR_TILE][PAIR_TILE + 1], tb[PAIR_TILE][PAIR_TILE + 1];
  const int x = threadIdx.x % PAIR_TILE, y = threadIdx.x / PAIR_TILE;
  const int j = (int)(blockIdx.x * PAIR_TILE) + x, jl = (int)(blockIdx.x * PAIR_TILE) + y;
  for (i64 g = blockIdx.z; g < p.batches; g += gridDim.z) {
    i64 off[3];
    pair_batch(p, g, off);
    for (i64 row = (i64)blockIdx.y * PAIR_TILE; row < p.n; row += (i64)gridDim.y * PAIR_TILE) {
      const int i = (int)row + y;
      double sum = 0;
      for (int k = 0; k < p.k; k += PAIR_TILE) {
        const int q = k + x;
        ta[y][x] = i < p.n && q < p.k ? (double)wide(((const T*)p.a)[off[0] + i * p.row[0] + q * p.step[0]]) : 0;
        tb[y][x] = jl < p.m && q < p.k ? (double)wide(((const T*)p.b)[off[1] + jl * p.row[1] + q * p.step[1]]) : 0;
        __syncthreads();
        const int end = p.k - k < PAIR_TILE ? p.k - k : PAIR_TILE;
        for (int e = 0; e < end; e++) pair_add<Kind>(sum, ta[y][e] - tb[x][e], p.power);
        __syncthreads();
      }
      if (i >= p.n || j >= p.m) continue;
      const double norm = pair_norm<Kind>(sum, p.power);
      const i64 at = (g * p.n + i) * p.m + j;
      if (Slope) {
        p.norm[at] = norm;
        p.norm[p.batches * p.n * p.m + at] = pair_factor<Kind>(norm, (double)wide(((const T*)p.dy)[off[2] + i * p.row[2] + j * p.step[2]]));
      } else {
        ((T*)p.out)[at] = narrow<T>::of(norm);
      }
    }
  }
}
template <class T, bool Slope> HT_FN void pair_pass(const Pairs& p) {
  if (p.kind == PAIR_SQUARE) pair_tiles<T, Slope, PAIR_SQUARE>(p);
  else if (p.kind == PAIR_ABS) pair_tiles<T, Slope, PAIR_ABS>(p);
  else if (p.kind == PAIR_COUNT) pair_tiles<T, Slope, PAIR_COUNT>(p);
  else if (p.kind == PAIR_LARGEST) pair_tiles<T, Slope, PAIR_LARGEST>(p);
  else pair_tiles<T, Slope, PAIR_POWER>(p);
}

// cdist_backward: lanes threads share feature q of row i of a, each every lanes-th row of b.
template <class T> HT_FN void pair_slope(const Pairs& p) {
  const i64 at = (i64)blockIdx.x * (PAIR_THREADS / p.lanes) + threadIdx.x / p.lanes, total = p.batches * p.n * p.k;
  double sum = 0;
  if (at < total) {
    const i64 row = at / p.k, g = row / p.n;
    const int q = (int)(at - row * p.k), i = (int)(row - g * p.n);
    i64 off[3];
    pair_batch(p, g, off);
    const double* norm = p.norm + row * p.m;
    const double* factor = norm + p.batches * p.n * p.m;
    const double mine = (double)wide(((const T*)p.a)[off[0] + i * p.row[0] + q * p.step[0]]);
    const T* b = (const T*)p.b + off[1] + q * p.step[1];
    for (int j = threadIdx.x % p.lanes; j < p.m; j += p.lanes) {
      const double d = mine - (double)wide(b[j * p.row[1]]), by = factor[j];
      if (d == 0 || norm[j] == 0 || p.kind == PAIR_COUNT) continue;
      if (p.kind == PAIR_SQUARE) sum += by * d;
      else if (p.kind == PAIR_ABS) sum += d != d ? d : (d < 0 ? -by : by);
      else if (p.kind == PAIR_LARGEST) sum += ht_abs(d) == norm[j] ? (d < 0 ? -by : by) : 0;
      else sum += by * ht_copysign(ht_pow(ht_abs(d) / norm[j], p.power - 1), d);
    }
  }
  sum = across<Plus>(sum, p.lanes);
  if (at < total && threadIdx.x % p.lanes == 0) ((T*)p.out)[at] = narrow<T>::of(sum);
}
#define PAIRS(S, T)                                              \
  HT_KERNEL(cdist_##S, Pairs, p) { pair_pass<T, false>(p); }     \
  HT_KERNEL(cdist_slopes_##S, Pairs, p) { pair_pass<T, true>(p); } \
  HT_KERNEL(cdist_backward_##S, Pairs, p) { pair_slope<T>(p); }
PAIRS(f16, f16) PAIRS(bf16, bf16) PAIRS(f32, float) PAIRS(f64, double)

// cross: a thread per line of three. A difference of products keeps its digits: in float64, and for float64 by fused operations.
HT_FN float cross_term(float a, float b, float c, float d) { return (float)((double)a * (double)b - (double)c * (double)d); }
HT_FN double cross_term(double a, double b, double c, double d) {
  const double w = c * d, low = ht_fma(-c, d, w);
  const double v = ht_fma(a, b, -w) + low;
  return ht_finite(v) ? v : a * b - w;
}
template <class T> HT_FN void cross(const Lines& p) {
  const i64 i = (i64)blockIdx.x * LINE_THREADS + threadIdx.x;
  if (i >= p.lines) return;
  i64 off[3];
  where<3>(p, (u32)i, off);
  typename as<T>::wide a[3], b[3];
  HT_UNROLL for (int k = 0; k < 3; k++) {
    a[k] = wide(((const T*)p.in[0])[off[1] + k * p.step[1]]);
    b[k] = wide(((const T*)p.in[1])[off[2] + k * p.step[2]]);
  }
  HT_UNROLL for (int k = 0; k < 3; k++) {
    const int r = (k + 1) % 3, s = (k + 2) % 3;
    ((T*)p.out)[off[0] + k * p.step[0]] = narrow<T>::of(cross_term(a[r], b[s], a[s], b[r]));
  }
}
HT_KERNEL(cross_f16, Lines, p) { cross<f16>(p); }
HT_KERNEL(cross_bf16, Lines, p) { cross<bf16>(p); }
HT_KERNEL(cross_f32, Lines, p) { cross<float>(p); }
HT_KERNEL(cross_f64, Lines, p) { cross<double>(p); }
