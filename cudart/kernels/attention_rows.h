// What the kernels of attention without tensor cores share: thread t of a block has row t/8 of a tile, and of the other tile, or of the columns,
// t%8 + 8·i.
#pragma once
#include "attention.h"

template <class T> struct attention_of { typedef float type; };
template <> struct attention_of<double> { typedef double type; };

// attention_row is where a row of matrix n is written.
template <class T> HT_FN T* attention_row(const Attention& p, int which, void* to, u32 n, int row) {
  return (T*)to + attention_batch(p, which, n) + row * p.rows[which];
}

// attention_seen says whether there are such a query and key, and whether it may see it.
HT_FN bool attention_seen(const Attention& p, int query, int key) { return key < p.s && query < p.t && !(p.causal && key > query); }
// attention_masked is the score of a product of a query and a key that it may see.
template <class T, class C> HT_FN C attention_masked(const Attention& p, i64 mask, int query, int key, C sum) {
  sum *= (C)p.scale;
  if (p.masked == 1) sum += (C)wide(((const T*)p.mask)[mask + query * p.rows[3] + key * p.columns[3]]);
  if (p.masked == 2 && !((const b8*)p.mask)[mask + query * p.rows[3] + key * p.columns[3]]) sum = -ht_inf<C>();
  return sum;
}
// attention_kept is dropout's factor.
template <class C> HT_FN C attention_kept(const Attention& p, u32 n, int query, int key) {
  if (p.bound == 0) return 1;
  const i64 i = ((i64)n * p.t + query) * p.s + key;
  const u32 v = number_of(philox(stream_of(p.origin, p.seed, p.block), (u64)(i >> 2)), (u64)i);
  return (double)v >= p.bound ? (C)p.factor : (C)0;
}

// The 8 lanes of a query.
template <class C> HT_FN C row_sum(C v) { HT_UNROLL for (int l = 1; l < 8; l <<= 1) v += ht_shuffle(v, l); return v; }
template <class C> HT_FN C row_max(C v) {
  HT_UNROLL for (int l = 1; l < 8; l <<= 1) { const C o = ht_shuffle(v, l); v = o > v ? o : v; }
  return v;
}

// row_add adds weights times the rows of a tile, width wide, to a lane's columns.
template <int ROWS, int W, class C> HT_FN void row_add(C (&out)[W], const C* weights, const C* rows, int width, int lane) {
  HT_ROLLED for (int r = 0; r < ROWS; r++) {
    const C w = weights[r];
    const C* row = rows + r * (width + 1) + lane;
    HT_UNROLL for (int i = 0; i < W; i++) {
      if (lane + 8 * i < width) out[i] = fused(w, row[8 * i], out[i]);
    }
  }
}

// attention_weigh makes the next scores of a query weights, exp(score - maximum), and carries its maximum and their sum on. What was summed up
// with the maximum before is to be multiplied by what it returns.
template <int N, class C> HT_FN C attention_weigh(C (&s)[N], C& top, C& sum) {
  C most = -ht_inf<C>(), part = 0;
  HT_UNROLL for (int i = 0; i < N; i++) most = s[i] > most ? s[i] : most;
  most = row_max(most);
  const C now = most > top ? most : top;
  const C shrink = now == top ? (C)1 : (top == -ht_inf<C>() ? (C)0 : line_exp(top - now));
  HT_UNROLL for (int i = 0; i < N; i++) {
    s[i] = now == -ht_inf<C>() ? (s[i] == s[i] ? (C)0 : s[i]) : line_exp(s[i] - now);
    part += s[i];
  }
  sum = sum * shrink + row_sum(part);
  top = now;
  return shrink;
}
