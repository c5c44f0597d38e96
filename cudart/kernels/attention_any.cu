// Attention of rows of any width, as attention.cu computes it: its blocks keep whole rows in shared memory, these a part of PART features at a
// time. A block writes PART columns of its rows' results, and computes scores again for them: with 256 features twice, with 512 four times.
#include "attention_rows.h"

enum { ANY_ROWS = 16, PART = 128, ANY_COLUMNS = PART / 8 };

// Parts are a block's shared memory: parts of two operands' rows, and two tiles of weights.
template <class C> struct Parts { C a[ANY_ROWS * (PART + 1)], b[ANY_ROWS * (PART + 1)], p[ANY_ROWS * (ANY_ROWS + 1)], ds[ANY_ROWS * (ANY_ROWS + 1)]; };

// Rows are those of an operand's matrix from the first on.
struct Rows { const void* from; i64 off; int which, first, count, width; };

// part_load reads PART columns of a tile's rows; what lies behind the last row or column is 0.
template <class T, class C> HT_FN void part_load(const Attention& p, const Rows& rows, int column, C* to) {
  const T* x = (const T*)rows.from + rows.off;
  for (int i = threadIdx.x; i < ANY_ROWS * PART; i += ANY_ROWS * 8) {
    const int r = i / PART, c = i - r * PART;
    const bool there = rows.first + r < rows.count && column + c < rows.width;
    to[r * (PART + 1) + c] = there ? (C)wide(x[(i64)(rows.first + r) * p.rows[rows.which] + (i64)(column + c) * p.columns[rows.which]]) : (C)0;
  }
}

// part_product multiplies a thread's row of one tile by its rows of the other.
template <class T, class C> HT_FN void part_product(const Attention& p, const Rows& left, const Rows& right, Parts<C>& at, C (&out)[ANY_ROWS / 8]) {
  HT_UNROLL for (int i = 0; i < ANY_ROWS / 8; i++) out[i] = 0;
  __syncthreads();  // rows without features too: what the block has in shared memory has been read
  for (int column = 0; column < left.width; column += PART) {
    if (column > 0) __syncthreads();
    part_load<T>(p, left, column, at.a);
    part_load<T>(p, right, column, at.b);
    __syncthreads();
    const C *a = at.a + threadIdx.x / 8 * (PART + 1), *b = at.b + threadIdx.x % 8 * (PART + 1);
    const int n = left.width - column < PART ? left.width - column : PART;
    HT_ROLLED for (int x = 0; x < n; x++) {
      HT_UNROLL for (int i = 0; i < ANY_ROWS / 8; i++) out[i] = fused(a[x], b[8 * i * (PART + 1) + x], out[i]);
    }
  }
}

// A Place is where a block works: its first row and column, and its matrix.
struct Place { int first, column; u32 n; };
HT_FN Place any_place(int width) {
  const int parts = width > PART ? (width + PART - 1) / PART : 1;
  return Place{(int)blockIdx.x / parts * ANY_ROWS, (int)blockIdx.x % parts * PART, blockIdx.z * gridDim.y + blockIdx.y};
}
HT_FN Rows any_rows(const Attention& p, int which, u32 n, int first) {
  const void* from[5] = {p.q, p.k, p.v, p.mask, p.dy};
  return Rows{from[which], attention_batch(p, which, n), which, first, which == 1 || which == 2 ? p.s : p.t, which == 2 || which == 4 ? p.e : p.d};
}

// any_scores are those of a query and a thread's keys.
template <class T, class C> HT_FN void any_scores(const Attention& p, const Rows& q, const Rows& k, i64 mask, Parts<C>& at, C (&s)[ANY_ROWS / 8]) {
  part_product<T>(p, q, k, at, s);
  HT_UNROLL for (int i = 0; i < ANY_ROWS / 8; i++) {
    const int query = q.first + threadIdx.x / 8, key = k.first + threadIdx.x % 8 + 8 * i;
    s[i] = attention_seen(p, query, key) ? attention_masked<T>(p, mask, query, key, s[i]) : -ht_inf<C>();
  }
}

// any_write writes a thread's columns of a row.
template <class T, class C> HT_FN void any_write(T* to, int column, int width, const C (&v)[ANY_COLUMNS], C factor) {
  HT_UNROLL for (int i = 0; i < ANY_COLUMNS; i++) {
    const int c = column + threadIdx.x % 8 + 8 * i;
    if (c < width) to[c] = narrow<T>::of(v[i] * factor);
  }
}

