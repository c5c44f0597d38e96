// Elementwise kernels. The host collapses dimensions first, so that the usual case is one long row; then every thread moves 16 bytes. All
// operands are broadcast to the result's shape, by strides of 0.
#pragma once
#include "prelude.h"

// Map.flags: rows of whole vectors, or one row; of one row without gaps and of one input, n a multiple of a vector, two vectors a thread; a result
// that no cache holds.
enum { MAP_VECTOR = 1, MAP_TWICE = 2, MAP_STREAM = 4 };

struct Map {
  void* ptr[5];       // the result, then the inputs: element 0
  i64 n;              // elements
  int rank, flags;    // at most 8 dimensions, the innermost last
  int shape[8];
  i64 stride[5][8];   // in elements
  double attr[4];
  u64 seed, block;    // of the random stream
};

// The threads of a block; also the host's number. Small blocks leave the last wave of a launch little to wait for.
enum { MAP_THREADS = 128 };

template <int N, class T> struct alignas(N * sizeof(T)) vec { T v[N]; };

// put_vector writes a vector of the result. Of one that no cache holds, lines leave the cache first: they make room for what is read.
template <class V> HT_FN void put_vector(const Map& m, V* to, const V& v) {
#if !defined(HALFTONE_EMULATOR)
  if constexpr (sizeof(V) == 16) {
    if (m.flags & MAP_STREAM) {
      const Chunk w = __builtin_bit_cast(Chunk, v);
      asm volatile("st.global.cs.v4.u32 [%0],{%1,%2,%3,%4};" ::"l"(to), "r"(w.v[0]), "r"(w.v[1]), "r"(w.v[2]), "r"(w.v[3]) : "memory");
      return;
    }
  } else if constexpr (sizeof(V) == 8) {
    if (m.flags & MAP_STREAM) {
      asm volatile("st.global.cs.u64 [%0],%1;" ::"l"(to), "l"(__builtin_bit_cast(u64, v)) : "memory");
      return;
    }
  }
#endif
  *to = v;
}

// vec_of is the number of elements a thread takes at a time: 16 bytes of the widest operand, at most 8.
template <class... T> struct vec_of;
template <class A> struct vec_of<A> { static const int n = 16 / sizeof(A) > 8 ? 8 : 16 / sizeof(A); };
template <class A, class... R> struct vec_of<A, R...> {
  static const int a = vec_of<A>::n, b = vec_of<R...>::n, n = a < b ? a : b;
};

// offsets finds where element i lies in the first N operands. More than one row is for fewer than 2^32 elements (the host looks).
template <int N> HT_FN void offsets(const Map& m, i64 i, i64 (&off)[N]) {
  HT_UNROLL for (int k = 0; k < N; k++) off[k] = 0;
  if (m.rank <= 1) {
    HT_UNROLL for (int k = 0; k < N; k++) off[k] = i * m.stride[k][0];
    return;
  }
  u32 at = (u32)i;
  HT_ROLLED for (int d = m.rank - 1; d >= 0; d--) {
    const u32 size = (u32)m.shape[d], q = at / size, r = at - q * size;
    HT_UNROLL for (int k = 0; k < N; k++) off[k] += r * m.stride[k][d];
    at = q;
  }
}

// map_pass runs step.vector(offsets, element) on whole vectors and step.one(offsets, element) on the rest.
template <int N, int V, class S> HT_FN void map_pass(const Map& m, S&& step) {
  const int width = m.flags & MAP_VECTOR ? V : 1;
  const i64 i = ((i64)blockIdx.x * MAP_THREADS + threadIdx.x) * width;
  if (i >= m.n) return;
  i64 off[N];
  offsets<N>(m, i, off);
  if (width == V && i + V <= m.n) {
    step.vector(off, i);
    return;
  }
  HT_ROLLED for (i64 j = i; j < i + width && j < m.n; j++) {
    step.one(off, j);
    HT_UNROLL for (int k = 0; k < N; k++) off[k] += m.stride[k][m.rank - 1];
  }
}

// gather is V elements of an input: neighbors, or one for all.
template <int V, class T> HT_FN vec<V, T> gather(const Map& m, int k, i64 from) {
  const T* at = (const T*)m.ptr[k] + from;
  if (m.stride[k][m.rank - 1] != 0) return *(const vec<V, T>*)at;
  const T v = *at;
  vec<V, T> x;
  HT_UNROLL for (int i = 0; i < V; i++) x.v[i] = v;
  return x;
}

