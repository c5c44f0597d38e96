// Warps of 96 × 64 for mma_loop.h: they read a quarter less of shared memory for the same products. 192 sums leave room for the operands of one
// step alone. Those of the second operand are held for a step; rows of the first come 16 at a time, two ahead of what is multiplied, and with the
// last ones of a step the second operand's are replaced one by one.
#pragma once
#include "mma_loop.h"

#if HT_TENSOR_CORES
// Steps C … of a tile, 16 rows by 16 terms each.
template <class H, int K, bool AK, bool BK, int C> struct TallSteps {
  template <class SA, class SB>
  HT_FN void run(float (&sum)[6][8][4], u32 (&fa)[3][4], u32 (&fb)[8][2], SA& a, SB& b, u32 stage, u32& ra, u32& rb, u32 forward, int waits,
                 int yesA, int yesB) {
    typedef typename SA::tile A;
    typedef typename SB::tile B;
    const int all = SA::tile::pieces + SB::tile::pieces, steps = 6 * K / 16, last = steps - 2, i = C % 6, next = (C + 2) % steps;
    if constexpr (C == last) {
      cp_async_commit();
      cp_async_wait_but(waits);
      __syncthreads();
      ra += forward, rb += forward;
    }
    read_a<A, AK>(fa[(C + 2) % 3], ra, next % 6, next / 6);
    HT_UNROLL for (int j = 0; j < 8; j++) {
      ht_mma(sum[i][j], fa[C % 3], fb[j], H());
      if (i == 5 && j % 2 == 1) read_b<B, BK>(fb, rb, j / 2, (C / 6 + 1) % (K / 16));
    }
    if constexpr (C < last) Pieces<all * C / last, all * (C + 1) / last>::copy(a, b, stage, yesA, yesB);
    if constexpr (C + 1 < steps) TallSteps<H, K, AK, BK, C + 1>::run(sum, fa, fb, a, b, stage, ra, rb, forward, waits, yesA, yesB);
  }
};

template <class H, int K, bool AK, bool BK> struct Operands<H, K, AK, BK, 6> {
  u32 fa[3][4], fb[8][2];

  template <class A, class B> HT_METHOD void first(u32 ra, u32 rb) {
    HT_UNROLL for (int j = 0; j < 4; j++) read_b<B, BK>(fb, rb, j, 0);
    HT_UNROLL for (int i = 0; i < 2; i++) read_a<A, AK>(fa[i], ra, i, 0);
  }
  template <class SA, class SB>
  HT_METHOD void tile(float (&sum)[6][8][4], SA& a, SB& b, u32 stage, u32& ra, u32& rb, u32 forward, int waits, int yesA, int yesB) {
    TallSteps<H, K, AK, BK, 0>::run(sum, fa, fb, a, b, stage, ra, rb, forward, waits, yesA, yesB);
  }
};
#endif
