// core.cpp: the queue of operations and the thread that runs them. See core.h.
#include "core.h"

#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "signals.h"

namespace emu {

static uint64_t mix(uint64_t x) {  // splitmix64
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  return x ^ x >> 31;
}

static int64_t now() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return int64_t(t.tv_sec) * 1000000000 + t.tv_nsec;
}

Core& Core::get() {
  static Core* core = new Core;  // never destroyed: its threads may outlive main
  return *core;
}

Graph::~Graph() {
  for (uint64_t a : allocations)
    if (Allocation* found = Core::get().memory.exactly(a)) {
      if (found->pool) found->pool->give(found->bytes);
      Core::get().memory.release(found);
    }
}

bool Core::init() {
  if (ready) return true;
  if (const char* text = getenv("HALFTONE_EMULATOR")) {
    std::string wrong = config.set(text);
    if (!wrong.empty()) {
      say("HALFTONE_EMULATOR: " + wrong);
      return false;
    }
  }
  if (!memory.init(config.memory, config.fence)) {
    say("this process can't map the emulated device's memory");
    return false;
  }
  random_ = mix(config.seed);
  for (int i = 0; i < config.devices; i++) {
    contexts.push_back(std::make_unique<Context>());
    contexts.back()->device = i;
    defaults_.push_back(std::make_unique<Stream>());
    defaults_.back()->context = contexts.back().get();
    defaults_.back()->blocking = defaults_.back()->isDefault = true;
    pools.push_back(std::make_unique<Pool>());
    pools.back()->device = i;
    pools.back()->isDefault = true;
  }
  ready = true;
  return true;
}

uint64_t Core::random(uint64_t n) {
  random_ = mix(random_);
  return random_ % n;
}

void Core::say(const std::string& text) {
  report.push_back(text);
  if (!config.quiet) std::fprintf(stderr, "emulated device: %s\n", text.c_str());
}

void Core::fail(int code, const std::string& text) {
  say(text);
  if (!lost) lost = code;
}

bool Core::pageLocked(const void* p, size_t n) const {
  auto* at = static_cast<const char*>(p);
  for (auto& [block, size] : hostBlocks) {
    auto* begin = static_cast<const char*>(block);
    if (at >= begin && at + n <= begin + size) return true;
  }
  return false;
}

void Core::follow(const OpPtr& op, const OpPtr& earlier) {
  if (!earlier || earlier->done) return;
  op->before.push_back(earlier);
  earlier->after.push_back(op);
  op->missing++;
}

void Core::queue(const OpPtr& op) {
  pending++;
  if (op->missing == 0) runnable_.push_back(op);
}

int Core::add(std::unique_lock<std::mutex>& lock, Stream* s, OpPtr op) {
  if (s->capture) {
    if (s->broken) return 901;  // CUDA_ERROR_STREAM_CAPTURE_INVALIDATED
    Graph& g = *s->capture;
    op->node = static_cast<int>(g.nodes.size());
    g.nodes.push_back(op);
    g.needs.push_back(s->front);
    s->front = {op->node};
    return 0;
  }
  if (lost) return lost;
  // Far behind: catch up, as a real queue that is full makes the host wait.
  if (pending > 4096)
    if (int code = finish(lock, s->last)) return code;
  follow(op, s->last);
  if (s->isDefault) {
    for (Stream* other : s->context->streams)
      if (other->blocking) follow(op, other->last);
  } else if (s->blocking) {
    follow(op, defaultStream(s->context->device)->last);
  }
  s->last = op;
  queue(op);
  return 0;
}

// want marks an operation and all it has to wait for.
void Core::want(const OpPtr& op) {
  std::vector<Op*> stack{op.get()};
  while (!stack.empty()) {
    Op* o = stack.back();
    stack.pop_back();
    if (o->done || o->wanted) continue;
    o->wanted = true;
    for (auto& b : o->before) stack.push_back(b.get());
  }
}

