// place.h: how a kernel learns where its thread is.
#pragma once

#include "state.h"

namespace emu {

#ifdef HALFTONE_CHECK
// Where a thread is, is no memory of the kernel's: the checked build asks for it by functions, whose accesses are not looked at. It stays as it
// is as long as the thread runs.
EMU_SHARED __attribute__((const)) uint3 threadOf();
EMU_SHARED __attribute__((const)) uint3 blockOf();
EMU_SHARED __attribute__((const)) dim3 blockSizeOf();
EMU_SHARED __attribute__((const)) dim3 gridSizeOf();
EMU_SHARED __attribute__((const)) unsigned linearOf();
EMU_SHARED __attribute__((const)) unsigned char* dynamicSharedOf();
#else
inline const uint3& threadOf() { return current->thread; }
inline const uint3& blockOf() { return current->block; }
inline const dim3& blockSizeOf() { return current->blockSize; }
inline const dim3& gridSizeOf() { return current->gridSize; }
inline unsigned linearOf() { return current->linear; }
inline unsigned char* dynamicSharedOf() { return current->dynamicShared; }
#endif

}  // namespace emu
