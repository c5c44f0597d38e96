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
