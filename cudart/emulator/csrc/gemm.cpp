// gemm.cpp: see gemm.h. Sums run over k in order, in float32 (in float64 for float64), and are rounded once.
#include "gemm.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "core.h"
#include "device_math.h"

namespace emu {

int64_t elementBytes(int type) {
  switch (type) {
    case real32: return 4;
    case real64: return 8;
    case real16: case bfloat16: return 2;
    default: return 0;
  }
}

double loadElement(const char* p, int type, int64_t i) {
  uint16_t h;
  float f;
  double d;
  switch (type) {
    case real64: std::memcpy(&d, p + 8 * i, 8); return d;
    case real32: std::memcpy(&f, p + 4 * i, 4); return f;
    case real16: std::memcpy(&h, p + 2 * i, 2); return f16_to_f32(h);
    default: std::memcpy(&h, p + 2 * i, 2); return bf16_to_f32(h);
  }
}

void storeElement(char* p, int type, int64_t i, double v) {
  auto f = static_cast<float>(v);
  uint16_t h = type == real16 ? f32_to_f16(f) : f32_to_bf16(f);
  if (type == real64) std::memcpy(p + 8 * i, &v, 8);
  else if (type == real32) std::memcpy(p + 4 * i, &f, 4);
  else std::memcpy(p + 2 * i, &h, 2);
}

// roundTf32 keeps 10 bits of the fraction, as tensor cores take float32.
float roundTf32(float f) {
  unsigned u = __float_as_uint(f);
  if ((u & 0x7f800000u) == 0x7f800000u) return f;
  return __uint_as_float((u + 0xfffu + (u >> 13 & 1u)) & ~0x1fffu);
}

bool Product::valid() const {
  if (m < 0 || n < 0 || k < 0 || batch < 0 || !elementBytes(typeA) || typeA != typeB || !elementBytes(typeC)) return false;
  if ((typeA == real64) != (typeC == real64)) return false;
  if ((typeA == real16 && typeC == bfloat16) || (typeA == bfloat16 && typeC == real16)) return false;
  return lda >= std::max<int64_t>(1, transA ? k : m) && ldb >= std::max<int64_t>(1, transB ? n : k) && ldc >= std::max<int64_t>(1, m) &&
         ldd >= std::max<int64_t>(1, m);
}

// finish is the epilogue of one value, in row i.
static double finish(const Product& p, double v, double bias, char* aux, int64_t at) {
  if (p.epilogue & 4) v += bias;
  if (p.epilogue & 128) storeElement(aux, p.typeC, at, v);
  if (p.epilogue & 2) v = v > 0 ? v : 0;
  if (p.epilogue & 32) v = 0.5 * v * (1 + std::tanh(0.7978845608028654 * (v + 0.044715 * v * v * v)));
  return v;
}

template <class T>
static void multiply(const Product& p, const char* a, const char* b, const char* c, char* d, const char* bias, char* aux) {
  // op(a) by columns and op(b) by columns, widened once.
  std::vector<T> wa(static_cast<size_t>(p.m * p.k)), column(static_cast<size_t>(p.k)), sum(static_cast<size_t>(p.m));
  auto widen = [&](const char* from, int64_t i) {
    auto v = static_cast<T>(loadElement(from, p.typeA, i));
    return p.tf32 ? static_cast<T>(roundTf32(static_cast<float>(v))) : v;
  };
  for (int64_t l = 0; l < p.k; l++)
    for (int64_t i = 0; i < p.m; i++) wa[static_cast<size_t>(l * p.m + i)] = widen(a, p.transA ? i * p.lda + l : l * p.lda + i);
  for (int64_t j = 0; j < p.n; j++) {
    for (int64_t l = 0; l < p.k; l++) column[static_cast<size_t>(l)] = widen(b, p.transB ? l * p.ldb + j : j * p.ldb + l);
    std::fill(sum.begin(), sum.end(), T(0));
    for (int64_t l = 0; l < p.k; l++) {
      const T x = column[static_cast<size_t>(l)];
      const T* w = &wa[static_cast<size_t>(l * p.m)];
      for (int64_t i = 0; i < p.m; i++) sum[static_cast<size_t>(i)] += w[i] * x;
    }
    for (int64_t i = 0; i < p.m; i++) {
      T v = static_cast<T>(p.alpha) * sum[static_cast<size_t>(i)];
      if (p.beta != 0) v += static_cast<T>(p.beta) * static_cast<T>(loadElement(c, p.typeC, j * p.ldc + i));
      double out = p.epilogue == 1 ? static_cast<double>(v) : finish(p, v, bias ? loadElement(bias, p.typeBias, i) : 0, aux, j * p.ldaux + i);
      storeElement(d, p.typeC, j * p.ldd + i, out);
    }
  }
}

bool Product::run(std::string* wrong) const {
  // span is how many bytes a matrix of columns reaches over, all of the batch.
  auto span = [&](int type, int64_t rows, int64_t columns, int64_t ld, int64_t stride) {
    return static_cast<uint64_t>(((batch - 1) * stride + (columns - 1) * ld + rows) * elementBytes(type));
  };
  if (m == 0 || n == 0 || batch == 0) return true;
  Core& core = Core::get();
  std::unique_lock<std::mutex> lock(core.mutex);
  auto find = [&](const char* what, uint64_t address, uint64_t bytes) -> char* {
    char* p = core.memory.host(address, bytes);
    if (!p && wrong->empty())
      *wrong = std::string("a matrix product: ") + what + " of " + std::to_string(bytes) + " bytes: " +
               core.memory.describe(core.memory.host(address, 1) ? address + bytes - 1 : address);
    return p;
  };
  char* pa = k ? find("A", a, transA ? span(typeA, k, m, lda, strideA) : span(typeA, m, k, lda, strideA)) : nullptr;
  char* pb = k ? find("B", b, transB ? span(typeB, n, k, ldb, strideB) : span(typeB, k, n, ldb, strideB)) : nullptr;
  char* pd = find("D", d, span(typeC, m, n, ldd, strideD));
  char* pc = beta != 0 ? find("C", c, span(typeC, m, n, ldc, strideC)) : nullptr;
  char* pbias = epilogue & 4 ? find("the bias", bias, static_cast<uint64_t>(m * elementBytes(typeBias))) : nullptr;
  char* paux = epilogue & 128 ? find("the auxiliary matrix", aux, span(typeC, m, n, ldaux, 0)) : nullptr;
  lock.unlock();
  if (!wrong->empty()) return false;
  for (int64_t l = 0; l < batch; l++) {
    const char *xa = pa + l * strideA * elementBytes(typeA), *xb = pb + l * strideB * elementBytes(typeB);
    const char* xc = pc ? pc + l * strideC * elementBytes(typeC) : nullptr;
    char* xd = pd + l * strideD * elementBytes(typeC);
    if (typeA == real64) multiply<double>(*this, xa, xb, xc, xd, pbias, paux);
    else multiply<float>(*this, xa, xb, xc, xd, pbias, paux);
  }
  return true;
}

}  // namespace emu
