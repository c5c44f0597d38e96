// Matrix products: alpha·a·b + beta·x, rounded once, by multiply-adds: a and b may lie in any strides. Halves whose rows allow it go to
// tensor cores (gemm_mma.cu). Sums are in float32 (float64 for float64), in the order of k.
#include "gemm.h"

// A tile of 16·E rows and columns, E·E sums per thread.
template <class T, int E> HT_FN void gemm_tile(const Gemm& p) {
  typedef typename as<T>::wide C;
  const int S = 16 * E, K = 16;
  __shared__ C as_[K][S + 1], bs_[K][S + 1];
  const int t = threadIdx.x, tx = t % 16, ty = t / 16, tilesN = (p.n + S - 1) / S;
  const int m0 = (int)(blockIdx.x / tilesN) * S, n0 = (int)(blockIdx.x % tilesN) * S;
  const Batch o = batch_of(p, blockIdx.y);
  const T *a = (const T*)p.a + o.a, *b = (const T*)p.b + o.b;
  const bool ak = p.ca == 1, bk = p.rb == 1;
  C sum[E][E];
  HT_UNROLL for (int i = 0; i < E; i++) HT_UNROLL for (int j = 0; j < E; j++) sum[i][j] = 0;
  const int per = ((p.k + p.splits - 1) / p.splits + K - 1) / K * K, from = per * (int)blockIdx.z, to = from + per < p.k ? from + per : p.k;
  for (int k0 = from; k0 < to; k0 += K) {
    HT_UNROLL for (int i = 0; i < E; i++) {
      const int c = i * GEMM_THREADS + t;
      const int r = ak ? c / K : c % S, k = ak ? c % K : c / S;
      as_[k][r] = m0 + r < p.m && k0 + k < to ? wide(a[(m0 + r) * p.ra + (k0 + k) * p.ca]) : (C)0;
      const int r2 = bk ? c / K : c % S, k2 = bk ? c % K : c / S;
      bs_[k2][r2] = n0 + r2 < p.n && k0 + k2 < to ? wide(b[(k0 + k2) * p.rb + (n0 + r2) * p.cb]) : (C)0;
    }
    __syncthreads();
    HT_UNROLL for (int k = 0; k < K; k++) {
      C av[E], bv[E];
      HT_UNROLL for (int i = 0; i < E; i++) av[i] = as_[k][ty + 16 * i], bv[i] = bs_[k][tx + 16 * i];
      HT_UNROLL for (int i = 0; i < E; i++) HT_UNROLL for (int j = 0; j < E; j++) sum[i][j] = fused(av[i], bv[j], sum[i][j]);
    }
    __syncthreads();
  }
  const T* x = p.x ? (const T*)p.x + o.x : (const T*)nullptr;
  HT_UNROLL for (int i = 0; i < E; i++) {
    HT_UNROLL for (int j = 0; j < E; j++) {
      const i64 row = m0 + ty + 16 * i, col = n0 + tx + 16 * j;
      if (row >= p.m || col >= p.n) continue;
      if (p.splits > 1) ((C*)p.partial)[((i64)blockIdx.z * gridDim.y + blockIdx.y) * p.m * p.n + row * p.n + col] = sum[i][j];
      else ((T*)p.out)[o.out + row * p.n + col] = gemm_end<T>(p, sum[i][j], x, row, col);
    }
  }
}

// gemm_sum brings the splits of k together, in their order. n counts elements per split here: blockIdx.y is the batch.
template <class T> HT_FN void gemm_sum(const Gemm& p) {
  typedef typename as<T>::wide C;
  const i64 size = (i64)p.m * p.n, i = (i64)blockIdx.x * GEMM_THREADS + threadIdx.x;
  if (i >= size) return;
  const Batch o = batch_of(p, blockIdx.y);
  C sum = 0;
  for (int s = 0; s < p.splits; s++) sum += ((const C*)p.partial)[((i64)s * gridDim.y + blockIdx.y) * size + i];
  const T* x = p.x ? (const T*)p.x + o.x : (const T*)nullptr;
  ((T*)p.out)[o.out + i] = gemm_end<T>(p, sum, x, i / p.n, i % p.n);
}

#define GEMM(S, T)                                              \
  HT_KERNEL(gemm_##S, Gemm, p) { gemm_tile<T, 4>(p); }          \
  HT_KERNEL(gemm_sum_##S, Gemm, p) { gemm_sum<T>(p); }
GEMM(f16, f16) GEMM(bf16, bf16) GEMM(f32, float) GEMM(f64, double) GEMM(i64, i64)
HT_KERNEL(gemm_large_f32, Gemm, p) { gemm_tile<float, 8>(p); }
