// Factors of dense matrices and the systems that they solve: a block for each matrix, or for a few columns of its right-hand sides. All is
// float64, and every element gets its updates in the order of elimination, each a product and a difference that are rounded once together, as
// on the CPU (amp/internal/cpu/factor.go): so factors have the CPU's bits, and its pivots. A matrix that has no factor or no solution is
// noted for the host (refuse.h).
#include "linalg.h"

template <class T> HT_FN void cholesky(const Dense& p) {
  const int t = threadIdx.x, threads = blockDim.x, n = p.n;
  const i64 g = blockIdx.x;
  i64 off[2];
  dense_batch(p, g, off);
  const Rows<T> x{(const T*)p.a + off[0], p.row[0], p.step[0]};
  double* w = p.work + g * n * n;
  T* out = (T*)p.out + g * n * n;
  HT_ROLLED for (i64 i = t; i < (i64)n * n; i += threads) w[i] = x(i / n, i % n);
  __syncthreads();
  bool failed = false;
  HT_ROLLED for (i64 k = 0; k < n; k++) {
    const double d = w[k * n + k], root = ht_sqrt(d);
    if (!(d > 0) && !failed && t == 0) refuse(p.guard, g, k, 0, 0);
    failed = failed || !(d > 0);
    __syncthreads();
    if (t == 0) w[k * n + k] = root;
    HT_ROLLED for (i64 i = k + 1 + t; i < n; i += threads) w[i * n + k] /= root;
    __syncthreads();
    const i64 left = n - k - 1;
    HT_ROLLED for (i64 q = t; q < left * left; q += threads) {
      const i64 i = k + 1 + q / left, j = k + 1 + q % left;
      if (j <= i) w[i * n + j] = minus(w[i * n + j], w[i * n + k], w[j * n + k]);
    }
    __syncthreads();
  }
  HT_ROLLED for (i64 i = t; i < (i64)n * n; i += threads) out[i] = narrow<T>::of(i % n <= i / n ? w[i] : 0.0);
}

// solve_lower replaces columns of x, rows ld apart, by those of T⁻¹·x for a lower triangle; nudge, if it is not 0, stands for a pivot that is.
template <class R> HT_FN void solve_lower(const R& a, i64 n, bool unit, double nudge, double* x, i64 ld, int columns) {
  const int t = threadIdx.x, threads = blockDim.x;
  HT_ROLLED for (i64 k = 0; k < n; k++) {
    if (!unit && t < columns) {
      const double d = a(k, k);
      x[k * ld + t] /= d == 0 && nudge != 0 ? nudge : d;  // else a 0 keeps its sign
    }
    __syncthreads();
    HT_ROLLED for (i64 q = t; q < (n - k - 1) * columns; q += threads) {
      const i64 i = k + 1 + q / columns, j = q % columns;
      x[i * ld + j] = minus(x[i * ld + j], a(i, k), x[k * ld + j]);
    }
    __syncthreads();
  }
}

// refuse_zero notes the first 0 on the diagonal of a matrix, from the block that has its first columns.
template <class R> HT_FN void refuse_zero(const Dense& p, const Columns& c, const R& a) {
  if (p.mode != DENSE_CHECKED || c.first != 0 || threadIdx.x != 0) return;
  HT_ROLLED for (i64 k = 0; k < p.n; k++) {
    if (a(k, k) != 0) continue;
    refuse(p.guard, c.g, k, 0, 0);
    return;
  }
}

template <class T> HT_FN void triangular(const Dense& p) {
  const int t = threadIdx.x, threads = blockDim.x;
  const i64 n = p.n, m = p.m;
  const Columns c = columns_of(p);
  i64 off[2];
  dense_batch(p, c.g, off);
  const Rows<T> a{(const T*)p.a + off[0], p.row[0], p.step[0]}, b{(const T*)p.b + off[1], p.row[1], p.step[1]};
  double* x = p.work + c.g * n * m + c.first;
  T* out = (T*)p.out + c.g * n * m + c.first;
  refuse_zero(p, c, a);
  HT_ROLLED for (i64 q = t; q < n * c.count; q += threads) x[q / c.count * m + q % c.count] = b(q / c.count, c.first + q % c.count);
  __syncthreads();
  if (p.upper) solve_lower(a.back(n), n, p.unit, 0.0, x + (n - 1) * m, -m, c.count);
  else solve_lower(a, n, p.unit, 0.0, x, m, c.count);
  HT_ROLLED for (i64 q = t; q < n * c.count; q += threads) {
    const i64 at = q / c.count * m + q % c.count;
    out[at] = narrow<T>::of(x[at]);
  }
}

