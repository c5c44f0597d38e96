// config.cpp: see config.h.
#include "config.h"

#include <cstdio>
#include <cstdlib>

namespace emu {

static uint64_t bytesOf(const std::string& v, bool* ok) {
  char* end = nullptr;
  uint64_t n = std::strtoull(v.c_str(), &end, 10);
  if (*end == 'K') n <<= 10, end++;
  else if (*end == 'M') n <<= 20, end++;
  else if (*end == 'G') n <<= 30, end++;
  *ok = end != v.c_str() && *end == 0;
  return n;
}

std::string Config::set(const std::string& text) {
  for (size_t i = 0; i < text.size();) {
    size_t end = text.find_first_of(", ", i);
    if (end == std::string::npos) end = text.size();
    std::string pair = text.substr(i, end - i);
    i = end + 1;
    if (pair.empty()) continue;
    size_t eq = pair.find('=');
    if (eq == std::string::npos) return "\"" + pair + "\" is no name=value";
    std::string wrong = setOne(pair.substr(0, eq), pair.substr(eq + 1));
    if (!wrong.empty()) return wrong;
  }
  return "";
}

// defaults are the errors that the kinds of call are known for.
static int defaultCode(const std::string& what) {
  if (what == "alloc") return 2;                         // CUDA_ERROR_OUT_OF_MEMORY
  if (what == "launch") return 701;                      // CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES
  if (what == "kernel") return 719;                      // CUDA_ERROR_LAUNCH_FAILED, when the kernel runs
  if (what == "module") return 218;                      // CUDA_ERROR_INVALID_PTX
  if (what == "copy" || what == "sync" || what == "any") return 999;  // CUDA_ERROR_UNKNOWN, as a device that is gone gives
  return 0;
}

std::string Config::setOne(const std::string& name, const std::string& value) {
  bool ok = true;
  uint64_t n = bytesOf(value, &ok);
  if (name == "order") {
    if (value == "forward") order = Order::forward;
    else if (value == "reversed") order = Order::reversed;
    else if (value == "shuffled") order = Order::shuffled;
    else return "order is forward, reversed or shuffled, not \"" + value + "\"";
    return "";
  }
  if (name == "launched") {
    launched = value;
    return "";
  }
  if (name == "inject") {  // what@n[+][:code]; empty: none any more
    injections.clear();
    counts.clear();
    for (size_t i = 0; i < value.size();) {
      size_t end = value.find(';', i);
      if (end == std::string::npos) end = value.size();
      std::string one = value.substr(i, end - i);
      i = end + 1;
      Injection in;
      size_t at = one.find('@');
      in.what = one.substr(0, at);
      in.code = defaultCode(in.what);
      if (!in.code) return "inject knows alloc, launch, kernel, copy, sync, module and any, not \"" + in.what + "\"";
      if (at != std::string::npos) {
        char* rest = nullptr;
        in.at = std::strtoull(one.c_str() + at + 1, &rest, 10);
        if (*rest == '+') in.always = true, rest++;
        if (*rest == ':') in.code = static_cast<int>(std::strtol(rest + 1, &rest, 10));
        if (*rest || !in.at) return "inject is what@n, what@n+ or what@n:code, not \"" + one + "\"";
      }
      injections.push_back(in);
    }
    return "";
  }
  if (!ok) return name + " needs a number, not \"" + value + "\"";
  if (name == "seed") seed = n;
  else if (name == "threads") threads = static_cast<int>(n);
  else if (name == "devices" && n >= 1 && n <= 16) devices = static_cast<int>(n);
  else if (name == "memory" && n >= (1u << 20)) memory = n;
  else if (name == "fence") fence = n != 0;
  else if (name == "quiet") quiet = n != 0;
  else if (name == "capability" && n >= 50 && n < 200) capability = static_cast<int>(n);
  else return "no such setting, or not with this value: " + name + "=" + value;
  return "";
}

int Config::injected(const char* what) {
  if (injections.empty()) return 0;
  uint64_t n = ++counts[what];
  uint64_t all = ++counts["any"];
  for (auto& in : injections) {
    uint64_t count = in.what == "any" ? all : in.what == what ? n : 0;
    if (count && (count == in.at || (in.always && count > in.at))) return in.code;
  }
  return 0;
}

void Config::ran(const std::string& kernel) {
  if (launched.empty() || !noted_.insert(kernel).second) return;
  if (FILE* f = std::fopen(launched.c_str(), "a")) {
    std::fprintf(f, "%s\n", kernel.c_str());
    std::fclose(f);
  }
}

}  // namespace emu
