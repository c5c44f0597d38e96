// Sums, products, quotients, choices and comparisons of elements, and the conversions between dtypes.
#include "map.h"

#define BINARY_INTS(name, expr) BINARY(name, expr) HT_MAP2(name, i64, i64)


BINARY_INTS(add, x + y)
BINARY_INTS(sub, x - y)
BINARY_INTS(mul, x* y)
BINARY(div, x / y)
BINARY(div_nonzero, y != 0 ? x / y : (C)0)
BINARY(xmul, x == 0 ? (C)0 : x * y)
UNARY(neg, -x)
UNARY(add_scalar, x + (C)m.attr[0])
UNARY(mul_scalar, x*(C)m.attr[0])
WIDE2(lerp_scalar, m.attr[0] < 0.5 ? x + m.attr[0] * (y - x) : y - (y - x) * (1 - m.attr[0]))

// As Go's max and min: NaN where either is, and -0 below 0.
template <class C> struct bound {
  HT_FN C max(C x, C y) { return x != x || y != y ? x + y : (x == y ? (x == 0 ? x + y : x) : (x > y ? x : y)); }
  HT_FN C min(C x, C y) { return x != x || y != y ? x + y : (x == y ? (x == 0 ? -(-x - y) : x) : (x < y ? x : y)); }
};
BINARY_INTS(maximum, bound<C>::max(x, y))
BINARY_INTS(minimum, bound<C>::min(x, y))

UNARY(relu, x > 0 ? x : (x != x ? x : (C)0))
BINARY(relu_backward, y <= 0 ? (C)0 : x)
UNARY(sign, x > 0 ? (C)1 : (x < 0 ? (C)-1 : x))
UNARY(abs, x < 0 ? -x : x + (C)0)
WIDE1(clamp, x < m.attr[0] ? m.attr[0] : (x > m.attr[1] ? m.attr[1] : x))

