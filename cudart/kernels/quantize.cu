// quantize: x rounded to another format, to nearest even or to one of its two neighbors at random, in float64.
#include "map.h"
#include "special.h"

// attr: bits of the mantissa, exponent of the smallest normal number, the largest number, and 1 where the format has no infinity.
struct Quantize {
  Map m;
  int random, unused;
};
HT_FN double quantize(double v, const Quantize& p, i64 i) {
  const Map& m = p.m;
  const bool none = m.attr[3] != 0;
  if (v == 0 || v != v || (!ht_finite(v) && !none)) return v;
  const double a = ht_abs(v);
  double r = a;
  if (ht_finite(a)) {
    const int low = (int)m.attr[1];
    int e = (int)((ht_bits(a) >> 52) & 0x7ff) - 1023;
    if (e < low) e = low;
    e -= (int)m.attr[0];  // of the unit
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
