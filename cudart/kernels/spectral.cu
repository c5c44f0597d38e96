// QR factors, eigenvalues and singular values: a block for each matrix. All is float64, and every element gets what reflections and rotations do to
// it in the order of the CPU's loops, with its roundings (amp/internal/cpu/reflect.go, qr.go, eigh.go, svd.go): so results have the
// CPU's bits. A thread has a column or a row; what goes from one number to the next, as the steps on a tridiagonal matrix do, thread 0 does alone.
#include "linalg.h"

// larger is the larger of two amounts; a v that is NaN does not count.
HT_FN double larger(double most, double v) { return ht_abs(v) > most ? ht_abs(v) : most; }

HT_FN double power_for(double amount) {
  const i64 e = (i64)(ht_bits(amount) >> 52), of = 2046 - (e > 1 ? e : 1);
  return ht_double((u64)(of > 1 ? of : 1) << 52);
}

HT_FN double copysign64(double v, double sign) { return ht_double((ht_bits(v) & ~(1ull << 63)) | (ht_bits(sign) & (1ull << 63))); }

HT_MATH double reflector(double* x, i64 n, i64 step) {
  double sum = 0;
  HT_ROLLED for (i64 i = 1; i < n; i++) sum = ht_fma(x[i * step], x[i * step], sum);
  if (sum == 0) return 0;
  const double alpha = x[0], beta = -copysign64(ht_sqrt(ht_fma(alpha, alpha, sum)), alpha), scale = alpha - beta;
  HT_ROLLED for (i64 i = 1; i < n; i++) x[i * step] /= scale;
  x[0] = beta;
  return (beta - alpha) / beta;
}

// reflect gives columns of a block, ld apart, the reflection from the left; v's first number counts as 1.
HT_MATH void reflect(double* b, i64 ld, i64 rows, i64 cols, const double* v, i64 step, double tau) {
  if (tau == 0) return;
  HT_ROLLED for (i64 j = threadIdx.x; j < cols; j += blockDim.x) {
    double w = b[j];
    HT_ROLLED for (i64 i = 1; i < rows; i++) w = ht_fma(v[i * step], b[i * ld + j], w);
    b[j] = minus(b[j], tau, w);
    HT_ROLLED for (i64 i = 1; i < rows; i++) b[i * ld + j] = minus(b[i * ld + j], tau * v[i * step], w);
  }
}

HT_MATH double dot_fours(const double* x, const double* y, i64 n) {
  double s0 = 0, s1 = 0, s2 = 0, s3 = 0;
  i64 k = 0;
  HT_ROLLED for (; k + 4 <= n; k += 4) {
    s0 = ht_fma(x[k], y[k], s0);
    s1 = ht_fma(x[k + 1], y[k + 1], s1);
    s2 = ht_fma(x[k + 2], y[k + 2], s2);
    s3 = ht_fma(x[k + 3], y[k + 3], s3);
  }
  HT_ROLLED for (; k < n; k++) s0 = ht_fma(x[k], y[k], s0);
  return (s0 + s1) + (s2 + s3);
}

// reflect_right gives rows of a block the reflection from the right.
HT_MATH void reflect_right(double* b, i64 ld, i64 rows, i64 cols, const double* v, double tau) {
  if (tau == 0) return;
  HT_ROLLED for (i64 i = threadIdx.x; i < rows; i += blockDim.x) {
    double* row = b + i * ld;
    const double f = tau * (row[0] + dot_fours(row + 1, v + 1, cols - 1));
    row[0] -= f;
    HT_ROLLED for (i64 j = 1; j < cols; j++) row[j] = minus(row[j], f, v[j]);
  }
}

HT_MATH void identity(double* a, i64 rows, i64 cols) {
  HT_ROLLED for (i64 q = threadIdx.x; q < rows * cols; q += blockDim.x) a[q] = q / cols == q % cols ? 1.0 : 0.0;
}

