// Steps of optimizers on lists of tensors, and the unscaling of gradients with its test for infinity and NaN. Inverse scale, found-inf,
// learning rate and step are read on the device where the host gives their addresses, so that a step needs no word from it.
#include "lists.h"
#include "special.h"

enum { UPDATE_STATE = 3, UPDATE_PART = 4 * LIST_THREADS, UPDATE_EACH = 16, UNSCALE_EACH = 16 };
enum { UPDATE_MAXIMIZE = 1, UPDATE_NESTEROV = 2, UPDATE_FIRST = 4, UPDATE_DECOUPLED = 8, UNSCALE_KEEP = 32, UPDATE_LEAVE = 64 };

struct Update {
  void* ptr[2 + UPDATE_STATE][LIST_TENSORS];  // parameters, gradients, state (null if there is none)
  List list;
  const float *inv, *found;  // of a fused step; null otherwise
  const i64* steps;          // taken before this one, to be added to attr[1]; or null
  const double* rate;        // learning rate instead of attr[0]; or null
  float* used;               // becomes what whoever multiplies the gradients later is to take, 1 for a skipped step; or null
  double attr[10];           // see each kernel; attr[8] is the step that finds its state empty where steps are counted here
  int flags, unused;
};

HT_FN double update_rate(const Update& p) { const double own = held(p.attr[0]); return p.rate ? *p.rate : own; }
HT_FN double update_step(const Update& p) { return p.attr[1] + (p.steps ? (double)*p.steps : 0); }
// update_flags are the flags with UPDATE_FIRST as it is now.
HT_FN int update_flags(const Update& p) {
  if (!p.steps) return p.flags;
  return update_step(p) == p.attr[8] ? p.flags | UPDATE_FIRST : p.flags & ~UPDATE_FIRST;
}

// The tensors of a block: a parameter, its gradient and its state.
template <class T> struct Updated {
  T *x, *g, *state[UPDATE_STATE];
  i64 n;
  bool aligned;
  __device__ __forceinline__ Updated(const Update& p, const ListBlock& b) {
    const int k = b.k;
    x = (T*)p.ptr[0][k], g = (T*)p.ptr[1][k], n = b.n;
    HT_UNROLL for (int j = 0; j < UPDATE_STATE; j++) state[j] = (T*)p.ptr[2 + j][k];
    aligned = (((u64)x | (u64)g | (u64)state[0] | (u64)state[1] | (u64)state[2]) & 15) == 0;
  }
};

// What a thread has of a part of these tensors, 4 elements of each: in vectors, or one by one where a tensor does not lie so, and at its end.
template <class Rule, class T> struct UpdatePart {
  typedef typename as<T>::wide C;
  static const int V = 16 / sizeof(T) > 4 ? 4 : 16 / sizeof(T), N = UPDATE_PART / LIST_THREADS / V;
  typedef vec<V, T> Vec;
  Vec x[N], g[N], s[N][Rule::states];

  HT_FN i64 place(i64 from, int r) { return from + (i64)(r * LIST_THREADS + threadIdx.x) * V; }
  __device__ __forceinline__ void read(const Updated<T>& t, i64 from) {
    HT_UNROLL for (int r = 0; r < N; r++) {
      const i64 i = place(from, r);
      if (t.aligned && i + V <= t.n) {
        x[r] = vector_at<V>(t.x + i), g[r] = vector_at<V>(t.g + i);
        HT_UNROLL for (int j = 0; j < Rule::states; j++) if (t.state[j]) s[r][j] = vector_at<V>(t.state[j] + i);
        continue;
      }
      HT_UNROLL for (int q = 0; q < V; q++) {
        const bool has = i + q < t.n;
        x[r].v[q] = has ? t.x[i + q] : T(), g[r].v[q] = has ? t.g[i + q] : T();
        HT_UNROLL for (int j = 0; j < Rule::states; j++) if (t.state[j]) s[r][j].v[q] = has ? t.state[j][i + q] : T();
      }
    }
  }
  __device__ __forceinline__ void move(const Rule& rule, const Updated<T>& t, C inv) {
    HT_UNROLL for (int r = 0; r < N; r++) {
      HT_UNROLL for (int q = 0; q < V; q++) {
        C v = wide(x[r].v[q]), e = wide(g[r].v[q]) * inv, st[UPDATE_STATE] = {0, 0, 0};
        g[r].v[q] = narrow<T>::of(e);
        HT_UNROLL for (int j = 0; j < Rule::states; j++) if (t.state[j]) st[j] = wide(s[r][j].v[q]);
        rule.move(v, e, st, t.state[0] != nullptr, t.state[1] != nullptr, t.state[2] != nullptr);
        x[r].v[q] = narrow<T>::of(v);
        HT_UNROLL for (int j = 0; j < Rule::states; j++) if (t.state[j]) s[r][j].v[q] = narrow<T>::of(st[j]);
      }
    }
  }
  __device__ __forceinline__ void write(const Updated<T>& t, i64 from, bool divides) const {
    HT_UNROLL for (int r = 0; r < N; r++) {
      const i64 i = place(from, r);
      if (t.aligned && i + V <= t.n) {
        vector_to(t.x + i, x[r]);
        if (divides) vector_to(t.g + i, g[r]);
        HT_UNROLL for (int j = 0; j < Rule::states; j++) if (t.state[j]) vector_to(t.state[j] + i, s[r][j]);
        continue;
      }
      HT_UNROLL for (int q = 0; q < V; q++) {
        if (i + q >= t.n) continue;
        t.x[i + q] = x[r].v[q];
        if (divides) t.g[i + q] = g[r].v[q];
        HT_UNROLL for (int j = 0; j < Rule::states; j++) if (t.state[j]) t.state[j][i + q] = s[r][j].v[q];
      }
    }
  }
};

