// nvrtc.cpp: the part of NVRTC that Halftone uses. A program is compiled by the C++ compiler that built this library, into a
// shared library, which stands for the machine code; cuModuleLoadDataEx takes it.
#include <dlfcn.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <map>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "api.h"
#include "nvrtc_rules.h"
#include "process.h"

namespace emu {

// Codes of nvrtcResult.
enum : int { nvrtcOk = 0, nvrtcInvalidInput = 3, nvrtcInvalidProgram = 4, nvrtcInvalidOption = 5, nvrtcCompilation = 6, nvrtcInternal = 11 };

struct Program {
  std::string source, name, log, image;
  std::vector<std::pair<std::string, std::string>> headers;  // name, text
};

// Toolchain is what the library was built with; the builder wrote it down beside it.
struct Toolchain {
  std::string folder, compiler;
  std::vector<std::string> flags;
};

static bool readToolchain(Toolchain* t, std::string* wrong) {
  Dl_info info;
  if (!dladdr(reinterpret_cast<void*>(&readToolchain), &info) || !info.dli_fname) return false;
  t->folder = info.dli_fname;
  t->folder.resize(t->folder.rfind('/'));
  std::ifstream f(t->folder + "/compiler.txt");
  std::string line;
  while (std::getline(f, line)) {
    if (t->compiler.empty()) t->compiler = line;
    else if (!line.empty()) t->flags.push_back(line);
  }
  if (t->compiler.empty()) *wrong = "the emulator's library has lost its compiler.txt";
  return !t->compiler.empty();
}

static std::string slurp(const std::string& path) {
  std::ifstream f(path, std::ios::binary);
  std::stringstream s;
  s << f.rdbuf();
  return s.str();
}

static bool write(const std::string& path, const std::string& text) {
  std::ofstream f(path, std::ios::binary);
  f << text;
  return f.good();
}

// Given is what options leave: what the compiler is told, and macros. These are the program's and not of the headers that come before it, where
// any of their names may mean something.
struct Given {
  std::vector<std::string> options;
  std::string macros;

  void define(const std::string& d) {
    size_t equals = d.find('=');
    macros += "#define " + d.substr(0, equals) + " " + (equals == std::string::npos ? "1" : d.substr(equals + 1)) + "\n";
  }
};

// options takes NVRTC's options and leaves those that mean something here. It returns the one that is none.
static std::string options(int n, const char* const* given, Given* out) {
  static const char* const ignored[] = {"--gpu-architecture", "-arch", "--use_fast_math", "-use_fast_math", "--fmad", "-fmad", "--std", "-std", "-lineinfo",
                                        "--generate-line-info", "-G", "--device-debug", "--maxrregcount", "-maxrregcount", "--restrict", "-restrict",
                                        "--ftz", "-ftz", "--prec-div", "-prec-div", "--prec-sqrt", "-prec-sqrt", "-w", "--disable-warnings", "-default-device",
                                        "--device-as-default-execution-space", "--dopt", "-dopt", "--ptxas-options", "-Xptxas", "--diag-suppress"};
  static const std::map<std::string, char> longNames{{"--define-macro", 'D'}, {"--undefine-macro", 'U'}, {"--include-path", 'I'}};
  for (int i = 0; i < n; i++) {
    std::string o = given[i], name = o.substr(0, o.find('=')), argument;
    bool known = false, split = i + 1 < n && given[i + 1][0] != '-';  // the argument may be a string of its own
    auto named = longNames.find(name);
    char what = named != longNames.end() ? named->second : o.size() > 1 && o[0] == '-' && std::strchr("DUI", o[1]) ? o[1] : '\0';
    if (what) {
      argument = o.substr(named == longNames.end() ? 2 : std::min(o.size(), name.size() + 1));
      if (argument.empty() && split) argument = given[++i];
      argument.erase(0, argument.find_first_not_of(' '));
      if (argument.empty()) return o;
      if (what == 'D') out->define(argument);
      else if (what == 'U') out->macros += "#undef " + argument + "\n";
      else out->options.push_back("-I" + argument);
      continue;
    }
    for (const char* k : ignored) known = known || name == k;
    if (!known) return o;
    if (name == o && split) i++;
  }
  return "";
}

static std::vector<std::string> linesOf(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string l; std::getline(in, l);) lines.push_back(l);
  return lines;
}

