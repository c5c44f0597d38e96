// dnn.cpp: the part of cuDNN that Halftone uses: the descriptors of its backend. It refuses what NVIDIA's library refuses, with the same
// statuses (measured with 9.28.0: unknown attributes, wrong types and counts, changes after finalizing, shapes that are no convolution),
// and also what NVIDIA's documents call required and its library lets pass, or crashes at: attributes that were never set, descriptors of
// another kind, not finalized or destroyed.
#include "dnn.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <unordered_map>

#include "api.h"

namespace emu {

int64_t Value::integer(int64_t i) const {
  int64_t v = 0;
  const auto width = static_cast<int64_t>(bytes.size()) / std::max<int64_t>(count, 1);
  int32_t narrow = 0;
  if (width == 8) std::memcpy(&v, bytes.data() + 8 * i, 8);
  else if (width == 4) std::memcpy(&narrow, bytes.data() + 4 * i, 4), v = narrow;
  else v = bytes[static_cast<size_t>(i)];
  return v;
}

std::vector<int64_t> Value::integers() const {
  std::vector<int64_t> all;
  for (int64_t i = 0; i < count; i++) all.push_back(integer(i));
  return all;
}

void* Value::pointer(int64_t i) const {
  void* p = nullptr;
  std::memcpy(&p, bytes.data() + 8 * i, 8);
  return p;
}

namespace {

// Types of attributes.
enum : int { tHandle = 0, tDataType = 1, tBool = 2, tInt64 = 3, tFloat = 4, tPointer = 6, tConvMode = 7, tHeurMode = 8, tNote = 11, tPointwiseMode = 14, tDescriptor = 15 };

int widthOf(int type) {
  switch (type) {
    case tBool: return 1;
    case tHandle: case tInt64: case tPointer: case tDescriptor: return 8;
    default: return 4;
  }
}

constexpr int any = -1;  // of operations

// Rule is what an attribute may be: its type, how many elements, of which kind of descriptor.
struct Rule {
  int attribute, type, least, most;
  bool required;
  int child = any;
};

const std::map<int, std::vector<Rule>>& rules() {
  static const std::map<int, std::vector<Rule>> all = [] {
    std::map<int, std::vector<Rule>> r;
    r[kindTensor] = {{906, tInt64, 1, 1, true}, {901, tDataType, 1, 1, true}, {900, tInt64, 1, 1, true}, {902, tInt64, 1, 8, true}, {903, tInt64, 1, 8, true}, {907, tBool, 1, 1, false}};
    r[kindConvolution] = {{106, tInt64, 1, 1, true}, {100, tDataType, 1, 1, true}, {101, tConvMode, 1, 1, true}, {102, tInt64, 1, 3, true},
                          {103, tInt64, 1, 3, true}, {104, tInt64, 1, 3, true}, {105, tInt64, 1, 3, true}};
    for (auto [kind, first] : {std::pair{kindForward, 700}, {kindData, 706}, {kindFilter, 712}})
      r[kind] = {{first, tFloat, 1, 1, true}, {first + 1, tFloat, 1, 1, true}, {first + 2, tDescriptor, 1, 1, true, kindConvolution},
                 {first + 3, tDescriptor, 1, 1, true, kindTensor}, {first + 4, tDescriptor, 1, 1, true, kindTensor}, {first + 5, tDescriptor, 1, 1, true, kindTensor}};
    r[kindPointwise] = {{0, tPointwiseMode, 1, 1, true}, {1, tDataType, 1, 1, true}};
    r[kindPointwiseOp] = {{750, tDescriptor, 1, 1, true, kindPointwise}, {751, tDescriptor, 1, 1, true, kindTensor}, {752, tDescriptor, 1, 1, true, kindTensor}, {753, tDescriptor, 1, 1, true, kindTensor}};
    r[kindGraph] = {{800, tHandle, 1, 1, true}, {801, tDescriptor, 1, 16, true}};
    r[kindHeuristics] = {{200, tHeurMode, 1, 1, true}, {201, tDescriptor, 1, 1, true, kindGraph}};
    r[kindPlan] = {{400, tHandle, 1, 1, true}, {401, tDescriptor, 1, 1, true, kindConfig}};
    r[kindPack] = {{1000, tInt64, 1, 16, true}, {1001, tPointer, 1, 16, true}, {1003, tPointer, 1, 1, true}};
    r[kindEngine] = {};
    r[kindConfig] = {};
    return r;
  }();
  return all;
}

// Engines of the stand-in, in the order in which its heuristics name them. What a library must pass over comes first.
struct Engine {
  int number;
  std::vector<int32_t> notes;
  int64_t workspace;
  bool builds, fallback;
};
const std::vector<Engine>& engines() {
  static const std::vector<Engine> all = {
      {20, {2, 4}, 0, true, false},   // sums in half precision, in another order each time
      {45, {0}, 1 << 20, false, false},  // its plan does not build
      {62, {0}, 2304, true, false},   // tensor cores: float32 is rounded to TF32
      {1, {}, 512, true, true},
  };
  return all;
}

struct Handle {
  Context* context;
  void* stream;
};

struct Plan : Descriptor {
  Convolving work;
  std::vector<int64_t> ids;
};

// Living holds the descriptors there are; calls look them up, since a test may pass one that is gone.
std::mutex living;
std::unordered_map<const void*, std::unique_ptr<Descriptor>> descriptors;
thread_local std::string lastError;

int refuse(int code, const std::string& why) {
  lastError = why;
  return code;
}

Descriptor* find(const void* p) {
  std::lock_guard<std::mutex> lock(living);
  auto i = descriptors.find(p);
  return i == descriptors.end() ? nullptr : i->second.get();
}

bool isOperation(int kind) { return kind == kindForward || kind == kindData || kind == kindFilter || kind == kindPointwiseOp; }

// laid reads a tensor's descriptor.
bool laid(const Descriptor& d, Laid* t) {
  static const std::map<int64_t, int> types = {{0, real32}, {1, real64}, {2, real16}, {9, bfloat16}};
  auto dims = d.at(902).integers(), strides = d.at(903).integers();
  auto type = types.find(d.at(901).integer());
  if (type == types.end() || dims.size() < 3 || dims.size() > 5) return false;
  t->id = d.at(906).integer(), t->type = type->second, t->align = static_cast<uint64_t>(d.at(900).integer());
  const size_t skip = 5 - dims.size();  // spatial dimensions that are not there come first
  for (size_t i = 0; i < dims.size(); i++) {
    const size_t to = i < 2 ? i : i + skip;
    t->dims[to] = dims[i], t->strides[to] = strides[i];
  }
  return true;
}

int finalizeTensor(const Descriptor& d) {
  if (d.at(902).count != d.at(903).count) return refuse(dnnBadParam, "Tensor dimension count does not match stride count.");
  const int64_t align = d.at(900).integer(), type = d.at(901).integer(), size = type == 1 ? 8 : type == 0 ? 4 : 2;
  if (align <= 0 || align % size) return refuse(dnnBadParam, "Tensor pointer alignment must be positive and a multiple of element size.");
  Laid t;
  return laid(d, &t) ? dnnOk : refuse(dnnNotSupported, "the stand-in knows float types, and 3 to 5 dimensions");
}

int finalizeConvolution(const Descriptor& d) {
  const int64_t rank = d.at(106).integer();
  for (int a = 102; a <= 105; a++)
    if (d.at(a).count != rank) return refuse(dnnBadParam, "an array has not as many elements as there are spatial dimensions");
  return dnnOk;
}

// convolving reads an operation; it checks what NVIDIA's library checks.
int convolving(const Descriptor& op, Convolving* c) {
  const int first = op.kind == kindForward ? 700 : op.kind == kindData ? 706 : 712;
  const Descriptor& conv = *op.child(first + 2);
  c->kind = op.kind;
  if (!laid(*op.child(first + 3), &c->w) || !laid(*op.child(first + 4), &c->x) || !laid(*op.child(first + 5), &c->y)) return dnnNotSupported;
  const auto rank = conv.at(106).integer();
  for (int i = 3; i <= 5; i++)
    if (op.child(first + i)->at(902).count != rank + 2) return refuse(dnnBadParam, "nb_tensor_dims != wDesc.getNbDims()");
  int64_t after[3] = {0, 0, 0};
  for (int64_t i = 0; i < rank; i++) {
    const int64_t to = 3 - rank + i;
    c->dilation[to] = conv.at(102).integer(i), c->stride[to] = conv.at(103).integer(i);
    after[to] = conv.at(104).integer(i), c->before[to] = conv.at(105).integer(i);
  }
  const int64_t *x = c->x.dims, *w = c->w.dims, *y = c->y.dims;
  if (w[1] == 0 || x[1] == 0 || x[1] % w[1]) return refuse(dnnBadParam, "0 != xDimA[1] % wDimA[1]");
  if (w[0] % (x[1] / w[1])) return refuse(dnnBadParam, "0 != wDimA[0] % g");
  if (y[1] != w[0]) return refuse(dnnBadParam, "yDimA[CK_DIM] != wDimA[WK_DIM]");
  if (y[0] != x[0]) return refuse(dnnBadParam, "yDimA[N_DIM] != xDimA[N_DIM]");
  for (int d = 0; d < 3; d++) {
    const int64_t room = x[2 + d] + c->before[d] + after[d] - c->dilation[d] * (w[2 + d] - 1) - 1;
    if (c->stride[d] < 1 || room < 0 || room / c->stride[d] + 1 != y[2 + d]) return refuse(dnnBadParam, "is_valid_spatial_dim(…)");
  }
  return dnnOk;
}

// graphed reads a graph: one convolution, or one whose result lies in no memory and a bias is added to.
int graphed(const Descriptor& graph, Convolving* c) {
  const Value& ops = graph.at(801);
  const Descriptor *conv = nullptr, *add = nullptr;
  for (int64_t i = 0; i < ops.count; i++) {
    const Descriptor* op = find(ops.pointer(i));
    if (!op || !op->finalized || !isOperation(op->kind)) return refuse(dnnBadParam, "an element of the graph is no finalized operation");
    (op->kind == kindPointwiseOp ? add : conv) = op;
  }
  if (!conv || ops.count > 2 || (ops.count == 2 && !add)) return refuse(dnnNotSupported, "the stand-in has engines for a convolution, and for one with a bias");
  if (int code = convolving(*conv, c)) return code;
  const int first = conv->kind == kindForward ? 700 : conv->kind == kindData ? 706 : 712;
  const Descriptor* out = conv->child(first + (conv->kind == kindForward ? 5 : conv->kind == kindData ? 4 : 3));
  const bool isVirtual = out->has(907) && out->at(907).integer();
  if (!add) return isVirtual ? refuse(dnnBadParam, "the result lies in no memory") : dnnOk;
  Laid sum;
  c->biased = true;
  if (!laid(*add->child(751), &sum) || !laid(*add->child(752), &c->bias) || !laid(*add->child(753), &c->result)) return dnnNotSupported;
  if (add->child(750)->at(0).integer() != 0) return refuse(dnnNotSupported, "the stand-in adds only");
  if (!isVirtual || sum.id != out->at(906).integer()) return refuse(dnnBadParam, "the operations do not meet in a virtual tensor");
  for (int d = 0; d < 5; d++)
    if (sum.dims[d] != c->result.dims[d] || c->bias.dims[d] != (d == 1 ? sum.dims[d] : 1)) return refuse(dnnBadParam, "xPort.tensor.getNbDims() != bPort.tensor.getNbDims()");
  return dnnOk;
}

std::vector<int> named(const Descriptor& heuristics) {
  std::vector<int> list;
  const bool fallback = heuristics.at(200).integer() == 2;
  for (size_t i = 0; i < engines().size(); i++)
    if (!fallback || engines()[i].fallback) list.push_back(static_cast<int>(i));
  return list;
}

int finalizePlan(Plan* plan) {
  const Descriptor* config = plan->child(401);
  const Engine& e = engines()[static_cast<size_t>(config->engine)];
  const Descriptor* graph = find(config->at(-1).pointer());
  if (!graph) return refuse(dnnBadParam, "the graph of the engine is gone");
  if (int code = graphed(*graph, &plan->work)) return code;
  if (!e.builds) return refuse(dnnNotSupported, "the engine does not support this shape");
  Convolving& c = plan->work;
  c.workspaceBytes = static_cast<uint64_t>(e.workspace);
  c.disordered = e.number == 20;
  c.tf32 = e.number == 62 && c.x.type == real32 && c.w.type == real32;
  const Laid& computed = c.kind == kindForward ? c.y : c.kind == kindData ? c.x : c.w;
  for (const Laid* t : {&c.x, &c.w, &c.y})
    if (t != &computed || !c.biased) plan->ids.push_back(t->id);
  if (c.biased) plan->ids.push_back(c.bias.id), plan->ids.push_back(c.result.id);
  return dnnOk;
}

// bindTensors gives the tensors of a plan the addresses of a pack.
int bindTensors(const Plan& plan, const Descriptor& pack, Convolving* c) {
  const Value &ids = pack.at(1000), &pointers = pack.at(1001);
  for (int64_t id : plan.ids) {
    uint64_t address = 0;
    for (int64_t i = 0; i < ids.count; i++)
      if (ids.integer(i) == id) address = reinterpret_cast<uint64_t>(pointers.pointer(i));
    if (!address) return refuse(dnnBadParam, "tensor " + std::to_string(id) + " has no address");
    for (Laid* t : {&c->x, &c->w, &c->y, &c->bias, &c->result})
      if (t->id == id) {
        if (address % t->align) return refuse(dnnBadParam, "the address of tensor " + std::to_string(id) + " is not aligned as it was described");
        t->address = address;
      }
  }
  c->workspace = reinterpret_cast<uint64_t>(pack.at(1003).pointer());
  return dnnOk;
}

}  // namespace
}  // namespace emu

