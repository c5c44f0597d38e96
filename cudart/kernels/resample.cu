// The upsample family: each dimension is resized by weights of its own, so an element of the result is a sum over a box of elements with
// the product of a weight per dimension. A first launch makes the tables of the dimensions in float64: where the terms of each index
// begin, how many they are, and their weights; for the gradient also which indices of the result read an element. As the places move one
// way with the index these are ranges, so that the gradient is a sum over a box, too: in a fixed order, without atomics.
#include "prelude.h"

enum { RESAMPLE_THREADS = 256 };
// How a dimension is resized. HELD is one that stays as it is.
enum { HELD = 0, NEAREST = 1, NEAREST_EXACT = 2, LINEAR = 3, CUBIC = 4, LINEAR_SMOOTH = 5, CUBIC_SMOOTH = 6 };
enum { RESAMPLE_ALIGN = 1, RESAMPLE_DOUBLE = 2, RESAMPLE_BACKWARD = 4, RESAMPLE_PICK = 8 };  // Resample.flags

struct Resample {
  void* out;
  const void* x;          // in the gradient, dy
  i64 n;                  // elements of out, below 2^32
  int channels, flags;
  int from[3], to[3];     // sizes before and after resizing, also in the gradient
  int mode[3], width[3];  // the most terms of an index
  i64 stride[5];          // of x: image, channel and the three dimensions
  double step[3];         // how far the place moves per index of the result
  float step32[3], unused;
  int* first[3];          // [to], and behind it the number of terms
  void* weight[3];        // [to][width], float64, for halves float32
  int* reader[3];         // [from], the first index that reads an element, and behind it the end of the range
};

struct Reach { int first, end; };
HT_FN double smooth_radius(const Resample& p, int d) {
  const double wide = p.step[d] > 1 ? p.step[d] : 1;
  return (p.mode[d] == LINEAR_SMOOTH ? 1.0 : 2.0) * wide;
}
HT_FN int at_least(int v, int lo) { return v < lo ? lo : v; }
HT_FN int at_most(int v, int hi) { return v > hi ? hi : v; }

// place is where index i lies before resizing.
HT_FN double resample_place(const Resample& p, int d, int i) {
  if (p.flags & RESAMPLE_ALIGN) return p.step[d] * (double)i;
  const double at = p.step[d] * ((double)i + 0.5) - 0.5;
  return at < 0 && p.mode[d] != CUBIC ? 0 : at;
}
HT_FN int nearest_of(const Resample& p, int d, int i) {
  const float shift = p.mode[d] == NEAREST_EXACT ? 0.5f : 0.0f;
  const int at = p.flags & RESAMPLE_DOUBLE ? (int)(((double)i + (double)shift) * p.step[d]) : (int)(((float)i + shift) * p.step32[d]);
  return at_most(at, p.from[d] - 1);
}
// reach returns the elements that index i reads.
HT_FN Reach resample_reach(const Resample& p, int d, int i) {
  const int n = p.from[d], mode = p.mode[d];
  if (mode == HELD || (mode == LINEAR && n == p.to[d])) return Reach{i, i + 1};
  if (mode == NEAREST || mode == NEAREST_EXACT) {
    const int at = nearest_of(p, d, i);
    return Reach{at, at + 1};
  }
  if (mode == LINEAR) {
    const int lo = at_most((int)resample_place(p, d, i), n - 1);
    return Reach{lo, at_most(lo + 2, n)};
  }
  if (mode == CUBIC) {
    const int lo = at_most((int)ht_floor(resample_place(p, d, i)), n - 1);
    return Reach{at_most(at_least(lo - 1, 0), n - 1), at_most(at_least(lo + 2, 0), n - 1) + 1};
  }
  const double center = p.step[d] * ((double)i + 0.5), radius = smooth_radius(p, d);
  return Reach{at_least((int)(center - radius + 0.5), 0), at_most((int)(center + radius + 0.5), n)};
}

