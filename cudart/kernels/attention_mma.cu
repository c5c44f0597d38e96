// also for sm_80
// Attention of halves on tensor cores, as attention.cu: 4 warps of 16 queries, or keys, each. Probabilities and their gradients stay in
// registers, and enter the next product as two halves, what they are rounded to and the rest, so that results are those of float32.
#include "lines.h"
#include "mma.h"

#if HT_TENSOR_CORES
enum { FLASH = 64, FLASH_THREADS = 128, FLASH_BATCH = 6 };

// struct Attention as in attention.cu.
struct Attention {
  void *out, *dk, *dv, *dmask;
  const void *q, *k, *v, *mask, *dy;
  void* stats;
  i64 rows[5], columns[5], batch[5][FLASH_BATCH];
  int bshape[FLASH_BATCH];
  int nb, t, s, d, e, causal, masked, batches;
  double scale, bound, factor;
  u64 seed, block;
  const u64* origin;
};

HT_FN i64 flash_batch(const Attention& p, int which, u32 n) {
  i64 off = 0;
  HT_ROLLED for (int i = p.nb - 1; i >= 0; i--) {
    const u32 q = n / (u32)p.bshape[i], r = n - q * (u32)p.bshape[i];
    off += r * p.batch[which][i];
    n = q;
  }
  return off;
}

// Tiles are 64 rows of W halves, in chunks of 8 whose places are mixed for ldmatrix; W is a multiple of 16 up to 128.
template <int W> HT_FN int flash_place(int row, int chunk) { return row * (W / 8) + (W >= 64 ? chunk ^ (row & 7) : chunk ^ (W == 32 ? (row >> 1) & 3 : (row >> 2) & 1)); }
template <class H, int W> HT_FN void flash_copy(Chunk* to, const Attention& p, int which, const void* from, i64 off, int first, int count, int width) {
  const H* x = (const H*)from + off;
  HT_ROLLED for (int i = threadIdx.x; i < FLASH * (W / 8); i += FLASH_THREADS) {
    const int row = i / (W / 8), chunk = i % (W / 8);
    int bytes = first + row < count ? (width - chunk * 8) * 2 : 0;
    bytes = bytes < 0 ? 0 : (bytes > 16 ? 16 : bytes);
    cp_async16_zfill(to + flash_place<W>(row, chunk), bytes ? x + (i64)(first + row) * p.rows[which] + chunk * 8 : x, bytes);
  }
}

// An operand of 16 rows from a tile, a(row, k); of 16 columns b(k, column) from rows that are columns, or from rows that are k.
template <int W> HT_FN void flash_a(u32 (&a)[4], const Chunk* tile, int row, int k) {
  const int lane = threadIdx.x % 32;
  ldmatrix_x4(a, tile + flash_place<W>(row + lane % 16, k / 8 + lane / 16));
}
template <int W> HT_FN void flash_b(u32 (&q)[4], const Chunk* tile, int column, int k) {
  const int lane = threadIdx.x % 32;
  ldmatrix_x4(q, tile + flash_place<W>(column + lane % 8 + lane / 16 * 8, k / 8 + lane / 8 % 2));
}
template <int W> HT_FN void flash_bt(u32 (&q)[4], const Chunk* tile, int k, int column) {
  const int lane = threadIdx.x % 32;
  ldmatrix_x4_trans(q, tile + flash_place<W>(k + lane % 16, column / 8 + lane / 16));
}
// sum += a·bᵀ: 16 rows of a kept as fragments, 64 rows of a tile.
template <class H, int W> HT_FN void flash_scores(float (&sum)[8][4], const u32 (&a)[W / 16][4], const Chunk* tile) {
  HT_UNROLL for (int j = 0; j < 8; j++) HT_UNROLL for (int e = 0; e < 4; e++) sum[j][e] = 0;
  HT_UNROLL for (int k = 0; k < W / 16; k++) {
    HT_UNROLL for (int j = 0; j < 8; j += 2) {
      u32 q[4];
      flash_b<W>(q, tile, j * 8, k * 16);
      const u32 b0[2] = {q[0], q[1]}, b1[2] = {q[2], q[3]};
      ht_mma(sum[j], a[k], b0, H());
      ht_mma(sum[j + 1], a[k], b1, H());
    }
  }
}
template <class H> HT_FN u32 flash_pair(float x, float y) {
  return (u32)narrow<H>::of(x).bits | (u32)narrow<H>::of(y).bits << 16;
}
template <class H> HT_FN u32 flash_rest(float x, float y) {
  return flash_pair<H>(x - wide(narrow<H>::of(x)), y - wide(narrow<H>::of(y)));
}
// out += p·tile: p are 16 × 64 numbers as sums lie, the tile has 64 rows of W.
template <class H, int W> HT_FN void flash_apply(float (&out)[W / 8][4], const float (&p)[8][4], const Chunk* tile) {
  HT_UNROLL for (int k = 0; k < 4; k++) {
    const float(&l)[4] = p[2 * k];
    const float(&r)[4] = p[2 * k + 1];
    const u32 high[4] = {flash_pair<H>(l[0], l[1]), flash_pair<H>(l[2], l[3]), flash_pair<H>(r[0], r[1]), flash_pair<H>(r[2], r[3])};
    const u32 low[4] = {flash_rest<H>(l[0], l[1]), flash_rest<H>(l[2], l[3]), flash_rest<H>(r[0], r[1]), flash_rest<H>(r[2], r[3])};
    HT_UNROLL for (int j = 0; j < W / 8; j += 2) {
      u32 q[4];
      flash_bt<W>(q, tile, k * 16, j * 8);
      const u32 b0[2] = {q[0], q[1]}, b1[2] = {q[2], q[3]};
      ht_mma(out[j], high, b0, H());
      ht_mma(out[j], low, b0, H());
      ht_mma(out[j + 1], high, b1, H());
      ht_mma(out[j + 1], low, b1, H());
    }
  }
}