// F::f(values…, element, m) is computed in the wide type of the first input unless the functor converts. vector only finds and reads its
// elements; map_once writes them.
template <class F, class O, class A> struct Step1 {
  enum { V = vec_of<O, A>::n, inputs = 1 };
  struct Read { vec<V, A> x; };
  const Map& m;
  Read first = {};
  i64 to = -1;
  __device__ __forceinline__ void one(const i64 (&off)[2], i64 i) {
    ((O*)m.ptr[0])[off[0]] = narrow<O>::of(F::f(wide(((const A*)m.ptr[1])[off[1]]), i, m));
  }
  __device__ __forceinline__ void vector(const i64 (&off)[2], i64) { first = Read{gather<V, A>(m, 1, off[1])}, to = off[0]; }
  __device__ __forceinline__ Read read(i64 at) const { return Read{*(const vec<V, A>*)((const A*)m.ptr[1] + at)}; }
  __device__ __forceinline__ void put(i64 at, i64 i, const Read& r) const {
    vec<V, O> out;
    HT_UNROLL for (int k = 0; k < V; k++) out.v[k] = narrow<O>::of(F::f(wide(r.x.v[k]), i + k, m));
    put_vector(m, (vec<V, O>*)((O*)m.ptr[0] + at), out);
  }
};
template <class F, class O, class A, class B> struct Step2 {
  enum { V = vec_of<O, A, B>::n, inputs = 2 };
  struct Read { vec<V, A> x; vec<V, B> y; };
  const Map& m;
  Read first = {};
  i64 to = -1;
  __device__ __forceinline__ void one(const i64 (&off)[3], i64 i) {
    ((O*)m.ptr[0])[off[0]] = narrow<O>::of(F::f(wide(((const A*)m.ptr[1])[off[1]]), wide(((const B*)m.ptr[2])[off[2]]), i, m));
  }
  __device__ __forceinline__ void vector(const i64 (&off)[3], i64) { first = Read{gather<V, A>(m, 1, off[1]), gather<V, B>(m, 2, off[2])}, to = off[0]; }
  __device__ __forceinline__ void put(i64 at, i64 i, const Read& r) const {
    vec<V, O> out;
    HT_UNROLL for (int k = 0; k < V; k++) out.v[k] = narrow<O>::of(F::f(wide(r.x.v[k]), wide(r.y.v[k]), i + k, m));
    put_vector(m, (vec<V, O>*)((O*)m.ptr[0] + at), out);
  }
};
// map_once has one place that computes vectors, for one and, of one input, for two: the two are read before the first is written.
template <class S> HT_FN void map_once(const Map& m) {
  const int V = S::V, hop = MAP_THREADS * V;
  S step{m};
  typename S::Read second;
  i64 i = ((i64)blockIdx.x * MAP_THREADS + threadIdx.x) * V;
  int more = 0;
  bool twice = false;
  if constexpr (S::inputs == 1) {
    if ((twice = m.flags & MAP_TWICE)) {
      i += (i64)blockIdx.x * hop;
      if (i >= m.n) return;
      step.first = step.read(i), step.to = i;
      if (i + hop < m.n) second = step.read(i + hop), more = 1;
    }
  }
  if (!twice) {
    map_pass<1 + S::inputs, V>(m, step);
    if (step.to < 0) return;
  }
  HT_ROLLED for (;; more--) {
    step.put(step.to, i, step.first);
    if (S::inputs > 1 || more == 0) return;
    step.first = second, step.to += hop, i += hop;
  }
}
template <class F, class O, class A> HT_FN void map1(const Map& m) { map_once<Step1<F, O, A>>(m); }
template <class F, class O, class A, class B> HT_FN void map2(const Map& m) { map_once<Step2<F, O, A, B>>(m); }

template <class F, class O, class A, class B, class C> struct Step3 {
  const Map& m;
  __device__ __forceinline__ void one(const i64 (&off)[4], i64 i) {
    ((O*)m.ptr[0])[off[0]] =
        narrow<O>::of(F::f(wide(((const A*)m.ptr[1])[off[1]]), wide(((const B*)m.ptr[2])[off[2]]), wide(((const C*)m.ptr[3])[off[3]]), i, m));
  }
  __device__ __forceinline__ void vector(const i64 (&off)[4], i64 i) {
    const int V = vec_of<O, A, B, C>::n;
    const vec<V, A> x = gather<V, A>(m, 1, off[1]);
    const vec<V, B> y = gather<V, B>(m, 2, off[2]);
    const vec<V, C> z = gather<V, C>(m, 3, off[3]);
    vec<V, O> out;
    HT_UNROLL for (int k = 0; k < V; k++) out.v[k] = narrow<O>::of(F::f(wide(x.v[k]), wide(y.v[k]), wide(z.v[k]), i + k, m));
    *(vec<V, O>*)((O*)m.ptr[0] + off[0]) = out;
  }
};
template <class F, class O, class A, class B, class C> HT_FN void map3(const Map& m) {
  map_pass<4, vec_of<O, A, B, C>::n>(m, Step3<F, O, A, B, C>{m});
}

