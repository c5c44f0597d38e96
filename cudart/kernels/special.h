// Functions of float64 that are not straight lines of code: powers, remainders, angles, and sines of large arguments.
#pragma once
#include "math64.h"

HT_FN bool ht_isinf(double x) { return x == x && x - x != 0; }
HT_FN bool ht_sign(double x) { return ht_bits(x) >> 63; }
HT_FN double ht_copysign(double x, double s) { return ht_double((ht_bits(x) & 0x7fffffffffffffffull) | (ht_bits(s) & 0x8000000000000000ull)); }
HT_FN double ht_nan64() { return ht_double(0x7ff8000000000001ull); }
HT_FN double ht_infinity() { return ht_double(0x7ff0000000000000ull); }
HT_FN double ht_power2(int e) { return ht_double((u64)(e + 1023) << 52); }

// ht_ldexp returns m·2^e, rounded once.
HT_FN double ht_ldexp(double m, int e) {
  e = e > 2000 ? 2000 : (e < -2000 ? -2000 : e);
  const int h = e / 2;
  return m * ht_power2(h) * ht_power2(e - h);
}
HT_FN bool ht_odd_whole(double y) {
  if (ht_abs(y) >= 9007199254740992.0) return false;
  const double w = ht_trunc(y);
  return w == y && ((i64)w & 1);
}

// ht_times_power multiplies m·2^exp by x^n, for a finite x other than 0: by repeated squaring.
HT_FN void ht_times_power(double& m, int& exp, double x, u64 n) {
  int e = 0;
  double base = x;
  if (ht_abs(base) < 2.2250738585072014e-308) base *= 4503599627370496.0, e = -52;
  e += (int)((ht_bits(base) >> 52) & 0x7ff) - 1022;
  base = ht_double((ht_bits(base) & 0x800fffffffffffffull) | 0x3fe0000000000000ull);
  HT_ROLLED for (u64 i = n; i != 0; i >>= 1) {
    if (e < -4096 || e > 4096) {  // 0 or infinity
      exp += e;
      break;
    }
    if (i & 1) m *= base, exp += e;
    base *= base;
    e *= 2;
    if (base < 0.5) base += base, e--;
  }
}

// ht_pow is amp's power: the whole part of y by repeated squaring, the rest by exp and log.
HT_MATH double ht_pow(double x, double y) {
  if (y == 0 || x == 1) return 1;
  if (y == 1) return x;
  if (x != x || y != y) return ht_nan64();
  if (ht_isinf(x)) {
    const bool odd = ht_odd_whole(y);
    if (x < 0) return y < 0 ? (odd ? -0.0 : 0.0) : (odd ? -ht_infinity() : ht_infinity());
    return y < 0 ? 0 : ht_infinity();
  }
  if (x == 0) {
    const bool flip = ht_sign(x) && ht_odd_whole(y);
    if (y < 0) return flip ? -ht_infinity() : ht_infinity();
    return flip ? x : 0;
  }
  if (ht_isinf(y) || ht_abs(y) >= 9223372036854775808.0) {
    if (x == -1) return 1;
    return (ht_abs(x) < 1) == (y > 0) ? 0 : ht_infinity();
  }
  if (y == 0.5) return ht_sqrt(x);
  if (y == -0.5) return 1 / ht_sqrt(x);
  double whole = ht_trunc(ht_abs(y)), part = ht_abs(y) - whole;
  if (part != 0 && x < 0) return ht_nan64();
  double m = 1;
  int exp = 0;  // the result is m·2^exp
  if (part != 0) {
    if (part > 0.5) part -= 1, whole += 1;
    m = exp64(part * log64(x));
  }
  ht_times_power(m, exp, x, (u64)whole);
  if (y < 0) m = 1 / m, exp = -exp;
  return ht_ldexp(m, exp);
}

// ht_fmod is exact: long division in binary.
HT_MATH double ht_fmod(double x, double y) {
  if (y == 0 || !ht_finite(x) || y != y) return ht_nan64();
  if (ht_isinf(y)) return x;
  const u64 top = 1ull << 52, mask = top - 1;
  const u64 a = ht_bits(x) & 0x7fffffffffffffffull, b = ht_bits(y) & 0x7fffffffffffffffull;
  if (a < b) return x;
  int ea = (int)(a >> 52), eb = (int)(b >> 52);
  u64 ma = a & mask, mb = b & mask;
  if (ea) ma |= top; else ea = 1;
  if (eb) mb |= top; else eb = 1;
  HT_ROLLED for (; ea > eb; ea--) {
    if (ma >= mb) ma -= mb;
    ma <<= 1;
  }
  if (ma >= mb) ma -= mb;
  if (ma == 0) return ht_copysign(0.0, x);
  HT_ROLLED while (ma < top && ea > 1) ma <<= 1, ea--;
  const u64 r = ma < top ? ma : (ma & mask) | ((u64)ea << 52);
  return ht_copysign(ht_double(r), x);
}
HT_FN double ht_floormod(double a, double b) {
  double r = ht_fmod(a, b);
  if (r != 0 && (r < 0) != (b < 0)) r += b;
  return r;
}