template <class T> HT_FN void any_forward(const Attention& p) {
  typedef typename attention_of<T>::type C;
  __shared__ Parts<C> at;
  const Place block = any_place(p.e);
  const int r = threadIdx.x / 8, lane = threadIdx.x % 8, query = block.first + r;
  const u32 n = block.n;
  if (n >= (u32)p.batches) return;
  const Rows q = any_rows(p, 0, n, block.first);
  Rows k = any_rows(p, 1, n, 0), v = any_rows(p, 2, n, 0);
  const i64 mb = p.masked ? attention_batch(p, 3, n) : 0;
  C out[ANY_COLUMNS], top = -ht_inf<C>(), sum = 0;
  HT_UNROLL for (int i = 0; i < ANY_COLUMNS; i++) out[i] = 0;
  const int end = p.causal && block.first + ANY_ROWS < p.s ? block.first + ANY_ROWS : p.s;
  for (int j = 0; j < end; j += ANY_ROWS) {
    k.first = v.first = j;
    C s[ANY_ROWS / 8];
    any_scores<T>(p, q, k, mb, at, s);
    const C shrink = attention_weigh(s, top, sum);
    HT_UNROLL for (int i = 0; i < ANY_ROWS / 8; i++) {
      at.p[r * (ANY_ROWS + 1) + lane + 8 * i] = s[i] * attention_kept<C>(p, n, query, j + lane + 8 * i);
    }
    __syncthreads();
    part_load<T>(p, v, block.column, at.a);
    __syncthreads();
    HT_UNROLL for (int i = 0; i < ANY_COLUMNS; i++) out[i] *= shrink;
    row_add<ANY_ROWS, ANY_COLUMNS>(out, at.p + r * (ANY_ROWS + 1), at.a, PART, lane);
  }
  if (query < p.t) any_write(attention_row<T>(p, ATT_OUT, p.out, n, query), block.column, p.e, out, sum == 0 ? (C)0 : 1 / sum);
}

// any_dp are the products of dy and v, with dropout's factors.
template <class T, class C> HT_FN void any_dp(const Attention& p, u32 n, const Rows& dy, const Rows& v, Parts<C>& at, C (&dp)[ANY_ROWS / 8]) {
  part_product<T>(p, dy, v, at, dp);
  HT_UNROLL for (int i = 0; i < ANY_ROWS / 8; i++) dp[i] *= attention_kept<C>(p, n, dy.first + threadIdx.x / 8, v.first + threadIdx.x % 8 + 8 * i);
}

template <class T> HT_FN void any_queries(const Attention& p) {
  typedef typename attention_of<T>::type C;
  __shared__ Parts<C> at;
  const Place block = any_place(p.d);
  const int r = threadIdx.x / 8, lane = threadIdx.x % 8, query = block.first + r;
  const u32 n = block.n;
  if (n >= (u32)p.batches) return;
  const Rows q = any_rows(p, 0, n, block.first), dy = any_rows(p, 4, n, block.first);
  Rows k = any_rows(p, 1, n, 0), v = any_rows(p, 2, n, 0);
  const i64 mb = p.masked ? attention_batch(p, 3, n) : 0;
  C dq[ANY_COLUMNS], top = -ht_inf<C>(), sum = 0, delta = 0, s[ANY_ROWS / 8], dp[ANY_ROWS / 8];
  HT_UNROLL for (int i = 0; i < ANY_COLUMNS; i++) dq[i] = 0;
  const int end = p.causal && block.first + ANY_ROWS < p.s ? block.first + ANY_ROWS : p.s;
  for (int j = 0; j < end; j += ANY_ROWS) {
    k.first = v.first = j;
    any_dp<T>(p, n, dy, v, at, dp);
    any_scores<T>(p, q, k, mb, at, s);
    const C shrink = attention_weigh(s, top, sum);
    C both = 0;
    HT_UNROLL for (int i = 0; i < ANY_ROWS / 8; i++) {
      if (s[i] != 0) both += s[i] * dp[i];
    }
    delta = delta * shrink + row_sum(both);
  }
  const C share = sum == 0 ? (C)0 : 1 / sum;
  delta *= share;
  if (lane == 0 && query < p.t && block.column == 0) {
    C* stats = (C*)p.stats + ((i64)n * p.t + query) * 3;
    stats[0] = top, stats[1] = share, stats[2] = delta;
  }
  for (int j = 0; j < p.s; j += ANY_ROWS) {
    const bool hidden = j >= end;  // behind what causal queries see: zeros of the mask's gradient alone
    if (hidden && !p.dmask) break;
    if (!hidden) {
      k.first = v.first = j;
      any_dp<T>(p, n, dy, v, at, dp);
      any_scores<T>(p, q, k, mb, at, s);
    }
    HT_UNROLL for (int i = 0; i < ANY_ROWS / 8; i++) {
      const int kk = lane + 8 * i, key = j + kk;
      const C e = hidden || share == 0 || s[i] == -ht_inf<C>() ? (C)0 : line_exp(s[i] - top) * share;
      const C ds = e != 0 ? e * (dp[i] - delta) : (C)0;
      if (!hidden) at.ds[r * (ANY_ROWS + 1) + kk] = ds;
      if (p.dmask && block.column == 0 && query < p.t && key < p.s) ((T*)p.dmask)[((i64)n * p.t + query) * p.s + key] = narrow<T>::of(ds);
    }
    if (hidden) continue;
    __syncthreads();
    part_load<T>(p, k, block.column, at.a);
    __syncthreads();
    row_add<ANY_ROWS, ANY_COLUMNS>(dq, at.ds + r * (ANY_ROWS + 1), at.a, PART, lane);
  }
  if (query < p.t) any_write(attention_row<T>(p, ATT_OUT, p.out, n, query), block.column, p.d, dq, (C)p.scale);
}

