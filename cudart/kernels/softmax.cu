// softmax and log_softmax along one dimension: the largest element is taken off first; the result may be of another dtype than the input.
#include "lines.h"

// KEEP vectors of V elements per lane stay in registers, so that a line is read once.
enum { KEEP = 4 };

template <bool Log, class O, class T> HT_FN void softmax_kept(const Lines& p, const T* x, O* y, int lane) {
  typedef typename line_of<O>::type C;
  const int V = 16 / (sizeof(T) > sizeof(O) ? sizeof(T) : sizeof(O)), step = p.lanes * V;
  struct alignas(V * sizeof(T)) In { T v[V]; };
  struct alignas(V * sizeof(O)) Out { O v[V]; };
  C v[KEEP][V];
  C most = -ht_inf<C>();
  HT_UNROLL for (int j = 0; j < KEEP; j++) {
    const int at = j * step + lane * V;
    if (at < p.n) {
      const In in = *(const In*)(x + at);
      HT_UNROLL for (int i = 0; i < V; i++) v[j][i] = (C)wide(in.v[i]), most = Larger::of(most, v[j][i]);
    }
  }
  most = across<Larger>(most, p.lanes);
  C sum = 0;
  HT_UNROLL for (int j = 0; j < KEEP; j++) {
    if (j * step + lane * V < p.n) {
      HT_UNROLL for (int i = 0; i < V; i++) {
        v[j][i] -= most;
        const C e = line_exp(v[j][i]);
        sum += e;
        if (!Log) v[j][i] = e;
      }
    }
  }
  sum = across<Plus>(sum, p.lanes);
  const bool half = sizeof(O) == 2;  // which rounds more than the reciprocal of the sum is off
  const C rest = Log ? (most - most != 0 ? most - most : line_log(sum)) : half ? 1 / sum : sum;
  HT_UNROLL for (int j = 0; j < KEEP; j++) {
    const int at = j * step + lane * V;
    if (at < p.n) {
      Out out;
      HT_UNROLL for (int i = 0; i < V; i++) out.v[i] = narrow<O>::of(Log ? v[j][i] - rest : half ? v[j][i] * rest : v[j][i] / rest);
      *(Out*)(y + at) = out;
    }
  }
}

template <bool Log, class O, class T> HT_FN void softmax_line(const Lines& p, const T* x, O* y, int lane) {
  typedef typename line_of<O>::type C;
  const i64 sx = p.step[1], sy = p.step[0];
  C most = -ht_inf<C>();
  for (int i = lane; i < p.n; i += p.lanes) most = Larger::of(most, (C)wide(x[i * sx]));
  most = across<Larger>(most, p.lanes);
  C sum = 0;
  for (int i = lane; i < p.n; i += p.lanes) sum += line_exp((C)wide(x[i * sx]) - most);
  sum = across<Plus>(sum, p.lanes);
  const C rest = Log ? (most - most != 0 ? most - most : line_log(sum)) : 0;
  for (int i = lane; i < p.n; i += p.lanes) {
    const C v = (C)wide(x[i * sx]) - most;
    y[i * sy] = narrow<O>::of(Log ? v - rest : line_exp(v) / sum);
  }
}

template <bool Log, class O, class T> HT_FN void softmax_pass(const Lines& p) {
  const int per = LINE_THREADS / p.lanes, lane = threadIdx.x % p.lanes;
  const i64 k = (i64)blockIdx.x * per + threadIdx.x / p.lanes;
  if (k >= p.lines) return;  // whole warps or lanes on their own: nobody waits for them
  i64 off[2];
  where<2>(p, (u32)k, off);
  const T* x = (const T*)p.in[0] + off[1];
  O* y = (O*)p.out + off[0];
  if (p.flags & LINE_KEEP) softmax_kept<Log, O, T>(p, x, y, lane);
  else softmax_line<Log, O, T>(p, x, y, lane);
}
#define SOFTMAX(S, T, D, O)                                                                    \
  HT_KERNEL(softmax_##S##_##D, Lines, p) { softmax_pass<false, O, T>(p); }                     \
  HT_KERNEL(log_softmax_##S##_##D, Lines, p) { softmax_pass<true, O, T>(p); }
SOFTMAX(f16, f16, f16, f16)
SOFTMAX(f16, f16, f32, float)
SOFTMAX(bf16, bf16, bf16, bf16)
SOFTMAX(bf16, bf16, f32, float)
SOFTMAX(f32, float, f32, float)
SOFTMAX(f64, double, f64, double)
SOFTMAX(f32, float, f64, double)
SOFTMAX(f16, f16, f64, double)
SOFTMAX(bf16, bf16, f64, double)
