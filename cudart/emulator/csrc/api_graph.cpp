// api_graph.cpp: capture of streams, graphs and their launches.
#include <algorithm>

#include "api.h"

namespace emu {

__thread int captureMode = 0;  // of this thread: 0 global, 1 thread-local, 2 relaxed

// A capture that refuses calls which wait: its origin's stream and mode.
struct Capture {
  Stream* origin;
  int mode;
  std::thread::id thread;
};
static std::vector<Capture> captures;

struct Exec {
  std::shared_ptr<Graph> graph;
};

bool Call::waits() {
  if (!*this || captureMode == 2) return code == 0;
  for (auto& cap : captures) {
    if (cap.mode == 2 || (cap.mode == 1 && cap.thread != std::this_thread::get_id())) continue;
    cap.origin->broken = true;
    code = captureUnsupported;
  }
  return code == 0;
}

// endAll takes all streams out of a capture.
static void endAll(Graph& g) {
  for (Stream* s : g.streams) {
    s->front.clear();
    s->origin = s->broken = false;
    if (s->capture.get() == &g) s->capture = nullptr;
  }
  g.streams.clear();
}

// joined tells whether every node leads to the nodes of front.
static bool joined(const Graph& g, const std::vector<int>& front) {
  std::vector<bool> seen(g.nodes.size());
  std::vector<int> stack = front;
  size_t n = 0;
  while (!stack.empty()) {
    auto i = static_cast<size_t>(stack.back());
    stack.pop_back();
    if (seen[i]) continue;
    seen[i] = true;
    n++;
    stack.insert(stack.end(), g.needs[i].begin(), g.needs[i].end());
  }
  return n == g.nodes.size();
}

}  // namespace emu

using namespace emu;

EMU_API int cuThreadExchangeStreamCaptureMode(int* mode) {
  if (*mode < 0 || *mode > 2) return invalidValue;
  std::swap(*mode, captureMode);
  return ok;
}

EMU_API int cuStreamBeginCapture_v2(void* stream, int mode) {
  Call c(1);
  Stream* s = c ? c.stream(stream) : nullptr;
  if (!c) return c.code;
  if (s->isDefault) return captureUnsupported;
  if (s->capture) return illegalState;
  s->capture = std::make_shared<Graph>();
  s->capture->streams.insert(s);
  s->origin = true;
  s->broken = false;
  s->front.clear();
  s->thread = std::this_thread::get_id();
  captures.push_back({s, mode, s->thread});
  return ok;
}

EMU_API int cuStreamEndCapture(void* stream, void** graph) {
  Call c(1);
  Stream* s = c ? c.stream(stream) : nullptr;
  if (!c) return c.code;
  *graph = nullptr;
  if (!s->capture) return illegalState;
  if (!s->origin) return captureUnmatched;
  auto cap = std::find_if(captures.begin(), captures.end(), [&](const Capture& x) { return x.origin == s; });
  if (cap->mode != 2 && s->thread != std::this_thread::get_id()) return captureWrongThread;
  captures.erase(cap);
  std::shared_ptr<Graph> g = s->capture;
  bool broken = s->broken;
  for (Stream* other : g->streams) broken = broken || other->broken;
  bool whole = joined(*g, s->front);
  endAll(*g);
  if (broken) return captureInvalidated;
  if (!whole) return captureUnjoined;
  *graph = new std::shared_ptr<Graph>(g);
  return ok;
}

EMU_API int cuStreamIsCapturing(void* stream, int* status) {
  Call c(1);
  Stream* s = c ? c.stream(stream) : nullptr;
  if (c) *status = !s->capture ? 0 : s->broken ? 2 : 1;
  return c.code;
}

EMU_API int cuGraphGetNodes(void* graph, void** nodes, size_t* n) {
  Call c(1);
  if (!c) return c.code;
  auto& g = **static_cast<std::shared_ptr<Graph>*>(graph);
  if (nodes)
    for (size_t i = 0; i < *n && i < g.nodes.size(); i++) nodes[i] = g.nodes[i].get();
  *n = g.nodes.size();
  return ok;
}

EMU_API int cuGraphInstantiateWithFlags(void** exec, void* graph, unsigned long long) {
  Call c(1);
  if (!c) return c.code;
  *exec = new Exec{*static_cast<std::shared_ptr<Graph>*>(graph)};
  return ok;
}

EMU_API int cuGraphLaunch(void* exec, void* stream) {
  Call c(1, "launch");
  Stream* s = c ? c.stream(stream) : nullptr;
  if (!c) return c.code;
  if (s->capture) return notSupported;  // graphs within graphs
  // A mark before and one behind hold the nodes' copies together, in the stream's order.
  auto begin = std::make_shared<Op>(), end = std::make_shared<Op>();
  begin->name = end->name = "graph";
  if (int code = c.core.add(c.lock, s, begin)) return code;
  Graph& g = *static_cast<Exec*>(exec)->graph;
  std::vector<OpPtr> ops;
  for (size_t i = 0; i < g.nodes.size(); i++) {
    const Op& node = *g.nodes[i];
    auto op = std::make_shared<Op>();
    op->kind = node.kind, op->name = node.name, op->kernel = node.kernel, op->grid = node.grid, op->block = node.block;
    op->sharedBytes = node.sharedBytes;
    op->words = node.words;
    for (void* p : node.params) {  // at the same places in the copy
      auto off = static_cast<char*>(p) - reinterpret_cast<const char*>(node.words.data());
      op->params.push_back(reinterpret_cast<char*>(op->words.data()) + off);
    }
    op->dst = node.dst, op->src = node.src, op->bytes = node.bytes, op->hostDst = node.hostDst, op->hostSrc = node.hostSrc;
    op->value = node.value, op->width = node.width, op->run = node.run;
    Core::follow(op, begin);
    for (int n : g.needs[i]) Core::follow(op, ops[static_cast<size_t>(n)]);
    ops.push_back(op);
    c.core.queue(op);
  }
  for (auto& op : ops) Core::follow(end, op);
  return c.core.add(c.lock, s, end);
}

EMU_API int cuGraphExecDestroy(void* exec) {
  Call c(1);
  if (!c) return c.code;
  c.core.finishAll(c.lock);
  delete static_cast<Exec*>(exec);
  return ok;
}

EMU_API int cuGraphDestroy(void* graph) {
  Call c(1);
  if (!c) return c.code;
  delete static_cast<std::shared_ptr<Graph>*>(graph);
  return ok;
}
