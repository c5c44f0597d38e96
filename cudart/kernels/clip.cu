// Clipping by the norm of many gradients: clip_sum adds up powers block by block, clip_total the blocks' sums in their order, clip_norm
// multiplies. Sums are in double.
#include "lists.h"
#include "special.h"

enum { CLIP_EACH = 8 };
enum { CLIP_LARGEST = 1, CLIP_ABS = 2, CLIP_SQUARE = 4 };

struct Clip {
  void* ptr[LIST_TENSORS];
  List list;
  double* sum;      // over everything so far
  double* partial;  // one a block
  double power, limit;
  int flags, unused;
};

HT_FN double clip_join(const Clip& p, double a, double b) {
  if (!(p.flags & CLIP_LARGEST)) return a + b;
  return a != a || a > b ? a : b;  // NaN stays
}

// clip_portion takes this block's elements of its tensor.
template <class T> HT_FN Portion<T, CLIP_EACH> clip_portion(const Clip& p) {
  const ListBlock b = list_block(p.list, CLIP_EACH);
  return Portion<T, CLIP_EACH>(p.ptr[b.k], b);
}

HT_FN double clip_term(const Clip& p, double v) {
  return p.flags & (CLIP_ABS | CLIP_LARGEST) ? v : p.flags & CLIP_SQUARE ? v * v : ht_pow(v, p.power);
}
template <class T> HT_FN void clip_sum_pass(const Clip& p) {
  __shared__ double sums[LIST_THREADS];
  const auto piece = clip_portion<T>(p);
  double sum = 0;
  HT_UNROLL for (int part = 0; part < piece.parts; part++)
    HT_UNROLL for (int i = 0; i < piece.V; i++)
      if (piece.has(part, i)) sum = clip_join(p, clip_term(p, ht_abs((double)wide(piece.v[part].v[i]))), sum);
  sums[threadIdx.x] = sum;
  __syncthreads();
  HT_ROLLED for (int half = LIST_THREADS / 2; half > 0; half /= 2) {
    if ((int)threadIdx.x < half) sums[threadIdx.x] = clip_join(p, sums[threadIdx.x + half], sums[threadIdx.x]);
    __syncthreads();
  }
  if (threadIdx.x == 0) p.partial[blockIdx.x] = sums[0];
}
HT_KERNEL(clip_sum_f16, Clip, p) { clip_sum_pass<f16>(p); }
HT_KERNEL(clip_sum_bf16, Clip, p) { clip_sum_pass<bf16>(p); }
HT_KERNEL(clip_sum_f32, Clip, p) { clip_sum_pass<float>(p); }
HT_KERNEL(clip_sum_f64, Clip, p) { clip_sum_pass<double>(p); }

// clip_total is one block; the blocks' number lies in list.begin[count].
HT_KERNEL(clip_total, Clip, p) {
  __shared__ double sums[LIST_THREADS];
  const int n = p.list.begin[p.list.count];
  double sum = 0;
  HT_ROLLED for (int i = threadIdx.x; i < n; i += LIST_THREADS) sum = clip_join(p, p.partial[i], sum);
  sums[threadIdx.x] = sum;
  __syncthreads();
  HT_ROLLED for (int half = LIST_THREADS / 2; half > 0; half /= 2) {
    if ((int)threadIdx.x < half) sums[threadIdx.x] = clip_join(p, sums[threadIdx.x + half], sums[threadIdx.x]);
    __syncthreads();
  }
  if (threadIdx.x == 0) *p.sum = clip_join(p, sums[0], *p.sum);
}

template <class T> HT_FN void clip_norm_pass(const Clip& p) {
  typedef typename as<T>::wide C;
  const double s = *p.sum;
  const double norm = p.flags & (CLIP_ABS | CLIP_LARGEST) ? s : p.flags & CLIP_SQUARE ? ht_sqrt(s) : ht_pow(s, 1 / p.power);
  const double factor = p.limit / (norm + 1e-6);
  if (factor >= 1) return;
  const C c = (C)factor;
  auto piece = clip_portion<T>(p);
  HT_UNROLL for (int part = 0; part < piece.parts; part++)
    HT_UNROLL for (int i = 0; i < piece.V; i++) piece.v[part].v[i] = narrow<T>::of(wide(piece.v[part].v[i]) * c);
  piece.store();
}
HT_KERNEL(clip_norm_f16, Clip, p) { clip_norm_pass<f16>(p); }
HT_KERNEL(clip_norm_bf16, Clip, p) { clip_norm_pass<bf16>(p); }
HT_KERNEL(clip_norm_f32, Clip, p) { clip_norm_pass<float>(p); }
HT_KERNEL(clip_norm_f64, Clip, p) { clip_norm_pass<double>(p); }