// Kernels are those that unit.cpp lists, by its line.
using Kernels = std::map<size_t, std::string>;

// unlisted is the message about a kernel that the table can't have, at its line of the program: the compiler's own are of the emulator's files.
static std::string unlisted(const std::string& said, const Program& p, const Kernels& kernels) {
  static const std::regex line("unit\\.cpp:([0-9]+)");
  std::string name = kernels.empty() ? "" : kernels.begin()->second;
  for (std::sregex_iterator i(said.begin(), said.end(), line), end; i != end; ++i) {
    auto k = kernels.find(std::stoul((*i)[1]));
    if (k == kernels.end()) continue;
    name = k->second;
    break;
  }
  std::vector<std::string> lines = linesOf(p.source);
  const std::regex declared("\\b" + name + "\\s*\\(");
  size_t at = 0;
  while (at + 1 < lines.size() && !std::regex_search(lines[at], declared)) at++;
  return p.name + "(" + std::to_string(at + 1) + "): error: kernel \"" + name +
         "\" can't be launched: declare it once, outside of namespaces, with parameters that are values or pointers\n  " + (lines.empty() ? "" : lines[at]) + "\n ^\n\n";
}

// translate brings the compiler's messages into NVRTC's form: file(line): error: text, the line, a caret. What is said of the emulator's own files
// only follows from what is said of the program's.
static std::string translate(const std::string& said, const Program& p, const std::string& folder, const Kernels& kernels, int* errors) {
  std::vector<std::string> lines = linesOf(p.source);
  static const std::regex placed("^([^:]+):([0-9]+):([0-9]+): (fatal error|error|warning): (.*)$");
  static const std::regex expansion("^([^:]+):([0-9]+):([0-9]+): note: in expansion of macro .*$");
  std::string out, inMacro, follows;  // follows: messages about what is behind the program
  std::istringstream in(said);
  *errors = 0;
  int followed = 0;
  bool inTable = false;
  static const std::regex hidden("halftone_hidden_");
  for (std::string l; std::getline(in, l);) {
    l = std::regex_replace(l, hidden, "");
    if (l.compare(0, folder.size(), folder) == 0) l.erase(0, folder.size() + 1);
    std::smatch m;
    // gcc places what a macro of hidden.h says there, and tells behind it where the program uses it.
    bool used = !inMacro.empty() && std::regex_match(l, m, expansion);
    if (!used && !std::regex_match(l, m, placed)) continue;
    if (!used && m[1].str().find("/hidden.h") != std::string::npos) {
      inMacro = m[5];
      continue;
    }
    std::string what = used ? inMacro : m[5].str();
    if (used) inMacro.clear();
    bool error = used || m[4] != "warning", fatal = !used && m[4] == "fatal error";
    // What is missing at the end of the source shows in what follows it.
    bool behind = m[1] == "unit.cpp";
    if (error && (m[1].str().find("/csrc/kernel.h") != std::string::npos || (behind && (kernels.count(std::stoul(m[2])) || what.find("emu::") != std::string::npos)))) {
      inTable = true;
      continue;
    }
    (behind ? followed : *errors) += error;
    std::string file = behind ? p.name : m[1].str(), at = behind ? std::to_string(lines.size()) : m[2].str();
    std::string& to = behind ? follows : out;
    to += file + "(" + at + "): " + (fatal ? "catastrophic error" : error ? "error" : "warning") + ": " + missing(what) + "\n";
    size_t line = std::strtoul(at.c_str(), nullptr, 10), column = behind ? 1 : std::strtoul(m[3].str().c_str(), nullptr, 10);
    if (file == p.name && line >= 1 && line <= lines.size())
      to += "  " + lines[line - 1] + "\n" + std::string(column + 1, ' ') + "^\n";
    to += "\n";
  }
  if (!*errors && inTable) {
    out += unlisted(said, p, kernels);
    *errors = 1;
  } else if (!*errors) {
    out += follows;
    *errors = followed;
  }
  if (*errors) out += std::to_string(*errors) + " error" + (*errors > 1 ? "s" : "") + " detected in the compilation of \"" + p.name + "\".\n";
  return out;
}

