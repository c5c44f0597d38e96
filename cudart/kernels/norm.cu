// layer_norm and rms_norm over the last dimensions, and their gradients. Sums are of float32, two passes over a line in registers or
// cache; those over lines and between lanes are of float64.
#include "lines.h"

enum { KEEP = 4 };

HT_FN float line_rate(double v, float) { return (float)(1 / ht_sqrt(v)); }
HT_FN double line_rate(double v, double) { return 1 / ht_sqrt(v); }

template <class T> struct LineOf {
  typedef typename line_of<T>::type C;
  static const int V = 16 / sizeof(T);
  struct alignas(16) Vec { T v[V]; };
};

// norm_affine returns e·weight + bias, rounded once, of those that there are.
template <class C, class T> HT_FN C norm_affine(C e, bool w, T weight, bool b, T bias) {
  if (w && b) return fused(e, (C)wide(weight), (C)wide(bias));
  if (w) return e * (C)wide(weight);
  return b ? e + (C)wide(bias) : e;
}

template <bool Center, class T> HT_FN void norm_kept(const Lines& p, const T* x, T* y, int lane) {
  typedef typename line_of<T>::type C;
  const int V = 16 / sizeof(T), step = p.lanes * V;
  typedef typename LineOf<T>::Vec Vec;
  C v[KEEP][V];
  C sum = 0;
  HT_UNROLL for (int j = 0; j < KEEP; j++) {
    const int at = j * step + lane * V;
    if (at < p.n) {
      const Vec in = *(const Vec*)(x + at);
      HT_UNROLL for (int i = 0; i < V; i++) v[j][i] = (C)wide(in.v[i]), sum += v[j][i];
    }
  }
  const double center = Center ? across<Plus>((double)sum, p.lanes) / p.n : 0;
  const C mean = (C)center, rest = (C)(center - (double)mean);  // the mean is not rounded
  C square = 0;
  HT_UNROLL for (int j = 0; j < KEEP; j++) {
    if (j * step + lane * V < p.n) {
      HT_UNROLL for (int i = 0; i < V; i++) v[j][i] = v[j][i] - mean - rest, square += v[j][i] * v[j][i];
    }
  }
  const C rate = line_rate(across<Plus>((double)square, p.lanes) / p.n + p.attr[0], (C)0);
  const T *w = (const T*)p.in[1], *b = (const T*)p.in[2];
  HT_UNROLL for (int j = 0; j < KEEP; j++) {
    const int at = j * step + lane * V;
    if (at < p.n) {
      Vec out, weight{}, bias{};
      if (w) weight = *(const Vec*)(w + at);
      if (b) bias = *(const Vec*)(b + at);
      HT_UNROLL for (int i = 0; i < V; i++) {
        out.v[i] = narrow<T>::of(norm_affine(v[j][i] * rate, w, weight.v[i], b, bias.v[i]));
      }
      *(Vec*)(y + at) = out;
    }
  }
}

template <bool Center, class T> HT_FN void norm_line(const Lines& p, const T* x, T* y, int lane) {
  typedef typename line_of<T>::type C;
  const i64 sx = p.step[1];
  double sum = 0, square = 0;
  if (Center) {
    for (int i = lane; i < p.n; i += p.lanes) sum += (double)wide(x[i * sx]);
    sum = across<Plus>(sum, p.lanes) / p.n;
  }
  const C mean = (C)sum, rest = (C)(sum - (double)mean);
  for (int i = lane; i < p.n; i += p.lanes) {
    const C d = (C)wide(x[i * sx]) - mean - rest;
    square += (double)d * (double)d;
  }
  const C rate = line_rate(across<Plus>(square, p.lanes) / p.n + p.attr[0], (C)0);
  const T *w = (const T*)p.in[1], *b = (const T*)p.in[2];
  for (int i = lane; i < p.n; i += p.lanes) {
    y[i] = narrow<T>::of(norm_affine(((C)wide(x[i * sx]) - mean - rest) * rate, w, w ? w[i] : T{}, b, b ? b[i] : T{}));
  }
}

