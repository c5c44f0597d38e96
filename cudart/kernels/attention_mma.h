// What the kernels of attention on tensor cores share. A block has tiles of rows of W halves, in chunks of 8 whose places are mixed for
// ldmatrix. A warp has M times 16 rows of the first operand; a lane's sums of 16 rows are of rows lane/4 and lane/4 + 8 (element e is of
// row e/2), columns 8·j + lane%4·2 + e%2. Exponents are of 2: log₂ e goes into the scale.
#pragma once
#include "attention_place.h"
#include "mma.h"

#if HT_TENSOR_CORES
enum { FLASH_THREADS = 128, FLASH_SLACK = 8 };  // see flash_tops

#if defined(HALFTONE_EMULATOR)
HT_FN float flash_exp2(float x) { return __builtin_exp2f(x); }
HT_FN float flash_log2(float x) { return __builtin_log2f(x); }
HT_FN float flash_larger(float a, float b) { return __builtin_fmaxf(a, b); }
typedef const char* Shared;
HT_FN Shared shared_of(const Chunk* p) { return (const char*)p; }
template <bool Turned> HT_FN void ldmatrix_at(u32 (&r)[4], Shared tile, int offset) { if (Turned) ldmatrix_x4_trans(r, tile + offset); else ldmatrix_x4(r, tile + offset); }
HT_FN void copy_chunk(Shared to, const void* from) { cp_async16_zfill((void*)to, from, 16); }
HT_FN void copy_part(Shared to, const void* from, int bytes) { cp_async16_zfill((void*)to, from, bytes); }
HT_FN void copy_pair(void* to, const void* from, int bytes) { cp_async8_zfill(to, from, bytes); }
template <class H> HT_FN u32 flash_pair(float x, float y, H) { return (u32)narrow<H>::of(x).bits | (u32)narrow<H>::of(y).bits << 16; }
#else
// Addresses of shared memory in 32 bits, so that offsets are part of the instruction.
typedef u32 Shared;
HT_FN Shared shared_of(const Chunk* p) { return shared_address(p); }
template <bool Turned> HT_FN void ldmatrix_at(u32 (&r)[4], Shared tile, int offset) {
  if (Turned) asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3},[%4];" : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(tile + offset) : "memory");
  else asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3},[%4];" : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(tile + offset) : "memory");
}
HT_FN void copy_chunk(Shared to, const void* from) { asm volatile("cp.async.cg.shared.global [%0],[%1],16;" ::"r"(to), "l"(from) : "memory"); }
HT_FN void copy_part(Shared to, const void* from, int bytes) { asm volatile("cp.async.cg.shared.global [%0],[%1],16,%2;" ::"r"(to), "l"(from), "r"(bytes) : "memory"); }
HT_FN void copy_pair(void* to, const void* from, int bytes) { asm volatile("cp.async.ca.shared.global [%0],[%1],8,%2;" ::"r"(shared_address(to)), "l"(from), "r"(bytes) : "memory"); }
HT_FN float flash_exp2(float x) { float r; asm("ex2.approx.ftz.f32 %0,%1;" : "=f"(r) : "f"(x)); return r; }
HT_FN float flash_log2(float x) { float r; asm("lg2.approx.ftz.f32 %0,%1;" : "=f"(r) : "f"(x)); return r; }
HT_FN float flash_larger(float a, float b) { float r; asm("max.f32 %0,%1,%2;" : "=f"(r) : "f"(a), "f"(b)); return r; }
HT_FN u32 flash_pair(float x, float y, f16) { u32 r; asm("cvt.rn.f16x2.f32 %0,%1,%2;" : "=r"(r) : "f"(y), "f"(x)); return r; }
HT_FN u32 flash_pair(float x, float y, bf16) { u32 r; asm("cvt.rn.bf16x2.f32 %0,%1,%2;" : "=r"(r) : "f"(y), "f"(x)); return r; }
#endif
HT_FN float quad_sum(float v) { v += ht_shuffle(v, 1); return v + ht_shuffle(v, 2); }
HT_FN float quad_max(float v) { v = flash_larger(v, ht_shuffle(v, 1)); return flash_larger(v, ht_shuffle(v, 2)); }

