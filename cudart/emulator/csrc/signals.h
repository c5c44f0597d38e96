// signals.h: a kernel that touches a forbidden address is an error of the emulated device, not the end of the program.
#pragma once

#include <functional>

namespace emu {

// handleSignals takes over SIGSEGV, SIGBUS, SIGFPE and SIGILL. What comes from elsewhere than a kernel is passed on to the handler
// that was there, Go's.
void handleSignals();

// withSignalsBlocked runs fn with all signals blocked that can be, so that threads begun in it never run another's handler.
void withSignalsBlocked(const std::function<void()>& fn);

// joinKernels makes this thread one that runs kernels: it gets a stack for handlers, since the fiber's own may be the one that
// overflowed. Threads call it one at a time.
void joinKernels();

}  // namespace emu
