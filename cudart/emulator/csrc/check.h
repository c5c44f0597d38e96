// check.h: what the checked build looks at when a kernel touches memory. In the plain build nothing is looked at.
#pragma once

#include <cstddef>
#include <cstdint>

namespace emu {

class Worker;

#ifdef HALFTONE_CHECK
void checkBegin(Worker* w);  // a block begins on this thread
void checkThreadEnd();       // a thread of it is done
void checkEnd();             // the block is done
void checkAccess(const void* p, size_t bytes, bool write);  // of an access whose type says that it is aligned
void checkRead(const void* p, size_t bytes);
void checkWrite(const void* p, size_t bytes);
void checkCopy(const void* p, size_t bytes);  // an asynchronous copy begins, whose bytes are written when it is waited for
#else
inline void checkBegin(Worker*) {}
inline void checkThreadEnd() {}
inline void checkEnd() {}
inline void checkRead(const void*, size_t) {}
inline void checkWrite(const void*, size_t) {}
inline void checkCopy(const void*, size_t) {}
#endif

}  // namespace emu
