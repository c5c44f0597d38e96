// What the kernels of the optimizers share: a pass over lists of tensors, the numbers of a step, which are read on the device where the host
// gives their addresses, and the kernels of a rule. update.cu and update_more.cu have the rules.
#pragma once
#include "lists.h"
#include "special.h"

enum { UPDATE_STATE = 3, UPDATE_PART = 4 * LIST_THREADS, UPDATE_EACH = 16 };
enum { UPDATE_MAXIMIZE = 1, UPDATE_NESTEROV = 2, UPDATE_FIRST = 4, UPDATE_DECOUPLED = 8, UPDATE_LEAVE = 64 };

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

// UPDATE's numbers are the blocks that a multiprocessor has room for, of halves and of float32: as many as registers allow.
#define UPDATE(name, Rule, half, single)                                                                     \
  HT_KERNEL_TIMES(LIST_THREADS, half, name##_f16, Update, p) { update_pass<Rule<float>, f16>(p); }           \
  HT_KERNEL_TIMES(LIST_THREADS, half, name##_bf16, Update, p) { update_pass<Rule<float>, bf16>(p); }         \
  HT_KERNEL_TIMES(LIST_THREADS, single, name##_f32, Update, p) { update_pass<Rule<float>, float>(p); }       \
  HT_KERNEL(name##_f64, Update, p) { update_pass<Rule<double>, double>(p); }