int Core::finish(std::unique_lock<std::mutex>& lock, const OpPtr& given) {
  OpPtr op = given;
  if (!op || op->done) return lost;
  if (!started_) {
    started_ = true;
    handleSignals();
    withSignalsBlocked([this] { std::thread([this] { deviceThread(); }).detach(); });
  }
  targets_.push_back(op);
  work_.notify_one();
  finished_.wait(lock, [&] { return op->done; });
  return lost;
}

int Core::finishAll(std::unique_lock<std::mutex>& lock) {
  auto all = std::make_shared<Op>();
  for (auto& d : defaults_) follow(all, d->last);
  for (Stream* s : streams) follow(all, s->last);
  if (all->missing == 0) return lost;
  queue(all);
  return finish(lock, all);
}

void Core::nudge(std::unique_lock<std::mutex>& lock, const OpPtr& op) {
  // The first answer is always no; with each further one, a step towards it is done.
  if (!op || op->done || op->asked++ == 0) return;
  OpPtr step = op;
  while (!step->before.empty()) {
    OpPtr earlier = step->before[random(step->before.size())];
    if (earlier->done) break;
    step = earlier;
  }
  finish(lock, step);
}

OpPtr Core::choose() {
  // Sometimes another operation goes first, that nobody waits for.
  if (random(4) != 0) {
    size_t wanted = 0;
    for (auto& op : runnable_) wanted += op->wanted;
    size_t k = random(wanted ? wanted : 1);
    for (size_t i = 0; i < runnable_.size(); i++) {
      if (runnable_[i]->wanted && k-- == 0) {
        OpPtr op = runnable_[i];
        runnable_.erase(runnable_.begin() + static_cast<long>(i));
        return op;
      }
    }
  }
  size_t i = random(runnable_.size());
  OpPtr op = runnable_[i];
  runnable_.erase(runnable_.begin() + static_cast<long>(i));
  return op;
}

void Core::complete(const OpPtr& op) {
  op->done = true;
  op->when = now();
  op->before.clear();
  op->run = nullptr;
  pending--;
  for (auto& w : op->after)
    if (OpPtr next = w.lock())
      if (--next->missing == 0) runnable_.push_back(next);
  op->after.clear();
}

void Core::deviceThread() {
  pthread_setname_np(pthread_self(), "emulated-gpu");
  std::unique_lock<std::mutex> lock(mutex);
  memory.admit();
  for (;;) {
    work_.wait(lock, [this] { return !targets_.empty(); });
    memory.open();
    while (!targets_.empty()) {
      for (auto& t : targets_) want(t);
      OpPtr op = choose();
      if (!lost) perform(lock, op);
      complete(op);
      auto gone = std::remove_if(targets_.begin(), targets_.end(), [](const OpPtr& t) { return t->done; });
      if (gone != targets_.end()) {
        targets_.erase(gone, targets_.end());
        const bool all = targets_.empty();
        if (all) memory.close();
        lock.unlock();  // else who waited wakes up only to wait for the lock
        finished_.notify_all();
        lock.lock();
        if (all) break;  // what others want by now finds the memory closed
      }
    }
  }
}