using namespace emu;

EMU_API size_t cudnnGetVersion() { return 90800; }

EMU_API const char* cudnnGetErrorString(int status) {
  switch (status) {
    case dnnOk: return "CUDNN_STATUS_SUCCESS";
    case dnnNotInitialized: return "CUDNN_STATUS_NOT_INITIALIZED";
    case dnnBadParam: return "CUDNN_STATUS_BAD_PARAM";
    case dnnBadType: return "CUDNN_STATUS_BAD_PARAM_ATTRIBUTE_TYPE";
    case dnnNotSupported: return "CUDNN_STATUS_NOT_SUPPORTED";
    case dnnExecutionFailed: return "CUDNN_STATUS_EXECUTION_FAILED";
    default: return "CUDNN_UNKNOWN_STATUS";
  }
}

EMU_API void cudnnGetLastErrorString(char* message, size_t size) {
  if (!size) return;
  std::strncpy(message, lastError.c_str(), size - 1);
  message[size - 1] = 0;
  lastError.clear();
}

EMU_API int cudnnCreate(void** handle) {
  Call c(1);
  if (!c) return refuse(dnnNotInitialized, "no context is bound to the thread");
  if (!c.waits()) return refuse(dnnNotInitialized, "cudaErrorStreamCaptureUnsupported");  // as NVIDIA's it allocates on the device
  *handle = new Handle{c.context, nullptr};
  return dnnOk;
}
EMU_API int cudnnDestroy(void* handle) {
  delete static_cast<Handle*>(handle);
  return dnnOk;
}
EMU_API int cudnnSetStream(void* handle, void* stream) {
  if (!handle) return refuse(dnnBadParam, "handle == nullptr");
  static_cast<Handle*>(handle)->stream = stream;
  return dnnOk;
}

