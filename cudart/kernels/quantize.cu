// quantize: x rounded to another format, to nearest even or to one of its two neighbors at random, in float64; quantize_scaled: with a scale.
#include "map.h"
#include "special.h"

// attr: bits of the mantissa, exponent of the smallest normal number, the largest number, and 1 where the format has no infinity.
struct Quantize {
  Map m;
  int random, unused;
};
// exponent_of is that of the leading digit; of a subnormal number of float64 it is that of the largest.
HT_FN int exponent_of(double a) { return (int)((ht_bits(a) >> 52) & 0x7ff) - 1023; }
// unit_of is the exponent of the format's spacing around a.
HT_FN int unit_of(double a, const Map& m) {
  const int low = (int)m.attr[1], e = exponent_of(a);
  return (e < low ? low : e) - (int)m.attr[0];
}
HT_FN double quantize(double v, const Quantize& p, i64 i) {
  const Map& m = p.m;
  const bool none = m.attr[3] != 0;
  if (v == 0 || v != v || (!ht_finite(v) && !none)) return v;
  const double a = ht_abs(v);
  double r = a;
  if (ht_finite(a)) {
    const int e = unit_of(a, m);
    const double q = a * ht_power2(-e);
    if (p.random) {
      const u32 u = number_of(philox(stream_of(m.ptr[4], m.seed, m.block), (u64)(i >> 2)), (u64)i);
      r = ht_floor(q);
      if (q - r > (double)u / 4294967296.0) r += 1;
    } else {
      r = ht_rint(q);
    }
    r *= ht_power2(e);
  }
  if (r > m.attr[2]) r = none ? ht_nan64() : ht_infinity();
  return ht_copysign(r, v);
}
template <class T> HT_FN void quantize_pass(const Quantize& p) {
  const Map& m = p.m;
  const i64 i = (i64)blockIdx.x * MAP_THREADS + threadIdx.x;
  if (i >= m.n) return;
  i64 off[2];
  offsets<2>(m, i, off);
  ((T*)m.ptr[0])[off[0]] = narrow<T>::of(quantize((double)wide(((const T*)m.ptr[1])[off[1]]), p, i));
}
HT_KERNEL(quantize_f16, Quantize, p) { quantize_pass<f16>(p); }
HT_KERNEL(quantize_bf16, Quantize, p) { quantize_pass<bf16>(p); }
HT_KERNEL(quantize_f32, Quantize, p) { quantize_pass<float>(p); }
HT_KERNEL(quantize_f64, Quantize, p) { quantize_pass<double>(p); }

// scale_exponent is the largest k from -126 to 126 with amax·2^(k + margin) ≤ the format's largest number; 0 for an amax that says nothing.
HT_FN int scale_exponent(double amax, const Map& m) {
  if (!(amax > 0) || !ht_finite(amax)) return 0;
  const u64 fraction = 0xfffffffffffffull;
  const double top = m.attr[2];
  int k = exponent_of(top) - exponent_of(amax) - (int)m.block;
  if ((ht_bits(amax) & fraction) > (ht_bits(top) & fraction)) k--;
  return k < -126 ? -126 : (k > 126 ? 126 : k);
}

// As Format.roundScaled. attr as above, but attr[3] is the largest number of the dtype; block is the margin.
HT_FN double quantize_scaled(double v, double amax, const Map& m) {
  if (!ht_finite(v)) return v;
  const int k = scale_exponent(amax, m);
  double r = ht_abs(v) * ht_power2(k);
  if (r < m.attr[2]) {
    const int e = unit_of(r, m);
    r = ht_rint(r * ht_power2(-e)) * ht_power2(e);
  } else {
    r = m.attr[2];
  }
  double y = r * ht_power2(-k);
  if (y > m.attr[3]) y = (r - r * ht_power2(-(int)m.attr[0] - 1)) * ht_power2(-k);
  return ht_copysign(y, v);
}
WIDE2(quantize_scaled, quantize_scaled(x, y, m))
