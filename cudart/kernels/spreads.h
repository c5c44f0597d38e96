// Means and variances in one pass: sums of the distances from one of the elements, and of their squares. The mean is no further from that element
// than the squares tell, so that what cancels costs no more than n units of float64's last place.
#pragma once
#include "reduce.h"

struct Distances { double n, from, sum, square; };
struct Spreads {
  typedef Distances A;
  HT_FN A start(const Reduce&) { return Distances{0, 0, 0, 0}; }
  HT_FN void begin(A&, i64, const Reduce&) {}
  template <class C> HT_FN void step(A& a, C v, C, i64, const Reduce&) {
    const double x = (double)v;
    if (a.n == 0) a.from = x;
    const double d = x - a.from;
    a.n += 1;
    a.sum += d;
    a.square = ht_fma(d, d, a.square);
  }
  // settled is a from its mean: square is the sum of squares from there.
  HT_FN A settled(const A& a) {
    if (a.n == 0) return a;
    const double d = a.sum / a.n, rest = a.square - a.sum * d;
    return Distances{a.n, a.from + d, 0, rest < 0 ? 0 : rest};
  }
  HT_FN void merge(A& a, const A& b) {  // as if all had been measured from a's element: no divisions, which a block would wait for at every level
    if (b.n == 0) return;
    if (a.n == 0) return (void)(a = b);
    const double far = b.from - a.from;
    a.square += b.square + far * ht_fma(b.n, far, 2 * b.sum);
    a.sum += ht_fma(b.n, far, b.sum);
    a.n += b.n;
  }
  // A vector of halves is added up in float32, which has many more digits than they.
  template <class Vec> HT_FN void vector(A& a, const Vec& x) {
    if (a.n == 0) a.from = (double)wide(x.v[0]);
    const float from = (float)a.from;
    float sum = 0, square = 0;
    HT_UNROLL for (int i = 0; i < Vec::n; i++) {
      const float d = wide(x.v[i]) - from;
      sum += d;
      square = ht_fmaf(d, d, square);
    }
    a.n += Vec::n;
    a.sum += (double)sum;
    a.square += (double)square;
  }
};
template <> struct reduces<Spreads> : Reduces { static const int ahead = 4; static const bool whole = true; };
