// api_module.cpp: modules, kernels, launches. The code in an image of PTX is not run: it says which kernels the module has, and
// this library has the same ones, compiled for the CPU. An image that is a shared library is what this library's NVRTC made.
#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "api.h"
#include "nvrtc_rules.h"

namespace emu {

static Table* first = nullptr;

void addTable(Table* t) {
  t->next = first;
  first = t;
}

const Table* ownTables() { return first; }

const Kernel* findKernel(const Table* t, const char* name) {
  for (; t; t = t->next)
    for (size_t i = 0; i < t->count; i++)
      if (!std::strcmp(t->kernels[i].name, name)) return &t->kernels[i];
  return nullptr;
}

static bool isName(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '$'; }

// word returns the name that follows a directive of PTX.
static std::string word(const char* p) {
  while (*p == ' ' || *p == '\t') p++;
  const char* end = p;
  while (isName(*end)) end++;
  return std::string(p, end);
}

// directives are those that may begin a line of PTX.
static const char* const directives[] = {"version", "target", "address_size", "visible", "extern", "weak", "common", "func", "entry", "global", "const", "shared",
                                         "local", "reg", "param", "align", "pragma", "maxntid", "minnctapersm", "maxnreg", "reqntid", "noreturn", "loc",
                                         "file", "section", "b8", "b16", "b32", "b64", "branchtargets", "callprototype", "calltargets", "alias", "tex"};

// badDirective returns the number of the first line that begins with a directive PTX does not have, 0 for none.
static int badDirective(const char* text, std::string* which) {
  for (int line = 1; *text; line++) {
    const char* p = text;
    for (;;) {  // linkage may stand before what it is of
      while (*p == ' ' || *p == '\t') p++;
      if (*p != '.') break;
      *which = word(p + 1);
      bool known = false;
      for (const char* d : directives) known = known || *which == d;
      if (!known) return line;
      if (*which != "visible" && *which != "extern" && *which != "weak") break;
      p += 1 + which->size();
    }
    while (*text && *text != '\n') text++;
    if (*text) text++;
  }
  return 0;
}

// number returns the first one at p, before the end of the line.
static unsigned number(const char* p) {
  while (*p && *p != '\n' && !std::isdigit(static_cast<unsigned char>(*p))) p++;
  return static_cast<unsigned>(std::strtoul(p, nullptr, 10));
}

// sharedArrays lists the static shared memory that a text declares: ".shared .align 8 .b8 name[2048];". What the launch gives, declared
// .extern, has no size.
static std::vector<std::pair<std::string, int>> sharedArrays(const std::string& text) {
  std::vector<std::pair<std::string, int>> all;
  for (size_t at = 0; (at = text.find(".shared", at)) != std::string::npos; at += 7) {
    size_t line = text.rfind('\n', at) + 1, end = text.find_first_of(";\n", at), open = text.find('[', at);
    size_t first = text.find_first_not_of(" \t", line);
    if (first != at && text.compare(first, 8, ".visible") != 0 && text.compare(first, 5, ".weak") != 0) continue;  // ld.shared, .extern
    if (end == std::string::npos) break;
    size_t name = std::min(open, end);
    while (name > at && isName(text[name - 1])) name--;
    int width = 1;
    for (size_t dot = text.find('.', at + 1); dot < name; dot = text.find('.', dot + 1))
      if (std::strchr("busf", text[dot + 1]) && std::isdigit(static_cast<unsigned char>(text[dot + 2]))) width = std::atoi(text.c_str() + dot + 2) / 8;
    all.emplace_back(text.substr(name, std::min(open, end) - name), width * (open < end ? std::atoi(text.c_str() + open + 1) : 1));
  }
  return all;
}

static bool refers(const std::string& body, const std::string& name) {
  for (size_t at = 0; (at = body.find(name, at)) != std::string::npos; at += name.size())
    if ((at == 0 || !isName(body[at - 1])) && !isName(body[at + name.size()])) return true;
  return false;
}

// readLimits reads what an entry's directives and static shared memory are: its own, and what it or a function of the module names.
static Limits readLimits(const std::string& entry, const std::string& rest, const std::vector<std::pair<std::string, int>>& arrays) {
  Limits l;
  size_t open = entry.find("\n{");
  for (const char* directive : {".maxntid", ".reqntid"}) {
    size_t at = entry.find(directive);
    if (at == std::string::npos || at > open) continue;
    l.threads = 1;
    for (const char* p = entry.c_str() + at; *p && *p != '\n';) {
      l.threads *= std::max(1u, number(p));
      while (*p && *p != '\n' && *p != ',') p++;
      if (*p == ',') p++;
    }
  }
  for (auto& [name, bytes] : sharedArrays(entry)) l.shared += bytes;
  for (auto& [name, bytes] : arrays)
    if (refers(entry, name) || refers(rest, name)) l.shared += bytes;
  return l;
}

// readPtx takes the kernels' names out of PTX, and refuses what the device could not run.
static int readPtx(const char* text, const Config& config, Module* m, std::string* log) {
  const char* target = std::strstr(text, ".target");
  const char* version = std::strstr(text, ".version");
  if (!target || !version) {
    *log = "ptxas application ptx input, line 1; fatal   : Missing .version directive at start of file";
    return invalidPtx;
  }
  std::string which;
  if (int line = badDirective(text, &which)) {
    *log = "ptxas application ptx input, line " + std::to_string(line) + "; fatal   : Parsing error near '." + which + "': syntax error";
    return invalidPtx;
  }
  std::string made = word(target + 7);
  int arch = std::atoi(made.c_str() + 3);
  bool only = made.back() == 'a';  // for no other
  if (arch > config.capability || (only && arch != config.capability)) {
    *log = "ptxas fatal   : the PTX is for " + made + ", and the device is sm_" + std::to_string(config.capability);
    return noBinary;
  }
  if (std::atof(version + 8) > 9.0) {
    *log = "ptxas fatal   : unsupported .version";
    return unsupportedPtx;
  }
  // The module's own declarations, its functions, and each entry up to the brace that closes it at the margin.
  std::string declared, functions;
  std::vector<std::pair<std::string, std::string>> entries;
  for (const char* p = text; *p;) {
    const char* end = std::strchr(p, '\n');
    std::string line(p, end ? static_cast<size_t>(end - p) : std::strlen(p));
    size_t entry = line.find(".entry");
    bool function = entry != std::string::npos || line.find(".func") != std::string::npos;
    bool body = function && p[std::strcspn(p, "{;")] == '{';  // not what is only declared
    if (function) end = body ? std::strstr(p, "\n}") : std::strchr(p, ';');
    std::string part(p, end ? static_cast<size_t>(end - p) : std::strlen(p));
    if (entry != std::string::npos) entries.emplace_back(word(p + entry + 6), part);
    else (body ? functions : declared) += part + "\n";
    if (!end) break;
    p = end + 1;
  }
  auto arrays = sharedArrays(declared);
  for (auto& [name, body] : entries) {
    Limits l = readLimits(body, functions, arrays);
    if (l.shared > 48 << 10) {
      char said[200];
      std::snprintf(said, sizeof said, "ptxas error   : Entry function '%s' uses too much shared data (0x%x bytes, 0xc000 max)", name.c_str(), l.shared);
      *log = said;
      return invalidPtx;
    }
    m->names[name] = l;
  }
  return ok;
}

// loadLibrary takes an image that NVRTC's stand-in made. It binds to this library first, were another emulator loaded before. It
// stays loaded: the program may ask for the module again.
static int loadLibrary(const void* image, size_t n, Module* m, std::string* log) {
  int fd = memfd_create("halftone-emulated-module", MFD_CLOEXEC);
  if (fd < 0 || write(fd, image, n) != static_cast<ssize_t>(n)) return invalidImage;
  std::string path = "/proc/self/fd/" + std::to_string(fd);
  void* h = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
  if (!h) {
    *log = dlerror();
    return invalidImage;
  }
  auto* table = static_cast<Table*>(dlsym(h, "halftoneEmulatedTable"));
  if (!table) {
    *log = "a shared library that is no module of the emulator's";
    return invalidImage;
  }
  m->table = table;
  Symbols symbols(static_cast<const char*>(image));
  int shared = table->count == 1 ? symbols.shared : 0;  // of several it is not known whose is which
  for (size_t i = 0; i < table->count; i++) {
    const Kernel& k = table->kernels[i];
    m->linked[symbols.linked(k.name)] = &k;
    m->names[symbols.linked(k.name)] = Limits{k.threads ? k.threads : 1024, shared};
  }
  return ok;
}

static void writeLog(const std::string& log, unsigned n, const int* options, void** values) {
  for (int buffer : {3, 5}) {  // info and error log; their sizes are the options that follow
    char* to = nullptr;
    size_t size = 0;
    for (unsigned i = 0; i < n; i++) {
      if (options[i] == buffer) to = static_cast<char*>(values[i]);
      if (options[i] == buffer + 1) size = reinterpret_cast<uintptr_t>(values[i]);
    }
    if (to && size) std::snprintf(to, size, "%s", buffer == 5 ? log.c_str() : "");
  }
}

static Module* find(Call& c, void* handle) {
  auto* m = static_cast<Module*>(handle);
  if (c && !c.core.modules.count(m)) c.code = invalidHandle;
  return m;
}

static Function* findFunction(Call& c, void* handle) {
  auto* f = static_cast<Function*>(handle);
  if (!c) return nullptr;
  if (c.core.functions.count(f)) return f;
  c.code = invalidHandle;
  return nullptr;
}

}  // namespace emu