HT_FN double ht_floordiv(double a, double b) {
  if (b == 0) return a / b;
  const double r = ht_fmod(a, b);
  double q = (a - r) / b;
  if (r != 0 && (r < 0) != (b < 0)) q -= 1;
  if (q == 0) return ht_copysign(0.0, a / b);
  const double whole = ht_floor(q);
  return q - whole > 0.5 ? whole + 1 : whole;
}

HT_FN double ht_hypot(double a, double b) {
  a = ht_abs(a), b = ht_abs(b);
  if (a < b) { const double t = a; a = b, b = t; }
  if (a == ht_infinity() || b == ht_infinity()) return ht_infinity();
  if (a == 0 && b == 0) return 0;
  const double q = b / a;
  return a * ht_sqrt(1 + q * q);
}

HT_FN double ht_logaddexp(double a, double b) {
  if (a == b && ht_isinf(a)) return a;
  return (b > a || b != b ? b : a) + log1p64(exp64(-ht_abs(a - b)));
}

HT_MATH double ht_atan2(double y, double x) {
  const double pi = 3.141592653589793;
  if (x != x || y != y) return ht_nan64();
  if (y == 0) return x > 0 || (x == 0 && !ht_sign(x)) ? ht_copysign(0.0, y) : ht_copysign(pi, y);
  if (x == 0) return ht_copysign(pi / 2, y);
  if (ht_isinf(x)) {
    if (x > 0) return ht_isinf(y) ? ht_copysign(pi / 4, y) : ht_copysign(0.0, y);
    return ht_isinf(y) ? ht_copysign(3 * pi / 4, y) : ht_copysign(pi, y);
  }
  if (ht_isinf(y)) return ht_copysign(pi / 2, y);
  const double q = atan64(y / x);
  return x > 0 ? q : (q <= 0 ? q + pi : q - pi);
}

// A quadrant writes x as k·π/2 + r + c.
struct quadrant { int k; double r, c; };

// ht_quadrant is for |x| > 2^20: the product with 256 bits of 2/π, of which multiples of 4 do not matter.
HT_MATH quadrant ht_quadrant(double x) {
  const u64 bits[22] = {0, 0xa2f9836e4e441529ull, 0xfc2757d1f534ddc0ull, 0xdb6295993c439041ull, 0xfe5163abdebbc561ull, 0xb7246e3a424dd2e0ull,
                        0x06492eea09d1921cull, 0xfe1deb1cb129a73eull, 0xe88235f52ebb4484ull, 0xe99c7026b45f7e41ull, 0x3991d639835339f4ull,
                        0x9c845f8bbdf9283bull, 0x1ff897ffde05980full, 0xef2f118b5a0a6d1full, 0x6d367ecf27cb09b7ull, 0x4f463f669e5fea2dull,
                        0x7527bac7ebe5f17bull, 0x3d0739f78a5292eaull, 0x6bfb5fb11f8d5d08ull, 0x56033046fc7b6babull, 0xf0cfbc209af4361dull, 0};
  if (!ht_finite(x)) return quadrant{0, ht_nan64(), 0};
  const u64 a = ht_bits(x) & 0x7fffffffffffffffull;
  const int s = (int)(a >> 52) - 1023 - 52 - 2 + 64;  // bits of the table (64 zeros first) to leave out
  const u64 m = (a & 0xfffffffffffffull) | (1ull << 52);
  u64 p[4] = {0, 0, 0, 0}, carry = 0;  // m times the window, modulo 2^256, the lowest word first
  HT_UNROLL for (int i = 0; i < 4; i++) {
    const int at = s + 192 - 64 * i, w = at >> 6, sh = at & 63;
    const u64 word = sh ? (bits[w] << sh) | (bits[w + 1] >> (64 - sh)) : bits[w];
    const unsigned __int128 t = (unsigned __int128)m * word + carry;
    p[i] = (u64)t;
    carry = (u64)(t >> 64);
  }
  int k = (int)(p[3] >> 62);
  p[3] &= 0x3fffffffffffffffull;
  const bool minus = p[3] >> 61;
  if (minus) {  // the fraction less one, by its size
    k++;
    u64 one = 1;
    HT_UNROLL for (int i = 0; i < 4; i++) {
      const u64 v = ~p[i] + one;
      one = one && v == 0;
      p[i] = v;
    }
    p[3] &= 0x3fffffffffffffffull;
  }
  int e = -254 + 192;  // of the unit of p[3]
  HT_ROLLED for (int i = 0; i < 2 && p[3] == 0; i++) p[3] = p[2], p[2] = p[1], p[1] = p[0], p[0] = 0, e -= 64;
  HT_ROLLED while (!(p[3] >> 63)) p[3] = (p[3] << 1) | (p[2] >> 63), p[2] = (p[2] << 1) | (p[1] >> 63), p[1] <<= 1, e--;
  const double high = (double)(p[3] >> 11), low = (double)(((p[3] & 0x7ff) << 42) | (p[2] >> 22));
  const double fh = ht_ldexp(high, e + 11), fl = ht_ldexp(low, e - 42);
  const double ph = 1.5707963267948966, pl = 6.123233995736766e-17;
  double r = fh * ph, c = ht_fma(fh, ph, -r) + (fh * pl + fl * ph);
  const double sum = r + c;
  c = c - (sum - r);
  r = sum;
  if (minus) r = -r, c = -c;
  if (x < 0) return quadrant{(-k) & 3, -r, -c};
  return quadrant{k & 3, r, c};
}
HT_FN double ht_turn(int k, double r, double c) {
  double y = sin64(r), low = c * cos64(r);
  if (k & 1) { const double t = -(c * y); y = cos64(r), low = t; }
  y += low;
  return k & 2 ? -y : y;
}
HT_FN double ht_sin(double x) {
  if (ht_abs(x) <= 1048576.0) return sin64(x);
  const quadrant q = ht_quadrant(x);
  return ht_turn(q.k, q.r, q.c);
}
HT_FN double ht_cos(double x) {
  if (ht_abs(x) <= 1048576.0) return cos64(x);
  const quadrant q = ht_quadrant(x);
  return ht_turn(q.k + 1, q.r, q.c);
}
HT_FN double ht_tan(double x) {
  if (ht_abs(x) <= 1048576.0) return tan64(x);
  const quadrant q = ht_quadrant(x);
  double t = tan64(q.r);
  t += q.c * (1 + t * t);
  return q.k & 1 ? -1 / t : t;
}

