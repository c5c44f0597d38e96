// A driver library for this package's own tests: the functions of libcuda, on host memory, each call done when it returns, with
// the kernels of drivertest written out as loops. What it checks it checks as the driver does: contexts are per thread, handles
// and addresses must be known, captured work runs at replay only, a failed kernel is the end.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

typedef uint64_t u64;
static const u64 kMemory = 512ull << 20;
static std::recursive_mutex mu;
static std::map<u64, u64> blocks, hosts, mapped;  // address -> bytes
static u64 used, high, threshold;
static std::map<u64, int> files;
static bool lost;
static thread_local void* current;
static thread_local int mode;  // 0 global, 1 thread-local, 2 relaxed
typedef std::vector<std::function<int()>> Graph;
struct Stream { Graph* capture = nullptr; void* owner = nullptr; bool bad = false; };
static std::set<Stream*> streams;
static thread_local Stream* capturing;  // what this thread captures
static thread_local char me;            // its address names the thread
struct Function { std::string name; int dynamicShared = 48 << 10; };

enum { OK = 0, INVALID = 1, NOMEM = 2, BADCTX = 201, BADIMAGE = 218, BADHANDLE = 400, ILLEGAL = 401, NOTFOUND = 500, LAUNCHFAIL = 719, CAPTURE = 900,
       INVALIDATED = 901, UNMATCHED = 903, WRONGTHREAD = 908 };

#define LOCK std::lock_guard<std::recursive_mutex> lock(mu)
#define CTX LOCK; if (!current) return BADCTX; if (lost) return LAUNCHFAIL
// Calls that are refused, and end the capture, while this thread captures.
#define UNSAFE CTX; if (capturing && mode != 2) { capturing->bad = true; return CAPTURE; }

static bool inside(const std::map<u64, u64>& m, u64 p, u64 n) {
  auto it = m.upper_bound(p);
  if (it == m.begin()) return false;
  --it;
  return p + n <= it->first + it->second;
}
static bool device(u64 p, u64 n) { return inside(blocks, p, n) || inside(mapped, p, n); }
// Runs f now, or at replay.
static int queue(void* s, std::function<int()> f) {
  Stream* st = (Stream*)s;
  if (st && !streams.count(st)) return BADHANDLE;
  if (st && st->capture) { st->capture->push_back(f); return OK; }
  if (!st && capturing) { capturing->bad = true; return 906; }
  return f();
}

