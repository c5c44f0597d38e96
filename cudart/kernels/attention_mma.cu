// also for sm_80
// Attention of halves on tensor cores, forward (Dao, FlashAttention-2, 2023). Four warps of 32 queries go over the keys, 64 at a time. Scores,
// their maximum and all sums are float32; a weight e^(score - maximum), of up to 2⁸, multiplies the values as two
// halves, what it is rounded to and the rest, so that the result is that of float32. Tiles that causal queries do not see are left out, and only those at an edge are masked. Kernels with "any" in their names
// know masks, dropout and negative scales.
#include "attention_mma.h"

#if HT_TENSOR_CORES
// What a block has in shared memory: queries, keys, values.
template <class H, int W, int M, int KEYS, bool Any> HT_FN void flash_forward(const Attention& p) {
  const int QUERIES = FLASH_THREADS / 32 * 16 * M, N = KEYS / 8;
  extern __shared__ Chunk dynamic_shared[];
  Chunk *tq = dynamic_shared, *tk = tq + QUERIES * W / 8, *tv = tk + KEYS * W / 8;
  const Place at = place_of_block<true>(p);
  if (at.n >= (u32)p.batches) return;
  const int own = threadIdx.x / 32 * 16 * M, first = at.tile * QUERIES, row = first + own;
  const Rows<H> q = flash_rows<H>(p, 0, p.q, at.n, p.t, p.d), k = flash_rows<H>(p, 1, p.k, at.n, p.s, p.d), v = flash_rows<H>(p, 2, p.v, at.n, p.s, p.e);
  const i64 mask = Any && p.masked ? attention_batch(p, 3, at.n) : 0;
  const int end = p.causal && first + QUERIES < p.s ? first + QUERIES : p.s;
  const float scale = (float)p.scale * 1.44269504f;
  flash_copy<W, QUERIES, FLASH_THREADS>(tq, q, first, false);
  flash_copy<W, KEYS, FLASH_THREADS>(tk, k, 0, false);
  cp_async_commit();
  flash_wait();
  Strip<W, M, (W * M <= 128)> strip;
  strip_begin(strip, tq, own);
  float out[M][W / 8][4], top[M][2], sum[M][2];
  flash_clear(out);
  HT_UNROLL for (int m = 0; m < M; m++) HT_UNROLL for (int h = 0; h < 2; h++) top[m][h] = -ht_inf<float>(), sum[m][h] = 0;
  // A warp whose queries are behind the last, or see no further key, goes on to copy alone.
  const int mine = row >= p.t ? 0 : (p.causal && row + 16 * M < p.s ? row + 16 * M : p.s);
  int j0 = 0;
  HT_ROLLED for (; j0 < mine; j0 += KEYS) {
    flash_wait();
    flash_copy<W, KEYS, FLASH_THREADS>(tv, v, j0, j0 > 0);
    cp_async_commit();
    float s[M][N][4], shrink[M][2];
    flash_scores<H, W>(s, strip, tk);
    flash_wait();
    if (j0 + KEYS < end) flash_copy<W, KEYS, FLASH_THREADS>(tk, k, j0 + KEYS, true);
    cp_async_commit();
    const View view = {row, j0};
    if (Any) flash_mask<H, false>(p, s, view, mask, scale);
    if (j0 + KEYS > p.s || (p.causal && j0 + KEYS - 1 > row)) flash_hide<false>(p, s, view, -ht_inf<float>());
    if (flash_tops(top, shrink, s, Any ? 1.0f : scale)) {
      HT_UNROLL for (int m = 0; m < M; m++) HT_UNROLL for (int h = 0; h < 2; h++) sum[m][h] *= shrink[m][h];
      flash_scale(out, shrink);
    }
    flash_powers(s, sum, top, Any ? 1.0f : scale);
    if (Any && p.bound != 0) HT_UNROLL for (int m = 0; m < M; m++) flash_drop(s[m], flash_kept<false, N>(p, view, m, at.n));
    flash_apply<H, W, true>(out, s, tv);
  }
  HT_ROLLED for (; j0 < end; j0 += KEYS) {
    flash_wait();
    flash_copy<W, KEYS, FLASH_THREADS>(tv, v, j0, j0 > 0);
    cp_async_commit();
    flash_wait();
    if (j0 + KEYS < end) flash_copy<W, KEYS, FLASH_THREADS>(tk, k, j0 + KEYS, true);
    cp_async_commit();
  }
  HT_UNROLL for (int m = 0; m < M; m++) {
    HT_UNROLL for (int h = 0; h < 2; h++) {
      const float all = quad_sum(sum[m][h]);
      sum[m][h] = all == 0 ? 0.0f : (Any && p.bound != 0 ? (float)p.factor / all : 1 / all);
    }
  }
  flash_store<H, W>(flash_rows<H>(p, ATT_OUT, p.out, at.n, p.t, p.e), out, sum, tq, own, row);
}
#define FLASHES(S, H, W, M, KEYS, ANY)                                                                           \
  HT_KERNEL_OF(FLASH_THREADS, flash_w##W##_##S, Attention, p) { flash_forward<H, W, M, KEYS, false>(p); }      \
  HT_KERNEL_OF(FLASH_THREADS, flash_any_w##W##_##S, Attention, p) { flash_forward<H, W, 1, ANY, true>(p); }
#define FLASHED(S, H) FLASHES(S, H, 32, 2, 64, 32) FLASHES(S, H, 64, 2, 64, 64) FLASHES(S, H, 128, 2, 32, 64)
FLASHED(f16, f16) FLASHED(bf16, bf16)
#endif
