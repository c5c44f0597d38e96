// halftone.h: halves in a kernel of one's own. cudart.Compile gives it to a program that says #include "halftone.h"; NVRTC has no types of halves
// without a toolkit's headers, and to a kernel the elements of float16 and bfloat16 tensors are unsigned short. Each conversion rounds to
// nearest, ties to even, as Halftone's own kernels do.
#pragma once

#ifdef HALFTONE_EMULATOR
__device__ inline float float16_to_float(unsigned short h) { return f16_to_f32(h); }
__device__ inline unsigned short float_to_float16(float v) { return f32_to_f16(v); }
#else
__device__ inline float float16_to_float(unsigned short h) {
  float v;
  asm("cvt.f32.f16 %0,%1;" : "=f"(v) : "h"(h));
  return v;
}
__device__ inline unsigned short float_to_float16(float v) {
  unsigned short h;
  asm("cvt.rn.f16.f32 %0,%1;" : "=h"(h) : "f"(v));
  return h;
}
#endif
__device__ inline float bfloat16_to_float(unsigned short h) { return __uint_as_float((unsigned)h << 16); }
__device__ inline unsigned short float_to_bfloat16(float v) {
  unsigned b = __float_as_uint(v);
  if ((b & 0x7fffffffu) > 0x7f800000u) return 0x7fff;
  return (unsigned short)((b + 0x7fffu + ((b >> 16) & 1u)) >> 16);
}
