// Steps of Adamax, NAdam, RAdam, Adadelta, Rprop and ASGD. Numbers that depend on the step are worked out here, in float64, whether the host
// knows the step or not.
#include "update.h"

// adamax: attr is the learning rate, step, beta1, beta2, eps, weight decay. State: mean, largest.
template <class C> struct Adamax {
  static const int states = 2;
  C rate, eps, b2, fresh, decay;
  int flags;
  __device__ __forceinline__ void begin(const Update& p) {
    rate = (C)(update_rate(p) / (1 - adam_power(held(p.attr[2]), update_step(p))));
    b2 = (C)p.attr[3], fresh = (C)(1 - p.attr[2]), eps = (C)p.attr[4], decay = (C)p.attr[5], flags = p.flags;
  }
  __device__ __forceinline__ void move(C& x, C d, C (&s)[UPDATE_STATE], bool, bool, bool) const {
    if (flags & UPDATE_MAXIMIZE) d = -d;
    if (decay != 0) d += decay * x;
    s[0] = ht_lerp(s[0], d, fresh);
    const C old = b2 * s[1], now = ht_abs(d) + eps;
    s[1] = old > now || old != old ? old : now;
    x -= rate * s[0] / s[1];
  }
};

// nadam: attr is the learning rate, step, beta1, beta2, eps, weight decay, momentum decay. State: mean, square.
HT_FN double nadam_momentum(double beta, double step, double psi) { return beta * (1 - 0.5 * ht_pow(0.96, step * psi)); }
template <class C> struct NAdam {
  static const int states = 2;
  C grad, mean, bias, eps, b2, new1, new2, decay, shrink;
  int flags;
  __device__ __forceinline__ void begin(const Update& p) {
    flags = p.flags;
    const double lr = update_rate(p), b1 = held(p.attr[2]), psi = held(p.attr[6]), step = update_step(p);
    const double mu = nadam_momentum(b1, step, psi), next = nadam_momentum(b1, step + 1, psi), each = ht_pow(0.96, psi);
    double product = 1, power = each;
    HT_ROLLED for (double i = 0; i < step && product >= 0x1p-54; i++) {  // what is smaller leaves 1 - product at 1
      product *= b1 * (1 - 0.5 * power);
      power *= each;
    }
    grad = (C)(lr * (1 - mu) / (1 - product)), mean = (C)(lr * next / (1 - product * next));
    bias = (C)(1 - adam_power(held(p.attr[3]), step)), eps = (C)p.attr[4];
    b2 = (C)p.attr[3], new1 = (C)(1 - p.attr[2]), new2 = (C)(1 - p.attr[3]);
    decay = flags & UPDATE_DECOUPLED ? 0 : (C)p.attr[5];
    shrink = flags & UPDATE_DECOUPLED ? (C)(1 - lr * p.attr[5]) : 1;
  }
  __device__ __forceinline__ void move(C& x, C d, C (&s)[UPDATE_STATE], bool, bool, bool) const {
    if (flags & UPDATE_MAXIMIZE) d = -d;
    if (decay != 0) d += decay * x;
    s[0] = ht_lerp(s[0], d, new1);
    s[1] = b2 * s[1] + new2 * d * d;
    const C root = ht_sqrt(s[1] / bias) + eps;
    x = x * shrink - grad * d / root;
    x -= mean * s[0] / root;
  }
};

// radam: attr is the learning rate, step, beta1, beta2, eps, weight decay. State: mean, square.
template <class C> struct RAdam {
  static const int states = 2;
  C rate, eps, b2, new1, new2, decay, shrink;
  int flags, adapts;
  __device__ __forceinline__ void begin(const Update& p) {
    flags = p.flags;
    const double lr = update_rate(p), step = update_step(p), beta2 = held(p.attr[3]), power = adam_power(beta2, step);
    const double most = 2 / (1 - beta2) - 1, length = most - 2 * step * power / (1 - power);
    double by = lr / (1 - adam_power(held(p.attr[2]), step));
    adapts = length > 5;
    if (adapts) by *= ht_sqrt((length - 4) * (length - 2) * most / ((most - 4) * (most - 2) * length)) * ht_sqrt(1 - power);
    rate = (C)by, eps = (C)p.attr[4], b2 = (C)p.attr[3], new1 = (C)(1 - p.attr[2]), new2 = (C)(1 - p.attr[3]);
    decay = flags & UPDATE_DECOUPLED ? 0 : (C)p.attr[5];
    shrink = flags & UPDATE_DECOUPLED ? (C)(1 - lr * p.attr[5]) : 1;
  }
  __device__ __forceinline__ void move(C& x, C d, C (&s)[UPDATE_STATE], bool, bool, bool) const {
    if (flags & UPDATE_MAXIMIZE) d = -d;
    if (decay != 0) d += decay * x;
    s[0] = ht_lerp(s[0], d, new1);
    s[1] = b2 * s[1] + new2 * d * d;
    const C step = adapts ? rate * s[0] / (ht_sqrt(s[1]) + eps) : rate * s[0];
    x = x * shrink - step;
  }
};

