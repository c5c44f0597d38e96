// layer_norm and rms_norm over the last dimensions. Sums are of float32, two passes over a line in registers or cache; those between lanes
// are of float64.
#include "norm.h"

// norm_affine returns e·weight + bias, rounded once, of those that there are.
template <class C, class T> HT_FN C norm_affine(C e, bool w, T weight, bool b, T bias) {
  if (w && b) return fused(e, (C)wide(weight), (C)wide(bias));
  if (w) return e * (C)wide(weight);
  return b ? e + (C)wide(bias) : e;
}

// norm_kept has the line in registers, as it was read, Keep vectors a lane: all of them are on their way before the first is used. So are
// weights, some vectors at a time.
template <bool Center, int Keep, int Lanes, class T> HT_FN void norm_kept(const Lines& p, const T* x, T* y, int lane) {
  typedef typename line_of<T>::type C;
  typedef typename LineOf<T>::Vec Vec;
  const int V = 16 / sizeof(T), step = Lanes * V, some = Keep == 8 ? 2 : 4, left = p.n - lane * V;
  x += lane * V, y += lane * V;
  Chunk v[Keep];
  HT_UNROLL for (int j = 0; j < Keep; j++)
    if (j * step < left) v[j] = *(const Chunk*)(x + j * step);
  C mean = 0, rest = 0;
  if (Center) {
    Eight<C> sum = Eight<C>::zero();
    HT_UNROLL for (int j = 0; j < Keep; j++) {
      const Vec in = opened<Vec>(v[j]);
      if (j * step < left) HT_UNROLL for (int i = 0; i < V; i++) sum.v[(j * V + i) % 8] += (C)wide(in.v[i]);
    }
    const double center = line_mean(p, across<Plus>(total(sum), Lanes));
    mean = (C)center, rest = (C)(center - (double)mean);  // the mean is not rounded
  }
  Eight<C> square = Eight<C>::zero();
  HT_UNROLL for (int j = 0; j < Keep; j++) {
    const Vec in = opened<Vec>(v[j]);
    if (j * step < left) {
      HT_UNROLL for (int i = 0; i < V; i++) {
        const C e = (C)wide(in.v[i]) - mean - rest;
        C& sum = square.v[(j * V + i) % 8];
        sum = fused(e, e, sum);
      }
    }
  }
  const C rate = line_rate(across<Plus>(total(square), Lanes) * p.attr[2] + p.attr[0], (C)0);
  const T *w = (const T*)p.in[1], *b = (const T*)p.in[2];
  const Chunk one = all_of<T>(1), zero = all_of<T>(-0.0f);  // which leave even -0 as it is
  HT_UNROLL for (int from = 0; from < Keep; from += some) {
    Chunk weights[some], biases[some];
    HT_UNROLL for (int j = 0; j < some; j++) {
      const int at = (from + j) * step;
      weights[j] = one, biases[j] = zero;
      if (w && at < left) weights[j] = *(const Chunk*)(w + lane * V + at);
      if (b && at < left) biases[j] = *(const Chunk*)(b + lane * V + at);
    }
    HT_UNROLL for (int j = 0; j < some; j++) {
      const int at = (from + j) * step;
      const Vec in = opened<Vec>(v[from + j]), weight = opened<Vec>(weights[j]), bias = opened<Vec>(biases[j]);
      if (at < left) {
        Vec out;
        HT_UNROLL for (int i = 0; i < V; i++) {
          out.v[i] = narrow<T>::of(fused(((C)wide(in.v[i]) - mean - rest) * rate, (C)wide(weight.v[i]), (C)wide(bias.v[i])));
        }
        *(Vec*)(y + at) = out;
      }
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

template <bool Center, int Keep, class T> HT_FN void norm_pass(const Lines& p) {
  const int per = LINE_THREADS / p.lanes, lane = threadIdx.x % p.lanes;
  const i64 k = (i64)blockIdx.x * per + threadIdx.x / p.lanes;
  if (k >= p.lines) return;
  i64 off[2];
  where<2>(p, (u32)k, off);
  const T* x = (const T*)p.in[0] + off[1];
  T* y = (T*)p.out + off[0];
  if (Keep > KEEP) norm_kept<Center, Keep, 32>(p, x, y, lane);
  else if (!(p.flags & LINE_KEEP)) norm_line<Center>(p, x, y, lane);
  else if (p.lanes == 32) norm_kept<Center, Keep, 32>(p, x, y, lane);
  else norm_kept<Center, Keep, LINE_THREADS>(p, x, y, lane);
}

// A kernel keeps so many vectors a lane: those that keep more than KEEP give each line to a warp, the others take all the rest.
#define NORM(S, T, Stem, Keep, Blocks)                                                    \
  HT_KERNEL_TIMES(LINE_THREADS, Blocks, layer_norm_##Stem##S, Lines, p) { norm_pass<true, Keep, T>(p); } \
  HT_KERNEL_TIMES(LINE_THREADS, Blocks, rms_norm_##Stem##S, Lines, p) { norm_pass<false, Keep, T>(p); }
#define NORMS(S, T) NORM(S, T, , KEEP, 3) NORM(S, T, 8_, 8, 3) NORM(S, T, 16_, 16, 2)
NORMS(f16, f16) NORMS(bf16, bf16) NORMS(f32, float) NORM(f64, double, , KEEP, 3)
