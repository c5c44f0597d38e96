// The main loop of products on tensor cores. A block of WM × WN warps sums 64·WM rows by 64·WN columns, a warp 64 × 64 (or 96 × 64: mma_tall.h). Tiles of K terms go
// through shared memory in stages; how an operand gets there is its source's affair, a struct with
//   tile                where it lies in shared memory, a Tile
//   whole               of all tiles, those before this one are copied piece by piece, the others by rest
//   piece<I>(to, yes)   queues the copy of the thread's I-th 16 bytes of the current tile, if yes
//   next()              goes on to the tile after
//   rest(to, tile)      queues what there is of a tile, and zeros
//   ragged              whether any tile is not whole
// Copies of one tile lie among the multiplications of another, and the first operands of a tile are read while the last ones of the tile
// before are multiplied: the tensor cores find no gap between tiles. Sums go on in the order of k.
#pragma once
#include "mma.h"

#if HT_TENSOR_CORES
#define HT_METHOD __device__ __forceinline__
struct alignas(128) Banks { Chunk v[8]; };  // shared memory that begins at the first bank

// Where 16 bytes of an operand's tile lie: in rows of k (AlongK), or in rows of m or n, of Size elements. Their places in a row are mixed, so
// that neither ldmatrix nor copies meet a bank twice.
template <bool AlongK, int Size, int K, int Threads> struct Tile {
  static const int row_chunks = AlongK ? K / 8 : Size / 8, rows = AlongK ? Size : K, pitch = row_chunks * 16;
  static const int pieces = rows * row_chunks / Threads, rows_apart = Threads / row_chunks, bytes = Size * K * 2;
  HT_FN int place(int row, int chunk) {
    const int mix = row_chunks == 4 ? (row >> 1) & 3 : row & 7;  // of 64 bytes a row, two rows reach all banks
    return row * pitch + (chunk ^ mix) * 16;
  }
  HT_FN int row() { return threadIdx.x / row_chunks; }
  HT_FN int chunk() { return threadIdx.x % row_chunks; }
  // The place of the thread's I-th piece, from that of its first.
  HT_FN u32 piece(u32 first, int i) {
    const int mixed = rows_apart % 8 == 0 ? 0 : ((i * rows_apart) & 7) * 16;  // rows_apart is a power of two above the first row
    return (first ^ mixed) + i * rows_apart * pitch;
  }
};

// A tile of 192 in rows of k lies as six of 32 columns, one below the other: 24 pieces a row would not go round.
template <int K, int Threads> struct Tile<false, 192, K, Threads> {
  static const int rows = K, pitch = 64, pieces = 192 * K / 8 / Threads, rows_apart = 0, bytes = 192 * K * 2;
  static_assert(Threads == K * 4, "a thread has a piece of each part");
  HT_FN int place(int row, int chunk) { return (chunk / 4 * K + row) * pitch + (chunk % 4 ^ (row >> 1 & 3)) * 16; }
  HT_FN int row() { return threadIdx.x / 4; }
  HT_FN int chunk() { return threadIdx.x % 4; }
  HT_FN u32 piece(u32 first, int i) { return first + i * K * pitch; }
  // The place of the x-th 16 columns and the kk-th 16 terms, from a lane's first.
  HT_FN u32 at(u32 first, int x, int kk) { return (first ^ (x % 2 * 32)) + (x / 2 * K + kk * 16) * pitch; }
};

// Where a lane reads its rows of ldmatrix: at(first, x, kk) for the x-th 16 rows or columns of its warp, and the kk-th 16 terms.
template <class T, bool AlongK, bool First> HT_FN u32 lane_place(int from) {
  const int lane = threadIdx.x % 32, low = First ? lane % 16 : lane % 8 + lane / 16 * 8, high = First ? lane / 16 : lane / 8 % 2;
  if (AlongK) return T::place(from + low, high);
  const int k = First ? lane % 8 + lane / 16 * 8 : lane % 16, chunk = First ? lane / 8 % 2 : lane / 16;
  return T::place(k, from / 8 + chunk);
}
template <class T, bool AlongK> HT_FN u32 lane_at(u32 first, int x, int kk) {
  if constexpr (T::pitch == 64 && T::bytes == 192 * T::rows * 2) return T::at(first, x, kk);
  else return AlongK ? (first ^ (kk * 32)) + x * 16 * T::pitch : (first ^ (x * 32)) + kk * 16 * T::pitch;
}

