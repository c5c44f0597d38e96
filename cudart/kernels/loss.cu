// Losses of two tensors: one element each (NAME), or summed up at once (NAME_sum); attr[0] is the row's number, attr[1] its mode, attr[2]
// the factor of the sum. Those with weights are summed by another kernel. Computed in float64.
#include "map.h"
#include "reduce.h"
#include "refuse.h"
#include "special.h"

#define LOSS(name, expr)                                                                            \
  struct name##_of { HT_FN double f(double x, double t, const double* a) { (void)a; return (expr); } }; \
  LOSS_OF(name, f16, f16) LOSS_OF(name, bf16, bf16) LOSS_OF(name, f32, float) LOSS_OF(name, f64, double)
#define LOSS_OF(name, S, T)                                                                  \
  HT_KERNEL(name##_##S, Map, m) { map2<LossRow<name##_of>, T, T, T>(m); }                    \
  HT_KERNEL(name##_sum_##S, Reduce, p) { reduce_pass<LossSum<name##_of>, 2, T, T>(p); }

template <class L> struct LossRow {
  template <class C> HT_FN double f(C x, C t, i64, const Map& m) { return L::f((double)x, (double)t, m.attr); }
};
template <class L> struct LossSum {
  typedef double A;
  HT_FN A start(const Reduce&) { return 0; }
  template <class C> HT_FN void step(A& a, C x, C t, i64, const Reduce& p) { a += L::f((double)x, (double)t, p.attr); }
  HT_FN void merge(A& a, const A& b) { a += b; }
  HT_FN double finish(A a, const Reduce& p) { return a * p.attr[2]; }
};

HT_FN double ht_huber(double d, double delta) { return d > delta ? delta * (d - delta / 2) : d * d / 2; }
HT_FN double ht_smooth(double d, double beta) { return d >= beta ? d - beta / 2 : d * d / (2 * beta); }
HT_FN double ht_hinge(double x, double t, double margin) {
  double y = t != -1 ? x : 0.0;
  if (t != 1) y += margin - x > 0 || x != x ? margin - x : 0.0;
  return y;
}
HT_FN double ht_kl(double x, double t, double log_target) { return log_target != 0 ? exp64(t) * (t - x) : (t == 0 ? 0.0 : t * (log64(t) - x)); }
// mode 1: x is the logarithm of the rate; mode 2: Stirling's term is added.
HT_FN double ht_poisson(double x, double t, double eps, double mode) {
  const int m = (int)mode;
  double y = m & 1 ? exp64(x) - t * x : x - t * log64(x + eps);
  if (t > 1 && (m & 2)) y += t * log64(t) - t + 0.5 * log64(2 * 3.141592653589793 * t);
  return y;
}
LOSS(mse_loss, (x - t) * (x - t))
LOSS(l1_loss, ht_abs(x - t))
LOSS(huber_loss, ht_huber(ht_abs(x - t), a[0]))
LOSS(smooth_l1_loss, ht_smooth(ht_abs(x - t), a[0]))
LOSS(soft_margin_loss, softplus64(-x * t))
LOSS(hinge_embedding_loss, ht_hinge(x, t, a[0]))
LOSS(kl_div, ht_kl(x, t, a[1]))
LOSS(poisson_nll_loss, ht_poisson(x, t, a[0], a[1]))

// The binary cross entropies: x, target, weight and positive weight, of which those not given are one 1 repeated. The result may be of
// a wider dtype, to be summed.
struct bce_logits_row {
  template <class C> HT_FN double f(C u, C v, C w, C q, const Map&) {
    const double x = (double)u, t = (double)v, p = (double)q;
    if (p == 1 && !ht_isinf(x)) return (double)w * (softplus64(x) - x * t);
    return (double)w * ((1 - t) * x + (1 + (p - 1) * t) * softplus64(-x));
  }
};
HT_FN double ht_held_log(double v) { return v > -100 || v != v ? v : -100.0; }
struct bce_row {
  template <class C> HT_FN double f(C u, C v, C w, C, const Map&) {
    const double x = (double)u, t = (double)v;
    return (double)w * (-t * ht_held_log(log64(x)) - (1 - t) * ht_held_log(log1p64(-x)));
  }
};
// ptr[3] and ptr[4] may be null.
template <class F, class O, class T> struct StepWeighted {
  const Map& m;
  __device__ __forceinline__ void one(const i64 (&off)[5], i64) {
    typedef typename as<T>::wide C;
    const C w = m.ptr[3] ? wide(((const T*)m.ptr[3])[off[3]]) : (C)1, p = m.ptr[4] ? wide(((const T*)m.ptr[4])[off[4]]) : (C)1;
    ((O*)m.ptr[0])[off[0]] = narrow<O>::of(F::f(wide(((const T*)m.ptr[1])[off[1]]), wide(((const T*)m.ptr[2])[off[2]]), w, p, m));
  }
  __device__ __forceinline__ void vector(const i64 (&off)[5], i64 i) { one(off, i); }
};
#define WEIGHTED(S, T, D, O)                                                                                                          \
  HT_KERNEL(binary_cross_entropy_with_logits_##S##_##D, Map, m) { map_pass<5, 1>(m, StepWeighted<bce_logits_row, O, T>{m}); } \
  HT_KERNEL(binary_cross_entropy_##S##_##D, Map, m) { map_pass<5, 1>(m, StepWeighted<bce_row, O, T>{m}); }
WEIGHTED(f16, f16, f16, f16) WEIGHTED(f16, f16, f32, float) WEIGHTED(bf16, bf16, bf16, bf16) WEIGHTED(bf16, bf16, f32, float)
WEIGHTED(f32, float, f32, float) WEIGHTED(f64, double, f64, double)

// nll_loss: logp [rows, classes, places] by strides, one target per row and place.
struct Classes {
  void* out;
  const void *x, *weight;  // weight [classes] or null
  const i64* target;       // by strides, too
  double* partial;         // [blocks][2]: sum of losses, and of weights
  i64 n, places, classes, ignore;
  i64 row, column;         // of x
  int rank, reduce;        // of the places; 0 mean, 1 sum, 2 none
  int shape[8];            // of the target: rows, then places
  i64 xstride[8], tstride[8], dstride[8];
  i64 wstride, blocks;
  Guard guard;
};
enum { CLASS_THREADS = 256 };

template <class T> HT_FN void class_pass(const Classes& p) {
  __shared__ double cell[2][CLASS_THREADS];
  double loss = 0, total = 0;
  for (i64 i = (i64)blockIdx.x * CLASS_THREADS + threadIdx.x; i < p.n; i += p.blocks * CLASS_THREADS) {
    u32 at = (u32)i;
    i64 x = 0, t = 0;
    HT_ROLLED for (int d = p.rank - 1; d >= 0; d--) {
      const u32 q = at / (u32)p.shape[d], r = at - q * (u32)p.shape[d];
      x += r * p.xstride[d];
      t += r * p.tstride[d];
      at = q;
    }
    const i64 c = p.target[t];
    double v = 0;
    if (c != p.ignore && c >= 0 && c < p.classes) {
      const double w = p.weight ? (double)wide(((const T*)p.weight)[c * p.wstride]) : 1.0;
      v = (double)wide(((const T*)p.x)[x + c * p.column]) * -w;
      total += w;
    } else if (c != p.ignore) {
      v = ht_nan64();  // no such class
      refuse(p.guard, i, c, 0, p.classes);
    }
    loss += v;
    if (p.reduce == 2) ((T*)p.out)[i] = narrow<T>::of(v);
  }
  if (p.reduce == 2) return;
  cell[0][threadIdx.x] = loss;
  cell[1][threadIdx.x] = total;
  __syncthreads();
  for (int half = CLASS_THREADS / 2; half > 0; half >>= 1) {
    if ((int)threadIdx.x < half) {
      cell[0][threadIdx.x] += cell[0][threadIdx.x + half];
      cell[1][threadIdx.x] += cell[1][threadIdx.x + half];
    }
    __syncthreads();
  }
  if (threadIdx.x == 0) p.partial[2 * blockIdx.x] = cell[0][0], p.partial[2 * blockIdx.x + 1] = cell[1][0];
}
// class_total adds the blocks up in their order, for the loss, and for its gradient the factor -1/total into partial[0].
template <class T> HT_FN void class_total(const Classes& p, bool slope) {
  if (threadIdx.x != 0) return;
  double loss = 0, total = 0;
  for (i64 b = 0; b < p.blocks; b++) loss += p.partial[2 * b], total += p.partial[2 * b + 1];
  if (slope) p.partial[0] = p.reduce == 0 ? -1 / total : -1.0;
  else ((T*)p.out)[0] = narrow<T>::of(p.reduce == 0 ? loss / total : loss);
}
// class_slope writes every element of the gradient [rows, classes, places], zeros too.
template <class T> HT_FN void class_slope(const Classes& p) {
  const i64 i = (i64)blockIdx.x * CLASS_THREADS + threadIdx.x, all = p.n * p.classes;
  if (i >= all) return;
  i64 place = 0, q = i;
  if (p.places != 1) q = i / p.places, place = i - q * p.places;
  const i64 row = q / p.classes, c = q - row * p.classes;
  i64 d0 = row * p.dstride[0], t = row * p.tstride[0];
  if (p.rank != 1) {
    u32 at = (u32)(row * p.places + place);
    d0 = t = 0;
    HT_ROLLED for (int d = p.rank - 1; d >= 0; d--) {
      const u32 size = (u32)p.shape[d], rest = at / size, r = at - rest * size;
      d0 += r * p.dstride[d];
      t += r * p.tstride[d];
      at = rest;
    }
  }
  double v = 0;
  if (p.target[t] == c && c != p.ignore) {
    const double w = p.weight ? (double)wide(((const T*)p.weight)[c * p.wstride]) : 1.0;
    v = (double)wide(((const T*)p.x)[d0]) * (p.partial[0] * w);
  }
  ((T*)p.out)[i] = narrow<T>::of(v);
}
#define CLASSES(S, T)                                                           \
  HT_KERNEL(nll_loss_##S, Classes, p) { class_pass<T>(p); }                     \
  HT_KERNEL(nll_total_##S, Classes, p) { class_total<T>(p, false); }            \
  HT_KERNEL(nll_factor_##S, Classes, p) { class_total<T>(p, true); }            \
  HT_KERNEL(nll_loss_backward_##S, Classes, p) { class_slope<T>(p); }
CLASSES(f16, f16) CLASSES(bf16, bf16) CLASSES(f32, float) CLASSES(f64, double)
