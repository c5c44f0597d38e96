// api_share.cpp: memory that several processes map: physical allocations with file descriptors, and IPC handles.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <unordered_map>

#include "api.h"

namespace emu {

// Physical is what cuMemCreate made or cuMemImportFromShareableHandle took.
struct Physical {
  int fd = -1;
  uint64_t bytes = 0;
  int device = 0;
  int uses = 0;  // mappings
  bool released = false;
};

static std::unordered_map<uint64_t, Physical> physicals;  // by handle
static std::unordered_map<uint64_t, uint64_t> mappedBy;   // address → handle
static uint64_t lastHandle = 0;
static constexpr uint64_t granularity = uint64_t(2) << 20;

static void drop(uint64_t handle) {
  auto i = physicals.find(handle);
  if (i == physicals.end() || i->second.uses || !i->second.released) return;
  close(i->second.fd);
  physicals.erase(i);
}

// sharedBytes counts what this process holds of a device; what others alone hold it can't know.
uint64_t sharedBytes(int device) {
  uint64_t n = 0;
  for (auto& [handle, p] : physicals)
    if (p.device == device) n += p.bytes;
  return n;
}

// Handle is what stands in the 64 bytes of an IPC handle.
struct IpcHandle {
  char magic[8];
  int pid, fd;
  uint64_t offset, bytes;
};
static const char magic[8] = {'h', 'a', 'l', 'f', 't', 'o', 'n', 'e'};
static std::unordered_map<uint64_t, uint64_t> opened;  // what was given to the program → where the mapping begins

}  // namespace emu

using namespace emu;

struct CUipcMemHandle { char reserved[64]; };

EMU_API int cuMemGetAllocationGranularity(size_t* bytes, const void*, int) {
  *bytes = granularity;
  return ok;
}

EMU_API int cuMemCreate(uint64_t* handle, size_t bytes, const void* properties, unsigned long long) {
  Call c(1, "alloc");
  if (!c) return c.code;
  if (!bytes || bytes % granularity) return invalidValue;
  int device = static_cast<const int*>(properties)[3];  // allocation type, handle types, location: type, id
  if (device < 0 || device >= c.core.config.devices) return invalidDevice;
  if (!room(c.core, device, nullptr, bytes)) return outOfMemory;
  int fd = memfd_create("halftone-emulated-shared", MFD_CLOEXEC);
  if (fd < 0 || ftruncate(fd, static_cast<off_t>(bytes))) return outOfMemory;
  *handle = ++lastHandle;
  physicals[*handle] = Physical{fd, bytes, device, 0, false};
  return ok;
}

EMU_API int cuMemRelease(uint64_t handle) {
  Call c(1);
  if (c.code && c.code != c.core.lost) return c.code;
  auto i = physicals.find(handle);
  if (i == physicals.end() || i->second.released) return invalidValue;
  i->second.released = true;
  drop(handle);
  return ok;
}

EMU_API int cuMemAddressReserve(uint64_t* address, size_t bytes, size_t, uint64_t, unsigned long long) {
  Call c(1);
  if (!c) return c.code;
  *address = c.core.memory.reserve(bytes);
  return *address ? ok : outOfMemory;
}

EMU_API int cuMemAddressFree(uint64_t address, size_t) {
  Call c(1);
  if (!c) return c.code;
  return c.core.memory.mapped(address) ? invalidValue : ok;  // addresses are not used again
}

EMU_API int cuMemMap(uint64_t address, size_t bytes, size_t offset, uint64_t handle, unsigned long long) {
  Call c(1);
  if (!c) return c.code;
  auto i = physicals.find(handle);
  if (i == physicals.end() || offset || bytes > i->second.bytes || c.core.memory.mapped(address)) return invalidValue;
  if (!c.core.memory.map(address, bytes, i->second.fd, 0)) return outOfMemory;
  i->second.uses++;
  mappedBy[address] = handle;
  return ok;
}