using namespace emu;

EMU_API int cuModuleLoadDataEx(void** module, const void* image, unsigned n, const int* options, void** values) {
  Call c(1, "module");
  if (!c || !c.waits()) return c.code;
  if (!image) return invalidValue;
  auto m = std::make_unique<Module>();
  m->context = c.context;
  std::string log;
  const char* text = static_cast<const char*>(image);
  int code;
  if (!std::memcmp(text, "\177ELF", 4)) {
    // The length is what the file's own header says: the table of its sections comes last.
    uint64_t at;
    uint16_t size, count;
    std::memcpy(&at, text + 40, 8);
    std::memcpy(&size, text + 58, 2);
    std::memcpy(&count, text + 60, 2);
    code = loadLibrary(image, at + uint64_t(size) * count, m.get(), &log);
  } else if (!std::memcmp(text, "\x50\xed\x55\xba", 4)) {
    code = noBinary;
    log = "the emulator runs no fat binaries";
  } else {
    code = readPtx(text, c.core.config, m.get(), &log);
  }
  writeLog(log, n, options, values);
  if (code) return code;
  *module = m.get();
  c.core.modules.insert(m.release());
  return ok;
}
EMU_API int cuModuleLoadData(void** module, const void* image) { return cuModuleLoadDataEx(module, image, 0, nullptr, nullptr); }

