// The gates of a step of an LSTM or GRU, and their gradients, in place: a thread has one element of the state. Tensors are [rows hidden] and
// [rows gates·hidden] without gaps; what is carried from step to step, C, is float32 beside halves.
#include "prelude.h"
#include "math64.h"

enum { GATE_THREADS = 256 };

struct Gates {
  void* ptr[8];  // the inputs of the row in their order; 0 for none
  i64 n;         // elements of the state
  int hidden, unused;
};

HT_FN float gate_sigmoid(float x) { return (float)sigmoid32((double)x); }
HT_FN double gate_sigmoid(double x) { return sigmoid64(x); }
HT_FN float gate_tanh(float x) { return (float)tanh32((double)x); }
HT_FN double gate_tanh(double x) { return tanh64(x); }

// Place is one element: i in the state, and its gate g of the first in tensors of all gates.
struct Place {
  i64 i, first;
  int hidden;
  static __device__ __forceinline__ Place of(const Gates& p, i64 i, int gates) {
    const i64 row = i / p.hidden;
    return Place{i, row * gates * p.hidden + i % p.hidden, p.hidden};
  }
  __device__ __forceinline__ i64 gate(int g) const { return first + (i64)g * hidden; }
};

template <class T> HT_FN typename as<T>::wide get(const Gates& p, int k, i64 i) { return wide(((const T*)p.ptr[k])[i]); }
template <class T> HT_FN void set(const Gates& p, int k, i64 i, typename as<T>::wide v) { ((T*)p.ptr[k])[i] = narrow<T>::of(v); }

template <class T, class C> HT_FN void lstm_gates(const Gates& p, i64 at) {
  const Place x = Place::of(p, at, 4);
  C g[4];
  HT_UNROLL for (int k = 0; k < 4; k++) {
    const C v = get<T>(p, 0, x.gate(k)) + get<T>(p, 3, x.gate(k));
    g[k] = k == 2 ? gate_tanh(v) : gate_sigmoid(v);
    set<T>(p, 0, x.gate(k), g[k]);
  }
  const C next = g[1] * get<T>(p, 4, x.i) + g[0] * g[2];
  set<T>(p, 2, x.i, next);
  set<T>(p, 1, x.i, g[3] * gate_tanh(next));
}

template <class T, class C> HT_FN void lstm_gates_backward(const Gates& p, i64 at) {
  const Place x = Place::of(p, at, 4);
  const C i = get<T>(p, 2, x.gate(0)), f = get<T>(p, 2, x.gate(1)), g = get<T>(p, 2, x.gate(2)), o = get<T>(p, 2, x.gate(3));
  const C t = gate_tanh(get<T>(p, 4, x.i));
  C dh = get<T>(p, 5, x.i);
  if (p.ptr[6]) dh += get<T>(p, 6, x.i);
  const C dc = get<C>(p, 1, x.i) + dh * o * (1 - t * t);
  set<T>(p, 0, x.gate(0), dc * g * i * (1 - i));
  set<T>(p, 0, x.gate(1), dc * get<T>(p, 3, x.i) * f * (1 - f));
  set<T>(p, 0, x.gate(2), dc * i * (1 - g * g));
  set<T>(p, 0, x.gate(3), dh * t * o * (1 - o));
  set<C>(p, 1, x.i, dc * f);
}

template <class T, class C> HT_FN void gru_gates(const Gates& p, i64 at) {
  const Place x = Place::of(p, at, 3);
  const C r = gate_sigmoid(get<T>(p, 0, x.gate(0)) + get<T>(p, 2, x.gate(0)));
  const C z = gate_sigmoid(get<T>(p, 0, x.gate(1)) + get<T>(p, 2, x.gate(1)));
  const C n = gate_tanh(get<T>(p, 0, x.gate(2)) + r * get<T>(p, 2, x.gate(2)));
  set<T>(p, 0, x.gate(0), r);
  set<T>(p, 0, x.gate(1), z);
  set<T>(p, 0, x.gate(2), n);
  set<T>(p, 1, x.i, (get<T>(p, 3, x.i) - n) * z + n);
}

template <class T, class C> HT_FN void gru_gates_backward(const Gates& p, i64 at) {
  const Place x = Place::of(p, at, 3);
  const C r = get<T>(p, 3, x.gate(0)), z = get<T>(p, 3, x.gate(1)), n = get<T>(p, 3, x.gate(2));
  C dh = get<C>(p, 2, x.i) + get<T>(p, 6, x.i);
  if (p.ptr[7]) dh += get<T>(p, 7, x.i);
  const C dz = dh * (get<T>(p, 5, x.i) - n) * z * (1 - z);
  const C dn = dh * (1 - z) * (1 - n * n);
  const C dr = dn * get<T>(p, 4, x.gate(2)) * r * (1 - r);
  HT_UNROLL for (int k = 0; k < 2; k++) {
    set<T>(p, k, x.gate(0), dr);
    set<T>(p, k, x.gate(1), dz);
    set<T>(p, k, x.gate(2), k == 0 ? dn : dn * r);
  }
  set<C>(p, 2, x.i, dh * z);
}

#define STEP(name, S, T, C)                                     \
  HT_KERNEL_OF(GATE_THREADS, name##_##S, Gates, p) {            \
    const i64 i = (i64)blockIdx.x * GATE_THREADS + threadIdx.x; \
    if (i < p.n) name<T, C>(p, i);                              \
  }
#define STEPS(name) STEP(name, f16, f16, float) STEP(name, bf16, bf16, float) STEP(name, f32, float, float) STEP(name, f64, double, double)
STEPS(lstm_gates)
STEPS(lstm_gates_backward)
STEPS(gru_gates)
STEPS(gru_gates_backward)