EMU_API int cudnnBackendCreateDescriptor(int kind, void** out) {
  if (!rules().count(kind)) return refuse(dnnNotSupported, "the stand-in has no descriptor of kind " + std::to_string(kind));
  std::unique_ptr<Descriptor> d = kind == kindPlan ? std::make_unique<Plan>() : std::make_unique<Descriptor>();
  d->kind = kind;
  *out = d.get();
  std::lock_guard<std::mutex> lock(living);
  descriptors[*out] = std::move(d);
  return dnnOk;
}

EMU_API int cudnnBackendDestroyDescriptor(void* p) {
  std::lock_guard<std::mutex> lock(living);
  return descriptors.erase(p) ? dnnOk : refuse(dnnBadParam, "it is no descriptor, or was destroyed before");
}

EMU_API int cudnnBackendSetAttribute(void* p, int attribute, int type, int64_t count, const void* elements) {
  Descriptor* d = find(p);
  if (!d) return refuse(dnnBadParam, "nullptr == descriptor");
  if (d->finalized) return refuse(dnnBadParam, "the descriptor is finalized");
  for (const Rule& r : rules().at(d->kind)) {
    if (r.attribute != attribute) continue;
    if (type != r.type) return refuse(dnnBadType, "attribute " + std::to_string(attribute) + " has type " + std::to_string(r.type) + ", not " + std::to_string(type));
    if (count < r.least || count > r.most || !elements) return refuse(dnnBadParam, "attribute " + std::to_string(attribute) + " can't have " + std::to_string(count) + " elements");
    Value v;
    v.type = type, v.count = count;
    const auto* from = static_cast<const char*>(elements);
    v.bytes.assign(from, from + count * widthOf(type));
    if (type == tDescriptor) {
      for (int64_t i = 0; i < count; i++) {
        const Descriptor* child = find(v.pointer(i));
        if (!child || !child->finalized || (r.child != any && child->kind != r.child) || (r.child == any && !isOperation(child->kind)))
          return refuse(dnnBadParam, "attribute " + std::to_string(attribute) + " wants another descriptor, and a finalized one");
      }
    }
    if (type == tHandle && !v.pointer()) return refuse(dnnBadParam, "handle == nullptr");
    d->values[attribute] = std::move(v);
    return dnnOk;
  }
  return refuse(dnnBadParam, "descriptors of kind " + std::to_string(d->kind) + " have no attribute " + std::to_string(attribute));
}

