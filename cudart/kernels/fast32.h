// Elementary functions of the elementwise rows in float32, straight lines of code without branches or calls: a GPU moves 8 bytes of memory in
// the time of some 50 instructions. For float32 (single_…) errors are about a unit in the last place (sigmoid, silu and gelu_tanh, which
// would lose more, compute in float64), and every device gives the same bits but for the reciprocal's; for halves (half_…) they are far below the type's rounding, by the GPU's own approximations. Infinities and NaN
// come out as from the CPU's functions.
#pragma once
#include "prelude.h"

// 2^x and 1/x in one instruction each, for numbers and results that are normal: what is not is 0. half_exp keeps subnormal results.
#if defined(HALFTONE_EMULATOR)
HT_FN float fast_exp2(float x) {
  if (!(x > -126.0f)) return x == x ? 0.0f : x;
  if (x >= 128.0f) return ht_inf<float>();
  const float t = x + 12582912.0f, r = (x - (t - 12582912.0f)) * 0.693147181f;
  const float series[6] = {8.33333377e-3f, 4.16666679e-2f, 1.66666672e-1f, 0.5f, 1.0f, 1.0f};
  float p = 1.38888889e-3f;
  for (int i = 0; i < 6; i++) p = ht_fmaf(p, r, series[i]);
  return p * ht_float((ht_bits32(t) << 23) + 0x3f800000u);
}
HT_FN float fast_inverse(float x) { return 1.0f / x; }
HT_FN float half_exp(float x) {
  const float t = x * 1.44269504f;
  return t < -100.0f ? fast_exp2(t + 64.0f) * 5.42101086e-20f : fast_exp2(t);
}
#else
HT_FN float fast_exp2(float x) { float r; asm("ex2.approx.ftz.f32 %0,%1;" : "=f"(r) : "f"(x)); return r; }
HT_FN float fast_inverse(float x) { float r; asm("rcp.approx.ftz.f32 %0,%1;" : "=f"(r) : "f"(x)); return r; }
HT_FN float half_exp(float x) { float r; asm("ex2.approx.f32 %0,%1;" : "=f"(r) : "f"(x * 1.44269504f)); return r; }
#endif

// fast_power returns 2^k, of the k that exp_parts finds.
HT_FN float fast_power(int k) { return ht_float(((u32)k << 23) + 0x3f800000u); }

// exp_parts writes e^x as p·2^k, for |x| < 2^20: with |r| ≤ ln 2/2, p is 1 + r + r²·(a polynomial of degree 4).
HT_FN float exp_parts(float x, int& k) {
  const float t = ht_fmaf(x, 1.44269504f, 12582912.0f), whole = t - 12582912.0f;
  float r = ht_fmaf(whole, -0.693145752f, x);
  r = ht_fmaf(whole, -1.42860677e-06f, r);
  float p = 1.39504788e-3f;
  p = ht_fmaf(p, r, 8.36888235e-3f);
  p = ht_fmaf(p, r, 4.16662060e-2f);
  p = ht_fmaf(p, r, 1.66665196e-1f);
  p = ht_fmaf(p, r, 0.5f);
  k = (int)(ht_bits32(t) - 0x4b400000u);
  return ht_fmaf(p * r, r, r) + 1.0f;
}
// exp_scaled is p·2^k in two factors: k may be 128, or give a subnormal number.
HT_FN float exp_scaled(float p, int k) { return p * fast_power(k >> 1) * fast_power(k - (k >> 1)); }
HT_FN float signed_as(float y, float x) { return ht_float(ht_bits32(y) | (ht_bits32(x) & 0x80000000u)); }  // for y ≥ 0
HT_FN float most(float x, float b) { return x > b ? b : x; }  // NaN stays

HT_FN float single_exp(float x) {
  x = most(x, 89.0f);
  int k;
  const float p = exp_parts(x < -104.0f ? -104.0f : x, k);
  return exp_scaled(p, k);
}

// single_inverse is 1/x for normal x and results: one step of Newton's.
HT_FN float single_inverse(float x) {
  const float y = fast_inverse(x);
  return ht_fmaf(ht_fmaf(-x, y, 1.0f), y, y);
}

HT_FN float single_tanh(float x) {
  const float a = ht_abs(x), z = x * x;
  float small = -6.28247298e-3f;
  small = ht_fmaf(small, z, 2.10777577e-2f);
  small = ht_fmaf(small, z, -5.38538583e-2f);
  small = ht_fmaf(small, z, 1.33326024e-1f);
  small = ht_fmaf(small, z, -3.33333194e-1f);
  int k;
  const float p = exp_parts(most(2.0f * a, 20.0f), k);
  const float large = ht_fmaf(-2.0f, single_inverse(ht_fmaf(p, fast_power(k), 1.0f)), 1.0f);
  return signed_as(a < 0.55f ? ht_fmaf(small * z, a, a) : large, x);
}

