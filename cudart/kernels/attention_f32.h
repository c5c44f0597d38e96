// What the tiled kernels of attention of float32 share. A block has four warps with 4·R rows each of the first operand, and goes over the rows
// of the second, 32 at a time. A lane has R rows, lane/8 + 4·i of its warp's; of scores it has the columns lane%8 + 8·j, of results the fours
// lane%8 + 8·g: each vector of 16 bytes that it reads from shared memory goes into 16 to 32 sums. All tiles lie in shared memory as in
// memory, rows of W features, 4 floats apart so that 8 rows meet no bank twice. Weights go by way of shared memory to the next product.
// A row of scores is 8 lanes' of one warp, as in attention.cu, and so are the order of a score's sum and what becomes of infinities.
#pragma once
#include "attention_place.h"
#include "attention_rows.h"

enum { TILES_THREADS = 128, TILES_WALK = 32, TILES_FOUR = 4, TILES_PITCH = TILES_WALK + 8 };  // columns of a lane's scores; rows of weights
#define HT_INLINE __attribute__((always_inline))  // a lambda's variables are to stay in registers
HT_FN Floats4 four_at(const float* p) { return *(const Floats4*)p; }

HT_FN int tiles_row() { return threadIdx.x % 32 / 8; }
HT_FN int tiles_column() { return threadIdx.x % 8; }

// Where a block works: matrix n, first of its own rows; own among them is the lane's first, top the first of its warp in the matrix.
struct TilesPlace { u32 n; int first, own, top; };
template <int R, bool Last> HT_FN TilesPlace tiles_place(const Attention& p) {
  const Place at = place_of_block<Last>(p);
  const int warp = threadIdx.x / 32 * 4 * R, first = at.tile * (TILES_THREADS / 8 * R);
  return TilesPlace{at.n, first, warp + tiles_row(), first + warp};
}
// The mask to add of a matrix begins there.
template <bool Any> HT_FN i64 tiles_mask(const Attention& p, u32 n) { return Any && p.masked ? attention_batch(p, 3, n) : 0; }
// The queries before this one see keys up to there.
HT_FN int tiles_seen(const Attention& p, int query) { return p.causal && query < p.s ? query : p.s; }

// Rows of an operand's matrix in memory.
struct FloatRows { float* at; i64 step; int count, width; };
HT_FN FloatRows tiles_rows(const Attention& p, int which, const void* from, u32 n, int count, int width) {
  return FloatRows{(float*)from + attention_batch(p, which, n), p.rows[which], count, width};
}

// A Piece is a thread's part of 32 rows of W.
template <int W> struct Piece { Floats4 v[TILES_WALK * W / 4 / TILES_THREADS]; };

// tiles_fetch reads 32 rows from the first-th on; what is behind the last, or the width, is 0.
template <int W> HT_FN void tiles_fetch(Piece<W>& to, const FloatRows& x, int first) {
  const int N = TILES_WALK * W / 4 / TILES_THREADS, apart = TILES_THREADS / (W / 4), row = first + threadIdx.x / (W / 4), column = threadIdx.x % (W / 4) * 4;
  const float* from = x.at + row * x.step + column;
  if (first + TILES_WALK <= x.count && column + 4 <= x.width) {
    HT_UNROLL for (int i = 0; i < N; i++) {
      to.v[i] = four_at(from);
      from = (const float*)held((u64)(from + apart * x.step));  // not multiples of the step, each in registers of its own
    }
    return;
  }
  HT_UNROLL for (int i = 0; i < N; i++) {
    HT_UNROLL for (int e = 0; e < 4; e++) to.v[i].v[e] = row + i * apart < x.count && column + e < x.width ? from[e] : 0.0f;
    from += apart * x.step;
  }
}
template <int W> HT_FN void tiles_put(float* tile, const Piece<W>& from) {
  const int N = TILES_WALK * W / 4 / TILES_THREADS, apart = TILES_THREADS / (W / 4);
  float* to = tile + threadIdx.x / (W / 4) * (W + 4) + threadIdx.x % (W / 4) * 4;
  HT_UNROLL for (int i = 0; i < N; i++) *(Floats4*)(to + i * apart * (W + 4)) = from.v[i];
}
// tiles_load reads a block's own rows.
template <int W, int ROWS> HT_FN void tiles_load(float* tile, const FloatRows& x, int first) {
  HT_ROLLED for (int r = 0; r < ROWS; r += TILES_WALK) {
    Piece<W> piece;
    tiles_fetch(piece, x, first + r);
    tiles_put(tile + r * (W + 4), piece);
  }
}

