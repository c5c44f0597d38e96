// block.cpp: the scheduler of one block. See block.h for the idea.
#include "block.h"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <numeric>

#include "check.h"
#include "core.h"
#include "fiber.h"
#include "place.h"

namespace emu {

__thread Current* current = nullptr;
static __thread Worker* worker = nullptr;

Worker* Worker::here() { return worker; }

#ifdef HALFTONE_CHECK
uint3 threadOf() { return current->thread; }
uint3 blockOf() { return current->block; }
dim3 blockSizeOf() { return current->blockSize; }
dim3 gridSizeOf() { return current->gridSize; }
unsigned linearOf() { return current->linear; }
unsigned char* dynamicSharedOf() { return current->dynamicShared; }
#endif

static uint64_t mix(uint64_t x) {  // splitmix64
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  return x ^ x >> 31;
}

Sequence::Sequence(uint64_t n, Order order, uint64_t seed) : n_(n ? n : 1), step_(1), start_(0) {
  if (order == Order::reversed) {
    step_ = n_ - 1;  // -1
    start_ = n_ - 1;
  } else if (order == Order::shuffled) {
    start_ = mix(seed) % n_;
    for (step_ = mix(seed + 1) % n_ | 1; std::gcd(step_, n_) != 1; step_++) {
    }
  }
  if (n_ == 1) step_ = start_ = 0;
}

void fiberMain() {
  Worker* w = worker;
  w->threads();
  std::abort();  // threads() never returns
}

Fiber* Worker::takeFiber() {
  if (idle_.empty()) {
    all_.push_back(std::make_unique<Fiber>());
    all_.back()->stack = newStack();
    idle_.push_back(all_.back().get());
  }
  Fiber* f = idle_.back();
  idle_.pop_back();
  f->sp = enterAt(f->stack, fiberMain);
  f->pending.clear();
  f->groups.clear();
  f->parked = false;
  return f;
}

uint64_t Worker::random() { return random_ = mix(random_); }

bool Worker::run(const Work& work, uint3 block, Fault* fault) {
  uint64_t number = blockNumber_ = block.x + uint64_t(work.grid.x) * (block.y + uint64_t(work.grid.y) * block.z);
  work_ = &work;
  threads_ = living_ = uint64_t(work.block.x) * work.block.y * work.block.z;
  random_ = work.seed + number;
  order_ = Sequence(threads_, work.order, random());
  next_ = 0;
  failed_ = false;
  ready_.clear();
  head_ = 0;
  waiting_.clear();
  size_t warps = (threads_ + 31) / 32;
  warps_.resize(warps);
  alive_.resize(warps);
  warpEpoch_.assign(warps, 1);
  for (size_t i = 0; i < warps; i++) {
    warps_[i].clear();
    uint64_t n = std::min<uint64_t>(32, threads_ - 32 * i);
    alive_[i] = n == 32 ? 0xffffffffu : (1u << n) - 1;
  }
  firstEpoch_ = ++blockEpoch_;
  // What shared memory holds when a block begins is undefined. 0xff is NaN in every type.
  current_.block = block;
  current_.blockSize = work.block;
  current_.gridSize = work.grid;
  current_.dynamicShared = dynamic_.begin(work.sharedBytes);
  if (!current_.dynamicShared) {
    *fault = {2, std::string("kernel ") + work.name + ": the host has no memory for a block's shared memory", 0};
    return false;
  }
  std::memset(current_.dynamicShared, 0xff, work.sharedBytes);
  cores_.idle();

  worker = this;
  emu::current = &current_;
  checkBegin(this);
  if (sigsetjmp(escape_, 0) == 0) {
    while (living_ > 0 && !failed_) {
      if (Fiber* f = pop()) {
        resume(f);
        emu_switch(&scheduler_, f->sp);
      } else {
        failed_ = true;
        fault_ = {719, stuck(), 0};
      }
    }
  } else {  // a signal in the kernel
    Core::get().memory.admit();  // the handler, which was left by a jump, has none of the thread's rights
    failed_ = true;
    signalled();
  }
  if (!failed_ && dynamic_.overrun()) {
    failed_ = true;
    fault_ = {700, std::string("kernel ") + work.name + ": a thread " + beyond(), 0};
  }
  checkEnd();
  worker = nullptr;
  emu::current = nullptr;
  if (failed_) {  // the fibers that are still parked are given up
    idle_.clear();
    for (auto& f : all_) idle_.push_back(f.get());
    *fault = fault_;
    fault_ = Fault();
  }
  return !failed_;
}

// signalled says what the signal was that ended a thread.
void Worker::signalled() {
  if (signal == SIGFPE) fault_ = {719, where() + ": an integer was divided by zero", 0};
  else if (signal != SIGSEGV && signal != SIGBUS) fault_ = {719, where() + ": illegal instruction", 0};
  else if (dynamic_.guards(signalAddress)) fault_ = {700, where() + ": " + beyond(), 0};
  else fault_ = {700, where() + ": a forbidden address was touched", signalAddress};
}

// beyond is what a kernel did that went on behind the end of its dynamic shared memory.
std::string Worker::beyond() const {
  return "touches what lies behind the " + std::to_string(work_->sharedBytes) + " bytes of dynamic shared memory that the launch gives each block; launch it with more";
}

// pop takes the fiber to run next: one that may go on, or one that begins more threads. Where threads are shuffled, some go on
// before others have begun; else all come to a barrier before any leaves it.
Fiber* Worker::pop() {
  bool more = next_ < threads_, any = head_ < ready_.size();
  if (!any) {
    ready_.clear();
    head_ = 0;
    return more ? takeFiber() : nullptr;
  }
  bool shuffled = work_->order == Order::shuffled;
  if (more && (!shuffled || random() % 4 == 0)) return takeFiber();
  if (shuffled) std::swap(ready_[head_], ready_[head_ + random() % (ready_.size() - head_)]);
  return ready_[head_++];
}

// place says which thread runs. Most blocks have one dimension, and a division takes longer than all else here.
void Worker::place(unsigned t) {
  const dim3& b = work_->block;
  current_.linear = t;
  if (b.y == 1 && b.z == 1) current_.thread = {t, 0, 0};
  else current_.thread = {t % b.x, t / b.x % b.y, t / (b.x * b.y)};
}

// resume makes f the fiber that runs; the caller switches to it.
void Worker::resume(Fiber* f) {
  running_ = f;
  if (!f->parked) return;
  f->parked = false;
  place(f->thread);
}

// park lets the next fiber run, without the way by the scheduler, which goes on where there is none.
void Worker::park() {
  Fiber* mine = running_;
  mine->parked = true;
  Fiber* next = pop();
  if (next) resume(next);
  if (next == mine) return;
  emu_switch(&mine->sp, next ? next->sp : scheduler_);
}

// wake lets fibers go on, in the block's order of threads.
void Worker::wake(Fiber* const* fibers, size_t n) {
  size_t first = ready_.size();
  ready_.insert(ready_.end(), fibers, fibers + n);
  auto begin = ready_.begin() + static_cast<long>(first);
  bool back = work_->order == Order::reversed;
  auto before = [back](const Fiber* a, const Fiber* b) { return back ? a->thread > b->thread : a->thread < b->thread; };
  if (!std::is_sorted(begin, ready_.end(), before)) std::sort(begin, ready_.end(), before);  // they mostly come in that order
}

// threads is what a fiber does.
void Worker::threads() {
  while (next_ < threads_) {
    unsigned t = static_cast<unsigned>(order_[next_++]);
    running_->thread = t;
    place(t);
    work_->call(work_->params);
    checkThreadEnd();
    ended();
  }
  idle_.push_back(running_);
  emu_switch(&running_->sp, scheduler_);
}

// ended counts a thread out. Those that wait for it need not any longer.
void Worker::ended() {
  Fiber* f = running_;
  if (!f->pending.empty() || !f->groups.empty()) {
    asyncWait(0);
    f->pending.clear();
  }
  unsigned w = f->thread / 32;
  alive_[w] &= ~(1u << (f->thread % 32));
  living_--;
  if (living_ == 0 && cores_.working()) cores_.ended();
  if (!waiting_.empty() && waiting_.size() == living_) releaseBarrier();
  for (size_t i = 0; i < warps_[w].size();) {
    if (!releaseWarp(w, i)) i++;
  }
}

void Worker::barrier(int line) {
  Fiber* f = running_;
  f->line = line;
  waiting_.push_back(f);
  if (waiting_.size() == living_) releaseBarrier();
  park();
}

void Worker::releaseBarrier() {
  for (Fiber* f : waiting_) {
    if (f->line != waiting_[0]->line) {
      char text[200];
      std::snprintf(text, sizeof text, "the block's threads wait at different barriers: thread %u in line %d, thread %u in line %d",
                    waiting_[0]->thread, waiting_[0]->line, f->thread, f->line);
      failed_ = true;
      fault_ = {719, std::string("kernel ") + work_->name + ": " + text, 0};
      emu_switch(&running_->sp, scheduler_);
    }
  }
  blockEpoch_++;
  wake(waiting_.data(), waiting_.size());
  waiting_.clear();
}

void Worker::warp(unsigned mask, void* mine, Step step, bool ordered) {
  Fiber* f = running_;
  unsigned w = f->thread / 32, l = f->thread % 32;
  if (!(mask >> l & 1)) fail(719, "a warp operation whose mask does not name the calling lane");
  auto& waits = warps_[w];
  size_t i = 0;
  while (i < waits.size() && (waits[i].mask != mask || waits[i].step != step || waits[i].arrived >> l & 1)) i++;
  if (i == waits.size()) waits.emplace_back(mask, step, ordered);
  waits[i].arrived |= 1u << l;
  waits[i].lanes[l] = mine ? mine : f;
  waits[i].fibers[l] = f;
  releaseWarp(w, i);
  park();
}

// releaseWarp runs the step of a wait and lets its lanes go on, if all are there.
bool Worker::releaseWarp(unsigned w, size_t i) {
  WarpWait& wait = warps_[w][i];
  if ((wait.mask & alive_[w]) & ~wait.arrived) return false;
  for (int l = 0; l < 32; l++)
    if (!(wait.arrived >> l & 1)) wait.lanes[l] = nullptr;
  if (wait.step) wait.step(wait.lanes, wait.arrived);
  if (wait.ordered) warpEpoch_[w]++;
  Fiber* go[32];
  size_t n = 0;
  for (int l = 0; l < 32; l++)
    if (wait.arrived >> l & 1) go[n++] = wait.fibers[l];
  warps_[w].erase(warps_[w].begin() + static_cast<long>(i));
  wake(go, n);
  return true;
}

void Worker::fail(int code, const std::string& text, uint64_t address) {
  failed_ = true;
  fault_ = {code, where() + ": " + text, address};
  emu_switch(&running_->sp, scheduler_);
  std::abort();
}

std::string Worker::where() const {
  char text[200];
  std::snprintf(text, sizeof text, "kernel %s, block (%u,%u,%u), thread (%u,%u,%u)", work_->name, current_.block.x, current_.block.y,
                current_.block.z, current_.thread.x, current_.thread.y, current_.thread.z);
  return text;
}

// stuck describes a block in which nobody can go on.
std::string Worker::stuck() const {
  size_t lanes = 0;
  for (auto& warp : warps_)
    for (auto& wait : warp) lanes += static_cast<size_t>(__builtin_popcount(wait.arrived));
  char text[240];
  std::snprintf(text, sizeof text, "kernel %s, block (%u,%u,%u) hangs: %zu threads wait at __syncthreads and %zu in warp operations for the others",
                work_->name, current_.block.x, current_.block.y, current_.block.z, waiting_.size(), lanes);
  return text;
}

void barrier(int line) { worker->barrier(line); }
void warp(unsigned mask, void* mine, Step step, bool ordered) { worker->warp(mask, mine, step, ordered); }
void trap(const char* what) { worker->fail(719, what); }

// aligned stops a kernel whose address is not a multiple of what an instruction moves.
static void aligned(const void* p, int bytes, const char* what) {
  if (reinterpret_cast<uintptr_t>(p) % static_cast<uintptr_t>(bytes) == 0) return;
  worker->fail(716, std::string(what) + " at an address that is no multiple of " + std::to_string(bytes) + " bytes", reinterpret_cast<uint64_t>(p));
}

void rowAligned(const void* row) { aligned(row, 16, "ldmatrix of a row"); }

void asyncCopy(void* shared, const void* global, int bytes, int total) {
  if (bytes < 0 || bytes > total) worker->fail(719, "cp.async of " + std::to_string(bytes) + " bytes of " + std::to_string(total));
  aligned(shared, total, "cp.async to shared memory");
  aligned(global, total, "cp.async from global memory");
  // From here to the wait the bytes there are neither the old nor the new ones: whoever reads them, having missed the barrier before the
  // copy or the wait after it, gets NaN.
  checkCopy(shared, static_cast<size_t>(total));
  std::memset(shared, 0xff, static_cast<size_t>(total));
  worker->fiber()->pending.push_back({shared, global, bytes, total});
}
void asyncCommit() {
  Fiber* f = worker->fiber();
  f->groups.push_back(std::move(f->pending));
  f->pending.clear();
}
void asyncWait(int keep) {
  Fiber* f = worker->fiber();
  while (f->groups.size() > static_cast<size_t>(keep)) {
    for (const AsyncCopy& c : f->groups.front()) {
      checkRead(c.global, static_cast<size_t>(c.bytes));
      checkWrite(c.shared, static_cast<size_t>(c.total));
      const auto at = static_cast<uint64_t>(static_cast<unsigned char*>(c.shared) - worker->current().dynamicShared);
      worker->tensorCores().copied(f->thread, at, c.total);
      std::memcpy(c.shared, c.global, static_cast<size_t>(c.bytes));
      std::memset(static_cast<char*>(c.shared) + c.bytes, 0, static_cast<size_t>(c.total - c.bytes));
    }
    f->groups.erase(f->groups.begin());
  }
}

}  // namespace emu