// ht_erfinv: Giles' approximation and two steps of Halley's method.
HT_MATH double ht_erfinv(double x) {
  const double middle[9] = {1.50140941, 0.246640727, -0.00417768164, -0.00125372503, 0.00021858087, -4.39150654e-06, -3.5233877e-06, 3.43273939e-07, 2.81022636e-08};
  const double ends[9] = {2.83297682, 1.00167406, 0.00943887047, -0.0076224613, 0.00573950773, -0.00367342844, 0.00134934322, 0.000100950558, -0.000200214257};
  const double a = ht_abs(x), half = 0.88622692545275801364908374167057;  // √π/2
  if (a == 1) return ht_copysign(ht_infinity(), x);
  if (!(a < 1)) return ht_nan64();
  if (a < 9.3132257461547852e-10) return x * half;
  double w = -log64((1 - a) * (1 + a)) - 2.5, y = 0;
  const bool end = w >= 2.5;
  if (end) w = ht_sqrt(w + 2.5) - 3;
  HT_UNROLL for (int i = 8; i >= 0; i--) y = ht_fma(y, w, end ? ends[i] : middle[i]);
  y *= a;
  HT_ROLLED for (int i = 0; i < 2; i++) {
    double off = a < 0.5 ? erf64(y) - a : (1 - a) - erfc64(y);
    off = off * half * exp64(y * y);
    y -= off / ht_fma(y, off, 1.0);
  }
  return ht_copysign(y, x);
}

