// blas.cpp: the part of cuBLAS that Halftone uses.
#include <cstring>

#include "api.h"
#include "gemm.h"

namespace emu {

// Codes of cublasStatus_t.
enum : int { blasOk = 0, blasNotInitialized = 1, blasInvalidValue = 7, blasExecutionFailed = 13, blasNotSupported = 15 };

struct BlasHandle {
  Context* context;
  void* stream;
};

static double scale(const void* p, bool wide) {
  double d;
  float f;
  std::memcpy(wide ? static_cast<void*>(&d) : &f, p, wide ? 8 : 4);
  return wide ? d : f;
}

static int queue(void* stream, const Product& p, const char* name) {
  if (!p.valid()) return blasInvalidValue;
  Call c(1, "launch");
  Stream* s = c ? c.stream(stream) : nullptr;
  if (!c) return blasExecutionFailed;
  auto op = std::make_shared<Op>();
  op->kind = Op::call;
  op->name = name;
  op->run = [p](std::string* wrong) { return p.run(wrong); };
  return c.core.add(c.lock, s, op) ? blasExecutionFailed : blasOk;
}

// compute sets what a cublasComputeType_t says: 68 float32, 77 float32 by TF32, 70 float64.
static bool compute(Product* p, int type) {
  p->tf32 = type == 77 && p->typeA == real32;
  return p->typeA == real64 ? type == 70 : type == 68 || type == 77;
}

}  // namespace emu

using namespace emu;

// As NVIDIA's it allocates on the device, which a thread that captures may not do unless it relaxes the capture.
EMU_API int cublasCreate_v2(void** handle) {
  Call c(1);
  if (!c || !c.waits()) return blasNotInitialized;
  *handle = new BlasHandle{c.context, nullptr};
  return blasOk;
}

EMU_API int cublasDestroy_v2(void* handle) {
  delete static_cast<BlasHandle*>(handle);
  return blasOk;
}

EMU_API int cublasGetVersion_v2(void*, int* version) {
  *version = 130000;
  return blasOk;
}

EMU_API int cublasSetStream_v2(void* handle, void* stream) {
  static_cast<BlasHandle*>(handle)->stream = stream;
  return blasOk;
}

EMU_API int cublasSetWorkspace_v2(void*, uint64_t workspace, size_t) { return workspace % 256 ? blasInvalidValue : blasOk; }
EMU_API int cublasSetMathMode(void*, int) { return blasOk; }

EMU_API int cublasGemmStridedBatchedEx(void* handle, int ta, int tb, int m, int n, int k, const void* alpha, uint64_t a, int at, int lda, long long sa,
                                       uint64_t b, int bt, int ldb, long long sb, const void* beta, uint64_t c, int ct, int ldc, long long sc, int batch,
                                       int type, int) {
  Product p;
  p.transA = ta, p.transB = tb, p.m = m, p.n = n, p.k = k;
  p.a = a, p.b = b, p.c = p.d = c, p.typeA = at, p.typeB = bt, p.typeC = ct;
  p.lda = lda, p.ldb = ldb, p.ldc = p.ldd = ldc;
  p.strideA = sa, p.strideB = sb, p.strideC = p.strideD = sc, p.batch = batch;
  p.alpha = scale(alpha, at == real64), p.beta = scale(beta, at == real64);
  if (ta > 1 || tb > 1) return blasNotSupported;
  if (!compute(&p, type)) return blasNotSupported;
  return queue(static_cast<BlasHandle*>(handle)->stream, p, "cublasGemm");
}

EMU_API int cublasGemmEx(void* handle, int ta, int tb, int m, int n, int k, const void* alpha, uint64_t a, int at, int lda, uint64_t b, int bt, int ldb,
                         const void* beta, uint64_t c, int ct, int ldc, int type, int algo) {
  return cublasGemmStridedBatchedEx(handle, ta, tb, m, n, k, alpha, a, at, lda, 0, b, bt, ldb, 0, beta, c, ct, ldc, 0, 1, type, algo);
}

// cuBLASLt: descriptors hold attributes by their numbers.

