// running_stats_: mean and variance of a batch norm move towards those of the batch, and the count of batches goes up, in one launch.
#include "prelude.h"

enum { RUNNING_THREADS = 256 };

struct Running {
  void* row[2];        // running mean and variance, n channels each
  const void* stats;   // of the batch: two rows of n channels
  i64* batches;        // or null
  i64 n;
  int dtype[2];        // of the rows: 0 f16, 1 bf16, 2 f32, 3 f64
  double momentum, unbias;
};

template <class T> HT_FN void running_move(void* row, i64 i, double now, double momentum, double factor) {
  T* at = (T*)row + i;
  *at = narrow<T>::of((1 - momentum) * (double)wide(*at) + momentum * factor * now);
}

template <class S> HT_FN void running_pass(const Running& p) {
  const i64 i = (i64)blockIdx.x * RUNNING_THREADS + threadIdx.x;
  if (i == 0 && p.batches) ++*p.batches;
  if (i >= 2 * p.n) return;
  const int k = i >= p.n;
  const i64 c = i - k * p.n;
  const double now = (double)((const S*)p.stats)[i], factor = k ? p.unbias : 1;
  void* row = k ? p.row[1] : p.row[0];
  switch (k ? p.dtype[1] : p.dtype[0]) {
    case 0: running_move<f16>(row, c, now, p.momentum, factor); break;
    case 1: running_move<bf16>(row, c, now, p.momentum, factor); break;
    case 2: running_move<float>(row, c, now, p.momentum, factor); break;
    default: running_move<double>(row, c, now, p.momentum, factor);
  }
}
HT_KERNEL(running_stats_f32, Running, p) { running_pass<float>(p); }
HT_KERNEL(running_stats_f64, Running, p) { running_pass<double>(p); }
