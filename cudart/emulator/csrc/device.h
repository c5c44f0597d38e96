// device.h is what a kernel sees when it is compiled for the CPU: the words of CUDA C++ that Halftone's kernels use, in plain
// C++17. It is given to every .cu by -include. What needs a scheduler lies in block.cpp.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>

#include "place.h"

// NVRTC has these without a header, outside of any namespace.
using std::isfinite;
using std::isinf;
using std::isnan;

#ifdef HALFTONE_SCAN  // the pass that lists a file's kernels
#define __global__ halftone_global
#define __launch_bounds__(...) halftone_bounds(__VA_ARGS__)
#define __device__ halftone_device
#define __host__ halftone_host
#define __constant__ halftone_device
#define __shared__ halftone_device
#else
#define __global__
#define __launch_bounds__(...)
#define __device__
#define __host__
#define __constant__ static
// A block runs on one OS thread from its first to its last instruction, so that memory of the thread is memory of the block.
#define __shared__ thread_local
#endif
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __align__(n) __attribute__((aligned(n)))
#ifndef __restrict__
#define __restrict__ __restrict
#endif

struct alignas(8) int2 { int x, y; };
struct alignas(16) int4 { int x, y, z, w; };
struct alignas(8) uint2 { unsigned x, y; };
struct alignas(16) uint4 { unsigned x, y, z, w; };
struct alignas(8) float2 { float x, y; };
struct alignas(16) float4 { float x, y, z, w; };
struct alignas(16) double2 { double x, y; };

#define threadIdx (emu::threadOf())
#define blockIdx (emu::blockOf())
#define blockDim (emu::blockSizeOf())
#define gridDim (emu::gridSizeOf())
#define warpSize 32

inline void __syncthreads(int line = __builtin_LINE()) { emu::barrier(line); }
inline void __syncwarp(unsigned mask = 0xffffffffu) { emu::warp(mask, nullptr, nullptr, true); }
inline void __threadfence() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
inline void __threadfence_block() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
#undef assert
#define assert(e) ((e) ? void() : emu::trap("an assertion failed: " #e))
[[noreturn]] inline void __trap() { emu::trap("__trap() was called"); }

// Dynamic shared memory, whose size the launch gives.
// Declared outside of functions it is an object that stands for its address: threads have different ones.
namespace emu {
template <class T>
struct DynamicShared {
  operator T*() const { return reinterpret_cast<T*>(dynamicSharedOf()); }
  template <class U>
  explicit operator U*() const { return reinterpret_cast<U*>(dynamicSharedOf()); }
};
}  // namespace emu
#define HALFTONE_DYN_SHARED(T, name) T* name = reinterpret_cast<T*>(emu::dynamicSharedOf())

#include "device_warp.h"
#include "device_atomic.h"
#include "device_math.h"
#include "device_mma.h"
