// What CUDA C++ has without a header besides the words of Halftone's own kernels (device.h): for programs that NVRTC's stand-in compiles.
// Approximations (__expf …) are exact here.
#pragma once

#include "device.h"

// Vector types and what makes them. Those of three have the alignment of one.
#define HALFTONE_VECTORS(T, name)                                                                                                  \
  inline name##1 make_##name##1(T x) { return {x}; }                                                                               \
  inline name##2 make_##name##2(T x, T y) { return {x, y}; }                                                                       \
  inline name##3 make_##name##3(T x, T y, T z) { return {x, y, z}; }                                                               \
  inline name##4 make_##name##4(T x, T y, T z, T w) { return {x, y, z, w}; }
struct int1 { int x; };
struct int3 { int x, y, z; };
struct uint1 { unsigned x; };
struct float1 { float x; };
struct float3 { float x, y, z; };
struct double1 { double x; };
struct double3 { double x, y, z; };
struct alignas(16) double4 { double x, y, z, w; };
struct char1 { signed char x; };
struct alignas(2) char2 { signed char x, y; };
struct char3 { signed char x, y, z; };
struct alignas(4) char4 { signed char x, y, z, w; };
struct uchar1 { unsigned char x; };
struct alignas(2) uchar2 { unsigned char x, y; };
struct uchar3 { unsigned char x, y, z; };
struct alignas(4) uchar4 { unsigned char x, y, z, w; };
struct short1 { short x; };
struct alignas(4) short2 { short x, y; };
struct short3 { short x, y, z; };
struct alignas(8) short4 { short x, y, z, w; };
struct ushort1 { unsigned short x; };
struct alignas(4) ushort2 { unsigned short x, y; };
struct ushort3 { unsigned short x, y, z; };
struct alignas(8) ushort4 { unsigned short x, y, z, w; };
struct longlong1 { long long x; };
struct alignas(16) longlong2 { long long x, y; };
struct longlong3 { long long x, y, z; };
struct alignas(16) longlong4 { long long x, y, z, w; };
struct ulonglong1 { unsigned long long x; };
struct alignas(16) ulonglong2 { unsigned long long x, y; };
struct ulonglong3 { unsigned long long x, y, z; };
struct alignas(16) ulonglong4 { unsigned long long x, y, z, w; };
HALFTONE_VECTORS(int, int)
HALFTONE_VECTORS(unsigned, uint)
HALFTONE_VECTORS(float, float)
HALFTONE_VECTORS(double, double)
HALFTONE_VECTORS(signed char, char)
HALFTONE_VECTORS(unsigned char, uchar)
HALFTONE_VECTORS(short, short)
HALFTONE_VECTORS(unsigned short, ushort)
HALFTONE_VECTORS(long long, longlong)
HALFTONE_VECTORS(unsigned long long, ulonglong)
#undef HALFTONE_VECTORS

// min and max, of integers of either sign as CUDA's: with an unsigned one both are.
namespace emu {
template <class T> inline T least(T a, T b) { return a < b ? a : b; }
template <class T> inline T most(T a, T b) { return a > b ? a : b; }
}  // namespace emu
#define HALFTONE_MINMAX(A, B, T)                         \
  inline T min(A a, B b) { return emu::least<T>(a, b); } \
  inline T max(A a, B b) { return emu::most<T>(a, b); }
HALFTONE_MINMAX(int, int, int)
HALFTONE_MINMAX(unsigned, unsigned, unsigned)
HALFTONE_MINMAX(int, unsigned, unsigned)
HALFTONE_MINMAX(unsigned, int, unsigned)
HALFTONE_MINMAX(long, long, long)
HALFTONE_MINMAX(unsigned long, unsigned long, unsigned long)
HALFTONE_MINMAX(long, unsigned long, unsigned long)
HALFTONE_MINMAX(unsigned long, long, unsigned long)
HALFTONE_MINMAX(long long, long long, long long)
HALFTONE_MINMAX(unsigned long long, unsigned long long, unsigned long long)
HALFTONE_MINMAX(long long, unsigned long long, unsigned long long)
HALFTONE_MINMAX(unsigned long long, long long, unsigned long long)
#undef HALFTONE_MINMAX
inline float min(float a, float b) { return fminf(a, b); }
inline float max(float a, float b) { return fmaxf(a, b); }
inline double min(double a, double b) { return fmin(a, b); }
inline double max(double a, double b) { return fmax(a, b); }
inline double min(float a, double b) { return fmin(a, b); }
inline double max(float a, double b) { return fmax(a, b); }
inline double min(double a, float b) { return fmin(a, b); }
inline double max(double a, float b) { return fmax(a, b); }

