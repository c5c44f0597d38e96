// Gradients of attention of float32 in tiles, as attention.cu computes them: a block of queries goes over the keys twice, first for the maximum,
// the sum and Σ dP∘P of every query, then for dq; a block of keys goes over the queries once. Kernels with "any" in their names know masks
// and dropout; the gradient of a mask is attention.cu's.
#include "attention_f32.h"

struct Numbers { float top, share, mean; };  // of a query: the mean of dP

template <int W, int R, bool Any> HT_FN void tiles_queries(const Attention& p) {
  const int OWN = TILES_THREADS / 8 * R;
  extern __shared__ Floats4 dynamic_shared[];
  float *tq = (float*)dynamic_shared, *ty = tq + OWN * (W + 4), *tk = ty + OWN * (W + 4), *tv = tk + TILES_WALK * (W + 4);
  float* weights = tiles_weights<R>(tv + TILES_WALK * (W + 4));
  const TilesPlace at = tiles_place<R, true>(p);
  if (at.n >= (u32)p.batches) return;
  const FloatRows k = tiles_rows(p, 1, p.k, at.n, p.s, p.d), v = tiles_rows(p, 2, p.v, at.n, p.s, p.e);
  const i64 mask = tiles_mask<Any>(p, at.n);
  const int end = tiles_seen(p, at.first + OWN);
  const int mine = at.top >= p.t ? 0 : tiles_seen(p, at.top + 4 * R);
  float top[R], sum[R], mean[R];
  HT_UNROLL for (int i = 0; i < R; i++) top[i] = -ht_inf<float>(), sum[i] = mean[i] = 0;
  tiles_load<W, OWN>(tq, tiles_rows(p, 0, p.q, at.n, p.t, p.d), at.first);
  tiles_load<W, OWN>(ty, tiles_rows(p, 4, p.dy, at.n, p.t, p.e), at.first);
  auto nothing = [](int) HT_INLINE {};
  auto both = [&](float (&s)[R][TILES_FOUR], float (&dp)[R][TILES_FOUR], int j0) HT_INLINE {  // scores, and dP with dropout's factors
    tiles_products<W>(s, tq + at.own * (W + 4), tk + tiles_column() * (W + 4), p.d);
    tiles_products<W>(dp, ty + at.own * (W + 4), tv + tiles_column() * (W + 4), p.e);
    const View view = {at.first + at.own, j0 + tiles_column()};
    tiles_scores<false, Any>(p, s, view, mask, j0 + TILES_WALK > p.s || (p.causal && j0 + TILES_WALK - 1 > at.top));
    if (Any && p.bound != 0) tiles_drop(p, dp, tiles_kept<false, R>(p, view, at.n));
  };
  tiles_walk<W>(k, tk, v, tv, 0, end, nothing, [&](int j0, auto next) HT_INLINE {
    next();
    if (j0 >= mine) return;
    float s[R][TILES_FOUR], dp[R][TILES_FOUR], shrink[R];
    both(s, dp, j0);
    tiles_weigh(s, top, sum, shrink);
    HT_UNROLL for (int i = 0; i < R; i++) {
      mean[i] *= shrink[i];
      HT_UNROLL for (int j = 0; j < TILES_FOUR; j++) mean[i] += s[i][j] == 0 ? 0.0f : s[i][j] * dp[i][j];
    }
  });
  HT_UNROLL for (int i = 0; i < R; i++) {
    sum[i] = row_sum(sum[i]), mean[i] = row_sum(mean[i]);
    sum[i] = sum[i] == 0 ? 0.0f : 1 / sum[i];  // the share of a weight from here on
    mean[i] *= sum[i];
    const int query = at.first + at.own + 4 * i;
    if (tiles_column() == 0 && query < p.t) ((Numbers*)p.stats)[(i64)at.n * p.t + query] = Numbers{top[i], sum[i], mean[i]};
  }
  float dq[R][W / 8];
  tiles_clear(dq);
  tiles_walk<W>(k, tk, v, tv, 0, end, nothing, [&](int j0, auto next) HT_INLINE {
    if (j0 >= mine) return next();
    float s[R][TILES_FOUR], dp[R][TILES_FOUR];
    both(s, dp, j0);
    HT_UNROLL for (int i = 0; i < R; i++) {
      HT_UNROLL for (int j = 0; j < TILES_FOUR; j++) {
        const float e = s[i][j] == -ht_inf<float>() ? 0.0f : line_exp(s[i][j] - top[i]) * sum[i], ds = e * (dp[i][j] - mean[i]);
        s[i][j] = e != 0 ? ds : 0.0f;
      }
    }
    tiles_write(weights, s);
    __syncwarp();
    next();
    tiles_apply<W>(dq, weights, tk, 0, mine - j0 < TILES_WALK ? mine - j0 : TILES_WALK);
  });
  HT_UNROLL for (int i = 0; i < R; i++) sum[i] = (float)p.scale;
  tiles_store<W>(tiles_rows(p, ATT_OUT, p.out, at.n, p.t, p.d), dq, sum, at.first + at.own);
}

