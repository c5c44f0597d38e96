// Rows with random numbers: element i takes number i of the call's piece of the stream, as on the CPU.
// In a captured step the seed and the first block of the stream lie on the device, where every replay finds its own: ptr[4] leads there.
#include "map.h"

// draw returns block i of a call's piece of the stream.
HT_FN four draw(const Map& m, u64 i) { return philox(stream_of(m.ptr[4], m.seed, m.block), i); }

// Four elements share a block of Philox. dropout: attr is scale, shift of what is kept, shift of what is dropped; seed and block the
// stream; n counts elements, group of them share a number, and rank and stride are the input's. What is drawn below bound, up to 2^32, is
// dropped. MAP_VECTOR says that both lie in one row of whole vectors, with a number for each element.
struct Dropout {
  Map m;
  i64 group;
  u64 bound;
};
HT_FN bool ht_kept(const Dropout& p, i64 i) { return number_of(draw(p.m, (u64)(i >> 2)), (u64)i) >= p.bound; }
template <class T> HT_FN void dropout(const Dropout& p) {
  typedef typename as<T>::wide C;
  const Map& m = p.m;
  const C scale = (C)m.attr[0], kept = (C)m.attr[1], dropped = (C)m.attr[2];
  const i64 i = ((i64)blockIdx.x * MAP_THREADS + threadIdx.x) * 4;
  if (i >= m.n) return;
  if (m.flags & MAP_VECTOR && i + 4 <= m.n) {
    const int V = 16 / sizeof(T) > 4 ? 4 : 16 / sizeof(T);
    typedef vec<V, T> Vec;
    const Vec* from = (const Vec*)((const T*)m.ptr[1] + i);
    Vec x[4 / V];
    HT_UNROLL for (int k = 0; k < 4 / V; k++) x[k] = from[k];
    const four b = draw(m, (u64)(i >> 2));
    HT_UNROLL for (int k = 0; k < 4; k++) {
      T& e = x[k / V].v[k % V];
      e = narrow<T>::of(b.v[k] >= p.bound ? wide(e) * scale + kept : wide(e) * (C)0 + dropped);
    }
    HT_UNROLL for (int k = 0; k < 4 / V; k++) ((Vec*)((T*)m.ptr[0] + i))[k] = x[k];
    return;
  }
  HT_ROLLED for (i64 j = i; j < i + 4 && j < m.n; j++) {
    i64 off[2];
    offsets<2>(m, j, off);
    const C x = wide(((const T*)m.ptr[1])[off[1]]);
    ((T*)m.ptr[0])[off[0]] = narrow<T>::of(ht_kept(p, j / p.group) ? x * scale + kept : x * (C)0 + dropped);
  }
}
HT_KERNEL(dropout_f16, Dropout, p) { dropout<f16>(p); }
HT_KERNEL(dropout_bf16, Dropout, p) { dropout<bf16>(p); }
HT_KERNEL(dropout_f32, Dropout, p) { dropout<float>(p); }
HT_KERNEL(dropout_f64, Dropout, p) { dropout<double>(p); }

// rrelu: x where at > 0, else x·a with a between attr[0] and attr[0] + attr[1]. rrelu is given x twice, its gradient dy and x.
struct rrelu_row {
  template <class C> HT_FN double f(C x, C at, i64 i, const Map& m) {
    if (at > 0) return (double)x;
    const u32 v = number_of(draw(m, (u64)(i >> 2)), (u64)i);
    return (double)x * (m.attr[0] + m.attr[1] * ((double)v / 4294967296.0));
  }
};
HT_MAP2(rrelu, f16, f16) HT_MAP2(rrelu, bf16, bf16) HT_MAP2(rrelu, f32, float) HT_MAP2(rrelu, f64, double)
