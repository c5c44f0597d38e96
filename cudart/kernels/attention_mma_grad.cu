// also for sm_80
// Gradients of attention of halves on tensor cores. One kernel goes over blocks of queries and one over blocks of keys, so that every sum
// has one owner and a fixed order: eight products, four of them in two halves, where one kernel that adds gradients of q with atomics needs
// five. The forward pass keeps nothing. With P = e^(score - top), unnormalized, and dP = dy·v, the first kernel finds in one walk over the
// keys the sum of P, D = Σ P·(dP - c), A = Σ P·(dP - c)·k and B = Σ P·k, where c is the mean of dP over the first keys, a guess of the mean
// over all: then dq = scale·(A - D/ΣP·B)/ΣP. It leaves log₂ ΣP and the mean of dP to the second.
//
// P and dS = P·(dP - c) enter the next product as two halves, what they are rounded to and the rest: rounded once, as in PyTorch's
// kernels, gradients would leave the row's bound. To stay in the half's range, dS is multiplied by a power of 2 that undoes the size of
// dy: of a query's row in the first kernel, of a matrix in the second.
#include "attention_mma.h"

#if HT_TENSOR_CORES
// What the first kernel leaves of every query: log₂ of the sum of 2^score, the mean of dP; behind all of them, the largest |dy|.
struct alignas(8) Numbers { float sum, mean; };  // copied 8 bytes at once
HT_FN Numbers* flash_numbers(const Attention& p, u32 n) { return (Numbers*)p.stats + (i64)n * p.t; }
HT_FN float* flash_largest(const Attention& p, u32 n) { return (float*)((Numbers*)p.stats + (i64)p.batches * p.t) + (i64)n * p.t; }

// flash_inverse is about 1/x, a power of 2; 1 for what has none.
HT_FN float flash_inverse(float x) {
  const u32 e = ht_bits32(x) >> 23;
  return x == 0 || e >= 253 ? 1.0f : ht_float((254 - (e < 64 ? 64 : e)) << 23);
}
// flash_row_size is the largest number of each of a lane's two rows of a tile, by a quad together.
template <class H, int W> HT_FN void flash_row_size(float (&size)[2], const Chunk* tile, int row) {
  const int lane = threadIdx.x % 32;
  HT_UNROLL for (int h = 0; h < 2; h++) {
    float most = 0;
    HT_ROLLED for (int c = lane % 4; c < W / 8; c += 4) {
      const Chunk x = tile[flash_place<W>(row + h * 8 + lane / 4, c)];
      HT_UNROLL for (int i = 0; i < 4; i++) {
        most = flash_larger(most, ht_abs(wide(H{(unsigned short)x.v[i]})));
        most = flash_larger(most, ht_abs(wide(H{(unsigned short)(x.v[i] >> 16)})));
      }
    }
    size[h] = quad_max(most);
  }
}

// flash_guess sets the guess of rows that have none yet: the mean of dP over these keys.
template <int N> HT_FN void flash_guess(float (&guess)[2], bool (&known)[2], const float (&p)[1][N][4], const float (&dp)[1][N][4], float kept) {
  HT_UNROLL for (int h = 0; h < 2; h++) {
    float sum = 0, both = 0;
    HT_UNROLL for (int j = 0; j < N; j++) {
      HT_UNROLL for (int e = 2 * h; e < 2 * h + 2; e++) {
        sum += p[0][j][e];
        both += p[0][j][e] == 0 ? 0.0f : p[0][j][e] * dp[0][j][e];
      }
    }
    sum = quad_sum(sum), both = quad_sum(both);
    if (known[h] || sum == 0) continue;
    guess[h] = both / sum * kept;
    known[h] = true;
  }
}