// hostSource is CUDA C++ as a C++ compiler takes it: dynamic shared memory becomes a pointer inside of a function, and an object that
// converts to one outside.
static std::string hostSource(const std::string& cu) {
  static const std::regex dynamic(
      "extern\\s+__shared__\\s+(?:(?:__align__|alignas)\\s*\\([^)]*\\)\\s*)?((?:\\w+\\s+)+)(?:__align__\\s*\\([^)]*\\)\\s*)?(\\w+)\\s*\\[\\s*\\]\\s*;");
  std::string out;
  size_t from = 0;
  int depth = 0;
  for (std::sregex_iterator i(cu.begin(), cu.end(), dynamic), end; i != end; ++i) {
    auto at = static_cast<size_t>(i->position());
    for (size_t k = from; k < at; k++) depth += (cu[k] == '{') - (cu[k] == '}');
    std::string type = (*i)[1], name = (*i)[2];
    out += cu.substr(from, at - from);
    out += depth > 0 ? type + "* const " + name + " = reinterpret_cast<" + type + "*>(emu::dynamicSharedOf());" : "static const emu::DynamicShared<" + type + "> " + name + "{};";
    for (char c : i->str()) out += c == '\n' ? "\n" : "";  // lines keep their numbers
    from = at + static_cast<size_t>(i->length());
  }
  return out + cu.substr(from);
}

static const char* const table = R"(
};
extern "C" __attribute__((visibility("default"))) emu::Table halftoneEmulatedTable;
emu::Table halftoneEmulatedTable{kernels, sizeof kernels / sizeof kernels[0] - 1, nullptr};
)";