// read_a reads the i-th 16 rows of a warp, read_b the j-th 16 columns, of the kk-th 16 terms.
template <class A, bool AK> HT_FN void read_a(u32 (&fa)[4], u32 ra, int i, int kk) {
  if (AK) ldmatrix_x4(fa, lane_at<A, AK>(ra, i, kk));
  else ldmatrix_x4_trans(fa, lane_at<A, AK>(ra, i, kk));
}
template <class B, bool BK> HT_FN void read_b(u32 (&fb)[8][2], u32 rb, int j, int kk) {
  u32 q[4];
  if (BK) ldmatrix_x4(q, lane_at<B, BK>(rb, j, kk));
  else ldmatrix_x4_trans(q, lane_at<B, BK>(rb, j, kk));
  fb[2 * j][0] = q[0], fb[2 * j][1] = q[1], fb[2 * j + 1][0] = q[2], fb[2 * j + 1][1] = q[3];
}
template <class A, bool AK, class B, bool BK> HT_FN void mma_read(u32 (&fa)[4][4], u32 (&fb)[8][2], u32 ra, u32 rb, int kk) {
  HT_UNROLL for (int i = 0; i < 4; i++) read_a<A, AK>(fa[i], ra, i, kk);
  HT_UNROLL for (int j = 0; j < 4; j++) read_b<B, BK>(fb, rb, j, kk);
}

// Pieces From … To-1 of both operands' tiles, those of a first.
template <int I, int To> struct Pieces {
  template <class SA, class SB> HT_FN void copy(SA& a, SB& b, u32 stage, int yesA, int yesB) {
    if constexpr (I < SA::tile::pieces) a.template piece<I>(stage, yesA);
    else b.template piece<I - SA::tile::pieces>(stage + SA::tile::bytes, yesB);
    Pieces<I + 1, To>::copy(a, b, stage, yesA, yesB);
  }
};
template <int To> struct Pieces<To, To> {
  template <class SA, class SB> HT_FN void copy(SA&, SB&, u32, int, int) {}
};

template <class SA, class SB> HT_FN void mma_rest(SA& a, SB& b, u32 stage, int tile) {
  if (!SA::ragged) return;
  if (tile >= a.whole) a.rest(stage, tile);
  if (tile >= b.whole) b.rest(stage + SA::tile::bytes, tile);
}

// mma_group multiplies the operands of 16 terms, and queues the pieces From … To-1 between.
template <class H, int From, int To, class SA, class SB>
HT_FN void mma_group(float (&sum)[4][8][4], const u32 (&fa)[4][4], const u32 (&fb)[8][2], SA& a, SB& b, u32 stage, int yesA, int yesB) {
  HT_UNROLL for (int j = 0; j < 8; j++) ht_mma(sum[0][j], fa[0], fb[j], H());
  Pieces<From, From + (To - From) / 3>::copy(a, b, stage, yesA, yesB);
  HT_UNROLL for (int j = 7; j >= 0; j--) ht_mma(sum[1][j], fa[1], fb[j], H());
  Pieces<From + (To - From) / 3, From + (To - From) * 2 / 3>::copy(a, b, stage, yesA, yesB);
  HT_UNROLL for (int j = 0; j < 8; j++) ht_mma(sum[2][j], fa[2], fb[j], H());
  Pieces<From + (To - From) * 2 / 3, To>::copy(a, b, stage, yesA, yesB);
  HT_UNROLL for (int j = 7; j >= 0; j--) ht_mma(sum[3][j], fa[3], fb[j], H());
}

// Groups KK … K/16-1 of one tile; the last one goes on to the next tile.
template <class H, int K, bool AK, bool BK, int KK> struct Groups {
  template <class SA, class SB>
  HT_FN void run(float (&sum)[4][8][4], u32 (&fa)[2][4][4], u32 (&fb)[2][8][2], SA& a, SB& b, u32 stage, u32& ra, u32& rb, u32 forward, int waits,
                 int yesA, int yesB) {
    const int last = K / 16 - 1, all = SA::tile::pieces + SB::tile::pieces;
    if constexpr (KK == last) {
      cp_async_commit();
      cp_async_wait_but(waits);
      __syncthreads();
      ra += forward, rb += forward;
    }
    mma_read<typename SA::tile, AK, typename SB::tile, BK>(fa[(KK + 1) & 1], fb[(KK + 1) & 1], ra, rb, (KK + 1) % (K / 16));
    if constexpr (KK < last) {
      mma_group<H, all * KK / last, all * (KK + 1) / last>(sum, fa[KK & 1], fb[KK & 1], a, b, stage, yesA, yesB);
      Groups<H, K, AK, BK, KK + 1>::run(sum, fa, fb, a, b, stage, ra, rb, forward, waits, yesA, yesB);
    } else {
      mma_group<H, 0, 0>(sum, fa[KK & 1], fb[KK & 1], a, b, stage, 0, 0);
    }
  }
};

