// pad_backward: every element of the result is the sum of those of dy that padding made of it, one to three dimensions deep. Added up in
// float64, in the order in which they lie.
#include "map.h"

enum { PAD_THREADS = 256 };
enum { PAD_REFLECT = 0, PAD_REPLICATE = 1, PAD_CIRCULAR = 2 };  // Pad.mode

struct Pad {
  void* out;
  const void* dy;
  i64 n;                // elements of out, which lies without gaps
  int rank, mode, deep, unused;  // deep: the last dimensions, which are padded
  int shape[8];         // of out
  i64 stride[8];        // of dy
  i64 size[8];          // of dy, of the padded dimensions
  i64 before[8];
};

// What became of element i of a dimension of n: count places of dy from first on, step apart, of up to three such lists.
struct Copies { i64 first, count, step; };
HT_FN void pad_add(Copies (&list)[3], int& k, i64 lo, i64 hi, i64 step, i64 size) {  // lo … hi within dy
  lo = lo < 0 ? 0 : lo;
  hi = hi >= size ? size - 1 : hi;
  if (lo <= hi) list[k++] = Copies{lo, (hi - lo) / step + 1, step};
}
HT_FN int pad_copies(const Pad& p, int d, i64 i, Copies (&list)[3]) {
  const i64 n = p.shape[d], before = p.before[d], size = p.size[d];
  int k = 0;
  if (p.mode == PAD_REFLECT) {  // mirror images of i before and behind
    if (i >= 1) pad_add(list, k, before - i, before - i, 1, size);
    pad_add(list, k, before + i, before + i, 1, size);
    if (i <= n - 2) pad_add(list, k, before + 2 * (n - 1) - i, before + 2 * (n - 1) - i, 1, size);
  } else if (p.mode == PAD_REPLICATE) {
    pad_add(list, k, i == 0 ? 0 : before + i, i == n - 1 ? size - 1 : before + i, 1, size);
  } else {  // what is taken off at one end does not come back at the other
    const i64 first = before < 0 ? -before : 0, after = size - n - before, left = n - first + (after < 0 ? after : 0);
    if (i >= first && i < first + left) pad_add(list, k, (before + i) % left, size - 1, left, size);
  }
  return k;
}

template <class T> HT_FN void pad_backward(const Pad& p) {
  const i64 i = (i64)blockIdx.x * PAD_THREADS + threadIdx.x;
  if (i >= p.n) return;
  Copies list[3][3];
  int lists[3];
  i64 base = 0;
  u32 at = (u32)i;
  HT_ROLLED for (int d = p.rank - 1; d >= 0; d--) {
    const u32 q = at / (u32)p.shape[d], r = at - q * (u32)p.shape[d];
    const int k = p.rank - 1 - d;
    if (k < p.deep) lists[k] = pad_copies(p, d, r, list[k]);
    else base += r * p.stride[d];
    at = q;
  }
  HT_ROLLED for (int k = p.deep; k < 3; k++) {
    lists[k] = 1;
    list[k][0] = Copies{0, 1, 1};
  }
  const i64 s0 = p.stride[p.rank - 1], s1 = p.deep > 1 ? p.stride[p.rank - 2] : 0, s2 = p.deep > 2 ? p.stride[p.rank - 3] : 0;
  double sum = 0;
  HT_ROLLED for (int a = 0; a < lists[2]; a++)
    HT_ROLLED for (i64 x = 0; x < list[2][a].count; x++)
      HT_ROLLED for (int b = 0; b < lists[1]; b++)
        HT_ROLLED for (i64 y = 0; y < list[1][b].count; y++)
          HT_ROLLED for (int c = 0; c < lists[0]; c++) {
            const T* from = (const T*)p.dy + base + (list[2][a].first + x * list[2][a].step) * s2 + (list[1][b].first + y * list[1][b].step) * s1;
            HT_ROLLED for (i64 z = 0; z < list[0][c].count; z++) sum += (double)wide(from[(list[0][c].first + z * list[0][c].step) * s0]);
          }
  ((T*)p.out)[i] = narrow<T>::of(sum);
}
HT_KERNEL(pad_backward_f16, Pad, p) { pad_backward<f16>(p); }
HT_KERNEL(pad_backward_bf16, Pad, p) { pad_backward<bf16>(p); }
HT_KERNEL(pad_backward_f32, Pad, p) { pad_backward<float>(p); }
HT_KERNEL(pad_backward_f64, Pad, p) { pad_backward<double>(p); }
