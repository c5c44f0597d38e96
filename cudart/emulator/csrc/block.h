// block.h: how one block of threads runs. A Worker is one OS thread's scheduler; it runs CUDA threads on fibers, which are stacks
// it switches by hand.
//
// A fiber is a loop: take the next thread of the block that has not begun, run it, and so on. So a kernel without barriers runs
// on one fiber as a plain loop. Where a thread has to wait, its fiber is parked with the thread on it, and another fiber goes
// on with the threads that have not begun.
#pragma once

#include <csetjmp>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "dynamic.h"
#include "state.h"
#include "tensor_cores.h"

namespace emu {

// Order is the order in which threads and blocks run; a correct kernel gives the same result in all.
enum class Order { forward, reversed, shuffled };

// launchRace is the CUresult of what a real device would not report at all, and compute wrongly.
constexpr int launchRace = 719;

// Fault says why a kernel was stopped. code is a CUresult, 0 for none.
struct Fault {
  int code = 0;
  std::string text;
  uint64_t address = 0;  // of the access, 0 if it is none
};

// Work is one launch as blocks see it.
struct Work {
  void (*call)(void** params);
  void** params;
  const char* name;
  dim3 grid, block;
  unsigned sharedBytes;
  Order order;
  uint64_t seed;
  uint64_t launch;  // a number that no other launch has
  unsigned paramCount;
  const void* data;  // that params points into
  size_t dataBytes;
};

// Sequence visits 0 … n-1 in an order: n-1 … 0, or i·step+start modulo n with a step that has no divisor in common with n.
class Sequence {
 public:
  Sequence(uint64_t n, Order order, uint64_t seed);
  uint64_t operator[](uint64_t i) const { return (i * step_ + start_) % n_; }

 private:
  uint64_t n_, step_, start_;
};

struct AsyncCopy {
  void* shared;
  const void* global;
  int bytes, total;
};

struct Fiber {
  void* sp = nullptr;
  char* stack = nullptr;
  unsigned thread = 0;  // that it runs
  int line = 0;         // of the barrier it waits at
  bool parked = false;
  std::vector<AsyncCopy> pending;   // of the group that is still open
  std::vector<std::vector<AsyncCopy>> groups;
};

// WarpWait is a set of lanes that gather for one step. What it has of those that have not arrived is nothing.
struct WarpWait {
  WarpWait(unsigned mask, Step step, bool ordered) : mask(mask), step(step), ordered(ordered) {}
  unsigned mask, arrived = 0;
  Step step;
  bool ordered;
  void* lanes[32];
  Fiber* fibers[32];
};

class Worker {
 public:
  Worker() = default;
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  // run runs one block to its end and tells whether it got there.
  bool run(const Work& work, uint3 block, Fault* fault);

  // Called by the kernel's thread, on a fiber.
  void barrier(int line);
  void warp(unsigned mask, void* mine, Step step, bool ordered);
  [[noreturn]] void fail(int code, const std::string& text, uint64_t address = 0);
  Fiber* fiber() const { return running_; }
  // tensorCores are set up when the block first uses them: few kernels do.
  TensorCores& tensorCores() {
    if (!cores_.working()) cores_.begin(threads_, work_->sharedBytes);
    return cores_;
  }

  static Worker* here();  // of this OS thread; null outside of a kernel
  const Work* work() const { return work_; }
  std::string where() const;  // kernel, block and thread, for messages
  const Current& current() const { return current_; }
  uint64_t blockNumber() const { return blockNumber_; }
  uint32_t warpEpoch() const { return warpEpoch_[running_->thread / 32]; }
  uint64_t blockEpoch() const { return blockEpoch_; }
  uint64_t firstEpoch() const { return firstEpoch_; }
  sigjmp_buf* escape() { return &escape_; }
  int signal = 0;  // what the signal handler found
  uint64_t signalAddress = 0;

 private:
  friend void fiberMain();
  Fiber* takeFiber();
  void place(unsigned thread);
  void resume(Fiber* f);
  void park();  // until the fiber may go on
  void wake(Fiber* const* fibers, size_t n);
  Fiber* pop();
  void threads();  // a fiber's loop
  void ended();
  void releaseBarrier();
  bool releaseWarp(unsigned warp, size_t wait);
  std::string stuck() const;
  void signalled();
  std::string beyond() const;
  uint64_t random();

  const Work* work_ = nullptr;
  Sequence order_{1, Order::forward, 0};
  std::vector<std::unique_ptr<Fiber>> all_;
  std::vector<Fiber*> idle_, ready_, waiting_;  // waiting_: at the barrier
  std::vector<std::vector<WarpWait>> warps_;
  std::vector<unsigned> alive_;  // per warp, a bit per lane
  std::vector<unsigned> warpEpoch_;
  DynamicMemory dynamic_;  // shared memory
  TensorCores cores_;
  size_t head_ = 0;  // ready_ is a queue that begins here
  Fiber* running_ = nullptr;
  void* scheduler_ = nullptr;
  uint64_t next_ = 0, threads_ = 0, living_ = 0, random_ = 1;
  uint64_t blockNumber_ = 0, blockEpoch_ = 0, firstEpoch_ = 0;
  bool failed_ = false;
  Fault fault_;
  Current current_;
  sigjmp_buf escape_;
};

}  // namespace emu
