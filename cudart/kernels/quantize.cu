// quantize: x rounded to another format, to nearest even or to one of its two neighbors at random, in float64; quantize_scaled: with a scale; hadamard.
#include "map.h"
#include "special.h"

// attr: bits of the mantissa, exponent of the smallest normal number, the largest number, and 1 where the format has no infinity, 2 without NaN.
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
  if (r > m.attr[2]) r = m.attr[3] == 2 ? m.attr[2] : (none ? ht_nan64() : ht_infinity());
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
HT_FN int scale_exponent(double amax, const Map& m, int margin) {
  if (!(amax > 0) || !ht_finite(amax)) return 0;
  const u64 fraction = 0xfffffffffffffull;
  const double top = m.attr[2];
  int k = exponent_of(top) - exponent_of(amax) - margin;
  if ((ht_bits(amax) & fraction) > (ht_bits(top) & fraction)) k--;
  return k < -126 ? -126 : (k > 126 ? 126 : k);
}

// As Format.roundScaled. attr as above, but attr[3] is the largest number of the dtype; block is the margin.
HT_FN double quantize_scaled(double v, double amax, const Map& m) {
  if (!ht_finite(v)) return v;
  const int k = scale_exponent(amax, m, (int)m.block);
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

// As amp's quantizeByScales: any scales, to nearest or at random. attr of m as for quantize, but attr[3] is the largest number of the dtype; top is there
// for scales in E4M3, of which those of a tensor are multiplied by 2^least at least.
struct ByScales {
  Map m;
  int random, margin, e4m3, least;
};
// e4m3_scale is that of a block, amax its largest number and top that of all.
HT_FN double e4m3_scale(double amax, double top, const ByScales& p) {
  if (!ht_finite(amax)) return 1;
  int k = 0;
  if (top > 0 && ht_finite(top)) {
    k = exponent_of(top) - 11; // 2688 is 1.3125·2^11
    if ((ht_bits(top) & 0xfffffffffffffull) > (ht_bits(2688.0) & 0xfffffffffffffull)) k++;
    k = k < p.least ? p.least : (k > 126 ? 126 : k);
  }
  double s = amax * ht_power2(-k) / 6;
  int e = exponent_of(s);
  e = (e < -6 ? -6 : e) - 3;
  s = s < 448 ? ht_rint(s * ht_power2(-e)) * ht_power2(e) : 448;
  if (6 * s * ht_power2(k) > p.m.attr[3]) s -= ht_power2(e);
  return s * ht_power2(k);
}
HT_FN double quantize_by_scale(double v, double s, const ByScales& p, i64 i) {
  const Map& m = p.m;
  if (!ht_finite(v)) return v;
  double q = s > 0 ? ht_abs(v) / s : 0;
  if (q > m.attr[2]) q = m.attr[2];
  const int e = unit_of(q, m);
  double t = q * ht_power2(-e), n = ht_rint(t);
  if (p.random) {
    const u32 u = number_of(philox(stream_of(m.ptr[4], m.seed, m.block), (u64)(i >> 2)), (u64)i);
    n = ht_floor(t);
    if (t - n > (double)u / 4294967296.0) n += 1;
  }
  n *= ht_power2(e);
  double y = n * s;
  if (y > m.attr[3]) y = (n - n * ht_power2(-(int)m.attr[0] - 1)) * s;
  return ht_copysign(y, v);
}
template <class T> HT_FN void quantize_by_scales_pass(const ByScales& p) {
  const Map& m = p.m;
  const i64 i = (i64)blockIdx.x * MAP_THREADS + threadIdx.x;
  if (i >= m.n) return;
  i64 off[4];
  offsets<4>(m, i, off);
  const double v = (double)wide(((const T*)m.ptr[1])[off[1]]), amax = (double)wide(((const T*)m.ptr[2])[off[2]]);
  const double top = (double)wide(((const T*)m.ptr[3])[off[3]]);
  const double s = p.e4m3 ? e4m3_scale(amax, top, p) : ht_power2(-scale_exponent(amax, m, p.margin));
  ((T*)m.ptr[0])[off[0]] = narrow<T>::of(quantize_by_scale(v, s, p, i));
}
HT_KERNEL(quantize_by_scales_f16, ByScales, p) { quantize_by_scales_pass<f16>(p); }
HT_KERNEL(quantize_by_scales_bf16, ByScales, p) { quantize_by_scales_pass<bf16>(p); }
HT_KERNEL(quantize_by_scales_f32, ByScales, p) { quantize_by_scales_pass<float>(p); }
HT_KERNEL(quantize_by_scales_f64, ByScales, p) { quantize_by_scales_pass<double>(p); }

// The first numbers of all blocks are the map's elements; the other 15 lie at one distance each in x and in the result.
struct Hadamard {
  Map m;
  i64 from, to;
  int signs, inverse;
};
template <class T, class W> HT_FN void hadamard_pass(const Hadamard& p) {
  const i64 i = (i64)blockIdx.x * MAP_THREADS + threadIdx.x;
  if (i >= p.m.n) return;
  i64 off[2];
  offsets<2>(p.m, i, off);
  const T* x = (const T*)p.m.ptr[1] + off[1];
  T* out = (T*)p.m.ptr[0] + off[0];
  W v[16];
  HT_UNROLL for (int j = 0; j < 16; j++) {
    v[j] = (W)wide(x[j * p.from]);
    if (!p.inverse && (p.signs >> j & 1)) v[j] = -v[j];
  }
  HT_UNROLL for (int half = 1; half < 16; half *= 2) {
    HT_UNROLL for (int j = 0; j < 16; j++) {
      if (j & half) continue;
      const W a = v[j], b = v[j + half];
      v[j] = a + b, v[j + half] = a - b;
    }
  }
  HT_UNROLL for (int j = 0; j < 16; j++) {
    W y = v[j] / 4;
    if (p.inverse && (p.signs >> j & 1)) y = -y;
    out[j * p.to] = narrow<T>::of(y);
  }
}
HT_KERNEL(hadamard_f16, Hadamard, p) { hadamard_pass<f16, float>(p); }
HT_KERNEL(hadamard_bf16, Hadamard, p) { hadamard_pass<bf16, float>(p); }
HT_KERNEL(hadamard_f32, Hadamard, p) { hadamard_pass<float, float>(p); }
HT_KERNEL(hadamard_f64, Hadamard, p) { hadamard_pass<double, double>(p); }
