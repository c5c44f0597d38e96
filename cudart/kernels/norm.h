// What the kernels of norms and of their gradients share.
#pragma once
#include "lines.h"

enum { KEEP = 4 };

// LineOf<T>::Vec is 16 bytes of T; LineOf<T>::As<D> as many elements of D: dy may be halves beside a float32 x.
template <class T> struct LineOf {
  typedef typename line_of<T>::type C;
  static const int V = 16 / sizeof(T);
  template <class D> struct alignas(V * sizeof(D)) As { D v[V]; };
  typedef As<T> Vec;
};

// opened makes a vector of what registers hold, anew each time: what is widened of halves is not kept for later.
template <class Vec, class Kept> HT_FN Vec opened(const Kept& kept) {
  struct Words { u32 v[sizeof(Vec) / 4]; } words = __builtin_bit_cast(Words, kept);
#if !defined(HALFTONE_EMULATOR)
  HT_UNROLL for (u32& w : words.v) asm volatile("" : "+r"(w));
#endif
  return __builtin_bit_cast(Vec, words);
}

template <class T> HT_FN Chunk all_of(float x) {
  typename LineOf<T>::Vec v;
  HT_UNROLL for (T& e : v.v) e = narrow<T>::of(x);
  return __builtin_bit_cast(Chunk, v);
}

// line_mean is sum/n, rounded as a division rounds it, by way of 1/n in attr[2]. (It is NaN where sum is infinite.)
HT_FN double line_mean(const Lines& p, double sum) {
  const double q = sum * p.attr[2];
  return ht_fma(ht_fma(-q, (double)p.n, sum), p.attr[2], q);
}

// A lane adds up what it has of a line in eight sums side by side: none waits for the last one, and each rounds less often.
template <class C> struct Eight {
  C v[8];
  HT_FN Eight zero() { return Eight{{0, 0, 0, 0, 0, 0, 0, 0}}; }
};
template <class C> HT_FN double total(const Eight<C>& s) { return (double)(((s.v[0] + s.v[1]) + (s.v[2] + s.v[3])) + ((s.v[4] + s.v[5]) + (s.v[6] + s.v[7]))); }

HT_FN float line_rate(double v, float) { return (float)(1 / ht_sqrt(v)); }
HT_FN double line_rate(double v, double) { return 1 / ht_sqrt(v); }

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
