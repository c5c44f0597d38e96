// gemm.h: matrix products, for the stand-ins of cuBLAS and cuBLASLt. Everything is column-major, as there.
#pragma once

#include <cstdint>
#include <string>

namespace emu {

// Element types of cudaDataType.
enum : int { real32 = 0, real64 = 1, real16 = 2, bfloat16 = 14 };

// Product is d = epilogue(alpha·op(a)·op(b) + beta·c), of m×k by k×n numbers, batch times. Distances are in elements.
struct Product {
  bool transA = false, transB = false, tf32 = false;
  int64_t m = 0, n = 0, k = 0;
  double alpha = 1, beta = 0;
  uint64_t a = 0, b = 0, c = 0, d = 0, bias = 0, aux = 0;
  int typeA = 0, typeB = 0, typeC = 0, typeBias = 0;
  int64_t lda = 0, ldb = 0, ldc = 0, ldd = 0, ldaux = 0;
  int64_t strideA = 0, strideB = 0, strideC = 0, strideD = 0;
  int64_t batch = 1;
  int epilogue = 1;

  // valid tells whether dimensions, types and distances are possible.
  bool valid() const;
  // run computes it in the addresses of the device. It returns false and says why when they are not the device's.
  bool run(std::string* wrong) const;
};

int64_t elementBytes(int type);  // 0 for a type that is not known
// loadElement and storeElement read and write element i of an array of a type; storing rounds.
double loadElement(const char* p, int type, int64_t i);
void storeElement(char* p, int type, int64_t i, double v);
float roundTf32(float f);  // to 10 bits of the fraction, as tensor cores take float32

}  // namespace emu
