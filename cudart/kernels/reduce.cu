// Sums, means, products, extremes, norms and spreads. Floats are accumulated in float64, as on the CPU, and rounded once.
#include "math32.h"
#include "spreads.h"
#include "special.h"

// sum: m.attr[0] is a factor, 1/n of a mean.
template <class S> struct Sum {
  typedef S A;
  HT_FN A start(const Reduce&) { return 0; }
  template <class C> HT_FN void step(A& a, C x, C, i64, const Reduce&) { a += (S)x; }
  HT_FN void merge(A& a, const A& b) { a += b; }
  HT_FN double finish(double a, const Reduce& p) { return p.attr[0] == 1 ? a : a * p.attr[0]; }
  HT_FN i64 finish(i64 a, const Reduce&) { return a; }
};
template <class S> struct reduces<Sum<S>> : Reduces { static const int ahead = 4; static const bool columns = true; };
#define SUMS(S, T) HT_REDUCE(sum, Sum<double>, 1, S, T, f16, f16) HT_REDUCE(sum, Sum<double>, 1, S, T, bf16, bf16) HT_REDUCE(sum, Sum<double>, 1, S, T, f32, float) HT_REDUCE(sum, Sum<double>, 1, S, T, f64, double)
SUMS(f16, f16) SUMS(bf16, bf16) SUMS(f32, float) SUMS(f64, double)
HT_REDUCE(sum, Sum<i64>, 1, i64, i64, i64, i64)
HT_REDUCE(sum, Sum<i64>, 1, b8, b8, i64, i64)

template <class S> struct Product {
  typedef S A;
  HT_FN A start(const Reduce&) { return 1; }
  template <class C> HT_FN void step(A& a, C x, C, i64, const Reduce&) { a *= (S)x; }
  HT_FN void merge(A& a, const A& b) { a *= b; }
  HT_FN S finish(S a, const Reduce&) { return a; }
};
#define SAME(name, R) HT_REDUCE(name, R, 1, f16, f16, f16, f16) HT_REDUCE(name, R, 1, bf16, bf16, bf16, bf16) HT_REDUCE(name, R, 1, f32, float, f32, float) HT_REDUCE(name, R, 1, f64, double, f64, double)
#define WIDER(name, R) SAME(name, R) HT_REDUCE(name, R, 1, f16, f16, f32, float) HT_REDUCE(name, R, 1, bf16, bf16, f32, float)
WIDER(prod, Product<double>)
HT_REDUCE(prod, Product<double>, 1, f16, f16, f64, double) HT_REDUCE(prod, Product<double>, 1, bf16, bf16, f64, double) HT_REDUCE(prod, Product<double>, 1, f32, float, f64, double)
HT_REDUCE(prod, Product<i64>, 1, i64, i64, i64, i64)
HT_REDUCE(prod, Product<i64>, 1, b8, b8, i64, i64)

// amax and amin: a NaN stays.
template <int Sign> struct Extreme {
  typedef double A;
  HT_FN A start(const Reduce&) { return -Sign * ht_infinity(); }
  template <class C> HT_FN void step(A& a, C x, C, i64, const Reduce&) { merge(a, (double)x); }
  HT_FN void merge(A& a, const A& b) {
    if (b != b || (Sign > 0 ? b > a : b < a)) a = b;
  }
  HT_FN double finish(A a, const Reduce&) { return a; }
};
SAME(amax, Extreme<1>)
SAME(amin, Extreme<-1>)

// argmax and argmin: the first of several, and of NaN.
// S is i64 for integers, which double does not tell apart beyond 2^53.
template <class S> struct Place { S v; i64 at; };
template <int Sign, class S> struct Arg {
  typedef Place<S> A;
  HT_FN A start(const Reduce&) { return A{0, -1}; }
  template <class C> HT_FN void step(A& a, C x, C, i64 r, const Reduce&) { merge(a, A{(S)x, r}); }
  HT_FN void merge(A& a, const A& b) {
    if (b.at < 0) return;
    if (a.at < 0) { a = b; return; }
    const bool an = a.v != a.v, bn = b.v != b.v;
    const bool better = an || bn ? bn && (!an || b.at < a.at) : (b.v == a.v ? b.at < a.at : (Sign > 0 ? b.v > a.v : b.v < a.v));
    if (better) a = b;
  }
  HT_FN i64 finish(A a, const Reduce&) { return a.at; }
};
typedef Arg<1, double> ArgLargest;
typedef Arg<-1, double> ArgSmallest;
typedef Arg<1, i64> ArgLargestWhole;
typedef Arg<-1, i64> ArgSmallestWhole;
#define ARGS(S, T, Kind) HT_REDUCE(argmax, ArgLargest##Kind, 1, S, T, i64, i64) HT_REDUCE(argmin, ArgSmallest##Kind, 1, S, T, i64, i64)
ARGS(f16, f16, ) ARGS(bf16, bf16, ) ARGS(f32, float, ) ARGS(f64, double, ) ARGS(i64, i64, Whole) ARGS(b8, b8, Whole)

