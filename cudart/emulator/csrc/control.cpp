// control.cpp: functions that CUDA does not have, for tests: to set what HALFTONE_EMULATOR sets while the program runs, and to
// read what the emulated device has said.
#include <cstdio>
#include <cstring>

#include "api.h"

using namespace emu;

// halftoneEmulatorControl takes "name=value" pairs. It writes what is wrong with them into message and returns 1 then, else 0.
EMU_API int halftoneEmulatorControl(const char* text, char* message, size_t n) {
  Core& core = Core::get();
  std::lock_guard<std::mutex> lock(core.mutex);
  std::string wrong = core.config.set(text);
  std::snprintf(message, n, "%s", wrong.c_str());
  return !wrong.empty();
}

// halftoneEmulatorReport writes what was said since the last call, a line each, and forgets it. It returns the bytes it wants.
EMU_API size_t halftoneEmulatorReport(char* to, size_t n) {
  Core& core = Core::get();
  std::lock_guard<std::mutex> lock(core.mutex);
  std::string all;
  for (auto& line : core.report) all += line + "\n";
  if (n <= all.size()) return all.size() + 1;
  std::memcpy(to, all.c_str(), all.size() + 1);
  core.report.clear();
  return all.size();
}

// halftoneEmulatorKernels returns how many kernels the library was built with, and the name of the i-th.
EMU_API size_t halftoneEmulatorKernels(size_t i, const char** name) {
  size_t n = 0;
  *name = nullptr;
  for (const Table* t = ownTables(); t; t = t->next) {
    if (i >= n && i < n + t->count) *name = t->kernels[i - n].name;
    n += t->count;
  }
  return n;
}

// halftoneEmulatorFence tells, in the order of a stream, that a program hands out a part of an allocation (done 0), or takes it back
// (done 1): bytes of the total at address may be touched. What was written behind them is the stream's failure. Under capture it does
// nothing: the graph's replays would mark memory that others have by then.
EMU_API void halftoneEmulatorFence(void* stream, uint64_t address, uint64_t bytes, uint64_t total, int done) {
  Core& core = Core::get();
  std::unique_lock<std::mutex> lock(core.mutex);
  auto* s = static_cast<Stream*>(stream);
  if (!core.ready || core.lost || !core.streams.count(s) || s->capture) return;
  auto op = std::make_shared<Op>();
  op->kind = Op::call;
  op->name = "fence";
  op->run = [address, bytes, total, done](std::string* wrong) {
    Core& device = Core::get();
    std::lock_guard<std::mutex> held(device.mutex);
    if (done) *wrong = device.memory.unfence(address, bytes, total);
    else device.memory.fence(address, bytes, total);
    return wrong->empty();
  };
  core.add(lock, s, op);
}
