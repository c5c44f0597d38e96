// Convolutions as matrix products whose operands are never written out: out(m, n) = Σ over k of a(m, k)·b(k, n), where b is an element of
// x (or dy) at a place that k and n give together, 0 outside. One kernel makes the convolution, the transposed one and the gradient of
// the weight; the host says what m, n and k stand for. Channels come first in memory, [n, c, d, h, w]. Halves go to tensor cores where there
// are some (conv_mma.cu).
#include "prelude.h"

enum { CONV_THREADS = 256 };
enum { CONV_FORWARD, CONV_TRANSPOSE, CONV_WEIGHT };

struct Conv {
  void* out;
  const void *a, *b, *bias;
  void* partial;            // [splits][groups][m][n] of sums, where k is split
  int m, n, k, groups, splits, mode;
  int channels, taps;       // of k in a convolution, of n in the gradient of a weight
  int kernel[3], dilation[3], stride[3], padding[3];
  int size[3], grid[3];     // of a plane of b; of the positions
  i64 a_m, a_group;         // distance of rows m of a; of its groups
  i64 b_image, b_group;     // distances of images and groups of b
  i64 out_m, out_group, out_image;
  i64 a_image;              // of dy, in the gradient of a weight
};

// A Place is one side of a position in b: offsets add up, coordinates too.
struct Place { i64 off; int z, y, x; };

HT_FN i64 plane_of(const int (&s)[3]) { return (i64)s[0] * s[1] * s[2]; }
// tap_place: channel and tap.
HT_FN Place tap_place(const Conv& p, int i) {
  const int c = i / p.taps;
  int t = i - c * p.taps;
  const int x = t % p.kernel[2];
  t /= p.kernel[2];
  const int y = t % p.kernel[1], z = t / p.kernel[1], sign = p.mode == CONV_TRANSPOSE ? -1 : 1;
  return Place{c * plane_of(p.size), sign * z * p.dilation[0], sign * y * p.dilation[1], sign * x * p.dilation[2]};
}
// grid_place: image and position; at is the position in its plane.
HT_FN Place grid_place(const Conv& p, int i, int& image, int& at) {
  const int plane = p.grid[0] * p.grid[1] * p.grid[2];
  image = i / plane;
  at = i - image * plane;
  const int x = at % p.grid[2], r = at / p.grid[2], y = r % p.grid[1], z = r / p.grid[1];
  if (p.mode == CONV_TRANSPOSE) return Place{image * p.b_image, z + p.padding[0], y + p.padding[1], x + p.padding[2]};
  return Place{image * p.b_image, z * p.stride[0] - p.padding[0], y * p.stride[1] - p.padding[1], x * p.stride[2] - p.padding[2]};
}
// conv_at reads b where two places point; a transposed convolution has elements at multiples of the stride alone.
template <class T> HT_FN T conv_at(const Conv& p, const T* b, const Place& u, const Place& v) {
  int z = u.z + v.z, y = u.y + v.y, x = u.x + v.x;
  if (p.mode == CONV_TRANSPOSE) {
    const int qz = z / p.stride[0], qy = y / p.stride[1], qx = x / p.stride[2];
    if (z < 0 || y < 0 || x < 0 || qz * p.stride[0] != z || qy * p.stride[1] != y || qx * p.stride[2] != x) return T{};
    z = qz, y = qy, x = qx;
  }
  if ((u32)z >= (u32)p.size[0] || (u32)y >= (u32)p.size[1] || (u32)x >= (u32)p.size[2]) return T{};
  return b[u.off + v.off + ((i64)z * p.size[1] + y) * p.size[2] + x];
}

// A Step is what one k stands for: where it lies in a, and its side of the place in b.
struct Step { i64 a; Place b; };
HT_FN Step conv_step(const Conv& p, int k) {
  Step s;
  if (p.mode == CONV_WEIGHT) {
    int image, at;
    s.b = grid_place(p, k, image, at);
    s.a = image * p.a_image + at;
    return s;
  }
  s.b = tap_place(p, k);
  const int c = k / p.taps;
  s.a = p.mode == CONV_TRANSPOSE ? (i64)c * p.m * p.taps + (k - c * p.taps) : (i64)k;
  return s;
}
// A column n: its side of the place in b, and where its results lie.
HT_FN Place conv_column(const Conv& p, int n, i64& out) {
  if (p.mode == CONV_WEIGHT) {
    out = n;
    return tap_place(p, n);
  }
  int image, at;
  const Place b = grid_place(p, n, image, at);
  out = image * p.out_image + at;
  return b;
}