// scaled multiplies a matrix by the power of two for its largest amount, which it returns.
HT_MATH double scaled(double* a, i64 n) {
  __shared__ double most[1024];
  const int t = threadIdx.x, threads = blockDim.x;
  double own = 0;
  HT_ROLLED for (i64 q = t; q < n; q += threads) own = larger(own, a[q]);
  most[t] = own;
  __syncthreads();
  HT_ROLLED for (int d = threads / 2; d > 0; d /= 2) {
    if (t < d) most[t] = larger(most[t], most[t + d]);
    __syncthreads();
  }
  const double scale = power_for(most[0]);
  HT_ROLLED for (i64 q = t; q < n; q += threads) a[q] *= scale;
  __syncthreads();
  return scale;
}

// Rotations of columns i and j, which thread 0 notes.
struct Turns {
  double *c, *s, *i, *j;
  int count;
  __device__ void add(double cos, double sin, i64 x, i64 y) {
    if (!c) return;
    c[count] = cos, s[count] = sin, i[count] = (double)x, j[count] = (double)y;
    count++;
  }
};
// turns_in lays out room for n of them; without, none is noted.
HT_FN Turns turns_in(double* room, i64 n, bool some) { return Turns{some ? room : nullptr, room + n, room + 2 * n, room + 3 * n, 0}; }

HT_MATH void turn(const Turns& r, int count, double* v, i64 ld, i64 rows) {
  HT_ROLLED for (i64 k = threadIdx.x; k < rows; k += blockDim.x) {
    double* row = v + k * ld;
    HT_ROLLED for (int q = 0; q < count; q++) {
      double &x = row[(i64)r.i[q]], &y = row[(i64)r.j[q]];
      const double a = x, b = y;
      x = r.c[q] * a + r.s[q] * b;
      y = r.c[q] * b - r.s[q] * a;
    }
  }
}

HT_MATH double hypot64(double f, double g) {
  const double sum = f * f + g * g;
  if (sum > 0x1p-900 && sum < 0x1p900) return ht_sqrt(sum);
  f = ht_abs(f), g = ht_abs(g);
  if (f < g) {
    const double h = f;
    f = g, g = h;
  }
  if (g == 0) return f;
  const double q = g / f;
  return f * ht_sqrt(1 + q * q);
}

struct Givens { double c, s, r; };
HT_FN Givens givens(double f, double g) {
  if (g == 0) return Givens{1, 0, f};
  const double r = hypot64(f, g);
  return Givens{f / r, g / r, r};
}

// sign_of is the sign of the largest number, the first of several.
HT_MATH double sign_of(const double* v, i64 n, i64 step) {
  double most = 0, sign = 1;
  HT_ROLLED for (i64 i = 0; i < n; i++) {
    const double x = v[i * step];
    if (ht_abs(x) > most) most = ht_abs(x), sign = copysign64(1, x);
  }
  return sign;
}

// rank_of says where number i goes in ascending order, or in descending order of amounts.
HT_MATH i64 rank_of(const double* v, i64 n, i64 i, bool amounts) {
  const double own = amounts ? -ht_abs(v[i]) : v[i];
  i64 to = 0;
  HT_ROLLED for (i64 j = 0; j < n; j++) {
    const double x = amounts ? -ht_abs(v[j]) : v[j];
    if (x < own || (j < i && !(own < x))) to++;
  }
  return to;
}

// refuse_infinite notes the first row with a number that is not finite, fills the result, and says that there is one.
HT_MATH bool refuse_infinite(const Dense& p, const double* a, i64 rows, i64 cols, i64 g, i64 room, bool turned) {
  __shared__ int some;
  if (threadIdx.x == 0) some = 0;
  __syncthreads();
  HT_ROLLED for (i64 q = threadIdx.x; q < rows * cols; q += blockDim.x) {
    if (ht_finite(a[q])) continue;
    atomicOr(&some, 1);
    refuse(p.guard, g, turned ? q % cols : q / cols, 0, 0);
  }
  __syncthreads();
  if (!some) return false;
  HT_ROLLED for (i64 q = threadIdx.x; q < room; q += blockDim.x) ((double*)p.out)[g * room + q] = ht_inf<double>() - ht_inf<double>();
  return true;
}

