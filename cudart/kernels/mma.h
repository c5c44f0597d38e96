// Tensor cores and asynchronous copies of sm_80: the emulator has functions of the same names.
#pragma once
#include "prelude.h"

#if defined(HALFTONE_EMULATOR)
#define HT_TENSOR_CORES 1
// Addresses in shared memory are numbers of 32 bits: here, how far they are from the launch's own.
HT_FN u32 shared_address(const void* p) { return (u32)((const unsigned char*)p - emu::current->dynamicShared); }
HT_FN void* shared_at(u32 a) { return emu::current->dynamicShared + a; }
HT_FN void ldmatrix_x4(u32 (&r)[4], u32 row) { ldmatrix_x4(r, (const void*)shared_at(row)); }
HT_FN void ldmatrix_x4_trans(u32 (&r)[4], u32 row) { ldmatrix_x4_trans(r, (const void*)shared_at(row)); }
HT_FN void cp_async16_zfill(u32 shared, const void* global, int bytes) { cp_async16_zfill(shared_at(shared), global, bytes); }
HT_FN void cp_async16(u32 shared, const void* global) { cp_async16(shared_at(shared), global); }
HT_FN const char* further(const char* at, u32 n, u32 times) { return at + (u64)n * times; }
HT_FN void cp_async_commit_also(int yes) {
  if (yes) cp_async_commit();
}
#elif __CUDA_ARCH__ >= 800
#define HT_TENSOR_CORES 1
HT_FN u32 shared_address(const void* p) {
  u32 a;
  asm("{ .reg .u64 t; cvta.to.shared.u64 t, %1; cvt.u32.u64 %0, t; }" : "=r"(a) : "l"(p));
  return a;
}
HT_FN void ldmatrix_x4(u32 (&r)[4], u32 row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3},[%4];" : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(row) : "memory");
}
HT_FN void ldmatrix_x4_trans(u32 (&r)[4], u32 row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3},[%4];" : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(row) : "memory");
}
HT_FN void ldmatrix_x4(u32 (&r)[4], const void* row) { ldmatrix_x4(r, shared_address(row)); }
HT_FN void ldmatrix_x4_trans(u32 (&r)[4], const void* row) { ldmatrix_x4_trans(r, shared_address(row)); }
HT_FN void mma_m16n8k16_f16(float (&d)[4], const u32 (&a)[4], const u32 (&b)[2]) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3},{%4,%5,%6,%7},{%8,%9},{%0,%1,%2,%3};"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
HT_FN void mma_m16n8k16_bf16(float (&d)[4], const u32 (&a)[4], const u32 (&b)[2]) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3},{%4,%5,%6,%7},{%8,%9},{%0,%1,%2,%3};"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
// cp_async16_zfill copies bytes of 16 to shared memory and sets the rest to 0.
HT_FN void cp_async16_zfill(u32 shared, const void* global, int bytes) {
  asm volatile("cp.async.cg.shared.global [%0],[%1],16,%2;" ::"r"(shared), "l"(global), "r"(bytes) : "memory");
}
HT_FN void cp_async16_zfill(void* shared, const void* global, int bytes) { cp_async16_zfill(shared_address(shared), global, bytes); }
HT_FN void cp_async16(u32 shared, const void* global) { asm volatile("cp.async.cg.shared.global [%0],[%1],16;" ::"r"(shared), "l"(global) : "memory"); }
// further is at + n·times, one instruction of the device: compilers would compute the product once, hold its 64 bits, and add them in two.
HT_FN const char* further(const char* at, u32 n, u32 times) {
  const char* r;
  asm("{ .reg .u64 t; mul.wide.u32 t,%1,%2; add.s64 %0,t,%3; }" : "=l"(r) : "r"(n), "r"(times), "l"(at));
  return r;
}
HT_FN void cp_async_commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int N> HT_FN void cp_async_wait() { asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory"); }
// cp_async_commit_also makes another group, an empty one, if yes. (Waiting for a number of groups known at run time takes branches.)
HT_FN void cp_async_commit_also(int yes) { asm volatile("{ .reg .pred p; setp.ne.s32 p,%0,0; @p cp.async.commit_group; }" ::"r"(yes) : "memory"); }
#endif

#if HT_TENSOR_CORES
HT_FN void ht_mma(float (&d)[4], const u32 (&a)[4], const u32 (&b)[2], f16) { mma_m16n8k16_f16(d, a, b); }
HT_FN void ht_mma(float (&d)[4], const u32 (&a)[4], const u32 (&b)[2], bf16) { mma_m16n8k16_bf16(d, a, b); }
#endif