extern "C" {
// As the driver does, it has a thread of its own, which the signals of the process can meet. cuThread returns its number.
static pid_t thread;
static void* idle(void*) { thread = gettid(); for (;;) pause(); }
int cuThread() { while (!*(volatile pid_t*)&thread) usleep(1000); return thread; }
int cuInit(unsigned) {
  static pthread_t t;
  if (!t) pthread_create(&t, nullptr, idle, nullptr);
  return getenv("FAKE_CUINIT") ? atoi(getenv("FAKE_CUINIT")) : OK;
}
int cuDriverGetVersion(int* v) { *v = 13000; return OK; }
int cuGetErrorName(int e, const char** s) {
  static std::map<int, const char*> names = {{INVALID, "CUDA_ERROR_INVALID_VALUE"}, {NOMEM, "CUDA_ERROR_OUT_OF_MEMORY"}, {34, "CUDA_ERROR_STUB_LIBRARY"},
      {100, "CUDA_ERROR_NO_DEVICE"}, {101, "CUDA_ERROR_INVALID_DEVICE"}, {BADCTX, "CUDA_ERROR_INVALID_CONTEXT"}, {BADIMAGE, "CUDA_ERROR_INVALID_PTX"},
      {BADHANDLE, "CUDA_ERROR_INVALID_HANDLE"}, {ILLEGAL, "CUDA_ERROR_ILLEGAL_STATE"}, {NOTFOUND, "CUDA_ERROR_NOT_FOUND"}, {600, "CUDA_ERROR_NOT_READY"},
      {LAUNCHFAIL, "CUDA_ERROR_LAUNCH_FAILED"}, {801, "CUDA_ERROR_NOT_SUPPORTED"}, {CAPTURE, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED"},
      {INVALIDATED, "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED"}, {UNMATCHED, "CUDA_ERROR_STREAM_CAPTURE_UNMATCHED"}, {906, "CUDA_ERROR_STREAM_CAPTURE_IMPLICIT"},
      {WRONGTHREAD, "CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD"}};
  if (!names.count(e)) return INVALID;
  *s = names[e];
  return OK;
}
int cuGetErrorString(int e, const char** s) { return cuGetErrorName(e, s); }
int cuDeviceGetCount(int* n) { *n = 1; return OK; }
int cuDeviceGet(int* d, int i) { *d = i; return i ? 101 : OK; }
int cuDeviceGetName(char* s, int n, int) { snprintf(s, n, "fake device (emulated)"); return OK; }
int cuDeviceGetUuid(char* u, int) { memset(u, 7, 16); return OK; }
int cuDeviceTotalMem_v2(size_t* n, int) { *n = kMemory; return OK; }
int cuDeviceGetAttribute(int* v, int a, int) {
  static std::map<int, int> values = {{1, 1024}, {8, 48 << 10}, {10, 32}, {13, 1000000}, {16, 4}, {36, 1000000}, {37, 64}, {38, 1 << 20}, {39, 2048},
      {75, 8}, {76, 0}, {81, 100 << 10}, {82, 65536}, {97, 99 << 10}, {102, 1}, {103, 1}, {115, 1}};
  *v = values.count(a) ? values[a] : 0;
  return OK;
}
int cuDevicePrimaryCtxRetain(void** c, int) { static char ctx; *c = &ctx; return OK; }
int cuDevicePrimaryCtxRelease_v2(int) { return OK; }
int cuCtxSetCurrent(void* c) { current = c; return OK; }
int cuCtxSynchronize() { UNSAFE; return OK; }

int cuMemGetInfo_v2(size_t* f, size_t* t) { CTX; *f = kMemory - used; *t = kMemory; return OK; }
static int take(u64* p, u64 n) {
  if (!n) return INVALID;
  if (used + n > kMemory) return NOMEM;
  if (n >= 1 << 20) {  // other processes can map it
    int fd = memfd_create("fake", 0);
    if (ftruncate(fd, n)) return NOMEM;
    *p = (u64)mmap(0, n, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    files[*p] = fd;
  } else {
    *p = (u64)aligned_alloc(512, (n + 511) & ~511ull);
  }
  memset((void*)*p, 0xa5, n);
  blocks[*p] = n;
  used += n;
  if (used > high) high = used;
  return OK;
}
static int give(u64 p) {
  if (!blocks.count(p)) return INVALID;
  if (files.count(p)) {
    munmap((void*)p, blocks[p]);
    close(files[p]);
    files.erase(p);
  } else {
    free((void*)p);
  }
  used -= blocks[p];
  blocks.erase(p);
  return OK;
}
int cuMemAlloc_v2(u64* p, size_t n) { UNSAFE; return take(p, n); }
int cuMemFree_v2(u64 p) { UNSAFE; return give(p); }
int cuMemAllocAsync(u64* p, size_t n, void*) { CTX; return take(p, n); }
int cuMemFreeAsync(u64 p, void* s) { CTX; if (!blocks.count(p)) return INVALID; return queue(s, [=] { return give(p); }); }
int cuMemAllocFromPoolAsync(u64* p, size_t n, void*, void*) { CTX; return take(p, n); }
int cuDeviceGetDefaultMemPool(void** p, int) { *p = (void*)&blocks; return OK; }
int cuMemPoolCreate(void** p, const void* props) {
  const int* w = (const int*)props;
  if (w[0] != 1 || w[2] != 1 || w[3] != 0) return INVALID;
  *p = (void*)&blocks;
  return OK;
}
int cuMemPoolDestroy(void*) { return OK; }
int cuMemPoolSetAttribute(void*, int a, u64* v) { if (a != 4) return INVALID; threshold = *v; return OK; }
int cuMemPoolGetAttribute(void*, int a, u64* v) {
  u64 values[] = {threshold, used, high, used, high};
  if (a < 4 || a > 8) return INVALID;
  *v = values[a - 4];
  return OK;
}
int cuMemPoolTrimTo(void*, size_t) { return OK; }
int cuMemHostAlloc(void** p, size_t n, unsigned flags) { UNSAFE; if (flags != 1) return INVALID; *p = aligned_alloc(4096, (n + 4095) & ~4095ull); hosts[(u64)*p] = n; return OK; }
int cuMemFreeHost(void* p) { UNSAFE; if (!hosts.erase((u64)p)) return INVALID; free(p); return OK; }

int cuMemcpyHtoD_v2(u64 d, const void* s, size_t n) { UNSAFE; if (!device(d, n)) return INVALID; memcpy((void*)d, s, n); return OK; }
int cuMemcpyDtoH_v2(void* d, u64 s, size_t n) { UNSAFE; if (!device(s, n)) return INVALID; memcpy(d, (void*)s, n); return OK; }
int cuMemcpyHtoDAsync_v2(u64 d, const void* s, size_t n, void* st) { CTX; if (!device(d, n)) return INVALID; return queue(st, [=] { memcpy((void*)d, s, n); return OK; }); }
int cuMemcpyDtoHAsync_v2(void* d, u64 s, size_t n, void* st) { CTX; if (!device(s, n)) return INVALID; return queue(st, [=] { memcpy(d, (void*)s, n); return OK; }); }
int cuMemcpyDtoDAsync_v2(u64 d, u64 s, size_t n, void* st) { CTX; if (!device(d, n) || !device(s, n)) return INVALID; return queue(st, [=] { memcpy((void*)d, (void*)s, n); return OK; }); }
int cuMemsetD8Async(u64 d, uint8_t v, size_t n, void* s) { CTX; if (!device(d, n)) return INVALID; return queue(s, [=] { memset((void*)d, v, n); return OK; }); }
int cuMemsetD16Async(u64 d, uint16_t v, size_t n, void* s) { CTX; if (d % 2 || !device(d, 2 * n)) return INVALID; return queue(s, [=] { for (size_t i = 0; i < n; i++) ((uint16_t*)d)[i] = v; return OK; }); }
int cuMemsetD32Async(u64 d, uint32_t v, size_t n, void* s) { CTX; if (d % 4 || !device(d, 4 * n)) return INVALID; return queue(s, [=] { for (size_t i = 0; i < n; i++) ((uint32_t*)d)[i] = v; return OK; }); }

int cuStreamCreate(Stream** s, unsigned flags) { CTX; if (flags != 1) return INVALID; *s = new Stream; streams.insert(*s); return OK; }
int cuStreamDestroy_v2(Stream* s) { CTX; if (!streams.erase(s)) return BADHANDLE; delete s; return OK; }
int cuStreamSynchronize(Stream* s) { CTX; if (s && !streams.count(s)) return BADHANDLE; if (capturing) { capturing->bad = true; return CAPTURE; } return OK; }
int cuStreamQuery(Stream* s) { CTX; if (s && !streams.count(s)) return BADHANDLE; if (s && s->capture) { s->bad = true; return CAPTURE; } return OK; }
struct Event { u64 ns; bool timing; Stream* captured; };
int cuEventCreate(Event** e, unsigned flags) { CTX; *e = new Event{0, flags == 0, nullptr}; return OK; }
int cuEventDestroy_v2(Event* e) { CTX; delete e; return OK; }
int cuEventRecord(Event* e, void* s) {
  CTX;
  e->captured = s && ((Stream*)s)->capture ? (Stream*)s : nullptr;
  return queue(s, [=] { timespec t; clock_gettime(CLOCK_MONOTONIC, &t); e->ns = t.tv_sec * 1000000000ull + t.tv_nsec; return OK; });
}
int cuEventSynchronize(Event*) { UNSAFE; return OK; }
int cuEventQuery(Event*) { UNSAFE; return OK; }
int cuEventElapsedTime(float* ms, Event* a, Event* b) { CTX; if (!a->timing || !b->timing || !a->ns || !b->ns) return BADHANDLE; *ms = (b->ns - a->ns) / 1e6; return OK; }
int cuStreamWaitEvent(Stream* s, Event* e, unsigned) {
  CTX;
  if (e->captured) s->capture = e->captured->capture;  // the stream joins the capture
  return queue(s, [] { return OK; });
}

int cuModuleLoadDataEx(void** m, const char* image, unsigned n, int* keys, void** values) {
  UNSAFE;
  if (strstr(image, ".entry")) { *m = (void*)1; return OK; }
  for (unsigned i = 0; i + 1 < n; i++)
    if (keys[i] == 5) snprintf((char*)values[i], (size_t)values[i + 1], "ptxas fatal   : nothing here is PTX; line 1");
  return BADIMAGE;
}
int cuModuleUnload(void*) { UNSAFE; return OK; }
static int run(const std::string& k, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared, std::vector<std::vector<char>> p);
static std::map<std::string, std::vector<size_t>> kernels = {{"drivertest_saxpy", {8, 8, 4, 8}}, {"drivertest_struct", {4, 56, 4}}, {"drivertest_index", {8}},
    {"drivertest_block_sum", {8, 8}}, {"drivertest_spin", {8, 8, 4}}, {"drivertest_step", {8, 4, 4}}, {"drivertest_step_from", {8, 8}}, {"drivertest_empty", {}},
    {"drivertest_trap", {4}}};
int cuModuleGetFunction(Function** f, void*, const char* name) { CTX; if (!kernels.count(name)) return NOTFOUND; *f = new Function{name}; return OK; }
int cuModuleGetGlobal_v2(u64*, size_t*, void*, const char*) { return NOTFOUND; }
int cuFuncGetAttribute(int* v, int a, Function* f) { static int values[] = {1024, 0, 0, 0, 16, 70, 80, 0}; *v = a == 8 ? f->dynamicShared : values[a]; return OK; }
int cuFuncSetAttribute(Function* f, int a, int v) { if (a != 8 || v > 99 << 10) return INVALID; f->dynamicShared = v; return OK; }
int cuFuncGetParamInfo(Function* f, size_t i, size_t* offset, size_t* size) {
  const auto& sizes = kernels[f->name];
  if (i >= sizes.size()) return INVALID;
  *offset = 0, *size = sizes[i];
  for (size_t k = 0; k < i; k++) *offset += sizes[k];
  return OK;
}
int cuOccupancyMaxActiveBlocksPerMultiprocessor(int* n, Function*, int threads, size_t) { *n = 2048 / threads; return OK; }
int cuLaunchKernel(Function* f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared, void* s, void** params, void**) {
  CTX;
  if (!f || !gx || !gy || !gz || !bx || !by || !bz || bx * by * bz > 1024 || shared > (unsigned)f->dynamicShared) return INVALID;
  std::vector<std::vector<char>> p;
  for (size_t i = 0; i < kernels[f->name].size(); i++) p.emplace_back((char*)params[i], (char*)params[i] + kernels[f->name][i]);
  std::string name = f->name;
  return queue(s, [=] { return run(name, gx, gy, gz, bx, by, bz, shared, p); });
}

int cuStreamBeginCapture_v2(Stream* s, int m) {
  CTX;
  if (!s) return CAPTURE;
  if (s->capture) return ILLEGAL;
  s->capture = new Graph;
  s->owner = &me;
  s->bad = false;
  capturing = s;
  mode = m;
  return OK;
}
int cuStreamEndCapture(Stream* s, Graph** g) {
  CTX;
  if (!s->capture) return ILLEGAL;
  if (s->owner != &me) return WRONGTHREAD;
  *g = s->bad ? nullptr : s->capture;
  Graph* over = s->capture;
  for (Stream* other : streams) if (other->capture == over) other->capture = nullptr;
  capturing = nullptr;
  return s->bad ? INVALIDATED : OK;
}
int cuStreamIsCapturing(Stream* s, int* v) { CTX; *v = s && s->capture ? (s->bad ? 2 : 1) : 0; return OK; }
int cuThreadExchangeStreamCaptureMode(int* m) { int was = mode; mode = *m; *m = was; return OK; }
int cuGraphGetNodes(Graph* g, void**, size_t* n) { *n = g->size(); return OK; }
int cuGraphInstantiateWithFlags(Graph** x, Graph* g, u64) { *x = new Graph(*g); return OK; }
int cuGraphLaunch(Graph* x, void* s) { CTX; for (auto& f : *x) if (int r = queue(s, f)) return r; return OK; }
int cuGraphDestroy(Graph* g) { delete g; return OK; }
int cuGraphExecDestroy(Graph* x) { delete x; return OK; }

int cuMemGetAllocationGranularity(size_t* g, const int* prop, int) { if (prop[0] != 1 || prop[1] != 1 || prop[2] != 1 || prop[3]) return INVALID; *g = 2 << 20; return OK; }
int cuMemCreate(u64* h, size_t n, const int* prop, u64) {
  CTX;
  if (n % (2 << 20) || prop[0] != 1 || prop[1] != 1) return INVALID;
  int fd = memfd_create("fake", 0);
  if (ftruncate(fd, n)) return NOMEM;
  *h = fd;
  return OK;
}
int cuMemRelease(u64 h) { close(h); return OK; }
int cuMemAddressReserve(u64* p, size_t n, size_t, u64, u64) { *p = (u64)mmap(0, n, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); return OK; }
int cuMemAddressFree(u64 p, size_t n) { return munmap((void*)p, n) ? INVALID : OK; }
int cuMemMap(u64 p, size_t n, size_t, u64 h, u64) {
  if (mmap((void*)p, n, PROT_NONE, MAP_SHARED | MAP_FIXED, h, 0) == MAP_FAILED) return INVALID;
  return OK;
}
int cuMemUnmap(u64 p, size_t n) { CTX; if (!mapped.erase(p)) return INVALID; mmap((void*)p, n, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0); return OK; }
int cuMemSetAccess(u64 p, size_t n, const int* access, size_t count) {
  if (access[0] != 1 || access[1] != 0 || access[2] != 3 || count != 1) return INVALID;
  LOCK;
  mapped[p] = n;
  return mprotect((void*)p, n, PROT_READ | PROT_WRITE) ? INVALID : OK;
}
int cuMemExportToShareableHandle(int* fd, u64 h, int type, u64) { if (type != 1) return INVALID; *fd = dup(h); return OK; }
int cuMemImportFromShareableHandle(u64* h, void* fd, int type) { if (type != 1) return INVALID; *h = dup((int)(intptr_t)fd); return OK; }
struct Ipc { char bytes[64]; };
struct IpcContent { pid_t pid; int fd; u64 n; };
int cuIpcGetMemHandle(Ipc* h, u64 p) {
  CTX;
  if (!files.count(p)) return INVALID;
  for (int i = 0; i < 64; i++) h->bytes[i] = i * 3 + 1;
  IpcContent c = {getpid(), files[p], blocks[p]};
  memcpy(h->bytes, &c, sizeof c);
  return OK;
}
int cuIpcOpenMemHandle_v2(u64* p, Ipc h, unsigned flags) {
  CTX;
  IpcContent c;
  memcpy(&c, h.bytes, sizeof c);
  for (size_t i = sizeof c; i < 64; i++) if (h.bytes[i] != (char)(i * 3 + 1)) return INVALID;
  if (flags != 1) return INVALID;
  int fd = open(("/proc/" + std::to_string(c.pid) + "/fd/" + std::to_string(c.fd)).c_str(), O_RDWR);
  if (fd < 0) return INVALID;
  *p = (u64)mmap(0, c.n, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  close(fd);
  mapped[*p] = c.n;
  return OK;
}
int cuIpcCloseMemHandle(u64 p) { CTX; return mapped.erase(p) ? OK : INVALID; }
}

template <class T> static T arg(const std::vector<char>& b) { T v; memcpy(&v, b.data(), sizeof v); return v; }
struct S { double* out; char tag; double scale[3]; short step; long long n; };
static int run(const std::string& k, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared, std::vector<std::vector<char>> p) {
  u64 blocksN = (u64)gx * gy * gz, threads = (u64)bx * by * bz, all = blocksN * threads;
  if (k == "drivertest_saxpy") {
    float *y = arg<float*>(p[0]), *x = arg<float*>(p[1]), a = arg<float>(p[2]);
    long long n = arg<long long>(p[3]);
    for (u64 i = 0; i < all && i < (u64)n; i++) y[i] = a * x[i] + y[i];
  } else if (k == "drivertest_struct") {
    S s = arg<S>(p[1]);
    for (u64 i = 0; i < all && i < (u64)s.n; i++) s.out[i] = arg<int>(p[0]) + arg<int>(p[2]) + s.tag + s.scale[i % 3] * s.step * (double)i;
  } else if (k == "drivertest_index") {
    for (u64 b = 0; b < blocksN; b++) for (u64 t = 0; t < threads; t++) arg<unsigned*>(p[0])[b * threads + t] = b * 1000 + t;
  } else if (k == "drivertest_block_sum") {
    if (shared < threads * sizeof(float)) return lost = true, LAUNCHFAIL;
    float *out = arg<float*>(p[0]), *in = arg<float*>(p[1]);
    for (u64 b = 0; b < blocksN; b++) {
      std::vector<float> part(in + b * threads, in + (b + 1) * threads);
      for (u64 n = threads / 2; n > 0; n /= 2) for (u64 t = 0; t < n; t++) part[t] += part[t + n];
      out[b] = part[0];
    }
  } else if (k == "drivertest_spin") {
    unsigned x = arg<unsigned>(p[2]);
    for (long long i = 0; i < arg<long long>(p[1]); i++) x = x * 1664525u + 1013904223u;
    *arg<unsigned*>(p[0]) = x;
  } else if (k == "drivertest_step") {
    unsigned* o = arg<unsigned*>(p[0]);
    *o = *o * arg<unsigned>(p[1]) + arg<unsigned>(p[2]);
  } else if (k == "drivertest_step_from") {
    unsigned *o = arg<unsigned*>(p[0]), *f = arg<unsigned*>(p[1]);
    *o = *o * f[0] + f[1];
  } else if (k == "drivertest_trap") {
    if (arg<int>(p[0])) { lost = true; return OK; }  // found by the next call, as on a device
  }
  return OK;
}

// The compiler: what holds "syntax error" is refused at that line, the rest becomes "image N of <options>\n<source>".
struct Program { std::string source, log, image; };
static int compiled;
extern "C" {
int nvrtcVersion(int* major, int* minor) { *major = 13; *minor = 0; return OK; }
int nvrtcGetNumSupportedArchs(int* n) { *n = 2; return OK; }
int nvrtcGetSupportedArchs(int* a) { a[0] = 80; a[1] = 90; return OK; }
int nvrtcCreateProgram(Program** p, const char* src, const char* name, int n, const char** headers, const char** names) {
  *p = new Program{src};
  for (int i = 0; i < n; i++) (*p)->source += std::string("// ") + names[i] + "\n" + headers[i];
  (*p)->log = name;
  return OK;
}
int nvrtcDestroyProgram(Program** p) { delete *p; *p = nullptr; return OK; }
int nvrtcCompileProgram(Program* p, int n, const char** options) {
  std::string name = p->log;
  p->log = "";
  p->image = "image " + std::to_string(++compiled) + " of";
  for (int i = 0; i < n; i++) {
    if (!strcmp(options[i], "--bogus")) { p->log = "nvrtc: error: unrecognized option --bogus found\n"; return 5; }
    p->image += std::string(" ") + options[i];
  }
  size_t at = p->source.find("syntax error");
  if (at != std::string::npos) {
    int line = 1;
    for (size_t i = 0; i < at; i++) line += p->source[i] == '\n';
    p->log = name + "(" + std::to_string(line) + "): error: expected a \";\"\n  syntax error\n  ^\n\n1 error detected in the compilation of \"" + name + "\".\n";
    return 6;
  }
  p->image += "\n" + p->source;
  return OK;
}
int nvrtcGetProgramLogSize(Program* p, size_t* n) { *n = p->log.size() + 1; return OK; }
int nvrtcGetProgramLog(Program* p, char* s) { strcpy(s, p->log.c_str()); return OK; }
int nvrtcGetPTXSize(Program* p, size_t* n) { *n = p->image.size(); return OK; }
int nvrtcGetPTX(Program* p, char* s) { memcpy(s, p->image.data(), p->image.size()); return OK; }
int nvrtcGetCUBINSize(Program* p, size_t* n) { return nvrtcGetPTXSize(p, n); }
int nvrtcGetCUBIN(Program* p, char* s) { return nvrtcGetPTX(p, s); }
}
