// Copies of many tensors in one launch, as the small gradients that the end of a backward pass takes out of larger ones are. Elements are
// moved by their size.
#include "map.h"

enum { COPY_TENSORS = 24, COPY_THREADS = 256, COPY_EACH = 16 };

struct Copies {
  void* to[COPY_TENSORS];
  const void* from[COPY_TENSORS];
  i64 n[COPY_TENSORS];          // elements
  int block[COPY_TENSORS + 1];  // of the grid, where each tensor begins
  int count, unused[2];
};

template <class W> HT_FN void copies_pass(const Copies& p) {
  const int V = 16 / sizeof(W);
  int k = 0;
  HT_ROLLED while (k + 1 < p.count && (int)blockIdx.x >= p.block[k + 1]) k++;
  const i64 n = p.n[k], first = (i64)((int)blockIdx.x - p.block[k]) * (COPY_THREADS * COPY_EACH);
  W* to = (W*)p.to[k];
  const W* from = (const W*)p.from[k];
  if ((((u64)to | (u64)from) & 15) == 0 && first + COPY_THREADS * COPY_EACH <= n) {
    HT_UNROLL for (int part = 0; part < COPY_EACH / V; part++) {
      const i64 i = first + (i64)(part * COPY_THREADS + threadIdx.x) * V;
      *(vec<V, W>*)(to + i) = *(const vec<V, W>*)(from + i);
    }
    return;
  }
  HT_ROLLED for (int part = 0; part < COPY_EACH; part++) {
    const i64 i = first + part * COPY_THREADS + threadIdx.x;
    if (i >= n) return;
    to[i] = from[i];
  }
}
HT_KERNEL(copies_w8, Copies, p) { copies_pass<unsigned char>(p); }
HT_KERNEL(copies_w16, Copies, p) { copies_pass<unsigned short>(p); }
HT_KERNEL(copies_w32, Copies, p) { copies_pass<u32>(p); }
HT_KERNEL(copies_w64, Copies, p) { copies_pass<u64>(p); }