// Rows of an operand's matrix in memory.
template <class H> struct Rows { const H* at; i64 step; int count, width; };
template <class H> HT_FN Rows<H> flash_rows(const Attention& p, int which, const void* from, u32 n, int count, int width) {
  return Rows<H>{(const H*)from + attention_batch(p, which, n), p.rows[which], count, width};
}
template <int W> HT_FN int flash_place(int row, int chunk) { return row * (W / 8) + (W >= 64 ? chunk ^ (row & 7) : chunk ^ ((row >> 1) & 3)); }

// flash_copy starts to copy R rows from the first-th on; what is behind the last, or the width, becomes 0. A tile that it filled before
// keeps its zeros behind the width.
template <int W, int R, int THREADS, class H> HT_FN void flash_copy(Chunk* to, const Rows<H>& x, int first, bool again) {
  const int C = W / 8, row = threadIdx.x / C, chunk = threadIdx.x % C;
  const H* from = x.at + (first + row) * x.step + chunk * 8;
  const Shared place = shared_of(to) + flash_place<W>(row, chunk) * 16;
  if (again && chunk * 8 >= x.width && first + R <= x.count) return;
  if (first + R <= x.count && chunk * 8 + 8 <= x.width) {
    HT_UNROLL for (int i = 0; i < R; i += THREADS / C) {
      copy_chunk(place + i * C * 16, from);
      from = (const H*)held((u64)(from + THREADS / C * x.step));  // not multiples of the step, each in registers of its own
    }
    return;
  }
  int full = (x.width - chunk * 8) * 2;
  full = full < 0 ? 0 : (full > 16 ? 16 : full);
  HT_ROLLED for (int i = 0; i < R; i += THREADS / C) {
    const int bytes = first + row + i < x.count ? full : 0;
    copy_part(place + i * C * 16, bytes ? from : x.at, bytes);
    from += THREADS / C * x.step;
  }
}

// flash_wait waits for the copies of all threads.
HT_FN void flash_wait() { cp_async_wait<0>(); __syncthreads(); }

// Operands of 16 by 16 halves. A lane's place in a tile: lanes name rows lane%16 and chunk lane/16 for the first operand, a(row, k), and for
// the second where rows of the tile are k; where they are its columns, b(column, k), rows lane%8 + lane/16·8 and chunk lane/8%2.
template <int W> HT_FN int flash_lane(bool columns) {
  const int lane = threadIdx.x % 32;
  return columns ? flash_place<W>(lane % 8 + lane / 16 * 8, lane / 8 % 2) * 16 : flash_place<W>(lane % 16, lane / 16) * 16;
}
// flash_at moves a lane's place by rows, a multiple of 8, and columns, a multiple of 16: chunks are mixed by exclusive or.
template <int W> HT_FN int flash_at(int lane, int row, int column) { return (lane ^ column * 2) + row * W * 2; }

// A Strip is a warp's rows as first operand: in registers with Kept, else read from their tile each time.
template <int W, int M, bool Kept> struct Strip {
  u32 a[Kept ? M : 1][Kept ? W / 16 : 1][4];
  Shared tile;
  int lane;
};
template <int W, int M, bool Kept> HT_FN void strip_begin(Strip<W, M, Kept>& s, const Chunk* tile, int row) {
  s.tile = shared_of(tile), s.lane = flash_lane<W>(false) + row * W * 2;
  if (!Kept) return;
  HT_UNROLL for (int m = 0; m < M; m++) HT_UNROLL for (int k = 0; k < W / 16; k++) ldmatrix_at<false>(s.a[Kept ? m : 0][Kept ? k : 0], s.tile, flash_at<W>(s.lane, m * 16, k * 16));
}
template <int W, int M, bool Kept> HT_FN void strip_get(u32 (&to)[4], const Strip<W, M, Kept>& s, int m, int k) {
  if (!Kept) return ldmatrix_at<false>(to, s.tile, flash_at<W>(s.lane, m * 16, k * 16));
  HT_UNROLL for (int i = 0; i < 4; i++) to[i] = s.a[Kept ? m : 0][Kept ? k : 0][i];
}

template <int M, int N> HT_FN void flash_clear(float (&x)[M][N][4]) {
  HT_UNROLL for (int m = 0; m < M; m++) HT_UNROLL for (int j = 0; j < N; j++) HT_UNROLL for (int e = 0; e < 4; e++) x[m][j][e] = 0;
}
template <int M, int N> HT_FN void flash_scale(float (&x)[M][N][4], const float (&by)[M][2]) {
  HT_UNROLL for (int m = 0; m < M; m++) HT_UNROLL for (int j = 0; j < N; j++) HT_UNROLL for (int e = 0; e < 4; e++) x[m][j][e] *= by[m][e / 2];
}