// Functions.
inline float rsqrtf(float x) { return static_cast<float>(1 / std::sqrt(static_cast<double>(x))); }
inline double rsqrt(double x) { return 1 / std::sqrt(x); }
inline float rsqrt(float x) { return rsqrtf(x); }
inline float rcbrtf(float x) { return static_cast<float>(1 / std::cbrt(static_cast<double>(x))); }
inline double rcbrt(double x) { return 1 / std::cbrt(x); }
inline float normcdff(float x) { return static_cast<float>(std::erfc(x * -0.70710678118654752440) / 2); }
inline double normcdf(double x) { return std::erfc(x * -0.70710678118654752440) / 2; }
inline float sinpif(float x) { return static_cast<float>(std::sin(3.14159265358979323846 * std::remainder(static_cast<double>(x), 2.0))); }
inline float cospif(float x) { return static_cast<float>(std::cos(3.14159265358979323846 * std::remainder(static_cast<double>(x), 2.0))); }
inline float __saturatef(float x) { return x > 0 ? (x < 1 ? x : 1.0f) : 0.0f; }
inline float __fdividef(float a, float b) { return a / b; }
inline float __expf(float x) { return std::exp(x); }
inline float __logf(float x) { return std::log(x); }
inline float __log2f(float x) { return std::log2(x); }
inline float __log10f(float x) { return std::log10(x); }
inline float __powf(float x, float y) { return std::pow(x, y); }
inline float __sinf(float x) { return std::sin(x); }
inline float __cosf(float x) { return std::cos(x); }
inline void __sincosf(float x, float* s, float* c) { *s = std::sin(x), *c = std::cos(x); }
inline float __tanf(float x) { return std::tan(x); }
inline float __exp10f(float x) { return std::pow(10.0f, x); }

// One operation, rounded as the name says; to the nearest alone of floats.
inline float __fadd_rn(float a, float b) { return a + b; }
inline float __fsub_rn(float a, float b) { return a - b; }
inline float __fmul_rn(float a, float b) { return a * b; }
inline float __fdiv_rn(float a, float b) { return a / b; }
inline float __frcp_rn(float a) { return 1 / a; }
inline float __fsqrt_rn(float a) { return std::sqrt(a); }
inline float __frsqrt_rn(float a) { return rsqrtf(a); }
inline float __fmaf_rn(float a, float b, float c) { return std::fma(a, b, c); }
inline double __dadd_rn(double a, double b) { return a + b; }
inline double __dmul_rn(double a, double b) { return a * b; }
inline double __ddiv_rn(double a, double b) { return a / b; }
inline double __fma_rn(double a, double b, double c) { return std::fma(a, b, c); }

// Conversions keep to the integer's range; NaN is 0.
namespace emu {
template <class T>
inline T toInteger(double v, double low, double high, T most) {
  return v != v ? T(0) : v <= low ? static_cast<T>(low) : v >= high ? most : static_cast<T>(v);
}
}  // namespace emu
#define HALFTONE_CONVERT(suffix, round)                                                                                   \
  inline int __float2int_##suffix(float v) { return emu::toInteger<int>(round(v), -2147483648.0, 2147483647.0, 2147483647); } \
  inline unsigned __float2uint_##suffix(float v) { return emu::toInteger<unsigned>(round(v), 0.0, 4294967295.0, 4294967295u); }
HALFTONE_CONVERT(rn, std::nearbyint)
HALFTONE_CONVERT(rz, std::trunc)
HALFTONE_CONVERT(rd, std::floor)
HALFTONE_CONVERT(ru, std::ceil)
#undef HALFTONE_CONVERT
inline float __int2float_rn(int v) { return static_cast<float>(v); }
inline float __uint2float_rn(unsigned v) { return static_cast<float>(v); }
inline float __ll2float_rn(long long v) { return static_cast<float>(v); }
inline float __double2float_rn(double v) { return static_cast<float>(v); }

