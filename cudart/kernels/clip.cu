// Clipping by the norm of many gradients: clip_sum adds up powers block by block, clip_total the blocks' sums in their order, clip_norm
// multiplies. Sums are in double.
#include "map.h"
#include "special.h"

enum { CLIP_TENSORS = 24, CLIP_THREADS = 256, CLIP_EACH = 8 };
enum { CLIP_LARGEST = 1, CLIP_ABS = 2, CLIP_SQUARE = 4 };

struct Clip {
  void* ptr[CLIP_TENSORS];
  i64 n[CLIP_TENSORS];
  int block[CLIP_TENSORS + 1];  // of the grid, where each tensor begins
  int count, flags, unused;
  double* sum;      // over everything so far
  double* partial;  // one a block
  double power, limit;
};

HT_FN double clip_join(const Clip& p, double a, double b) {
  if (!(p.flags & CLIP_LARGEST)) return a + b;
  return a != a || a > b ? a : b;  // NaN stays
}

// A thread's elements of a tensor: 8 in vectors, a block's side by side. They are read at once where the tensor lies so and goes on so long, one by
// one elsewhere: the same ones, in the same order.
template <class T> struct ClipPiece {
  static const int V = 16 / sizeof(T), parts = CLIP_EACH / V;
  typedef vec<V, T> Vec;
  T* at;
  i64 left;  // elements from at on
  bool whole;
  Vec v[parts];
  __device__ __forceinline__ ClipPiece(const Clip& p) {
    int k = 0;
    HT_ROLLED while (k + 1 < p.count && (int)blockIdx.x >= p.block[k + 1]) k++;
    const i64 from = (i64)((int)blockIdx.x - p.block[k]) * (CLIP_THREADS * CLIP_EACH), mine = from + threadIdx.x * V;
    at = (T*)p.ptr[k] + mine, left = p.n[k] - mine;
    whole = (u64)p.ptr[k] % 16 == 0 && from + CLIP_THREADS * CLIP_EACH <= p.n[k];
    if (whole) {
      HT_UNROLL for (int part = 0; part < parts; part++) v[part] = __builtin_bit_cast(Vec, ((const vec<4, u32>*)at)[part * CLIP_THREADS]);
      return;
    }
    HT_UNROLL for (int part = 0; part < parts; part++)
      HT_UNROLL for (int i = 0; i < V; i++)
        if (has(part, i)) v[part].v[i] = at[place(part, i)];
  }
  HT_FN i64 place(int part, int i) { return part * CLIP_THREADS * V + i; }
  __device__ __forceinline__ bool has(int part, int i) const { return whole || place(part, i) < left; }
  __device__ __forceinline__ void store() {
    if (whole) {
      HT_UNROLL for (int part = 0; part < parts; part++) ((Vec*)at)[part * CLIP_THREADS] = v[part];
      return;
    }
    HT_UNROLL for (int part = 0; part < parts; part++)
      HT_UNROLL for (int i = 0; i < V; i++)
        if (has(part, i)) at[place(part, i)] = v[part].v[i];
  }
};

HT_FN double clip_term(const Clip& p, double v) {
  return p.flags & (CLIP_ABS | CLIP_LARGEST) ? v : p.flags & CLIP_SQUARE ? v * v : ht_pow(v, p.power);
}
template <class T> HT_FN void clip_sum_pass(const Clip& p) {
  __shared__ double sums[CLIP_THREADS];
  const ClipPiece<T> piece(p);
  double sum = 0;
  HT_UNROLL for (int part = 0; part < piece.parts; part++)
    HT_UNROLL for (int i = 0; i < piece.V; i++)
      if (piece.has(part, i)) sum = clip_join(p, clip_term(p, ht_abs((double)wide(piece.v[part].v[i]))), sum);
  sums[threadIdx.x] = sum;
  __syncthreads();
  HT_ROLLED for (int half = CLIP_THREADS / 2; half > 0; half /= 2) {
    if ((int)threadIdx.x < half) sums[threadIdx.x] = clip_join(p, sums[threadIdx.x + half], sums[threadIdx.x]);
    __syncthreads();
  }
  if (threadIdx.x == 0) p.partial[blockIdx.x] = sums[0];
}
HT_KERNEL(clip_sum_f16, Clip, p) { clip_sum_pass<f16>(p); }
HT_KERNEL(clip_sum_bf16, Clip, p) { clip_sum_pass<bf16>(p); }
HT_KERNEL(clip_sum_f32, Clip, p) { clip_sum_pass<float>(p); }
HT_KERNEL(clip_sum_f64, Clip, p) { clip_sum_pass<double>(p); }

// clip_total is one block; the blocks' number lies in block[count].
HT_KERNEL(clip_total, Clip, p) {
  __shared__ double sums[CLIP_THREADS];
  const int n = p.block[p.count];
  double sum = 0;
  HT_ROLLED for (int i = threadIdx.x; i < n; i += CLIP_THREADS) sum = clip_join(p, p.partial[i], sum);
  sums[threadIdx.x] = sum;
  __syncthreads();
  HT_ROLLED for (int half = CLIP_THREADS / 2; half > 0; half /= 2) {
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
  ClipPiece<T> piece(p);
  HT_UNROLL for (int part = 0; part < piece.parts; part++)
    HT_UNROLL for (int i = 0; i < piece.V; i++) piece.v[part].v[i] = narrow<T>::of(wide(piece.v[part].v[i]) * c);
  piece.store();
}
HT_KERNEL(clip_norm_f16, Clip, p) { clip_norm_pass<f16>(p); }
HT_KERNEL(clip_norm_bf16, Clip, p) { clip_norm_pass<bf16>(p); }
HT_KERNEL(clip_norm_f32, Clip, p) { clip_norm_pass<float>(p); }
HT_KERNEL(clip_norm_f64, Clip, p) { clip_norm_pass<double>(p); }
