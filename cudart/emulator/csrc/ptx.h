// ptx.h: what C++ that was written from PTX calls where an instruction is no operator of C++'s: a function each, as the PTX ISA defines it.
// Types are those of the instruction; a register is of its own, and may be wider or of another kind: get and put go from one to the other.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include "device.h"

namespace ptx {

using b8 = uint8_t;
using u8 = uint8_t;
using s8 = int8_t;
using b16 = uint16_t;
using u16 = uint16_t;
using s16 = int16_t;
using b32 = uint32_t;
using u32 = uint32_t;
using s32 = int32_t;
using b64 = uint64_t;
using u64 = uint64_t;
using s64 = int64_t;
using f32 = float;
using f64 = double;
using pred = bool;
struct f16 {
  uint16_t bits;
};

template <class T, class R>
inline T bits(R r) {
  static_assert(sizeof(T) == sizeof(R));
  T t;
  std::memcpy(&t, &r, sizeof t);
  return t;
}

// get reads a register, or what a literal is, as a T: the lower bytes of a wider one.
template <class T, class R>
inline T get(R r) {
  if constexpr (sizeof(T) == sizeof(R)) return bits<T>(r);
  else {
    static_assert(std::is_integral_v<T> && std::is_integral_v<R> && sizeof(T) < sizeof(R));
    return static_cast<T>(r);
  }
}

// put writes one: a wider register gets the sign, or zeros.
template <class R, class T>
inline void put(R& r, T v) {
  if constexpr (sizeof(T) == sizeof(R)) r = bits<R>(v);
  else {
    static_assert(std::is_integral_v<T> && std::is_integral_v<R> && sizeof(T) < sizeof(R));
    if constexpr (std::is_signed_v<T>) r = static_cast<R>(static_cast<std::make_signed_t<R>>(v));
    else r = static_cast<R>(v);
  }
}

// nothing is what a register holds before it is written: NaN, and a large number.
template <class R>
inline R nothing() {
  R r;
  std::memset(&r, sizeof(R) == 1 ? 0 : 0xff, sizeof r);
  return r;
}

// place is an address that n bytes are read from or written to at once: it has to be a multiple of n, as a device asks for.
template <int n>
inline unsigned char* place(uint64_t address) {
  if (__builtin_expect(address % n != 0, 0)) emu::trap("an address is no multiple of the bytes that are read or written there at once");
  return reinterpret_cast<unsigned char*>(address);
}

// Whole numbers wrap around.
template <class T>
using unsign = std::make_unsigned_t<std::conditional_t<std::is_integral_v<T>, T, int>>;
template <class T>
inline T add(T a, T b) {
  if constexpr (std::is_integral_v<T>) return static_cast<T>(static_cast<unsign<T>>(static_cast<unsign<T>>(a) + static_cast<unsign<T>>(b)));
  else return a + b;
}
template <class T>
inline T sub(T a, T b) {
  if constexpr (std::is_integral_v<T>) return static_cast<T>(static_cast<unsign<T>>(static_cast<unsign<T>>(a) - static_cast<unsign<T>>(b)));
  else return a - b;
}
template <class T>
inline T mul(T a, T b) {
  if constexpr (std::is_integral_v<T>) return static_cast<T>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
  else return a * b;
}
template <class T>
inline T mul_hi(T a, T b) {
  using wide = std::conditional_t<std::is_signed_v<T>, __int128, unsigned __int128>;
  return static_cast<T>((static_cast<wide>(a) * static_cast<wide>(b)) >> (8 * sizeof(T)));
}
template <class T>
inline auto mul_wide(T a, T b) {
  using wide = std::conditional_t<std::is_signed_v<T>, std::conditional_t<sizeof(T) == 2, s32, s64>, std::conditional_t<sizeof(T) == 2, u32, u64>>;
  return static_cast<wide>(static_cast<wide>(a) * static_cast<wide>(b));
}
template <class T>
inline T mad(T a, T b, T c) { return add<T>(mul<T>(a, b), c); }
template <class T>
inline T fma(T a, T b, T c) { return std::fma(a, b, c); }
// A device divides by zero without a word: all bits set, and the remainder is what was divided.
template <class T>
inline T div(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    if (b == 0) return static_cast<T>(-1);
    if (std::is_signed_v<T> && b == static_cast<T>(-1)) return sub<T>(0, a);
    return static_cast<T>(a / b);
  } else return a / b;
}
template <class T>
inline T rem(T a, T b) {
  if (b == 0) return a;
  if (std::is_signed_v<T> && b == static_cast<T>(-1)) return 0;
  return static_cast<T>(a % b);
}
template <class T>
inline T neg(T a) {
  if constexpr (std::is_integral_v<T>) return sub<T>(0, a);
  else return -a;
}
template <class T>
inline T abs(T a) {
  if constexpr (std::is_integral_v<T>) return a < 0 ? sub<T>(0, a) : a;
  else return std::fabs(a);
}
// Of a number and NaN the number; -0 is less than 0.
template <class T>
inline T min(T a, T b) {
  if constexpr (!std::is_integral_v<T>) {
    if (a != a) return b != b ? std::numeric_limits<T>::quiet_NaN() : b;
    if (b != b) return a;
    if (a == b) return std::signbit(a) ? a : b;
  }
  return a < b ? a : b;
}
template <class T>
inline T max(T a, T b) {
  if constexpr (!std::is_integral_v<T>) {
    if (a != a) return b != b ? std::numeric_limits<T>::quiet_NaN() : b;
    if (b != b) return a;
    if (a == b) return std::signbit(a) ? b : a;
  }
  return a > b ? a : b;
}
template <class T> inline T and_(T a, T b) { return static_cast<T>(a & b); }
template <class T> inline T or_(T a, T b) { return static_cast<T>(a | b); }
template <class T> inline T xor_(T a, T b) { return static_cast<T>(a ^ b); }
template <class T>
inline T not_(T a) {
  if constexpr (std::is_same_v<T, bool>) return !a;
  else return static_cast<T>(~a);
}
// Shifts by more than there are bits leave nothing, or the sign.
template <class T>
inline T shl(T a, u32 n) { return n >= 8 * sizeof(T) ? T(0) : static_cast<T>(static_cast<unsign<T>>(a) << n); }
template <class T>
inline T shr(T a, u32 n) {
  if (n >= 8 * sizeof(T)) return std::is_signed_v<T> && a < 0 ? static_cast<T>(-1) : T(0);
  return static_cast<T>(a >> n);
}
template <class T>
inline T bfe(T a, u32 from, u32 count) {
  constexpr u32 size = 8 * sizeof(T);
  from &= 0xff, count &= 0xff;
  const u32 sign = from + count - 1 < size - 1 ? from + count - 1 : size - 1;
  const bool fill = std::is_signed_v<T> && count && (static_cast<unsign<T>>(a) >> sign & 1);
  unsign<T> out = 0;
  for (u32 i = 0; i < size; i++) {
    const bool one = i < count && from + i < size ? static_cast<unsign<T>>(a) >> (from + i) & 1 : fill;
    out |= static_cast<unsign<T>>(one) << i;
  }
  return static_cast<T>(out);
}
template <class T>
inline T bfi(T a, T b, u32 to, u32 count) {
  to &= 0xff, count &= 0xff;
  for (u32 i = 0; i < count && to + i < 8 * sizeof(T); i++) b = (b & ~(T(1) << (to + i))) | ((a >> i & 1) << (to + i));
  return b;
}
template <class T>
inline u32 popc(T a) { return static_cast<u32>(__builtin_popcountll(a)); }
template <class T>
inline T sqrt_rn(T a) { return std::sqrt(a); }
template <class T>
inline T rcp_rn(T a) { return T(1) / a; }
// The approximate ones have their bits from the hardware; here they are rounded right. ftz makes subnormal numbers zeros.
inline float flush(float a) { return std::fpclassify(a) == FP_SUBNORMAL ? std::copysign(0.0f, a) : a; }
template <class T> inline T ex2(T a) { return static_cast<T>(std::exp2(static_cast<double>(a))); }
template <class T> inline T ex2_ftz(T a) { return flush(ex2<T>(flush(a))); }
template <class T> inline T lg2_ftz(T a) { return static_cast<T>(std::log2(static_cast<double>(flush(a)))); }
template <class T> inline T rcp_ftz(T a) { return flush(T(1) / flush(a)); }
template <class T> inline T selp(T a, T b, bool p) { return p ? a : b; }
template <class T> inline T mov(T a) { return a; }

