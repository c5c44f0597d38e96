// ctc_loss: the recursions of amp/op_loss_ctc_paths.go and op_loss_ctc_grad.go in the same order, in float64. A block has an item and goes through
// its steps; of the gradient another kernel has a block for each step of each item.
#include "map.h"
#include "special.h"
#include "refuse.h"

enum { CTC_THREADS = 256, CTC_MEAN = 0, CTC_NONE = 2 };

struct Ctc {
  void* out;
  const void *logp, *v, *dy;    // v: null for the gradient
  const i64 *targets, *lengths;
  double *alpha, *gamma, *along, *beta;  // [steps][width], beta [4][width]: two rows, and what they change by
  double* loss;                          // [items]
  i64 steps, items, classes, labels, columns, width, blank;  // columns: of targets in rows, -1 for a list
  i64 lt, ln, lc, vt, vn, vc;            // strides of logp and v
  i64 trow, tstep, lrow, lstep, dstep;   // of targets, lengths and dy
  int reduce, zero;
  Guard target, input, size, sum;
};

// CtcItem is what a target makes of the call; lengths and labels that are refused are held in range.
struct CtcItem {
  const Ctc& p;
  const i64* label;
  i64 n, steps, labels, states, at, first;
  __device__ __forceinline__ i64 class_of(i64 s) const {
    if ((s & 1) == 0) return p.blank;
    const i64 c = label[(s >> 1) * p.tstep];
    return c >= 0 && c < p.classes ? c : p.blank;
  }
  __device__ __forceinline__ bool jumps(i64 s) const { return (s & 1) == 1 && s > 1 && label[(s >> 1) * p.tstep] != label[((s >> 1) - 1) * p.tstep]; }
};

HT_FN i64 ctc_held(i64 v, i64 most) { return v < 0 ? 0 : v > most ? most : v; }

// ctc_first is where the labels of item n begin in a list.
HT_FN i64 ctc_first(const Ctc& p, i64 n) {
  i64 first = 0;
  if (p.columns >= 0) return n * p.columns;
  HT_ROLLED for (i64 m = 0; m < n; m++) first += ctc_held(p.lengths[p.lrow + m * p.lstep], p.labels - first);
  return first;
}
HT_FN CtcItem ctc_item(const Ctc& p, i64 n, i64 first) {
  const i64 room = p.columns >= 0 ? p.columns : p.labels - first;
  const i64 steps = ctc_held(p.lengths[n * p.lstep], p.steps), labels = ctc_held(p.lengths[p.lrow + n * p.lstep], room);
  return CtcItem{p, p.targets + (p.columns >= 0 ? n * p.trow : first * p.tstep), n, steps, labels, 2 * labels + 1, 2 * first + n, first};
}
// ctc_block is the item n of a block.
HT_FN CtcItem ctc_block(const Ctc& p, i64 n) {
  __shared__ i64 first;
  if (threadIdx.x == 0) first = ctc_first(p, n);
  __syncthreads();
  return ctc_item(p, n, first);
}

HT_FN double ctc_none() { return -(double)ht_inf<float>(); }

// The larger and the smaller of two; NaN where one is.
HT_FN double ctc_max(double a, double b) { return ht_nan(a) || a > b ? a : b; }
HT_FN double ctc_min(double a, double b) { return ht_nan(a) || a < b ? a : b; }

// ctc_below is x - most: -inf where there are no paths, NaN for an infinite or undefined number of them.
HT_FN double ctc_below(double x, double most) {
  if (most - most == 0) return x - most;
  return most < 0 ? ctc_none() : ht_nan64();
}

// Of 1 and what the smaller terms are to the largest.
HT_MATH double ctc_log_sum(double a, double b, double c) {
  const double high = ctc_max(a, b), most = ctc_max(high, c);
  return log64(1 + exp64(ctc_below(ctc_min(a, b), most)) + exp64(ctc_below(ctc_min(high, c), most))) + most;
}
// ctc_portion is e^(p + less), 0 where there are no paths.
HT_FN double ctc_portion(double p, double less) { return p == ctc_none() ? 0 : exp64(p + less); }

