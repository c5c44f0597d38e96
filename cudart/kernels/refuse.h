// Indices that are out of range: memory is left alone, and the first of them is noted for the host, which finds it where it waits for the
// device anyway (refused.go).
#pragma once
#include "prelude.h"

// Refused is all ones where nothing was refused. The halves of the value go with its place, so that the smallest place wins whichever thread
// comes first.
struct Refused {
  u64 claim;       // of the launch that was first
  u64 high, low;   // place << 32 | upper and lower half of the value
  i64 first, end;  // indices run from first to end - 1
};
struct Guard {
  Refused* to;  // null: the index was made by a kernel
  u64 claim;
};
HT_MATH void refuse(Guard g, i64 place, i64 value, i64 first, i64 end) {
  if (!g.to) return;
  const u64 before = atomicCAS(&g.to->claim, ~0ull, g.claim);
  if (before != ~0ull && before != g.claim) return;
  atomicMin(&g.to->high, (u64)place << 32 | (u64)value >> 32);
  atomicMin(&g.to->low, (u64)place << 32 | ((u64)value & 0xffffffffull));
  g.to->first = first;
  g.to->end = end;
}