template <class T> HT_FN Rows<T> rows_of(const Dense& p, i64 g) {
  i64 off[2];
  dense_batch(p, g, off);
  return Rows<T>{(const T*)p.a + off[0], p.row[0], p.step[0]};
}

// qr writes p.cols columns of Q, and p.kept rows of R behind them.
HT_MATH void qr_of(const Dense& p, i64 g, double* a) {
  const int t = threadIdx.x, threads = blockDim.x;
  const i64 m = p.n, n = p.m, k = m < n ? m : n, cols = p.cols;
  double *taus = a + m * n, *scales = taus + k, *q = (double*)p.out + g * (m * cols + p.kept * n), *r = q + m * cols;
  HT_ROLLED for (i64 j = t; j < n; j += threads) {
    double most = 0;
    HT_ROLLED for (i64 i = 0; i < m; i++) most = larger(most, a[i * n + j]);
    const double scale = power_for(most);
    HT_ROLLED for (i64 i = 0; i < m; i++) a[i * n + j] *= scale;
    scales[j] = scale;
  }
  __syncthreads();
  HT_ROLLED for (i64 i = 0; i < k; i++) {
    if (t == 0) taus[i] = reflector(a + i * n + i, m - i, n);
    __syncthreads();
    reflect(a + i * n + i + 1, n, m - i, n - i - 1, a + i * n + i, n, taus[i]);
    __syncthreads();
  }
  HT_ROLLED for (i64 x = t; x < p.kept * n; x += threads) r[x] = x % n >= x / n ? a[x] / scales[x % n] : 0.0;
  if (cols == 0) return;
  identity(q, m, cols);
  __syncthreads();
  HT_ROLLED for (i64 i = k - 1; i >= 0; i--) {
    reflect(q + i * cols + i, cols, m - i, cols - i, a + i * n + i, n, taus[i]);
    __syncthreads();
  }
}

template <class T> HT_FN void qr(const Dense& p) {
  const i64 m = p.n, n = p.m, g = blockIdx.x;
  const Rows<T> x = rows_of<T>(p, g);
  double* a = p.work + g * (m * n + (m < n ? m : n) + n);
  HT_ROLLED for (i64 q = threadIdx.x; q < m * n; q += blockDim.x) a[q] = x(q / n, q % n);
  __syncthreads();
  qr_of(p, g, a);
}

// tridiagonal leaves the diagonal in d, what is beside it in e, and the vectors of the reflections in the rows of a, right of the diagonal.
HT_MATH void tridiagonal(double* a, i64 n, double* d, double* e, double* taus, double* w) {
  const int t = threadIdx.x, threads = blockDim.x;
  __shared__ double turned;
  HT_ROLLED for (i64 k = 0; k < n - 1; k++) {
    const i64 left = n - k - 1;
    double *v = a + k * n + k + 1, *rest = a + (k + 1) * n + k + 1;
    if (t == 0) {
      taus[k] = reflector(v, left, 1);
      d[k] = a[k * n + k], e[k] = v[0];
      if (taus[k] != 0) v[0] = 1;
    }
    __syncthreads();
    const double tau = taus[k];
    if (tau == 0) continue;
    HT_ROLLED for (i64 j = t; j < left; j += threads) {
      double sum = 0;
      HT_ROLLED for (i64 i = 0; i < left; i++) sum = ht_fma(v[i], rest[i * n + j], sum);
      w[j] = sum * tau;
    }
    __syncthreads();
    if (t == 0) turned = 0.5 * tau * dot_fours(w, v, left);
    __syncthreads();
    HT_ROLLED for (i64 j = t; j < left; j += threads) w[j] = minus(w[j], turned, v[j]);
    __syncthreads();
    HT_ROLLED for (i64 q = t; q < left * left; q += threads) {
      const i64 i = q / left, j = q % left;
      rest[i * n + j] = minus(minus(rest[i * n + j], v[i], w[j]), w[i], v[j]);
    }
    __syncthreads();
  }
  if (t == 0) d[n - 1] = a[n * n - 1], e[n - 1] = 0, taus[n - 1] = 0;
}