// perform runs one operation. Kernels run without the lock; what they may touch does not move.
void Core::perform(std::unique_lock<std::mutex>& lock, const OpPtr& op) {
  switch (op->kind) {
    case Op::mark:
      return;
    case Op::launch: {
      if (int code = config.injected("kernel")) return fail(code, "injected: kernel " + op->name + " fails");
      uint64_t seed = mix(config.seed ^ ++launches);
      std::string wrong = checkParams(*op);
      if (!wrong.empty()) return fail(700, "kernel " + op->name + ": " + wrong);
      Work work{op->kernel->call, op->params.data(), op->kernel->name, op->grid, op->block, op->sharedBytes, config.order, seed, launches,
                op->kernel->count, op->words.data(), op->words.size() * 8};
      Fault fault;
      lock.unlock();
      bool ok = runBlocks(work, config.threads, &fault);
      lock.lock();
      config.ran(op->name);
      if (!ok) fail(fault.code, fault.text + (fault.address ? ": " + memory.describe(fault.address) : ""));
      return;
    }
    case Op::call: {
      std::string wrong;
      lock.unlock();
      bool ok = op->run(&wrong);
      lock.lock();
      if (!ok) fail(700, wrong);
      return;
    }
    case Op::release: {
      if (Allocation* a = memory.exactly(op->dst)) {
        std::string wrong = memory.release(a);
        if (!wrong.empty()) fail(700, wrong);
      }
      return;
    }
    case Op::copy: {
      char* to = op->hostDst ? static_cast<char*>(op->hostDst) : memory.host(op->dst, op->bytes);
      const char* from = op->hostSrc ? static_cast<const char*>(op->hostSrc) : memory.host(op->src, op->bytes);
      if (!to || !from) return fail(700, op->name + ": " + memory.describe(to ? op->src : op->dst));
      std::memmove(to, from, op->bytes);
      return;
    }
    case Op::fill: {
      char* to = memory.host(op->dst, op->bytes);
      if (!to) return fail(700, op->name + ": " + memory.describe(op->dst));
      if (op->width == 1) std::memset(to, static_cast<int>(op->value), op->bytes);
      else
        for (uint64_t i = 0; i < op->bytes; i += static_cast<uint64_t>(op->width)) std::memcpy(to + i, &op->value, static_cast<size_t>(op->width));
      return;
    }
  }
}

// hostMemory tells whether something of the host's lies at an address. Small numbers are not taken for addresses.
static bool hostMemory(uint64_t w) {
  if (w < (uint64_t(1) << 32) || w >= (uint64_t(1) << 47)) return false;
  unsigned char resident;
  auto page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  return mincore(reinterpret_cast<void*>(w / page * page), 1, &resident) == 0;
}

// smallPair tells whether a word is two small numbers as well as an address: 96 and 5376 are 0x150000000060, and a host that lies where chance
// has put it lies there in some run.
static bool smallPair(uint64_t w) { return (w & 0xffffffff) < uint64_t(1) << 20; }

// checkParams looks for what can't be an address of the device, among the words of a launch's parameters: the host's memory, and
// in the checked build what has been freed. A word of a structure may be two integers, one of its own may not.
std::string Core::checkParams(const Op& op) const {
  auto parameter = [](uint64_t w) {
    char text[100];
    std::snprintf(text, sizeof text, "the parameter 0x%llx is ", static_cast<unsigned long long>(w));
    return std::string(text);
  };
  for (unsigned i = 0; i < op.kernel->count; i++) {
    const unsigned size = op.kernel->sizes[i];
    for (unsigned at = 0; at + 8 <= size; at += 8) {
      uint64_t w;
      std::memcpy(&w, static_cast<const char*>(op.params[i]) + at, sizeof w);
      // The address sanitizer's shadow lies where two integers beside each other seem to point, small or not.
      if (!memory.isDevice(w) && !sanitized() && !(size > 8 && smallPair(w)) && hostMemory(w)) return parameter(w) + "an address of the host's memory";
#ifdef HALFTONE_CHECK
      if (memory.isDevice(w) && !memory.known(w)) return parameter(w) + "no valid address: " + memory.describe(w);
#endif
    }
  }
  return "";
}

void Core::reset(int device) {
  std::vector<uint64_t> left;
  for (auto& [address, a] : memory.live())
    if (a.device == device && !a.releasing) left.push_back(address);
  for (uint64_t address : left) {
    Allocation* a = memory.exactly(address);
    char text[160];
    std::snprintf(text, sizeof text, "leak: %llu bytes at 0x%llx (%s, number %llu) were not freed when the context ended",
                  static_cast<unsigned long long>(a->bytes), static_cast<unsigned long long>(address), a->kind,
                  static_cast<unsigned long long>(a->serial));
    say(text);
    if (a->pool) a->pool->give(a->bytes);
    memory.release(a);
  }
}

}  // namespace emu
