// Pools: a thread per element of the result goes through its window; the gradient of an average through the windows that hold it.
#include "prelude.h"

enum { POOL_THREADS = 256 };
struct Pool {
  void* out;
  const void* x;
  i64 n;                                            // elements of the result
  int in[3], size[3];                               // of a plane: of the pool's input and of its output
  int kernel[3], stride[3], padding[3], dilation[3];  // kernel[0] == 0: the windows follow from the sizes
  int count_padding, unused;
  double divisor;                                   // 0: the number of elements
};

// Span is the range of a window along a dimension: elements lo, lo + step … below hi; size counts padding, too.
struct Span { int lo, hi, step, size; };
HT_FN Span pool_span(const Pool& p, int d, int i) {
  if (p.kernel[0] == 0) {
    const int lo = (int)((i64)i * p.in[d] / p.size[d]), hi = (int)(((i64)(i + 1) * p.in[d] + p.size[d] - 1) / p.size[d]);
    return Span{lo, hi, 1, hi - lo};
  }
  int lo = i * p.stride[d] - p.padding[d];
  const int hi = lo + p.dilation[d] * (p.kernel[d] - 1) + 1, end = p.in[d] + p.padding[d];
  const int size = (hi < end ? hi : end) - lo;
  if (lo < 0) lo += (-lo + p.dilation[d] - 1) / p.dilation[d] * p.dilation[d];
  return Span{lo, hi < p.in[d] ? hi : p.in[d], p.dilation[d], size};
}
HT_FN int span_count(const Span& s) { return s.hi > s.lo ? (s.hi - s.lo - 1) / s.step + 1 : 0; }
HT_FN double pool_divisor(const Pool& p, const Span& a, const Span& b, const Span& c) {
  const i64 n = (i64)span_count(a) * span_count(b) * span_count(c);
  if (n == 0) return 0;
  if (p.divisor != 0) return p.divisor;
  return p.kernel[0] != 0 && p.count_padding ? (double)a.size * b.size * c.size : (double)n;
}
struct Place3 { i64 plane; int z, y, x; };
HT_FN Place3 pool_place(const int (&size)[3], i64 i) {
  Place3 o;
  o.x = (int)(i % size[2]), i /= size[2];
  o.y = (int)(i % size[1]), i /= size[1];
  o.z = (int)(i % size[0]), o.plane = i / size[0];
  return o;
}

// max_pool: the value, or with Index the place in the plane, -1 for a window of padding alone.
template <class T, bool Index> HT_FN void max_pass(const Pool& p) {
  typedef typename as<T>::wide C;
  const i64 i = (i64)blockIdx.x * POOL_THREADS + threadIdx.x;
  if (i >= p.n) return;
  const Place3 o = pool_place(p.size, i);
  const Span a = pool_span(p, 0, o.z), b = pool_span(p, 1, o.y), c = pool_span(p, 2, o.x);
  const T* x = (const T*)p.x + o.plane * p.in[0] * p.in[1] * p.in[2];
  C most = -ht_inf<C>();
  i64 best = -1;
  for (int z = a.lo; z < a.hi; z += a.step)
    for (int y = b.lo; y < b.hi; y += b.step)
      for (int q = c.lo; q < c.hi; q += c.step) {
        const i64 at = ((i64)z * p.in[1] + y) * p.in[2] + q;
        const C v = wide(x[at]);
        if (Index ? v > most || v != v || best < 0 : (v > most || v != v) && !(most != most)) most = v, best = at;
      }
  if (Index) ((i64*)p.out)[i] = best;
  else ((T*)p.out)[i] = narrow<T>::of(most);
}
template <class T> HT_FN void avg_pass(const Pool& p) {
  typedef typename as<T>::wide C;
  const i64 i = (i64)blockIdx.x * POOL_THREADS + threadIdx.x;
  if (i >= p.n) return;
  const Place3 o = pool_place(p.size, i);
  const Span a = pool_span(p, 0, o.z), b = pool_span(p, 1, o.y), c = pool_span(p, 2, o.x);
  const T* x = (const T*)p.x + o.plane * p.in[0] * p.in[1] * p.in[2];
  C sum = 0;
  for (int z = a.lo; z < a.hi; z++)
    for (int y = b.lo; y < b.hi; y++)
      for (int q = c.lo; q < c.hi; q++) sum += wide(x[((i64)z * p.in[1] + y) * p.in[2] + q]);
  const double by = pool_divisor(p, a, b, c);
  if (by != 0) sum /= (C)by;
  ((T*)p.out)[i] = narrow<T>::of(sum);
}
// The windows that may hold element i of dimension d: first and last.
HT_FN void pool_windows(const Pool& p, int d, int i, int& lo, int& hi) {
  if (p.kernel[0] == 0) {
    lo = (int)((i64)i * p.size[d] / p.in[d]) - 1, hi = (int)(((i64)(i + 1) * p.size[d]) / p.in[d]) + 1;
  } else {
    const int at = i + p.padding[d] - p.kernel[d] + 1;
    lo = at <= 0 ? 0 : (at + p.stride[d] - 1) / p.stride[d], hi = (i + p.padding[d]) / p.stride[d];
  }
  if (lo < 0) lo = 0;
  if (hi > p.size[d] - 1) hi = p.size[d] - 1;
}
template <class T> HT_FN void avg_slope(const Pool& p) {
  typedef typename as<T>::wide C;
  const i64 i = (i64)blockIdx.x * POOL_THREADS + threadIdx.x;
  if (i >= p.n) return;
  const Place3 o = pool_place(p.in, i);
  int z0, z1, y0, y1, x0, x1;
  pool_windows(p, 0, o.z, z0, z1), pool_windows(p, 1, o.y, y0, y1), pool_windows(p, 2, o.x, x0, x1);
  const T* dy = (const T*)p.x + o.plane * p.size[0] * p.size[1] * p.size[2];
  C sum = 0;
  for (int z = z0; z <= z1; z++)
    for (int y = y0; y <= y1; y++)
      for (int x = x0; x <= x1; x++) {
        const Span a = pool_span(p, 0, z), b = pool_span(p, 1, y), c = pool_span(p, 2, x);
        if (o.z < a.lo || o.z >= a.hi || o.y < b.lo || o.y >= b.hi || o.x < c.lo || o.x >= c.hi) continue;
        const double by = pool_divisor(p, a, b, c);
        if (by != 0) sum += wide(dy[((i64)z * p.size[1] + y) * p.size[2] + x]) / (C)by;
      }
  ((T*)p.out)[i] = narrow<T>::of(sum);
}
#define POOLS(S, T)                                                             \
  HT_KERNEL(max_pool_##S, Pool, p) { max_pass<T, false>(p); }                   \
  HT_KERNEL(max_pool_indices_##S, Pool, p) { max_pass<T, true>(p); }            \
  HT_KERNEL(avg_pool_##S, Pool, p) { avg_pass<T>(p); }                          \
  HT_KERNEL(avg_pool_backward_##S, Pool, p) { avg_slope<T>(p); }
POOLS(f16, f16) POOLS(bf16, bf16) POOLS(f32, float) POOLS(f64, double)