// A row of the table is one line: UNARY(name, expression of x), BINARY(name, expression of x and y). Expressions see C, the type they are
// computed in, m (m.attr) and i, the element's place.
#define HT_ROW1(name, expr) \
  struct name##_row { template <class C> HT_FN C f(C x, i64 i, const Map& m) { (void)i; (void)m; return (C)(expr); } };
#define HT_ROW2(name, expr) \
  struct name##_row { template <class C> HT_FN C f(C x, C y, i64 i, const Map& m) { (void)i; (void)m; return (C)(expr); } };
#define HT_MAP1(name, S, T) \
  HT_KERNEL(name##_##S, Map, m) { map1<name##_row, T, T>(m); }
#define HT_MAP2(name, S, T) \
  HT_KERNEL(name##_##S, Map, m) { map2<name##_row, T, T, T>(m); }
#define UNARY(name, expr) \
  HT_ROW1(name, expr) HT_MAP1(name, f16, f16) HT_MAP1(name, bf16, bf16) HT_MAP1(name, f32, float) HT_MAP1(name, f64, double)
#define BINARY(name, expr) \
  HT_ROW2(name, expr) HT_MAP2(name, f16, f16) HT_MAP2(name, bf16, bf16) HT_MAP2(name, f32, float) HT_MAP2(name, f64, double)
// As UNARY, of a function computed in float64: for halves and float32 it is rounded at the end.
#define WIDE1(name, expr)                                                                                                      \
  struct name##_row { template <class C> HT_FN double f(C v, i64 i, const Map& m) { (void)i; (void)m; const double x = (double)v; return (expr); } }; \
  HT_MAP1(name, f16, f16) HT_MAP1(name, bf16, bf16) HT_MAP1(name, f32, float) HT_MAP1(name, f64, double)
#define WIDE2(name, expr)                                                                                                      \
  struct name##_row { template <class C> HT_FN double f(C v, C w, i64 i, const Map& m) { (void)i; (void)m; const double x = (double)v, y = (double)w; return (expr); } }; \
  HT_MAP2(name, f16, f16) HT_MAP2(name, bf16, bf16) HT_MAP2(name, f32, float) HT_MAP2(name, f64, double)
// As UNARY and BINARY, with a form for halves, whose error is far below their rounding, one for float32 and one in float64. That for halves sees H,
// their type.
#define FAST1(name, half, single, full)                                                                           \
  template <class H> struct name##_half { HT_FN float f(float x, i64 i, const Map& m) { (void)i; (void)m; return (half); } }; \
  struct name##_one { HT_FN float f(float x, i64 i, const Map& m) { (void)i; (void)m; return (single); } };       \
  struct name##_two { HT_FN double f(double x, i64 i, const Map& m) { (void)i; (void)m; return (full); } };       \
  HT_KERNEL(name##_f16, Map, m) { map1<name##_half<f16>, f16, f16>(m); }                                          \
  HT_KERNEL(name##_bf16, Map, m) { map1<name##_half<bf16>, bf16, bf16>(m); }                                      \
  HT_KERNEL(name##_f32, Map, m) { map1<name##_one, float, float>(m); }                                            \
  HT_KERNEL(name##_f64, Map, m) { map1<name##_two, double, double>(m); }
#define FAST2(name, half, single, full)                                                                           \
  template <class H> struct name##_half { HT_FN float f(float x, float y, i64 i, const Map& m) { (void)i; (void)m; return (half); } }; \
  struct name##_one { HT_FN float f(float x, float y, i64 i, const Map& m) { (void)i; (void)m; return (single); } }; \
  struct name##_two { HT_FN double f(double x, double y, i64 i, const Map& m) { (void)i; (void)m; return (full); } }; \
  HT_KERNEL(name##_f16, Map, m) { map2<name##_half<f16>, f16, f16, f16>(m); }                                     \
  HT_KERNEL(name##_bf16, Map, m) { map2<name##_half<bf16>, bf16, bf16, bf16>(m); }                                \
  HT_KERNEL(name##_f32, Map, m) { map2<name##_one, float, float, float>(m); }                                     \
  HT_KERNEL(name##_f64, Map, m) { map2<name##_two, double, double, double>(m); }
