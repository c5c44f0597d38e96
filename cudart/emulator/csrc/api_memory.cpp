// api_memory.cpp: allocation, pools, copies, fills.
#include <sys/mman.h>

#include <cstdio>
#include <cstring>

#include "api.h"

namespace emu {

// room tells whether n more bytes fit: all that pools hold counts, whether in use or not, as on a device.
bool room(Core& core, int device, Pool* pool, uint64_t n) {
  uint64_t held = sharedBytes(device);
  for (auto& [address, a] : core.memory.live())
    if (!a.pool && a.device == device) held += a.bytes;
  for (auto& p : core.pools) {
    if (p->device != device) continue;
    uint64_t after = p->reserved;
    if (p.get() == pool && p->used + n > after) after = (p->used + n + (2u << 20) - 1) >> 21 << 21;
    held += after;
  }
  return held + (pool ? 0 : n) <= core.config.memory;
}

static Allocation* allocate(Call& c, uint64_t n, const char* kind, Pool* pool) {
  Core& core = c.core;
  if (n == 0) {
    c.code = invalidValue;
    return nullptr;
  }
  Allocation* a = room(core, c.context->device, pool, n) ? core.memory.allocate(n, kind, c.context->device, pool) : nullptr;
  if (!a) c.code = outOfMemory;
  else if (pool) pool->take(n);
  return a;
}

int Call::synced() {
  for (auto& p : core.pools)
    if (p->reserved > p->threshold) p->trim(p->threshold);
  return ok;
}

int addCopy(Call& c, Stream* s, const char* name, uint64_t dst, void* hostDst, uint64_t src, const void* hostSrc, size_t bytes) {
  if (bytes == 0) return ok;
  auto op = std::make_shared<Op>();
  op->kind = Op::copy;
  op->name = name;
  op->dst = dst, op->src = src, op->bytes = bytes, op->hostDst = hostDst, op->hostSrc = hostSrc;
  // Ranges are looked at now, as the driver does, and again when the copy runs.
  for (uint64_t address : {dst, src}) {
    if (!address) continue;
    if (!c.core.memory.host(address, bytes)) {
      c.core.say(std::string(name) + " of " + std::to_string(bytes) + " bytes: " + c.core.memory.describe(address) +
                 (c.core.memory.host(address, 1) ? "; the range ends outside of its allocation" : ""));
      return invalidValue;
    }
  }
  return c.core.add(c.lock, s, op);
}

static int fill(void* stream, uint64_t dst, uint32_t value, int width, size_t n) {
  Call c(1);
  Stream* s = c ? c.stream(stream) : nullptr;
  if (!c) return c.code;
  uint64_t bytes = n * static_cast<uint64_t>(width);
  if (dst % static_cast<uint64_t>(width)) return invalidValue;
  if (n == 0) return ok;
  if (!c.core.memory.host(dst, bytes)) {
    c.core.say("cuMemset of " + std::to_string(bytes) + " bytes: " + c.core.memory.describe(dst));
    return invalidValue;
  }
  auto op = std::make_shared<Op>();
  op->kind = Op::fill;
  op->name = "cuMemset";
  op->dst = dst, op->value = value, op->width = width, op->bytes = bytes;
  return c.core.add(c.lock, s, op);
}

}  // namespace emu

using namespace emu;

EMU_API int cuMemGetInfo_v2(size_t* free, size_t* total) {
  Call c(1);
  if (!c) return c.code;
  uint64_t held = sharedBytes(c.context->device);
  for (auto& [address, a] : c.core.memory.live())
    if (!a.pool && a.device == c.context->device) held += a.bytes;
  for (auto& p : c.core.pools)
    if (p->device == c.context->device) held += p->reserved;
  *total = c.core.config.memory;
  *free = held < *total ? *total - held : 0;
  return ok;
}

EMU_API int cuMemAlloc_v2(uint64_t* address, size_t n) {
  Call c(1, "alloc");
  if (!c || !c.waits()) return c.code;
  Allocation* a = allocate(c, n, "cuMemAlloc", nullptr);
  if (a) *address = a->address;
  return c.code;
}

EMU_API int cuMemFree_v2(uint64_t address) {
  Call c(1);
  if (address == 0) return c.code;
  if (!c || !c.waits()) return c.code;
  Allocation* a = c.core.memory.exactly(address);
  if (!a || a->releasing) {
    c.core.say("cuMemFree: " + (a ? "freed twice: " : std::string()) + c.core.memory.describe(address));
    return invalidValue;
  }
  if (int code = c.core.finishAll(c.lock)) return code;
  a = c.core.memory.exactly(address);
  if (!a) return invalidValue;
  if (a->pool) a->pool->give(a->bytes);
  std::string wrong = c.core.memory.release(a);
  if (!wrong.empty()) c.core.fail(700, wrong);
  return c.core.lost;
}

