// Blocks that stay on their multiprocessor and go from tile to tile of a product: the copies of a tile's first terms are under way while the last
// ones of the tile before are multiplied, and while its sums are written.
#pragma once
#include "mma_loop.h"

#if HT_TENSOR_CORES
// mma_walk sums tiles of a product, each of some tiles of K. Items is a struct with
//   sources(a, b)       goes to the tile after, and sets its sources; false if there is none
//   more()              whether there is a tile whose sums have not been written
//   end(sum, shared)    writes those of the first
// Shared memory has stages, and behind them what mma_thrifty_rows needs.
template <class H, int WN, int K, bool AK, bool BK, int R, class SA, class SB, class Items>
HT_FN void mma_walk(SA& a, SB& b, Items& items, int tiles, void* memory, int stages) {
  typedef typename SA::tile A;
  typedef typename SB::tile B;
  const u32 shared = shared_address(memory), stage = A::bytes + B::bytes, end = shared + stages * stage;
  const int warp = threadIdx.x / 32, all = A::pieces + B::pieces, none = 1 << 30;
  u32 write = shared;
  int next = 0;  // the tile of K to copy; none and above behind the last
  float sum[R][8][4];
  Operands<H, K, AK, BK, R> held;
  HT_ROLLED for (int s = 0; s < stages - 1; s++) {
    if (next == tiles) next = items.sources(a, b) ? 0 : none;
    if (next < tiles) mma_rest(a, b, write, next);
    Pieces<0, all>::copy(a, b, write, next < a.whole, next < b.whole);
    a.next(), b.next(), next++;
    cp_async_commit();
    write += stage;
  }
  cp_async_wait_but(stages - 2);
  __syncthreads();
  u32 ra = shared + lane_place<A, AK, true>(warp / WN * (16 * R)), rb = shared + A::bytes + lane_place<B, BK, false>(warp % WN * 64), read = shared;
  held.template first<A, B>(ra, rb);
  HT_ROLLED while (items.more()) {
    HT_UNROLL for (int i = 0; i < R; i++) HT_UNROLL for (int j = 0; j < 8; j++) HT_UNROLL for (int e = 0; e < 4; e++) sum[i][j][e] = 0;
    HT_ROLLED for (int kt = 0; kt < tiles; kt++) {
      if (next == tiles) next = items.sources(a, b) ? 0 : none;
      if (SA::ragged && next < tiles && (next >= a.whole || next >= b.whole)) mma_rest(a, b, write, next);
      const u32 after = read + stage == end ? shared : read + stage;  // behind the last tile, a stage that nothing comes to
      held.tile(sum, a, b, write, ra, rb, after - read, stages - 2, next < a.whole, next < b.whole);
      a.next(), b.next(), next++;
      write = read, read = after;
    }
    items.end(sum, (char*)memory + stages * stage);
  }
  cp_async_wait<0>();
}

// mma_thrifty_rows is mma_rows with half the shared memory: 2304 bytes for each warp.
template <int R, class Put> HT_FN void mma_thrifty_rows(const float (&sum)[R][8][4], void* shared, const Put& put) {
  const int lane = threadIdx.x % 32, pitch = 72;
  float* own = (float*)shared + threadIdx.x / 32 * 8 * pitch;
  HT_UNROLL for (int i = 0; i < 2 * R; i++) {
    HT_UNROLL for (int j = 0; j < 8; j++)
      *(Floats2*)(own + lane / 4 * pitch + j * 8 + lane % 4 * 2) = Floats2{sum[i / 2][j][i % 2 * 2], sum[i / 2][j][i % 2 * 2 + 1]};
    __syncwarp();
    HT_ROLLED for (int r = lane / 8; r < 8; r += 4) {
      const Floats4 *from = (const Floats4*)(own + r * pitch + lane % 8 * 8), l = from[0], h = from[1];
      const float v[8] = {l.v[0], l.v[1], l.v[2], l.v[3], h.v[0], h.v[1], h.v[2], h.v[3]};
      put(i * 8 + r, lane % 8 * 8, v);
    }
    __syncwarp();
  }
}
#endif
