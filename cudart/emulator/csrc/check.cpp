// check.cpp: the checked build's look at each access of a kernel. Kernels are compiled with the thread sanitizer's
// instrumentation, which calls hooks (check_hooks.cpp) before each access; its own runtime is not linked.
//
// Device memory: the bytes must lie in a living allocation, and no two blocks of a launch may touch the same byte, one of them
// writing, unless atomically: blocks run in no order. Shared memory: no two threads may touch the same byte, one of them writing,
// without a barrier between; and nothing is read that was not written. Everything else but the kernel's own stack, parameters and
// constants is the host's memory, which a device can't touch.
#ifdef HALFTONE_CHECK

#include "check.h"

#include <link.h>
#include <sys/mman.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "core.h"
#include "fiber.h"

namespace emu {

namespace {

// Cell is what is known of one byte of shared memory. Epochs count barriers: of the block, never begun anew, and of the warp.
struct Cell {
  uint64_t writeEpoch = 0, readEpoch = 0;
  uint32_t writeWarpEpoch = 0, readWarpEpoch = 0;
  uint16_t writer = 0, reader = 0;
  enum : uint8_t { one, warp, many } readers = one;
};

// Range is shared memory of this thread, with a cell for each byte. Cells are not cleared from block to block, nor from launch to launch:
// epochs of a thread's blocks only grow, so what is older than the block's first is known to be of another.
struct Range {
  uintptr_t begin = 0, end = 0;
  std::vector<Cell> cells;
};

struct Span { uintptr_t begin, end; };

// Overwrite is a write over what another block wrote. It is a fault only if the value changes, which shows when it has been done.
struct Overwrite {
  uintptr_t at = 0;
  size_t bytes = 0;
  unsigned block = 0;
  char before[16] = {};
};

// State is one OS thread's.
struct State {
  Worker* worker = nullptr;
  uint64_t launch = 0;
  Range dynamic;
  std::vector<Range> statics;  // thread-local storage of the libraries with kernels
  std::vector<Span> allowed;   // what else a kernel may touch
  std::vector<Span> code;      // the libraries themselves: constants
  uint64_t loaded = 0;         // a number of the libraries in the process that changes when one comes or goes
  Overwrite overwrite;
};

// The state of this OS thread, null while it runs no block. Each access begins with it, and asks for it once: that is a call.
__thread State* state = nullptr;

void checkOverwrite(State& s) {
  if (!s.overwrite.bytes) return;
  Overwrite o = s.overwrite;
  s.overwrite.bytes = 0;
  if (!std::memcmp(reinterpret_cast<void*>(o.at), o.before, o.bytes)) return;
  char text[160];
  std::snprintf(text, sizeof text, "overwrites with another value what block number %u wrote in the same launch; blocks run in no order", o.block);
  s.worker->fail(launchRace, text, o.at);
}

// The last write to each byte of device memory: the launch's number and the block's.
uint64_t* writes = nullptr;

void setRange(Range* r, uintptr_t begin, size_t bytes) {
  r->begin = begin;
  r->end = begin + bytes;
  if (r->cells.size() < bytes) r->cells.resize(bytes);
}

// countLibraries sees the first library alone, which tells how many came and went.
int countLibraries(dl_phdr_info* info, size_t, void* data) {
  *static_cast<uint64_t*>(data) = info->dlpi_adds + info->dlpi_subs;
  return 1;
}

// findLibraries lists the memory of the libraries that hold kernels: this one, and those that NVRTC's stand-in made.
int findLibraries(dl_phdr_info* info, size_t, void* data) {
  auto* s = static_cast<State*>(data);
  std::string name = info->dlpi_name;
  bool ours = name.find("libcuda") != std::string::npos || name.find("/proc/self/fd/") == 0;
  if (!ours) return 0;
  for (int i = 0; i < info->dlpi_phnum; i++) {
    const auto& p = info->dlpi_phdr[i];
    uintptr_t at = info->dlpi_addr + p.p_vaddr;
    if (p.p_type == PT_LOAD && !(p.p_flags & PF_W)) s->code.push_back({at, at + p.p_memsz});
    if (p.p_type == PT_GNU_RELRO) s->code.push_back({at, at + p.p_memsz});
    if (p.p_type == PT_TLS && info->dlpi_tls_data) {
      s->statics.emplace_back();
      s->statics.back().begin = reinterpret_cast<uintptr_t>(info->dlpi_tls_data);
      s->statics.back().end = s->statics.back().begin + p.p_memsz;
    }
  }
  return 0;
}

// lookForLibraries brings code and statics up to date. Cells of a library that stays are kept: there are very many.
void lookForLibraries(State& s) {
  std::vector<Range> before;
  before.swap(s.statics);
  s.code.clear();
  dl_iterate_phdr(findLibraries, &s);
  for (Range& r : s.statics)
    for (Range& b : before)
      if (r.begin == b.begin && r.end == b.end) r.cells.swap(b.cells);
  for (Range& r : s.statics) setRange(&r, r.begin, r.end - r.begin);
}

bool inside(const Range& r, uintptr_t p, size_t n) { return p >= r.begin && p + n <= r.end; }

[[noreturn]] void race(const State& s, const char* what, uintptr_t at, const Range& r, unsigned other) {
  char text[200];
  std::snprintf(text, sizeof text, "%s byte %zu of %s shared memory, which thread %u %s without a barrier between", what,
                static_cast<size_t>(at - r.begin), &r == &s.dynamic ? "dynamic" : "static", other, what[0] == 'r' ? "wrote" : "touched");
  s.worker->fail(launchRace, text);
}

// Now is when an access happens: the thread, and how many barriers there were.
struct Now {
  explicit Now(const Worker& w) : thread(w.fiber()->thread), warpEpoch(w.warpEpoch()), epoch(w.blockEpoch()), first(w.firstEpoch()) {}
  unsigned thread;
  uint32_t warpEpoch;
  uint64_t epoch, first;
  // A barrier since then orders two accesses; a warp's own barrier does between its lanes.
  bool ordered(unsigned other, uint64_t then, uint32_t warpThen) const {
    if (then < epoch || other == thread) return true;
    return other / 32 == thread / 32 && warpThen < warpEpoch;
  }
};

void shared(const State& s, Range& r, uintptr_t p, size_t n, bool write) {
  const Now now(*s.worker);
  for (size_t i = 0; i < n; i++) {
    Cell& c = r.cells[p + i - r.begin];
    bool written = c.writeEpoch >= now.first;
    if (!write && !written) {
      char text[120];
      std::snprintf(text, sizeof text, "reads byte %zu of %s shared memory, which the block has not written", static_cast<size_t>(p + i - r.begin),
                    &r == &s.dynamic ? "dynamic" : "static");
      s.worker->fail(launchRace, text);
    }
    if (written && !now.ordered(c.writer, c.writeEpoch, c.writeWarpEpoch)) race(s, write ? "writes" : "reads", p + i, r, c.writer);
    bool before = c.readEpoch == now.epoch;  // read since the last barrier
    if (write) {
      if (before) {
        bool fine = c.readers == Cell::one    ? now.ordered(c.reader, c.readEpoch, c.readWarpEpoch)
                    : c.readers == Cell::warp ? c.reader / 32 == static_cast<int>(now.thread / 32) && c.readWarpEpoch < now.warpEpoch
                                              : false;
        if (!fine) race(s, "writes", p + i, r, c.reader);
      }
      c.writer = static_cast<uint16_t>(now.thread);
      c.writeEpoch = now.epoch;
      c.writeWarpEpoch = now.warpEpoch;
      continue;
    }
    if (!before || c.reader == now.thread) c.readers = before ? c.readers : Cell::one;
    else if (c.reader / 32 == static_cast<int>(now.thread / 32) && c.readers != Cell::many) c.readers = Cell::warp;
    else c.readers = Cell::many;
    c.reader = static_cast<uint16_t>(now.thread);
    c.readEpoch = now.epoch;
    c.readWarpEpoch = now.warpEpoch;
  }
}

void device(State& s, const Memory& m, uintptr_t p, size_t n, bool write, bool atomic) {
  const Worker& w = *s.worker;
  const uint8_t* valid = m.valid();
  uint64_t off = p - m.base();
  uint64_t mark = (w.work()->launch & 0xffffffff) << 32 | (w.blockNumber() + 1);
  for (size_t i = 0; i < n; i++) {
    uint64_t at = off + i;
    if (at % 16 >= valid[at / 16]) {
      char text[80];
      std::snprintf(text, sizeof text, "%s %zu bytes", write ? "writes" : "reads", n);
      s.worker->fail(700, text, p + i);
    }
    uint64_t* cell = writes + at;
    if (atomic) {
      __atomic_store_n(cell, 0, __ATOMIC_RELAXED);
      continue;
    }
    uint64_t was = __atomic_load_n(cell, __ATOMIC_RELAXED);
    if (was && was >> 32 == mark >> 32 && was != mark) {
      auto other = static_cast<unsigned>(was - 1);
      Overwrite& o = s.overwrite;
      if (write && n <= sizeof o.before) {
        o.at = p, o.bytes = n, o.block = other;
        std::memcpy(o.before, reinterpret_cast<void*>(p), n);
      } else {
        char text[160];
        std::snprintf(text, sizeof text, "%s what block number %u wrote in the same launch; blocks run in no order", write ? "overwrites" : "reads", other);
        s.worker->fail(launchRace, text, p + i);
      }
    }
    if (write) __atomic_store_n(cell, mark, __ATOMIC_RELAXED);
  }
}

// known tells whether a kernel may touch what is not device memory, and looks at it if it is shared memory.
bool known(State& s, uintptr_t p, size_t n, bool write, bool atomic) {
  if (inside(s.dynamic, p, n)) {
    if (!atomic) shared(s, s.dynamic, p, n, write);
    return true;
  }
  for (const Span& a : s.allowed)
    if (p >= a.begin && p + n <= a.end) return true;
  for (Range& r : s.statics) {
    if (!inside(r, p, n)) continue;
    if (!atomic) shared(s, r, p, n, write);
    return true;
  }
  if (!write)
    for (const Span& c : s.code)
      if (p >= c.begin && p + n <= c.end) return true;
  return false;
}

void look(State& s, const void* where, size_t n, bool write, bool atomic) {
  checkOverwrite(s);
  auto p = reinterpret_cast<uintptr_t>(where);
  const Memory& m = Core::get().memory;
  if (m.isDevice(p)) return device(s, m, p, n, write, atomic);
  if (onStack(p) || known(s, p, n, write, atomic)) return;
  lookForLibraries(s);  // a thread's statics of a library are made when it touches the first of them
  if (known(s, p, n, write, atomic)) return;
  char text[80];
  std::snprintf(text, sizeof text, "%s %zu bytes", write ? "writes" : "reads", n);
  s.worker->fail(700, text, p);
}

}  // namespace

void checkBegin(Worker* w) {
  static __thread State* own = nullptr;
  if (!own) own = new State;
  state = own;
  if (!writes) {  // by the first launch, which is alone
    void* p = mmap(nullptr, 2 * Memory::size * sizeof(uint64_t), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED) std::abort();
    writes = static_cast<uint64_t*>(p);
  }
  State& s = *state;
  s.worker = w;
  const Work& work = *w->work();
  setRange(&s.dynamic, reinterpret_cast<uintptr_t>(w->current().dynamicShared), work.sharedBytes);
  if (s.launch == work.launch) return;
  s.launch = work.launch;
  uint64_t loaded = 0;
  dl_iterate_phdr(countLibraries, &loaded);
  if (loaded != s.loaded) lookForLibraries(s);
  s.loaded = loaded;
  s.allowed.clear();
  auto add = [&](const void* p, size_t n) { s.allowed.push_back({reinterpret_cast<uintptr_t>(p), reinterpret_cast<uintptr_t>(p) + n}); };
  add(&w->current(), sizeof(Current));
  add(&emu::current, sizeof(void*));
  add(work.params, work.paramCount * sizeof(void*));
  add(work.data, work.dataBytes);
}

void checkThreadEnd() { checkOverwrite(*state); }
void checkEnd() {
  state->overwrite.bytes = 0;  // of a block that failed
  state = nullptr;
}

void checkRead(const void* p, size_t n) {
  if (State* s = state) look(*s, p, n, false, false);
}
void checkWrite(const void* p, size_t n) {
  if (State* s = state) look(*s, p, n, true, false);
}
// A device faults where an access is not at a multiple of its size; a processor takes most of them. Of 16 bytes the compiler tells this
// hook as well if their type wants multiples of 8 alone; the undefined-behavior sanitizer knows the type.
void checkAccess(const void* p, size_t n, bool write) {
  State* s = state;
  if (!s) return;
  size_t multiple = n < 8 ? n : 8;
  if (reinterpret_cast<uintptr_t>(p) % multiple) {
    char text[120];
    std::snprintf(text, sizeof text, "%s %zu bytes at an address that is no multiple of %zu", write ? "writes" : "reads", n, multiple);
    s->worker->fail(716, text, reinterpret_cast<uint64_t>(p));
  }
  look(*s, p, n, write, false);
}
void checkCopy(const void* where, size_t n) {
  State* s = state;
  if (!s) return;
  look(*s, where, n, true, false);
  auto p = reinterpret_cast<uintptr_t>(where);
  auto forget = [&](Range& r) {
    if (!inside(r, p, n)) return;
    for (size_t i = 0; i < n; i++) r.cells[p + i - r.begin].writeEpoch = 0;
  };
  forget(s->dynamic);
  for (Range& r : s->statics) forget(r);
}
void touchRead(const void* p, int n) { checkRead(p, static_cast<size_t>(n)); }
void touchAtomic(const void* p, int n) {
  if (State* s = state) look(*s, p, static_cast<size_t>(n), true, true);
}

}  // namespace emu

#endif