// The three numbers of x that a path comes to state s from, or goes on to.
struct CtcThree { double a, b, c; };
HT_FN CtcThree ctc_before(const CtcItem& i, i64 s, const double* x, double none) {
  return CtcThree{x[s], s > 0 ? x[s - 1] : none, i.jumps(s) ? x[s - 2] : none};
}
HT_FN CtcThree ctc_after(const CtcItem& i, i64 s, const double* x, double none) {
  return CtcThree{x[s], s + 1 < i.states ? x[s + 1] : none, s + 2 < i.states && i.jumps(s + 2) ? x[s + 2] : none};
}
HT_FN double ctc_moved(CtcThree p, CtcThree d, double less) {
  double sum = 0, q;
  if ((q = ctc_portion(p.a, less)) != 0) sum += q * d.a;
  if ((q = ctc_portion(p.b, less)) != 0) sum += q * d.b;
  if ((q = ctc_portion(p.c, less)) != 0) sum += q * d.c;
  return sum;
}
template <class T> HT_FN double ctc_logp(const CtcItem& i, i64 t, i64 c) { return (double)wide(((const T*)i.p.logp)[t * i.p.lt + i.n * i.p.ln + c * i.p.lc]); }
template <class T> HT_FN double ctc_v(const CtcItem& i, i64 t, i64 c) { return (double)wide(((const T*)i.p.v)[t * i.p.vt + i.n * i.p.vn + c * i.p.vc]); }

// ctc_look refuses what is out of range in an item.
HT_FN void ctc_look(const CtcItem& i) {
  const Ctc& p = i.p;
  for (i64 j = threadIdx.x; j < i.labels; j += CTC_THREADS) {
    const i64 c = i.label[j * p.tstep];
    if (c < 0 || c >= p.classes || c == p.blank) refuse(p.target, i.first + j, c, 0, p.classes);
  }
  if (threadIdx.x != 0) return;
  const i64 steps = p.lengths[i.n * p.lstep], labels = p.lengths[p.lrow + i.n * p.lstep], room = p.columns >= 0 ? p.columns : p.labels - i.first;
  if (steps != i.steps) refuse(p.input, i.n, steps, 0, p.steps + 1);
  if (labels != i.labels) refuse(p.size, i.n, labels, 0, room + 1);
  else if (p.columns < 0 && i.n == p.items - 1 && labels != room) refuse(p.sum, p.items, i.first + labels, p.labels, p.labels + 1);
}

template <class T> HT_FN void ctc_alphas(const Ctc& p) {
  const CtcItem i = ctc_block(p, blockIdx.x);
  ctc_look(i);
  const i64 all = p.columns >= 0 ? 2 * p.columns + 1 : i.states;
  for (i64 t = 0; t < p.steps; t++) {
    double* now = p.alpha + t * p.width + i.at;
    for (i64 s = threadIdx.x; s < all; s += CTC_THREADS) {
      double a = ctc_none();
      if (t < i.steps && s < i.states) {
        if (t > 0) {
          const CtcThree b = ctc_before(i, s, now - p.width, ctc_none());
          a = ctc_log_sum(b.a, b.b, b.c) + ctc_logp<T>(i, t, i.class_of(s));
        } else if (s < 2) {
          a = ctc_logp<T>(i, t, i.class_of(s));
        }
      }
      now[s] = a;
    }
    __syncthreads();
  }
}