// The gradients of k and v: thread t works on key t/8.
template <class T> HT_FN void any_keys(const Attention& p) {
  typedef typename attention_of<T>::type C;
  __shared__ Parts<C> at;
  const Place block = any_place(p.d > p.e ? p.d : p.e);
  const int kk = threadIdx.x / 8, lane = threadIdx.x % 8, key = block.first + kk;
  const u32 n = block.n;
  if (n >= (u32)p.batches) return;
  const Rows k = any_rows(p, 1, n, block.first), v = any_rows(p, 2, n, block.first);
  Rows q = any_rows(p, 0, n, 0), dy = any_rows(p, 4, n, 0);
  const i64 mb = p.masked ? attention_batch(p, 3, n) : 0;
  C dk[ANY_COLUMNS], dv[ANY_COLUMNS], s[ANY_ROWS / 8], dp[ANY_ROWS / 8];
  HT_UNROLL for (int i = 0; i < ANY_COLUMNS; i++) dk[i] = dv[i] = 0;
  for (int j = p.causal ? block.first : 0; j < p.t; j += ANY_ROWS) {
    q.first = dy.first = j;
    part_product<T>(p, v, dy, at, dp);
    part_product<T>(p, k, q, at, s);
    HT_UNROLL for (int i = 0; i < ANY_ROWS / 8; i++) {
      const int r = lane + 8 * i, query = j + r;
      C e = 0, ds = 0;
      if (attention_seen(p, query, key)) {
        const C* stats = (const C*)p.stats + ((i64)n * p.t + query) * 3;
        const C score = stats[1] == 0 ? -ht_inf<C>() : attention_masked<T>(p, mb, query, key, s[i]), kept = attention_kept<C>(p, n, query, key);
        e = score == -ht_inf<C>() ? (C)0 : line_exp(score - stats[0]) * stats[1];
        if (e != 0) ds = e * (dp[i] * kept - stats[2]);
        e *= kept;
      }
      at.p[kk * (ANY_ROWS + 1) + r] = e;
      at.ds[kk * (ANY_ROWS + 1) + r] = ds;
    }
    __syncthreads();
    part_load<T>(p, q, block.column, at.a);
    part_load<T>(p, dy, block.column, at.b);
    __syncthreads();
    row_add<ANY_ROWS, ANY_COLUMNS>(dv, at.p + kk * (ANY_ROWS + 1), at.b, PART, lane);
    row_add<ANY_ROWS, ANY_COLUMNS>(dk, at.ds + kk * (ANY_ROWS + 1), at.a, PART, lane);
  }
  if (key >= p.s) return;
  any_write(attention_row<T>(p, ATT_DK, p.dk, n, key), block.column, p.d, dk, (C)p.scale);
  any_write(attention_row<T>(p, ATT_DV, p.dv, n, key), block.column, p.e, dv, (C)1);
}
#define ATTENTION_ANY(S, T)                                                                  \
  HT_KERNEL_OF(ANY_ROWS * 8, attention_any_##S, Attention, p) { any_forward<T>(p); }         \
  HT_KERNEL_OF(ANY_ROWS * 8, attention_queries_any_##S, Attention, p) { any_queries<T>(p); } \
  HT_KERNEL_OF(ANY_ROWS * 8, attention_keys_any_##S, Attention, p) { any_keys<T>(p); }
ATTENTION_ANY(f16, f16) ATTENTION_ANY(bf16, bf16) ATTENTION_ANY(f32, float) ATTENTION_ANY(f64, double)