template <bool Center, class T> HT_FN void norm_pass(const Lines& p) {
  const int per = LINE_THREADS / p.lanes, lane = threadIdx.x % p.lanes;
  const i64 k = (i64)blockIdx.x * per + threadIdx.x / p.lanes;
  if (k >= p.lines) return;
  i64 off[2];
  where<2>(p, (u32)k, off);
  const T* x = (const T*)p.in[0] + off[1];
  T* y = (T*)p.out + off[0];
  if (p.flags & LINE_KEEP) norm_kept<Center, T>(p, x, y, lane);
  else norm_line<Center, T>(p, x, y, lane);
}

// As norm_slope, with the line in registers.
template <bool Center, class T> HT_FN void slope_kept(const Lines& p, const T* dy, const T* x, T* dx, i64 k, int lane) {
  typedef typename line_of<T>::type C;
  const int V = 16 / sizeof(T), step = p.lanes * V;
  typedef typename LineOf<T>::Vec Vec;
  C v[KEEP][V], d[KEEP][V], sum = 0, square = 0, g = 0, gx = 0;
  HT_UNROLL for (int j = 0; j < KEEP; j++) {
    const int at = j * step + lane * V;
    if (at < p.n) {
      const Vec in = *(const Vec*)(x + at), in2 = *(const Vec*)(dy + at);
      HT_UNROLL for (int i = 0; i < V; i++) v[j][i] = (C)wide(in.v[i]), d[j][i] = (C)wide(in2.v[i]), sum += v[j][i];
    }
  }
  const C mean = Center ? (C)(across<Plus>((double)sum, p.lanes) / p.n) : 0;
  HT_UNROLL for (int j = 0; j < KEEP; j++) {
    if (j * step + lane * V < p.n) {
      HT_UNROLL for (int i = 0; i < V; i++) v[j][i] -= mean, square += v[j][i] * v[j][i];
    }
  }
  const double rate = 1 / ht_sqrt(across<Plus>((double)square, p.lanes) / p.n + p.attr[0]);
  const C r = (C)rate;
  const T* w = (const T*)p.in[2];
  HT_UNROLL for (int j = 0; j < KEEP; j++) {
    const int at = j * step + lane * V;
    if (at < p.n) {
      Vec weight;
      if (w) weight = *(const Vec*)(w + at);
      HT_UNROLL for (int i = 0; i < V; i++) {
        if (w) d[j][i] *= (C)wide(weight.v[i]);
        v[j][i] *= r;
        g += d[j][i];
        gx += d[j][i] * v[j][i];
      }
    }
  }
  g = Center ? (C)(across<Plus>((double)g, p.lanes) / p.n) : 0;
  gx = (C)(across<Plus>((double)gx, p.lanes) / p.n);
  HT_UNROLL for (int j = 0; j < KEEP; j++) {
    const int at = j * step + lane * V;
    if (at < p.n) {
      Vec out;
      HT_UNROLL for (int i = 0; i < V; i++) out.v[i] = narrow<T>::of(r * (d[j][i] - g - v[j][i] * gx));
      *(Vec*)(dx + at) = out;
    }
  }
  if (lane == 0 && p.more[0]) {
    ((double*)p.more[0])[2 * k] = (double)mean;
    ((double*)p.more[0])[2 * k + 1] = rate;
  }
}