static int allocAsync(uint64_t* address, size_t n, Pool* pool, void* stream) {
  Call c(1, "alloc");
  Stream* s = c ? c.stream(stream) : nullptr;
  if (!c) return c.code;
  if (!pool) pool = c.core.pools[static_cast<size_t>(c.context->device)].get();
  if (s->capture) {  // a node; the memory belongs to the graph
    Allocation* a = allocate(c, n, "cuMemAllocAsync under capture", nullptr);
    if (!a) return c.code;
    *address = a->address;
    s->capture->allocations.push_back(a->address);
    auto op = std::make_shared<Op>();
    op->name = "alloc";
    return c.core.add(c.lock, s, op);
  }
  Allocation* a = allocate(c, n, "cuMemAllocAsync", pool);
  if (!a && c.core.pending) {  // what is freed already, but not yet on the device, makes room
    c.code = c.core.finishAll(c.lock);
    if (c) a = allocate(c, n, "cuMemAllocAsync", pool);
  }
  if (a) *address = a->address;
  return c.code;
}

EMU_API int cuMemAllocAsync(uint64_t* address, size_t n, void* stream) { return allocAsync(address, n, nullptr, stream); }

EMU_API int cuMemAllocFromPoolAsync(uint64_t* address, size_t n, void* pool, void* stream) {
  return allocAsync(address, n, static_cast<Pool*>(pool), stream);
}

EMU_API int cuMemFreeAsync(uint64_t address, void* stream) {
  Call c(1);
  Stream* s = c ? c.stream(stream) : nullptr;
  if (!c || address == 0) return c.code;
  Allocation* a = c.core.memory.exactly(address);
  if (!a || a->releasing) {
    c.core.say("cuMemFreeAsync: " + (a ? "freed twice: " : std::string()) + c.core.memory.describe(address));
    return invalidValue;
  }
  auto op = std::make_shared<Op>();
  op->dst = address;
  op->name = "cuMemFreeAsync";
  if (s->capture) {  // the next launch of the graph uses it again: it is overwritten, so that late readers are seen
    op->kind = Op::fill;
    op->value = 0xff;
    op->bytes = a->bytes;
    return c.core.add(c.lock, s, op);
  }
  op->kind = Op::release;
  a->releasing = true;
  if (a->pool) a->pool->give(a->bytes);
  return c.core.add(c.lock, s, op);
}

EMU_API int cuDeviceGetDefaultMemPool(void** pool, int device) {
  Call c(0);
  if (!c) return c.code;
  if (device < 0 || device >= c.core.config.devices) return invalidDevice;
  *pool = c.core.pools[static_cast<size_t>(device)].get();
  return ok;
}

EMU_API int cuMemPoolCreate(void** pool, const int* properties) {
  Call c(0);
  if (!c) return c.code;
  int device = properties[3];  // allocation type, handle types, location: type, id
  if (device < 0 || device >= c.core.config.devices) return invalidDevice;
  c.core.pools.push_back(std::make_unique<Pool>());
  c.core.pools.back()->device = device;
  *pool = c.core.pools.back().get();
  return ok;
}

EMU_API int cuMemPoolDestroy(void* pool) {
  Call c(0);
  if (!c) return c.code;
  auto& pools = c.core.pools;
  for (size_t i = 0; i < pools.size(); i++) {
    if (pools[i].get() != pool) continue;
    if (pools[i]->isDefault || pools[i]->used) return invalidValue;
    c.core.finishAll(c.lock);
    pools.erase(pools.begin() + static_cast<long>(i));
    return ok;
  }
  return invalidValue;
}

EMU_API int cuMemPoolSetAttribute(void* handle, int attribute, const void* value) {
  Call c(0);
  if (!c) return c.code;
  auto* pool = static_cast<Pool*>(handle);
  uint64_t v = 0;
  if (attribute >= 4) std::memcpy(&v, value, 8);
  switch (attribute) {
    case 1: case 2: case 3: return ok;  // how memory may be reused
    case 4: pool->threshold = v; return ok;
    case 6: pool->reservedHigh = pool->reserved; return v ? invalidValue : ok;
    case 8: pool->usedHigh = pool->used; return v ? invalidValue : ok;
    default: return invalidValue;
  }
}