// sum = a·bᵀ for 8·N rows of a tile.
template <class H, int W, int M, int N, bool Kept> HT_FN void flash_scores(float (&sum)[M][N][4], const Strip<W, M, Kept>& a, const Chunk* tile) {
  const Shared at = shared_of(tile);
  const int lane = flash_lane<W>(true);
  flash_clear(sum);
  HT_UNROLL for (int k = 0; k < W / 16; k++) {
    u32 l[M][4];
    HT_UNROLL for (int m = 0; m < M; m++) strip_get(l[m], a, m, k);
    HT_UNROLL for (int j = 0; j < N; j += 2) {
      u32 q[4];
      ldmatrix_at<false>(q, at, flash_at<W>(lane, j * 8, k * 16));
      const u32 b0[2] = {q[0], q[1]}, b1[2] = {q[2], q[3]};
      HT_UNROLL for (int m = 0; m < M; m++) ht_mma(sum[m][j], l[m], b0, H()), ht_mma(sum[m][j + 1], l[m], b1, H());
    }
  }
}

// Sums as first operand of the next product, rounded to the half type; k counts 16 columns. rest is what rounding left.
template <class H, int N> HT_FN void flash_round(u32 (&a)[4], const float (&p)[N][4], int k) {
  HT_UNROLL for (int i = 0; i < 4; i++) a[i] = flash_pair(p[2 * k + i / 2][i % 2 * 2], p[2 * k + i / 2][i % 2 * 2 + 1], H());
}
template <class H, int N> HT_FN void flash_rest(u32 (&rest)[4], const u32 (&a)[4], const float (&p)[N][4], int k) {
  HT_UNROLL for (int i = 0; i < 4; i++) {
    const float l = wide(H{(unsigned short)a[i]}), h = wide(H{(unsigned short)(a[i] >> 16)});
    rest[i] = flash_pair(p[2 * k + i / 2][i % 2 * 2] - l, p[2 * k + i / 2][i % 2 * 2 + 1] - h, H());
  }
}
// out += p·tile: the tile has 8·N rows of W. With Exact p is two halves, what it is rounded to and the rest.
template <class H, int W, bool Exact, int M, int N> HT_FN void flash_apply(float (&out)[M][W / 8][4], const float (&p)[M][N][4], const Chunk* tile) {
  const Shared at = shared_of(tile);
  const int lane = flash_lane<W>(false);
  HT_UNROLL for (int k = 0; k < N / 2; k++) {
    u32 a[M][4], rest[M][4];
    HT_UNROLL for (int m = 0; m < M; m++) {
      flash_round<H>(a[m], p[m], k);
      if (Exact) flash_rest<H>(rest[m], a[m], p[m], k);
    }
    HT_UNROLL for (int j = 0; j < W / 8; j += 2) {
      u32 q[4];
      ldmatrix_at<true>(q, at, flash_at<W>(lane, k * 16, j * 8));
      const u32 b0[2] = {q[0], q[1]}, b1[2] = {q[2], q[3]};
      HT_UNROLL for (int m = 0; m < M; m++) ht_mma(out[m][j], a[m], b0, H()), ht_mma(out[m][j + 1], a[m], b1, H());
      if (!Exact) continue;
      HT_UNROLL for (int m = 0; m < M; m++) ht_mma(out[m][j], rest[m], b0, H()), ht_mma(out[m][j + 1], rest[m], b1, H());
    }
  }
}
// Two such products with one tile, both exact.
template <class H, int W, int N> HT_FN void flash_apply2(float (&x)[1][W / 8][4], const float (&p)[1][N][4], float (&y)[1][W / 8][4], const float (&q)[1][N][4], const Chunk* tile) {
  const Shared at = shared_of(tile);
  const int lane = flash_lane<W>(false);
  HT_UNROLL for (int k = 0; k < N / 2; k++) {
    u32 a[4], b[4], restA[4], restB[4];
    flash_round<H>(a, p[0], k);
    flash_round<H>(b, q[0], k);
    flash_rest<H>(restA, a, p[0], k);
    flash_rest<H>(restB, b, q[0], k);
    HT_UNROLL for (int j = 0; j < W / 8; j += 2) {
      u32 r[4];
      ldmatrix_at<true>(r, at, flash_at<W>(lane, k * 16, j * 8));
      const u32 b0[2] = {r[0], r[1]}, b1[2] = {r[2], r[3]};
      ht_mma(x[0][j], a, b0, H()), ht_mma(y[0][j], b, b0, H()), ht_mma(x[0][j + 1], a, b1, H()), ht_mma(y[0][j + 1], b, b1, H());
      ht_mma(x[0][j], restA, b0, H()), ht_mma(y[0][j], restB, b0, H()), ht_mma(x[0][j + 1], restA, b1, H()), ht_mma(y[0][j + 1], restB, b1, H());
    }
  }
}

