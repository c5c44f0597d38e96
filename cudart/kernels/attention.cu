// Attention without the matrix of scores: blocks of 32 queries go over the keys, 32 at a time, with a running maximum and sum. Where a block
// has too little shared memory for rows so wide, it takes 16 of each (low). The gradient computes scores again: one kernel per block of
// queries, which leaves maximum, sum and Σ dP∘P of every query behind, and one per block of keys, so that every sum has one owner and a
// fixed order. Sums are in float32 (float64 for float64). Rows of more features are attention_any.cu's.
#include "attention_rows.h"

// attention_load reads the rows of a tile into shared memory, rows of width + 1; those behind the last are 0.
template <int ROWS, class T, class C> HT_FN void attention_load(const Attention& p, int which, const void* from, i64 off, int first, int count, int width, C* to) {
  const T* x = (const T*)from + off;
  for (int i = threadIdx.x; i < ROWS * width; i += ROWS * 8) {
    const int r = i / width, c = i - r * width;
    to[r * (width + 1) + c] = first + r < count ? (C)wide(x[(i64)(first + r) * p.rows[which] + (i64)c * p.columns[which]]) : (C)0;
  }
}

template <class C> struct Tile { C *q, *k, *v, *dy, *p, *ds; };
template <int ROWS, class C> HT_FN Tile<C> attention_tile(const Attention& p, C* base) {
  Tile<C> t;
  t.q = base;
  t.k = t.q + ROWS * (p.d + 1);
  t.v = t.k + ROWS * (p.d + 1);
  t.p = t.v + ROWS * (p.e + 1);
  t.ds = t.p + ROWS * (ROWS + 1);
  t.dy = t.ds + ROWS * (ROWS + 1);
  return t;
}

// attention_score returns the score of a query and a key, -Inf where the key is not seen. The rows lie in shared memory.
template <class T, class C> HT_FN C attention_score(const Attention& p, const Tile<C>& t, i64 mask, int r, int kk, int query, int key) {
  if (!attention_seen(p, query, key)) return -ht_inf<C>();
  const C *a = t.q + r * (p.d + 1), *b = t.k + kk * (p.d + 1);
  C sum = 0;
  HT_ROLLED for (int x = 0; x < p.d; x++) sum = fused(a[x], b[x], sum);
  return attention_masked<T>(p, mask, query, key, sum);
}

// Thread t works on query t/8 and on keys, or columns, t%8 + 8·i. W is how many columns that are at most.
template <class T, int W, int ROWS> HT_FN void attention_forward(const Attention& p) {
  typedef typename attention_of<T>::type C;
  extern __shared__ Chunk dynamic_shared[];
  const Tile<C> tile = attention_tile<ROWS>(p, (C*)dynamic_shared);
  const int t = threadIdx.x, r = t / 8, lane = t % 8, first = blockIdx.x * ROWS, query = first + r;
  const u32 n = blockIdx.z * gridDim.y + blockIdx.y;
  if (n >= (u32)p.batches) return;
  const i64 kb = attention_batch(p, 1, n), vb = attention_batch(p, 2, n), mb = p.masked ? attention_batch(p, 3, n) : 0;
  attention_load<ROWS, T>(p, 0, p.q, attention_batch(p, 0, n), first, p.t, p.d, tile.q);
  C out[W], top = -ht_inf<C>(), sum = 0;
  HT_UNROLL for (int i = 0; i < W; i++) out[i] = 0;
  const int end = p.causal && first + ROWS < p.s ? first + ROWS : p.s;
  for (int j = 0; j < end; j += ROWS) {
    __syncthreads();
    attention_load<ROWS, T>(p, 1, p.k, kb, j, p.s, p.d, tile.k);
    attention_load<ROWS, T>(p, 2, p.v, vb, j, p.s, p.e, tile.v);
    __syncthreads();
    C s[ROWS / 8];
    HT_UNROLL for (int i = 0; i < ROWS / 8; i++) s[i] = attention_score<T>(p, tile, mb, r, lane + 8 * i, query, j + lane + 8 * i);
    const C shrink = attention_weigh(s, top, sum);
    HT_UNROLL for (int i = 0; i < ROWS / 8; i++) {
      tile.p[r * (ROWS + 1) + lane + 8 * i] = s[i] * attention_kept<C>(p, n, query, j + lane + 8 * i);
    }
    __syncwarp();
    HT_UNROLL for (int i = 0; i < W; i++) out[i] *= shrink;
    row_add<ROWS, W>(out, tile.p + r * (ROWS + 1), tile.v, p.e, lane);
  }
  if (query >= p.t) return;
  const C share = sum == 0 ? (C)0 : 1 / sum;
  T* to = attention_row<T>(p, ATT_OUT, p.out, n, query);
  HT_UNROLL for (int i = 0; i < W; i++) {
    const int c = lane + 8 * i;
    if (c < p.e) to[c] = narrow<T>::of(out[i] * share);
  }
}