// tiles_walk goes over the rows of two operands, 32 at a time: both tiles, and what more(j) writes, are there when each(j, next) begins. It calls
// next, which sets the next rows on their way into registers, where it has these to spare; always, or they would be taken from one round to
// the next.
template <int W, class M, class E>
HT_FN void tiles_walk(const FloatRows& a, float* ta, const FloatRows& b, float* tb, int from, int to, M more, E each) {
  if (from >= to) return;
  Piece<W> pa, pb;
  tiles_fetch(pa, a, from), tiles_fetch(pb, b, from);
  HT_ROLLED for (int j = from; j < to; j += TILES_WALK) {
    __syncthreads();
    tiles_put(ta, pa);
    tiles_put(tb, pb);
    more(j);
    __syncthreads();
    each(j, [&]() HT_INLINE { tiles_fetch(pa, a, j + TILES_WALK), tiles_fetch(pb, b, j + TILES_WALK); });
  }
}

template <int R, int C> HT_FN void tiles_clear(float (&x)[R][C]) {
  HT_UNROLL for (int i = 0; i < R; i++) HT_UNROLL for (int j = 0; j < C; j++) x[i][j] = 0;
}

// sum = a·bᵀ of rows of so many features: a is at the lane's first row of its tile, b at its first column's.
template <int W, int R> HT_FN void tiles_products(float (&sum)[R][TILES_FOUR], const float* a, const float* b, int width) {
  tiles_clear(sum);
  HT_ROLLED for (int x = 0; x < width; x += 8) {
    HT_UNROLL for (int y = 0; y < 8; y += 4) {
      Floats4 right[TILES_FOUR];
      HT_UNROLL for (int j = 0; j < TILES_FOUR; j++) right[j] = four_at(b + j * 8 * (W + 4) + y);
      HT_UNROLL for (int i = 0; i < R; i++) {
        const Floats4 left = four_at(a + i * 4 * (W + 4) + y);
        HT_UNROLL for (int e = 0; e < 4; e++) HT_UNROLL for (int j = 0; j < TILES_FOUR; j++) sum[i][j] = fused(left.v[e], right[j].v[e], sum[i][j]);
      }
    }
    a += 8, b += 8;
  }
}

// A lane's weights, and from there what it reads of its warp's.
template <int R> HT_FN float* tiles_weights(float* room) { return room + (threadIdx.x / 32 * 4 * R + tiles_row()) * TILES_PITCH; }
template <int R> HT_FN void tiles_write(float* weights, const float (&s)[R][TILES_FOUR]) {
  HT_UNROLL for (int i = 0; i < R; i++) HT_UNROLL for (int j = 0; j < TILES_FOUR; j++) weights[i * 4 * TILES_PITCH + tiles_column() + 8 * j] = s[i][j];
}
template <int R> HT_FN void tiles_read(float (&s)[R][TILES_FOUR], const float* weights) {
  HT_UNROLL for (int i = 0; i < R; i++) HT_UNROLL for (int j = 0; j < TILES_FOUR; j++) s[i][j] = weights[i * 4 * TILES_PITCH + tiles_column() + 8 * j];
}
// out += weights·tile, for rows of the tile from one on, 8 at a time.
template <int W, int R> HT_FN void tiles_apply(float (&out)[R][W / 8], const float* weights, const float* tile, int from, int to) {
  tile += from * (W + 4) + tiles_column() * 4, weights += from;
  HT_ROLLED for (int k = from; k < to; k += 8) {
    HT_UNROLL for (int y = 0; y < 8; y += 4) {
      Floats4 w[R];
      HT_UNROLL for (int i = 0; i < R; i++) w[i] = four_at(weights + i * 4 * TILES_PITCH + y);
      HT_UNROLL for (int e = 0; e < 4; e++) {
        HT_UNROLL for (int g = 0; g < W / 32; g++) {
          const Floats4 v = four_at(tile + (y + e) * (W + 4) + g * 32);
          HT_UNROLL for (int i = 0; i < R; i++) HT_UNROLL for (int c = 0; c < 4; c++) out[i][g * 4 + c] = fused(w[i].v[e], v.v[c], out[i][g * 4 + c]);
        }
      }
    }
    tile += 8 * (W + 4), weights += 8;
  }
}

// A View says what a lane sees of a tile of scores: its first row and column. With Keys rows are keys and columns queries.
struct View { int row, column; };
template <bool Keys> HT_FN int view_query(const View& v, int i, int j) { return Keys ? v.column + 8 * j : v.row + 4 * i; }
template <bool Keys> HT_FN int view_key(const View& v, int i, int j) { return Keys ? v.row + 4 * i : v.column + 8 * j; }

