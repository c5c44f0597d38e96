// hidden.h comes behind the headers that the emulator needs for a program that NVRTC's stand-in compiles: what those declare and NVRTC does
// not have goes by another name, so that a program which uses it without declaring it is refused in both places.
#pragma once

#define __CUDACC__ 1
#define __CUDACC_RTC__ 1
#define __CUDA_ARCH__ 800

#define int8_t halftone_hidden_int8_t
#define int16_t halftone_hidden_int16_t
#define int32_t halftone_hidden_int32_t
#define int64_t halftone_hidden_int64_t
#define uint8_t halftone_hidden_uint8_t
#define uint16_t halftone_hidden_uint16_t
#define uint32_t halftone_hidden_uint32_t
#define uint64_t halftone_hidden_uint64_t
#define intptr_t halftone_hidden_intptr_t
#define uintptr_t halftone_hidden_uintptr_t
#undef INFINITY
#undef NAN
#undef HUGE_VAL
#undef HUGE_VALF
#undef M_PI
#undef M_E
#undef M_SQRT2
#undef INT_MAX
#undef INT_MIN
#undef FLT_MAX
#undef DBL_MAX
