// Bits and conversions. Part of device.h.
#pragma once

#include <cstdint>
#include <cstring>

inline int __popc(unsigned v) { return __builtin_popcount(v); }
#include <cstdint>
#include <cstring>

inline int __popcll(unsigned long long v) { return __builtin_popcountll(v); }
inline int __clz(int v) { return v ? __builtin_clz(static_cast<unsigned>(v)) : 32; }
inline int __clzll(long long v) { return v ? __builtin_clzll(static_cast<unsigned long long>(v)) : 64; }
inline int __ffs(int v) { return __builtin_ffs(v); }
inline unsigned __umulhi(unsigned a, unsigned b) { return static_cast<unsigned>((uint64_t(a) * b) >> 32); }

inline int __float_as_int(float f) { int i; std::memcpy(&i, &f, 4); return i; }
inline unsigned __float_as_uint(float f) { unsigned i; std::memcpy(&i, &f, 4); return i; }
inline float __int_as_float(int i) { float f; std::memcpy(&f, &i, 4); return f; }
inline float __uint_as_float(unsigned i) { float f; std::memcpy(&f, &i, 4); return f; }
inline long long __double_as_longlong(double d) { long long i; std::memcpy(&i, &d, 8); return i; }
inline double __longlong_as_double(long long i) { double d; std::memcpy(&d, &i, 8); return d; }

template <class T> inline T __ldg(const T* p) { return *p; }

// f16_to_f32 and f32_to_f16 convert IEEE binary16 by its bits: round to nearest even, every NaN becomes 0x7fff as on the GPU.
inline float f16_to_f32(uint16_t h) {
  unsigned sign = static_cast<unsigned>(h & 0x8000u) << 16, exponent = (h >> 10) & 31u, fraction = h & 0x3ffu;
  if (exponent == 31) return __uint_as_float(sign | 0x7f800000u | fraction << 13);
  if (exponent == 0) {
    float f = static_cast<float>(fraction) * 0x1p-24f;
    return sign ? -f : f;
  }
  return __uint_as_float(sign | (exponent + 112) << 23 | fraction << 13);
}
inline uint16_t f32_to_f16(float f) {
  unsigned u = __float_as_uint(f), sign = u >> 16 & 0x8000u;
  u &= 0x7fffffffu;
  if (u > 0x7f800000u) return 0x7fff;
  if (u >= 0x47800000u) return static_cast<uint16_t>(sign | 0x7c00u);  // 65536 and more, infinity
  if (u < 0x38800000u) {                                               // below the smallest normal: adding 0.5 rounds at 2^-24
    unsigned r = __float_as_uint(__uint_as_float(u) + 0.5f) - 0x3f000000u;
    return static_cast<uint16_t>(sign | r);
  }
  unsigned odd = u >> 13 & 1u;
  return static_cast<uint16_t>(sign | ((u - 0x38000000u + 0xfffu + odd) >> 13));
}
inline float bf16_to_f32(uint16_t b) { return __uint_as_float(static_cast<unsigned>(b) << 16); }
inline uint16_t f32_to_bf16(float f) {
  unsigned u = __float_as_uint(f);
  if ((u & 0x7fffffffu) > 0x7f800000u) return 0x7fff;
  return static_cast<uint16_t>((u + 0x7fffu + (u >> 16 & 1u)) >> 16);
}