// compileIn compiles the program in a folder of its own.
static int compileIn(Program* p, const Toolchain& t, const std::string& folder, const Given& given, bool defaultDevice) {
  const std::string options = folder + "/halftone_options.h";
  bool written = write(folder + "/" + p->name, hostSource(p->source)) && write(options, given.macros);
  for (auto& [name, text] : p->headers) written = written && write(folder + "/" + name, text);
  std::vector<std::string> base{t.compiler};
  base.insert(base.end(), t.flags.begin(), t.flags.end());
  base.insert(base.end(), given.options.begin(), given.options.end());
  base.push_back("-w");
  base.push_back("-I" + folder);

  // The first pass, without any header of the system's, finds what is included and not there.
  int errors = 0;
  std::string said;
  Kernels kernels;
  auto fails = [&](const std::vector<std::string>& command) {
    if (runProcess(command, folder, &said)) return false;
    p->log = translate(said, *p, folder, kernels, &errors);
    if (!errors) p->log = "error: " + said;
    return true;
  };
  auto bare = base;
  for (const std::string& o : {std::string("-nostdinc"), std::string("-nostdinc++"), std::string("-include"), t.folder + "/csrc/hidden.h", std::string("-include"), options, std::string("-E"), std::string("-x"), std::string("c++"),
                               folder + "/" + p->name, std::string("-o"), folder + "/bare"})
    bare.push_back(o);
  if (!written || fails(bare)) return nvrtcCompilation;

  // The second finds the kernels, and what is not the device's.
  base.push_back("-I" + t.folder + "/csrc");
  for (const std::string& header : {std::string("device_more.h"), std::string("kernel.h"), std::string("hidden.h"), options}) base.push_back("-include"), base.push_back(header);
  auto scan = base;
  for (const std::string& o : {std::string("-DHALFTONE_SCAN=1"), std::string("-E"), std::string("-x"), std::string("c++"), folder + "/" + p->name, std::string("-o"), folder + "/scanned"})
    scan.push_back(o);
  if (fails(scan)) return nvrtcCompilation;
  std::string scanned = programText(slurp(folder + "/scanned"), folder);
  if (!defaultDevice) p->log = annotations(scanned, folder, linesOf(p->source), &errors);
  if (errors) {
    p->log += std::to_string(errors) + " error" + (errors > 1 ? "s" : "") + " detected in the compilation of \"" + p->name + "\".\n";
    return nvrtcCompilation;
  }
  std::string unit = "#include \"kernel.h\"\n#include \"" + p->name + "\"\n";
  for (const char* w : {"kernels", "call", "sizes", "count", "bytes", "name", "table"}) unit += std::string("#undef ") + w + "\n";  // of the program
  unit += "static const emu::Kernel kernels[] = {\n";
  static const std::string bounds = "(?:halftone_bounds\\(\\s*([^,)]*)[^)]*\\)\\s*)?";
  static const std::regex kernel("(template\\s*<[^;{}]*>\\s*)?halftone_global\\s+" + bounds + "void\\s+" + bounds + "(\\w+)\\s*\\(");
  std::string limits;
  std::map<std::string, std::string> names;  // and what __launch_bounds__ says, if it does
  for (std::sregex_iterator i(scanned.begin(), scanned.end(), kernel), end; i != end; ++i)
    if ((*i)[1].length() == 0)  // a template is none, only what it is made into
      if (std::string& b = names[(*i)[4]]; b.empty()) b = (*i)[2].str() + (*i)[3].str();
  for (auto& [n, b] : names) {
    kernels[static_cast<size_t>(std::count(unit.begin(), unit.end(), '\n')) + 1] = n;
    unit += "  HALFTONE_EMULATED_KERNEL(" + n + ", " + (b.empty() ? "0" : "static_cast<unsigned>(" + b + ")") + "),\n";
    limits += "static_assert(emu::Unpack<&" + n + ">::bytes <= 32764, \"Formal parameter space overflowed (max 32764 bytes allowed) in function " + n + "\");\n";
  }
  unit += "  {nullptr, nullptr, nullptr, 0, 0}" + std::string(table) + limits;
  write(folder + "/unit.cpp", unit);

  auto compile = base;
  for (const std::string& o : {folder + "/unit.cpp", std::string("-shared"), std::string("-o"), folder + "/module.so", t.folder + "/libcuda.so.1"})
    compile.push_back(o);
  if (fails(compile)) return nvrtcCompilation;
  p->image = slurp(folder + "/module.so");
  Symbols symbols(p->image.data());
  int shared = names.size() == 1 ? symbols.shared : symbols.largest;
  if (shared > 48 << 10) {
    char text[240];
    std::snprintf(text, sizeof text, "ptxas error   : Entry function '%s' uses too much shared data (0x%x bytes, 0xc000 max)", names.begin()->first.c_str(), static_cast<unsigned>(shared));
    p->log = text;
    p->image.clear();
    return nvrtcCompilation;
  }
  return p->image.empty() ? nvrtcInternal : nvrtcOk;
}

static int size(const std::string& s, size_t* n) {
  *n = s.size();
  return nvrtcOk;
}

static int copy(const std::string& s, char* to) {
  std::memcpy(to, s.data(), s.size());
  return nvrtcOk;
}

}  // namespace emu

using namespace emu;

// The version is one that NVIDIA's never has, and another for each build of this library: caches of compiled code keep them apart.
EMU_API int nvrtcVersion(int* major, int* minor) {
  Toolchain t;
  std::string wrong;
  readToolchain(&t, &wrong);
  *major = 0;
  *minor = static_cast<int>(std::hash<std::string>()(t.folder) & 0x7fffffff);
  return nvrtcOk;
}

