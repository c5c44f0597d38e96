// also for sm_80
// Matrix products of halves on tensor cores, as gemm.cu. Both operands lie in 16-byte pieces, along k or along m or n.
#include "gemm.h"
#include "mma_source.h"

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

// A block of WM × WN warps: 64·WM rows, 64·WN columns. blockIdx.x is the tile, y the batch, z the split.
template <class H, bool AK, bool BK, int WM, int WN, int K> HT_FN void gemm_mma(const Gemm& p) {
  const int M = 64 * WM, N = 64 * WN, T = 32 * WM * WN;
  extern __shared__ Banks dynamic_shared[];
  // Blocks that run together share rows of a and columns of b in L2: groups of 8 rows of blocks.
  const int tilesM = (p.m + M - 1) / M, tilesN = (p.n + N - 1) / N;
  const int group = (int)blockIdx.x / (8 * tilesN), in = (int)blockIdx.x % (8 * tilesN), high = tilesM - group * 8 < 8 ? tilesM - group * 8 : 8;
  const int m0 = (group * 8 + in % high) * M, n0 = in / high * N, warp = threadIdx.x / 32;
  const Batch o = batch_of(p, blockIdx.y);
  const int per = ((p.k + p.splits - 1) / p.splits + K - 1) / K * K, from = per * (int)blockIdx.z, to = from + per < p.k ? from + per : p.k;
  const int tiles = to > from ? (to - from + K - 1) / K : 0;
  float sum[4][8][4];
  HT_UNROLL for (int i = 0; i < 4; i++) HT_UNROLL for (int j = 0; j < 8; j++) HT_UNROLL for (int e = 0; e < 4; e++) sum[i][j][e] = 0;
  RowSource<H, AK, M, K, T> a((const H*)p.a + o.a, AK ? p.ra : p.ca, m0, p.m, from, to);
  RowSource<H, BK, N, K, T> b((const H*)p.b + o.b, BK ? p.cb : p.rb, n0, p.n, from, to);
  mma_loop<H, WN, K, AK, BK>(sum, a, b, shared_address(dynamic_shared), tiles, p.stages);
  float* part = p.splits > 1 ? (float*)p.partial + ((i64)blockIdx.z * gridDim.y + blockIdx.y) * p.m * p.n : (float*)nullptr;
  const H* x = p.x && p.beta != 0 ? (const H*)p.x + o.x : (const H*)nullptr;
  mma_rows(sum, dynamic_shared, GemmEnd<H>{p, (H*)p.out + o.out, part, x, (float)p.alpha, (float)p.beta, m0 + warp / WN * 64, n0 + warp % WN * 64});
}
// Blocks of 256 × 128 for products of many tiles, and of 128 × 128, two on a multiprocessor.
#define GEMM_MMA(L, AK, BK, S, H)                                                                              \
  HT_KERNEL_OF(256, gemm_wide_##L##_##S, Gemm, p) { gemm_mma<H, AK, BK, 4, 2, 64>(p); }                        \
  HT_KERNEL_OF(128, gemm_##L##_##S, Gemm, p) { gemm_mma<H, AK, BK, 2, 2, 32>(p); }
#define GEMM_LAYOUTS(S, H)                                                                                     \
  GEMM_MMA(kk, true, true, S, H) GEMM_MMA(kn, true, false, S, H) GEMM_MMA(mk, false, true, S, H) GEMM_MMA(mn, false, false, S, H)
GEMM_LAYOUTS(f16, f16)
GEMM_LAYOUTS(bf16, bf16)
#endif
