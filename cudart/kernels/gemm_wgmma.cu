// also for sm_90a
// Matrix products of halves by warpgroups, as gemm_mma.cu: the tensor cores of sm_90a are not kept busy by products of single warps.
#include "gemm_end.h"
#include "mma_source.h"
#include "wgmma_loop.h"

#if HT_WARPGROUPS
// A block of two warpgroups. blockIdx.x is the tile, y the batch, z the split.
template <class H, bool AK, bool BK> HT_FN void gemm_wgmma(const Gemm& p) {
  const int M = WGMMA_ROWS, N = WGMMA_COLUMNS, K = WGMMA_TERMS, T = WGMMA_THREADS;
  extern __shared__ Banks dynamic_shared[];
  const u32 shared = (shared_address(dynamic_shared) + WGMMA_ALIGN - 1) / WGMMA_ALIGN * WGMMA_ALIGN;
  const TilePlace at = tile_of<M, N, 16>(p, blockIdx.x);
  const Batch o = batch_of(p, blockIdx.y);
  const Terms terms = terms_of<K>(p, blockIdx.z);
  RowSource<H, AK, M, K, T, SwizzledTile<AK, M>> a((const H*)p.a + o.a, AK ? p.ra : p.ca, at.m, p.m, terms.from, terms.to);
  RowSource<H, BK, N, K, T, SwizzledTile<BK, N>> b((const H*)p.b + o.b, BK ? p.cb : p.rb, at.n, p.n, terms.from, terms.to);
  float sum[32][4];
  wgmma_loop<AK, BK>(sum, a, b, shared, terms.tiles, H());
  const GemmEnd<H> end = end_of<H>(p, o, at.m + threadIdx.x / 32 * 16, at.n);
  HT_UNROLL for (int j = 0; j < 4; j++) mma_row_part(sum + j * 8, dynamic_shared, 0, j * 64, end);
}

#define GEMM_WGMMA(L, AK, BK, S, H) HT_KERNEL_OF(256, gemm_wgmma_##L##_##S, Gemm, p) { gemm_wgmma<H, AK, BK>(p); }
#define GEMM_LAYOUTS(S, H)                                                                                     \
  GEMM_WGMMA(kk, true, true, S, H) GEMM_WGMMA(kn, true, false, S, H) GEMM_WGMMA(mk, false, true, S, H) GEMM_WGMMA(mn, false, false, S, H)
GEMM_LAYOUTS(f16, f16)
GEMM_LAYOUTS(bf16, bf16)
#endif