// The gradient of x, and for that of the weights mean and rate of every line in more[0] (float64, two per line). in: dy, x, weight.
template <bool Center, class T> HT_FN void norm_slope(const Lines& p) {
  typedef typename line_of<T>::type C;
  const int per = LINE_THREADS / p.lanes, lane = threadIdx.x % p.lanes;
  const i64 k = (i64)blockIdx.x * per + threadIdx.x / p.lanes;
  if (k >= p.lines) return;
  i64 off[3];
  where<3>(p, (u32)k, off);
  const T *dy = (const T*)p.in[0] + off[1], *x = (const T*)p.in[1] + off[2], *w = (const T*)p.in[2];
  T* dx = (T*)p.out + off[0];
  if (p.flags & LINE_KEEP) return slope_kept<Center, T>(p, dy, x, dx, k, lane);
  const i64 sd = p.step[1], sx = p.step[2];
  double sum = 0, square = 0, g = 0, gx = 0;
  if (Center) {
    for (int i = lane; i < p.n; i += p.lanes) sum += (double)wide(x[i * sx]);
    sum = across<Plus>(sum, p.lanes) / p.n;
  }
  const C mean = (C)sum, rest = (C)(sum - (double)mean);
  for (int i = lane; i < p.n; i += p.lanes) {
    const C d = (C)wide(x[i * sx]) - mean - rest;
    square += (double)d * (double)d;
  }
  const double rate = 1 / ht_sqrt(across<Plus>(square, p.lanes) / p.n + p.attr[0]);
  const C r = (C)rate;
  for (int i = lane; i < p.n; i += p.lanes) {
    C e = (C)wide(dy[i * sd]);
    if (w) e *= (C)wide(w[i]);
    g += (double)e;
    gx += (double)e * (double)(((C)wide(x[i * sx]) - mean) * r);
  }
  g = Center ? across<Plus>(g, p.lanes) / p.n : 0;
  gx = across<Plus>(gx, p.lanes) / p.n;
  for (int i = lane; i < p.n; i += p.lanes) {
    C e = (C)wide(dy[i * sd]);
    if (w) e *= (C)wide(w[i]);
    const C h = ((C)wide(x[i * sx]) - mean) * r;
    dx[i] = narrow<T>::of(r * (e - (C)g - h * (C)gx));
  }
  if (lane == 0 && p.more[0]) {
    ((double*)p.more[0])[2 * k] = (double)mean;
    ((double*)p.more[0])[2 * k + 1] = rate;
  }
}

// Σ dy·x̂ and Σ dy over lines, for 32 columns by 8 threads each; blockIdx.y is the split. more[0]: mean and rate; more[1]: partial sums
// [splits][2][n]. attr[0] is the number of splits.
template <class T> HT_FN void norm_columns(const Lines& p) {
  __shared__ double cell[2][LINE_THREADS];
  const int column = threadIdx.x % 32, row = threadIdx.x / 32, at = blockIdx.x * 32 + column, splits = (int)p.attr[0];
  const i64 each = (p.lines + splits - 1) / splits, lo = each * blockIdx.y, hi = lo + each < p.lines ? lo + each : p.lines;
  double dw = 0, db = 0;
  if (at < p.n) {
    HT_ROLLED for (i64 k = lo + row; k < hi; k += 8) {
      i64 off[3];
      where<3>(p, (u32)k, off);
      const double e = (double)wide(((const T*)p.in[0])[off[1] + at * p.step[1]]);
      const double* stats = (const double*)p.more[0] + 2 * k;
      dw += e * (((double)wide(((const T*)p.in[1])[off[2] + at * p.step[2]]) - stats[0]) * stats[1]);
      db += e;
    }
  }
  cell[0][threadIdx.x] = dw;
  cell[1][threadIdx.x] = db;
  __syncthreads();
  if (row != 0 || at >= p.n) return;
  for (int r = 1; r < 8; r++) dw += cell[0][r * 32 + column], db += cell[1][r * 32 + column];
  double* sums = (double*)p.more[1] + (i64)blockIdx.y * 2 * p.n;
  sums[at] = dw;
  sums[p.n + at] = db;
}
// The splits added up: attr[1] is how many of the two sums are wanted.
template <class T> HT_FN void norm_sums(const Lines& p) {
  const int at = blockIdx.x * LINE_THREADS + threadIdx.x, splits = (int)p.attr[0];
  if (at >= p.n * (int)p.attr[1]) return;
  double sum = 0;
  for (int s = 0; s < splits; s++) sum += ((const double*)p.more[1])[(i64)s * 2 * p.n + at];
  ((T*)p.out)[at] = narrow<T>::of(sum);
}
#define NORM(S, T)                                                                  \
  HT_KERNEL(layer_norm_##S, Lines, p) { norm_pass<true, T>(p); }                    \
  HT_KERNEL(rms_norm_##S, Lines, p) { norm_pass<false, T>(p); }                     \
  HT_KERNEL(layer_norm_backward_##S, Lines, p) { norm_slope<true, T>(p); }          \
  HT_KERNEL(rms_norm_backward_##S, Lines, p) { norm_slope<false, T>(p); }           \
  HT_KERNEL(norm_columns_##S, Lines, p) { norm_columns<T>(p); }                     \
  HT_KERNEL(norm_sums_##S, Lines, p) { norm_sums<T>(p); }
NORM(f16, f16) NORM(bf16, bf16) NORM(f32, float) NORM(f64, double)
