// dynamic.cpp: see dynamic.h.
#include "dynamic.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>

namespace emu {

// Room for what any device has, and as much guard: an index that is wrong is mostly not far beside.
constexpr size_t room = 256 << 10, guard = 16 << 20;
constexpr unsigned char pattern = 0xa5;

DynamicMemory::~DynamicMemory() {
  if (map_) munmap(map_, room + guard);
}

unsigned char* DynamicMemory::begin(size_t bytes) {
  if (!map_) {
    void* p = mmap(nullptr, room + guard, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED) return nullptr;
    map_ = static_cast<unsigned char*>(p);
    guard_ = map_ + room;
    if (mprotect(map_, room, PROT_READ | PROT_WRITE)) return nullptr;
  }
  if (bytes > room) return nullptr;
  unsigned char* base = guard_ - (bytes + 15) / 16 * 16;
  end_ = base + bytes;
  std::memset(end_, pattern, static_cast<size_t>(guard_ - end_));
  return base;
}

bool DynamicMemory::overrun() const {
  return std::any_of(end_, guard_, [](unsigned char c) { return c != pattern; });
}

bool DynamicMemory::guards(uint64_t address) const {
  auto at = reinterpret_cast<uint64_t>(guard_);
  return address >= at && address < at + guard;
}

}  // namespace emu
