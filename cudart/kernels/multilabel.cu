// multilabel_margin_loss: the classes that a row of targets names, up to its first -1, should each be above every other class by 1. A block has
// a row, and a bit per class in shared memory.
#include "map.h"
#include "refuse.h"

enum { LABEL_THREADS = 256, LABEL_WORDS = 2048 };  // up to 65536 classes

struct Labels {
  void* out;            // loss: [rows] of float64 or, with each, of the dtype; its gradient [rows][classes]
  const void *x, *dy;
  const i64* target;
  i64 classes, xrow, xstep, trow, tstep, dyrow;
  double share;         // of a row, over the classes
  int each, unused;
  Guard guard;
};

// Named are the classes that a row names: bits, and how many of the targets count.
struct Named {
  const Labels& p;
  const i64* target;
  int* bits;
  i64 count;
  __device__ __forceinline__ i64 class_of(i64 k) {
    const i64 c = target[k * p.tstep];
    return c >= 0 && c < p.classes ? c : -1;
  }
  __device__ __forceinline__ bool has(i64 c) { return bits[c >> 5] >> (c & 31) & 1; }
};

HT_FN Named named(const Labels& p) {
  __shared__ int bits[LABEL_WORDS];
  __shared__ u64 end;
  const i64* target = p.target + blockIdx.x * p.trow;
  for (i64 w = threadIdx.x; w <= (p.classes - 1) >> 5; w += LABEL_THREADS) bits[w] = 0;
  if (threadIdx.x == 0) end = (u64)p.classes;
  __syncthreads();
  for (i64 k = threadIdx.x; k < p.classes; k += LABEL_THREADS) {
    if (target[k * p.tstep] == -1) {
      atomicMin(&end, (u64)k);
      break;  // this thread's later ones are behind it
    }
  }
  __syncthreads();
  Named n{p, target, bits, (i64)end};
  for (i64 k = threadIdx.x; k < n.count; k += LABEL_THREADS) {
    const i64 c = n.class_of(k);
    if (c >= 0) atomicOr(&bits[c >> 5], (int)(1u << (c & 31)));
    else refuse(p.guard, blockIdx.x * p.classes + k, target[k * p.tstep], 0, p.classes);
  }
  __syncthreads();
  return n;
}

template <class T> HT_FN void labels(const Labels& p) {
  __shared__ double cell[LABEL_THREADS];
  Named n = named(p);
  const T* x = (const T*)p.x + blockIdx.x * p.xrow;
  double sum = 0;
  HT_ROLLED for (i64 i = threadIdx.x; i < p.classes; i += LABEL_THREADS) {
    if (n.has(i)) continue;
    const double v = (double)wide(x[i * p.xstep]);
    HT_ROLLED for (i64 k = 0; k < n.count; k++) {
      const i64 j = n.class_of(k);
      const double gap = j < 0 ? 0 : 1 - (double)wide(x[j * p.xstep]) + v;
      if (gap > 0) sum += gap;
    }
  }
  cell[threadIdx.x] = sum;
  __syncthreads();
  for (int half = LABEL_THREADS / 2; half > 0; half >>= 1) {
    if ((int)threadIdx.x < half) cell[threadIdx.x] += cell[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x != 0) return;
  const double loss = cell[0] / (double)p.classes;
  if (p.each) ((T*)p.out)[blockIdx.x] = narrow<T>::of(loss);
  else ((double*)p.out)[blockIdx.x] = loss;
}

// The slope at a class that is not named counts the targets it is too near to; that at a named one counts down the classes too near to it, once
// for each time it is named.
template <class T> HT_FN void label_slopes(const Labels& p) {
  Named n = named(p);
  const T* x = (const T*)p.x + blockIdx.x * p.xrow;
  const double unit = p.share * (double)wide(((const T*)p.dy)[blockIdx.x * p.dyrow]);
  HT_ROLLED for (i64 i = threadIdx.x; i < p.classes; i += LABEL_THREADS) {
    const double v = (double)wide(x[i * p.xstep]);
    i64 times = 0, near = 0;
    const bool here = n.has(i);
    HT_ROLLED for (i64 k = 0; k < n.count; k++) {
      const i64 j = n.class_of(k);
      if (j < 0) continue;
      if (here) times += j == i;
      else near += 1 - (double)wide(x[j * p.xstep]) + v > 0;
    }
    if (here) {
      HT_ROLLED for (i64 j = 0; j < p.classes; j++) near -= !n.has(j) && 1 - v + (double)wide(x[j * p.xstep]) > 0;
      near *= times;
    }
    ((T*)p.out)[blockIdx.x * p.classes + i] = narrow<T>::of((double)near * unit);
  }
}
#define LABELS(S, T)                                                       \
  HT_KERNEL(multilabel_margin_loss_##S, Labels, p) { labels<T>(p); }       \
  HT_KERNEL(multilabel_margin_loss_backward_##S, Labels, p) { label_slopes<T>(p); }
LABELS(f16, f16) LABELS(bf16, bf16) LABELS(f32, float) LABELS(f64, double)
