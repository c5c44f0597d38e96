// What every kernel file begins with: the element types and their conversions, and the few things that PTX, nvcc, NVRTC and the emulator
// spell differently. No CUDA header is needed; conversions are one rounding, to nearest even.
#pragma once

#if defined(HALFTONE_EMULATOR)
#elif defined(__clang__) && defined(__CUDA__)
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __shared__ __attribute__((shared))
#define __forceinline__ inline __attribute__((always_inline))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#define __noinline__ __attribute__((noinline))
#include "__clang_cuda_builtin_vars.h"
__device__ __forceinline__ void __syncwarp(unsigned mask = 0xffffffffu) { __nvvm_bar_warp_sync(mask); }
__device__ __forceinline__ int __shfl_sync(unsigned m, int v, int lane) { return __nvvm_shfl_sync_idx_i32(m, v, lane, 31); }
__device__ __forceinline__ int __shfl_xor_sync(unsigned m, int v, int lane) { return __nvvm_shfl_sync_bfly_i32(m, v, lane, 31); }
__device__ __forceinline__ float __shfl_xor_sync(unsigned m, float v, int lane) {
  return __builtin_bit_cast(float, __nvvm_shfl_sync_bfly_i32(m, __builtin_bit_cast(int, v), lane, 31));
}
__device__ __forceinline__ unsigned __ballot_sync(unsigned m, bool v) { return __nvvm_vote_ballot_sync(m, v); }
__device__ __forceinline__ int __ffs(int v) { return __builtin_ffs(v); }
__device__ __forceinline__ int atomicOr(int* p, int v) { return __atomic_fetch_or(p, v, __ATOMIC_RELAXED); }
__device__ __forceinline__ unsigned long long atomicMin(unsigned long long* p, unsigned long long v) { return __atomic_fetch_min(p, v, __ATOMIC_RELAXED); }
__device__ __forceinline__ unsigned long long atomicCAS(unsigned long long* p, unsigned long long was, unsigned long long v) {
  __atomic_compare_exchange_n(p, &was, v, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
  return was;
}
__device__ __forceinline__ unsigned long long atomicMax(unsigned long long* p, unsigned long long v) { return __atomic_fetch_max(p, v, __ATOMIC_RELAXED); }
__device__ __forceinline__ unsigned atomicAdd(unsigned* p, unsigned v) { return __atomic_fetch_add(p, v, __ATOMIC_RELAXED); }
#elif defined(__CUDACC_RTC__)
#define __builtin_fma __fma_rn
#define __builtin_fmaf __fmaf_rn
#define __builtin_fabs fabs
#define __builtin_fabsf fabsf
#endif

#if defined(HALFTONE_EMULATOR)
#define __noinline__ __attribute__((noinline))
#define HT_UNROLL
#define HT_ROLLED
#else
#define HT_UNROLL _Pragma("unroll")
#define HT_ROLLED _Pragma("unroll 1")
#endif

#define HT_FN static __device__ __forceinline__
// Long functions of rare use are called, not inlined: a module holds each once.
#define HT_MATH static __device__ __noinline__
// Every kernel takes one struct by value.
#define HT_KERNEL(name, Struct, p) extern "C" __global__ void name(const Struct p)
#if defined(HALFTONE_EMULATOR)
#define HT_KERNEL_OF(threads, name, Struct, p) HT_KERNEL(name, Struct, p)
#define HT_KERNEL_TIMES(threads, blocks, name, Struct, p) HT_KERNEL(name, Struct, p)
#else
#define HT_KERNEL_OF(threads, name, Struct, p) extern "C" __global__ void __launch_bounds__(threads) name(const Struct p)
// Registers are dealt out so that so many blocks have room on a multiprocessor.
#define HT_KERNEL_TIMES(threads, blocks, name, Struct, p) extern "C" __global__ void __launch_bounds__(threads, blocks) name(const Struct p)
#endif
#define HT_KERNEL_TWICE(threads, name, Struct, p) HT_KERNEL_TIMES(threads, 2, name, Struct, p)

typedef long long i64;
typedef unsigned long long u64;
typedef unsigned u32;
typedef unsigned char b8;  // a bool: 0 or 1
struct f16 { unsigned short bits; };
struct bf16 { unsigned short bits; };
// What is moved at once: 16 bytes, as words and as float32.
struct alignas(16) Chunk { u32 v[4]; };
struct alignas(16) Floats4 { float v[4]; };

// held returns a parameter's value through a register. Clang would make a choice between it and a value in memory one between two
// addresses, and copy all parameters to memory for that.
#if defined(HALFTONE_EMULATOR)
HT_FN double held(double v) { return v; }
HT_FN u64 held(u64 v) { return v; }
HT_FN u32 held(u32 v) { return v; }
HT_FN float held(float v) { return v; }
#else
HT_FN double held(double v) { asm volatile("" : "+d"(v)); return v; }
HT_FN u64 held(u64 v) { asm volatile("" : "+l"(v)); return v; }
HT_FN u32 held(u32 v) { asm volatile("" : "+r"(v)); return v; }
HT_FN float held(float v) { asm volatile("" : "+f"(v)); return v; }
#endif

HT_FN double ht_double(u64 b) { return __builtin_bit_cast(double, b); }
HT_FN u64 ht_bits(double v) { return __builtin_bit_cast(u64, v); }
HT_FN float ht_float(u32 b) { return __builtin_bit_cast(float, b); }
HT_FN u32 ht_bits32(float v) { return __builtin_bit_cast(u32, v); }
HT_FN double ht_fma(double a, double b, double c) { return __builtin_fma(a, b, c); }
HT_FN float ht_fmaf(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
HT_FN double fused(double a, double b, double c) { return __builtin_fma(a, b, c); }
HT_FN float fused(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
HT_FN i64 fused(i64 a, i64 b, i64 c) { return a * b + c; }
HT_FN double ht_abs(double a) { return __builtin_fabs(a); }
HT_FN float ht_abs(float a) { return __builtin_fabsf(a); }
HT_FN i64 ht_abs(i64 a) { return a < 0 ? -a : a; }
#if defined(HALFTONE_EMULATOR)
HT_FN double ht_sqrt(double a) { return __builtin_sqrt(a); }
HT_FN float ht_sqrt(float a) { return __builtin_sqrtf(a); }
HT_FN double ht_floor(double a) { return __builtin_floor(a); }
HT_FN double ht_ceil(double a) { return __builtin_ceil(a); }
HT_FN double ht_trunc(double a) { return __builtin_trunc(a); }
HT_FN double ht_rint(double a) { return __builtin_rint(a); }
#else
HT_FN double ht_sqrt(double a) { double r; asm("sqrt.rn.f64 %0,%1;" : "=d"(r) : "d"(a)); return r; }
HT_FN float ht_sqrt(float a) { float r; asm("sqrt.rn.f32 %0,%1;" : "=f"(r) : "f"(a)); return r; }
HT_FN double ht_floor(double a) { double r; asm("cvt.rmi.f64.f64 %0,%1;" : "=d"(r) : "d"(a)); return r; }
HT_FN double ht_ceil(double a) { double r; asm("cvt.rpi.f64.f64 %0,%1;" : "=d"(r) : "d"(a)); return r; }
HT_FN double ht_trunc(double a) { double r; asm("cvt.rzi.f64.f64 %0,%1;" : "=d"(r) : "d"(a)); return r; }
HT_FN double ht_rint(double a) { double r; asm("cvt.rni.f64.f64 %0,%1;" : "=d"(r) : "d"(a)); return r; }
#endif
// from_lane is the v of another lane of the warp; all lanes ask.
HT_FN u32 from_lane(u32 v, int lane) { return (u32)__shfl_sync(0xffffffffu, (int)v, lane); }
template <class C> HT_FN bool ht_nan(C v) { return v != v; }
template <class C> HT_FN bool ht_finite(C v) { return v - v == 0; }
template <class C> HT_FN C ht_inf() { return (C)ht_float(0x7f800000u); }

// Halves to float32 and back. NaN stays NaN.
#if defined(HALFTONE_EMULATOR)
HT_FN float wide(f16 h) { return f16_to_f32(h.bits); }
HT_FN f16 to_f16(float v) { return f16{f32_to_f16(v)}; }
#else
HT_FN float wide(f16 h) { float r; asm("cvt.f32.f16 %0,%1;" : "=f"(r) : "h"(h.bits)); return r; }
HT_FN f16 to_f16(float v) { f16 r; asm("cvt.rn.f16.f32 %0,%1;" : "=h"(r.bits) : "f"(v)); return r; }
#endif
HT_FN float wide(bf16 h) { return ht_float((u32)h.bits << 16); }
HT_FN bf16 to_bf16(float v) {
  const u32 b = ht_bits32(v);
  if ((b & 0x7fffffffu) > 0x7f800000u) return bf16{0x7fff};
  return bf16{(unsigned short)((b + 0x7fffu + ((b >> 16) & 1u)) >> 16)};
}
// A float64 goes to a half in one rounding by way of a float32 rounded to odd.
HT_FN float ht_odd(double v) {
  const float f = (float)v;
  const double d = (double)f;
  if (d == v || d != d || !ht_finite(f)) return f;
  u32 b = ht_bits32(f);
  if (ht_abs(d) > ht_abs(v)) b--;  // toward zero
  return ht_float(b | 1);
}
template <class T> struct as {};
template <> struct as<f16> { typedef float wide; static const int id = 0; };
template <> struct as<bf16> { typedef float wide; static const int id = 1; };
template <> struct as<float> { typedef float wide; static const int id = 2; };
template <> struct as<double> { typedef double wide; static const int id = 3; };
template <> struct as<i64> { typedef i64 wide; static const int id = 4; };
template <> struct as<b8> { typedef i64 wide; static const int id = 5; };
HT_FN float wide(float v) { return v; }
HT_FN double wide(double v) { return v; }
HT_FN i64 wide(i64 v) { return v; }
HT_FN i64 wide(b8 v) { return v != 0; }

// Whole numbers as Go's conversion on amd64 gives them: the smallest one for NaN and what does not fit.
HT_FN i64 ht_whole(double v) {
  if (!(v < 9223372036854775808.0 && v >= -9223372036854775808.0)) return (i64)0x8000000000000000ull;
  return (i64)v;
}
template <class T> struct narrow {};
template <> struct narrow<f16> {
  HT_FN f16 of(float v) { return to_f16(v); }
  HT_FN f16 of(double v) { return to_f16(ht_odd(v)); }
  HT_FN f16 of(i64 v) { return of((double)v); }
};
template <> struct narrow<bf16> {
  HT_FN bf16 of(float v) { return to_bf16(v); }
  HT_FN bf16 of(double v) { return ht_finite((float)v) || !ht_finite(v) ? to_bf16(ht_odd(v)) : to_bf16((float)v); }
  HT_FN bf16 of(i64 v) { return of((double)v); }
};
template <> struct narrow<float> {
  HT_FN float of(float v) { return v; }
  HT_FN float of(double v) { return (float)v; }
  HT_FN float of(i64 v) { return (float)v; }
};
template <> struct narrow<double> {
  HT_FN double of(float v) { return (double)v; }
  HT_FN double of(double v) { return v; }
  HT_FN double of(i64 v) { return (double)v; }
};
template <> struct narrow<i64> {
  HT_FN i64 of(float v) { return ht_whole((double)v); }
  HT_FN i64 of(double v) { return ht_whole(v); }
  HT_FN i64 of(i64 v) { return v; }
};
template <> struct narrow<b8> {
  HT_FN b8 of(float v) { return v != 0; }
  HT_FN b8 of(double v) { return v != 0; }
  HT_FN b8 of(i64 v) { return v != 0; }
};

// Blocks of the random stream: Philox 4×32-10, as amp's.
struct four { u32 v[4]; };
HT_FN four philox(u64 seed, u64 counter) {
  u32 c0 = (u32)counter, c1 = (u32)(counter >> 32), c2 = 0, c3 = 0, k0 = (u32)seed, k1 = (u32)(seed >> 32);
  for (int r = 0; r < 10; r++) {
    const u64 p0 = (u64)0xD2511F53u * c0, p1 = (u64)0xCD9E8D57u * c2;
    c0 = (u32)(p1 >> 32) ^ c1 ^ k0;
    c1 = (u32)p1;
    c2 = (u32)(p0 >> 32) ^ c3 ^ k1;
    c3 = (u32)p0;
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  return four{{c0, c1, c2, c3}};
}
// A Stream is where a call's piece of the stream begins: block of seed, or, in a captured step, as many blocks behind the place that lies at origin,
// where every replay finds its own.
struct Stream { u64 seed, block; };
HT_FN Stream stream_of(const void* origin, u64 seed, u64 block) {
  Stream s = {held(seed), held(block)};
  if (origin) s.seed = ((const u64*)origin)[0], s.block += ((const u64*)origin)[1];
  return s;
}
HT_FN four philox(const Stream& s, u64 i) { return philox(s.seed, s.block + i); }
// number_of is number i of a stream, in its block i/4.
HT_FN u32 number_of(const four& b, u64 i) { return (i & 2) ? ((i & 1) ? b.v[3] : b.v[2]) : ((i & 1) ? b.v[1] : b.v[0]); }
