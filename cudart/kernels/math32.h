// Exponential and logarithm in float32, for halves and for the insides of rows that round once: errors are a few units of 2^-24, by the same
// operations on every device.
#pragma once
#include "prelude.h"

// ht_exp returns e^x: 2^k·e^r with |r| ≤ ln 2/2 and a polynomial of degree 6.
HT_FN float ht_exp(float x) {
  if (!(x < 89.0f)) return x + ht_inf<float>();  // +Inf, or NaN
  if (x < -104.0f) return 0.0f;
  const float t = ht_fmaf(x, 1.44269504f, 12582912.0f);
  const float k = t - 12582912.0f;
  float r = ht_fmaf(k, -0.693145752f, x);
  r = ht_fmaf(k, -1.42860677e-06f, r);
  float p = 1.38888889e-3f;
  p = ht_fmaf(p, r, 8.33333377e-3f);
  p = ht_fmaf(p, r, 4.16666679e-2f);
  p = ht_fmaf(p, r, 1.66666672e-1f);
  p = ht_fmaf(p, r, 0.5f);
  p = ht_fmaf(p * r, r, r) + 1.0f;
  const int e = (int)k, half = e / 2;  // in two factors: k may be 128, or give a subnormal number
  return p * ht_float((u32)(half + 127) << 23) * ht_float((u32)(e - half + 127) << 23);
}

// ht_log returns the natural logarithm.
HT_FN float ht_log(float x) {
  if (!(x > 0.0f)) return x == 0.0f ? -ht_inf<float>() : ht_float(0x7fc00000u);
  if (!(x < ht_inf<float>())) return x;
  float scale = 0.0f;
  if (x < 1.17549435e-38f) x *= 8388608.0f, scale = -23.0f;
  const u32 b = ht_bits32(x) - 0x3f3504f3u;  // 1/√2
  const int e = (int)b >> 23;
  const float m = ht_float((b & 0x7fffffu) + 0x3f3504f3u), f = m - 1.0f, k = (float)e + scale;
  const float s = f / (2.0f + f), z = s * s;
  float p = ht_fmaf(z, 0.15313837f, 0.18183572f);
  p = ht_fmaf(p, z, 0.22222199f);
  p = ht_fmaf(p, z, 0.28571429f);
  p = ht_fmaf(p, z, 0.4f);
  p = ht_fmaf(p, z, 0.66666669f) * z;
  const float half = 0.5f * f * f;
  return ht_fmaf(k, 0.693145752f, f - (half - ht_fmaf(s, half + p, k * 1.42860677e-06f)));
}
