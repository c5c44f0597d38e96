// also for sm_80
// Matrix products of halves on tensor cores, as gemm.cu. Both operands lie in 16-byte pieces, along k or along m or n.
#include "gemm_end.h"
#include "mma_source.h"

#if HT_TENSOR_CORES
// A block of WM × WN warps: 64·WM rows, 64·WN columns. blockIdx.x is the tile, y the batch, z the split.
template <class H, bool AK, bool BK, int WM, int WN, int K> HT_FN void gemm_mma(const Gemm& p) {
  const int M = 64 * WM, N = 64 * WN, T = 32 * WM * WN;
  extern __shared__ Banks dynamic_shared[];
  const TilePlace at = tile_of<M, N, 8>(p, blockIdx.x);
  const int m0 = at.m, n0 = at.n, warp = threadIdx.x / 32;
  const Batch o = batch_of(p, blockIdx.y);
  const Terms terms = terms_of<K>(p, blockIdx.z);
  float sum[4][8][4];
  HT_UNROLL for (int i = 0; i < 4; i++) HT_UNROLL for (int j = 0; j < 8; j++) HT_UNROLL for (int e = 0; e < 4; e++) sum[i][j][e] = 0;
  RowSource<H, AK, M, K, T> a((const H*)p.a + o.a, AK ? p.ra : p.ca, m0, p.m, terms.from, terms.to);
  RowSource<H, BK, N, K, T> b((const H*)p.b + o.b, BK ? p.cb : p.rb, n0, p.n, terms.from, terms.to);
  mma_loop<H, WN, K, AK, BK>(sum, a, b, shared_address(dynamic_shared), terms.tiles, p.stages);
  mma_rows(sum, dynamic_shared, end_of<H>(p, o, m0 + warp / WN * 64, n0 + warp % WN * 64));
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