enum { SWEEPS_EACH = 60 };

// step_ql is a QL step on rows l to m.
HT_MATH void step_ql(double* d, double* e, i64 l, i64 m, Turns& turns) {
  double g = (d[l + 1] - d[l]) / (2 * e[l]);
  g = d[m] - d[l] + e[l] / (g + copysign64(hypot64(g, 1), g));
  double s = 1, c = 1, p = 0;
  HT_ROLLED for (i64 i = m - 1; i >= l; i--) {
    const double f = s * e[i], b = c * e[i];
    double r = hypot64(f, g);
    e[i + 1] = r;
    if (r == 0) {
      d[i + 1] -= p;
      e[m] = 0;
      return;
    }
    s = f / r, c = g / r;
    g = d[i + 1] - p;
    r = (d[i] - g) * s + 2 * c * b;
    p = s * r;
    d[i + 1] = g + p;
    g = c * r - b;
    turns.add(c, -s, i, i + 1);
  }
  d[l] -= p;
  e[l] = g;
  e[m] = 0;
}

// small_beside is what counts as 0 beside the numbers of d and e, for thread 0.
HT_MATH double small_beside(const double* d, const double* e, i64 n) {
  double most = 0;
  if (threadIdx.x > 0) return most;
  HT_ROLLED for (i64 i = 0; i < n; i++) most = larger(larger(most, d[i]), e[i]);
  return 0x1p-53 * most;
}

// A Progress says how far thread 0 has come.
struct Progress { i64 at; int sweeps, turns, others; bool done, failed; };

// next_ql makes one step for the eigenvalues that are left, until no more than small is beside them.
HT_MATH void next_ql(double* d, double* e, i64 n, double small, Progress& at, Turns& turns) {
  turns.count = 0;
  HT_ROLLED while (at.at < n) {
    const i64 l = at.at;
    i64 m = l;
    HT_ROLLED while (m < n - 1 && !(ht_abs(e[m]) <= small)) m++;
    if (m == l) {
      at.at++, at.sweeps = 0;
      continue;
    }
    if (++at.sweeps > SWEEPS_EACH) {
      at.done = at.failed = true;
      return;
    }
    step_ql(d, e, l, m, turns);
    at.turns = turns.count;
    return;
  }
  at.turns = 0, at.done = true;
}

// eigh_of: p.kept says whether the vectors are wanted.
HT_MATH void eigh_of(const Dense& p, i64 g, double* a) {
  __shared__ Progress at;
  const int t = threadIdx.x, threads = blockDim.x;
  const i64 n = p.n, each = p.kept ? n + n * n : n;
  if (n == 0) return;
  double *v = a + n * n, *d = v + n * n, *e = d + n, *taus = e + n, *sums = taus + n, *w = (double*)p.out + g * each, *z = w + n;
  Turns turns = turns_in(sums + n, n, p.kept);
  if (refuse_infinite(p, a, n, n, g, each, false)) return;
  const double scale = scaled(a, n * n);
  tridiagonal(a, n, d, e, taus, sums);
  if (p.kept) {
    identity(v, n, n);
    __syncthreads();
    HT_ROLLED for (i64 k = n - 2; k >= 0; k--) {
      reflect(v + (k + 1) * n + k + 1, n, n - k - 1, n - k - 1, a + k * n + k + 1, 1, taus[k]);
      __syncthreads();
    }
  }
  const double small = small_beside(d, e, n);
  if (t == 0) at = Progress{0, 0, 0, 0, false, false};
  __syncthreads();
  HT_ROLLED for (;;) {
    if (t == 0) next_ql(d, e, n, small, at, turns);
    __syncthreads();
    if (at.done) break;
    turn(turns, at.turns, v, n, n);
    __syncthreads();
  }
  if (at.failed && t == 0) refuse(p.guard, g, at.at, 0, 0);
  HT_ROLLED for (i64 j = t; j < n; j += threads) {
    const i64 to = rank_of(d, n, j, false);
    w[to] = d[j] / scale;
    if (!p.kept) continue;
    const double sign = sign_of(v + j, n, n);
    HT_ROLLED for (i64 i = 0; i < n; i++) z[i * n + to] = sign * v[i * n + j];
  }
}

