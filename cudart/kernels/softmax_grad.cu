// The gradients of softmax and log_softmax along one dimension, from dy and the result y: y·(dy - Σ dy·y) and dy - e^y·Σ dy. They may be of
// another dtype than y.
#include "lines.h"

// KEEP vectors of V elements per lane stay in registers, so that a line is read once.
enum { KEEP = 4 };

template <bool Log, class O, class T> HT_FN void softmax_grad_kept(const Lines& p, const T* dy, const T* y, O* dx, int lane) {
  typedef typename line_of<T>::type C;
  const int V = 16 / (sizeof(T) > sizeof(O) ? sizeof(T) : sizeof(O)), step = p.lanes * V;
  struct alignas(V * sizeof(T)) In { T v[V]; };
  struct alignas(V * sizeof(O)) Out { O v[V]; };
  In d[KEEP], v[KEEP];
  HT_UNROLL for (int j = 0; j < KEEP; j++) {
    const int at = j * step + lane * V;
    if (at < p.n) d[j] = *(const In*)(dy + at), v[j] = *(const In*)(y + at);
  }
  C sum = 0;
  HT_UNROLL for (int j = 0; j < KEEP; j++) {
    if (j * step + lane * V < p.n) HT_UNROLL for (int i = 0; i < V; i++) sum += Log ? (C)wide(d[j].v[i]) : (C)wide(d[j].v[i]) * (C)wide(v[j].v[i]);
  }
  sum = across<Plus>(sum, p.lanes);
  HT_UNROLL for (int j = 0; j < KEEP; j++) {
    const int at = j * step + lane * V;
    if (at < p.n) {
      Out out;
      HT_UNROLL for (int i = 0; i < V; i++) {
        const C e = (C)wide(d[j].v[i]), f = (C)wide(v[j].v[i]);
        out.v[i] = narrow<O>::of(Log ? e - line_exp(f) * sum : f * (e - sum));
      }
      *(Out*)(dx + at) = out;
    }
  }
}

template <bool Log, class O, class T> HT_FN void softmax_grad_pass(const Lines& p) {
  typedef typename line_of<T>::type C;
  const int per = LINE_THREADS / p.lanes, lane = threadIdx.x % p.lanes;
  const i64 k = (i64)blockIdx.x * per + threadIdx.x / p.lanes;
  if (k >= p.lines) return;  // whole warps or lanes on their own: nobody waits for them
  i64 off[3];
  where<3>(p, (u32)k, off);
  O* dx = (O*)p.out + off[0];
  const T* dy = (const T*)p.in[0] + off[1];
  const T* y = (const T*)p.in[1] + off[2];
  if (p.flags & LINE_KEEP) return softmax_grad_kept<Log, O, T>(p, dy, y, dx, lane);
  const i64 sx = p.step[0], sd = p.step[1], sy = p.step[2];
  C sum = 0;
  for (int i = lane; i < p.n; i += p.lanes) sum += Log ? (C)wide(dy[i * sd]) : (C)wide(dy[i * sd]) * (C)wide(y[i * sy]);
  sum = across<Plus>(sum, p.lanes);
  for (int i = lane; i < p.n; i += p.lanes) {
    const C d = (C)wide(dy[i * sd]), v = (C)wide(y[i * sy]);
    dx[i * sx] = narrow<O>::of(Log ? d - line_exp(v) * sum : v * (d - sum));
  }
}
#define SOFTMAX_GRAD(S, T, D, O)                                                                         \
  HT_KERNEL(softmax_backward_##S##_##D, Lines, p) { softmax_grad_pass<false, O, T>(p); }                 \
  HT_KERNEL(log_softmax_backward_##S##_##D, Lines, p) { softmax_grad_pass<true, O, T>(p); }
SOFTMAX_GRAD(f16, f16, f16, f16)
SOFTMAX_GRAD(bf16, bf16, bf16, bf16)
SOFTMAX_GRAD(f32, float, f32, float)
SOFTMAX_GRAD(f32, float, f16, f16)
SOFTMAX_GRAD(f32, float, bf16, bf16)
SOFTMAX_GRAD(f64, double, f64, double)
SOFTMAX_GRAD(f64, double, f32, float)
