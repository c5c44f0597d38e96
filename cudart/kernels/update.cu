// Steps of optimizers on lists of tensors, and the unscaling of gradients with its test for infinity and NaN. Inverse scale, found-inf,
// learning rate and step are read on the device where the host gives their addresses, so that a step needs no word from it.
#include "update.h"

enum { UNSCALE_EACH = 16, UNSCALE_KEEP = 32 };

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
      const double b1 = held(p.attr[2]), b2 = held(p.attr[3]), power = adam_power(threadIdx.x % 2 ? b2 : b1, update_step(p));
      c = 1 - from_lane(power, 0);
      q = ht_sqrt(1 - from_lane(power, 1));
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
UPDATE(sgd, SGD, 8, 8)
UPDATE(adam, Adam, 5, 4)

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
UPDATE(rmsprop, RMSProp, 6, 4)
UPDATE(adagrad, Adagrad, 8, 6)

// unscale: gradients are multiplied by *inv, unless they are to be kept. found becomes 1 and first the lowest of param·2^42 + index·4 + kind over
// the elements that were not finite before (kind 0 is +Inf, 1 -Inf, 2 NaN), and of (2^20-1)·2^42 if *inv is not finite. Without found nothing
// is told. used becomes *inv, for who multiplies later. A tensor with a word that tells of it has one block: where the word is 0 all elements are
// finite, else the block looks at them all, and makes it 0.
struct Unscale {
  void* ptr[LIST_TENSORS];
  u32* told[LIST_TENSORS];
  List list;
  int param[LIST_TENSORS];  // their numbers
  const float* inv;
  float* found;
  u64* first;
  float* used;
  int flags, unused;
};
// unscale_part returns the place and kind of the first of a thread's elements that is not finite, all bits set without one.
template <class T, class C> HT_FN u64 unscale_part(void* at, const ListBlock& b, C inv) {
  Portion<T, UNSCALE_EACH> g(at, b);
  Finite<C> finite;
  HT_UNROLL for (int part = 0; part < g.parts; part++)
    HT_UNROLL for (int i = 0; i < g.V; i++) finite.see(wide(g.v[part].v[i]));
  u64 worst = ~0ull;
  if (!finite.all()) {
    HT_UNROLL for (int part = g.parts - 1; part >= 0; part--) {
      HT_UNROLL for (int i = g.V - 1; i >= 0; i--) {
        const C v = wide(g.v[part].v[i]);
        if (!ht_finite(v)) worst = (u64)(b.first + threadIdx.x * g.V + g.place(part, i)) * 4 + (v != v ? 2 : (v < 0 ? 1 : 0));
      }
    }
  }
  if (inv != 1) {
    HT_UNROLL for (int part = 0; part < g.parts; part++)
      HT_UNROLL for (int i = 0; i < g.V; i++) g.v[part].v[i] = narrow<T>::of(wide(g.v[part].v[i]) * inv);
    g.store();
  }
  return worst;
}
template <class T> HT_FN void unscale_pass(const Unscale& p) {
  typedef typename as<T>::wide C;
  ListBlock b = list_block(p.list, UNSCALE_EACH);
  const C inv = p.flags & UNSCALE_KEEP ? (C)1 : (C)*p.inv;
  if (p.used && blockIdx.x == 0 && threadIdx.x == 0) *p.used = *p.inv;
  u32* told = p.told[b.k];
  u64 worst = ~0ull;
  if (!told || *told) {
    const i64 end = told ? b.n : b.first + 1;
    HT_ROLLED for (; b.first < end; b.first += LIST_THREADS * UNSCALE_EACH) {
      const u64 here = unscale_part<T>(p.ptr[b.k], b, inv);
      if (here < worst) worst = here;
    }
    if (told) {
      __syncthreads();  // all have asked
      if (threadIdx.x == 0) *told = 0;
    }
  }
  if (!p.found) return;
  if (worst != ~0ull) worst += (u64)p.param[b.k] << 42;
  else if (blockIdx.x == 0 && threadIdx.x == 0 && !ht_finite(*p.inv)) worst = (u64)((1 << 20) - 1) << 42;
  else return;
  *p.found = 1;  // every writer writes the same
  atomicMin((unsigned long long*)p.first, worst);
}
HT_KERNEL(unscale_f16, Unscale, p) { unscale_pass<f16>(p); }
HT_KERNEL(unscale_bf16, Unscale, p) { unscale_pass<bf16>(p); }
HT_KERNEL(unscale_f32, Unscale, p) { unscale_pass<float>(p); }
HT_KERNEL(unscale_f64, Unscale, p) { unscale_pass<double>(p); }