template <class T> HT_FN void eigh(const Dense& p) {
  const i64 n = p.n, g = blockIdx.x;
  const Rows<T> x = rows_of<T>(p, g);
  double* a = p.work + g * (2 * n * n + 8 * n);
  HT_ROLLED for (i64 q = threadIdx.x; q < n * n; q += blockDim.x) {
    const i64 i = q / n, j = q % n;
    a[q] = (i >= j) == !p.upper || i == j ? x(i, j) : x(j, i);
  }
  __syncthreads();
  eigh_of(p, g, a);
}

// bidiagonal leaves the diagonal in d and what is above it in e; the vectors of the reflections stay in a.
HT_MATH void bidiagonal(double* a, i64 m, i64 n, double* d, double* e, double* left, double* right) {
  const int t = threadIdx.x;
  HT_ROLLED for (i64 k = 0; k < n; k++) {
    if (t == 0) {
      left[k] = reflector(a + k * n + k, m - k, n);
      d[k] = a[k * n + k], e[k] = 0, right[k] = 0;
    }
    __syncthreads();
    if (k == n - 1) break;
    reflect(a + k * n + k + 1, n, m - k, n - k - 1, a + k * n + k, n, left[k]);
    __syncthreads();
    double* row = a + k * n + k + 1;
    if (t == 0) {
      right[k] = reflector(row, n - k - 1, 1);
      e[k] = row[0];
    }
    __syncthreads();
    reflect_right(a + (k + 1) * n + k + 1, n, m - k - 1, n - k - 1, row, right[k]);
    __syncthreads();
  }
}

// zero_last takes what is above a last value that is 0 to the left, out of the matrix.
HT_MATH void zero_last(double* d, double* e, i64 k, i64 p, Turns& right) {
  double f = e[p - 2];
  e[p - 2] = 0;
  HT_ROLLED for (i64 j = p - 2; j >= k; j--) {
    const Givens q = givens(d[j], f);
    d[j] = q.r;
    if (j > k) {
      f = -q.s * e[j - 1];
      e[j - 1] *= q.c;
    }
    right.add(q.c, q.s, j, p - 1);
  }
}

// zero_row takes what is beside a value that is 0, but not the last, to the right.
HT_MATH void zero_row(double* d, double* e, i64 zero, i64 p, Turns& left) {
  double f = e[zero];
  e[zero] = 0;
  HT_ROLLED for (i64 j = zero + 1; j < p; j++) {
    const Givens q = givens(d[j], f);
    d[j] = q.r;
    f = -q.s * e[j];
    e[j] *= q.c;
    left.add(q.c, q.s, j, zero);
  }
}

