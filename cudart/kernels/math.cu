// Elementary functions: float64 inside, the CPU's own operations, and for halves and float32 of the commonest ones float32.
#include "map.h"
#include "refuse.h"
#include "fast32.h"
#include "math32.h"
#include "special.h"

FAST1(exp, half_exp(x), single_exp(x), exp64(x))
FAST1(tanh, half_tanh(x), single_tanh(x), tanh64(x))
FAST1(sigmoid, half_sigmoid(x), sigmoid32(x), sigmoid64(x))
FAST1(log, ht_log(x), (float)log64((double)x), log64(x))
UNARY(sqrt, ht_sqrt(x))
WIDE1(rsqrt, 1 / ht_sqrt(x))
WIDE1(reciprocal, 1 / x)
WIDE1(expm1, expm164(x))
WIDE1(log1p, log1p64(x))
WIDE1(log2, log264(x))
WIDE1(log10, log1064(x))
WIDE1(exp2, exp264(x))
WIDE1(sin, ht_sin(x))
WIDE1(cos, ht_cos(x))
WIDE1(tan, ht_tan(x))
WIDE1(sinh, sinh64(x))
WIDE1(cosh, cosh64(x))
WIDE1(asin, asin64(x))
WIDE1(acos, acos64(x))
WIDE1(atan, atan64(x))
WIDE1(asinh, asinh64(x))
WIDE1(acosh, acosh64(x))
WIDE1(atanh, atanh64(x))
WIDE1(erf, erf64(x))
WIDE1(erfc, erfc64(x))
WIDE1(erfinv, ht_erfinv(x))
WIDE1(lgamma, ht_lgamma(x))
WIDE1(polygamma, ht_polygamma((int)m.attr[0], x))  // digamma for 0

WIDE1(floor, ht_floor(x))
WIDE1(ceil, ht_ceil(x))
WIDE1(round, ht_rint(x))
WIDE1(trunc, ht_trunc(x))
WIDE1(frac, x - ht_trunc(x))

WIDE2(pow, ht_pow(x, y))
WIDE2(atan2, ht_atan2(x, y))
WIDE2(hypot, ht_hypot(x, y))
WIDE2(logaddexp, ht_logaddexp(x, y))
WIDE2(fmod, ht_fmod(x, y))
WIDE2(remainder, ht_floormod(x, y))
WIDE2(floor_divide, ht_floordiv(x, y))
// Of integers: modulo 2^64, rounded toward 0 where the exponent is negative.
HT_FN i64 ht_whole_pow(i64 x, i64 y) {
  if (y < 0) return x == 1 ? 1 : (x == -1 ? ((y & 1) != 0 ? -1 : 1) : 0);
  u64 p = 1, square = (u64)x;
  HT_ROLLED for (u64 left = (u64)y; left != 0; left >>= 1) {
    if ((left & 1) != 0) p *= square;
    square *= square;
  }
  return (i64)p;
}
struct whole_pow_row {
  template <class C> HT_FN i64 f(C x, C y, i64 i, const Map& m) { (void)i; (void)m; return ht_whole_pow((i64)x, (i64)y); }
};
HT_KERNEL(pow_i64, Map, m) { map2<whole_pow_row, i64, i64, i64>(m); }
// Of integers: the remainder, or the quotient. There is none of a division by 0, which the host is told of.
struct WholeMod {
  Map m;
  Guard guard;
};
template <bool Floor, bool Quotient> struct whole_mod {
  const WholeMod& p;
  __device__ __forceinline__ void one(const i64 (&off)[3], i64 i) {
    const i64 x = ((const i64*)p.m.ptr[1])[off[1]], y = ((const i64*)p.m.ptr[2])[off[2]];
    i64 r = 0, q = (i64)(0 - (u64)x);  // by -1
    if (y == 0) refuse(p.guard, i, 0, 0, 0), q = 0;
    else if (y != -1) r = x % y, q = Quotient ? x / y : 0;
    if (Floor && r != 0 && (r < 0) != (y < 0)) r += y, q--;
    ((i64*)p.m.ptr[0])[off[0]] = Quotient ? q : r;
  }
  __device__ __forceinline__ void vector(const i64 (&off)[3], i64 i) { one(off, i); }
};
HT_KERNEL(fmod_i64, WholeMod, p) { map_pass<3, 1>(p.m, whole_mod<false, false>{p}); }
HT_KERNEL(remainder_i64, WholeMod, p) { map_pass<3, 1>(p.m, whole_mod<true, false>{p}); }
HT_KERNEL(floor_divide_i64, WholeMod, p) { map_pass<3, 1>(p.m, whole_mod<true, true>{p}); }

// pow_scalar takes roots where the power is one; m.attr[0] is the power in the dtype's arithmetic.
WIDE1(pow_scalar, m.attr[0] == 0.5 ? ht_sqrt(x) : (m.attr[0] == -0.5 ? 1 / ht_sqrt(x) : ht_pow(x, m.attr[0])))
WIDE1(rpow_scalar, ht_pow(m.attr[0], x))
WIDE1(abs_pow, x == 0 && m.attr[0] < 0 ? 0.0 : ht_pow(ht_abs(x), m.attr[0]))
WIDE1(signed_pow, x == 0 ? 0.0 : ht_copysign(ht_pow(ht_abs(x), m.attr[0]), x))
