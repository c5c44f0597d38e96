// What kernels on dense matrices share: how a call describes its matrices, and elements that are read in any dtype as float64.
#pragma once
#include "refuse.h"
#include "math64.h"

enum { DENSE_COLUMNS = 8 };  // right-hand sides of a block
enum { DENSE_PLAIN = 0, DENSE_CHECKED = 1, LU_NUDGED = 2, LU_LOG = 3, LU_SIGN = 4 };  // Dense.mode

struct Dense {
  void* out;         // without gaps
  const void *a, *b;
  double* work;      // of each matrix of the result
  i64 batches;
  int n, m;          // rows, and columns of right-hand sides
  int rank, mode;    // dimensions of the batch
  int upper, unit;   // of a triangle; upper: aᵀ, of lu_substitute
  int cols, kept;    // of the factors that are asked for (spectral.cu)
  int shape[6];
  i64 stride[2][6];  // of a and b from matrix to matrix
  i64 row[2], step[2];
  double atol, rtol; // below which singular values count as 0
  Guard guard;
};

HT_FN void dense_batch(const Dense& p, i64 g, i64 (&off)[2]) {
  off[0] = off[1] = 0;
  HT_ROLLED for (int d = p.rank - 1; d >= 0; d--) {
    const i64 q = g / p.shape[d], r = g - q * p.shape[d];
    off[0] += r * p.stride[0][d];
    off[1] += r * p.stride[1][d];
    g = q;
  }
}

// minus is a - x·y with one rounding.
HT_FN double minus(double a, double x, double y) { return ht_fma(-x, y, a); }

// Elements of a matrix of float64, or widened.
template <class T> struct Rows {
  const T* at;
  i64 row, step;
  __device__ __forceinline__ double operator()(i64 i, i64 j) const { return (double)wide(at[i * row + j * step]); }
  // turned backwards, an upper triangle of n rows is a lower one.
  __device__ __forceinline__ Rows back(i64 n) const { return Rows{at + (n - 1) * (row + step), -row, -step}; }
};

// A block has columns from first on of matrix g.
struct Columns { i64 g, first; int count; };
HT_FN Columns columns_of(const Dense& p) {
  const i64 some = (p.m + DENSE_COLUMNS - 1) / DENSE_COLUMNS, tiles = some > 0 ? some : 1, g = blockIdx.x / tiles, first = (blockIdx.x % tiles) * DENSE_COLUMNS;
  return Columns{g, first, (int)(p.m - first < DENSE_COLUMNS ? p.m - first : DENSE_COLUMNS)};
}

#define DENSE(name)                                        \
  HT_KERNEL_OF(1024, name##_f16, Dense, p) { name<f16>(p); }   \
  HT_KERNEL_OF(1024, name##_bf16, Dense, p) { name<bf16>(p); } \
  HT_KERNEL_OF(1024, name##_f32, Dense, p) { name<float>(p); } \
  HT_KERNEL_OF(1024, name##_f64, Dense, p) { name<double>(p); }