EMU_API int cudnnBackendFinalize(void* p) {
  Descriptor* d = find(p);
  if (!d) return refuse(dnnBadParam, "nullptr == descriptor");
  if (d->finalized) return refuse(dnnBadParam, "isFinalized()");
  if (d->kind == kindEngine || d->kind == kindConfig) return refuse(dnnNotSupported, "the stand-in's heuristics make these");
  for (const Rule& r : rules().at(d->kind))
    if (r.required && !d->has(r.attribute)) return refuse(dnnBadParam, "attribute " + std::to_string(r.attribute) + " is required");
  int code = dnnOk;
  Convolving unused;
  switch (d->kind) {
    case kindTensor: code = finalizeTensor(*d); break;
    case kindConvolution: code = finalizeConvolution(*d); break;
    case kindForward: case kindData: case kindFilter: code = convolving(*d, &unused); break;
    case kindGraph: code = graphed(*d, &unused); break;
    case kindPlan: code = finalizePlan(static_cast<Plan*>(d)); break;
    case kindPack: code = d->at(1000).count == d->at(1001).count ? dnnOk : refuse(dnnBadParam, "ptrs_count != uids_count"); break;
    default: break;
  }
  d->finalized = code == dnnOk;
  return code;
}

// give copies elements to where GetAttribute wants them.
template <class T>
static int give(const std::vector<T>& v, int64_t room, int64_t* count, void* out) {
  *count = static_cast<int64_t>(v.size());
  if (out) std::memcpy(out, v.data(), sizeof(T) * static_cast<size_t>(std::min<int64_t>(room, *count)));
  return dnnOk;
}

