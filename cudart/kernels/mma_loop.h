// The main loop of products on tensor cores. A block of WM × WN warps sums 64·WM rows by 64·WN columns, a warp 64 × 64. Tiles of K terms go
// through shared memory in stages; how an operand gets there is its source's affair, a struct with
//   tile                where it lies in shared memory, a Tile
//   whole               of all tiles, those before this one are copied piece by piece, the others by rest
//   place               where the thread's first 16 bytes of a tile go in it
//   piece<I>(to)        queues the copy of the thread's I-th 16 bytes of the current tile, the first of which go to there
//   next()              goes on to the tile after
//   rest(to, tile)      queues what there is of a tile, and zeros
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

// Where a lane reads its rows of ldmatrix.
template <class T, bool AlongK, bool First> HT_FN u32 lane_place(int from) {
  const int lane = threadIdx.x % 32, low = First ? lane % 16 : lane % 8 + lane / 16 * 8, high = First ? lane / 16 : lane / 8 % 2;
  if (AlongK) return T::place(from + low, high);
  const int k = First ? lane % 8 + lane / 16 * 8 : lane % 16, chunk = First ? lane / 8 % 2 : lane / 16;
  return T::place(k, from / 8 + chunk);
}
// Lanes are those places of a tile's chunks: what follows them in rows has one distance.
template <class T, bool AlongK> struct Lanes {
  static_assert(!AlongK || T::row_chunks <= 8, "a row of k has a place for each of at most 4 steps");
  u32 of[4];

  HT_METHOD Lanes(u32 first) { HT_UNROLL for (int i = 0; i < 4; i++) of[i] = first ^ (i * 32); }
  // read reads the x-th 16 rows or columns of a warp, and the kk-th 16 terms, of a tile.
  HT_METHOD void read(u32 (&q)[4], u32 tile, int x, int kk) const {
    if (AlongK) ldmatrix_x4(q, of[kk] + tile + x * 16 * T::pitch);
    else ldmatrix_x4_trans(q, of[x] + tile + kk * 16 * T::pitch);
  }
};

// Pieces From … To-1 of both operands' tiles, those of a first.
template <int I, int To> struct Pieces {
  template <class SA, class SB> HT_FN void copy(SA& a, SB& b, u32 toA, u32 toB) {
    if constexpr (I < SA::tile::pieces) a.template piece<I>(toA);
    else b.template piece<I - SA::tile::pieces>(toB);
    Pieces<I + 1, To>::copy(a, b, toA, toB);
  }
};
template <int To> struct Pieces<To, To> {
  template <class SA, class SB> HT_FN void copy(SA&, SB&, u32, u32) {}
};

// mma_copy queues one operand's copies of a tile, which may be the last and in part, and goes on to the tile after.
template <class S> HT_FN void mma_copy(S& s, u32 stage, int tile) {
  if (tile < s.whole) Pieces<0, S::tile::pieces>::copy(s, s, stage + s.place, 0), s.next();
  else s.rest(stage, tile);
}

// mma_group multiplies the operands of 16 terms, and queues the pieces From … To-1 between.
template <class H, int From, int To, class SA, class SB>
HT_FN void mma_group(float (&sum)[4][8][4], const u32 (&fa)[4][4], const u32 (&fb)[8][2], SA& a, SB& b, u32 toA, u32 toB) {
  HT_UNROLL for (int j = 0; j < 8; j++) ht_mma(sum[0][j], fa[0], fb[j], H());
  Pieces<From, From + (To - From) / 3>::copy(a, b, toA, toB);
  HT_UNROLL for (int j = 7; j >= 0; j--) ht_mma(sum[1][j], fa[1], fb[j], H());
  Pieces<From + (To - From) / 3, From + (To - From) * 2 / 3>::copy(a, b, toA, toB);
  HT_UNROLL for (int j = 0; j < 8; j++) ht_mma(sum[2][j], fa[2], fb[j], H());
  Pieces<From + (To - From) * 2 / 3, To>::copy(a, b, toA, toB);
  HT_UNROLL for (int j = 7; j >= 0; j--) ht_mma(sum[3][j], fa[3], fb[j], H());
}

// Stages are those that a tile is read from, that its successor is, and that another is copied to.
struct Stages { u32 read, after, write; };

// A Warp multiplies what lies in shared memory.
template <class H, int K, bool AK, bool BK, class SA, class SB> struct Warp {
  typedef typename SA::tile A;
  typedef typename SB::tile B;
  Lanes<A, AK> laneA;
  Lanes<B, BK> laneB;
  u32 fa[2][4][4], fb[2][8][2];

  HT_METHOD Warp(int row, int column) : laneA(lane_place<A, AK, true>(row)), laneB(lane_place<B, BK, false>(column)) {}
  template <int KK> HT_METHOD void read(u32 stage) {
    HT_UNROLL for (int i = 0; i < 4; i++) laneA.read(fa[KK & 1][i], stage, i, KK);
    HT_UNROLL for (int j = 0; j < 4; j++) {
      u32 q[4];
      laneB.read(q, stage + A::bytes, j, KK);
      fb[KK & 1][2 * j][0] = q[0], fb[KK & 1][2 * j][1] = q[1], fb[KK & 1][2 * j + 1][0] = q[2], fb[KK & 1][2 * j + 1][1] = q[3];
    }
  }
  // groups multiplies the groups KK … of a tile, with the copies of another among them if Copies; with the last it reads the first of the next.
  template <bool Copies, int KK> HT_METHOD void groups(float (&sum)[4][8][4], SA& a, SB& b, const Stages& at, int twice) {
    const int last = K / 16 - 1, all = Copies ? A::pieces + B::pieces : 0;
    if constexpr (KK < last) {
      read<KK + 1>(at.read);
      mma_group<H, all * KK / last, all * (KK + 1) / last>(sum, fa[KK & 1], fb[KK & 1], a, b, at.write + a.place, at.write + A::bytes + b.place);
      groups<Copies, KK + 1>(sum, a, b, at, twice);
    } else {
      cp_async_commit();
      cp_async_commit_also(twice);
      cp_async_wait<2>();
      __syncthreads();
      read<0>(at.after);
      mma_group<H, 0, 0>(sum, fa[KK & 1], fb[KK & 1], a, b, 0, 0);
    }
  }
};

