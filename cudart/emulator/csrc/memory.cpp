// memory.cpp: see memory.h.
#include "memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>

// The address sanitizer's, where the program was started with it.
extern "C" void __asan_poison_memory_region(const volatile void*, size_t) __attribute__((weak));
extern "C" void __asan_unpoison_memory_region(const volatile void*, size_t) __attribute__((weak));

namespace emu {

bool sanitized() { return __asan_poison_memory_region != nullptr && __asan_unpoison_memory_region != nullptr; }

static constexpr uint64_t page = 4096;  // memfd's; larger pages of the machine divide what is punched below
static constexpr unsigned char poison = 0xff, guard = 0xa5;

static uint64_t up(uint64_t n, uint64_t to) { return (n + to - 1) / to * to; }

bool Memory::init(uint64_t, bool fence) {
  fence_ = fence;
  file_ = memfd_create("halftone-emulated-device", MFD_CLOEXEC);
  if (file_ < 0 || ftruncate(file_, static_cast<off_t>(size)) != 0) return false;
  // A far place, so that no address of the host's comes near, and an odd one: two integers beside each other in a launch's parameters are
  // seldom 11111 and one below zero, while 8192 and 0 are somebody's sizes.
  void* p = mmap(reinterpret_cast<void*>(uintptr_t(0x2b6780000000)), 2 * size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (p == MAP_FAILED) return false;
  base_ = reinterpret_cast<uint64_t>(p);
  top_ = base_ + page;  // the first page is never given out
  mapTop_ = base_ + size;
  int how = fence_ ? PROT_NONE : PROT_READ | PROT_WRITE;
  if (mmap(p, size, how, MAP_SHARED | MAP_FIXED | MAP_NORESERVE, file_, 0) == MAP_FAILED) return false;
  if (fence_) key_ = pkey_alloc(0, PKEY_DISABLE_ACCESS);
  if (key_ >= 0 && pkey_mprotect(p, size, PROT_READ | PROT_WRITE, key_)) {
    pkey_free(key_);
    key_ = -1;
  }
  void* alias = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, file_, 0);
  if (alias == MAP_FAILED) return false;
  alias_ = static_cast<char*>(alias);
#ifdef HALFTONE_CHECK
  void* valid = mmap(nullptr, 2 * size / 16, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (valid == MAP_FAILED) return false;
  valid_ = static_cast<uint8_t*>(valid);
#endif
  return true;
}

// poisonBytes makes NaN in every type of what nobody has written yet, of very large blocks at both ends only.
static void poisonBytes(char* p, uint64_t bytes) {
  constexpr uint64_t much = uint64_t(16) << 20;
  if (bytes <= 2 * much) {
    std::memset(p, poison, bytes);
    return;
  }
  std::memset(p, poison, much);
  std::memset(p + bytes - much, poison, much);
}

// overrun says how far something wrote past the bytes at p, where the pattern is; mostly nothing.
static std::string overrun(const char* p, uint64_t address, uint64_t bytes, uint64_t total, const char* kind) {
  for (uint64_t i = total; i-- > bytes;) {
    if (static_cast<unsigned char>(p[i]) == guard) continue;
    char text[160];
    std::snprintf(text, sizeof text, "something wrote %llu bytes past the end of the %llu bytes at 0x%llx (%s)", static_cast<unsigned long long>(i - bytes + 1),
                  static_cast<unsigned long long>(bytes), static_cast<unsigned long long>(address), kind);
    return text;
  }
  return "";
}

// setValid tells the checks, and the address sanitizer where there is one, what kernels may touch.
void Memory::setValid(uint64_t address, uint64_t bytes, bool yes) {
  if (sanitized()) (yes ? __asan_unpoison_memory_region : __asan_poison_memory_region)(reinterpret_cast<void*>(address), bytes);
  if (!valid_) return;
  uint8_t* v = valid_ + (address - base_) / 16;
  std::memset(v, yes ? 16 : 0, bytes / 16);
  if (bytes % 16) v[bytes / 16] = yes ? static_cast<uint8_t>(bytes % 16) : 0;
}

// place finds addresses: the smallest hole that is large enough, or new ones at the end.
uint64_t Memory::place(uint64_t span) {
  auto best = holes_.end();
  for (auto h = holes_.begin(); h != holes_.end(); ++h)
    if (h->second >= span && (best == holes_.end() || h->second < best->second)) best = h;
  if (best != holes_.end()) {
    auto [address, had] = *best;
    holes_.erase(best);
    if (had > span) holes_[address + span] = had - span;
    return address;
  }
  if (top_ + span > base_ + size) return 0;
  uint64_t address = top_;
  top_ += span;
  if (usesOpening() && isOpen_) mprotect(reinterpret_cast<void*>(address / page * page), up(span, page) + page, PROT_READ | PROT_WRITE);
  return address;
}

Allocation* Memory::allocate(uint64_t bytes, const char* kind, int device, Pool* pool) {
  uint64_t span = up(bytes + gap, 512);
  uint64_t address = place(span);
  if (!address) return nullptr;
  Allocation a;
  a.address = address, a.bytes = bytes, a.span = span, a.kind = kind, a.device = device, a.pool = pool, a.serial = ++serial_;
  char* p = alias_ + (address - base_);
  poisonBytes(p, bytes);
  std::memset(p + bytes, guard, span - bytes);
  setValid(address, bytes, true);
  if (sanitized()) __asan_poison_memory_region(reinterpret_cast<void*>(address + bytes), span - bytes);
  return &(live_[address] = a);
}

void Memory::fence(uint64_t address, uint64_t bytes, uint64_t total) {
  char* p = host(address, total);
  if (!p) return;
  poisonBytes(p, bytes);
  std::memset(p + bytes, guard, total - bytes);
  setValid(address, total, false);
  setValid(address, bytes, true);
}

std::string Memory::unfence(uint64_t address, uint64_t bytes, uint64_t total) {
  char* p = host(address, total);
  if (!p) return "";
  std::string wrong = overrun(p, address, bytes, total, "a tensor's memory");
  setValid(address, total, false);
  return wrong;
}

std::string Memory::release(Allocation* found) {
  Allocation a = *found;
  live_.erase(a.address);
  char* p = alias_ + (a.address - base_);
  std::string wrong = overrun(p, a.address, a.bytes, a.span, a.kind);
  setValid(a.address, a.bytes, false);
  // Whole pages go back to the system; what remains is overwritten, so that a late reader meets NaN.
  uint64_t first = up(a.address - base_, page), last = (a.address - base_ + a.span) / page * page;
  if (a.bytes >= (64u << 10) && last > first) {
    fallocate(file_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(first), static_cast<off_t>(last - first));
    std::memset(p, poison, first - (a.address - base_));
  } else {
    std::memset(p, poison, a.bytes);
  }
  resting_.emplace_back(a.address, a.span);
  restingBytes_ += a.span;
  while (resting_.size() > 64 || restingBytes_ > (uint64_t(1) << 30)) {
    auto [address, span] = resting_.front();
    resting_.pop_front();
    restingBytes_ -= span;
    auto next = holes_.lower_bound(address);  // joined with its neighbors
    if (next != holes_.end() && next->first == address + span) {
      span += next->second;
      next = holes_.erase(next);
    }
    if (next != holes_.begin()) {
      auto before = std::prev(next);
      if (before->first + before->second == address) {
        before->second += span;
        continue;
      }
    }
    holes_[address] = span;
  }
  return wrong;
}

Allocation* Memory::exactly(uint64_t address) {
  auto i = live_.find(address);
  return i == live_.end() ? nullptr : &i->second;
}

Allocation* Memory::find(uint64_t address) {
  auto i = live_.upper_bound(address);
  if (i == live_.begin()) return nullptr;
  Allocation& a = (--i)->second;
  return address < a.address + a.bytes ? &a : nullptr;
}

bool Memory::known(uint64_t address) const {
  auto i = live_.upper_bound(address);
  if (i != live_.begin() && address < std::prev(i)->second.address + std::prev(i)->second.span) return true;
  auto m = mappings_.upper_bound(address);
  return m != mappings_.begin() && address <= std::prev(m)->second.address + std::prev(m)->second.bytes;
}

char* Memory::host(uint64_t address, uint64_t n) {
  if (Allocation* a = find(address)) {
    if (address + n > a->address + a->bytes) return nullptr;
    return alias_ + (address - base_);
  }
  auto i = mappings_.upper_bound(address);
  if (i == mappings_.begin()) return nullptr;
  Mapping& m = (--i)->second;
  if (address + n > m.address + m.bytes) return nullptr;
  return m.alias + (address - m.address);
}

std::string Memory::describe(uint64_t address) const {
  char text[240];
  auto where = static_cast<unsigned long long>(address);
  if (!isDevice(address)) {
    std::snprintf(text, sizeof text, "0x%llx is not device memory (an address of the host, or none at all)", where);
    return text;
  }
  auto i = live_.upper_bound(address);
  if (i != live_.begin()) {
    const Allocation& a = std::prev(i)->second;
    if (address < a.address + a.span) {
      std::snprintf(text, sizeof text, "0x%llx is %lld bytes past the end of the %llu bytes at 0x%llx (%s)", where,
                    static_cast<long long>(address - a.address - a.bytes), static_cast<unsigned long long>(a.bytes),
                    static_cast<unsigned long long>(a.address), a.kind);
      return text;
    }
  }
  for (auto& [begin, span] : resting_) {
    if (address >= begin && address < begin + span) {
      std::snprintf(text, sizeof text, "0x%llx lies in memory that has been freed", where);
      return text;
    }
  }
  std::snprintf(text, sizeof text, "0x%llx lies in no allocation of the device", where);
  return text;
}

uint64_t Memory::reserve(uint64_t bytes) {
  uint64_t address = mapTop_;
  if (address + bytes > base_ + 2 * size) return 0;
  mapTop_ += up(bytes, uint64_t(2) << 20) + (uint64_t(2) << 20);
  return address;
}

bool Memory::map(uint64_t address, uint64_t bytes, int fd, uint64_t offset) {
  void* alias = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, static_cast<off_t>(offset));
  if (alias == MAP_FAILED) return false;
  void* at = reinterpret_cast<void*>(address);
  if (mmap(at, bytes, fence_ && !isOpen_ ? PROT_NONE : PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, static_cast<off_t>(offset)) == MAP_FAILED) {
    munmap(alias, bytes);
    return false;
  }
  if (key_ >= 0 && pkey_mprotect(at, bytes, PROT_READ | PROT_WRITE, key_)) {
    munmap(alias, bytes);
    return false;
  }
  setValid(address, bytes, true);
  mappings_[address] = Mapping{address, bytes, static_cast<char*>(alias)};
  return true;
}

void Memory::unmap(uint64_t address) {
  auto i = mappings_.find(address);
  if (i == mappings_.end()) return;
  munmap(i->second.alias, i->second.bytes);
  mmap(reinterpret_cast<void*>(address), i->second.bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
  setValid(address, i->second.bytes, false);
  mappings_.erase(i);
}

void Memory::protect(int how) {
  if (!usesOpening()) return;
  mprotect(reinterpret_cast<void*>(base_), up(top_ - base_, page), how);
  for (auto& [address, m] : mappings_) mprotect(reinterpret_cast<void*>(address), m.bytes, how);
}

void Memory::open() {
  isOpen_ = true;
  protect(PROT_READ | PROT_WRITE);
}

// forget takes the pages that kernels have touched out of the page table, not out of memory: changing how all that a long program has
// ever touched is protected, twice per kernel, would take longer than the kernels.
void Memory::forget() {
  if (!usesOpening()) return;
  madvise(reinterpret_cast<void*>(base_), up(top_ - base_, page), MADV_DONTNEED);
  for (auto& [address, m] : mappings_) madvise(reinterpret_cast<void*>(address), m.bytes, MADV_DONTNEED);
}

void Memory::close() {
  isOpen_ = false;
  forget();
  protect(PROT_NONE);
}

void Memory::admit() const {
  if (key_ >= 0) pkey_set(key_, 0);
}

void Pool::take(uint64_t bytes) {
  constexpr uint64_t chunk = uint64_t(2) << 20;
  used += bytes;
  usedHigh = std::max(usedHigh, used);
  reserved = std::max(reserved, up(used, chunk));
  reservedHigh = std::max(reservedHigh, reserved);
}

void Pool::give(uint64_t bytes) { used -= bytes; }

void Pool::trim(uint64_t keep) {
  constexpr uint64_t chunk = uint64_t(2) << 20;
  reserved = std::min(reserved, std::max(up(used, chunk), up(keep, chunk)));
}

}  // namespace emu
