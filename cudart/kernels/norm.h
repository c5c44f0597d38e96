// What the kernels of norms and of their gradients share.
#pragma once
#include "lines.h"

enum { KEEP = 4 };

HT_FN float line_rate(double v, float) { return (float)(1 / ht_sqrt(v)); }
HT_FN double line_rate(double v, double) { return 1 / ht_sqrt(v); }

// LineOf<T>::Vec is 16 bytes of T; LineOf<T>::As<D> as many elements of D: dy may be halves beside a float32 x.
template <class T> struct LineOf {
  typedef typename line_of<T>::type C;
  static const int V = 16 / sizeof(T);
  template <class D> struct alignas(V * sizeof(D)) As { D v[V]; };
  typedef As<T> Vec;
};

// The mean of a line, as a number and the rest that it leaves out, and the sum of the squares of what lies around it, without Center
// around 0: for lines of any step, element by element. All of the line's lanes get it.
template <class C> struct Spread { C mean, rest; double squares; };
template <bool Center, class T> HT_FN Spread<typename line_of<T>::type> line_spread(const Lines& p, const T* x, i64 step, int lane) {
  typedef typename line_of<T>::type C;
  double sum = 0, squares = 0;
  if (Center) {
    for (int i = lane; i < p.n; i += p.lanes) sum += (double)wide(x[i * step]);
    sum = across<Plus>(sum, p.lanes) / p.n;
  }
  const C mean = (C)sum, rest = (C)(sum - (double)mean);
  for (int i = lane; i < p.n; i += p.lanes) {
    const C d = (C)wide(x[i * step]) - mean - rest;
    squares += (double)d * (double)d;
  }
  return {mean, rest, across<Plus>(squares, p.lanes)};
}