HT_FN double ctc_loss_of(const CtcItem& i) {
  if (i.steps == 0) return i.labels == 0 ? 0 : -ctc_none();
  const double* last = i.p.alpha + (i.steps - 1) * i.p.width + i.at;
  if (i.labels == 0) return -last[0];
  return -ctc_log_sum(last[i.states - 1], last[i.states - 2], ctc_none());
}
HT_FN bool ctc_zeroed(const Ctc& p, double loss) { return p.zero && loss == -ctc_none(); }
HT_FN double ctc_share(const CtcItem& i) { return i.p.reduce == CTC_MEAN ? 1 / (double)((i.labels < 1 ? 1 : i.labels) * i.p.items) : 1; }

// ctc_sum adds up what the threads of a block have.
HT_FN double ctc_sum(double v) {
  __shared__ double cell[CTC_THREADS];
  cell[threadIdx.x] = v;
  __syncthreads();
  for (int half = CTC_THREADS / 2; half > 0; half >>= 1) {
    if ((int)threadIdx.x < half) cell[threadIdx.x] += cell[threadIdx.x + half];
    __syncthreads();
  }
  return cell[0];
}

// One block has the losses of all items.
template <class T> HT_FN void ctc_losses(const Ctc& p) {
  double sum = 0;
  HT_ROLLED for (i64 n = threadIdx.x; n < p.items; n += CTC_THREADS) {
    const CtcItem i = ctc_item(p, n, ctc_first(p, n));
    double loss = ctc_loss_of(i);
    if (ctc_zeroed(p, loss)) loss = 0;
    if (p.reduce == CTC_NONE) ((T*)p.out)[n] = narrow<T>::of(loss);
    else sum += loss * ctc_share(i);
  }
  if (p.reduce == CTC_NONE) return;
  const double all = ctc_sum(sum);
  if (threadIdx.x == 0) ((T*)p.out)[0] = narrow<T>::of(all);
}

// ctc_alphas_along sets what alpha changes by along v, and returns what the loss changes by.
template <class T> HT_FN double ctc_alphas_along(const CtcItem& i, double loss) {
  const Ctc& p = i.p;
  for (i64 t = 0; t < i.steps; t++) {
    const double* now = p.alpha + t * p.width + i.at;
    double* along = p.along + t * p.width + i.at;
    HT_ROLLED for (i64 s = threadIdx.x; s < i.states; s += CTC_THREADS) {
      const i64 c = i.class_of(s);
      double d = ctc_v<T>(i, t, c);
      if (t > 0) d += ctc_moved(ctc_before(i, s, now - p.width, ctc_none()), ctc_before(i, s, along - p.width, 0), ctc_logp<T>(i, t, c) - now[s]);
      along[s] = d;
    }
    __syncthreads();
  }
  double change = 0;
  if (i.steps == 0) return change;
  const i64 last = (i.steps - 1) * p.width + i.at;
  HT_ROLLED for (i64 s = i.states > 1 ? i.states - 2 : 0; s < i.states; s++) {
    const double q = ctc_portion(p.alpha[last + s], loss);
    if (q != 0) change -= q * p.along[last + s];
  }
  return change;
}

// ctc_path goes back through the steps of an item: gamma is the share of paths at a state, or what it changes by along v.
template <class T> HT_FN void ctc_path(const Ctc& p) {
  const CtcItem i = ctc_block(p, blockIdx.x);
  const double loss = ctc_loss_of(i);
  if (threadIdx.x == 0) p.loss[i.n] = loss;
  const double change = p.v ? ctc_alphas_along<T>(i, loss) : 0;
  for (i64 t = i.steps - 1; t >= 0; t--) {
    double *now = p.beta + (t & 1) * p.width + i.at, *after = p.beta + (1 - (t & 1)) * p.width + i.at;
    const i64 along = 2 * p.width, at = t * p.width + i.at;
    const bool last = t == i.steps - 1;
    HT_ROLLED for (i64 s = threadIdx.x; s < i.states; s += CTC_THREADS) {
      const i64 c = i.class_of(s);
      const double lp = ctc_logp<T>(i, t, c);
      double b = ctc_none();
      if (!last) {
        const CtcThree a = ctc_after(i, s, after, ctc_none());
        b = ctc_log_sum(a.a, a.b, a.c) + lp;
      } else if (s >= i.states - 2) {
        b = lp;
      }
      now[s] = b;
      double g = last && s < i.states - 2 ? 0 : ctc_portion(p.alpha[at + s] + b, loss - lp);
      if (p.v) {
        const double v = ctc_v<T>(i, t, c);
        double d = v;
        if (!last) d += ctc_moved(ctc_after(i, s, after, ctc_none()), ctc_after(i, s, after + along, 0), lp - b);
        now[along + s] = d;
        if (g != 0) g *= p.along[at + s] + d + change - v;
      }
      p.gamma[at + s] = g;
    }
    __syncthreads();
  }
}