EMU_API int cuModuleUnload(void* module) {
  Call c(1);
  Module* m = find(c, module);
  if (!c || !c.waits()) return c.code;
  int code = c.core.finishAll(c.lock);
  c.core.modules.erase(m);
  for (auto& [name, f] : m->functions) c.core.functions.erase(f.get());
  delete m;
  return code;
}

EMU_API int cuModuleGetFunction(void** function, void* module, const char* name) {
  Call c(1);
  Module* m = find(c, module);
  if (!c) return c.code;
  if (!m->names.count(name)) return notFound;
  const Kernel* k = m->table ? m->linked[name] : findKernel(ownTables(), name);
  if (!k) {
    c.core.say(std::string("the module has a kernel ") + name + ", but the emulator was not built with it");
    return notFound;
  }
  auto& f = m->functions[name];
  if (!f) {
    f = std::make_unique<Function>();
    f->module = m;
    f->kernel = k;
    f->limits = m->names[name];
    f->dynamicShared = (48 << 10) - f->limits.shared;
    c.core.functions.insert(f.get());
  }
  *function = f.get();
  return ok;
}

// Kernels have no variables of their own here: __constant__ is compiled into them.
EMU_API int cuModuleGetGlobal_v2(uint64_t*, size_t*, void* module, const char*) {
  Call c(1);
  find(c, module);
  return c.code ? c.code : int(notFound);
}

EMU_API int cuFuncGetAttribute(int* value, int a, void* function) {
  Call c(1);
  Function* f = findFunction(c, function);
  if (!c) return c.code;
  switch (a) {
    case 0: *value = static_cast<int>(f->limits.threads); return ok;
    case 1: *value = f->limits.shared; return ok;
    case 4: *value = 32; return ok;  // registers: any number
    case 5: case 6: *value = c.core.config.capability; return ok;
    case 8: *value = f->dynamicShared; return ok;
    case 2: case 3: case 7: case 9: *value = 0; return ok;
    default: return invalidValue;
  }
}