// Operands are what a warp of 16·R rows holds of both operands, here those of 16 terms and of the next 16.
template <class H, int K, bool AK, bool BK, int R> struct Operands {
  u32 fa[2][R][4], fb[2][8][2];

  // first reads the first ones of a tile.
  template <class A, class B> HT_METHOD void first(u32 ra, u32 rb) { mma_read<A, AK, B, BK>(fa[0], fb[0], ra, rb, 0); }
  // tile multiplies one, queues the copies of another to stage, and reads the first operands of the next, which lie at forward.
  template <class SA, class SB>
  HT_METHOD void tile(float (&sum)[R][8][4], SA& a, SB& b, u32 stage, u32& ra, u32& rb, u32 forward, int waits, int yesA, int yesB) {
    Groups<H, K, AK, BK, 0>::run(sum, fa, fb, a, b, stage, ra, rb, forward, waits, yesA, yesB);
  }
};

// mma_loop sums tiles of K terms. Shared memory from shared on, at a multiple of 128 bytes, has stages of both operands' tiles: 3 or 4.
template <class H, int WN, int K, bool AK, bool BK, int R, class SA, class SB>
HT_FN void mma_loop(float (&sum)[R][8][4], SA& a, SB& b, u32 shared, int tiles, int stages) {
  typedef typename SA::tile A;
  typedef typename SB::tile B;
  const u32 stage = A::bytes + B::bytes, end = shared + stages * stage;
  const int warp = threadIdx.x / 32, all = A::pieces + B::pieces;
  u32 write = shared;
  HT_ROLLED for (int s = 0; s < stages - 1; s++) {
    if (s < tiles) mma_rest(a, b, write, s);
    Pieces<0, all>::copy(a, b, write, s < a.whole, s < b.whole);
    a.next(), b.next();
    cp_async_commit();
    write += stage;
  }
  cp_async_wait_but(stages - 2);
  __syncthreads();
  u32 ra = shared + lane_place<A, AK, true>(warp / WN * (16 * R)), rb = shared + A::bytes + lane_place<B, BK, false>(warp % WN * 64), read = shared;
  Operands<H, K, AK, BK, R> held;
  if (tiles > 0) held.template first<A, B>(ra, rb);
  HT_ROLLED for (int kt = 0; kt < tiles; kt++) {
    const int next = kt + stages - 1;
    if (SA::ragged && next < tiles && (next >= a.whole || next >= b.whole)) mma_rest(a, b, write, next);
    const int yesA = next < a.whole, yesB = next < b.whole;
    const u32 after = kt + 1 == tiles ? read : (read + stage == end ? shared : read + stage);  // behind the last tile it is read again, for nothing
    held.tile(sum, a, b, write, ra, rb, after - read, stages - 2, yesA, yesB);
    a.next(), b.next();
    write = read, read = after;
  }
  cp_async_wait<0>();
  __syncthreads();
}

struct alignas(8) Floats2 { float x, y; };
struct alignas(16) Floats4 { float v[4]; };
// mma_part writes the first n of 8 sums of a row where k is split; n is a multiple of 4 where rows begin at 16 bytes.
HT_FN void mma_part(float* to, const float (&v)[8], int n, bool aligned) {
  if (!aligned) {
    HT_UNROLL for (int e = 0; e < 8; e++) if (e < n) to[e] = v[e];
    return;
  }
  *(Floats4*)to = Floats4{{v[0], v[1], v[2], v[3]}};
  if (n == 8) *(Floats4*)(to + 4) = Floats4{{v[4], v[5], v[6], v[7]}};
}
// mma_rows gives a warp's sums to put(row, column, v), 8 columns at a time, so that 8 lanes write whole lines of memory. They go through shared
// memory, which has 4608 bytes for each warp.
template <int R, class Put> HT_FN void mma_rows(const float (&sum)[R][8][4], void* shared, const Put& put) {
  const int lane = threadIdx.x % 32, pitch = 72;
  float* own = (float*)shared + threadIdx.x / 32 * 16 * pitch;
  HT_UNROLL for (int i = 0; i < R; i++) {
    HT_UNROLL for (int j = 0; j < 8; j++) {
      float* to = own + lane / 4 * pitch + j * 8 + lane % 4 * 2;
      *(Floats2*)to = Floats2{sum[i][j][0], sum[i][j][1]};
      *(Floats2*)(to + 8 * pitch) = Floats2{sum[i][j][2], sum[i][j][3]};
    }
    __syncwarp();
    HT_ROLLED for (int r = lane / 8; r < 16; r += 4) {
      const Floats4 *from = (const Floats4*)(own + r * pitch + lane % 8 * 8), l = from[0], h = from[1];
      const float v[8] = {l.v[0], l.v[1], l.v[2], l.v[3], h.v[0], h.v[1], h.v[2], h.v[3]};
      put(i * 16 + r, lane % 8 * 8, v);
    }
    __syncwarp();
  }
}
#endif
