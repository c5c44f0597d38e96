// core.h: the device behind the driver API: contexts, streams, the operations queued on them, and who runs them.
//
// Nothing runs when it is queued. It runs when the host waits for it, and then only what is waited for must run, in any order
// that the streams and events allow; which one is drawn by a seed. So what the host or another stream uses without having
// waited for it is not there, and a test sees it.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "block.h"
#include "config.h"
#include "kernel.h"
#include "memory.h"

namespace emu {

struct Stream;
struct Event;
struct Op;
struct Graph;
using OpPtr = std::shared_ptr<Op>;

// Op is one operation on a stream, or one node of a graph.
struct Op {
  enum Kind { launch, copy, fill, release, call, mark } kind = mark;
  // The order: before must be done first.
  std::vector<OpPtr> before;
  std::vector<std::weak_ptr<Op>> after;
  int missing = 0, asked = 0;
  bool done = false, wanted = false;
  std::string name;

  // launch
  const Kernel* kernel = nullptr;
  dim3 grid, block;
  unsigned sharedBytes = 0;
  std::vector<uint64_t> words;  // copies of the parameters
  std::vector<void*> params;    // into words

  // copy: a host pointer is used where the address is 0
  uint64_t dst = 0, src = 0, bytes = 0;
  void* hostDst = nullptr;
  const void* hostSrc = nullptr;
  std::vector<char> staged;
  // fill: bytes/width values
  uint32_t value = 0;
  int width = 1;
  // release: the allocation at dst
  // mark: when it was done, in nanoseconds
  int64_t when = 0;
  // call: anything else, such as a matrix product of cuBLAS
  std::function<bool(std::string*)> run;

  int node = -1;  // of a graph under capture
};

struct Context {
  int device = 0, retained = 0;
  std::vector<Stream*> streams;
};

struct Stream {
  Context* context = nullptr;
  bool blocking = false;  // takes part in the legacy default stream's order
  bool isDefault = false;
  OpPtr last;
  // Capture: the graph, and the nodes that the next one follows. thread: who began it; 0 for a stream that joined.
  std::shared_ptr<Graph> capture;
  bool origin = false, broken = false;
  std::thread::id thread;
  std::vector<int> front;
};

struct Event {
  Context* context = nullptr;
  bool timing = true, recorded = false;
  OpPtr op;
  std::shared_ptr<Graph> capture;  // recorded under capture: nodes of this graph
  std::vector<int> nodes;
};

struct Graph {
  std::vector<OpPtr> nodes;
  std::vector<std::vector<int>> needs;       // of each node
  std::vector<uint64_t> allocations;         // made under capture, returned with the graph
  std::unordered_set<Stream*> streams;       // that are captured into it
  ~Graph();
};

// Limits are what a kernel's image says about its launches.
struct Limits {
  unsigned threads = 1024;  // of a block, from __launch_bounds__: .maxntid
  int shared = 0;           // bytes of static shared memory
};

struct Module {
  Context* context = nullptr;
  std::unordered_map<std::string, Limits> names;  // of the kernels in its image
  std::unordered_map<std::string, std::unique_ptr<struct Function>> functions;
  std::unordered_map<std::string, const Kernel*> linked;  // those of table by the names that the linker knows
  const Table* table = nullptr;  // kernels of a library that NVRTC's stand-in made; null for those of this library
  std::string globals;
};

struct Function {
  Module* module = nullptr;
  const Kernel* kernel = nullptr;
  Limits limits;
  int dynamicShared = 0;  // that a launch may ask for; at first what static shared memory leaves of 48 KB
};

// Core holds everything; its mutex guards all but what a running kernel does.
class Core {
 public:
  static Core& get();

  std::mutex mutex;
  Config config;
  Memory memory;
  std::vector<std::unique_ptr<Context>> contexts;  // primary, one per device
  std::vector<std::unique_ptr<Pool>> pools;        // the first ones are the devices' defaults
  std::unordered_set<Stream*> streams;             // that exist; handles are checked against these
  std::unordered_set<Event*> events;
  std::unordered_set<Module*> modules;
  std::unordered_set<struct Function*> functions;  // of all modules
  std::unordered_map<void*, size_t> hostBlocks;    // page-locked
  bool ready = false;
  int lost = 0;  // the error that every call returns since a kernel or the device failed

  bool init();
  // add queues an operation on a stream, or makes it a node of the graph that is captured there. It returns a CUresult.
  int add(std::unique_lock<std::mutex>& lock, Stream* s, OpPtr op);
  static void follow(const OpPtr& op, const OpPtr& earlier);
  void queue(const OpPtr& op);  // when all it follows is known
  // finish runs until the operation is done. It returns the error of the context, if one has come up.
  int finish(std::unique_lock<std::mutex>& lock, const OpPtr& op);
  int finishAll(std::unique_lock<std::mutex>& lock);
  int finishStream(std::unique_lock<std::mutex>& lock, Stream* s) { return finish(lock, s->last); }
  // nudge runs a little, for those who ask again and again whether something is done.
  void nudge(std::unique_lock<std::mutex>& lock, const OpPtr& op);
  void fail(int code, const std::string& text);
  void say(const std::string& text);  // to the report, and to stderr
  void reset(int device);             // the context ends: what is left is a leak
  bool pageLocked(const void* p, size_t n) const;
  Stream* defaultStream(int device) { return defaults_[static_cast<size_t>(device)].get(); }
  std::vector<std::string> report;
  uint64_t launches = 0;   // queued ones are numbered
  uint64_t pending = 0;    // operations that are not done

 private:
  void deviceThread();
  void want(const OpPtr& op);
  OpPtr choose();
  void perform(std::unique_lock<std::mutex>& lock, const OpPtr& op);
  std::string checkParams(const Op& op) const;
  void complete(const OpPtr& op);
  uint64_t random(uint64_t n);

  std::vector<std::unique_ptr<Stream>> defaults_;
  std::vector<OpPtr> runnable_;  // whose order allows them to run now
  std::vector<OpPtr> targets_;   // that somebody waits for
  std::condition_variable work_, finished_;
  uint64_t random_ = 0;
  bool started_ = false;
};

// runBlocks runs all blocks of a launch, on several threads where that helps.
bool runBlocks(const Work& work, int threads, Fault* fault);

}  // namespace emu