EMU_API int cudnnBackendGetAttribute(void* p, int attribute, int type, int64_t room, int64_t* count, void* out) {
  Descriptor* d = find(p);
  if (!d || !d->finalized) return refuse(dnnBadParam, "the descriptor is not finalized");
  auto wants = [&](int t) { return type == t; };
  if (d->kind == kindHeuristics && attribute == 202 && wants(tDescriptor)) {
    const std::vector<int> list = named(*d);
    *count = static_cast<int64_t>(list.size());
    for (int64_t i = 0; out && i < std::min<int64_t>(room, *count); i++) {
      Descriptor* config = find(static_cast<void**>(out)[i]);
      if (!config || config->kind != kindConfig) return refuse(dnnBadParam, "results go into configurations that were created");
      config->engine = list[static_cast<size_t>(i)], config->finalized = true;
      config->values[-1] = d->at(201);
    }
    return dnnOk;
  }
  if (d->kind == kindConfig && attribute == 300 && wants(tDescriptor) && out) {
    Descriptor* engine = find(*static_cast<void**>(out));
    if (!engine || engine->kind != kindEngine) return refuse(dnnBadParam, "the result goes into an engine that was created");
    engine->engine = d->engine, engine->finalized = true, *count = 1;
    return dnnOk;
  }
  const Engine& e = engines()[static_cast<size_t>(d->engine)];
  if (d->kind == kindEngine && attribute == 1301 && wants(tInt64)) return give(std::vector<int64_t>{e.number}, room, count, out);
  if (d->kind == kindEngine && attribute == 1303 && wants(tNote)) return give(e.notes, room, count, out);
  if (d->kind == kindPlan && attribute == 402 && wants(tInt64)) return give(std::vector<int64_t>{static_cast<int64_t>(static_cast<Plan*>(d)->work.workspaceBytes)}, room, count, out);
  return refuse(dnnBadParam, "there is no attribute " + std::to_string(attribute) + " of this type to be read");
}

EMU_API int cudnnBackendExecute(void* handle, void* plan, void* pack) {
  Descriptor *p = find(plan), *k = find(pack);
  if (!handle || !p || p->kind != kindPlan || !p->finalized || !k || k->kind != kindPack || !k->finalized) return refuse(dnnBadParam, "it takes a handle, a plan and a pack, both finalized");
  Convolving work = static_cast<Plan*>(p)->work;
  if (int code = bindTensors(*static_cast<Plan*>(p), *k, &work)) return code;
  Call c(1, "launch");
  Stream* s = c ? c.stream(static_cast<Handle*>(handle)->stream) : nullptr;
  if (!c) return refuse(dnnExecutionFailed, "the stream or its context is gone");
  auto op = std::make_shared<Op>();
  op->kind = Op::call;
  op->name = "cudnnConvolution";
  op->run = [work](std::string* wrong) { return work.run(wrong); };
  return c.core.add(c.lock, s, op) ? refuse(dnnExecutionFailed, "it can't be queued") : dnnOk;
}