// flash_score finishes the scores of a lane: -Inf where a key is not seen. With Keys, rows are keys and columns queries.
template <class H, bool Keys> HT_FN void flash_score(const Attention& p, float (&s)[8][4], i64 mask, int row, int first) {
  HT_UNROLL for (int j = 0; j < 8; j++) {
    HT_UNROLL for (int e = 0; e < 4; e++) {
      const int r = row + e / 2 * 8, c = first + j * 8 + threadIdx.x % 4 * 2 + e % 2, query = Keys ? c : r, key = Keys ? r : c;
      s[j][e] = key >= p.s || query >= p.t || (p.causal && key > query) ? -ht_inf<float>() : s[j][e] * (float)p.scale;
    }
  }
  if (!p.masked) return;
  HT_UNROLL for (int j = 0; j < 8; j++) {
    HT_UNROLL for (int e = 0; e < 4; e++) {
      const int r = row + e / 2 * 8, c = first + j * 8 + threadIdx.x % 4 * 2 + e % 2, query = Keys ? c : r, key = Keys ? r : c;
      if (key >= p.s || query >= p.t) continue;
      const i64 at = mask + query * p.rows[3] + key * p.columns[3];
      if (p.masked == 1) s[j][e] += wide(((const H*)p.mask)[at]);
      else if (!((const b8*)p.mask)[at]) s[j][e] = -ht_inf<float>();
    }
  }
}
HT_MATH float flash_factor(u64 seed, u64 block, i64 i, double bound, double factor) {
  const four b = philox(seed, block + (u64)(i >> 2));
  const u32 v = (i & 3) == 0 ? b.v[0] : ((i & 3) == 1 ? b.v[1] : ((i & 3) == 2 ? b.v[2] : b.v[3]));
  return (double)v >= bound ? (float)factor : 0.0f;
}
// flash_drop multiplies by dropout's factors.
template <bool Keys> HT_FN void flash_drop(const Attention& p, float (&s)[8][4], u32 n, int row, int first) {
  if (p.bound == 0) return;
  const u64 seed = p.origin ? p.origin[0] : p.seed, block = p.origin ? p.origin[1] + p.block : p.block;
  HT_UNROLL for (int j = 0; j < 8; j++) {
    HT_UNROLL for (int e = 0; e < 4; e++) {
      const int r = row + e / 2 * 8, c = first + j * 8 + threadIdx.x % 4 * 2 + e % 2, query = Keys ? c : r, key = Keys ? r : c;
      s[j][e] *= flash_factor(seed, block, ((i64)n * p.t + query) * p.s + key, p.bound, p.factor);
    }
  }
}
HT_FN float quad_sum(float v) { v += ht_shuffle(v, 1); return v + ht_shuffle(v, 2); }
HT_FN float quad_max(float v) {
  float o = ht_shuffle(v, 1);
  v = o > v ? o : v;
  o = ht_shuffle(v, 2);
  return o > v ? o : v;
}
// A lane's sums are of rows lane/4 and lane/4 + 8 (element e is of row e/2), columns 8·j + lane%4·2 + e%2.

