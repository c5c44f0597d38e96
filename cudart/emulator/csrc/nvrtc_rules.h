// nvrtc_rules.h: what NVRTC refuses and a C++ compiler takes. The messages are those of NVRTC 13.5.
#pragma once

#include <set>
#include <string>
#include <vector>

namespace emu {

// programText is what of a file behind the preprocessor, with its line markers, comes from files in folder.
std::string programText(const std::string& scanned, const std::string& folder);

// annotations looks through a programText for functions and variables that are the host's, and
// for kernels that return something. It returns NVRTC's messages, and their number.
std::string annotations(const std::string& text, const std::string& folder, const std::vector<std::string>& lines, int* errors);

// missing takes the preprocessor's message that there is no such file, and makes it NVRTC's.
std::string missing(const std::string& text);

// Symbols are what a library's own table says: its functions, and the thread-local variables, which kernels' static shared memory is here.
struct Symbols {
  std::set<std::string> functions;
  int shared = 0, largest = 0;
  explicit Symbols(const char* elf);
  // linked returns the name that the linker knows a kernel by: its own if it is extern "C", else the one that C++ makes of it.
  std::string linked(const std::string& kernel) const;
};

}  // namespace emu
