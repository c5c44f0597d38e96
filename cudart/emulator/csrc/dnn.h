// dnn.h: descriptors of the stand-in for cuDNN's backend, and convolutions by plain loops.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "gemm.h"

namespace emu {

// Codes of cudnnStatus_t in cuDNN 9.
enum : int {
  dnnOk = 0,
  dnnNotInitialized = 1001,
  dnnBadParam = 2000,
  dnnBadType = 2010,
  dnnNotSupported = 3000,
  dnnExecutionFailed = 5000,
};

// Kinds of descriptors.
enum : int {
  kindPointwise = 0, kindConvolution = 1, kindEngine = 2, kindConfig = 3, kindHeuristics = 4, kindPlan = 5, kindForward = 10, kindFilter = 11,
  kindData = 12, kindPointwiseOp = 13, kindGraph = 15, kindPack = 16, kindTensor = 17,
};

// Value is what an attribute was set to.
struct Value {
  int type = 0;
  int64_t count = 0;
  std::vector<char> bytes;
  int64_t integer(int64_t i = 0) const;
  std::vector<int64_t> integers() const;
  void* pointer(int64_t i = 0) const;
};

struct Descriptor {
  virtual ~Descriptor() = default;  // a Plan is held as one
  int kind = 0;
  bool finalized = false;
  std::map<int, Value> values;
  int engine = 0;  // of engines and configurations
  const Value& at(int attribute) const { return values.at(attribute); }
  bool has(int attribute) const { return values.count(attribute) != 0; }
  const Descriptor* child(int attribute, int64_t i = 0) const { return static_cast<const Descriptor*>(at(attribute).pointer(i)); }
};

// Laid is a tensor as the loops see it, with three spatial dimensions.
struct Laid {
  int64_t id = 0, dims[5] = {1, 1, 1, 1, 1}, strides[5] = {0, 0, 0, 0, 0};
  int type = 0;  // of cudaDataType
  uint64_t address = 0, align = 1;
  uint64_t bytes() const;
};

// Convolving is one convolution with its bias.
struct Convolving {
  int kind = kindForward;
  Laid x, w, y, bias, result;  // result is where the sum with the bias goes
  bool biased = false, tf32 = false, disordered = false;
  int64_t before[3] = {0, 0, 0}, stride[3] = {1, 1, 1}, dilation[3] = {1, 1, 1};
  uint64_t workspace = 0, workspaceBytes = 0;
  // run computes it in the addresses of the device. It returns false and says why when they are not the device's.
  bool run(std::string* wrong) const;
};

}  // namespace emu
