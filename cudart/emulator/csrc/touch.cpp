// touch.cpp: the hooks of state.h that only the checked build fills with life.
#include "state.h"

#ifndef HALFTONE_CHECK
namespace emu {
void touchRead(const void*, int) {}
void touchAtomic(const void*, int) {}
}  // namespace emu
#endif