// adadelta: attr is the learning rate, -, rho, -, eps, weight decay. State: square, delta.
template <class C> struct Adadelta {
  static const int states = 2;
  C lr, rho, fresh, eps, decay;
  int flags;
  __device__ __forceinline__ void begin(const Update& p) {
    lr = (C)update_rate(p), rho = (C)p.attr[2], fresh = (C)(1 - p.attr[2]), eps = (C)p.attr[4], decay = (C)p.attr[5], flags = p.flags;
  }
  __device__ __forceinline__ void move(C& x, C d, C (&s)[UPDATE_STATE], bool, bool, bool) const {
    if (flags & UPDATE_MAXIMIZE) d = -d;
    if (decay != 0) d += decay * x;
    s[0] = rho * s[0] + fresh * d * d;
    const C delta = ht_sqrt(s[1] + eps) / ht_sqrt(s[0] + eps) * d;
    s[1] = rho * s[1] + fresh * delta * delta;
    x -= lr * delta;
  }
};

// rprop: attr is the learning rate, -, the two factors and the two bounds of a step. State: the gradient before, step size.
template <class C> struct Rprop {
  static const int states = 2;
  C lr, less, more, low, high;
  int flags;
  __device__ __forceinline__ void begin(const Update& p) {
    lr = (C)update_rate(p), less = (C)p.attr[2], more = (C)p.attr[3], low = (C)p.attr[4], high = (C)p.attr[5], flags = update_flags(p);
  }
  __device__ __forceinline__ void move(C& x, C d, C (&s)[UPDATE_STATE], bool, bool, bool) const {
    if (flags & UPDATE_MAXIMIZE) d = -d;
    const C turn = d * s[0];
    C size = (flags & UPDATE_FIRST ? lr : s[1]) * (turn > 0 ? more : turn < 0 ? less : (C)1);
    if (size < low) size = low;
    if (size > high) size = high;
    if (turn < 0) d = 0;
    if (d > 0) x -= size;
    if (d < 0) x += size;
    s[0] = d, s[1] = size;
  }
};

// asgd: attr is the learning rate, step, lambda, alpha, t0, weight decay. State: average.
template <class C> struct ASGD {
  static const int states = 1;
  C eta, shrink, share, decay;
  int flags;
  __device__ __forceinline__ void begin(const Update& p) {
    const double lr = update_rate(p), before = update_step(p) - 1, lambda = held(p.attr[2]), late = before - p.attr[4];
    const double rate = lr / ht_pow(1 + lambda * lr * before, held(p.attr[3]));
    eta = (C)rate, shrink = (C)(1 - lambda * rate), share = (C)(late > 1 ? 1 / late : 1), decay = (C)p.attr[5], flags = p.flags;
  }
  __device__ __forceinline__ void move(C& x, C d, C (&s)[UPDATE_STATE], bool, bool, bool) const {
    if (flags & UPDATE_MAXIMIZE) d = -d;
    if (decay != 0) d += decay * x;
    x = x * shrink - eta * d;
    s[0] = share == 1 ? x : s[0] + (x - s[0]) * share;
  }
};

UPDATE(adamax, Adamax, 6, 4)
UPDATE(nadam, NAdam, 5, 4)
UPDATE(radam, RAdam, 5, 4)
UPDATE(adadelta, Adadelta, 6, 4)
UPDATE(rprop, Rprop, 6, 4)
UPDATE(asgd, ASGD, 8, 6)