// tiles_scores makes products scores: -Inf where a query does not see a key. A warp's tile without an edge is seen by all of it.
template <bool Keys, bool Any, int R> HT_FN void tiles_scores(const Attention& p, float (&s)[R][TILES_FOUR], const View& v, i64 mask, bool edge) {
  const float scale = (float)p.scale;
  if (Any && p.masked) {
    HT_UNROLL for (int i = 0; i < R; i++) {
      HT_UNROLL for (int j = 0; j < TILES_FOUR; j++) {
        const int query = view_query<Keys>(v, i, j), key = view_key<Keys>(v, i, j);
        s[i][j] = attention_seen(p, query, key) ? attention_masked<float>(p, mask, query, key, s[i][j]) : -ht_inf<float>();
      }
    }
    return;
  }
  HT_UNROLL for (int i = 0; i < R; i++) HT_UNROLL for (int j = 0; j < TILES_FOUR; j++) s[i][j] *= scale;
  if (!edge) return;
  HT_UNROLL for (int i = 0; i < R; i++) {
    HT_UNROLL for (int j = 0; j < TILES_FOUR; j++) {
      if (!attention_seen(p, view_query<Keys>(v, i, j), view_key<Keys>(v, i, j))) s[i][j] = -ht_inf<float>();
    }
  }
}

// tiles_kept says what dropout keeps of a lane's scores, [i][j] in bit 4·i + j; what is there by tiles_drop times the factor, or 0.
template <bool Keys, int R> HT_FN u32 tiles_kept(const Attention& p, const View& v, u32 n) {
  u32 bits = 0;
  HT_ROLLED for (int i = 0; i < R * TILES_FOUR; i++) {
    const int query = view_query<Keys>(v, i / TILES_FOUR, i % TILES_FOUR), key = view_key<Keys>(v, i / TILES_FOUR, i % TILES_FOUR);
    bits |= (u32)(attention_kept<float>(p, n, query, key) != 0) << i;
  }
  return bits;
}
template <int R> HT_FN void tiles_drop(const Attention& p, float (&s)[R][TILES_FOUR], u32 kept) {
  const float factor = (float)p.factor;
  HT_UNROLL for (int i = 0; i < R; i++) HT_UNROLL for (int j = 0; j < TILES_FOUR; j++) s[i][j] *= kept >> (TILES_FOUR * i + j) & 1 ? factor : 0.0f;
}

// tiles_weigh is attention_weigh for a lane's R rows, but that sums are of its own columns.
template <int R> HT_FN void tiles_weigh(float (&s)[R][TILES_FOUR], float (&top)[R], float (&sum)[R], float (&shrink)[R]) {
  float now[R];
  HT_UNROLL for (int i = 0; i < R; i++) {
    now[i] = -ht_inf<float>();
    HT_UNROLL for (int j = 0; j < TILES_FOUR; j++) now[i] = s[i][j] > now[i] ? s[i][j] : now[i];
  }
  HT_UNROLL for (int i = 0; i < R; i++) now[i] = row_max(now[i]);
  HT_UNROLL for (int i = 0; i < R; i++) {
    now[i] = now[i] > top[i] ? now[i] : top[i];
    shrink[i] = now[i] == top[i] ? 1.0f : line_exp(top[i] - now[i]);
    const float base = now[i] == -ht_inf<float>() ? 0.0f : now[i];
    float part = 0;
    HT_UNROLL for (int j = 0; j < TILES_FOUR; j++) part += s[i][j] = line_exp(s[i][j] - base);
    sum[i] = fused(sum[i], shrink[i], part);
    top[i] = now[i];
  }
}

// tiles_store writes a lane's rows of results, times factors.
template <int W, int R> HT_FN void tiles_store(const FloatRows& out, const float (&x)[R][W / 8], const float (&by)[R], int row) {
  const bool whole = out.width % 4 == 0 && out.step % 4 == 0 && (u64)out.at % 16 == 0;
  HT_UNROLL for (int i = 0; i < R; i++) {
    if (row + 4 * i >= out.count) continue;
    float* to = out.at + (row + 4 * i) * out.step;
    HT_UNROLL for (int g = 0; g < W / 32; g++) {
      const int column = tiles_column() * 4 + g * 32;
      Floats4 y;
      HT_UNROLL for (int e = 0; e < 4; e++) y.v[e] = x[i][g * 4 + e] * by[i];
      if (whole && column < out.width) *(Floats4*)(to + column) = y;
      if (!whole) HT_UNROLL for (int e = 0; e < 4; e++) if (column + e < out.width) to[column + e] = y.v[e];
    }
  }
}