// Keys' kernel within 1 and from 1 to 2.
HT_FN double cubic_near(double x, double a) { return ((a + 2) * x - (a + 3)) * x * x + 1; }
HT_FN double cubic_far(double x, double a) { return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a; }
HT_FN double smooth_weight(int mode, double x) {
  x = ht_abs(x);
  if (mode == LINEAR_SMOOTH) return x < 1 ? 1 - x : 0;
  return x < 1 ? cubic_near(x, -0.5) : (x < 2 ? cubic_far(x, -0.5) : 0);
}
HT_FN double within_unit(double x) { return x < 0 ? 0 : (x > 1 ? 1 : x); }

// resample_weights writes the weights of index i; terms that an edge brings to one element are added up.
template <class W> HT_FN void resample_weights(const Resample& p, int d, int i, Reach r, W* weight) {
  const int n = p.from[d], mode = p.mode[d];
  if (r.end - r.first == 1 && mode < LINEAR_SMOOTH) {
    weight[0] = (W)1;
    return;
  }
  if (mode == LINEAR) {
    const double w = within_unit(resample_place(p, d, i) - (double)r.first);
    weight[0] = (W)(1 - w);
    weight[1] = (W)w;
    return;
  }
  if (mode == CUBIC) {
    const double at = resample_place(p, d, i);
    const int lo = at_most((int)ht_floor(at), n - 1);
    const double x = within_unit(at - (double)lo), a = -0.75;
    const double w[4] = {cubic_far(x + 1, a), cubic_near(x, a), cubic_near(1 - x, a), cubic_far(2 - x, a)};
    double sum[4] = {0, 0, 0, 0};
    HT_UNROLL for (int k = 0; k < 4; k++) {
      const int to = at_most(at_least(lo - 1 + k, 0), n - 1) - r.first;
      HT_UNROLL for (int j = 0; j < 4; j++) sum[j] += j == to ? w[k] : 0;
    }
    HT_UNROLL for (int j = 0; j < 4; j++)
      if (j < r.end - r.first) weight[j] = (W)sum[j];
    return;
  }
  const double center = p.step[d] * ((double)i + 0.5), wide = p.step[d] > 1 ? p.step[d] : 1;
  double sum = 0;
  for (int j = r.first; j < r.end; j++) sum += smooth_weight(mode, ((double)j - center + 0.5) / wide);
  for (int j = r.first; j < r.end; j++) weight[j - r.first] = (W)(smooth_weight(mode, ((double)j - center + 0.5) / wide) / sum);
}

// resample_reader returns the first index of the result whose terms begin, or end, behind element j.
template <bool End> HT_FN int resample_reader(const Resample& p, int d, int j) {
  int lo = 0, hi = p.to[d];
  while (lo < hi) {
    const int mid = lo + (hi - lo) / 2;
    const Reach r = resample_reach(p, d, mid);
    if ((End ? r.first : r.end - 1) < j + (End ? 1 : 0)) lo = mid + 1;
    else hi = mid;
  }
  return lo;
}

// resample_tables: blockIdx.y is the dimension; a thread per index of the result, and in the gradient one per element.
template <class W> HT_FN void resample_tables(const Resample& p) {
  const int d = blockIdx.y, i = (int)(blockIdx.x * RESAMPLE_THREADS + threadIdx.x);
  if (i < p.to[d]) {
    const Reach r = resample_reach(p, d, i);
    p.first[d][i] = r.first;
    p.first[d][p.to[d] + i] = r.end - r.first;
    resample_weights<W>(p, d, i, r, (W*)p.weight[d] + (i64)i * p.width[d]);
  }
  if (!(p.flags & RESAMPLE_BACKWARD) || i >= p.from[d]) return;
  p.reader[d][i] = resample_reader<false>(p, d, i);
  p.reader[d][p.from[d] + i] = resample_reader<true>(p, d, i);
}
HT_KERNEL(resample_tables_f32, Resample, p) { resample_tables<float>(p); }
HT_KERNEL(resample_tables_f64, Resample, p) { resample_tables<double>(p); }

// Weights of cubic modes change their signs, so that float32 results need more than float32 sums.
template <class T> struct weight_of { typedef float type; };
template <> struct weight_of<float> { typedef double type; };
template <> struct weight_of<double> { typedef double type; };