// ctc_slope is the part of the gradient that is e^logp; NaN where PyTorch's formula is, even for a class that no path takes.
template <class T> HT_FN double ctc_slope(const CtcItem& i, i64 t, i64 c, double loss) {
  const double lp = ctc_logp<T>(i, t, c), e = ht_nan(ctc_none() + loss - lp) ? ht_nan64() : exp64(lp);
  return i.p.v ? e * ctc_v<T>(i, t, c) : e;
}

// ctc_slopes writes a step of an item. The first state of each class adds up the shares of them all.
template <class T> HT_FN void ctc_slopes(const Ctc& p) {
  const i64 t = blockIdx.x / p.items;
  const CtcItem i = ctc_block(p, blockIdx.x % p.items);
  T* out = (T*)p.out + (i64)blockIdx.x * p.classes;
  const double loss = p.loss[i.n];
  if (t >= i.steps || ctc_zeroed(p, loss)) {
    for (i64 c = threadIdx.x; c < p.classes; c += CTC_THREADS) out[c] = narrow<T>::of(0.0);
    return;
  }
  const double f = (double)wide(((const T*)p.dy)[i.n * p.dstep]) * ctc_share(i);
  HT_ROLLED for (i64 c = threadIdx.x; c < p.classes; c += CTC_THREADS) out[c] = narrow<T>::of(ctc_slope<T>(i, t, c, loss) * f);
  const double* gamma = p.gamma + t * p.width + i.at;
  double sum = 0;
  for (i64 j = threadIdx.x; j <= i.labels; j += CTC_THREADS) sum += gamma[2 * j];
  const double blanks = ctc_sum(sum);
  if (threadIdx.x == 0) out[p.blank] = narrow<T>::of((ctc_slope<T>(i, t, p.blank, loss) - blanks) * f);
  HT_ROLLED for (i64 j = threadIdx.x; j < i.labels; j += CTC_THREADS) {
    const i64 c = i.class_of(2 * j + 1);
    bool first = c != p.blank;
    HT_ROLLED for (i64 k = 0; first && k < j; k++) first = i.class_of(2 * k + 1) != c;
    if (!first) continue;
    double all = gamma[2 * j + 1];
    HT_ROLLED for (i64 k = j + 1; k < i.labels; k++) {
      if (i.class_of(2 * k + 1) == c) all += gamma[2 * k + 1];
    }
    out[c] = narrow<T>::of((ctc_slope<T>(i, t, c, loss) - all) * f);
  }
}

#define CTC(S, T)                                             \
  HT_KERNEL(ctc_alpha_##S, Ctc, p) { ctc_alphas<T>(p); }      \
  HT_KERNEL(ctc_loss_##S, Ctc, p) { ctc_losses<T>(p); }       \
  HT_KERNEL(ctc_path_##S, Ctc, p) { ctc_path<T>(p); }         \
  HT_KERNEL(ctc_loss_backward_##S, Ctc, p) { ctc_slopes<T>(p); }
CTC(f16, f16) CTC(bf16, bf16) CTC(f32, float) CTC(f64, double)