EMU_API int nvrtcGetNumSupportedArchs(int* n) {
  *n = 4;
  return nvrtcOk;
}
EMU_API int nvrtcGetSupportedArchs(int* archs) {
  const int all[] = {70, 75, 80, 90};
  std::memcpy(archs, all, sizeof all);
  return nvrtcOk;
}

EMU_API int nvrtcCreateProgram(void** program, const char* source, const char* name, int n, const char* const* texts, const char* const* names) {
  if (!source) return nvrtcInvalidInput;
  auto* p = new Program;
  p->source = source;
  p->name = name && *name ? name : "default_program";
  for (char& c : p->name)
    if (c == '/') c = '_';  // it becomes a file
  for (int i = 0; i < n; i++) p->headers.emplace_back(names[i], texts[i]);
  *program = p;
  return nvrtcOk;
}

EMU_API int nvrtcDestroyProgram(void** program) {
  delete static_cast<Program*>(*program);
  *program = nullptr;
  return nvrtcOk;
}

EMU_API int nvrtcCompileProgram(void* program, int n, const char* const* given) {
  auto* p = static_cast<Program*>(program);
  if (!p) return nvrtcInvalidProgram;
  p->log.clear();
  Toolchain t;
  if (!readToolchain(&t, &p->log)) return nvrtcInternal;
  Given left;
  std::string unknown = options(n, given, &left);
  if (!unknown.empty()) {
    p->log = "nvrtc: error: unrecognized option " + unknown + " found\n";
    return nvrtcInvalidOption;
  }
  const char* tmp = std::getenv("TMPDIR");
  std::string folder = std::string(tmp && *tmp ? tmp : "/tmp") + "/halftone-nvrtc-XXXXXX";
  if (!mkdtemp(folder.data())) {
    p->log = "error: no folder for temporary files can be made: " + folder;
    return nvrtcInternal;
  }
  bool defaultDevice = false;
  for (int i = 0; i < n; i++) defaultDevice = defaultDevice || !std::strcmp(given[i], "-default-device") || !std::strcmp(given[i], "--device-as-default-execution-space");
  int code = compileIn(p, t, folder, left, defaultDevice);
  removeFolder(folder);
  return code;
}

EMU_API int nvrtcGetProgramLogSize(void* program, size_t* n) {
  *n = static_cast<Program*>(program)->log.size() + 1;
  return nvrtcOk;
}
EMU_API int nvrtcGetProgramLog(void* program, char* to) {
  std::strcpy(to, static_cast<Program*>(program)->log.c_str());
  return nvrtcOk;
}
// What stands for PTX is the same library.
EMU_API int nvrtcGetPTXSize(void* program, size_t* n) { return size(static_cast<Program*>(program)->image, n); }
EMU_API int nvrtcGetPTX(void* program, char* to) { return copy(static_cast<Program*>(program)->image, to); }
EMU_API int nvrtcGetCUBINSize(void* program, size_t* n) { return size(static_cast<Program*>(program)->image, n); }
EMU_API int nvrtcGetCUBIN(void* program, char* to) { return copy(static_cast<Program*>(program)->image, to); }

EMU_API const char* nvrtcGetErrorString(int code) {
  switch (code) {
    case 0: return "NVRTC_SUCCESS";
    case nvrtcInvalidInput: return "NVRTC_ERROR_INVALID_INPUT";
    case nvrtcInvalidProgram: return "NVRTC_ERROR_INVALID_PROGRAM";
    case nvrtcInvalidOption: return "NVRTC_ERROR_INVALID_OPTION";
    case nvrtcCompilation: return "NVRTC_ERROR_COMPILATION";
    default: return "NVRTC_ERROR_INTERNAL_ERROR";
  }
}