// attention_dp is dy·v of a query and a key, with dropout's factor.
template <class C> HT_FN C attention_dp(const Attention& p, const Tile<C>& t, u32 n, int r, int kk, int query, int key) {
  const C *a = t.dy + r * (p.e + 1), *b = t.v + kk * (p.e + 1);
  C sum = 0;
  HT_ROLLED for (int x = 0; x < p.e; x++) sum = fused(a[x], b[x], sum);
  return sum * attention_kept<C>(p, n, query, key);
}

// The gradient of q, and of a mask to add; the numbers of every query.
template <class T, int W, int ROWS> HT_FN void attention_queries(const Attention& p) {
  typedef typename attention_of<T>::type C;
  extern __shared__ Chunk dynamic_shared[];
  const Tile<C> tile = attention_tile<ROWS>(p, (C*)dynamic_shared);
  const int t = threadIdx.x, r = t / 8, lane = t % 8, first = blockIdx.x * ROWS, query = first + r;
  const u32 n = blockIdx.z * gridDim.y + blockIdx.y;
  if (n >= (u32)p.batches) return;
  const i64 kb = attention_batch(p, 1, n), vb = attention_batch(p, 2, n), mb = p.masked ? attention_batch(p, 3, n) : 0;
  attention_load<ROWS, T>(p, 0, p.q, attention_batch(p, 0, n), first, p.t, p.d, tile.q);
  attention_load<ROWS, T>(p, 4, p.dy, attention_batch(p, 4, n), first, p.t, p.e, tile.dy);
  C dq[W], top = -ht_inf<C>(), sum = 0, delta = 0;
  HT_UNROLL for (int i = 0; i < W; i++) dq[i] = 0;
  const int end = p.causal && first + ROWS < p.s ? first + ROWS : p.s;
  for (int j = 0; j < end; j += ROWS) {
    __syncthreads();
    attention_load<ROWS, T>(p, 1, p.k, kb, j, p.s, p.d, tile.k);
    attention_load<ROWS, T>(p, 2, p.v, vb, j, p.s, p.e, tile.v);
    __syncthreads();
    C s[ROWS / 8], both = 0;
    HT_UNROLL for (int i = 0; i < ROWS / 8; i++) s[i] = attention_score<T>(p, tile, mb, r, lane + 8 * i, query, j + lane + 8 * i);
    const C shrink = attention_weigh(s, top, sum);
    HT_UNROLL for (int i = 0; i < ROWS / 8; i++) {
      if (s[i] != 0) both += s[i] * attention_dp(p, tile, n, r, lane + 8 * i, query, j + lane + 8 * i);
    }
    delta = delta * shrink + row_sum(both);
  }
  const C share = sum == 0 ? (C)0 : 1 / sum;
  delta *= share;
  if (lane == 0 && query < p.t) {
    C* stats = (C*)p.stats + ((i64)n * p.t + query) * 3;
    stats[0] = top, stats[1] = share, stats[2] = delta;
  }
  for (int j = 0; j < p.s; j += ROWS) {
    const bool hidden = j >= end;  // behind what causal queries see: zeros of the mask's gradient alone
    if (hidden && !p.dmask) break;
    if (!hidden) {
      __syncthreads();
      attention_load<ROWS, T>(p, 1, p.k, kb, j, p.s, p.d, tile.k);
      attention_load<ROWS, T>(p, 2, p.v, vb, j, p.s, p.e, tile.v);
      __syncthreads();
    }
    HT_UNROLL for (int i = 0; i < ROWS / 8; i++) {
      const int kk = lane + 8 * i, key = j + kk;
      C ds = 0;
      if (!hidden && share != 0) {
        const C s = attention_score<T>(p, tile, mb, r, kk, query, key), e = s == -ht_inf<C>() ? (C)0 : line_exp(s - top) * share;
        if (e != 0) ds = e * (attention_dp(p, tile, n, r, kk, query, key) - delta);
      }
      tile.ds[r * (ROWS + 1) + kk] = ds;
      if (p.dmask && query < p.t && key < p.s) ((T*)p.dmask)[((i64)n * p.t + query) * p.s + key] = narrow<T>::of(ds);
    }
    __syncwarp();
    if (hidden) continue;
    row_add<ROWS, W>(dq, tile.ds + r * (ROWS + 1), tile.k, p.d, lane);
    __syncwarp();
  }
  if (query >= p.t) return;
  T* to = attention_row<T>(p, ATT_OUT, p.out, n, query);
  HT_UNROLL for (int i = 0; i < W; i++) {
    const int c = lane + 8 * i;
    if (c < p.d) to[c] = narrow<T>::of(dq[i] * (C)p.scale);
  }
}