// ht_polynomial is the sum of c[i]·x^i for n of them.
HT_FN double ht_polynomial(const double* c, int n, double x) {
  double y = 0;
  HT_UNROLL for (int i = n - 1; i >= 0; i--) y = ht_fma(y, x, c[i]);
  return y;
}
// ht_lgamma_two is log Γ(2+z)/z for z from -1/2 to 1/2; ht_lgamma_one is log Γ(1+z), ht_lgamma_above log Γ(a) from 1/2 on.
HT_MATH double ht_lgamma_two(double z) {
  const double two[18] = {0.42278433509846713, 0.3224670334241132, -0.06735230105319563, 0.02058080842778338, -0.007385551028935545, 0.002890510330865901,
                          -0.0011927539009983087, 0.0005096695196526673, -0.00022315497746292723, 9.945761692157133e-05, -4.4923727564247656e-05,
                          2.050601970174762e-05, -9.45628851510172e-06, 4.3828545383846665e-06, -1.9743106888421067e-06, 9.242852225162277e-07,
                          -5.811277768921246e-07, 2.7475390051909663e-07};
  return ht_polynomial(two, 18, z);
}
HT_FN double ht_lgamma_one(double z) { return z * ht_lgamma_two(z) - log1p64(z); }
HT_MATH double ht_lgamma_above(double a) {
  if (a >= 10) {
    const double stirling[7] = {1.0 / 12, -1.0 / 360, 1.0 / 1260, -1.0 / 1680, 1.0 / 1188, -691.0 / 360360, 1.0 / 156};
    const double rest = ht_polynomial(stirling, 7, 1 / (a * a)) / a;
    return ht_fma(a - 0.5, log64(a) - 1, 0.4189385332046727 + rest);
  }
  if (a < 1.5) return ht_lgamma_one(a - 1);
  double p = 1;
  HT_ROLLED for (; a >= 2.5;) a -= 1, p *= a;
  const double z = a - 2;
  return ht_fma(z, ht_lgamma_two(z), log64(p));
}
HT_MATH double ht_lgamma(double x) {
  const double a = ht_abs(x), pi = 3.141592653589793;
  if (!ht_finite(x)) return a;
  if (x <= 0 && x == ht_floor(x)) return ht_infinity();
  if (a < 0.5) return ht_lgamma_one(x) - log64(a);
  if (x > 0) return ht_lgamma_above(x);
  const double r = a - ht_floor(a + 0.5);
  return log64(pi / (a * ht_abs(sin64(pi * r)))) - ht_lgamma_above(a);
}

HT_FN double ht_whole_power(double a, int n) {
  double p = 1;
  HT_ROLLED for (int i = 0; i < n; i++) p *= a;
  return p;
}
// ht_polygamma_above is the derivative n of digamma above 0, by Euler and Maclaurin's formula.
HT_MATH double ht_polygamma_above(int n, double x) {
  const double euler[8] = {1.0 / 12, -1.0 / 720, 1.0 / 30240, -1.0 / 1209600, 1.0 / 47900160, -691.0 / 1307674368000, 1.0 / 74724249600, -3617.0 / 10670622842880000};
  double a = x, sum = 0;
  HT_ROLLED for (int k = 1; a < (double)(12 + n); k++) {
    sum += 1 / ht_whole_power(a, n + 1);
    a = x + (double)k;
  }
  double rest = n == 0 ? -log64(a) : 1 / (double)n;
  rest += 0.5 / a;
  const double w = 1 / (a * a);
  double p = w * (double)(n + 1);
  HT_UNROLL for (int j = 0; j < 8; j++) {
    rest = ht_fma(p, euler[j], rest);
    p = p * w * (double)((n + 2 * j + 2) * (n + 2 * j + 3));
  }
  sum += rest / ht_whole_power(a, n);
  HT_ROLLED for (int k = 2; k <= n; k++) sum *= (double)k;
  return n & 1 ? sum : -sum;
}
HT_MATH double ht_polygamma(int n, double x) {
  if (x > 0 || x != x) return ht_polygamma_above(n, x);
  if (x == 0 && n == 0) return ht_copysign(ht_infinity(), -x);
  if (x == ht_floor(x)) {
    if (n == 0 || (n == 1 && ht_isinf(x))) return ht_nan64();
    return n & 1 ? ht_infinity() : -ht_infinity();
  }
  double mirrored = ht_polygamma_above(n, 1 - x) - ht_polygamma_above(n, ht_ceil(x) - x);
  if (n & 1) mirrored = -mirrored;
  return ht_polygamma_above(n, x - ht_floor(x)) + mirrored;
}

// A product of many numbers whose exponent is kept apart: m·2^e with m in [0.5, 1), or 0, infinite or NaN with e 0. However it is put
// together it neither overflows nor underflows on the way, so that 0·∞ is that of elements alone.
struct Scaled { double m; i64 e; };
HT_FN Scaled scaled(double v) {
  if (v == 0 || !ht_finite(v)) return Scaled{v, 0};
  i64 e = 0;
  if (ht_abs(v) < 2.2250738585072014e-308) v *= 18014398509481984.0, e = -54;
  const u64 b = ht_bits(v);
  return Scaled{ht_double((b & 0x800fffffffffffffull) | 0x3fe0000000000000ull), e + (i64)((b >> 52) & 0x7ff) - 1022};
}
HT_FN Scaled scaled_product(const Scaled& a, const Scaled& b) {
  Scaled r = scaled(a.m * b.m);
  if (r.m != 0 && ht_finite(r.m)) r.e += a.e + b.e;
  return r;
}
HT_FN double scaled_value(const Scaled& a) {
  if (a.e > 1024) return a.m * ht_infinity();
  if (a.e < -1080) return a.m * 0;
  return ht_ldexp(a.m, (int)a.e);
}