EMU_API int cuMemUnmap(uint64_t address, size_t) {
  Call c(1);
  if (!c) return c.code;
  auto i = mappedBy.find(address);
  if (i == mappedBy.end()) return invalidValue;
  int code = c.core.finishAll(c.lock);
  c.core.memory.unmap(address);
  uint64_t handle = i->second;
  mappedBy.erase(i);
  physicals[handle].uses--;
  drop(handle);
  return code;
}

EMU_API int cuMemSetAccess(uint64_t address, size_t, const void*, size_t) {
  Call c(1);
  if (!c) return c.code;
  return c.core.memory.mapped(address) ? ok : invalidValue;
}

EMU_API int cuMemExportToShareableHandle(void* to, uint64_t handle, int type, unsigned long long) {
  Call c(1);
  if (!c) return c.code;
  auto i = physicals.find(handle);
  if (i == physicals.end() || type != 1) return invalidValue;
  int fd = fcntl(i->second.fd, F_DUPFD_CLOEXEC, 0);
  if (fd < 0) return 999;
  std::memcpy(to, &fd, sizeof fd);
  return ok;
}

EMU_API int cuMemImportFromShareableHandle(uint64_t* handle, void* osHandle, int type) {
  Call c(1);
  if (!c) return c.code;
  struct stat info;
  int fd = static_cast<int>(reinterpret_cast<intptr_t>(osHandle));
  if (type != 1 || fstat(fd, &info) || info.st_size % static_cast<off_t>(granularity)) return invalidValue;
  fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
  if (fd < 0) return invalidValue;
  *handle = ++lastHandle;
  physicals[*handle] = Physical{fd, static_cast<uint64_t>(info.st_size), c.context->device, 0, false};
  return ok;
}

EMU_API int cuIpcGetMemHandle(CUipcMemHandle* handle, uint64_t address) {
  Call c(1);
  if (!c) return c.code;
  Allocation* a = c.core.memory.find(address);
  if (!a || a->pool) return invalidValue;  // memory of pools has no IPC handles
  // What is queued must have happened when another process looks; a real device orders this by itself.
  if (int code = c.core.finishAll(c.lock)) return code;
  IpcHandle h = {};
  std::memcpy(h.magic, magic, sizeof magic);
  h.pid = getpid();
  h.fd = c.core.memory.file();
  h.offset = c.core.memory.offset(a->address);
  h.bytes = a->bytes;
  std::memset(handle, 0, sizeof *handle);
  std::memcpy(handle, &h, sizeof h);
  return ok;
}

EMU_API int cuIpcOpenMemHandle_v2(uint64_t* address, CUipcMemHandle handle, unsigned flags) {
  Call c(1);
  if (!c) return c.code;
  IpcHandle h;
  std::memcpy(&h, &handle, sizeof h);
  if (flags != 1 || std::memcmp(h.magic, magic, sizeof magic)) return invalidValue;
  if (h.pid == getpid()) return invalidContext;
  std::string path = "/proc/" + std::to_string(h.pid) + "/fd/" + std::to_string(h.fd);
  int fd = open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (fd < 0) return invalidValue;  // its process is gone
  constexpr uint64_t page = 65536;
  uint64_t first = h.offset / page * page, bytes = (h.offset + h.bytes - first + page - 1) / page * page;
  uint64_t at = c.core.memory.reserve(bytes);
  bool mapped = at && c.core.memory.map(at, bytes, fd, first);
  close(fd);
  if (!mapped) return outOfMemory;
  *address = at + (h.offset - first);
  opened[*address] = at;
  return ok;
}

EMU_API int cuIpcCloseMemHandle(uint64_t address) {
  Call c(1);
  if (!c) return c.code;
  auto i = opened.find(address);
  if (i == opened.end()) return invalidValue;
  int code = c.core.finishAll(c.lock);
  c.core.memory.unmap(i->second);
  opened.erase(i);
  return code;
}
