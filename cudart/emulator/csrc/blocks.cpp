// blocks.cpp: all blocks of a launch, over several threads.
#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "block.h"
#include "core.h"
#include "signals.h"

namespace emu {

namespace {

// Job is a launch that threads take blocks from.
struct Job {
  const Work* work;
  Sequence order;
  uint64_t total;
  std::atomic<uint64_t> next{0};
  std::atomic<bool> failed{false};
  std::mutex mutex;
  Fault fault;  // of the first block that failed
};

void take(Job& job) {
  static thread_local Worker* worker = nullptr;
  if (!worker) {
    worker = new Worker;  // as long as the thread
    static std::mutex one;
    std::lock_guard<std::mutex> lock(one);
    joinKernels();
    Core::get().memory.admit();
  }
  const dim3& g = job.work->grid;
  constexpr uint64_t some = 4;
  while (!job.failed) {
    uint64_t i = job.next.fetch_add(some);
    if (i >= job.total) return;
    for (uint64_t end = std::min(i + some, job.total); i < end && !job.failed; i++) {
      uint64_t n = job.order[i];
      uint3 block{static_cast<unsigned>(n % g.x), static_cast<unsigned>(n / g.x % g.y), static_cast<unsigned>(n / (uint64_t(g.x) * g.y))};
      Fault fault;
      if (worker->run(*job.work, block, &fault)) continue;
      std::lock_guard<std::mutex> lock(job.mutex);
      if (!job.failed.exchange(true)) job.fault = fault;
      return;
    }
  }
}

// Helpers are threads that wait for a job.
struct Helpers {
  std::mutex mutex;
  std::condition_variable wake, done;
  Job* job = nullptr;
  uint64_t number = 0;  // of the job
  size_t threads = 0, busy = 0;

  void begin(size_t n) {
    for (; threads < n; threads++) withSignalsBlocked([this] { std::thread([this] { loop(); }).detach(); });
  }
  void loop() {
    pthread_setname_np(pthread_self(), "emulated-sm");
    uint64_t seen = 0;
    std::unique_lock<std::mutex> lock(mutex);
    for (;;) {
      wake.wait(lock, [&] { return job && number != seen; });
      seen = number;
      Job* mine = job;
      busy++;
      lock.unlock();
      take(*mine);
      lock.lock();
      if (--busy == 0) done.notify_all();
    }
  }
};

}  // namespace

bool runBlocks(const Work& work, int threads, Fault* fault) {
  static Helpers* helpers = new Helpers;
  uint64_t total = uint64_t(work.grid.x) * work.grid.y * work.grid.z;
  Job job{&work, Sequence(total, work.order, work.seed), total, {0}, {false}, {}, {}};
  static const unsigned processors = std::min(8u, std::max(1u, std::thread::hardware_concurrency()));  // it reads a file each time
  unsigned n = threads ? static_cast<unsigned>(threads) : processors;
  bool shared = n > 1 && total > 1 && total * work.block.x * work.block.y * work.block.z >= 8192;
  if (shared) {
    std::lock_guard<std::mutex> lock(helpers->mutex);
    helpers->begin(n - 1);
    helpers->job = &job;
    helpers->number++;
    helpers->wake.notify_all();
  }
  take(job);
  if (shared) {
    std::unique_lock<std::mutex> lock(helpers->mutex);
    helpers->job = nullptr;
    helpers->done.wait(lock, [] { return helpers->busy == 0; });
  }
  if (job.failed) *fault = job.fault;
  return !job.failed;
}

}  // namespace emu
