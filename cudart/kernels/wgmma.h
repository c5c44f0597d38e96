// Products of warpgroups, four warps each, on the tensor cores of sm_90a: operands lie in shared memory and are read there while the warps go on.
// The emulator has functions of the same names.
#pragma once
#include "mma.h"

#if defined(HALFTONE_EMULATOR)
#define HT_WARPGROUPS 1
// wgmma queues d += a·b of 64 rows, 256 columns and 16 terms. a and b are descriptors; AlongK says of an operand that 16 bytes have terms of one
// row or column, else they have rows or columns of one term. d must not be touched before it has been waited for.
template <bool AK, bool BK> HT_FN void wgmma(float (&d)[32][4], u64 a, u64 b, f16) { wgmma_m64n256k16_f16(d, a, b, !AK, !BK); }
template <bool AK, bool BK> HT_FN void wgmma(float (&d)[32][4], u64 a, u64 b, bf16) { wgmma_m64n256k16_bf16(d, a, b, !AK, !BK); }
// wgmma_pin keeps the compiler from moving what reads or writes sums over it.
HT_FN void wgmma_pin(float (&)[32][4]) {}
#elif defined(__CUDA_ARCH_FEAT_SM90_ALL)
#define HT_WARPGROUPS 1
#define HT_SUMS(i) "+f"(d[i][0]), "+f"(d[i][1]), "+f"(d[i][2]), "+f"(d[i][3])
#define HT_SUMS_8(i) HT_SUMS(i), HT_SUMS(i + 1), HT_SUMS(i + 2), HT_SUMS(i + 3), HT_SUMS(i + 4), HT_SUMS(i + 5), HT_SUMS(i + 6), HT_SUMS(i + 7)
#define HT_ALL_SUMS HT_SUMS_8(0), HT_SUMS_8(8), HT_SUMS_8(16), HT_SUMS_8(24)
// The operands %0 to %127, ten in each of the first twelve rows.
#define HT_TEN(t) "%" #t "0,%" #t "1,%" #t "2,%" #t "3,%" #t "4,%" #t "5,%" #t "6,%" #t "7,%" #t "8,%" #t "9,"
#define HT_128 HT_TEN() HT_TEN(1) HT_TEN(2) HT_TEN(3) HT_TEN(4) HT_TEN(5) HT_TEN(6) HT_TEN(7) HT_TEN(8) HT_TEN(9) HT_TEN(10) HT_TEN(11) \
  "%120,%121,%122,%123,%124,%125,%126,%127"
#define HT_WGMMA(type)                                                                                                                    \
  asm volatile("{ .reg .pred add; setp.eq.u32 add,0,0; wgmma.mma_async.sync.aligned.m64n256k16.f32." type "." type " {" HT_128            \
               "},%128,%129,add,1,1,%130,%131; }" : HT_ALL_SUMS : "l"(a), "l"(b), "n"(AK ? 0 : 1), "n"(BK ? 0 : 1))
template <bool AK, bool BK> HT_FN void wgmma(float (&d)[32][4], u64 a, u64 b, f16) { HT_WGMMA("f16"); }
template <bool AK, bool BK> HT_FN void wgmma(float (&d)[32][4], u64 a, u64 b, bf16) { HT_WGMMA("bf16"); }
HT_FN void wgmma_pin(float (&d)[32][4]) { asm volatile("" : HT_ALL_SUMS :: "memory"); }
// wgmma_fence comes between other uses of sums and the first wgmma on them.
HT_FN void wgmma_fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
HT_FN void wgmma_commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
// wgmma_wait waits until at most N groups are under way.
template <int N> HT_FN void wgmma_wait() { asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(N) : "memory"); }
// fence_proxy_async makes what the thread has written to shared memory, and cp.async for it, seen by wgmma.
HT_FN void fence_proxy_async() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
#endif

#if HT_WARPGROUPS
// A descriptor tells wgmma of an operand in shared memory, in rows of 128 bytes whose eight pieces are mixed ("128-byte swizzle"): where it begins,
// and two distances in bytes (PTX ISA, "Matrix Descriptor Format"). 8 rows are together. Along k, rows are those of m or n, and across is from 8 of
// them to the next; there is no along. Else rows are terms of 64 m or n, along is from those to the next 64, across from 8 terms to the next.
HT_FN u64 wgmma_descriptor(u32 at, u32 along, u32 across) { return (u64)1 << 62 | (u64)(across >> 4) << 32 | (u64)(along >> 4) << 16 | (at & 0x3ffff) >> 4; }
#endif