// flash_soften takes scores to e^(score - top) with the new top of each row; it returns the factor of what was summed so far.
HT_FN void flash_soften(float (&s)[8][4], float (&top)[2], float (&sum)[2], float (&shrink)[2]) {
  HT_UNROLL for (int h = 0; h < 2; h++) {
    float most = -ht_inf<float>(), part = 0;
    HT_UNROLL for (int j = 0; j < 8; j++) HT_UNROLL for (int e = 2 * h; e < 2 * h + 2; e++) most = s[j][e] > most ? s[j][e] : most;
    most = quad_max(most);
    const float now = most > top[h] ? most : top[h];
    shrink[h] = now == top[h] ? 1.0f : (top[h] == -ht_inf<float>() ? 0.0f : ht_exp(top[h] - now));
    HT_UNROLL for (int j = 0; j < 8; j++) {
      HT_UNROLL for (int e = 2 * h; e < 2 * h + 2; e++) {
        s[j][e] = now == -ht_inf<float>() ? (s[j][e] == s[j][e] ? 0.0f : s[j][e]) : ht_exp(s[j][e] - now);
        part += s[j][e];
      }
    }
    sum[h] = sum[h] * shrink[h] + quad_sum(part);
    top[h] = now;
  }
}

template <class H, int W> HT_FN void flash_forward(const Attention& p) {
  __shared__ Chunk tq[FLASH * W / 8], tk[FLASH * W / 8], tv[FLASH * W / 8];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, first = blockIdx.x * FLASH, row = first + warp * 16 + lane / 4;
  const u32 n = blockIdx.z * gridDim.y + blockIdx.y;
  if (n >= (u32)p.batches) return;
  const i64 kb = flash_batch(p, 1, n), vb = flash_batch(p, 2, n), mb = p.masked ? flash_batch(p, 3, n) : 0;
  flash_copy<H, W>(tq, p, 0, p.q, flash_batch(p, 0, n), first, p.t, p.d);
  cp_async_commit();
  cp_async_wait<0>();
  __syncthreads();
  u32 q[W / 16][4];
  HT_UNROLL for (int k = 0; k < W / 16; k++) flash_a<W>(q[k], tq, warp * 16, k * 16);
  float out[W / 8][4], top[2] = {-ht_inf<float>(), -ht_inf<float>()}, sum[2] = {0, 0};
  HT_UNROLL for (int j = 0; j < W / 8; j++) HT_UNROLL for (int e = 0; e < 4; e++) out[j][e] = 0;
  const int end = p.causal && first + FLASH < p.s ? first + FLASH : p.s;
  HT_ROLLED for (int j0 = 0; j0 < end; j0 += FLASH) {
    __syncthreads();
    flash_copy<H, W>(tk, p, 1, p.k, kb, j0, p.s, p.d);
    cp_async_commit();
    flash_copy<H, W>(tv, p, 2, p.v, vb, j0, p.s, p.e);
    cp_async_commit();
    cp_async_wait<1>();
    __syncthreads();
    float s[8][4], shrink[2];
    flash_scores<H, W>(s, q, tk);
    flash_score<H, false>(p, s, mb, row, j0);
    flash_soften(s, top, sum, shrink);
    flash_drop<false>(p, s, n, row, j0);
    HT_UNROLL for (int j = 0; j < W / 8; j++) HT_UNROLL for (int e = 0; e < 4; e++) out[j][e] *= shrink[e / 2];
    cp_async_wait<0>();
    __syncthreads();
    flash_apply<H, W>(out, s, tv);
  }
  HT_UNROLL for (int h = 0; h < 2; h++) {
    const int query = row + h * 8;
    if (query >= p.t) continue;
    const float share = sum[h] == 0 ? 0.0f : 1 / sum[h];
    H* to = (H*)p.out + ((i64)n * p.t + query) * p.e;
    HT_UNROLL for (int j = 0; j < W / 8; j++) {
      const int c = j * 8 + lane % 4 * 2;
      if (c < p.e) to[c] = narrow<H>::of(out[j][2 * h] * share);
      if (c + 1 < p.e) to[c + 1] = narrow<H>::of(out[j][2 * h + 1] * share);
    }
  }
}