// mma_loop sums tiles of K terms. Shared memory from shared on, at a multiple of 128 bytes, has stages of both operands' tiles: 3 or 4. As long
// as whole tiles are left to copy, no instruction asks for it: warps are few, and wait for each one. The others have a loop of their own.
template <class H, int WN, int K, bool AK, bool BK, class SA, class SB>
HT_FN void mma_loop(float (&sum)[4][8][4], SA& a, SB& b, u32 shared, int tiles, int stages) {
  typedef typename SA::tile A;
  typedef typename SB::tile B;
  const u32 stage = A::bytes + B::bytes, end = shared + stages * stage;
  const int warp = threadIdx.x / 32, ahead = stages - 1, whole = a.whole < b.whole ? a.whole : b.whole;
  const int twice = stages == 3;  // two of the groups of copies that are under way, whatever the stages, belong to the tiles after the next
  Stages at = {shared, shared + stage, shared};
  HT_ROLLED for (int s = 0; s < ahead; s++) {
    if (s < tiles) mma_copy(a, at.write, s), mma_copy(b, at.write + A::bytes, s);
    cp_async_commit();
    cp_async_commit_also(twice);
    at.write += stage;
  }
  cp_async_wait<2>();
  __syncthreads();
  Warp<H, K, AK, BK, SA, SB> w(warp / WN * 64, warp % WN * 64);
  if (tiles > 0) w.template read<0>(at.read);
  int kt = 0;
  HT_ROLLED for (; kt + ahead < whole; kt++) {
    w.template groups<true, 0>(sum, a, b, at, twice);
    a.next(), b.next();
    at = Stages{at.after, at.after + stage == end ? shared : at.after + stage, at.read};
  }
  HT_ROLLED for (; kt < tiles; kt++) {
    if (kt + ahead < tiles) mma_copy(a, at.write, kt + ahead), mma_copy(b, at.write + A::bytes, kt + ahead);
    if (kt + 1 == tiles) at.after = at.read;  // behind the last tile it is read again, for nothing
    w.template groups<false, 0>(sum, a, b, at, twice);
    at = Stages{at.after, at.after + stage == end ? shared : at.after + stage, at.read};
  }
  cp_async_wait<0>();
  __syncthreads();
}

struct alignas(8) Floats2 { float x, y; };
// mma_part writes the first n of 8 sums of a row where k is split; n is a multiple of 4 where rows begin at 16 bytes.
HT_FN void mma_part(float* to, const float (&v)[8], int n, bool aligned) {
  if (!aligned) {
    HT_UNROLL for (int e = 0; e < 8; e++) if (e < n) to[e] = v[e];
    return;
  }
  *(Floats4*)to = Floats4{{v[0], v[1], v[2], v[3]}};
  if (n == 8) *(Floats4*)(to + 4) = Floats4{{v[4], v[5], v[6], v[7]}};
}
// mma_row_part gives 16 rows of 64 columns of a warp's sums to put(row, column, v), 8 columns at a time, so that 8 lanes write whole lines of
// memory. They go through shared memory, which has 4608 bytes for each warp.
template <class Put> HT_FN void mma_row_part(const float (*sum)[4], void* shared, int row, int column, const Put& put) {
  const int lane = threadIdx.x % 32, pitch = 72;
  float* own = (float*)shared + threadIdx.x / 32 * 16 * pitch;
  HT_UNROLL for (int j = 0; j < 8; j++) {
    float* to = own + lane / 4 * pitch + j * 8 + lane % 4 * 2;
    *(Floats2*)to = Floats2{sum[j][0], sum[j][1]};
    *(Floats2*)(to + 8 * pitch) = Floats2{sum[j][2], sum[j][3]};
  }
  __syncwarp();
  HT_ROLLED for (int r = lane / 8; r < 16; r += 4) {
    const Floats4 *from = (const Floats4*)(own + r * pitch + lane % 8 * 8), l = from[0], h = from[1];
    const float v[8] = {l.v[0], l.v[1], l.v[2], l.v[3], h.v[0], h.v[1], h.v[2], h.v[3]};
    put(row + r, column + lane % 8 * 8, v);
  }
  __syncwarp();
}
// mma_rows gives all 64 × 64 of a warp.
template <class Put> HT_FN void mma_rows(const float (&sum)[4][8][4], void* shared, const Put& put) {
  HT_UNROLL for (int i = 0; i < 4; i++) mma_row_part(sum[i], shared, i * 16, 0, put);
}
#endif
