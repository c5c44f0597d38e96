// config.h: what the emulator is told, by the variable HALFTONE_EMULATOR and by halftoneEmulatorControl.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "block.h"

namespace emu {

// Injection is an error to be returned by some call: the n-th of its kind from now on.
struct Injection {
  std::string what;  // alloc, launch, kernel, copy, sync, module, any
  uint64_t at = 1;
  bool always = false;  // from the n-th on
  int code = 0;
};

struct Config {
  uint64_t seed = 0;
  Order order = Order::forward;
  int threads = 0;  // 0: as many as processors, at most 8
  int devices = 1;
  uint64_t memory = uint64_t(4) << 30;
  bool fence = true, quiet = false;
  int capability = 80;
  std::string launched;  // file that the names of kernels are added to, each when it first runs; "" for none
  std::vector<Injection> injections;
  std::map<std::string, uint64_t> counts;

  // set takes "name=value" pairs, separated by commas or blanks. It returns what is wrong with them, "" for nothing.
  std::string set(const std::string& text);
  // injected counts a call and returns the error it is to return, 0 for none.
  int injected(const char* what);
  // ran notes that a kernel has run.
  void ran(const std::string& kernel);

 private:
  std::string setOne(const std::string& name, const std::string& value);
  std::set<std::string> noted_;
};

}  // namespace emu