template <int W, int R, bool Any> HT_FN void tiles_keys(const Attention& p) {
  const int OWN = TILES_THREADS / 8 * R;
  extern __shared__ Floats4 dynamic_shared[];
  __shared__ Numbers numbers[TILES_WALK];
  float *tk = (float*)dynamic_shared, *tv = tk + OWN * (W + 4), *tq = tv + OWN * (W + 4), *ty = tq + TILES_WALK * (W + 4);
  float* weights = tiles_weights<R>(ty + TILES_WALK * (W + 4));
  const TilesPlace at = tiles_place<R, false>(p);
  if (at.n >= (u32)p.batches) return;
  const FloatRows q = tiles_rows(p, 0, p.q, at.n, p.t, p.d), y = tiles_rows(p, 4, p.dy, at.n, p.t, p.e);
  const i64 mask = tiles_mask<Any>(p, at.n);
  const int mine = at.top >= p.s ? p.t : (p.causal ? at.top : 0);  // the first query that sees one of a warp's keys
  float dk[R][W / 8], dv[R][W / 8];
  tiles_clear(dk);
  tiles_clear(dv);
  tiles_load<W, OWN>(tk, tiles_rows(p, 1, p.k, at.n, p.s, p.d), at.first);
  tiles_load<W, OWN>(tv, tiles_rows(p, 2, p.v, at.n, p.s, p.e), at.first);
  auto more = [&](int j0) HT_INLINE {
    const int x = threadIdx.x;
    if (x < TILES_WALK) numbers[x] = j0 + x < p.t ? ((const Numbers*)p.stats)[(i64)at.n * p.t + j0 + x] : Numbers{0, 0, 0};
  };
  tiles_walk<W>(q, tq, y, ty, p.causal ? at.first : 0, p.t, more, [&](int j0, auto next) HT_INLINE {
    if (j0 + TILES_WALK <= mine) return next();
    float s[R][TILES_FOUR], dp[R][TILES_FOUR];
    tiles_products<W>(s, tk + at.own * (W + 4), tq + tiles_column() * (W + 4), p.d);
    const View view = {at.first + at.own, j0 + tiles_column()};
    tiles_scores<true, Any>(p, s, view, mask, j0 + TILES_WALK > p.t || (p.causal && j0 < at.top + 4 * R - 1));
    HT_UNROLL for (int j = 0; j < TILES_FOUR; j++) {
      const Numbers x = numbers[tiles_column() + 8 * j];
      HT_UNROLL for (int i = 0; i < R; i++) s[i][j] = s[i][j] == -ht_inf<float>() || x.share == 0 ? 0.0f : line_exp(s[i][j] - x.top) * x.share;
    }
    const bool drops = Any && p.bound != 0;
    const u32 kept = drops ? tiles_kept<true, R>(p, view, at.n) : 0;
    if (drops) {
      HT_UNROLL for (int i = 0; i < R; i++) HT_UNROLL for (int j = 0; j < TILES_FOUR; j++) dp[i][j] = s[i][j];
      tiles_drop(p, dp, kept);
      tiles_write(weights, dp);
    } else {
      tiles_write(weights, s);
    }
    __syncwarp();
    const int from = 4 * R < TILES_WALK && mine > j0 ? (mine - j0) / 8 * 8 : 0;  // a warp of 32 keys begins with a tile
    tiles_apply<W>(dv, weights, ty, from, TILES_WALK);
    tiles_products<W>(dp, tv + at.own * (W + 4), ty + tiles_column() * (W + 4), p.e);
    if (drops) tiles_drop(p, dp, kept);
    if (!Any) tiles_read(s, weights);  // meanwhile they took no registers
    __syncwarp();
    HT_UNROLL for (int j = 0; j < TILES_FOUR; j++) {
      const float mean = numbers[tiles_column() + 8 * j].mean;
      HT_UNROLL for (int i = 0; i < R; i++) dp[i][j] = s[i][j] != 0 ? s[i][j] * (dp[i][j] - mean) : 0.0f;
    }
    tiles_write(weights, dp);
    __syncwarp();
    tiles_apply<W>(dk, weights, tq, from, TILES_WALK);
    next();  // the sums leave no registers for it before
  });
  float one[R], scale[R];
  HT_UNROLL for (int i = 0; i < R; i++) one[i] = 1, scale[i] = (float)p.scale;
  tiles_store<W>(tiles_rows(p, ATT_DK, p.dk, at.n, p.s, p.d), dk, scale, at.first + at.own);
  tiles_store<W>(tiles_rows(p, ATT_DV, p.dv, at.n, p.s, p.e), dv, one, at.first + at.own);
}
#define TILES(W, R, ANY)                                                                                             \
  HT_KERNEL_TIMES(TILES_THREADS, 2, tiles_queries_w##W##_f32, Attention, p) { tiles_queries<W, R, false>(p); }       \
  HT_KERNEL_TIMES(TILES_THREADS, 2, tiles_queries_any_w##W##_f32, Attention, p) { tiles_queries<W, ANY, true>(p); }  \
  HT_KERNEL_TIMES(TILES_THREADS, 2, tiles_keys_w##W##_f32, Attention, p) { tiles_keys<W, R, false>(p); }             \
  HT_KERNEL_TIMES(TILES_THREADS, 2, tiles_keys_any_w##W##_f32, Attention, p) { tiles_keys<W, ANY, true>(p); }
TILES(64, 8, 4) TILES(128, 4, 4)