template <class H, int W, int KEYS, bool Any> HT_FN void flash_queries(const Attention& p) {
  const int QUERIES = FLASH_THREADS / 32 * 16, N = KEYS / 8, TILE = KEYS * W / 8;
  extern __shared__ Chunk dynamic_shared[];
  Chunk *tq = dynamic_shared, *ty = tq + QUERIES * W / 8, *tk = ty + QUERIES * W / 8, *tv = tk + 2 * TILE;  // two of keys, two of values
  const Place at = place_of_block<true>(p);
  if (at.n >= (u32)p.batches) return;
  const int own = threadIdx.x / 32 * 16, first = at.tile * QUERIES, row = first + own, lane = threadIdx.x % 32;
  const Rows<H> k = flash_rows<H>(p, 1, p.k, at.n, p.s, p.d), v = flash_rows<H>(p, 2, p.v, at.n, p.s, p.e);
  const i64 mask = Any && p.masked ? attention_batch(p, 3, at.n) : 0;
  const int end = p.causal && first + QUERIES < p.s ? first + QUERIES : p.s;
  const float scale = (float)p.scale * 1.44269504f, factor = Any ? 1.0f : scale, kept = Any && p.bound != 0 ? (float)p.factor : 1.0f;
  flash_copy<W, QUERIES, FLASH_THREADS>(tq, flash_rows<H>(p, 0, p.q, at.n, p.t, p.d), first, false);
  flash_copy<W, QUERIES, FLASH_THREADS>(ty, flash_rows<H>(p, 4, p.dy, at.n, p.t, p.e), first, false);
  flash_copy<W, KEYS, FLASH_THREADS>(tk, k, 0, false);
  flash_copy<W, KEYS, FLASH_THREADS>(tv, v, 0, false);
  cp_async_commit();
  flash_wait();
  Strip<W, 1, (W <= 64)> q, dy;
  strip_begin(q, tq, own);
  strip_begin(dy, ty, own);
  float a[1][W / 8][4], b[1][W / 8][4], top[1][2], sum[1][2] = {{0, 0}}, more[2] = {0, 0}, guess[2] = {0, 0}, size[2], unit[2];
  bool known[2] = {false, false};
  flash_clear(a);
  flash_clear(b);
  flash_row_size<H, W>(size, ty, own);
  HT_UNROLL for (int h = 0; h < 2; h++) top[0][h] = -ht_inf<float>(), unit[h] = flash_inverse(size[h]);
  HT_ROLLED for (int j0 = 0, turn = 0; j0 < end; j0 += KEYS, turn ^= 1) {
    flash_wait();
    if (j0 + KEYS < end) {
      flash_copy<W, KEYS, FLASH_THREADS>(tk + (turn ^ 1) * TILE, k, j0 + KEYS, j0 > 0);
      flash_copy<W, KEYS, FLASH_THREADS>(tv + (turn ^ 1) * TILE, v, j0 + KEYS, j0 > 0);
      cp_async_commit();
    }
    float s[1][N][4], dp[1][N][4], shrink[1][2];
    flash_scores<H, W>(s, q, tk + turn * TILE);
    flash_scores<H, W>(dp, dy, tv + turn * TILE);
    const View view = {row, j0};
    if (Any) flash_mask<H, false>(p, s, view, mask, scale);
    if (Any && p.bound != 0) flash_drop(dp[0], flash_kept<false, N>(p, view, 0, at.n));
    if (j0 + KEYS > p.s || (p.causal && j0 + KEYS - 1 > row)) {
      flash_hide<false>(p, s, view, -ht_inf<float>());
      flash_hide<false>(p, dp, view, 0.0f);
    }
    if (flash_tops(top, shrink, s, factor)) {
      HT_UNROLL for (int h = 0; h < 2; h++) sum[0][h] *= shrink[0][h], more[h] *= shrink[0][h];
      flash_scale(a, shrink);
      flash_scale(b, shrink);
    }
    flash_powers(s, sum, top, factor);
    if (__ballot_sync(0xffffffffu, !(known[0] && known[1]))) flash_guess(guess, known, s, dp, kept);
    HT_UNROLL for (int h = 0; h < 2; h++) {
      const float by = unit[h] * kept, less = -guess[h] * unit[h];
      HT_UNROLL for (int j = 0; j < N; j++) {
        HT_UNROLL for (int e = 2 * h; e < 2 * h + 2; e++) {
          const float ds = s[0][j][e] * fused(dp[0][j][e], by, less);
          more[h] += dp[0][j][e] = Any && s[0][j][e] == 0 ? 0.0f : ds;
        }
      }
    }
    flash_apply2<H, W>(a, dp, b, s, tk + turn * TILE);
  }
  float by[1][2];
  HT_UNROLL for (int h = 0; h < 2; h++) {
    const float all = quad_sum(sum[0][h]), share = all == 0 ? 0.0f : 1 / all, mean = quad_sum(more[h]) * share;
    HT_UNROLL for (int j = 0; j < W / 8; j++) HT_UNROLL for (int e = 2 * h; e < 2 * h + 2; e++) a[0][j][e] = fused(-mean, b[0][j][e], a[0][j][e]);
    by[0][h] = share * (float)p.scale / unit[h];
    const int query = row + h * 8 + lane / 4;
    if (lane % 4 != 0 || query >= p.t) continue;
    flash_numbers(p, at.n)[query] = Numbers{all == 0 ? ht_inf<float>() : top[0][h] + flash_log2(all), guess[h] + mean / unit[h]};
    flash_largest(p, at.n)[query] = size[h];
  }
  flash_store<H, W>(flash_rows<H>(p, ATT_OUT, p.out, at.n, p.t, p.d), a, by, tq, own, row);
}

