// The gradients of layer_norm and rms_norm: of x, and over all lines of weight and bias. Sums are of float32, two passes over a line in registers
// or cache; those between lanes are of float64, and so are those over lines, of a few lines of float32 each.
#include "norm.h"

// As norm_slope, with the line in registers, as it was read: two sums across the lanes, of x and then of what is left.
template <bool Center, class T, class D> HT_FN void slope_kept(const Lines& p, const D* dy, const T* x, const T* had, T* dx, i64 k, int lane) {
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
      Vec out, weight{}, more{};
      if (w) weight = *(const Vec*)(w + at);
      if (had) more = *(const Vec*)(had + at);
      HT_UNROLL for (int i = 0; i < V; i++) {
        const C e = (C)wide(v[j].v[i]) - mean, f = w ? (C)wide(d[j].v[i]) * (C)wide(weight.v[i]) : (C)wide(d[j].v[i]);
        const C to = r * (f - shift - e * slope);
        out.v[i] = narrow<T>::of(had ? to + (C)wide(more.v[i]) : to);
      }
      *(Vec*)(dx + at) = out;
    }
  }
  if (lane == 0 && p.more[0]) {
    ((double*)p.more[0])[2 * k] = (double)mean;
    ((double*)p.more[0])[2 * k + 1] = rate;
  }
}

// The gradient of x, added to in[3] where that is given, and for that of the weights mean and rate of every line in more[0] (float64, two per
// line). in: dy, x, weight, dx_in, which lies as the result does.
template <bool Center, class T, class D> HT_FN void norm_slope(const Lines& p) {
  typedef typename line_of<T>::type C;
  const int per = LINE_THREADS / p.lanes, lane = threadIdx.x % p.lanes;
  const i64 k = (i64)blockIdx.x * per + threadIdx.x / p.lanes;
  if (k >= p.lines) return;
  i64 off[3];
  where<3>(p, (u32)k, off);
  const D* dy = (const D*)p.in[0] + off[1];
  const T *x = (const T*)p.in[1] + off[2], *w = (const T*)p.in[2];
  const T* had = p.in[3] ? (const T*)p.in[3] + off[0] : nullptr;
  T* dx = (T*)p.out + off[0];
  if (p.flags & LINE_KEEP) return slope_kept<Center>(p, dy, x, had, dx, k, lane);
  const i64 sd = p.step[1], sx = p.step[2];
  double g = 0, gx = 0;
  const auto [mean, rest, squares] = line_spread<Center>(p, x, sx, lane);
  const double rate = 1 / ht_sqrt(squares / p.n + p.attr[0]);
  const C r = (C)rate;
  for (int i = lane; i < p.n; i += p.lanes) {
    C e = (C)wide(dy[i * sd]);
    if (w) e *= (C)wide(w[i]);
    g += (double)e;
    gx += (double)e * (double)(((C)wide(x[i * sx]) - mean - rest) * r);
  }
  g = Center ? across<Plus>(g, p.lanes) / p.n : 0;
  gx = across<Plus>(gx, p.lanes) / p.n;
  for (int i = lane; i < p.n; i += p.lanes) {
    C e = (C)wide(dy[i * sd]);
    if (w) e *= (C)wide(w[i]);
    const C h = ((C)wide(x[i * sx]) - mean - rest) * r;
    const C to = r * (e - (C)g - h * (C)gx);
    dx[i] = narrow<T>::of(had ? to + (C)wide(had[i]) : to);
  }
  if (lane == 0 && p.more[0]) {
    ((double*)p.more[0])[2 * k] = (double)mean;
    ((double*)p.more[0])[2 * k + 1] = rate;
  }
}