// conv_store writes a sum: to its split, or with the bias to the result.
template <class T> HT_FN void conv_store(const Conv& p, typename as<T>::wide sum, int group, int split, int m, int n, i64 out) {
  typedef typename as<T>::wide C;
  if (p.splits > 1) {
    ((C*)p.partial)[(((i64)split * p.groups + group) * p.m + m) * p.n + n] = sum;
    return;
  }
  if (p.bias) sum += wide(((const T*)p.bias)[group * p.m + m]);
  ((T*)p.out)[group * p.out_group + m * p.out_m + out] = narrow<T>::of(sum);
}

// Blocks of 64 × 64 by multiply-adds. blockIdx.x is the tile, column by column; blockIdx.z is group and split.
template <class T> HT_FN void conv_tile(const Conv& p) {
  typedef typename as<T>::wide C;
  const int S = 64, K = 16;
  __shared__ C as_[K][S + 1], bs_[K][S + 1];
  __shared__ Step step[K];
  const int t = threadIdx.x, tx = t % 16, ty = t / 16, tilesM = (p.m + S - 1) / S;
  const int m0 = (int)(blockIdx.x % tilesM) * S, n0 = (int)(blockIdx.x / tilesM) * S;
  const int group = blockIdx.z % p.groups, split = blockIdx.z / p.groups;
  const T *a = (const T*)p.a + group * p.a_group, *b = (const T*)p.b + group * p.b_group;
  i64 unused;
  const int mine = n0 + t % S;
  const Place column = conv_column(p, mine < p.n ? mine : 0, unused);
  C sum[4][4];
  HT_UNROLL for (int i = 0; i < 4; i++) HT_UNROLL for (int j = 0; j < 4; j++) sum[i][j] = 0;
  const int per = ((p.k + p.splits - 1) / p.splits + K - 1) / K * K, from = per * split, to = from + per < p.k ? from + per : p.k;
  for (int k0 = from; k0 < to; k0 += K) {
    if (t < K && k0 + t < to) step[t] = conv_step(p, k0 + t);
    __syncthreads();
    HT_UNROLL for (int i = 0; i < 4; i++) {
      const int k = t % K, m = t / K + 16 * i, k2 = t / S + 4 * i;
      as_[k][m] = m0 + m < p.m && k0 + k < to ? wide(a[(m0 + m) * p.a_m + step[k].a]) : (C)0;
      bs_[k2][t % S] = mine < p.n && k0 + k2 < to ? wide(conv_at(p, b, step[k2].b, column)) : (C)0;
    }
    __syncthreads();
    HT_UNROLL for (int k = 0; k < K; k++) {
      C av[4], bv[4];
      HT_UNROLL for (int i = 0; i < 4; i++) av[i] = as_[k][ty + 16 * i], bv[i] = bs_[k][tx + 16 * i];
      HT_UNROLL for (int i = 0; i < 4; i++) HT_UNROLL for (int j = 0; j < 4; j++) sum[i][j] = fused(av[i], bv[j], sum[i][j]);
    }
    __syncthreads();
  }
  HT_UNROLL for (int j = 0; j < 4; j++) {
    const int n = n0 + tx + 16 * j;
    if (n >= p.n) continue;
    i64 out;
    conv_column(p, n, out);
    HT_UNROLL for (int i = 0; i < 4; i++) {
      const int m = m0 + ty + 16 * i;
      if (m < p.m) conv_store<T>(p, sum[i][j], group, split, m, n, out);
    }
  }
}

// conv_sum brings the splits together, in their order.
template <class T> HT_FN void conv_sum(const Conv& p) {
  typedef typename as<T>::wide C;
  const i64 all = (i64)p.groups * p.m * p.n, i = (i64)blockIdx.x * CONV_THREADS + threadIdx.x;
  if (i >= all) return;
  const int n = (int)(i % p.n), m = (int)(i / p.n % p.m), group = (int)(i / p.n / p.m);
  C sum = 0;
  for (int s = 0; s < p.splits; s++) sum += ((const C*)p.partial)[s * all + i];
  i64 out;
  conv_column(p, n, out);
  if (p.bias) sum += wide(((const T*)p.bias)[group * p.m + m]);
  ((T*)p.out)[group * p.out_group + m * p.out_m + out] = narrow<T>::of(sum);
}
#define CONV(S, T)                                            \
  HT_KERNEL(conv_##S, Conv, p) { conv_tile<T>(p); }           \
  HT_KERNEL(conv_sum_##S, Conv, p) { conv_sum<T>(p); }
CONV(f16, f16) CONV(bf16, bf16) CONV(f32, float) CONV(f64, double)
