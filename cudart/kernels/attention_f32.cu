// Attention of float32 in tiles, forward: attention.cu's numbers in another order of sums, many times as fast. Keys are in shared memory while
// scores are computed, and values while they are weighed; meanwhile the next of the other come into registers. Kernels with "any" in their
// names know masks and dropout.
#include "attention_f32.h"

template <int W, int R, bool Any> HT_FN void tiles_forward(const Attention& p) {
  const int OWN = TILES_THREADS / 8 * R;
  extern __shared__ Floats4 dynamic_shared[];
  float *tq = (float*)dynamic_shared, *tk = tq + OWN * (W + 4), *tv = tk + TILES_WALK * (W + 4), *weights = tiles_weights<R>(tv + TILES_WALK * (W + 4));
  const TilesPlace at = tiles_place<R, true>(p);
  if (at.n >= (u32)p.batches) return;
  const FloatRows k = tiles_rows(p, 1, p.k, at.n, p.s, p.d), v = tiles_rows(p, 2, p.v, at.n, p.s, p.e);
  const i64 mask = tiles_mask<Any>(p, at.n);
  const int end = tiles_seen(p, at.first + OWN);
  // A warp whose queries are behind the last, or see no further key, goes on to copy alone.
  const int mine = at.top >= p.t ? 0 : tiles_seen(p, at.top + 4 * R);
  float out[R][W / 8], top[R], sum[R];
  tiles_clear(out);
  HT_UNROLL for (int i = 0; i < R; i++) top[i] = -ht_inf<float>(), sum[i] = 0;
  Piece<W> next;
  tiles_load<W, OWN>(tq, tiles_rows(p, 0, p.q, at.n, p.t, p.d), at.first);
  tiles_load<W, TILES_WALK>(tk, k, 0);
  __syncthreads();
  HT_ROLLED for (int j0 = 0; j0 < end; j0 += TILES_WALK) {
    tiles_fetch(next, v, j0);
    if (j0 < mine) {
      float s[R][TILES_FOUR], shrink[R];
      tiles_products<W>(s, tq + at.own * (W + 4), tk + tiles_column() * (W + 4), p.d);
      const View view = {at.first + at.own, j0 + tiles_column()};
      tiles_scores<false, Any>(p, s, view, mask, j0 + TILES_WALK > p.s || (p.causal && j0 + TILES_WALK - 1 > at.top));
      tiles_weigh(s, top, sum, shrink);
      HT_UNROLL for (int i = 0; i < R; i++) HT_UNROLL for (int c = 0; c < W / 8; c++) out[i][c] *= shrink[i];
      if (Any && p.bound != 0) tiles_drop(p, s, tiles_kept<false, R>(p, view, at.n));
      tiles_write(weights, s);
    }
    tiles_put(tv, next);
    __syncthreads();
    tiles_fetch(next, k, j0 + TILES_WALK);
    if (j0 < mine) tiles_apply<W>(out, weights, tv, 0, mine - j0 < TILES_WALK ? mine - j0 : TILES_WALK);
    tiles_put(tk, next);
    __syncthreads();
  }
  HT_UNROLL for (int i = 0; i < R; i++) {
    sum[i] = row_sum(sum[i]);
    sum[i] = sum[i] == 0 ? 0.0f : 1 / sum[i];
  }
  tiles_store<W>(tiles_rows(p, ATT_OUT, p.out, at.n, p.t, p.e), out, sum, at.first + at.own);
}
#define TILES(W, R, BLOCKS)                                                                                  \
  HT_KERNEL_TIMES(TILES_THREADS, BLOCKS, tiles_w##W##_f32, Attention, p) { tiles_forward<W, R, false>(p); }  \
  HT_KERNEL_TIMES(TILES_THREADS, 2, tiles_any_w##W##_f32, Attention, p) { tiles_forward<W, R, true>(p); }
TILES(64, 8, 2) TILES(128, 4, 2)
