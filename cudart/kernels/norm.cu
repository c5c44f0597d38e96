// layer_norm and rms_norm over the last dimensions. Sums are of float32, two passes over a line in registers or cache; those between lanes
// are of float64.
#include "norm.h"

// norm_affine returns e·weight + bias, rounded once, of those that there are.
template <class C, class T> HT_FN C norm_affine(C e, bool w, T weight, bool b, T bias) {
  if (w && b) return fused(e, (C)wide(weight), (C)wide(bias));
  if (w) return e * (C)wide(weight);
  return b ? e + (C)wide(bias) : e;
}

template <bool Center, class T> HT_FN void norm_kept(const Lines& p, const T* x, T* y, int lane) {
  typedef typename line_of<T>::type C;
  const int V = 16 / sizeof(T), step = p.lanes * V;
  typedef typename LineOf<T>::Vec Vec;
  C v[KEEP][V];
  C sum = 0;
  HT_UNROLL for (int j = 0; j < KEEP; j++) {
    const int at = j * step + lane * V;
    if (at < p.n) {
      const Vec in = *(const Vec*)(x + at);
      HT_UNROLL for (int i = 0; i < V; i++) v[j][i] = (C)wide(in.v[i]), sum += v[j][i];
    }
  }
  const double center = Center ? across<Plus>((double)sum, p.lanes) / p.n : 0;
  const C mean = (C)center, rest = (C)(center - (double)mean);  // the mean is not rounded
  C square = 0;
  HT_UNROLL for (int j = 0; j < KEEP; j++) {
    if (j * step + lane * V < p.n) {
      HT_UNROLL for (int i = 0; i < V; i++) v[j][i] = v[j][i] - mean - rest, square += v[j][i] * v[j][i];
    }
  }
  const C rate = line_rate(across<Plus>((double)square, p.lanes) / p.n + p.attr[0], (C)0);
  const T *w = (const T*)p.in[1], *b = (const T*)p.in[2];
  HT_UNROLL for (int j = 0; j < KEEP; j++) {
    const int at = j * step + lane * V;
    if (at < p.n) {
      Vec out, weight{}, bias{};
      if (w) weight = *(const Vec*)(w + at);
      if (b) bias = *(const Vec*)(b + at);
      HT_UNROLL for (int i = 0; i < V; i++) {
        out.v[i] = narrow<T>::of(norm_affine(v[j][i] * rate, w, weight.v[i], b, bias.v[i]));
      }
      *(Vec*)(y + at) = out;
    }
  }
}

template <bool Center, class T> HT_FN void norm_line(const Lines& p, const T* x, T* y, int lane) {
  typedef typename line_of<T>::type C;
  const i64 sx = p.step[1];
  const auto [mean, rest, squares] = line_spread<Center>(p, x, sx, lane);
  const C rate = line_rate(squares / p.n + p.attr[0], (C)0);
  const T *w = (const T*)p.in[1], *b = (const T*)p.in[2];
  for (int i = lane; i < p.n; i += p.lanes) {
    y[i] = narrow<T>::of(norm_affine(((C)wide(x[i * sx]) - mean - rest) * rate, w, w ? w[i] : T{}, b, b ? b[i] : T{}));
  }
}

template <bool Center, class T> HT_FN void norm_pass(const Lines& p) {
  const int per = LINE_THREADS / p.lanes, lane = threadIdx.x % p.lanes;
  const i64 k = (i64)blockIdx.x * per + threadIdx.x / p.lanes;
  if (k >= p.lines) return;
  i64 off[2];
  where<2>(p, (u32)k, off);
  const T* x = (const T*)p.in[0] + off[1];
  T* y = (T*)p.out + off[0];
  if (p.flags & LINE_KEEP) norm_kept<Center, T>(p, x, y, lane);
  else norm_line<Center, T>(p, x, y, lane);
}

#define NORM(S, T)                                               \
  HT_KERNEL(layer_norm_##S, Lines, p) { norm_pass<true, T>(p); } \
  HT_KERNEL(rms_norm_##S, Lines, p) { norm_pass<false, T>(p); }
NORM(f16, f16) NORM(bf16, bf16) NORM(f32, float) NORM(f64, double)