// Comparisons and questions give bools.
#define HT_BOOL2(name, S, T) \
  HT_KERNEL(name##_##S, Map, m) { map2<name##_row, b8, T, T>(m); }
#define COMPARE(name, expr)                                                                                               \
  struct name##_row { template <class C> HT_FN i64 f(C x, C y, i64 i, const Map& m) { (void)i; (void)m; return (expr) ? 1 : 0; } }; \
  HT_BOOL2(name, f16, f16) HT_BOOL2(name, bf16, bf16) HT_BOOL2(name, f32, float) HT_BOOL2(name, f64, double) HT_BOOL2(name, i64, i64) HT_BOOL2(name, b8, b8)
COMPARE(eq, x == y)
COMPARE(ne, x != y)
COMPARE(lt, x < y)
COMPARE(le, x <= y)
COMPARE(gt, x > y)
COMPARE(ge, x >= y)
COMPARE(logical_and, x != 0 && y != 0)
COMPARE(logical_or, x != 0 || y != 0)
COMPARE(logical_xor, (x != 0) != (y != 0))

// The bits of integers, by amp's bitwiseModes; a shift by 64 and more, or less than 0, leaves nothing but the sign.
struct bitwise_row {
  template <class C> HT_FN i64 f(C v, C w, i64 i, const Map& m) {
    (void)i;
    const i64 x = (i64)v, y = (i64)w;
    const bool far = (u64)y > 63;
    switch ((int)m.attr[0]) {
      case 0: return x & y;
      case 1: return x | y;
      case 2: return x ^ y;
      case 3: return far ? 0 : (i64)((u64)x << y);
    }
    return x >> (far ? 63 : y);
  }
};
HT_KERNEL(bitwise_i64, Map, m) { map2<bitwise_row, i64, i64, i64>(m); }

#define HT_BOOL1(name, S, T) \
  HT_KERNEL(name##_##S, Map, m) { map1<name##_row, b8, T>(m); }
#define QUESTION(name, expr)                                                                                        \
  struct name##_row { template <class C> HT_FN i64 f(C x, i64 i, const Map& m) { (void)i; (void)m; return (expr) ? 1 : 0; } }; \
  HT_BOOL1(name, f16, f16) HT_BOOL1(name, bf16, bf16) HT_BOOL1(name, f32, float) HT_BOOL1(name, f64, double) HT_BOOL1(name, i64, i64) HT_BOOL1(name, b8, b8)
QUESTION(isnan, x != x)
QUESTION(isfinite, x - x == 0)
QUESTION(isinf, x == x && x - x != 0)
QUESTION(logical_not, x == 0)

// Three inputs.
#define TERNARY(name, expr)                                                                                                          \
  struct name##_row {                                                                                                                \
    template <class C> HT_FN double f(C u, C v, C w, i64 i, const Map& m) {                                                          \
      (void)i; (void)m; const double x = (double)u, y = (double)v, z = (double)w; return (expr);                                     \
    }                                                                                                                                \
  };                                                                                                                                 \
  HT_KERNEL(name##_f16, Map, m) { map3<name##_row, f16, f16, f16, f16>(m); }                                                         \
  HT_KERNEL(name##_bf16, Map, m) { map3<name##_row, bf16, bf16, bf16, bf16>(m); }                                                    \
  HT_KERNEL(name##_f32, Map, m) { map3<name##_row, float, float, float, float>(m); }                                                 \
  HT_KERNEL(name##_f64, Map, m) { map3<name##_row, double, double, double, double>(m); }
HT_FN double ht_larger(double a, double b) { return b > a || b != b ? b : a; }
HT_FN double ht_smaller(double a, double b) { return b < a || b != b ? b : a; }
TERNARY(addcmul, x + m.attr[0] * y * z)
TERNARY(addcdiv, x + m.attr[0] * y / z)
TERNARY(lerp, z < 0.5 ? x + z * (y - x) : y - (y - x) * (1 - z))
TERNARY(clamp_tensor, ht_smaller(ht_larger(x, y), z))
TERNARY(prelu_backward, y > 0 ? x : z * x)

struct where_row { template <class M, class C> HT_FN C f(M x, C y, C z, i64, const Map&) { return x != 0 ? y : z; } };
HT_KERNEL(where_f16, Map, m) { map3<where_row, f16, f16, f16, f16>(m); }
HT_KERNEL(where_bf16, Map, m) { map3<where_row, bf16, bf16, bf16, bf16>(m); }
HT_KERNEL(where_f32, Map, m) { map3<where_row, float, float, float, float>(m); }
HT_KERNEL(where_f64, Map, m) { map3<where_row, double, double, double, double>(m); }
HT_KERNEL(where_i64, Map, m) { map3<where_row, i64, i64, i64, i64>(m); }
HT_KERNEL(where_b8, Map, m) { map3<where_row, b8, b8, b8, b8>(m); }

BINARY(prelu, x > 0 ? x : x * y)

// masked_fill: the number is converted on the host to the dtype's bits (Map.seed), so that it is copied as it is.
struct w16 { unsigned short v; };
struct w32 { u32 v; };
struct w64 { u64 v; };
template <> struct as<w16> { typedef u64 wide; };
template <> struct as<w32> { typedef u64 wide; };
template <> struct as<w64> { typedef u64 wide; };
HT_FN u64 wide(w16 v) { return v.v; }
HT_FN u64 wide(w32 v) { return v.v; }
HT_FN u64 wide(w64 v) { return v.v; }
template <> struct narrow<w16> { HT_FN w16 of(u64 v) { return w16{(unsigned short)v}; } };
template <> struct narrow<w32> { HT_FN w32 of(u64 v) { return w32{(u32)v}; } };
template <> struct narrow<w64> { HT_FN w64 of(u64 v) { return w64{v}; } };
struct copy_row { template <class C> HT_FN C f(C x, i64, const Map&) { return x; } };
struct fill_row { template <class C> HT_FN u64 f(C, i64, const Map& m) { return m.seed; } };
struct masked_row { template <class C> HT_FN C f(C x, i64 y, i64, const Map& m) { return y ? (C)m.seed : x; } };
#define HT_WORDS(S, T)                                                         \
  HT_KERNEL(copy_##S, Map, m) { map1<copy_row, T, T>(m); }                     \
  HT_KERNEL(masked_fill_##S, Map, m) { map2<masked_row, T, T, b8>(m); }
HT_WORDS(w8, b8)
HT_WORDS(w16, w16)
HT_WORDS(w32, w32)
HT_WORDS(w64, w64)

// fill sets every element of the result to the word m.seed. The result stands for the input too, which is not used.
template <class T> struct StepFill {
  const Map& m;
  __device__ __forceinline__ void one(const i64 (&off)[1], i64) { ((T*)m.ptr[0])[off[0]] = narrow<T>::of(m.seed); }
  __device__ __forceinline__ void vector(const i64 (&off)[1], i64) {
    const int V = vec_of<T>::n;
    vec<V, T> out;
    HT_UNROLL for (int k = 0; k < V; k++) out.v[k] = narrow<T>::of(m.seed);
    *(vec<V, T>*)((T*)m.ptr[0] + off[0]) = out;
  }
};
struct w8 { unsigned char v; };
template <> struct narrow<w8> { HT_FN w8 of(u64 v) { return w8{(unsigned char)v}; } };
HT_KERNEL(fill_w8, Map, m) { map_pass<1, vec_of<w8>::n>(m, StepFill<w8>{m}); }
HT_KERNEL(fill_w16, Map, m) { map_pass<1, vec_of<w16>::n>(m, StepFill<w16>{m}); }
HT_KERNEL(fill_w32, Map, m) { map_pass<1, vec_of<w32>::n>(m, StepFill<w32>{m}); }
HT_KERNEL(fill_w64, Map, m) { map_pass<1, vec_of<w64>::n>(m, StepFill<w64>{m}); }

// Sums of a tensor and one of another float dtype, in place: add_ of mixed dtypes.
struct accumulate_row { template <class C, class D> HT_FN C f(C x, D y, i64, const Map&) { return x + (C)y; } };
#define HT_ADD_TO(D, S, DT, ST) \
  HT_KERNEL(accumulate_##D##_##S, Map, m) { map2<accumulate_row, DT, DT, ST>(m); }
HT_ADD_TO(f32, f16, float, f16) HT_ADD_TO(f32, bf16, float, bf16) HT_ADD_TO(f32, f64, float, double)
HT_ADD_TO(f16, f32, f16, float) HT_ADD_TO(bf16, f32, bf16, float)
HT_ADD_TO(f64, f32, double, float) HT_ADD_TO(f64, f16, double, f16) HT_ADD_TO(f64, bf16, double, bf16)