// flash_matrix_size is the largest |dy| of a matrix.
HT_FN float flash_matrix_size(const Attention& p, u32 n, float* room) {
  const float* x = flash_largest(p, n);
  float most = 0;
  HT_ROLLED for (int i = threadIdx.x; i < p.t; i += FLASH_THREADS) most = flash_larger(most, x[i]);
  HT_UNROLL for (int lane = 16; lane > 0; lane >>= 1) most = flash_larger(most, ht_shuffle(most, lane));
  if (threadIdx.x % 32 == 0) room[threadIdx.x / 32] = most;
  __syncthreads();
  HT_UNROLL for (int w = 0; w < FLASH_THREADS / 32; w++) most = flash_larger(most, room[w]);
  return most;
}

template <class H, int W, int M, int QUERIES, bool Any> HT_FN void flash_keys(const Attention& p) {
  const int KEYS = FLASH_THREADS / 32 * 16 * M, N = QUERIES / 8, TILE = QUERIES * W / 8;
  extern __shared__ Chunk dynamic_shared[];
  __shared__ Numbers numbers[2][QUERIES];
  __shared__ float room[FLASH_THREADS / 32];
  Chunk *tk = dynamic_shared, *tv = tk + KEYS * W / 8, *tq = tv + KEYS * W / 8, *ty = tq + 2 * TILE;  // two of queries, two of gradients
  const Place at = place_of_block<false>(p);
  if (at.n >= (u32)p.batches) return;
  const int own = threadIdx.x / 32 * 16 * M, first = at.tile * KEYS, row = first + own, begin = p.causal ? first / QUERIES * QUERIES : 0;
  const Rows<H> q = flash_rows<H>(p, 0, p.q, at.n, p.t, p.d), y = flash_rows<H>(p, 4, p.dy, at.n, p.t, p.e);
  const i64 mask = Any && p.masked ? attention_batch(p, 3, at.n) : 0;
  const float scale = (float)p.scale * 1.44269504f, factor = Any ? 1.0f : scale, kept = Any && p.bound != 0 ? (float)p.factor : 1.0f;
  float dk[M][W / 8][4], dv[M][W / 8][4];
  flash_clear(dk);
  flash_clear(dv);
  const float unit = flash_inverse(flash_matrix_size(p, at.n, room)), by = unit * kept;
  auto copy = [&](int turn, int j0) {
    flash_copy<W, QUERIES, FLASH_THREADS>(tq + turn * TILE, q, j0, j0 > begin + QUERIES);
    flash_copy<W, QUERIES, FLASH_THREADS>(ty + turn * TILE, y, j0, j0 > begin + QUERIES);
    const int i = threadIdx.x;
    if (i < QUERIES) copy_pair(&numbers[turn][i], flash_numbers(p, at.n) + (j0 + i < p.t ? j0 + i : 0), j0 + i < p.t ? 8 : 0);
    cp_async_commit();
  };
  flash_copy<W, KEYS, FLASH_THREADS>(tk, flash_rows<H>(p, 1, p.k, at.n, p.s, p.d), first, false);
  flash_copy<W, KEYS, FLASH_THREADS>(tv, flash_rows<H>(p, 2, p.v, at.n, p.s, p.e), first, false);
  copy(0, begin);
  flash_wait();
  Strip<W, M, (W * M <= 64)> k, v;
  strip_begin(k, tk, own);
  strip_begin(v, tv, own);
  HT_ROLLED for (int j0 = begin, turn = 0; j0 < p.t; j0 += QUERIES, turn ^= 1) {
    flash_wait();
    if (j0 + QUERIES < p.t) copy(turn ^ 1, j0 + QUERIES);
    float s[M][N][4], dp[M][N][4];
    flash_scores<H, W>(s, k, tq + turn * TILE);
    flash_scores<H, W>(dp, v, ty + turn * TILE);
    const View view = {row, j0};
    if (Any) flash_mask<H, true>(p, s, view, mask, scale);
    HT_UNROLL for (int m = 0; m < M; m++) {
      const u64 bits = Any && p.bound != 0 ? flash_kept<true, N>(p, view, m, at.n) : ~0ull;
      if (Any) flash_drop(dp[m], bits);
      HT_UNROLL for (int j = 0; j < N; j++) {
        HT_UNROLL for (int e = 0; e < 2; e++) {
          const Numbers x = numbers[turn][j * 8 + threadIdx.x % 4 * 2 + e];
          const float less = -x.mean * unit;
          HT_UNROLL for (int h = 0; h < 2; h++) {
            float w = flash_exp2(fused(s[m][j][2 * h + e], factor, -x.sum));
            if (Any && s[m][j][2 * h + e] == -ht_inf<float>()) w = 0;  // also where the sum is not a number
            const float ds = w * fused(dp[m][j][2 * h + e], by, less);
            s[m][j][2 * h + e] = w;
            dp[m][j][2 * h + e] = Any && w == 0 ? 0.0f : ds;
          }
        }
      }
      if (Any) flash_drop(s[m], bits);
    }
    if (j0 + QUERIES > p.t || (p.causal && j0 < row + 16 * M)) {
      flash_hide<true>(p, s, view, 0.0f);
      flash_hide<true>(p, dp, view, 0.0f);
    }
    flash_apply<H, W, true>(dv, s, ty + turn * TILE);
    flash_apply<H, W, true>(dk, dp, tq + turn * TILE);
  }
  float back[M][2], forth[M][2];
  HT_UNROLL for (int m = 0; m < M; m++) HT_UNROLL for (int h = 0; h < 2; h++) back[m][h] = (float)p.scale / unit, forth[m][h] = kept;
  flash_store<H, W>(flash_rows<H>(p, ATT_DK, p.dk, at.n, p.s, p.d), dk, back, tk, own, row);
  flash_store<H, W>(flash_rows<H>(p, ATT_DV, p.dv, at.n, p.s, p.e), dv, forth, tv, own, row);
}
#define FLASHES(S, H, W, KEYS, M, QUERIES)                                                                                \
  HT_KERNEL_OF(FLASH_THREADS, flash_queries_w##W##_##S, Attention, p) { flash_queries<H, W, KEYS, false>(p); }             \
  HT_KERNEL_OF(FLASH_THREADS, flash_queries_any_w##W##_##S, Attention, p) { flash_queries<H, W, 32, true>(p); }          \
  HT_KERNEL_OF(FLASH_THREADS, flash_keys_w##W##_##S, Attention, p) { flash_keys<H, W, M, QUERIES, false>(p); }             \
  HT_KERNEL_OF(FLASH_THREADS, flash_keys_any_w##W##_##S, Attention, p) { flash_keys<H, W, 1, 32, true>(p); }
#define FLASHED(S, H) FLASHES(S, H, 32, 32, 1, 32) FLASHES(S, H, 64, 64, 2, 32) FLASHES(S, H, 128, 32, 1, 64)
FLASHED(f16, f16) FLASHED(bf16, bf16)
#endif