// Bits.
inline int __ffsll(long long v) { return __builtin_ffsll(v); }
inline int __mulhi(int a, int b) { return static_cast<int>((static_cast<long long>(a) * b) >> 32); }
inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b) { return static_cast<unsigned long long>((static_cast<unsigned __int128>(a) * b) >> 64); }
namespace emu {
inline unsigned signed24(int v) { return static_cast<unsigned>(static_cast<int>(static_cast<unsigned>(v) << 8) >> 8); }
}  // namespace emu
inline int __mul24(int a, int b) { return static_cast<int>(emu::signed24(a) * emu::signed24(b)); }
inline unsigned __umul24(unsigned a, unsigned b) { return (a & 0xffffffu) * (b & 0xffffffu); }
inline unsigned __brev(unsigned v) {
  unsigned r = 0;
  for (int i = 0; i < 32; i++) r |= (v >> i & 1u) << (31 - i);
  return r;
}
inline unsigned long long __brevll(unsigned long long v) {
  return static_cast<unsigned long long>(__brev(static_cast<unsigned>(v))) << 32 | __brev(static_cast<unsigned>(v >> 32));
}
inline unsigned __funnelshift_l(unsigned low, unsigned high, unsigned shift) {
  return static_cast<unsigned>(((static_cast<unsigned long long>(high) << 32 | low) << (shift & 31u)) >> 32);
}
inline unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift) {
  return static_cast<unsigned>((static_cast<unsigned long long>(high) << 32 | low) >> (shift & 31u));
}
inline unsigned __byte_perm(unsigned a, unsigned b, unsigned selector) {
  unsigned long long all = static_cast<unsigned long long>(b) << 32 | a;
  unsigned r = 0;
  for (int i = 0; i < 4; i++) {
    unsigned s = selector >> (4 * i), byte = static_cast<unsigned>(all >> (8 * (s & 7u))) & 0xffu;
    if (s & 8u) byte = byte & 0x80u ? 0xffu : 0u;
    r |= byte << (8 * i);
  }
  return r;
}

// Reductions over the lanes of a mask, as shuffles of all of them.
namespace emu {
template <class T, class F>
inline T reduceLanes(unsigned mask, T v, F f) {
  T r{};
  bool first = true;
  for (int i = 0; i < 32; i++) {
    if (!(mask >> i & 1u)) continue;
    T other = shuffle(mask, v, i);
    r = first ? other : f(r, other);
    first = false;
  }
  return r;
}
}  // namespace emu
inline unsigned __reduce_add_sync(unsigned m, unsigned v) { return emu::reduceLanes(m, v, [](unsigned a, unsigned b) { return a + b; }); }
inline int __reduce_add_sync(unsigned m, int v) { return static_cast<int>(__reduce_add_sync(m, static_cast<unsigned>(v))); }
inline unsigned __reduce_min_sync(unsigned m, unsigned v) { return emu::reduceLanes(m, v, [](unsigned a, unsigned b) { return min(a, b); }); }
inline int __reduce_min_sync(unsigned m, int v) { return emu::reduceLanes(m, v, [](int a, int b) { return min(a, b); }); }
inline unsigned __reduce_max_sync(unsigned m, unsigned v) { return emu::reduceLanes(m, v, [](unsigned a, unsigned b) { return max(a, b); }); }
inline int __reduce_max_sync(unsigned m, int v) { return emu::reduceLanes(m, v, [](int a, int b) { return max(a, b); }); }
inline unsigned __reduce_and_sync(unsigned m, unsigned v) { return emu::reduceLanes(m, v, [](unsigned a, unsigned b) { return a & b; }); }
inline unsigned __reduce_or_sync(unsigned m, unsigned v) { return emu::reduceLanes(m, v, [](unsigned a, unsigned b) { return a | b; }); }
inline unsigned __reduce_xor_sync(unsigned m, unsigned v) { return emu::reduceLanes(m, v, [](unsigned a, unsigned b) { return a ^ b; }); }

template <class T> inline T atomicXor(T* p, T v) { return emu::atomicUpdate(p, [v](T o) { return static_cast<T>(o ^ v); }); }
inline unsigned atomicInc(unsigned* p, unsigned most) { return emu::atomicUpdate(p, [most](unsigned o) { return o >= most ? 0u : o + 1; }); }
inline unsigned atomicDec(unsigned* p, unsigned most) { return emu::atomicUpdate(p, [most](unsigned o) { return o == 0 || o > most ? most : o - 1; }); }

// Time that goes on with each look at it; it says nothing of a GPU's.
namespace emu {
inline long long ticks() {
  static long long now = 0;
  return __atomic_add_fetch(&now, 1, __ATOMIC_RELAXED);
}
}  // namespace emu
inline long long clock64() { return emu::ticks(); }
#define clock() (static_cast<int>(emu::ticks()))  // time.h has another one