// lu writes factors, the row that changed places with each, and the order that made. The pivot is the first of the largest amounts, and that
// of the diagonal if it is NaN.
template <class T> HT_FN void lu(const Dense& p) {
  __shared__ double most[1024];
  __shared__ int where[1024];
  const int t = threadIdx.x, threads = blockDim.x;
  const i64 n = p.n, ld = n + 2, g = blockIdx.x;
  i64 off[2];
  dense_batch(p, g, off);
  const Rows<T> x{(const T*)p.a + off[0], p.row[0], p.step[0]};
  double* w = (double*)p.out + g * n * ld;
  HT_ROLLED for (i64 q = t; q < n * n; q += threads) w[q / n * ld + q % n] = x(q / n, q % n);
  HT_ROLLED for (i64 i = t; i < n; i += threads) w[i * ld + n + 1] = (double)i;
  __syncthreads();
  HT_ROLLED for (i64 k = 0; k < n; k++) {
    double best = -1;
    i64 at = k;
    HT_ROLLED for (i64 i = k + t; i < n; i += threads) {
      double v = ht_abs(w[i * ld + k]);
      if (v != v) v = i == k ? ht_inf<double>() : -1.0;
      if (v > best) best = v, at = i;
    }
    most[t] = best;
    where[t] = (int)at;
    __syncthreads();
    HT_ROLLED for (int d = threads / 2; d > 0; d /= 2) {
      if (t < d && (most[t + d] > most[t] || (most[t + d] == most[t] && where[t + d] < where[t]))) most[t] = most[t + d], where[t] = where[t + d];
      __syncthreads();
    }
    at = where[0];
    HT_ROLLED for (i64 j = t; j <= n; j += threads) {
      const i64 q = j < n ? j : n + 1;
      const double v = w[k * ld + q];
      w[k * ld + q] = w[at * ld + q];
      w[at * ld + q] = v;
    }
    if (t == 0) w[k * ld + n] = (double)(at + 1);
    __syncthreads();
    const double pivot = w[k * ld + k];
    if (pivot != 0) {
      HT_ROLLED for (i64 i = k + 1 + t; i < n; i += threads) w[i * ld + k] /= pivot;
    }
    __syncthreads();
    const i64 left = n - k - 1;
    HT_ROLLED for (i64 q = t; q < left * left; q += threads) {
      const i64 i = k + 1 + q / left, j = k + 1 + q % left;
      w[i * ld + j] = minus(w[i * ld + j], w[i * ld + k], w[k * ld + j]);
    }
    __syncthreads();
  }
}

// lu_nudge stands for pivots that are 0.
HT_FN double lu_nudge(const Rows<double>& f, i64 n) {
  double most = 0;
  HT_ROLLED for (i64 k = 0; k < n; k++) {
    const double v = ht_abs(f(k, k));
    if (v > most || v != v) most = v;
  }
  return (most == 0 ? 1.0 : most) * 0x1p-52;
}

template <class T> HT_FN void lu_substitute(const Dense& p) {
  const int t = threadIdx.x, threads = blockDim.x;
  const i64 n = p.n, m = p.m;
  const Columns c = columns_of(p);
  i64 off[2];
  dense_batch(p, c.g, off);
  const Rows<double> f{(const double*)p.a + off[0], p.row[0], p.step[0]}, turned{f.at, f.step, f.row};
  const Rows<T> b{(const T*)p.b + off[1], p.row[1], p.step[1]};
  double* x = p.work + c.g * n * m + c.first;
  T* out = (T*)p.out + c.g * n * m + c.first;
  refuse_zero(p, c, f);
  const double nudge = p.mode == LU_NUDGED ? lu_nudge(f, n) : 0.0;
  HT_ROLLED for (i64 q = t; q < n * c.count; q += threads) {
    const i64 i = q / c.count, j = q % c.count;
    x[i * m + j] = b(p.upper ? i : (i64)f(i, n + 1), c.first + j);
  }
  __syncthreads();
  if (p.upper) {
    solve_lower(turned, n, false, nudge, x, m, c.count);
    solve_lower(turned.back(n), n, true, 0.0, x + (n - 1) * m, -m, c.count);
  } else {
    solve_lower(f, n, true, 0.0, x, m, c.count);
    solve_lower(f.back(n), n, false, nudge, x + (n - 1) * m, -m, c.count);
  }
  HT_ROLLED for (i64 q = t; q < n * c.count; q += threads) {
    const i64 i = q / c.count, j = q % c.count;
    out[(p.upper ? (i64)f(i, n + 1) : i) * m + j] = narrow<T>::of(x[i * m + j]);
  }
}

// lu_determinant: a thread has a matrix.
template <class T> HT_FN void lu_determinant(const Dense& p) {
  const i64 g = (i64)blockIdx.x * blockDim.x + threadIdx.x, n = p.n;
  if (g >= p.batches) return;
  i64 off[2];
  dense_batch(p, g, off);
  const Rows<double> f{(const double*)p.a + off[0], p.row[0], p.step[0]};
  const double nudge = p.mode == LU_NUDGED ? lu_nudge(f, n) : 0.0;
  double y = 1, logs = 0;
  HT_ROLLED for (i64 k = 0; k < n; k++) {
    double v = f(k, k);
    if (v == 0) v = nudge;
    if ((i64)f(k, n) != k + 1) y = -y;
    if (p.mode == LU_LOG) {
      logs += log64(ht_abs(v));
    } else if (p.mode == LU_SIGN) {
      if (v < 0) y = -y;
      else if (!(v > 0)) y *= v;
    } else {
      y *= v;
    }
  }
  ((T*)p.out)[g] = narrow<T>::of(p.mode == LU_LOG ? logs : y + 0.0);  // no -0
}

DENSE(cholesky)
DENSE(triangular)
DENSE(lu)
DENSE(lu_substitute)
DENSE(lu_determinant)
