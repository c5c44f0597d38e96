// Steps of optimizers on lists of tensors, and the unscaling of gradients with its test for infinity and NaN. Inverse scale, found-inf,
// learning rate and step are read on the device where the host gives their addresses, so that a step needs no word from it.
#include "map.h"
#include "special.h"

enum { UPDATE_TENSORS = 24, UPDATE_STATE = 3, UPDATE_THREADS = 256, UPDATE_EACH = 4 };
enum { UPDATE_MAXIMIZE = 1, UPDATE_NESTEROV = 2, UPDATE_FIRST = 4, UPDATE_DECOUPLED = 8, UPDATE_VECTOR = 16, UNSCALE_KEEP = 32, UPDATE_LEAVE = 64 };

struct Update {
  void* ptr[2 + UPDATE_STATE][UPDATE_TENSORS];  // parameters, gradients, state (null if there is none)
  i64 n[UPDATE_TENSORS];
  int block[UPDATE_TENSORS + 1];  // of the grid, where each tensor begins
  int count, flags;
  const float *inv, *found;  // of a fused step; null otherwise
  const i64* steps;          // taken before this one, to be added to attr[1]; or null
  const double* rate;        // learning rate instead of attr[0]; or null
  float* used;               // becomes what whoever multiplies the gradients later is to take, 1 for a skipped step; or null
  double attr[10];           // see each kernel; attr[8] is the step that finds its state empty where steps are counted here
};

HT_FN double update_rate(const Update& p) { const double own = held(p.attr[0]); return p.rate ? *p.rate : own; }
HT_FN double update_step(const Update& p) { return p.attr[1] + (p.steps ? (double)*p.steps : 0); }
// update_flags are the flags with UPDATE_FIRST as it is now.
HT_FN int update_flags(const Update& p) {
  if (!p.steps) return p.flags;
  return update_step(p) == p.attr[8] ? p.flags | UPDATE_FIRST : p.flags & ~UPDATE_FIRST;
}

// A Rule moves one element: x parameter, g gradient, s state. Its numbers, which may take powers in float64, one thread of a block computes
// while the others' elements are on their way.
template <class Rule, class T> HT_FN void update_pass(const Update& p) {
  typedef typename as<T>::wide C;
  const int V = 16 / sizeof(T) > 4 ? 4 : 16 / sizeof(T);
  __shared__ Rule numbers;
  const bool skips = p.found && *p.found != 0;
  if (p.used && blockIdx.x == 0 && threadIdx.x == 0) *p.used = skips ? 1 : *p.inv;
  if (skips) return;
  int k = 0;
  HT_ROLLED while (k + 1 < p.count && (int)blockIdx.x >= p.block[k + 1]) k++;
  const i64 n = p.n[k];
  const C inv = p.inv ? (C)*p.inv : (C)1;
  T *x = (T*)p.ptr[0][k], *g = (T*)p.ptr[1][k];
  T* state[UPDATE_STATE] = {(T*)p.ptr[2][k], (T*)p.ptr[3][k], (T*)p.ptr[4][k]};
  const i64 from = (i64)((int)blockIdx.x - p.block[k]) * (UPDATE_THREADS * UPDATE_EACH);
  const bool vectors = p.flags & UPDATE_VECTOR, divides = inv != 1 && !(p.flags & UPDATE_LEAVE);
  struct alignas(V * sizeof(T)) Vec { T v[V]; };
  if (threadIdx.x == 0) numbers.begin(p);  // in registers that the elements take then
  if (vectors && from + UPDATE_THREADS * UPDATE_EACH <= n) {
    const int PARTS = UPDATE_EACH / V;
    Vec a[PARTS], d[PARTS], s[PARTS][UPDATE_STATE];
    HT_UNROLL for (int part = 0; part < PARTS; part++) {
      const i64 i = from + (i64)(part * UPDATE_THREADS + threadIdx.x) * V;
      a[part] = *(Vec*)(x + i), d[part] = *(Vec*)(g + i);
      HT_UNROLL for (int j = 0; j < Rule::states; j++) if (state[j]) s[part][j] = *(Vec*)(state[j] + i);
    }
    __syncthreads();
    const Rule rule = numbers;
    HT_UNROLL for (int part = 0; part < PARTS; part++) {
      const i64 i = from + (i64)(part * UPDATE_THREADS + threadIdx.x) * V;
      HT_UNROLL for (int q = 0; q < V; q++) {
        C v = wide(a[part].v[q]), e = wide(d[part].v[q]) * inv, st[UPDATE_STATE] = {0, 0, 0};
        d[part].v[q] = narrow<T>::of(e);
        HT_UNROLL for (int j = 0; j < Rule::states; j++) if (state[j]) st[j] = wide(s[part][j].v[q]);
        rule.move(v, e, st, state[0] != nullptr, state[1] != nullptr, state[2] != nullptr);
        a[part].v[q] = narrow<T>::of(v);
        HT_UNROLL for (int j = 0; j < Rule::states; j++) if (state[j]) s[part][j].v[q] = narrow<T>::of(st[j]);
      }
      *(Vec*)(x + i) = a[part];
      if (divides) *(Vec*)(g + i) = d[part];
      HT_UNROLL for (int j = 0; j < Rule::states; j++) if (state[j]) *(Vec*)(state[j] + i) = s[part][j];
    }
    return;
  }
  __syncthreads();
  const Rule rule = numbers;
  HT_ROLLED for (int part = 0; part < UPDATE_EACH; part++) {
    const i64 i = from + part * UPDATE_THREADS + threadIdx.x;
    if (i >= n) return;
    C v = wide(x[i]), e = wide(g[i]) * inv, st[UPDATE_STATE] = {0, 0, 0};
    if (divides) g[i] = narrow<T>::of(e);
    HT_UNROLL for (int j = 0; j < Rule::states; j++) if (state[j]) st[j] = wide(state[j][i]);
    rule.move(v, e, st, state[0] != nullptr, state[1] != nullptr, state[2] != nullptr);
    x[i] = narrow<T>::of(v);
    HT_UNROLL for (int j = 0; j < Rule::states; j++) if (state[j]) state[j][i] = narrow<T>::of(st[j]);
  }
}

