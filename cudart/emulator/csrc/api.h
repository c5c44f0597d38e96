// api.h: what the functions of the driver API share. They are declared with the types of C that CUDA's headers give them; handles
// are pointers to this library's objects and are checked before use.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core.h"

#define EMU_API extern "C" __attribute__((visibility("default")))

namespace emu {

// Codes of CUresult.
enum : int {
  ok = 0,
  invalidValue = 1,
  outOfMemory = 2,
  notInitialized = 3,
  invalidDevice = 101,
  invalidImage = 200,
  invalidContext = 201,
  noBinary = 209,
  invalidPtx = 218,
  unsupportedPtx = 222,
  invalidHandle = 400,
  illegalState = 401,
  notFound = 500,
  notReady = 600,
  outOfResources = 701,
  launchFailed = 719,
  notSupported = 801,
  captureUnsupported = 900,
  captureInvalidated = 901,
  captureUnmatched = 903,
  captureUnjoined = 904,
  captureIsolation = 905,
  capturedEvent = 907,
  captureWrongThread = 908,
};

// Call is the begin of every function: it takes the lock and finds what the call may not go on without.
class Call {
 public:
  // needs: 0 nothing but cuInit, 1 a context bound to the thread. what counts the call for injected errors; it may be null.
  explicit Call(int needs, const char* what = nullptr);
  explicit operator bool() const { return code == 0; }
  int code = 0;
  Core& core;
  std::unique_lock<std::mutex> lock;
  Context* context = nullptr;

  // stream looks a handle up: null and 1 (legacy) are the default stream. It sets code when there is none.
  Stream* stream(void* handle);
  // waits tells a call that waits, or changes what is mapped: it is refused while this thread captures.
  bool waits();
  int synced();  // after everything was waited for: pools return what is above their threshold
};

extern __thread Context* bound;
extern __thread int captureMode;

int optinShared(int capability);  // bytes of shared memory that a block may have if its kernel asks for them
bool room(Core& core, int device, Pool* pool, uint64_t n);  // whether n more bytes fit
uint64_t sharedBytes(int device);
int addCopy(Call& c, Stream* s, const char* name, uint64_t dst, void* hostDst, uint64_t src, const void* hostSrc, size_t bytes);

}  // namespace emu