EMU_API int cuMemPoolGetAttribute(void* handle, int attribute, void* value) {
  Call c(0);
  if (!c) return c.code;
  auto* pool = static_cast<Pool*>(handle);
  const uint64_t values[] = {pool->threshold, pool->reserved, pool->reservedHigh, pool->used, pool->usedHigh};
  if (attribute < 4 || attribute > 8) return invalidValue;
  std::memcpy(value, &values[attribute - 4], 8);
  return ok;
}

EMU_API int cuMemPoolTrimTo(void* pool, size_t keep) {
  Call c(0);
  if (c) static_cast<Pool*>(pool)->trim(keep);
  return c.code;
}

EMU_API int cuMemHostAlloc(void** p, size_t n, unsigned) {
  Call c(1, "alloc");
  if (!c || !c.waits()) return c.code;
  if (!n) return invalidValue;
  void* block = mmap(nullptr, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (block == MAP_FAILED) return outOfMemory;
  c.core.hostBlocks[block] = n;
  *p = block;
  return ok;
}

EMU_API int cuMemFreeHost(void* p) {
  Call c(1);
  if (!c || !c.waits()) return c.code;
  auto i = c.core.hostBlocks.find(p);
  if (i == c.core.hostBlocks.end()) return invalidValue;
  int code = c.core.finishAll(c.lock);  // what is queued may still use it
  munmap(p, i->second);
  c.core.hostBlocks.erase(i);
  return code;
}

EMU_API int cuMemcpyHtoDAsync_v2(uint64_t dst, const void* src, size_t n, void* stream) {
  Call c(1, "copy");
  Stream* s = c ? c.stream(stream) : nullptr;
  if (!c) return c.code;
  if (c.core.pageLocked(src, n)) return addCopy(c, s, "cuMemcpyHtoDAsync", dst, nullptr, 0, src, n);
  if (s->capture) {
    s->broken = true;
    return captureUnsupported;
  }
  // Memory that is not page-locked is copied before the call returns.
  int code = addCopy(c, s, "cuMemcpyHtoDAsync", dst, nullptr, 0, src, n);
  if (code || !n) return code;
  Op& op = *s->last;
  op.staged.assign(static_cast<const char*>(src), static_cast<const char*>(src) + n);
  op.hostSrc = op.staged.data();
  return ok;
}

EMU_API int cuMemcpyDtoHAsync_v2(void* dst, uint64_t src, size_t n, void* stream) {
  Call c(1, "copy");
  Stream* s = c ? c.stream(stream) : nullptr;
  if (!c) return c.code;
  bool locked = c.core.pageLocked(dst, n);
  if (!locked && s->capture) {
    s->broken = true;
    return captureUnsupported;
  }
  int code = addCopy(c, s, "cuMemcpyDtoHAsync", 0, dst, src, nullptr, n);
  return code || locked || !n ? code : c.core.finishStream(c.lock, s);
}

EMU_API int cuMemcpyDtoDAsync_v2(uint64_t dst, uint64_t src, size_t n, void* stream) {
  Call c(1, "copy");
  Stream* s = c ? c.stream(stream) : nullptr;
  if (!c) return c.code;
  return addCopy(c, s, "cuMemcpyDtoDAsync", dst, nullptr, src, nullptr, n);
}

EMU_API int cuMemcpyHtoD_v2(uint64_t dst, const void* src, size_t n) {
  Call c(1, "copy");
  if (!c || !c.waits()) return c.code;
  Stream* s = c.stream(nullptr);
  int code = addCopy(c, s, "cuMemcpyHtoD", dst, nullptr, 0, src, n);
  return code || !n ? code : c.core.finishStream(c.lock, s);
}

EMU_API int cuMemcpyDtoH_v2(void* dst, uint64_t src, size_t n) {
  Call c(1, "copy");
  if (!c || !c.waits()) return c.code;
  Stream* s = c.stream(nullptr);
  int code = addCopy(c, s, "cuMemcpyDtoH", 0, dst, src, nullptr, n);
  return code || !n ? code : c.core.finishStream(c.lock, s);
}

EMU_API int cuMemsetD8Async(uint64_t dst, unsigned char v, size_t n, void* stream) { return fill(stream, dst, v, 1, n); }
EMU_API int cuMemsetD16Async(uint64_t dst, unsigned short v, size_t n, void* stream) { return fill(stream, dst, v, 2, n); }
EMU_API int cuMemsetD32Async(uint64_t dst, unsigned v, size_t n, void* stream) { return fill(stream, dst, v, 4, n); }