// single_tail returns the normal distribution function at -a for a from 0 to 15, and e^(-a²/2): Φ(-a) is that times t·(a polynomial of
// degree 9) with t = 1/(1 + 0.3a). The square's rounding is put right in the exponential.
HT_FN float single_tail(float a, float& density) {
  const float s = a * a, low = ht_fmaf(a, a, -s);
  int k;
  float p = exp_parts(-0.5f * s, k);
  p = ht_fmaf(-0.5f * p, low, p);
  density = exp_scaled(p, k);
  const float t = single_inverse(ht_fmaf(0.3f, a, 1.0f));
  float q = -2.06234753e-2f;
  q = ht_fmaf(q, t, 1.12435646e-1f);
  q = ht_fmaf(q, t, -2.28213683e-1f);
  q = ht_fmaf(q, t, 1.91784650e-1f);
  q = ht_fmaf(q, t, -7.94235840e-2f);
  q = ht_fmaf(q, t, 9.61568803e-2f);
  q = ht_fmaf(q, t, 7.83896297e-2f);
  q = ht_fmaf(q, t, 1.10235430e-1f);
  q = ht_fmaf(q, t, 1.19571812e-1f);
  q = ht_fmaf(q, t, 1.19686693e-1f);
  return exp_scaled(p * (q * t), k);
}
HT_FN float single_gelu(float x) {
  float density;
  const float tail = single_tail(most(ht_abs(x), 15.0f), density);
  return x * (x < 0.0f ? tail : 1.0f - tail);
}
// The slope: Φ(x) + x·φ(x), where the second term is odd.
HT_FN float single_gelu_slope(float x) {
  float density;
  const float a = most(ht_abs(x), 15.0f), tail = single_tail(a, density);
  const float d = ht_fmaf(-0.398942280f * a, density, tail);
  return x < 0.0f ? d : 1.0f - d;
}
HT_FN float single_silu_slope(float x) {
  const float a = most(ht_abs(x), 104.0f);
  int k;
  const float p = exp_parts(-a, k), t = exp_scaled(p, k), y = single_inverse(1.0f + t);  // σ(a), and 1 - σ(a) is t·y
  return x < 0.0f ? (t * y) * ht_fmaf(-a, y, 1.0f) : y * ht_fmaf(a, t * y, 1.0f);
}
HT_FN float gelu_inner(float x) { return 1.59576912f * ht_fmaf(0.044715f * x * x, x, x); }  // twice the tanh's argument
HT_FN float single_gelu_tanh_slope(float x) {
  const float a = most(ht_abs(x), 12.0f);
  int k;
  const float p = exp_parts(-gelu_inner(a), k), t = exp_scaled(p, k), y = single_inverse(1.0f + t), rest = t * y;
  const float d = ht_fmaf(-a * y * 1.59576912f * ht_fmaf(0.134145f * a, a, 1.0f), rest, rest);  // 1 - the slope at a
  return x < 0.0f ? d : 1.0f - d;
}

// Scaled by 2^-16, so that the reciprocal is a normal number as long as e^-x is one; beyond, the result is 0.
HT_FN float half_sigmoid(float x) {
  const float scale = 1.52587891e-5f;
  return fast_inverse(ht_fmaf(fast_exp2(x * -1.44269504f), scale, scale)) * scale;
}

HT_FN float half_tanh(float x) {
  const float a = ht_abs(x), z = x * x;
  const float large = ht_fmaf(-2.0f, fast_inverse(fast_exp2(a * 2.88539008f) + 1.0f), 1.0f);
  return signed_as(a < 0.3f ? ht_fmaf(ht_fmaf(0.126845464f, z, -0.333155483f) * z, a, a) : large, x);
}

// half_tail returns the normal distribution function at -a, 2 to the power of a polynomial that goes to -∞. Up to 6 its relative error is below
// 10^-5: there float16 ends. For bfloat16 it is below 6·10^-5 up to 13.4.
template <class H> struct half_tail {
  HT_FN float of(float a) {
    float p = -1.83481484e-6f;
    p = ht_fmaf(p, a, 6.15983590e-5f);
    p = ht_fmaf(p, a, -9.30525362e-4f);
    p = ht_fmaf(p, a, 8.50789249e-3f);
    p = ht_fmaf(p, a, -5.39600737e-2f);
    p = ht_fmaf(p, a, -4.58464384e-1f);
    p = ht_fmaf(p, a, -1.15125108f);
    return fast_exp2(ht_fmaf(p, a, -0.999995291f));
  }
};
template <> struct half_tail<bf16> {
  HT_FN float of(float a) {
    float p = -1.83736970e-9f;
    p = ht_fmaf(p, a, 1.35480841e-7f);
    p = ht_fmaf(p, a, -4.38903635e-6f);
    p = ht_fmaf(p, a, 8.26718679e-5f);
    p = ht_fmaf(p, a, -1.01359526e-3f);
    p = ht_fmaf(p, a, 8.63455981e-3f);
    p = ht_fmaf(p, a, -5.38763665e-2f);
    p = ht_fmaf(p, a, -4.58891511e-1f);
    p = ht_fmaf(p, a, -1.15093279f);
    return fast_exp2(ht_fmaf(p, a, -1.00003374f));
  }
};
template <class H> HT_FN float half_gelu(float x) {
  const float tail = half_tail<H>::of(ht_abs(x));
  return x * (x < 0.0f ? tail : 1.0f - tail);
}
template <class H> HT_FN float half_gelu_slope(float x) {
  const float a = most(ht_abs(x), 20.0f), density = fast_exp2(a * a * -0.721347520f);
  const float d = ht_fmaf(-0.398942280f * a, density, half_tail<H>::of(a));
  return x < 0.0f ? d : 1.0f - d;
}
HT_FN float half_gelu_tanh_slope(float x) {
  const float a = most(ht_abs(x), 12.0f), t = fast_exp2(gelu_inner(a) * -1.44269504f), y = fast_inverse(1.0f + t), rest = t * y;
  const float d = ht_fmaf(-a * y * 1.59576912f * ht_fmaf(0.134145f * a, a, 1.0f), rest, rest);
  return x < 0.0f ? d : 1.0f - d;
}
HT_FN float half_silu_slope(float x) {
  const float a = most(ht_abs(x), 100.0f), t = fast_exp2(a * -1.44269504f), y = fast_inverse(1.0f + t), rest = t * y;
  const float d = ht_fmaf(-a * y, rest, rest);
  return x < 0.0f ? d : 1.0f - d;
}
