// What the kernels of matrix products share: their parameters, the places of batches, and the end of a sum.
#pragma once
#include "prelude.h"

enum { GEMM_THREADS = 256, GEMM_BATCH = 6 };

struct Gemm {
  void* out;                    // [batch][m][n] without gaps
  const void *a, *b, *x;        // x may be null
  i64 ra, ca, rb, cb, rx, cx;   // strides from row to row and column to column
  i64 ba[GEMM_BATCH], bb[GEMM_BATCH], bx[GEMM_BATCH];
  int bshape[GEMM_BATCH];
  int m, n, k, nb, splits;
  int stages;                   // of shared memory, on tensor cores
  double alpha, beta;
  void* partial;                // [splits][batch][m][n] sums, where k is split
};

struct Batch { i64 a, b, x, out; };
HT_FN Batch batch_of(const Gemm& p, u32 i) {
  Batch o = {0, 0, 0, (i64)i * p.m * p.n};
  HT_ROLLED for (int d = p.nb - 1; d >= 0; d--) {
    const u32 q = i / (u32)p.bshape[d], r = i - q * (u32)p.bshape[d];
    o.a += r * p.ba[d];
    o.b += r * p.bb[d];
    o.x += r * p.bx[d];
    i = q;
  }
  return o;
}

template <class T> HT_FN T gemm_end(const Gemm& p, typename as<T>::wide sum, const T* x, i64 row, i64 col) {
  typedef typename as<T>::wide C;
  if (p.alpha != 1) sum *= (C)p.alpha;
  if (x && p.beta != 0) sum += (C)p.beta * wide(x[row * p.rx + col * p.cx]);
  return narrow<T>::of(sum);
}
