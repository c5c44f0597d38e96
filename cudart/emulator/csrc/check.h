// check.h: what the checked build looks at when a kernel touches memory. In the plain build nothing is looked at.
#pragma once

#include <cstddef>

namespace emu {

#ifdef HALFTONE_CHECK
void checkShared(void* dynamic, size_t bytes);  // a block begins, with this dynamic shared memory
void checkRead(const void* p, size_t bytes);
void checkWrite(const void* p, size_t bytes);
#else
inline void checkShared(void*, size_t) {}
inline void checkRead(const void*, size_t) {}
inline void checkWrite(const void*, size_t) {}
#endif

}  // namespace emu