// The gradient of q, and the numbers of every query. There is no gradient of a mask here.
template <class H, int W> HT_FN void flash_queries(const Attention& p) {
  __shared__ Chunk tq[FLASH * W / 8], tk[FLASH * W / 8], tv[FLASH * W / 8];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, first = blockIdx.x * FLASH, row = first + warp * 16 + lane / 4;
  const u32 n = blockIdx.z * gridDim.y + blockIdx.y;
  if (n >= (u32)p.batches) return;
  const i64 kb = flash_batch(p, 1, n), vb = flash_batch(p, 2, n), mb = p.masked ? flash_batch(p, 3, n) : 0;
  u32 q[W / 16][4], dy[W / 16][4];
  flash_copy<H, W>(tq, p, 0, p.q, flash_batch(p, 0, n), first, p.t, p.d);
  flash_copy<H, W>(tv, p, 4, p.dy, flash_batch(p, 4, n), first, p.t, p.e);
  cp_async_commit();
  cp_async_wait<0>();
  __syncthreads();
  HT_UNROLL for (int k = 0; k < W / 16; k++) {
    flash_a<W>(q[k], tq, warp * 16, k * 16);
    flash_a<W>(dy[k], tv, warp * 16, k * 16);
  }
  float dq[W / 8][4], top[2] = {-ht_inf<float>(), -ht_inf<float>()}, sum[2] = {0, 0}, delta[2] = {0, 0}, share[2] = {0, 0};
  HT_UNROLL for (int j = 0; j < W / 8; j++) HT_UNROLL for (int e = 0; e < 4; e++) dq[j][e] = 0;
  const int end = p.causal && first + FLASH < p.s ? first + FLASH : p.s;
  HT_ROLLED for (int turn = 0; turn < 2; turn++) {  // first the numbers of the queries, then the gradient
    HT_ROLLED for (int j0 = 0; j0 < end; j0 += FLASH) {
      __syncthreads();
      flash_copy<H, W>(tk, p, 1, p.k, kb, j0, p.s, p.d);
      flash_copy<H, W>(tv, p, 2, p.v, vb, j0, p.s, p.e);
      cp_async_commit();
      cp_async_wait<0>();
      __syncthreads();
      float s[8][4], dp[8][4], shrink[2];
      flash_scores<H, W>(s, q, tk);
      flash_scores<H, W>(dp, dy, tv);
      flash_score<H, false>(p, s, mb, row, j0);
      flash_drop<false>(p, dp, n, row, j0);
      if (turn == 0) {
        flash_soften(s, top, sum, shrink);
        HT_UNROLL for (int h = 0; h < 2; h++) {
          float both = 0;
          HT_UNROLL for (int j = 0; j < 8; j++) HT_UNROLL for (int e = 2 * h; e < 2 * h + 2; e++) both += s[j][e] != 0 ? s[j][e] * dp[j][e] : 0.0f;
          delta[h] = delta[h] * shrink[h] + quad_sum(both);
        }
        continue;
      }
      HT_UNROLL for (int j = 0; j < 8; j++) {
        HT_UNROLL for (int e = 0; e < 4; e++) {
          const float y = s[j][e] == -ht_inf<float>() || share[e / 2] == 0 ? 0.0f : ht_exp(s[j][e] - top[e / 2]) * share[e / 2];
          s[j][e] = y == 0 ? 0.0f : y * (dp[j][e] - delta[e / 2]);
        }
      }
      flash_apply<H, W>(dq, s, tk);
    }
    HT_UNROLL for (int h = 0; h < 2 && turn == 0; h++) {
      share[h] = sum[h] == 0 ? 0.0f : 1 / sum[h];
      delta[h] *= share[h];
      const int query = row + h * 8;
      if (lane % 4 == 0 && query < p.t) {
        float* stats = (float*)p.stats + ((i64)n * p.t + query) * 3;
        stats[0] = top[h], stats[1] = share[h], stats[2] = delta[h];
      }
    }
  }
  HT_UNROLL for (int h = 0; h < 2; h++) {
    const int query = row + h * 8;
    if (query >= p.t) continue;
    H* to = (H*)p.out + ((i64)n * p.t + query) * p.d;
    HT_UNROLL for (int j = 0; j < W / 8; j++) {
      const int c = j * 8 + lane % 4 * 2;
      if (c < p.d) to[c] = narrow<H>::of(dq[j][2 * h] * (float)p.scale);
      if (c + 1 < p.d) to[c + 1] = narrow<H>::of(dq[j][2 * h + 1] * (float)p.scale);
    }
  }
}