// Where element i of a result of the given sizes lies, and the plane of x that it is of.
struct Spot { i64 base; int z, y, x; };
HT_FN Spot resample_spot(const Resample& p, const int (&size)[3], u32 i) {
  Spot s;
  u32 q = i / (u32)size[2];
  s.x = (int)(i - q * (u32)size[2]), i = q, q = i / (u32)size[1];
  s.y = (int)(i - q * (u32)size[1]), i = q, q = i / (u32)size[0];
  s.z = (int)(i - q * (u32)size[0]), i = q, q = i / (u32)p.channels;
  s.base = q * p.stride[0] + (i - q * (u32)p.channels) * p.stride[1];
  return s;
}

template <class T> HT_FN void upsample(const Resample& p) {
  typedef typename weight_of<T>::type W;
  const i64 at = (i64)blockIdx.x * RESAMPLE_THREADS + threadIdx.x;
  if (at >= p.n) return;
  const Spot o = resample_spot(p, p.to, (u32)at);
  const int z0 = p.first[0][o.z], y0 = p.first[1][o.y], x0 = p.first[2][o.x];
  const T* in = (const T*)p.x + o.base + z0 * p.stride[2] + y0 * p.stride[3] + x0 * p.stride[4];
  if (p.flags & RESAMPLE_PICK) {
    ((T*)p.out)[at] = *in;
    return;
  }
  const int nz = p.first[0][p.to[0] + o.z], ny = p.first[1][p.to[1] + o.y], nx = p.first[2][p.to[2] + o.x];
  const W *wz = (const W*)p.weight[0] + (i64)o.z * p.width[0], *wy = (const W*)p.weight[1] + (i64)o.y * p.width[1], *wx = (const W*)p.weight[2] + (i64)o.x * p.width[2];
  W sum = 0;
  for (int z = 0; z < nz; z++)
    for (int y = 0; y < ny; y++) {
      const T* row = in + z * p.stride[2] + y * p.stride[3];
      W line = 0;
      for (int x = 0; x < nx; x++) line += wx[x] * (W)wide(row[x * p.stride[4]]);
      sum += wz[z] * wy[y] * line;
    }
  ((T*)p.out)[at] = narrow<T>::of(sum);
}
// The gradient adds up in float64: an element may have many readers.
template <class T> HT_FN void upsample_slope(const Resample& p) {
  typedef typename weight_of<T>::type W;
  const i64 at = (i64)blockIdx.x * RESAMPLE_THREADS + threadIdx.x;
  if (at >= p.n) return;
  const Spot o = resample_spot(p, p.from, (u32)at);
  const int z1 = p.reader[0][p.from[0] + o.z], y1 = p.reader[1][p.from[1] + o.y], x1 = p.reader[2][p.from[2] + o.x];
  double sum = 0;
  for (int z = p.reader[0][o.z]; z < z1; z++) {
    const double wz = ((const W*)p.weight[0])[(i64)z * p.width[0] + (o.z - p.first[0][z])];
    for (int y = p.reader[1][o.y]; y < y1; y++) {
      const double wy = wz * ((const W*)p.weight[1])[(i64)y * p.width[1] + (o.y - p.first[1][y])];
      const T* row = (const T*)p.x + o.base + z * p.stride[2] + y * p.stride[3];
      double line = 0;
      for (int x = p.reader[2][o.x]; x < x1; x++)
        line += (double)((const W*)p.weight[2])[(i64)x * p.width[2] + (o.x - p.first[2][x])] * (double)wide(row[x * p.stride[4]]);
      sum += wy * line;
    }
  }
  ((T*)p.out)[at] = narrow<T>::of(sum);
}
#define UPSAMPLES(S, T)                                       \
  HT_KERNEL(upsample_##S, Resample, p) { upsample<T>(p); }    \
  HT_KERNEL(upsample_backward_##S, Resample, p) { upsample_slope<T>(p); }
UPSAMPLES(f16, f16) UPSAMPLES(bf16, bf16) UPSAMPLES(f32, float) UPSAMPLES(f64, double)