// A View says what a warp sees of a tile: rows from row on, columns from first on. With Keys rows are keys and columns queries.
struct View { int row, first; };
template <bool Keys> HT_FN int view_query(const View& v, int m, int j, int e) {
  return Keys ? v.first + j * 8 + (int)threadIdx.x % 4 * 2 + e % 2 : v.row + m * 16 + e / 2 * 8 + (int)threadIdx.x % 32 / 4;
}
template <bool Keys> HT_FN int view_key(const View& v, int m, int j, int e) { return view_query<!Keys>(v, m, j, e); }

// flash_hide sets numbers of keys that a query does not see, and of queries behind the last, to a value.
template <bool Keys, int M, int N> HT_FN void flash_hide(const Attention& p, float (&x)[M][N][4], const View& v, float value) {
  const int column = v.first + threadIdx.x % 4 * 2;
  HT_UNROLL for (int m = 0; m < M; m++) {
    HT_UNROLL for (int h = 0; h < 2; h++) {
      const int row = v.row + m * 16 + h * 8 + (int)threadIdx.x % 32 / 4;
      const int from = Keys && p.causal ? row - column : 0, to = (Keys ? p.t : (p.causal && row + 1 < p.s ? row + 1 : p.s)) - column;
      HT_UNROLL for (int j = 0; j < N; j++) {
        HT_UNROLL for (int e = 0; e < 2; e++) x[m][j][2 * h + e] = (Keys && j * 8 + e < from) || j * 8 + e >= to ? value : x[m][j][2 * h + e];
      }
    }
  }
}
// flash_mask multiplies scores by a factor and applies the mask.
template <class H, bool Keys, int M, int N> HT_FN void flash_mask(const Attention& p, float (&s)[M][N][4], const View& v, i64 mask, float factor) {
  HT_UNROLL for (int m = 0; m < M; m++) HT_UNROLL for (int j = 0; j < N; j++) HT_UNROLL for (int e = 0; e < 4; e++) s[m][j][e] *= factor;
  if (!p.masked) return;
  const i64 down = Keys ? p.columns[3] : p.rows[3], right = Keys ? p.rows[3] : p.columns[3];
  const int rows = Keys ? p.s : p.t, columns = Keys ? p.t : p.s, column = v.first + threadIdx.x % 4 * 2;
  HT_UNROLL for (int m = 0; m < M; m++) {
    HT_UNROLL for (int h = 0; h < 2; h++) {
      const int row = v.row + m * 16 + h * 8 + (int)threadIdx.x % 32 / 4, left = row < rows ? columns - column : 0;
      i64 at = mask + row * down + column * right;
      HT_UNROLL for (int j = 0; j < N; j++, at += 8 * right) {
        HT_UNROLL for (int e = 0; e < 2; e++) {
          if (j * 8 + e >= left) continue;
          if (p.masked == 1) s[m][j][2 * h + e] = fused(wide(((const H*)p.mask)[at + e * right]), 1.44269504f, s[m][j][2 * h + e]);
          else if (!((const b8*)p.mask)[at + e * right]) s[m][j][2 * h + e] = -ht_inf<float>();
        }
      }
    }
  }
}