// step_qr is an implicit QR step with the shift of the last two columns, on rows k to p-1.
HT_MATH void step_qr(double* d, double* e, i64 k, i64 p, Turns& left, Turns& right) {
  const double scale = larger(larger(larger(larger(ht_abs(d[p - 1]), d[p - 2]), e[p - 2]), d[k]), e[k]);
  const double last = d[p - 1] / scale, before = d[p - 2] / scale, beside = e[p - 2] / scale, first = d[k] / scale, next = e[k] / scale;
  const double half = ((before + last) * (before - last) + beside * beside) / 2, square = (last * beside) * (last * beside);
  double shift = 0;
  if (half != 0 || square != 0) {
    shift = copysign64(ht_sqrt(half * half + square), half);
    shift = square / (half + shift);
  }
  double f = (first + last) * (first - last) + shift, g = first * next;
  HT_ROLLED for (i64 j = k; j < p - 1; j++) {
    Givens q = givens(f, g);
    if (j > k) e[j - 1] = q.r;
    f = q.c * d[j] + q.s * e[j];
    e[j] = q.c * e[j] - q.s * d[j];
    g = q.s * d[j + 1];
    d[j + 1] *= q.c;
    right.add(q.c, q.s, j, j + 1);
    q = givens(f, g);
    d[j] = q.r;
    f = q.c * e[j] + q.s * d[j + 1];
    d[j + 1] = q.c * d[j + 1] - q.s * e[j];
    g = q.s * e[j + 1];
    e[j + 1] *= q.c;
    left.add(q.c, q.s, j, j + 1);
  }
  e[p - 2] = f;
}

// next_qr makes one step for the first at.at values.
HT_MATH void next_qr(double* d, double* e, double small, Progress& at, Turns& left, Turns& right) {
  left.count = right.count = 0;
  HT_ROLLED while (at.at > 0) {
    const i64 p = at.at;
    i64 k = p - 2;
    HT_ROLLED for (; k >= 0; k--) {
      if (!(ht_abs(e[k]) <= small)) continue;
      e[k] = 0;
      break;
    }
    k++;
    if (k == p - 1) {
      at.at--, at.sweeps = 0;
      continue;
    }
    if (++at.sweeps > SWEEPS_EACH) {
      at.done = at.failed = true;
      at.at--;
      return;
    }
    i64 zero = p - 1;
    HT_ROLLED for (; zero >= k; zero--) {
      if (!(ht_abs(d[zero]) <= small)) continue;
      d[zero] = 0;
      break;
    }
    if (zero < k) step_qr(d, e, k, p, left, right);
    else if (zero == p - 1) zero_last(d, e, k, p, right);
    else zero_row(d, e, zero, p, left);
    at.turns = left.count, at.others = right.count;
    return;
  }
  at.turns = at.others = 0, at.done = true;
}

// svd_of: the matrix has m rows and n columns, m no less than n; p.cols and p.kept are the numbers of left and right vectors that the caller's has, or
// 0, and turned says that his is the transposed one.
HT_MATH void svd_of(const Dense& p, i64 g, double* a, bool turned) {
  __shared__ Progress at;
  const int t = threadIdx.x, threads = blockDim.x;
  const i64 m = turned ? p.m : p.n, n = turned ? p.n : p.m, cols = turned ? p.kept : p.cols, each = n + (i64)p.n * p.cols + (i64)p.kept * p.m;
  const bool vectors = cols > 0;
  double *lefts = a + m * n, *rights = lefts + m * cols, *d = rights + n * n, *e = d + n, *left = e + n, *right = left + n;
  double *s = (double*)p.out + g * each, *u = s + n, *vh = u + (i64)p.n * p.cols;
  Turns onLeft = turns_in(right + n, n, vectors), onRight = turns_in(right + 5 * n, n, vectors);
  if (refuse_infinite(p, a, m, n, g, each, turned)) return;
  const double scale = scaled(a, m * n);
  bidiagonal(a, m, n, d, e, left, right);
  if (vectors) {
    identity(lefts, m, cols);
    identity(rights, n, n);
    __syncthreads();
    HT_ROLLED for (i64 k = n - 1; k >= 0; k--) {
      reflect(lefts + k * cols + k, cols, m - k, cols - k, a + k * n + k, n, left[k]);
      if (k < n - 1) reflect(rights + (k + 1) * n + k + 1, n, n - k - 1, n - k - 1, a + k * n + k + 1, 1, right[k]);
      __syncthreads();
    }
  }
  const double small = small_beside(d, e, n);
  if (t == 0) at = Progress{n, 0, 0, 0, false, false};
  __syncthreads();
  HT_ROLLED for (;;) {
    if (t == 0) next_qr(d, e, small, at, onLeft, onRight);
    __syncthreads();
    if (at.done) break;
    turn(onLeft, at.turns, lefts, cols, m);
    turn(onRight, at.others, rights, n, n);
    __syncthreads();
  }
  if (at.failed && t == 0) refuse(p.guard, g, at.at, 0, 0);
  HT_ROLLED for (i64 j = t; j < (vectors ? cols : n); j += threads) {
    i64 to = j;
    double signs[2] = {1, 1};
    if (j < n) {
      to = rank_of(d, n, j, true);
      s[to] = ht_abs(d[j]) / scale;
      if (!vectors) continue;
      signs[0] = sign_of(lefts + j, m, cols);
      signs[1] = copysign64(signs[0], signs[0] * d[j]);
    }
    HT_ROLLED for (i64 i = 0; i < m; i++) *(turned ? vh + to * m + i : u + i * cols + to) = signs[0] * lefts[i * cols + j];
    if (j >= n) continue;
    HT_ROLLED for (i64 i = 0; i < n; i++) *(turned ? u + i * n + to : vh + to * n + i) = signs[1] * rights[i * n + j];
  }
}