template <int Any> struct Truth {
  typedef int A;
  HT_FN A start(const Reduce&) { return !Any; }
  template <class C> HT_FN void step(A& a, C x, C, i64, const Reduce&) { merge(a, x != 0); }
  HT_FN void merge(A& a, const A& b) { a = Any ? a | b : a & b; }
  HT_FN i64 finish(A a, const Reduce&) { return a; }
};
#define TRUTHS(S, T) HT_REDUCE(any, Truth<1>, 1, S, T, b8, b8) HT_REDUCE(all, Truth<0>, 1, S, T, b8, b8)
TRUTHS(f16, f16) TRUTHS(bf16, bf16) TRUTHS(f32, float) TRUTHS(f64, double) TRUTHS(i64, i64) TRUTHS(b8, b8)

// norm: attr[0] is the power p; infinite ones have kernels of their own.
struct Norm {
  typedef double A;
  HT_FN A start(const Reduce&) { return 0; }
  template <class C> HT_FN void step(A& a, C v, C, i64, const Reduce& p) {
    const double x = ht_abs((double)v), q = p.attr[0];
    a += q == 2 ? x * x : (q == 1 ? x : (q == 0 ? (x != 0 ? 1.0 : 0.0) : ht_pow(x, q)));
  }
  HT_FN void merge(A& a, const A& b) { a += b; }
  HT_FN double finish(A a, const Reduce& p) {
    const double q = p.attr[0];
    return q == 2 ? ht_sqrt(a) : (q == 1 || q == 0 ? a : ht_pow(a, 1 / q));
  }
};
WIDER(norm, Norm)
template <int Sign> struct ExtremeNorm {
  typedef double A;
  HT_FN A start(const Reduce&) { return Sign > 0 ? -1.0 : ht_infinity(); }
  template <class C> HT_FN void step(A& a, C x, C, i64, const Reduce&) { merge(a, ht_abs((double)x)); }
  HT_FN void merge(A& a, const A& b) {
    if (b != b || (Sign > 0 ? b > a : b < a)) a = b;
  }
  HT_FN double finish(A a, const Reduce& p) { return p.reduced == 0 ? ht_nan64() : a; }
};
WIDER(norm_largest, ExtremeNorm<1>)
WIDER(norm_smallest, ExtremeNorm<-1>)

// var and std: attr[0] is the correction.
template <int Root> struct Spread : Spreads {
  HT_FN double finish(const A& a, const Reduce& p) {
    const double v = settled(a).square / (a.n - p.attr[0]);
    return Root ? ht_sqrt(v) : v;
  }
};
template <int Root> struct reduces<Spread<Root>> : reduces<Spreads> {};
SAME(var, Spread<0>)
SAME(std, Spread<1>)

// logsumexp: the largest, and the sum of e^(x - largest).
struct LogSum { double m, s; };
struct LogSumExp {
  typedef LogSum A;
  HT_FN A start(const Reduce&) { return LogSum{-ht_infinity(), 0}; }
  template <class C> HT_FN void step(A& a, C x, C, i64, const Reduce&) { merge(a, LogSum{(double)x, 1}); }
  HT_FN void merge(A& a, const A& b) {
    if (a.m != a.m || b.s == 0) return;
    if (b.m != b.m) { a = b; return; }
    if (b.m > a.m) {
      a.s = a.m - a.m != 0 || b.m - b.m != 0 ? (a.m == b.m ? a.s : 0) + b.s : a.s * exp64(a.m - b.m) + b.s;
      a.m = b.m;
    } else {
      a.s += b.m - b.m != 0 || a.m - a.m != 0 ? (a.m == b.m ? b.s : 0) : b.s * exp64(b.m - a.m);
    }
  }
  HT_FN double finish(const A& a, const Reduce&) { return a.m - a.m != 0 ? a.m : a.m + log64(a.s); }
};
SAME(logsumexp, LogSumExp)

// Σ a·b of two inputs.
struct Dot {
  typedef double A;
  HT_FN A start(const Reduce&) { return 0; }
  template <class C> HT_FN void step(A& a, C x, C y, i64, const Reduce&) { a += (double)x * (double)y; }
  HT_FN void merge(A& a, const A& b) { a += b; }
  HT_FN double finish(A a, const Reduce&) { return a; }
};
template <> struct reduces<Dot> : Reduces { static const int ahead = 4; };
HT_REDUCE(dot, Dot, 2, f16, f16, f16, f16)
HT_REDUCE(dot, Dot, 2, bf16, bf16, bf16, bf16)
HT_REDUCE(dot, Dot, 2, f32, float, f32, float)
HT_REDUCE(dot, Dot, 2, f64, double, f64, double)
