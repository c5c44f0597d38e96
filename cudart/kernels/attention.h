// What a launch of attention takes, for the kernels of all dtypes and those on tensor cores.
#pragma once
#include "lines.h"

enum { ATT_BATCH = 6, ATT_OUT = 5, ATT_DK = 6, ATT_DV = 7 };  // the last: operands, by number, that are written

struct Attention {
  void *out, *dk, *dv, *dmask;            // out: the result, or dq; features lie side by side, and dmask is without gaps
  const void *q, *k, *v, *mask, *dy;
  void* stats;                            // of the gradient: the numbers of every query
  i64 rows[8], columns[8], batch[8][ATT_BATCH];  // strides of q, k, v, mask, dy, and of out, dk, dv
  int bshape[ATT_BATCH];
  int nb, t, s, d, e, causal, masked, batches;  // masked: 1 a mask to add, 2 a bool one
  double scale, bound, factor;            // numbers below bound drop; factor of what is kept
  u64 seed, block;
  const u64* origin;                      // in a captured step: seed, and what is added to block
};

// attention_batch is where an operand's matrix n begins. Unrolled: places that depend on a register would put all parameters into memory.
HT_FN i64 attention_batch(const Attention& p, int which, u32 n) {
  i64 off = 0;
  HT_UNROLL for (int i = ATT_BATCH - 1; i >= 0; i--) {
    if (i >= p.nb) continue;
    const u32 q = n / (u32)p.bshape[i], r = n - q * (u32)p.bshape[i];
    off += r * p.batch[which][i];
    n = q;
  }
  return off;
}