template <class T> HT_FN void svd(const Dense& p) {
  const bool turned = p.n < p.m;
  const i64 m = turned ? p.m : p.n, n = turned ? p.n : p.m, g = blockIdx.x;
  const Rows<T> x = rows_of<T>(p, g);
  double* a = p.work + g * (m * n + m * (turned ? p.kept : p.cols) + n * n + 12 * n);
  HT_ROLLED for (i64 q = threadIdx.x; q < m * n; q += blockDim.x) a[q] = turned ? x(q % n, q / n) : x(q / n, q % n);
  __syncthreads();
  svd_of(p, g, a, turned);
}

// pinv_apply: a block has columns of a right-hand side; a is the decomposition of an m×n matrix, m and n p.cols and p.kept.
template <class T> HT_FN void pinv_apply(const Dense& p) {
  const int t = threadIdx.x, threads = blockDim.x;
  const i64 m = p.cols, n = p.kept, k = m < n ? m : n, from = p.upper ? n : m, to = p.upper ? m : n;
  const Columns c = columns_of(p);
  i64 off[2];
  dense_batch(p, c.g, off);
  const Rows<double> f{(const double*)p.a + off[0], p.row[0], p.step[0]};
  const Rows<T> b{(const T*)p.b + off[1], p.row[1], p.step[1]};
  double* y = p.work + c.g * k * p.m + c.first;
  T* out = (T*)p.out + c.g * to * p.m + c.first;
  const i64 u = k, vh = k + m * k;
  const double least = k > 0 ? p.rtol * f(0, 0) : 0, small = least > p.atol ? least : p.atol;
  HT_ROLLED for (i64 q = t; q < k * c.count; q += threads) {
    const i64 j = q / c.count, x = q % c.count;
    double sum = 0;
    if (f(j, 0) > small) {
      HT_ROLLED for (i64 i = 0; i < from; i++) sum = ht_fma(p.upper ? f(vh + j * n + i, 0) : f(u + i * k + j, 0), b(i, c.first + x), sum);
      sum /= f(j, 0);
    }
    y[j * p.m + x] = sum;
  }
  __syncthreads();
  HT_ROLLED for (i64 q = t; q < to * c.count; q += threads) {
    const i64 i = q / c.count, x = q % c.count;
    double sum = 0;
    HT_ROLLED for (i64 j = 0; j < k; j++) {
      if (f(j, 0) > small) sum = ht_fma(p.upper ? f(u + i * k + j, 0) : f(vh + j * n + i, 0), y[j * p.m + x], sum);
    }
    out[i * p.m + x] = narrow<T>::of(sum);
  }
}

DENSE(qr)
DENSE(eigh)
DENSE(svd)
DENSE(pinv_apply)
