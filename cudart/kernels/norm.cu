// layer_norm and rms_norm over the last dimensions, and their gradients. Sums are of float32, two passes over a line in registers or
// cache; those over lines and between lanes are of float64.
#include "lines.h"

enum { KEEP = 4 };

HT_FN float line_rate(double v, float) { return (float)(1 / ht_sqrt(v)); }
HT_FN double line_rate(double v, double) { return 1 / ht_sqrt(v); }

// LineOf<T>::Vec is 16 bytes of T; LineOf<T>::As<D> as many elements of D: dy may be halves beside a float32 x.
template <class T> struct LineOf {
  typedef typename line_of<T>::type C;
  static const int V = 16 / sizeof(T);
  template <class D> struct alignas(V * sizeof(D)) As { D v[V]; };
  typedef As<T> Vec;
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

// As norm_slope, with the line in registers, as it was read: two sums across the lanes, of x and then of what is left.
template <bool Center, class T, class D> HT_FN void slope_kept(const Lines& p, const D* dy, const T* x, T* dx, i64 k, int lane) {
  typedef typename line_of<T>::type C;
  const int V = 16 / sizeof(T), step = p.lanes * V;
  typedef typename LineOf<T>::Vec Vec;
  typedef typename LineOf<T>::template As<D> VecD;
  Vec v[KEEP];
  VecD d[KEEP];
  C sum = 0;
  HT_UNROLL for (int j = 0; j < KEEP; j++) {
    const int at = j * step + lane * V;
    if (at < p.n) v[j] = *(const Vec*)(x + at), d[j] = *(const VecD*)(dy + at);
  }
  if (Center) {
    HT_UNROLL for (int j = 0; j < KEEP; j++)
      if (j * step + lane * V < p.n) HT_UNROLL for (int i = 0; i < V; i++) sum += (C)wide(v[j].v[i]);
  }
  const C mean = Center ? (C)(across<Plus>((double)sum, p.lanes) / p.n) : 0;
  const T* w = (const T*)p.in[2];
  C square = 0, g = 0, gx = 0;
  HT_UNROLL for (int j = 0; j < KEEP; j++) {
    const int at = j * step + lane * V;
    if (at < p.n) {
      Vec weight{};
      if (w) weight = *(const Vec*)(w + at);
      HT_UNROLL for (int i = 0; i < V; i++) {
        const C e = (C)wide(v[j].v[i]) - mean, f = w ? (C)wide(d[j].v[i]) * (C)wide(weight.v[i]) : (C)wide(d[j].v[i]);
        square += e * e, g += f, gx += e * f;
      }
    }
  }
  double sums[3] = {(double)square, (double)g, (double)gx};
  across_all<Plus>(sums, p.lanes);
  const double rate = 1 / ht_sqrt(sums[0] / p.n + p.attr[0]);
  const C r = (C)rate, shift = Center ? (C)(sums[1] / p.n) : 0, slope = (C)(sums[2] * rate / p.n) * r;
  HT_UNROLL for (int j = 0; j < KEEP; j++) {
    const int at = j * step + lane * V;
    if (at < p.n) {
      Vec out, weight{};
      if (w) weight = *(const Vec*)(w + at);
      HT_UNROLL for (int i = 0; i < V; i++) {
        const C e = (C)wide(v[j].v[i]) - mean, f = w ? (C)wide(d[j].v[i]) * (C)wide(weight.v[i]) : (C)wide(d[j].v[i]);
        out.v[i] = narrow<T>::of(r * (f - shift - e * slope));
      }
      *(Vec*)(dx + at) = out;
    }
  }
  if (lane == 0 && p.more[0]) {
    ((double*)p.more[0])[2 * k] = (double)mean;
    ((double*)p.more[0])[2 * k + 1] = rate;
  }
}

// The gradient of x, and for that of the weights mean and rate of every line in more[0] (float64, two per line). in: dy, x, weight.
template <bool Center, class T, class D> HT_FN void norm_slope(const Lines& p) {
  typedef typename line_of<T>::type C;
  const int per = LINE_THREADS / p.lanes, lane = threadIdx.x % p.lanes;
  const i64 k = (i64)blockIdx.x * per + threadIdx.x / p.lanes;
  if (k >= p.lines) return;
  i64 off[3];
  where<3>(p, (u32)k, off);
  const D* dy = (const D*)p.in[0] + off[1];
  const T *x = (const T*)p.in[1] + off[2], *w = (const T*)p.in[2];
  T* dx = (T*)p.out + off[0];
  if (p.flags & LINE_KEEP) return slope_kept<Center>(p, dy, x, dx, k, lane);
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

// Σ dy·x̂ and Σ dy over lines, for 32 columns, or with LINE_VECTOR 32 vectors of them, by 8 threads each; blockIdx.y is the split. more[0]: mean
// and rate; more[1]: partial sums [splits][2][n]. attr[0] is the number of splits.
struct Share { i64 lo, hi; };  // the lines of a split
HT_FN Share norm_share(const Lines& p) {
  const int splits = (int)p.attr[0];
  const i64 each = (p.lines + splits - 1) / splits, lo = each * blockIdx.y;
  return Share{lo, lo + each < p.lines ? lo + each : p.lines};
}
// norm_share_end adds up the 8 rows of a block for column c of its columns, at which the row's thread has dw and db.
template <int Columns> HT_FN void norm_share_end(const Lines& p, double (&cell)[2][8 * Columns]) {
  __syncthreads();
  double* sums = (double*)p.more[1] + (i64)blockIdx.y * 2 * p.n;
  for (int c = threadIdx.x; c < 2 * Columns; c += LINE_THREADS) {
    const int which = c / Columns, column = c % Columns, at = blockIdx.x * Columns + column;
    double sum = cell[which][column];
    for (int r = 1; r < 8; r++) sum += cell[which][r * Columns + column];
    if (at < p.n) sums[which * p.n + at] = sum;
  }
}
template <class T, class D> HT_FN void norm_columns_one(const Lines& p) {
  __shared__ double cell[2][LINE_THREADS];
  const int column = threadIdx.x % 32, row = threadIdx.x / 32, at = blockIdx.x * 32 + column;
  const Share share = norm_share(p);
  double dw = 0, db = 0;
  if (at < p.n) {
    HT_ROLLED for (i64 k = share.lo + row; k < share.hi; k += 8) {
      i64 off[3];
      where<3>(p, (u32)k, off);
      const double e = (double)wide(((const D*)p.in[0])[off[1] + at * p.step[1]]);
      const double* stats = (const double*)p.more[0] + 2 * k;
      dw += e * (((double)wide(((const T*)p.in[1])[off[2] + at * p.step[2]]) - stats[0]) * stats[1]);
      db += e;
    }
  }
  cell[0][threadIdx.x] = dw;
  cell[1][threadIdx.x] = db;
  norm_share_end<32>(p, cell);
}
// Four lines are read before the first is used, and added up in the type of lines.
template <class T, class D> HT_FN void norm_columns_vector(const Lines& p) {
  typedef typename line_of<T>::type C;
  typedef typename LineOf<T>::Vec Vec;
  typedef typename LineOf<T>::template As<D> VecD;
  const int V = 16 / sizeof(T), ahead = 4;
  __shared__ double cell[2][LINE_THREADS * V];
  const int column = threadIdx.x % 32, row = threadIdx.x / 32, at = (blockIdx.x * 32 + column) * V;
  const Share share = norm_share(p);
  double dw[V], db[V];
  HT_UNROLL for (int i = 0; i < V; i++) dw[i] = db[i] = 0;
  if (at < p.n) {
    HT_ROLLED for (i64 k = share.lo + row; k < share.hi; k += 8 * ahead) {
      VecD d[ahead];
      Vec x[ahead];
      C mean[ahead], rest[ahead], rate[ahead], w[V], b[V];
      HT_UNROLL for (int j = 0; j < ahead; j++) {
        if (k + 8 * j >= share.hi) {
          d[j] = VecD{}, x[j] = Vec{}, mean[j] = rest[j] = rate[j] = 0;
          continue;
        }
        i64 off[3];
        where<3>(p, (u32)(k + 8 * j), off);
        d[j] = *(const VecD*)((const D*)p.in[0] + off[1] + at), x[j] = *(const Vec*)((const T*)p.in[1] + off[2] + at);
        const double* stats = (const double*)p.more[0] + 2 * (k + 8 * j);
        mean[j] = (C)stats[0], rest[j] = (C)(stats[0] - (double)mean[j]), rate[j] = (C)stats[1];
      }
      HT_UNROLL for (int i = 0; i < V; i++) w[i] = b[i] = 0;
      HT_UNROLL for (int j = 0; j < ahead; j++) {
        HT_UNROLL for (int i = 0; i < V; i++) {
          const C e = (C)wide(d[j].v[i]);
          w[i] = fused(e * rate[j], (C)wide(x[j].v[i]) - mean[j] - rest[j], w[i]);
          b[i] += e;
        }
      }
      HT_UNROLL for (int i = 0; i < V; i++) dw[i] += (double)w[i], db[i] += (double)b[i];
    }
  }
  HT_UNROLL for (int i = 0; i < V; i++) {
    cell[0][row * 32 * V + column * V + i] = dw[i];
    cell[1][row * 32 * V + column * V + i] = db[i];
  }
  norm_share_end<32 * V>(p, cell);
}
template <class T, class D> HT_FN void norm_columns(const Lines& p) {
  if (p.flags & LINE_VECTOR) norm_columns_vector<T, D>(p);
  else norm_columns_one<T, D>(p);
}
// The splits added up, by 8 threads for each of 32 sums: attr[1] is how many of the two sums are wanted.
template <class T> HT_FN void norm_sums(const Lines& p) {
  __shared__ double cell[LINE_THREADS];
  const int column = threadIdx.x % 32, row = threadIdx.x / 32, at = blockIdx.x * 32 + column, splits = (int)p.attr[0];
  const bool in = at < p.n * (int)p.attr[1];
  double sum = 0;
  if (in) {
    for (int s = row; s < splits; s += 8) sum += ((const double*)p.more[1])[(i64)s * 2 * p.n + at];
  }
  cell[threadIdx.x] = sum;
  __syncthreads();
  if (row != 0 || !in) return;
  for (int r = 1; r < 8; r++) sum += cell[r * 32 + column];
  ((T*)p.out)[at] = narrow<T>::of(sum);
}
#define NORM_GRADIENTS(S, T, D)                                                     \
  HT_KERNEL(layer_norm_backward_##S, Lines, p) { norm_slope<true, T, D>(p); }       \
  HT_KERNEL(rms_norm_backward_##S, Lines, p) { norm_slope<false, T, D>(p); }        \
  HT_KERNEL(norm_columns_##S, Lines, p) { norm_columns<T, D>(p); }
#define NORM(S, T)                                                                  \
  HT_KERNEL(layer_norm_##S, Lines, p) { norm_pass<true, T>(p); }                    \
  HT_KERNEL(rms_norm_##S, Lines, p) { norm_pass<false, T>(p); }                     \
  NORM_GRADIENTS(S, T, T)                                                           \
  HT_KERNEL(norm_sums_##S, Lines, p) { norm_sums<T>(p); }
NORM(f16, f16) NORM(bf16, bf16) NORM(f32, float) NORM(f64, double)
NORM_GRADIENTS(f32_f16, float, f16) NORM_GRADIENTS(f32_bf16, float, bf16)
