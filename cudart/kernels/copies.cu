// Copies and casts of many tensors in one launch: the small gradients that the end of a backward pass takes out of larger ones, and the
// input, weight and bias that a layer is given in halves. Copies move elements by their size.
#include "map.h"

enum { COPY_TENSORS = 24, COPY_THREADS = 256, COPY_EACH = 16 };

struct Copies {
  void* to[COPY_TENSORS];
  const void* from[COPY_TENSORS];
  i64 n[COPY_TENSORS];          // elements
  int block[COPY_TENSORS + 1];  // of the grid, where each tensor begins
  int count, unused[2];
};

template <class A, class O> struct Cast {
  HT_FN O one(A x) { return narrow<O>::of(wide(x)); }
};
template <class W> struct Cast<W, W> {
  HT_FN W one(W x) { return x; }
};

// copies_pass moves 16 bytes of the wider type at a time where both tensors lie so: neighbors among the lanes are neighbors in memory, in what
// is read and in what is written. All of a thread's elements are read before the first is written.
template <class A, class O> HT_FN void copies_pass(const Copies& p) {
  const int V = vec_of<A, O>::n, PARTS = COPY_EACH / V;
  int k = 0;
  HT_ROLLED while (k + 1 < p.count && (int)blockIdx.x >= p.block[k + 1]) k++;
  const i64 n = p.n[k], first = (i64)((int)blockIdx.x - p.block[k]) * (COPY_THREADS * COPY_EACH);
  O* to = (O*)p.to[k];
  const A* from = (const A*)p.from[k];
  if ((((u64)to | (u64)from) & 15) == 0 && first + COPY_THREADS * COPY_EACH <= n) {
    vec<V, A> x[PARTS];
    HT_UNROLL for (int part = 0; part < PARTS; part++) x[part] = *(const vec<V, A>*)(from + first + (i64)(part * COPY_THREADS + threadIdx.x) * V);
    HT_UNROLL for (int part = 0; part < PARTS; part++) {
      vec<V, O> y;
      HT_UNROLL for (int q = 0; q < V; q++) y.v[q] = Cast<A, O>::one(x[part].v[q]);
      *(vec<V, O>*)(to + first + (i64)(part * COPY_THREADS + threadIdx.x) * V) = y;
    }
    return;
  }
  HT_ROLLED for (int part = 0; part < COPY_EACH; part++) {
    const i64 i = first + part * COPY_THREADS + threadIdx.x;
    if (i >= n) return;
    to[i] = Cast<A, O>::one(from[i]);
  }
}
HT_KERNEL(copies_w8, Copies, p) { copies_pass<unsigned char, unsigned char>(p); }
HT_KERNEL(copies_w16, Copies, p) { copies_pass<unsigned short, unsigned short>(p); }
HT_KERNEL(copies_w32, Copies, p) { copies_pass<u32, u32>(p); }
HT_KERNEL(copies_w64, Copies, p) { copies_pass<u64, u64>(p); }
HT_KERNEL(casts_f32_f16, Copies, p) { copies_pass<float, f16>(p); }
HT_KERNEL(casts_f32_bf16, Copies, p) { copies_pass<float, bf16>(p); }
HT_KERNEL(casts_f16_f32, Copies, p) { copies_pass<f16, float>(p); }
HT_KERNEL(casts_bf16_f32, Copies, p) { copies_pass<bf16, float>(p); }