template <class C> HT_FN C ht_lerp(C a, C b, C w) { return w < (C)0.5 ? a + w * (b - a) : b - (b - a) * (1 - w); }

// sgd: attr is the learning rate, -, momentum, 1 - dampening, weight decay. State: the momentum buffer.
template <class C> struct SGD {
  static const int states = 1;
  C lr, momentum, fresh, decay;
  int flags;
  __device__ __forceinline__ void begin(const Update& p) {
    lr = (C)update_rate(p), momentum = (C)p.attr[2], fresh = (C)p.attr[3], decay = (C)p.attr[4], flags = update_flags(p);
  }
  __device__ __forceinline__ void move(C& x, C d, C (&s)[UPDATE_STATE], bool has, bool, bool) const {
    if (flags & UPDATE_MAXIMIZE) d = -d;
    if (decay != 0) d += decay * x;
    if (has) {
      s[0] = flags & UPDATE_FIRST ? d : momentum * s[0] + fresh * d;
      d = flags & UPDATE_NESTEROV ? d + momentum * s[0] : s[0];
    }
    x -= lr * d;
  }
};

// adam: attr is the learning rate, step, beta1, beta2, eps, weight decay, and 1 - beta1^step and √(1 - beta2^step) where the host knows the
// step. State: mean, square, largest.
template <class C> struct Adam {
  static const int states = 3;
  C rate, root, eps, b2, new1, new2, decay, shrink;
  int flags;
  __device__ __forceinline__ void begin(const Update& p) {
    flags = p.flags;
    const double lr = update_rate(p);
    double c = p.attr[6], q = p.attr[7];
    if (p.steps) {
      const double step = update_step(p);
      c = 1 - ht_pow(p.attr[2], step);
      q = ht_sqrt(1 - ht_pow(p.attr[3], step));
    }
    rate = (C)(lr / c), root = (C)q, eps = (C)p.attr[4], b2 = (C)p.attr[3], new1 = (C)(1 - p.attr[2]), new2 = (C)(1 - p.attr[3]);
    decay = flags & UPDATE_DECOUPLED ? 0 : (C)p.attr[5];
    shrink = flags & UPDATE_DECOUPLED ? (C)(1 - lr * p.attr[5]) : 1;
  }
  __device__ __forceinline__ void move(C& x, C d, C (&s)[UPDATE_STATE], bool, bool, bool top) const {
    if (flags & UPDATE_MAXIMIZE) d = -d;
    if (decay != 0) d += decay * x;
    s[0] = ht_lerp(s[0], d, new1);
    s[1] = b2 * s[1] + new2 * d * d;
    C q = s[1];
    if (top) {
      if (q > s[2] || q != q) s[2] = q;
      q = s[2];
    }
    x = x * shrink - rate * s[0] / (ht_sqrt(q) / root + eps);
  }
};
#define UPDATE(name, Rule)                                                                                   \
  HT_KERNEL_TIMES(UPDATE_THREADS, 4, name##_f16, Update, p) { update_pass<Rule<float>, f16>(p); }            \
  HT_KERNEL_TIMES(UPDATE_THREADS, 4, name##_bf16, Update, p) { update_pass<Rule<float>, bf16>(p); }          \
  HT_KERNEL_TIMES(UPDATE_THREADS, 4, name##_f32, Update, p) { update_pass<Rule<float>, float>(p); }          \
  HT_KERNEL(name##_f64, Update, p) { update_pass<Rule<double>, double>(p); }
UPDATE(sgd, SGD)
UPDATE(adam, Adam)

// rmsprop: attr is the learning rate, -, alpha, momentum, eps, weight decay. State: square, momentum, mean (centered).
// adagrad: attr is the learning rate, step, its decay, -, eps, weight decay. State: sum.
template <class C> struct RMSProp {
  static const int states = 3;
  C lr, alpha, fresh, momentum, eps, decay;
  int flags;
  __device__ __forceinline__ void begin(const Update& p) {
    lr = (C)update_rate(p), alpha = (C)p.attr[2], fresh = (C)(1 - p.attr[2]), momentum = (C)p.attr[3], eps = (C)p.attr[4], decay = (C)p.attr[5];
    flags = p.flags;
  }
  __device__ __forceinline__ void move(C& x, C d, C (&s)[UPDATE_STATE], bool, bool has, bool centered) const {
    if (flags & UPDATE_MAXIMIZE) d = -d;
    if (decay != 0) d += decay * x;
    s[0] = alpha * s[0] + fresh * d * d;
    C q = s[0];
    if (centered) {
      s[2] = ht_lerp(s[2], d, fresh);
      q -= s[2] * s[2];
    }
    const C root = ht_sqrt(q) + eps;
    if (!has) {
      x -= lr * d / root;
      return;
    }
    s[1] = momentum * s[1] + d / root;
    x -= lr * s[1];
  }
};
template <class C> struct Adagrad {
  static const int states = 1;
  C rate, eps, decay;
  int flags;
  __device__ __forceinline__ void begin(const Update& p) {
    rate = (C)(update_rate(p) / (1 + (update_step(p) - 1) * p.attr[2])), eps = (C)p.attr[4], decay = (C)p.attr[5], flags = p.flags;
  }
  __device__ __forceinline__ void move(C& x, C d, C (&s)[UPDATE_STATE], bool, bool, bool) const {
    if (flags & UPDATE_MAXIMIZE) d = -d;
    if (decay != 0) d += decay * x;
    s[0] += d * d;
    x -= rate * d / (ht_sqrt(s[0]) + eps);
  }
};
UPDATE(rmsprop, RMSProp)
UPDATE(adagrad, Adagrad)

// unscale: gradients are multiplied by *inv, unless they are to be kept. found becomes 1 and first the lowest of param·2^42 + index·4 + kind over
// the elements that were not finite before (kind 0 is +Inf, 1 -Inf, 2 NaN), and of (2^20-1)·2^42 if *inv is not finite. Without found nothing
// is told. used becomes *inv, for who multiplies later.
struct Unscale {
  void* ptr[UPDATE_TENSORS];
  i64 n[UPDATE_TENSORS];
  int block[UPDATE_TENSORS + 1];
  int param[UPDATE_TENSORS];  // their numbers
  int count, flags, unused;
  const float* inv;
  float* found;
  u64* first;
  float* used;
};
template <class T> HT_FN void unscale_pass(const Unscale& p) {
  typedef typename as<T>::wide C;
  const int V = 16 / sizeof(T);
  int k = 0;
  HT_ROLLED while (k + 1 < p.count && (int)blockIdx.x >= p.block[k + 1]) k++;
  const i64 n = p.n[k], from = (i64)((int)blockIdx.x - p.block[k]) * (UPDATE_THREADS * 8);
  const C inv = p.flags & UNSCALE_KEEP ? (C)1 : (C)*p.inv;
  T* g = (T*)p.ptr[k];
  if (p.used && blockIdx.x == 0 && threadIdx.x == 0) *p.used = *p.inv;
  u64 worst = ~0ull;
  struct alignas(16) Vec { T v[V]; };
  if ((p.flags & UPDATE_VECTOR) && from + UPDATE_THREADS * 8 <= n) {
    HT_UNROLL for (int part = 0; part < 8 / V; part++) {
      const i64 i = from + (i64)(part * UPDATE_THREADS + threadIdx.x) * V;
      Vec d = *(Vec*)(g + i);
      HT_UNROLL for (int q = 0; q < V; q++) {
        const C v = wide(d.v[q]);
        if (!ht_finite(v) && worst == ~0ull) worst = (u64)(i + q) * 4 + (v != v ? 2 : (v < 0 ? 1 : 0));
        d.v[q] = narrow<T>::of(v * inv);
      }
      if (inv != 1) *(Vec*)(g + i) = d;
    }
  } else {
    HT_ROLLED for (int part = 0; part < 8; part++) {
      const i64 i = from + part * UPDATE_THREADS + threadIdx.x;
      if (i >= n) break;
      const C v = wide(g[i]);
      if (!ht_finite(v) && worst == ~0ull) worst = (u64)i * 4 + (v != v ? 2 : (v < 0 ? 1 : 0));
      if (inv != 1) g[i] = narrow<T>::of(v * inv);
    }
  }
  if (!p.found) return;
  if (worst != ~0ull) worst += (u64)p.param[k] << 42;
  else if (blockIdx.x == 0 && threadIdx.x == 0 && !ht_finite(*p.inv)) worst = (u64)((1 << 20) - 1) << 42;
  else return;
  *p.found = 1;  // every writer writes the same
  atomicMin((unsigned long long*)p.first, worst);
}
HT_KERNEL(unscale_f16, Unscale, p) { unscale_pass<f16>(p); }
HT_KERNEL(unscale_bf16, Unscale, p) { unscale_pass<bf16>(p); }
HT_KERNEL(unscale_f32, Unscale, p) { unscale_pass<float>(p); }
HT_KERNEL(unscale_f64, Unscale, p) { unscale_pass<double>(p); }