// The gradients of k and v: a block has ROWS keys and goes over the queries. Thread t works on key t/8.
template <class T, int W, int ROWS> HT_FN void attention_keys(const Attention& p) {
  typedef typename attention_of<T>::type C;
  extern __shared__ Chunk dynamic_shared[];
  const Tile<C> tile = attention_tile<ROWS>(p, (C*)dynamic_shared);
  const int t = threadIdx.x, kk = t / 8, lane = t % 8, first = blockIdx.x * ROWS, key = first + kk;
  const u32 n = blockIdx.z * gridDim.y + blockIdx.y;
  if (n >= (u32)p.batches) return;
  const i64 qb = attention_batch(p, 0, n), yb = attention_batch(p, 4, n), mb = p.masked ? attention_batch(p, 3, n) : 0;
  attention_load<ROWS, T>(p, 1, p.k, attention_batch(p, 1, n), first, p.s, p.d, tile.k);
  attention_load<ROWS, T>(p, 2, p.v, attention_batch(p, 2, n), first, p.s, p.e, tile.v);
  C dk[W], dv[W];
  HT_UNROLL for (int i = 0; i < W; i++) dk[i] = dv[i] = 0;
  for (int j = p.causal ? first : 0; j < p.t; j += ROWS) {
    __syncthreads();
    attention_load<ROWS, T>(p, 0, p.q, qb, j, p.t, p.d, tile.q);
    attention_load<ROWS, T>(p, 4, p.dy, yb, j, p.t, p.e, tile.dy);
    __syncthreads();
    HT_UNROLL for (int i = 0; i < ROWS / 8; i++) {
      const int r = lane + 8 * i, query = j + r;
      C e = 0, ds = 0;
      if (query < p.t && key < p.s) {
        const C* stats = (const C*)p.stats + ((i64)n * p.t + query) * 3;
        const C s = stats[1] == 0 ? -ht_inf<C>() : attention_score<T>(p, tile, mb, r, kk, query, key);
        e = s == -ht_inf<C>() ? (C)0 : line_exp(s - stats[0]) * stats[1];
        if (e != 0) ds = e * (attention_dp(p, tile, n, r, kk, query, key) - stats[2]);
        e *= attention_kept<C>(p, n, query, key);
      }
      tile.p[kk * (ROWS + 1) + r] = e;
      tile.ds[kk * (ROWS + 1) + r] = ds;
    }
    __syncwarp();
    row_add<ROWS, W>(dv, tile.p + kk * (ROWS + 1), tile.dy, p.e, lane);
    row_add<ROWS, W>(dk, tile.ds + kk * (ROWS + 1), tile.q, p.d, lane);
  }
  if (key >= p.s) return;
  T *to = attention_row<T>(p, ATT_DK, p.dk, n, key), *too = attention_row<T>(p, ATT_DV, p.dv, n, key);
  HT_UNROLL for (int i = 0; i < W; i++) {
    const int c = lane + 8 * i;
    if (c < p.d) to[c] = narrow<T>::of(dk[i] * (C)p.scale);
    if (c < p.e) too[c] = narrow<T>::of(dv[i]);
  }
}
#define ATTENTION(S, T, name, W, ROWS)                                                              \
  HT_KERNEL_OF(ROWS * 8, attention##name##_##S, Attention, p) { attention_forward<T, W, ROWS>(p); }         \
  HT_KERNEL_OF(ROWS * 8, attention_queries##name##_##S, Attention, p) { attention_queries<T, W, ROWS>(p); } \
  HT_KERNEL_OF(ROWS * 8, attention_keys##name##_##S, Attention, p) { attention_keys<T, W, ROWS>(p); }
#define ATTENTIONS(S, T) ATTENTION(S, T, , 8, 32) ATTENTION(S, T, _wide, 16, 32) ATTENTION(S, T, _low, 16, 16)
ATTENTIONS(f16, f16) ATTENTIONS(bf16, bf16) ATTENTIONS(f32, float) ATTENTIONS(f64, double)
