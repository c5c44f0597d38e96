// state.h: what a kernel and the scheduler share. device.h is for kernels, and full of macros; this is not.
#pragma once

#include <cstdint>

struct dim3 {
  unsigned x, y, z;
  constexpr dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
};
struct uint3 { unsigned x, y, z; };

// Kernels that are compiled while the program runs call these from a library of their own.
#define EMU_SHARED __attribute__((visibility("default")))

namespace emu {

// Current is the running CUDA thread. The scheduler sets it before it switches to the thread.
struct Current {
  uint3 thread, block;
  dim3 blockSize, gridSize;
  unsigned linear;  // index of the thread in its block
  unsigned char* dynamicShared;
};

extern EMU_SHARED __thread Current* current;

// barrier is __syncthreads. The line tells barriers apart, so that threads which wait at different ones are reported.
EMU_SHARED void barrier(int line);

// A Step runs once when all lanes of a warp operation have arrived: lanes[i] is what lane i gave, null where it takes no part.
using Step = void (*)(void** lanes, unsigned members);

// warp waits until all living lanes of mask have come with the same step, runs it once and lets all go on. Lanes see what it
// wrote into what they gave. ordered: it orders memory between the lanes as well, as __syncwarp does and shuffles do not.
EMU_SHARED void warp(unsigned mask, void* mine, Step step, bool ordered);

// asyncCopy notes a copy into shared memory; it happens when the thread waits for it, as late as the hardware may be. What lay there is
// gone at once, as early as the hardware may be.
EMU_SHARED void asyncCopy(void* shared, const void* global, int bytes, int total);
EMU_SHARED void asyncCommit();
EMU_SHARED void asyncWait(int keep);  // until at most keep groups are pending

// Wgmma is one wgmma.mma_async of 16 terms of halves, as a lane gives it.
struct Wgmma {
  uint64_t a, b;             // descriptors
  int n;                     // columns
  bool add;                  // to the sums there are
  bool turnA, turnB;         // operands lie along m and n, not along k
  float (*wide)(uint16_t);   // what a half is
  float* const* d;           // the lane's n/2 sums
};
EMU_SHARED void wgmmaFence();
EMU_SHARED void wgmma(const Wgmma& w);
EMU_SHARED void wgmmaCommit();
EMU_SHARED void wgmmaWait(int keep);  // until at most keep groups are under way
EMU_SHARED void proxyFence();         // fence.proxy.async

// What the scheduler does for a warp is no access of one thread's: it is not instrumented.
#define EMU_UNCHECKED __attribute__((no_sanitize("thread")))

// touchRead and touchAtomic tell the checks of accesses that they can't see: of a warp operation, and that one is atomic.
EMU_SHARED void touchRead(const void* p, int bytes);
EMU_SHARED void touchAtomic(const void* p, int bytes);

// rowAligned stops the kernel if ldmatrix is given a row that does not begin at a multiple of 16 bytes.
EMU_SHARED void rowAligned(const void* row);

[[noreturn]] EMU_SHARED void trap(const char* what);

}  // namespace emu
