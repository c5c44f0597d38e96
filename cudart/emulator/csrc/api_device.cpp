// api_device.cpp: initialization, devices, contexts, errors.
#include <cstdio>
#include <cstring>

#include "api.h"

namespace emu {

__thread Context* bound = nullptr;

static bool initialized = false;

Call::Call(int needs, const char* what) : core(Core::get()), lock(core.mutex) {
  if (!initialized) {
    code = notInitialized;
  } else if (core.lost) {
    code = core.lost;
  } else if (needs && !bound) {
    code = invalidContext;
  } else if (needs && !bound->retained) {
    code = 709;  // CUDA_ERROR_CONTEXT_IS_DESTROYED
  } else if (what && (code = core.config.injected(what))) {
    core.say(std::string("injected: a call of kind ") + what + " fails with " + std::to_string(code));
    // An unknown error is how a device that is gone shows: it does not come back.
    if (code == 999 || code == 214) core.lost = code;
  } else {
    context = bound;
  }
}

Stream* Call::stream(void* handle) {
  if (handle == nullptr || handle == reinterpret_cast<void*>(1)) return core.defaultStream(context->device);
  auto* s = static_cast<Stream*>(handle);
  if (core.streams.count(s) && s->context == context) return s;
  code = invalidHandle;
  return nullptr;
}

struct ErrorText { int code; const char *name, *text; };

static const ErrorText errorTexts[] = {
    {0, "CUDA_SUCCESS", "no error"},
    {1, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {2, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {3, "CUDA_ERROR_NOT_INITIALIZED", "initialization error"},
    {46, "CUDA_ERROR_DEVICE_UNAVAILABLE", "CUDA-capable device(s) is/are busy or unavailable"},
    {100, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"},
    {101, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"},
    {200, "CUDA_ERROR_INVALID_IMAGE", "device kernel image is invalid"},
    {201, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"},
    {209, "CUDA_ERROR_NO_BINARY_FOR_GPU", "no kernel image is available for execution on the device"},
    {214, "CUDA_ERROR_ECC_UNCORRECTABLE", "uncorrectable ECC error encountered"},
    {218, "CUDA_ERROR_INVALID_PTX", "a PTX JIT compilation failed"},
    {222, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION", "the provided PTX was compiled with an unsupported toolchain."},
    {400, "CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"},
    {401, "CUDA_ERROR_ILLEGAL_STATE", "the operation cannot be performed in the present state"},
    {500, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
    {600, "CUDA_ERROR_NOT_READY", "device not ready"},
    {700, "CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered"},
    {701, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES", "too many resources requested for launch"},
    {709, "CUDA_ERROR_CONTEXT_IS_DESTROYED", "context is destroyed"},
    {716, "CUDA_ERROR_MISALIGNED_ADDRESS", "misaligned address"},
    {719, "CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure"},
    {801, "CUDA_ERROR_NOT_SUPPORTED", "operation not supported"},
    {900, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED", "operation not permitted when stream is capturing"},
    {901, "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED", "operation failed due to a previous error during capture"},
    {903, "CUDA_ERROR_STREAM_CAPTURE_UNMATCHED", "capture was not ended in the same stream as it began"},
    {904, "CUDA_ERROR_STREAM_CAPTURE_UNJOINED", "capturing stream has unjoined work"},
    {905, "CUDA_ERROR_STREAM_CAPTURE_ISOLATION", "dependency created on uncaptured work in another stream"},
    {907, "CUDA_ERROR_CAPTURED_EVENT", "operation not permitted on an event last recorded in a capturing stream"},
    {908, "CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD", "attempt to terminate a thread-local capture sequence from another thread"},
    {999, "CUDA_ERROR_UNKNOWN", "unknown error"},
};

static const ErrorText* findError(int code) {
  for (auto& e : errorTexts)
    if (e.code == code) return &e;
  return nullptr;
}

int optinShared(int capability) {
  switch (capability) {
    case 70: case 72: return 96 << 10;
    case 75: return 64 << 10;
    case 80: case 87: return 163 << 10;
    case 86: case 89: case 120: case 121: return 99 << 10;
    default: return capability < 70 ? 48 << 10 : 227 << 10;
  }
}

// attribute answers for an A100-like device; what programs choose launches by.
static int attribute(int a, const Config& config) {
  switch (a) {
    case 1: return 1024;                      // threads per block
    case 2: case 3: return 1024;              // block x, y
    case 4: return 64;                        // block z
    case 5: return 0x7fffffff;                // grid x
    case 6: case 7: return 65535;             // grid y, z
    case 8: return 48 << 10;                  // shared memory per block
    case 9: return 64 << 10;                  // constant memory
    case 10: return 32;                       // warp
    case 12: return 65536;                    // registers per block
    case 13: return 1000000;                  // clock, kHz
    case 14: return 512;                      // texture alignment
    case 15: return 1;                        // copies overlap
    case 16: return 4;                        // multiprocessors
    case 19: return 1;                        // maps host memory
    case 31: return 1;                        // concurrent kernels
    case 36: return 1000000;                  // memory clock, kHz
    case 37: return 256;                      // memory bus, bits
    case 38: return 4 << 20;                  // L2
    case 39: return 2048;                     // threads per multiprocessor
    case 40: return 1;                        // copy engines
    case 41: return 1;                        // unified addressing
    case 75: return config.capability / 10;
    case 76: return config.capability % 10;
    case 81: return optinShared(config.capability) + (config.capability >= 80 ? 1 << 10 : 0);  // shared memory per multiprocessor
    case 82: return 65536;                    // registers per multiprocessor
    case 97: return optinShared(config.capability);  // shared memory that a block can opt into
    case 102: return 1;                       // virtual memory management
    case 103: return 1;                       // handles as file descriptors
    case 106: return 32;                      // blocks per multiprocessor
    case 115: return 1;                       // memory pools
    default: return 0;
  }
}

}  // namespace emu

using namespace emu;

EMU_API int cuInit(unsigned flags) {
  if (flags) return invalidValue;
  Core& core = Core::get();
  std::lock_guard<std::mutex> lock(core.mutex);
  if (!core.init()) return 999;
  initialized = true;
  return ok;
}

EMU_API int cuDriverGetVersion(int* version) {
  *version = 13000;
  return ok;
}

EMU_API int cuGetErrorName(int code, const char** name) {
  auto* e = findError(code);
  *name = e ? e->name : nullptr;
  return e ? ok : invalidValue;
}

EMU_API int cuGetErrorString(int code, const char** text) {
  auto* e = findError(code);
  *text = e ? e->text : nullptr;
  return e ? ok : invalidValue;
}

EMU_API int cuDeviceGetCount(int* n) {
  Call c(0);
  if (c) *n = c.core.config.devices;
  return c.code;
}

EMU_API int cuDeviceGet(int* device, int ordinal) {
  Call c(0);
  if (!c) return c.code;
  if (ordinal < 0 || ordinal >= c.core.config.devices) return invalidDevice;
  *device = ordinal;
  return ok;
}

static bool exists(Call& c, int device) {
  if (c && (device < 0 || device >= c.core.config.devices)) c.code = invalidDevice;
  return bool(c);
}

EMU_API int cuDeviceGetName(char* name, int n, int device) {
  Call c(0);
  if (!exists(c, device)) return c.code;
  std::snprintf(name, static_cast<size_t>(n), "Halftone emulated GPU (sm_%d, runs on the CPU)", c.core.config.capability);
  return ok;
}

EMU_API int cuDeviceGetUuid(unsigned char* uuid, int device) {
  Call c(0);
  if (!exists(c, device)) return c.code;
  std::memcpy(uuid, "halftone-emul-00", 16);
  uuid[15] = static_cast<unsigned char>('0' + device);
  return ok;
}
EMU_API int cuDeviceGetUuid_v2(unsigned char* uuid, int device) { return cuDeviceGetUuid(uuid, device); }

EMU_API int cuDeviceTotalMem_v2(size_t* bytes, int device) {
  Call c(0);
  if (!exists(c, device)) return c.code;
  *bytes = c.core.config.memory;
  return ok;
}

EMU_API int cuDeviceGetAttribute(int* value, int a, int device) {
  Call c(0);
  if (!exists(c, device)) return c.code;
  *value = attribute(a, c.core.config);
  return ok;
}

EMU_API int cuDevicePrimaryCtxRetain(void** context, int device) {
  Call c(0);
  if (!exists(c, device)) return c.code;
  Context* ctx = c.core.contexts[static_cast<size_t>(device)].get();
  ctx->retained++;
  *context = ctx;
  return ok;
}

EMU_API int cuDevicePrimaryCtxRelease_v2(int device) {
  Call c(0);
  if (c.code && c.code != c.core.lost) return c.code;
  if (device < 0 || device >= c.core.config.devices) return invalidDevice;
  Context* ctx = c.core.contexts[static_cast<size_t>(device)].get();
  if (!ctx->retained) return invalidContext;
  if (--ctx->retained) return ok;
  int code = c.core.finishAll(c.lock);
  c.core.reset(device);
  return code;
}

// cuDevicePrimaryCtxReset ends the context whoever holds it. Here it brings a lost device back as well.
EMU_API int cuDevicePrimaryCtxReset_v2(int device) {
  Call c(0);
  if (c.code && c.code != c.core.lost) return c.code;
  if (device < 0 || device >= c.core.config.devices) return invalidDevice;
  c.core.finishAll(c.lock);
  c.core.reset(device);
  c.core.lost = 0;
  return ok;
}

EMU_API int cuCtxSetCurrent(void* context) {
  Core& core = Core::get();
  std::lock_guard<std::mutex> lock(core.mutex);
  if (!initialized) return notInitialized;
  if (context) {
    bool found = false;
    for (auto& c : core.contexts) found = found || c.get() == context;
    if (!found || !static_cast<Context*>(context)->retained) return invalidContext;
  }
  bound = static_cast<Context*>(context);
  return ok;
}

EMU_API int cuCtxGetCurrent(void** context) {
  *context = bound;
  return ok;
}

EMU_API int cuCtxGetDevice(int* device) {
  Call c(1);
  if (c) *device = c.context->device;
  return c.code;
}

EMU_API int cuCtxSynchronize() {
  Call c(1, "sync");
  if (!c || !c.waits()) return c.code;
  int code = c.core.finishAll(c.lock);
  return code ? code : c.synced();
}
