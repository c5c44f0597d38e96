// The end of a sum of a product on tensor cores: what a result is made of it.
#pragma once
#include "gemm.h"
#include "mma_loop.h"

#if HT_TENSOR_CORES
// GemmEnd writes 8 sums of a row.
template <class H> struct GemmEnd {
  const Gemm& p;
  H* out;
  float* part;  // instead, where k is split
  const H* x;
  float alpha, beta;
  int m0, n0;

  HT_METHOD void operator()(int row, int col, const float (&v)[8]) const {
    row += m0, col += n0;
    if (row >= p.m || col >= p.n) return;
    const int n = p.n - col < 8 ? p.n - col : 8;
    if (part) return mma_part(part + (i64)row * p.n + col, v, n, p.n % 4 == 0);
    struct alignas(16) Eight { H v[8]; } y;
    const H* xs = x ? x + row * p.rx + col * p.cx : (const H*)nullptr;
    const bool at_once = p.cx == 1 && n == 8 && (u64)xs % 16 == 0;
    Eight xv = {};
    if (xs && at_once) xv = *(const Eight*)xs;
    else if (xs) HT_UNROLL for (int e = 0; e < 8; e++) if (e < n) xv.v[e] = xs[e * p.cx];
    HT_UNROLL for (int e = 0; e < 8; e++) {
      float sum = v[e] * alpha;
      if (xs) sum += beta * wide(xv.v[e]);
      y.v[e] = narrow<H>::of(sum);
    }
    H* to = out + (i64)row * p.n + col;
    if (n == 8 && (u64)to % 16 == 0) *(Eight*)to = y;
    else HT_UNROLL for (int e = 0; e < 8; e++) if (e < n) to[e] = y.v[e];
  }
};

// tile_of is the first row and column of block i. Blocks that run together share rows of a and columns of b in L2: groups of so many rows of blocks.
struct TilePlace { int m, n; };
template <int M, int N, int Rows> HT_FN TilePlace tile_of(const Gemm& p, u32 i) {
  const int tilesM = (p.m + M - 1) / M, tilesN = (p.n + N - 1) / N;
  const int group = (int)i / (Rows * tilesN), in = (int)i % (Rows * tilesN), high = tilesM - group * Rows < Rows ? tilesM - group * Rows : Rows;
  return TilePlace{(group * Rows + in % high) * M, in / high * N};
}

// terms_of are the terms of split i, in whole tiles of K but for the last.
struct Terms { int from, to, tiles; };
template <int K> HT_FN Terms terms_of(const Gemm& p, u32 i) {
  const int per = ((p.k + p.splits - 1) / p.splits + K - 1) / K * K, from = per * (int)i, to = from + per < p.k ? from + per : p.k;
  return Terms{from, to, to > from ? (to - from + K - 1) / K : 0};
}

// end_of is the end of the sums of this block's batch and split, from row m0 and column n0 on.
template <class H> HT_FN GemmEnd<H> end_of(const Gemm& p, const Batch& o, int m0, int n0) {
  float* part = p.splits > 1 ? (float*)p.partial + ((i64)blockIdx.z * gridDim.y + blockIdx.y) * p.m * p.n : (float*)nullptr;
  const H* x = p.x && p.beta != 0 ? (const H*)p.x + o.x : (const H*)nullptr;
  return GemmEnd<H>{p, (H*)p.out + o.out, part, x, (float)p.alpha, (float)p.beta, m0, n0};
}
#endif