EMU_API int cuFuncGetParamInfo(void* function, size_t i, size_t* offset, size_t* size) {
  Call c(1);
  Function* f = findFunction(c, function);
  if (!c) return c.code;
  if (i >= f->kernel->count) return invalidValue;
  // A parameter lies at a multiple of its alignment, which is not known here: that of its size up to 16.
  size_t at = 0;
  for (size_t k = 0;; k++) {
    size_t bytes = f->kernel->sizes[k], align = 1;
    while (align < 16 && bytes % (2 * align) == 0) align *= 2;
    at = (at + align - 1) / align * align;
    if (k == i) break;
    at += bytes;
  }
  *offset = at;
  if (size) *size = f->kernel->sizes[i];
  return ok;
}

EMU_API int cuFuncSetAttribute(void* function, int a, int value) {
  Call c(1);
  Function* f = findFunction(c, function);
  if (!c) return c.code;
  if (a == 9) return ok;  // how to divide L1
  if (a != 8) return invalidValue;
  if (value < 0 || value > optinShared(c.core.config.capability) - f->limits.shared) return invalidValue;
  f->dynamicShared = value;
  return ok;
}

EMU_API int cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, void* function, int size, size_t shared) {
  Call c(1);
  Function* f = findFunction(c, function);
  if (!c) return c.code;
  if (size <= 0 || size > 1024) return invalidValue;
  int n = 2048 / size < 32 ? 2048 / size : 32;
  size_t block = shared + static_cast<size_t>(f->limits.shared);
  if (block) n = std::min(n, static_cast<int>((static_cast<size_t>(optinShared(c.core.config.capability)) + 1024) / (block + 1024)));
  *blocks = n;
  return ok;
}

EMU_API int cuLaunchKernel(void* function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared,
                           void* stream, void** params, void** extra) {
  Call c(1, "launch");
  Stream* s = c ? c.stream(stream) : nullptr;
  Function* f = findFunction(c, function);
  if (!c) return c.code;
  bool shape = gx && gy && gz && bx && by && bz && gx <= 0x7fffffff && gy <= 65535 && gz <= 65535 && bx <= 1024 && by <= 1024 && bz <= 64 &&
               uint64_t(bx) * by * bz <= 1024;
  if (!shape || extra || shared > static_cast<unsigned>(f->dynamicShared) || (f->kernel->count && !params)) {
    c.core.say(std::string("launch of ") + f->kernel->name + ": a grid of " + std::to_string(gx) + "×" + std::to_string(gy) + "×" + std::to_string(gz) +
               ", blocks of " + std::to_string(bx) + "×" + std::to_string(by) + "×" + std::to_string(bz) + " and " + std::to_string(shared) +
               " bytes of dynamic shared memory are not possible");
    return invalidValue;
  }
  if (bx * by * bz > f->limits.threads) {
    c.core.say(std::string("launch of ") + f->kernel->name + ": blocks of " + std::to_string(bx * by * bz) + " threads, and __launch_bounds__ allows " +
               std::to_string(f->limits.threads));
    return outOfResources;
  }
  auto op = std::make_shared<Op>();
  op->kind = Op::launch;
  op->name = f->kernel->name;
  op->kernel = f->kernel;
  op->grid = dim3(gx, gy, gz);
  op->block = dim3(bx, by, bz);
  op->sharedBytes = shared;
  // Parameters are copied here; each begins at a multiple of 16 bytes.
  size_t words = 0;
  for (unsigned i = 0; i < f->kernel->count; i++) words += (f->kernel->sizes[i] + 15) / 16 * 2;
  op->words.resize(words + 2);
  auto base = (reinterpret_cast<uintptr_t>(op->words.data()) + 15) & ~uintptr_t(15);
  for (unsigned i = 0; i < f->kernel->count; i++) {
    auto* to = reinterpret_cast<void*>(base);
    std::memcpy(to, params[i], f->kernel->sizes[i]);
    op->params.push_back(to);
    base += (f->kernel->sizes[i] + 15) / 16 * 16;
  }
  return c.core.add(c.lock, s, op);
}
