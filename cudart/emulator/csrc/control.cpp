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