// Σ dy·x̂ and Σ dy over lines, for 32 columns, or with LINE_VECTOR 32 vectors of them, by 8 threads each; blockIdx.y is the split. more[0]: mean
// and rate; more[1]: partial sums [splits][2][n] of the type of lines. attr[0] is the number of splits.
struct Share { i64 lo, hi; };  // the lines of a split
HT_FN Share norm_share(const Lines& p) {
  const int splits = (int)p.attr[0];
  const i64 each = (p.lines + splits - 1) / splits, lo = each * blockIdx.y;
  return Share{lo, lo + each < p.lines ? lo + each : p.lines};
}
// norm_share_end adds up the 8 rows of a block for column c of its columns, at which the row's thread has dw and db.
template <class C, int Columns> HT_FN void norm_share_end(const Lines& p, double (&cell)[2][8 * Columns]) {
  __syncthreads();
  C* sums = (C*)p.more[1] + (i64)blockIdx.y * 2 * p.n;
  for (int c = threadIdx.x; c < 2 * Columns; c += LINE_THREADS) {
    const int which = c / Columns, column = c % Columns, at = blockIdx.x * Columns + column;
    double sum = cell[which][column];
    for (int r = 1; r < 8; r++) sum += cell[which][r * Columns + column];
    if (at < p.n) sums[which * p.n + at] = (C)sum;
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
  norm_share_end<typename line_of<T>::type, 32>(p, cell);
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
  norm_share_end<C, 32 * V>(p, cell);
}
template <class T, class D> HT_FN void norm_columns(const Lines& p) {
  if (p.flags & LINE_VECTOR) norm_columns_vector<T, D>(p);
  else norm_columns_one<T, D>(p);
}

// The gradients of x, weight and bias of lines that a block, or a warp, holds in one vector a thread: x and dy are read once. Blocks, or each of
// their 8 warps, take four lines at a time, so that much is on its way at once and that a line costs a fourth of what it takes to wait for sums. A
// thread adds up what its columns give: in registers, in the type of lines, over few lines, then in shared memory, in float64. in: dy, x,
// weight, dx_in; p.lanes are the threads of a line; more[1]: partial sums [blocks][2][n] of the type of lines, or none. The bound of its
// threads is one of registers: 96, for 20 warps on a multiprocessor. What the result is added to is read WHOLE_AHEAD lines ahead, for that.
enum { WHOLE_THREADS = 512, WHOLE_WARPS = WHOLE_THREADS / 32, WHOLE_LINES = 4, WHOLE_AHEAD = 2, WHOLE_FEW = 2, WHOLE_BOUND = 640 };

// whole_sum adds up N values of four lines over a line's threads. A lane gets the sums of one of the lines, lane/8: what is computed of them
// is computed for all four at once. Blocks of several warps call it with turn 0 and 1 by turns, so that one barrier is enough.
template <int N, class C> HT_FN void whole_sum(const C (&v)[N][WHOLE_LINES], double (&sum)[N], int lanes, int turn) {
  const int lane = threadIdx.x % 32;
  const bool upper = lane & 16, odd = lane & 8;
  HT_UNROLL for (int i = 0; i < N; i++) {
    const double a = (double)(upper ? v[i][2] : v[i][0]) + (double)ht_shuffle(upper ? v[i][0] : v[i][2], 16);
    const double b = (double)(upper ? v[i][3] : v[i][1]) + (double)ht_shuffle(upper ? v[i][1] : v[i][3], 16);
    sum[i] = (odd ? b : a) + ht_shuffle(odd ? a : b, 8);
  }
  HT_UNROLL for (int step = 4; step > 0; step >>= 1)
    HT_UNROLL for (int i = 0; i < N; i++) sum[i] += ht_shuffle(sum[i], step);
  if (lanes == 32) return;
  __shared__ double part[2][N][WHOLE_WARPS][WHOLE_LINES];
  if (lane % 8 == 0)
    HT_UNROLL for (int i = 0; i < N; i++) part[turn][i][threadIdx.x / 32][lane / 8] = sum[i];
  __syncthreads();
  const int warps = lanes / 32, w = lane % 8;
  HT_UNROLL for (int i = 0; i < N; i++) {
    sum[i] = w < warps ? part[turn][i][w][lane / 8] : 0;
    if (w + 8 < warps) sum[i] += part[turn][i][w + 8][lane / 8];
  }
  HT_UNROLL for (int step = 4; step > 0; step >>= 1)
    HT_UNROLL for (int i = 0; i < N; i++) sum[i] += ht_shuffle(sum[i], step);
}

// whole_of is what the lanes of line l have as v.
HT_FN float whole_of(float v, int l) { return ht_float(from_lane(ht_bits32(v), 8 * l)); }
HT_FN double whole_of(double v, int l) {
  const u64 b = ht_bits(v);
  return ht_double((u64)from_lane((u32)(b >> 32), 8 * l) << 32 | from_lane((u32)b, 8 * l));
}

// A WholeLine is a thread's part of a line.
template <class T, class D> struct WholeLine {
  typename LineOf<T>::Vec x;
  typename LineOf<T>::template As<D> dy;
};
template <class T, class D> HT_FN WholeLine<T, D> whole_read(const Lines& p, i64 k, int at) {
  WholeLine<T, D> line{};
  i64 off[3];
  where<3>(p, (u32)k, off);
  line.dy = *(const typename LineOf<T>::template As<D>*)((const D*)p.in[0] + off[1] + at);
  line.x = *(const typename LineOf<T>::Vec*)((const T*)p.in[1] + off[2] + at);
  return line;
}

template <class T> HT_FN typename LineOf<T>::Vec whole_had(const Lines& p, bool live, i64 at) {
  typedef typename LineOf<T>::Vec Vec;
  return live && p.in[3] ? *(const Vec*)((const T*)p.in[3] + at) : Vec{};
}

template <class T> HT_FN typename LineOf<T>::Vec whole_weight(const Lines& p, int at) {
  typedef typename LineOf<T>::Vec Vec;
  return p.in[2] && at < p.n ? *(const Vec*)((const T*)p.in[2] + at) : __builtin_bit_cast(Vec, all_of<T>(1));
}

// whole_add moves a thread's sums of few lines to those in shared memory, [2][V][threads].
template <class C, int V> HT_FN void whole_add(double* sums, C (&few)[2][V]) {
  HT_UNROLL for (int i = 0; i < 2 * V; i++) sums[i * blockDim.x + threadIdx.x] += (double)few[i / V][i % V], few[i / V][i % V] = 0;
}

// whole_end writes a block's sums: those of its warps, one after the other, where each has lines of its own.
template <class C, int V> HT_FN void whole_end(const Lines& p, const double* sums) {
  __syncthreads();
  C* to = (C*)p.more[1] + (i64)blockIdx.x * 2 * p.n;
  for (int c = threadIdx.x; c < 2 * p.n; c += blockDim.x) {
    const int which = c / p.n, column = c - which * p.n;
    const double* from = sums + (which * V + column % V) * blockDim.x + column / V;
    double sum = 0;
    for (int lane = 0; lane < (int)blockDim.x; lane += p.lanes) sum += from[lane];
    to[c] = (C)sum;
  }
}

template <bool Center, class T, class D> HT_FN void norm_whole(const Lines& p) {
  typedef typename line_of<T>::type C;
  typedef typename LineOf<T>::Vec Vec;
  extern __shared__ double sums[];
  const int V = 16 / sizeof(T), L = WHOLE_LINES, rows = blockDim.x / p.lanes, at = threadIdx.x % p.lanes * V;
  const i64 each = (p.lines + gridDim.x - 1) / gridDim.x, lo = each * blockIdx.x, hi = lo + each < p.lines ? lo + each : p.lines;
  Vec kept{};  // the weight, which kernels of fewer registers to spare read again wherever they use it
  if (Center) kept = whole_weight<T>(p, at);
  C few[2][V];
  HT_UNROLL for (int i = 0; i < 2 * V; i++) {
    few[i / V][i % V] = 0;
    if (p.more[1]) sums[i * blockDim.x + threadIdx.x] = 0;
  }
  int done = 0;
  const int lines = (int)(hi - lo);
  HT_ROLLED for (int k = threadIdx.x / p.lanes * L; k < lines; k += L * rows) {
    WholeLine<T, D> line[L];
    HT_UNROLL for (int l = 0; l < L; l++) {
      line[l] = WholeLine<T, D>{};
      if (at < p.n && k + l < lines) line[l] = whole_read<T, D>(p, lo + k + l, at);
    }
    C mean = 0, rest = 0;
    if (Center) {
      C v[1][L];
      double sum[1];
      HT_UNROLL for (int l = 0; l < L; l++) {
        C total = 0;
        HT_UNROLL for (int i = 0; i < V; i++) total += (C)wide(line[l].x.v[i]);
        v[0][l] = total;
      }
      whole_sum(v, sum, p.lanes, done & 1);
      sum[0] = line_mean(p, sum[0]);
      mean = (C)sum[0], rest = (C)(sum[0] - (double)mean);
    }
    C v[3][L];
    double sum[3];
    Vec weight = Center ? kept : whole_weight<T>(p, at);
    HT_UNROLL for (int l = 0; l < L; l++) {
      const C m = Center ? whole_of(mean, l) : 0, s = Center ? whole_of(rest, l) : 0;
      C square = 0, g = 0, gx = 0;
      HT_UNROLL for (int i = 0; i < V; i++) {
        const C e = at < p.n ? (C)wide(line[l].x.v[i]) - m - s : 0, f = (C)wide(line[l].dy.v[i]) * (C)wide(weight.v[i]);
        square = fused(e, e, square), g += f, gx = fused(e, f, gx);
      }
      v[0][l] = square, v[1][l] = g, v[2][l] = gx;
    }
    whole_sum(v, sum, p.lanes, done & 1);
    Vec had[L];  // what the result is added to, which lies as that does: line by line, without gaps
    const i64 to = (lo + k) * p.n + at;
    HT_UNROLL for (int l = 0; l < WHOLE_AHEAD; l++) had[l] = whole_had<T>(p, at < p.n && k + l < lines, to + l * p.n);
    if (!Center) weight = whole_weight<T>(p, at);
    const double rate = 1 / ht_sqrt(sum[0] * p.attr[2] + p.attr[0]);
    const C r = (C)rate, shift = Center ? (C)(sum[1] * p.attr[2]) : 0, slope = (C)(sum[2] * rate * p.attr[2]) * r;
    HT_UNROLL for (int l = 0; l < L; l++) {
      const C m = Center ? whole_of(mean, l) : 0, s = Center ? whole_of(rest, l) : 0, by = whole_of(r, l), less = whole_of(shift, l), tilt = whole_of(slope, l);
      if (at < p.n && k + l < lines) {
        Vec out;
        line[l].dy = opened<typename LineOf<T>::template As<D>>(line[l].dy);
        HT_UNROLL for (int i = 0; i < V; i++) {
          const C e = (C)wide(line[l].x.v[i]) - m - s, d = (C)wide(line[l].dy.v[i]);
          const C dx = by * (d * (C)wide(weight.v[i]) - less - e * tilt);
          out.v[i] = narrow<T>::of(p.in[3] ? dx + (C)wide(had[l].v[i]) : dx);
          few[0][i] = fused(d, e * by, few[0][i]), few[1][i] += d;
        }
        *(Vec*)((T*)p.out + to + l * p.n) = out;
      }
      if (l + WHOLE_AHEAD < L) had[l + WHOLE_AHEAD] = whole_had<T>(p, at < p.n && k + l + WHOLE_AHEAD < lines, to + (l + WHOLE_AHEAD) * p.n);
    }
    if (++done % WHOLE_FEW == 0 && p.more[1]) whole_add<C, V>(sums, few);
  }
  if (!p.more[1]) return;
  whole_add<C, V>(sums, few);
  whole_end<C, V>(p, sums);
}

// The splits added up, by p.lanes threads for each sum, a power of two. attr[1] is how many of the two sums are wanted. Four splits are read
// before the first is added.
template <class T> HT_FN void norm_sums(const Lines& p) {
  typedef typename line_of<T>::type C;
  __shared__ double cell[LINE_THREADS];  // the sums of each part of the block, a column's threads in a warp being one
  const int lanes = p.lanes, columns = LINE_THREADS / lanes, column = threadIdx.x % columns, row = threadIdx.x / columns;
  const int at = blockIdx.x * columns + column, splits = (int)p.attr[0], ahead = 4;
  const bool in = at < p.n * (int)p.attr[1];
  double sum = 0;
  for (int s = row; s < splits; s += lanes * ahead) {
    C v[ahead];
    HT_UNROLL for (int j = 0; j < ahead; j++) v[j] = in && s + lanes * j < splits ? ((const C*)p.more[1])[(i64)(s + lanes * j) * 2 * p.n + at] : 0;
    HT_UNROLL for (int j = 0; j < ahead; j++) sum += (double)v[j];
  }
  if (lanes > 1) {
    for (int m = columns; m < 32; m *= 2) sum += ht_shuffle(sum, m);
    const int parts = lanes < LINE_THREADS / 32 ? lanes : LINE_THREADS / 32, part = LINE_THREADS / parts;
    if (threadIdx.x % part < columns) cell[threadIdx.x / part * columns + column] = sum;
    __syncthreads();
    if (row == 0)
      for (int i = 1; i < parts; i++) sum += cell[i * columns + column];
  }
  if (row != 0 || !in) return;
  ((T*)p.out)[at] = narrow<T>::of(sum);
}
#define NORM_GRADIENTS(S, T, D)                                               \
  HT_KERNEL(layer_norm_backward_##S, Lines, p) { norm_slope<true, T, D>(p); } \
  HT_KERNEL(rms_norm_backward_##S, Lines, p) { norm_slope<false, T, D>(p); }  \
  HT_KERNEL(norm_columns_##S, Lines, p) { norm_columns<T, D>(p); }
#define NORM(S, T) NORM_GRADIENTS(S, T, T) HT_KERNEL(norm_sums_##S, Lines, p) { norm_sums<T>(p); }
NORM(f16, f16) NORM(bf16, bf16) NORM(f32, float) NORM(f64, double)
NORM_GRADIENTS(f32_f16, float, f16) NORM_GRADIENTS(f32_bf16, float, bf16)
// The backward pass computes these rows in float32 where the network's numbers are halves.
#define NORM_WHOLE(S, T, D, Bound)                                                            \
  HT_KERNEL_OF(Bound, layer_norm_backward_whole_##S, Lines, p) { norm_whole<true, T, D>(p); } \
  HT_KERNEL_OF(Bound, rms_norm_backward_whole_##S, Lines, p) { norm_whole<false, T, D>(p); }
NORM_WHOLE(f32, float, float, WHOLE_BOUND) NORM_WHOLE(f64, double, double, WHOLE_THREADS)
NORM_WHOLE(f32_f16, float, f16, WHOLE_BOUND) NORM_WHOLE(f32_bf16, float, bf16, WHOLE_BOUND)