// A Rule moves one element: x parameter, g gradient, s state. Its numbers, which may take powers in float64, one warp of a block computes while
// the elements of the block's first part are on their way, those of a step that is skipped too.
template <class Rule, class T> HT_FN void update_pass(const Update& p) {
  typedef typename as<T>::wide C;
  __shared__ Rule numbers;
  const float found = p.found ? *p.found : 0;
  const C inv = p.inv ? (C)*p.inv : (C)1;
  const ListBlock b = list_block(p.list, UPDATE_EACH);
  const Updated<T> tensors(p, b);
  i64 from = b.first;
  UpdatePart<Rule, T> part;
  part.read(tensors, from);
  if (threadIdx.x < 32) {
    Rule own;
    own.begin(p);
    if (threadIdx.x == 0) numbers = own;  // in registers that the elements take then
  }
  __syncthreads();
  const bool skips = held(found) != 0;  // not asked before the elements are on their way
  if (p.used && blockIdx.x == 0 && threadIdx.x == 0) *p.used = skips ? 1 : *p.inv;
  if (skips) return;
  const Rule rule = numbers;
  const bool divides = inv != 1 && !(p.flags & UPDATE_LEAVE);
  const i64 next = b.first + LIST_THREADS * UPDATE_EACH, end = next < b.n ? next : b.n;
  HT_ROLLED for (;;) {
    part.move(rule, tensors, inv);
    part.write(tensors, from, divides);
    from += UPDATE_PART;
    if (from >= end) return;
    part.read(tensors, from);
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

// adam_power is ht_pow of a whole step above 0, without its call, which elements that are on their way would be waited for before.
HT_FN double adam_power(double beta, double step) {
  if (beta == 0 || !ht_finite(beta)) return beta;
  double m = 1;
  int exp = 0;
  ht_times_power(m, exp, beta, (u64)step);
  return ht_ldexp(m, exp);
}
HT_FN double from_lane(double v, int lane) {
  const u64 b = ht_bits(v);
  return ht_double((u64)from_lane((u32)(b >> 32), lane) << 32 | from_lane((u32)b, lane));
}

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
// UPDATE's numbers are the blocks that a multiprocessor has room for, of halves and of float32: as many as registers allow.
#define UPDATE(name, Rule, half, single)                                                                     \
  HT_KERNEL_TIMES(LIST_THREADS, half, name##_f16, Update, p) { update_pass<Rule<float>, f16>(p); }           \
  HT_KERNEL_TIMES(LIST_THREADS, half, name##_bf16, Update, p) { update_pass<Rule<float>, bf16>(p); }         \
  HT_KERNEL_TIMES(LIST_THREADS, single, name##_f32, Update, p) { update_pass<Rule<float>, float>(p); }       \
  HT_KERNEL(name##_f64, Update, p) { update_pass<Rule<double>, double>(p); }
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