namespace emu {

struct LtDescription {
  int compute = 68, scaleType = 0, transA = 0, transB = 0, epilogue = 1, biasType = -1;
  uint64_t bias = 0, aux = 0;
  int64_t ldaux = 0;
};

struct LtLayout {
  int type = 0, batch = 1;
  uint64_t rows = 0, columns = 0;
  int64_t ld = 0, stride = 0;
};

template <class T>
static int take(T* to, const void* value, size_t bytes) {
  if (bytes != sizeof(T)) return blasInvalidValue;
  std::memcpy(to, value, bytes);
  return blasOk;
}

// product puts descriptors together. a, b and d are the layouts as they are stored.
static Product product(const LtDescription& desc, const LtLayout& a, const LtLayout& b, const LtLayout& c, const LtLayout& d) {
  Product p;
  p.transA = desc.transA, p.transB = desc.transB;
  p.m = static_cast<int64_t>(d.rows), p.n = static_cast<int64_t>(d.columns);
  p.k = static_cast<int64_t>(desc.transA ? a.rows : a.columns);
  p.typeA = a.type, p.typeB = b.type, p.typeC = d.type;
  p.typeBias = desc.biasType < 0 ? d.type : desc.biasType;
  p.lda = a.ld, p.ldb = b.ld, p.ldc = c.ld, p.ldd = d.ld;
  p.strideA = a.stride, p.strideB = b.stride, p.strideC = c.stride, p.strideD = d.stride, p.batch = d.batch;
  p.epilogue = desc.epilogue, p.bias = desc.bias, p.aux = desc.aux, p.ldaux = desc.ldaux;
  return p;
}

static bool ltSupports(const LtDescription& desc, Product* p) {
  constexpr int known[] = {1, 2, 4, 6, 32, 36, 160, 164};
  bool epilogue = false;
  for (int e : known) epilogue = epilogue || desc.epilogue == e;
  return epilogue && desc.transA < 2 && desc.transB < 2 && p->valid() && compute(p, desc.compute);
}

}  // namespace emu

EMU_API int cublasLtCreate(void** handle) {
  *handle = new int(1);
  return blasOk;
}
EMU_API int cublasLtDestroy(void* handle) {
  delete static_cast<int*>(handle);
  return blasOk;
}
EMU_API size_t cublasLtGetVersion() { return 130000; }

EMU_API int cublasLtMatmulDescCreate(void** desc, int compute, int scaleType) {
  *desc = new LtDescription{compute, scaleType, 0, 0, 1, -1, 0, 0, 0};
  return blasOk;
}
EMU_API int cublasLtMatmulDescDestroy(void* desc) {
  delete static_cast<LtDescription*>(desc);
  return blasOk;
}
EMU_API int cublasLtMatmulDescSetAttribute(void* desc, int attribute, const void* value, size_t bytes) {
  auto* d = static_cast<LtDescription*>(desc);
  switch (attribute) {
    case 3: return take(&d->transA, value, bytes);
    case 4: return take(&d->transB, value, bytes);
    case 7: return take(&d->epilogue, value, bytes);
    case 8: return take(&d->bias, value, bytes);
    case 11: return take(&d->aux, value, bytes);
    case 12: return take(&d->ldaux, value, bytes);
    case 26: return take(&d->biasType, value, bytes);
    default: return blasNotSupported;
  }
}

EMU_API int cublasLtMatrixLayoutCreate(void** layout, int type, uint64_t rows, uint64_t columns, int64_t ld) {
  if (!elementBytes(type)) return blasNotSupported;
  *layout = new LtLayout{type, 1, rows, columns, ld, 0};
  return blasOk;
}
EMU_API int cublasLtMatrixLayoutDestroy(void* layout) {
  delete static_cast<LtLayout*>(layout);
  return blasOk;
}
EMU_API int cublasLtMatrixLayoutSetAttribute(void* layout, int attribute, const void* value, size_t bytes) {
  auto* l = static_cast<LtLayout*>(layout);
  switch (attribute) {
    case 5: return take(&l->batch, value, bytes);
    case 6: return take(&l->stride, value, bytes);
    default: return blasNotSupported;
  }
}

EMU_API int cublasLtMatmulPreferenceCreate(void** pref) {
  *pref = new int(0);
  return blasOk;
}
EMU_API int cublasLtMatmulPreferenceDestroy(void* pref) {
  delete static_cast<int*>(pref);
  return blasOk;
}
EMU_API int cublasLtMatmulPreferenceSetAttribute(void*, int, const void*, size_t) { return blasOk; }

EMU_API int cublasLtMatmulAlgoGetHeuristic(void*, void* desc, void* a, void* b, void* c, void* d, void*, int wanted, void* results, int* found) {
  const auto& description = *static_cast<LtDescription*>(desc);
  Product p = product(description, *static_cast<LtLayout*>(a), *static_cast<LtLayout*>(b), *static_cast<LtLayout*>(c), *static_cast<LtLayout*>(d));
  *found = 0;
  if (wanted < 1) return blasInvalidValue;
  if (!ltSupports(description, &p)) return blasNotSupported;
  std::memset(results, 0, 96);  // no workspace, and the state is success
  *found = 1;
  return blasOk;
}

EMU_API int cublasLtMatmul(void*, void* desc, const void* alpha, uint64_t a, void* la, uint64_t b, void* lb, const void* beta, uint64_t c, void* lc,
                           uint64_t d, void* ld, const void*, uint64_t, size_t, void* stream) {
  const auto& description = *static_cast<LtDescription*>(desc);
  Product p = product(description, *static_cast<LtLayout*>(la), *static_cast<LtLayout*>(lb), *static_cast<LtLayout*>(lc), *static_cast<LtLayout*>(ld));
  if (!ltSupports(description, &p)) return blasNotSupported;
  p.a = a, p.b = b, p.c = c, p.d = d;
  p.alpha = scale(alpha, description.scaleType == real64), p.beta = scale(beta, description.scaleType == real64);
  return queue(stream, p, "cublasLtMatmul");
}
