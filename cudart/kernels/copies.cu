// Copies and casts of many tensors in one launch: the small gradients that the end of a backward pass takes out of larger ones, and the
// input, weight and bias that a layer is given in halves. Copies move elements by their size.
#include "lists.h"

enum { COPY_EACH = 16 };

struct Copies {
  void* to[LIST_TENSORS];
  const void* from[LIST_TENSORS];
  List list;
  u32* told[LIST_TENSORS];  // becomes 1 unless all halves that become float32 are finite; or null
};

template <class A, class O> struct Cast {
  HT_FN O one(A x) { return narrow<O>::of(wide(x)); }
};
template <class W> struct Cast<W, W> {
  HT_FN W one(W x) { return x; }
};

// copies_pass moves 16 bytes of the wider type at a time where both tensors lie so: neighbors among the lanes are neighbors in memory, in what
// is read and in what is written. All of a thread's elements are read before the first is written. What is left of a tensor then, less than a
// vector, has a thread for each. Tensors that lie otherwise are read four elements at a time. Casts of halves to float32 tell whether all were
// finite; see cudart/verdicts.go.
template <class A, class O> HT_FN void copies_pass(const Copies& p) {
  const int V = vec_of<A, O>::n, PARTS = COPY_EACH / V, AHEAD = 4;
  const bool TELLS = sizeof(A) < sizeof(O);
  const ListBlock b = list_block(p.list, COPY_EACH);
  const int all = LIST_THREADS * COPY_EACH, left = b.n - b.first < all ? (int)(b.n - b.first) : all;
  O* to = (O*)p.to[b.k] + b.first;
  const A* from = (const A*)p.from[b.k] + b.first;
  Finite<float> finite;
  auto look = [&](A x) {
    if constexpr (TELLS) finite.see(wide(x));
  };
  auto tell = [&] {
    if (TELLS && !finite.all() && p.told[b.k]) *p.told[b.k] = 1;
  };
  if ((((u64)p.to[b.k] | (u64)p.from[b.k]) & 15) == 0) {
    vec<V, A> x[PARTS];
    HT_UNROLL for (int part = 0; part < PARTS; part++) {
      const int i = (part * LIST_THREADS + threadIdx.x) * V;
      if (i + V <= left) x[part] = *(const vec<V, A>*)(from + i);
    }
    HT_UNROLL for (int part = 0; part < PARTS; part++) {
      const int i = (part * LIST_THREADS + threadIdx.x) * V;
      vec<V, O> y;
      HT_UNROLL for (int q = 0; q < V; q++) y.v[q] = Cast<A, O>::one(x[part].v[q]);
      if (i + V > left) continue;
      *(vec<V, O>*)(to + i) = y;
      HT_UNROLL for (int q = 0; q < V; q++) look(x[part].v[q]);
    }
    const int rest = left / V * V + threadIdx.x;
    if (rest < left) {
      const A last = from[rest];
      to[rest] = Cast<A, O>::one(last);
      look(last);
    }
    tell();
    return;
  }
  HT_ROLLED for (int part = 0; part < COPY_EACH; part += AHEAD) {
    A x[AHEAD];
    HT_UNROLL for (int j = 0; j < AHEAD; j++) {
      const int i = (part + j) * LIST_THREADS + threadIdx.x;
      if (i < left) x[j] = from[i];
    }
    HT_UNROLL for (int j = 0; j < AHEAD; j++) {
      const int i = (part + j) * LIST_THREADS + threadIdx.x;
      if (i < left) to[i] = Cast<A, O>::one(x[j]), look(x[j]);
    }
  }
  tell();
}
HT_KERNEL(copies_w8, Copies, p) { copies_pass<unsigned char, unsigned char>(p); }
HT_KERNEL(copies_w16, Copies, p) { copies_pass<unsigned short, unsigned short>(p); }
HT_KERNEL(copies_w32, Copies, p) { copies_pass<u32, u32>(p); }
HT_KERNEL(copies_w64, Copies, p) { copies_pass<u64, u64>(p); }
HT_KERNEL(casts_f32_f16, Copies, p) { copies_pass<float, f16>(p); }
HT_KERNEL(casts_f32_bf16, Copies, p) { copies_pass<float, bf16>(p); }
HT_KERNEL(casts_f16_f32, Copies, p) { copies_pass<f16, float>(p); }
HT_KERNEL(casts_bf16_f32, Copies, p) { copies_pass<bf16, float>(p); }
