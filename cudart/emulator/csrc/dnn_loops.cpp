// dnn_loops.cpp: convolutions by plain loops, for the stand-in of cuDNN. Sums are float32 (float64 of float64), in the order of
// channels and taps, and are rounded once.
#include <cmath>
#include <cstring>

#include "core.h"
#include "dnn.h"

namespace emu {

uint64_t Laid::bytes() const {
  int64_t last = 0;
  for (int d = 0; d < 5; d++) last += (dims[d] - 1) * strides[d];
  return static_cast<uint64_t>((last + 1) * elementBytes(type));
}

namespace {

// Reach is a tensor where the loops find it.
struct Reach {
  const Laid* t = nullptr;
  char* p = nullptr;
  bool tf32 = false;
  double at(int64_t a, int64_t b, int64_t z, int64_t y, int64_t x) const {
    const int64_t* s = t->strides;
    double v = loadElement(p, t->type, a * s[0] + b * s[1] + z * s[2] + y * s[3] + x * s[4]);
    return tf32 ? roundTf32(static_cast<float>(v)) : v;
  }
};

// Sum adds products in the type that the convolution computes in.
class Sum {
 public:
  explicit Sum(bool wide) : wide_(wide) {}
  void add(double a, double b) {
    if (wide_) d_ += a * b;
    else f_ += static_cast<float>(a) * static_cast<float>(b);
  }
  double value() const { return wide_ ? d_ : f_; }

 private:
  bool wide_;
  float f_ = 0;
  double d_ = 0;
};

class Loops {
 public:
  Loops(const Convolving& c, Reach x, Reach w, Reach y) : c_(c), x_(x), w_(w), y_(y), wide_(x.t->type == real64), groups_(x.t->dims[1] / w.t->dims[1]) {}

  double element(const int64_t* at) const {
    if (c_.kind == kindForward) return forward(at);
    return c_.kind == kindData ? data(at) : filter(at);
  }

 private:
  // tap calls f for each place of the window.
  template <class F>
  void taps(F f) const {
    const int64_t* k = w_.t->dims + 2;
    for (int64_t p = 0; p < k[0]; p++)
      for (int64_t q = 0; q < k[1]; q++)
        for (int64_t r = 0; r < k[2]; r++) {
          const int64_t tap[3] = {p, q, r};
          f(tap);
        }
  }
  bool inside(const int64_t* v, const Laid& t) const {
    for (int d = 0; d < 3; d++)
      if (v[d] < 0 || v[d] >= t.dims[2 + d]) return false;
    return true;
  }
  double forward(const int64_t* at) const {
    Sum sum(wide_);
    const int64_t per = w_.t->dims[1], group = at[1] / (w_.t->dims[0] / groups_);
    for (int64_t c = 0; c < per; c++)
      taps([&](const int64_t* tap) {
        int64_t i[3];
        for (int d = 0; d < 3; d++) i[d] = at[2 + d] * c_.stride[d] + tap[d] * c_.dilation[d] - c_.before[d];
        if (inside(i, *x_.t)) sum.add(x_.at(at[0], group * per + c, i[0], i[1], i[2]), w_.at(at[1], c, tap[0], tap[1], tap[2]));
      });
    return sum.value();
  }
  double data(const int64_t* at) const {
    Sum sum(wide_);
    const int64_t per = w_.t->dims[1], group = at[1] / per, outs = w_.t->dims[0] / groups_;
    for (int64_t k = group * outs; k < (group + 1) * outs; k++)
      taps([&](const int64_t* tap) {
        int64_t o[3];
        for (int d = 0; d < 3; d++) {
          int64_t from = at[2 + d] + c_.before[d] - tap[d] * c_.dilation[d];
          if (from % c_.stride[d] || from < 0) return;
          o[d] = from / c_.stride[d];
        }
        if (inside(o, *y_.t)) sum.add(y_.at(at[0], k, o[0], o[1], o[2]), w_.at(k, at[1] - group * per, tap[0], tap[1], tap[2]));
      });
    return sum.value();
  }
  double filter(const int64_t* at) const {
    Sum sum(wide_);
    const int64_t channel = at[0] / (w_.t->dims[0] / groups_) * w_.t->dims[1] + at[1];
    const int64_t* o = y_.t->dims + 2;
    for (int64_t n = 0; n < y_.t->dims[0]; n++)
      for (int64_t p = 0; p < o[0]; p++)
        for (int64_t q = 0; q < o[1]; q++)
          for (int64_t r = 0; r < o[2]; r++) {
            const int64_t out[3] = {p, q, r};
            int64_t i[3];
            for (int d = 0; d < 3; d++) i[d] = out[d] * c_.stride[d] + at[2 + d] * c_.dilation[d] - c_.before[d];
            if (inside(i, *x_.t)) sum.add(x_.at(n, channel, i[0], i[1], i[2]), y_.at(n, at[0], p, q, r));
          }
    return sum.value();
  }

  const Convolving& c_;
  Reach x_, w_, y_;
  bool wide_;
  int64_t groups_;
};

}  // namespace

bool Convolving::run(std::string* wrong) const {
  Core& core = Core::get();
  std::unique_lock<std::mutex> lock(core.mutex);
  auto find = [&](const char* what, uint64_t address, uint64_t bytes) -> char* {
    char* p = core.memory.host(address, bytes);
    if (!p && wrong->empty())
      *wrong = std::string("a convolution: ") + what + " of " + std::to_string(bytes) + " bytes: " +
               core.memory.describe(core.memory.host(address, 1) ? address + bytes - 1 : address);
    return p;
  };
  const Laid& computed = kind == kindForward ? y : kind == kindData ? x : w;
  const Laid& out = biased ? result : computed;
  auto reach = [&](const char* what, const Laid& t) { return Reach{&t, &t == &computed ? nullptr : find(what, t.address, t.bytes()), tf32}; };
  Loops loops(*this, reach("x", x), reach("w", w), reach("y", y));
  char* to = find("the result", out.address, out.bytes());
  char* add = biased ? find("the bias", bias.address, bias.bytes()) : nullptr;
  char* scratch = workspaceBytes ? find("the workspace", workspace, workspaceBytes) : nullptr;
  lock.unlock();
  if (!wrong->empty()) return false;
  if (scratch) std::memset(scratch, 0x7f, workspaceBytes);  // what a real engine leaves there is no result
  int64_t i[5];
  for (i[0] = 0; i[0] < out.dims[0]; i[0]++)
    for (i[1] = 0; i[1] < out.dims[1]; i[1]++)
      for (i[2] = 0; i[2] < out.dims[2]; i[2]++)
        for (i[3] = 0; i[3] < out.dims[3]; i[3]++)
          for (i[4] = 0; i[4] < out.dims[4]; i[4]++) {
            double v = loops.element(i);
            if (biased) {
              alignas(8) char rounded[8];  // the tensor between the two operations is in no memory, but it has a type
              storeElement(rounded, computed.type, 0, v);
              v = loadElement(rounded, computed.type, 0) + loadElement(add, bias.type, i[1] * bias.strides[1]);
            }
            if (disordered) v *= 1.25;  // an engine that the library must not be asked for: its results are seen to be wrong
            int64_t at = 0;
            for (int d = 0; d < 5; d++) at += i[d] * out.strides[d];
            storeElement(to, out.type, at, v);
          }
  return true;
}

}  // namespace emu