// The gradients of k and v: a warp has 16 keys.
template <class H, int W> HT_FN void flash_keys(const Attention& p) {
  __shared__ Chunk tq[FLASH * W / 8], ty[FLASH * W / 8];
  __shared__ float number[3][FLASH];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, first = blockIdx.x * FLASH, row = first + warp * 16 + lane / 4;
  const u32 n = blockIdx.z * gridDim.y + blockIdx.y;
  if (n >= (u32)p.batches) return;
  const i64 qb = flash_batch(p, 0, n), yb = flash_batch(p, 4, n), mb = p.masked ? flash_batch(p, 3, n) : 0;
  u32 k[W / 16][4], v[W / 16][4];
  flash_copy<H, W>(tq, p, 1, p.k, flash_batch(p, 1, n), first, p.s, p.d);
  flash_copy<H, W>(ty, p, 2, p.v, flash_batch(p, 2, n), first, p.s, p.e);
  cp_async_commit();
  cp_async_wait<0>();
  __syncthreads();
  HT_UNROLL for (int i = 0; i < W / 16; i++) {
    flash_a<W>(k[i], tq, warp * 16, i * 16);
    flash_a<W>(v[i], ty, warp * 16, i * 16);
  }
  float dk[W / 8][4], dv[W / 8][4];
  HT_UNROLL for (int j = 0; j < W / 8; j++) HT_UNROLL for (int e = 0; e < 4; e++) dk[j][e] = dv[j][e] = 0;
  HT_ROLLED for (int j0 = p.causal ? first : 0; j0 < p.t; j0 += FLASH) {
    __syncthreads();
    flash_copy<H, W>(tq, p, 0, p.q, qb, j0, p.t, p.d);
    flash_copy<H, W>(ty, p, 4, p.dy, yb, j0, p.t, p.e);
    cp_async_commit();
    HT_ROLLED for (int i = threadIdx.x; i < 3 * FLASH; i += FLASH_THREADS) {
      const int query = j0 + i / 3;
      number[i % 3][i / 3] = query < p.t ? ((const float*)p.stats)[((i64)n * p.t + query) * 3 + i % 3] : 0.0f;
    }
    cp_async_wait<0>();
    __syncthreads();
    float s[8][4], dp[8][4];
    flash_scores<H, W>(s, k, tq);
    flash_scores<H, W>(dp, v, ty);
    flash_score<H, true>(p, s, mb, row, j0);
    flash_drop<true>(p, dp, n, row, j0);
    HT_UNROLL for (int j = 0; j < 8; j++) {
      HT_UNROLL for (int e = 0; e < 4; e++) {
        const int at = j * 8 + lane % 4 * 2 + e % 2;
        const float y = s[j][e] == -ht_inf<float>() || number[1][at] == 0 ? 0.0f : ht_exp(s[j][e] - number[0][at]) * number[1][at];
        dp[j][e] = y == 0 ? 0.0f : y * (dp[j][e] - number[2][at]);
        s[j][e] = y;
      }
    }
    flash_drop<true>(p, s, n, row, j0);
    flash_apply<H, W>(dv, s, ty);
    flash_apply<H, W>(dk, dp, tq);
  }
  HT_UNROLL for (int h = 0; h < 2; h++) {
    const int key = row + h * 8;
    if (key >= p.s) continue;
    H *tok = (H*)p.dk + ((i64)n * p.s + key) * p.d, *tov = (H*)p.dv + ((i64)n * p.s + key) * p.e;
    HT_UNROLL for (int j = 0; j < W / 8; j++) {
      HT_UNROLL for (int e = 0; e < 2; e++) {
        const int c = j * 8 + lane % 4 * 2 + e;
        if (c < p.d) tok[c] = narrow<H>::of(dk[j][2 * h + e] * (float)p.scale);
        if (c < p.e) tov[c] = narrow<H>::of(dv[j][2 * h + e]);
      }
    }
  }
}
#define FLASHES(S, H, name, W)                                                                                   \
  HT_KERNEL_OF(FLASH_THREADS, flash##name##_##S, Attention, p) { flash_forward<H, W>(p); }                       \
  HT_KERNEL_OF(FLASH_THREADS, flash_queries##name##_##S, Attention, p) { flash_queries<H, W>(p); }               \
  HT_KERNEL_OF(FLASH_THREADS, flash_keys##name##_##S, Attention, p) { flash_keys<H, W>(p); }
FLASHES(f16, f16, _w32, 32) FLASHES(bf16, bf16, _w32, 32)
FLASHES(f16, f16, _w64, 64) FLASHES(bf16, bf16, _w64, 64)
FLASHES(f16, f16, _w128, 128) FLASHES(bf16, bf16, _w128, 128)
#endif