// flash_kept says what dropout keeps of a lane's 4·N numbers of 16 rows, element e of j in bit 4·j + e.
template <bool Keys, int N> HT_FN u64 flash_kept(const Attention& p, const View& v, int m, u32 n) {
  const Stream stream = stream_of(p.origin, p.seed, p.block);
  const u64 bound = (u64)p.bound;
  u64 bits = 0, have = ~0ull;
  four b = {};
  HT_ROLLED for (int i = 0; i < 4 * N; i++) {
    const u64 at = ((u64)n * p.t + view_query<Keys>(v, m, i / 4, i % 4)) * p.s + view_key<Keys>(v, m, i / 4, i % 4);
    if (at >> 2 != have) have = at >> 2, b = philox(stream, have);
    bits |= (u64)(number_of(b, at) >= bound) << i;
  }
  return bits;
}
// flash_drop sets to 0 what is not kept; the factor of what is kept is left to the end.
template <int N> HT_FN void flash_drop(float (&s)[N][4], u64 kept) {
  HT_UNROLL for (int j = 0; j < N; j++) HT_UNROLL for (int e = 0; e < 4; e++) s[j][e] = kept >> (4 * j + e) & 1 ? s[j][e] : 0.0f;
}

// flash_tops moves the top of a row when a score, times factor, is 2⁸ times as large, which is seldom. It says whether a row of the warp has moved,
// and by what its sums are to be multiplied.
template <int M, int N> HT_FN bool flash_tops(float (&top)[M][2], float (&shrink)[M][2], const float (&s)[M][N][4], float factor) {
  float most[M][2];
  bool moves = false;
  HT_UNROLL for (int m = 0; m < M; m++) {
    HT_UNROLL for (int h = 0; h < 2; h++) {
      float v = -ht_inf<float>();
      HT_UNROLL for (int j = 0; j < N; j++) v = flash_larger(flash_larger(v, s[m][j][2 * h]), s[m][j][2 * h + 1]);
      most[m][h] = quad_max(v) * factor;
      moves |= most[m][h] - top[m][h] > FLASH_SLACK;
    }
  }
  if (!__ballot_sync(0xffffffffu, moves)) return false;
  HT_UNROLL for (int m = 0; m < M; m++) {
    HT_UNROLL for (int h = 0; h < 2; h++) {
      shrink[m][h] = 1;
      if (!(most[m][h] - top[m][h] > FLASH_SLACK)) continue;
      shrink[m][h] = flash_exp2(top[m][h] - most[m][h]);
      top[m][h] = most[m][h];
    }
  }
  return true;
}
// flash_powers takes scores, times factor, to powers of 2 over the row's top, and adds them to a lane's sums.
template <int M, int N> HT_FN void flash_powers(float (&s)[M][N][4], float (&sum)[M][2], const float (&top)[M][2], float factor) {
  HT_UNROLL for (int m = 0; m < M; m++) {
    HT_UNROLL for (int h = 0; h < 2; h++) {
      const float base = top[m][h] == -ht_inf<float>() ? 0.0f : -top[m][h];
      HT_UNROLL for (int j = 0; j < N; j++) {
        HT_UNROLL for (int e = 2 * h; e < 2 * h + 2; e++) sum[m][h] += s[m][j][e] = flash_exp2(fused(s[m][j][e], factor, base));
      }
    }
  }
}

// flash_store rounds a warp's sums, times by, and writes them as rows of a result, by way of its own rows of a tile.
template <class H, int W, int M> HT_FN void flash_store(const Rows<H>& out, const float (&x)[M][W / 8][4], const float (&by)[M][2], Chunk* tile, int own, int first) {
  const int lane = threadIdx.x % 32;
  __syncwarp();
  HT_UNROLL for (int m = 0; m < M; m++) {
    HT_UNROLL for (int j = 0; j < W / 8; j++) {
      HT_UNROLL for (int h = 0; h < 2; h++) tile[flash_place<W>(own + m * 16 + h * 8 + lane / 4, j)].v[lane % 4] = flash_pair(x[m][j][2 * h] * by[m][h], x[m][j][2 * h + 1] * by[m][h], H());
    }
  }
  __syncwarp();
  const bool whole = out.width % 8 == 0 && out.step % 8 == 0 && (u64)out.at % 16 == 0;
  HT_UNROLL for (int i = 0; i < M * 16 * (W / 8); i += 32) {
    const int row = (i + lane) / (W / 8), chunk = (i + lane) % (W / 8);
    if (first + row >= out.count || chunk * 8 >= out.width) continue;
    const Chunk c = tile[flash_place<W>(own + row, chunk)];
    H* to = (H*)out.at + (first + row) * out.step + chunk * 8;
    if (whole) {
      *(Chunk*)to = c;
      continue;
    }
    HT_UNROLL for (int e = 0; e < 8; e++) {
      if (chunk * 8 + e < out.width) to[e].bits = (unsigned short)(c.v[e / 2] >> e % 2 * 16);
    }
  }
}
#endif
