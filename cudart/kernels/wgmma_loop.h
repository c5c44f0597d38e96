// The main loop of products of warpgroups. A block is two of them: 128 rows by 256 columns, of which a warpgroup sums 64 rows, a thread 128 sums.
// Tiles of 64 terms go through shared memory as in mma_loop.h, from the same sources, to where wgmma.h wants them. The tensor cores work
// on two tiles at a time, so that they go on while warps meet at a barrier; the stages of both are theirs, and two are copied to.
#pragma once
#include "mma_loop.h"
#include "wgmma.h"

#if HT_WARPGROUPS
enum { WGMMA_ROWS = 128, WGMMA_COLUMNS = 256, WGMMA_TERMS = 64, WGMMA_THREADS = 256, WGMMA_STAGES = 4, WGMMA_AHEAD = WGMMA_STAGES - 2, WGMMA_ALIGN = 1024 };

// Where 16 bytes of an operand's tile lie: rows of 128 bytes, each with the 64 terms of a row of m or n (AlongK), or one term of 64 of m or n. Of
// the latter, all terms of the first 64 come first.
template <bool AlongK, int Size> struct SwizzledTile {
  static const int row_chunks = AlongK ? 8 : Size / 8, rows = AlongK ? Size : WGMMA_TERMS;
  static const int pieces = rows * row_chunks / WGMMA_THREADS, rows_apart = WGMMA_THREADS / row_chunks, bytes = Size * WGMMA_TERMS * 2;
  static const u32 along = AlongK ? 16 : WGMMA_TERMS * 128, across = 1024;  // of the descriptor
  static const u32 group = 64 * 128;                                         // from 64 rows or columns to the next
  static const u32 step = AlongK ? 32 : 2 * across;                          // from 16 terms to the next
  static_assert(rows_apart % 8 == 0, "a thread's pieces are mixed alike");
  HT_FN int place(int row, int chunk) { return chunk / 8 * (WGMMA_TERMS * 128) + row * 128 + ((chunk ^ row) & 7) * 16; }
  HT_FN int row() { return threadIdx.x / row_chunks; }
  HT_FN int chunk() { return threadIdx.x % row_chunks; }
  HT_FN u32 piece(u32 first, int i) { return first + i * rows_apart * 128; }
};

// wgmma_tile queues the products of a tile.
template <bool AK, bool BK, class H, class A, class B> HT_FN void wgmma_tile(float (&sum)[32][4], u64 a, u64 b, u32 stage, H h) {
  a += stage >> 4, b += stage >> 4;
  wgmma_fence();
  HT_UNROLL for (int i = 0; i < WGMMA_TERMS / 16; i++) wgmma<AK, BK>(sum, a + i * (A::step >> 4), b + i * (B::step >> 4), h);
  wgmma_commit();
}

// WgmmaTiles are the operands' tiles: their descriptors in the first stage, where that begins, how many tiles there are. WgmmaPlace are the
// stages that a tile is read from and another is copied to.
struct WgmmaTiles { u64 a, b; u32 shared; int tiles; };
struct WgmmaPlace { u32 read, write; };

// wgmma_steps goes through tiles kt … to-1: each is multiplied while the one ahead of it is copied, and the one before it ends.
template <bool Whole, bool AK, bool BK, class H, class SA, class SB>
HT_FN void wgmma_steps(float (&sum)[32][4], SA& a, SB& b, const WgmmaTiles& in, WgmmaPlace& at, int& kt, int to, H h) {
  typedef typename SA::tile A;
  typedef typename SB::tile B;
  const u32 stage = A::bytes + B::bytes, end = WGMMA_STAGES * stage;
  HT_ROLLED for (; kt < to; kt++) {
    cp_async_wait<WGMMA_AHEAD - 1>();
    fence_proxy_async();
    __syncthreads();  // the tile is there, and no warpgroup needs the one before the last any more
    const u32 write = in.shared + at.write;
    if constexpr (Whole) {
      Pieces<0, A::pieces + B::pieces>::copy(a, b, write + a.place, write + A::bytes + b.place);
      a.next(), b.next();
    } else if (kt + WGMMA_AHEAD < in.tiles) {
      mma_copy(a, write, kt + WGMMA_AHEAD), mma_copy(b, write + A::bytes, kt + WGMMA_AHEAD);
    }
    wgmma_tile<AK, BK, H, A, B>(sum, in.a, in.b, at.read, h);  // behind the copies: those are longer on their way
    cp_async_commit();
    wgmma_wait<1>();
    at.read = at.read + stage == end ? 0 : at.read + stage, at.write = at.write + stage == end ? 0 : at.write + stage;
  }
}

// wgmma_loop sums tiles; shared memory from shared on, at a multiple of WGMMA_ALIGN, has WGMMA_STAGES of both operands' tiles. As long as whole
// tiles are left to copy, no instruction asks for it.
template <bool AK, bool BK, class H, class SA, class SB>
HT_FN void wgmma_loop(float (&sum)[32][4], SA& a, SB& b, u32 shared, int tiles, H h) {
  typedef typename SA::tile A;
  typedef typename SB::tile B;
  const int whole = a.whole < b.whole ? a.whole : b.whole;
  const u32 mine = shared + from_lane(threadIdx.x / 128, 0) * A::group;  // one number of a warp
  const WgmmaTiles in = {wgmma_descriptor(mine, A::along, A::across), wgmma_descriptor(shared + A::bytes, B::along, B::across), shared, tiles};
  WgmmaPlace at = {0, 0};
  HT_ROLLED for (int s = 0; s < WGMMA_AHEAD; s++) {
    if (s < tiles) mma_copy(a, shared + at.write, s), mma_copy(b, shared + at.write + A::bytes, s);
    cp_async_commit();
    at.write += A::bytes + B::bytes;
  }
  HT_UNROLL for (int j = 0; j < 32; j++) HT_UNROLL for (int e = 0; e < 4; e++) sum[j][e] = 0;
  wgmma_pin(sum);
  int kt = 0;
  wgmma_steps<true, AK, BK>(sum, a, b, in, at, kt, whole - WGMMA_AHEAD, h);
  wgmma_steps<false, AK, BK>(sum, a, b, in, at, kt, tiles, h);
  wgmma_wait<0>();
  wgmma_pin(sum);
  cp_async_wait<0>();
  __syncthreads();
}
#endif