// Comparisons; those that end in u hold for NaN as well.
template <class T> inline bool eq(T a, T b) { return a == b; }
template <class T> inline bool ne(T a, T b) { return a < b || a > b; }
template <class T> inline bool lt(T a, T b) { return a < b; }
template <class T> inline bool le(T a, T b) { return a <= b; }
template <class T> inline bool gt(T a, T b) { return a > b; }
template <class T> inline bool ge(T a, T b) { return a >= b; }
template <class T> inline bool equ(T a, T b) { return !ne(a, b); }
template <class T> inline bool neu(T a, T b) { return a != b; }
template <class T> inline bool ltu(T a, T b) { return !(a >= b); }
template <class T> inline bool leu(T a, T b) { return !(a > b); }
template <class T> inline bool gtu(T a, T b) { return !(a <= b); }
template <class T> inline bool geu(T a, T b) { return !(a < b); }
template <class T> inline bool num(T a, T b) { return a == a && b == b; }
template <class T> inline bool nan(T a, T b) { return a != a || b != b; }

// Sums with a carry.
template <class T>
inline T add_cc(T a, T b, bool in, bool* out) {
  const auto sum = static_cast<unsigned __int128>(static_cast<unsign<T>>(a)) + static_cast<unsign<T>>(b) + in;
  *out = sum >> (8 * sizeof(T)) & 1;
  return static_cast<T>(sum);
}

// whole is a rounded number as a whole one: the nearest there is, and of NaN 0, but the smallest (or half of all) where 64 bits are at either
// end.
template <class D, class A>
inline D whole(A v) {
  if (v != v) return sizeof(A) == 8 || sizeof(D) == 8 ? static_cast<D>(D(1) << (8 * sizeof(D) - 1)) : D(0);
  if (v <= static_cast<A>(std::numeric_limits<D>::min())) return std::numeric_limits<D>::min();
  if (v >= static_cast<A>(std::numeric_limits<D>::max())) return std::numeric_limits<D>::max();
  return static_cast<D>(v);
}
// cvt converts; rounding to a whole number, where that is asked for, has been done.
template <class D, class A>
inline D cvt(A a) {
  if constexpr (std::is_same_v<A, f16>) return static_cast<D>(f16_to_f32(a.bits));
  else if constexpr (std::is_same_v<D, f16>) return f16{f32_to_f16(a)};
  else if constexpr (std::is_floating_point_v<A> && std::is_integral_v<D>) return whole<D>(a);
  else return static_cast<D>(a);
}
template <class A> inline A rzi(A a) { return std::trunc(a); }
template <class A> inline A rni(A a) { return std::nearbyint(a); }
template <class A> inline A rmi(A a) { return std::floor(a); }
template <class A> inline A rpi(A a) { return std::ceil(a); }
inline u32 pair_f16(float high, float low) { return static_cast<u32>(f32_to_f16(high)) << 16 | f32_to_f16(low); }
inline u32 pair_bf16(float high, float low) { return static_cast<u32>(f32_to_bf16(high)) << 16 | f32_to_bf16(low); }

// Shuffles: c holds the last lane of a segment and, above it, which bits of a lane's number are the segment's.
enum Mode { up, down, bfly, idx };
inline u32 shfl(Mode mode, u32 a, u32 b, u32 c, u32 mask) {
  const int lane = emu::lane(), with = b & 31, clamp = c & 31, segment = c >> 8 & 31;
  const int last = (lane & segment) | (clamp & ~segment), first = lane & segment;
  int j = mode == up ? lane - with : mode == down ? lane + with : mode == bfly ? lane ^ with : first | (with & ~segment);
  if (mode == up ? j < last : j > last) j = lane;
  return emu::shuffle(mask, a, j);
}
inline u32 ballot(bool p, u32 mask) { return __ballot_sync(mask, p); }

template <class T> inline T atom_add(unsigned char* p, T v) { return atomicAdd(reinterpret_cast<T*>(p), v); }
template <class T> inline T atom_min(unsigned char* p, T v) { return atomicMin(reinterpret_cast<T*>(p), v); }
template <class T> inline T atom_max(unsigned char* p, T v) { return atomicMax(reinterpret_cast<T*>(p), v); }
template <class T> inline T atom_or(unsigned char* p, T v) { return atomicOr(reinterpret_cast<T*>(p), v); }
template <class T> inline T atom_and(unsigned char* p, T v) { return atomicAnd(reinterpret_cast<T*>(p), v); }
template <class T> inline T atom_exch(unsigned char* p, T v) { return atomicExch(reinterpret_cast<T*>(p), v); }
template <class T> inline T atom_cas(unsigned char* p, T was, T v) { return atomicCAS(reinterpret_cast<T*>(p), was, v); }

// Addresses in shared memory are numbers: from 0 on what the launch gave, from statics on what the module declares.
constexpr u64 statics = 0x10000000;
inline u64 shared(unsigned char* own, size_t size, u64 a) {
  if (a < statics) return reinterpret_cast<u64>(emu::current->dynamicShared) + a;
  if (a - statics >= size) emu::trap("an address that is no one's in shared memory");
  return reinterpret_cast<u64>(own) + (a - statics);
}
// to_shared is the number of a pointer.
inline u64 to_shared(unsigned char* own, size_t size, u64 pointer) {
  const u64 at = pointer - reinterpret_cast<u64>(own);
  return at < size ? statics + at : pointer - reinterpret_cast<u64>(emu::current->dynamicShared);
}

}  // namespace ptx
