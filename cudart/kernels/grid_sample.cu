// grid_sample: a thread reads an image at one point of the grid for some channels. Places and weights are computed in float64. The gradient
// of the image is gathered: the reads of all points are listed by the element they read, each list is brought into the order of the points,
// and a thread adds up one element's list in float64. Lists take their room in any order, and integers count; the sums do not depend on it.
#include "prelude.h"

enum { GRID_THREADS = 256 };
enum { GRID_BILINEAR = 0, GRID_NEAREST = 1, GRID_BICUBIC = 2 };  // Grid.mode
enum { GRID_ZEROS = 0, GRID_BORDER = 1, GRID_REFLECTION = 2 };   // Grid.padding

struct Grid {
  void* out;
  const void *x, *grid;        // x is the image, in the gradient dy
  i64 n;                       // points, in all images; in the gradient's sums elements of a channel
  int dims, channels, groups;  // dims: 2 or 3; groups: threads that share the channels of a point
  int mode, padding, align;
  int image[3], points[3];     // sizes; of two dimensions the first is 1
  int order[3], taps;          // of the derivative to the grid; reads of a point, at most 64
  i64 stride[5], at[5];        // of x: image, channel and the dimensions; of grid: image, the dimensions, coordinate
  u32 *count, *end, *list, *place, *cursor;  // per element: reads, and where its list ends; reads by element; element by read
  void* weight;                // by read
};

struct Inside { double at, sign; };
// grid_inside brings a coordinate inside, and says how it moves with the one given: 1, -1 where it is reflected, 0 where it is held.
HT_FN Inside grid_inside(const Grid& p, double at, int n) {
  double sign = 1;
  if (p.padding == GRID_ZEROS) return Inside{at, 1};
  if (p.padding == GRID_REFLECTION) {
    const double low = p.align ? 0 : -0.5, span = p.align ? (double)(n - 1) : (double)n;
    if (span == 0) {
      at = sign = 0;
    } else {
      at -= low;
      if (at < 0) at = -at, sign = -1;
      const double turns = ht_floor(at / span);
      double rest = ht_fma(-turns, span, at);  // as fmod, but at the ends
      if (rest < 0) rest = 0;
      if (turns - 2 * ht_floor(turns / 2) == 0) at = rest + low;
      else at = span - rest + low, sign = -sign;
    }
  }
  const double last = (double)(n - 1);
  if (!(at > 0)) return Inside{0, 0};  // NaN, too
  if (at >= last) return Inside{last, 0};
  return Inside{at, sign};
}

// Derivatives of Keys' kernel within 1 and from 1 to 2, a = -0.75.
HT_FN double grid_near(double x, int order) {
  const double a = -0.75;
  if (order == 0) return ((a + 2) * x - (a + 3)) * x * x + 1;
  if (order == 1) return (3 * (a + 2) * x - 2 * (a + 3)) * x;
  if (order == 2) return 6 * (a + 2) * x - 2 * (a + 3);
  return order == 3 ? 6 * (a + 2) : 0;
}
HT_FN double grid_far(double x, int order) {
  const double a = -0.75;
  if (order == 0) return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a;
  if (order == 1) return (3 * a * x - 10 * a) * x + 8 * a;
  if (order == 2) return 6 * a * x - 10 * a;
  return order == 3 ? 6 * a : 0;
}

// The reads along one dimension: elements, -1 for none, and their weights.
template <int W> struct Reads { int index[W]; double weight[W]; };
template <int W> HT_FN void grid_put(Reads<W>& r, int k, double i, int n, double w) {
  const bool in = i >= 0 && i < (double)n;
  r.index[k] = in ? (int)i : -1;
  r.weight[k] = w;
}
template <int W> HT_FN Reads<W> grid_reads(const Grid& p, int d, double g) {
  Reads<W> r;
  HT_UNROLL for (int k = 0; k < W; k++) r.index[k] = -1, r.weight[k] = 0;
  const int n = p.image[d], order = p.order[d];
  double slope = (double)n / 2, at = ((g + 1) * (double)n - 1) / 2;
  if (p.align) slope = (double)(n - 1) / 2, at = (g + 1) / 2 * (double)(n - 1);
  Inside in = Inside{at, 1};
  if (W < 4) in = grid_inside(p, at, n);
  if (!(ht_abs(in.at) < 1099511627776.0)) return r;  // NaN, or outside of everything
  const double lo = ht_floor(in.at), x = in.at - lo;
  if constexpr (W == 1) {
    if (order == 0) grid_put(r, 0, ht_rint(in.at), n, 1);
  }
  if constexpr (W == 2) {
    if (order > 1) return r;
    grid_put(r, 0, lo, n, order == 0 ? 1 - x : -slope * in.sign);
    grid_put(r, 1, lo + 1, n, order == 0 ? x : slope * in.sign);
  }
  if constexpr (W == 4) {  // it is the elements that are brought inside, not the coordinate
    double scale = 1;
    for (int k = 0; k < order; k++) scale *= slope;
    const double back = order % 2 ? -scale : scale;
    const double w[4] = {scale * grid_far(1 + x, order), scale * grid_near(x, order), back * grid_near(1 - x, order), back * grid_far(2 - x, order)};
    HT_UNROLL for (int k = 0; k < 4; k++) {
      double i = lo - 1 + (double)k;
      if (p.padding != GRID_ZEROS) i = ht_trunc(grid_inside(p, i, n).at);
      grid_put(r, k, i, n, w[k]);
    }
  }
  return r;
}

// A point of the grid: its image, its number there, and its reads along each dimension.
template <int K, int W> struct Point { u32 image, at; Reads<1> none; Reads<W> z, y, x; };
template <class T, int K, int W> HT_FN Point<K, W> grid_point(const Grid& p, u32 i) {
  Point<K, W> o;
  const u32 w = (u32)p.points[2], h = (u32)p.points[1], d = (u32)p.points[0];
  const u32 x = i % w, y = i / w % h, z = i / w / h % d;
  o.image = i / w / h / d;
  o.at = i - o.image * w * h * d;
  const T* g = (const T*)p.grid + o.image * p.at[0] + z * p.at[1] + y * p.at[2] + x * p.at[3];
  o.x = grid_reads<W>(p, 2, (double)wide(g[0]));
  o.y = grid_reads<W>(p, 1, (double)wide(g[p.at[4]]));
  if constexpr (K == 3) o.z = grid_reads<W>(p, 0, (double)wide(g[2 * p.at[4]]));
  return o;
}
// each calls f(read, z, y, x, weight) for the reads of a point that lie inside, in the order of the elements.
template <int K, int W, class F> HT_FN void grid_each(const Point<K, W>& o, F f) {
  HT_UNROLL for (int c = 0; c < (K == 3 ? W : 1); c++) {
    const int z = K == 3 ? o.z.index[c] : 0;
    const double wz = K == 3 ? o.z.weight[c] : 1;
    HT_UNROLL for (int b = 0; b < W; b++)
      HT_UNROLL for (int a = 0; a < W; a++) {
        const int y = o.y.index[b], x = o.x.index[a];
        if (z >= 0 && y >= 0 && x >= 0) f((c * W + b) * W + a, z, y, x, wz * o.y.weight[b] * o.x.weight[a]);
      }
  }
}

template <class T, int K, int W> HT_FN void grid_read(const Grid& p, u32 i) {
  const Point<K, W> o = grid_point<T, K, W>(p, i);
  const i64 per = (i64)p.points[0] * p.points[1] * p.points[2];
  for (int c = blockIdx.y; c < p.channels; c += p.groups) {
    const T* x = (const T*)p.x + o.image * p.stride[0] + c * p.stride[1];
    double sum = 0;
    grid_each<K, W>(o, [&](int, int z, int y, int q, double w) { sum += w * (double)wide(x[z * p.stride[2] + y * p.stride[3] + q * p.stride[4]]); });
    ((T*)p.out)[((i64)o.image * p.channels + c) * per + o.at] = narrow<T>::of(sum);
  }
}
// grid_list notes for each read of a point what it reads and with which weight, and counts the reads of each element.
template <class T, int K, int W> HT_FN void grid_list(const Grid& p, u32 i) {
  const Point<K, W> o = grid_point<T, K, W>(p, i);
  const u32 first = i * (u32)p.taps, image = o.image * ((u32)p.image[0] * (u32)p.image[1] * (u32)p.image[2]);
  for (int k = 0; k < p.taps; k++) p.place[first + k] = 0xffffffffu;
  grid_each<K, W>(o, [&](int k, int z, int y, int x, double w) {
    const u32 at = image + ((u32)z * (u32)p.image[1] + (u32)y) * (u32)p.image[2] + (u32)x;
    p.place[first + k] = at;
    ((double*)p.weight)[first + k] = w;
    atomicAdd(p.count + at, 1u);
  });
}
template <class T, bool List, int K, int W> HT_FN void grid_do(const Grid& p, u32 i) {
  if constexpr (List) grid_list<T, K, W>(p, i);
  else grid_read<T, K, W>(p, i);
}
template <class T, bool List> HT_FN void grid_pass(const Grid& p) {
  const i64 i = (i64)blockIdx.x * GRID_THREADS + threadIdx.x;
  if (i >= p.n) return;
  if (p.dims == 2) {
    if (p.mode == GRID_BICUBIC) grid_do<T, List, 2, 4>(p, (u32)i);
    else if (p.mode == GRID_NEAREST) grid_do<T, List, 2, 1>(p, (u32)i);
    else grid_do<T, List, 2, 2>(p, (u32)i);
  } else if (p.mode == GRID_NEAREST) {
    grid_do<T, List, 3, 1>(p, (u32)i);
  } else {
    grid_do<T, List, 3, 2>(p, (u32)i);
  }
}

// grid_room gives the list of each of n elements its room: a block takes what its elements need at once.
HT_KERNEL(grid_room, Grid, p) {
  __shared__ u32 sums[2][GRID_THREADS];
  __shared__ u32 begin;
  const int t = threadIdx.x;
  const i64 i = (i64)blockIdx.x * GRID_THREADS + t;
  const u32 mine = i < p.n ? p.count[i] : 0;
  int now = 0;
  sums[0][t] = mine;
  __syncthreads();
  for (int by = 1; by < GRID_THREADS; by *= 2, now = 1 - now) {
    sums[1 - now][t] = sums[now][t] + (t >= by ? sums[now][t - by] : 0);
    __syncthreads();
  }
  if (t == GRID_THREADS - 1) begin = atomicAdd(p.cursor, sums[now][t]);
  __syncthreads();
  if (i < p.n) p.end[i] = begin + sums[now][t] - mine;  // grid_fill moves it to the end
}
// grid_fill puts n reads into their lists, in any order.
HT_KERNEL(grid_fill, Grid, p) {
  const i64 i = (i64)blockIdx.x * GRID_THREADS + threadIdx.x;
  if (i >= p.n) return;
  const u32 at = p.place[i];
  if (at == 0xffffffffu) return;
  p.list[atomicAdd(p.end + at, 1u)] = (u32)i;
}
// grid_order sorts the list of each of n elements: insertion for short ones, a heap for long ones.
HT_FN void heap_down(u32* v, u32 root, u32 n) {
  const u32 x = v[root];
  for (;;) {
    u32 child = 2 * root + 1;
    if (child >= n) break;
    if (child + 1 < n && v[child + 1] > v[child]) child++;
    if (v[child] <= x) break;
    v[root] = v[child];
    root = child;
  }
  v[root] = x;
}
HT_KERNEL(grid_order, Grid, p) {
  const i64 i = (i64)blockIdx.x * GRID_THREADS + threadIdx.x;
  if (i >= p.n) return;
  const u32 n = p.count[i];
  u32* v = p.list + (p.end[i] - n);
  if (n > 24) {
    for (u32 k = n / 2; k > 0; k--) heap_down(v, k - 1, n);
    for (u32 k = n - 1; k > 0; k--) {
      const u32 x = v[0];
      v[0] = v[k];
      v[k] = x;
      heap_down(v, 0, k);
    }
    return;
  }
  for (u32 k = 1; k < n; k++) {
    const u32 x = v[k];
    u32 j = k;
    for (; j > 0 && v[j - 1] > x; j--) v[j] = v[j - 1];
    v[j] = x;
  }
}
// grid_sample_backward: a thread per element of the n of all images and some channels.
template <class T> HT_FN void grid_sum(const Grid& p) {
  const i64 i = (i64)blockIdx.x * GRID_THREADS + threadIdx.x;
  if (i >= p.n) return;
  const u32 per = (u32)p.image[0] * (u32)p.image[1] * (u32)p.image[2], image = (u32)i / per, n = p.count[i];
  const u32 w = (u32)p.points[2], h = (u32)p.points[1], points = w * h * (u32)p.points[0];
  const u32* list = p.list + (p.end[i] - n);
  for (int c = blockIdx.y; c < p.channels; c += p.groups) {
    const T* dy = (const T*)p.x + image * p.stride[0] + c * p.stride[1];
    double sum = 0;
    for (u32 k = 0; k < n; k++) {
      const u32 read = list[k], at = read / (u32)p.taps - image * points;
      sum += ((const double*)p.weight)[read] * (double)wide(dy[at / w / h * p.stride[2] + at / w % h * p.stride[3] + at % w * p.stride[4]]);
    }
    ((T*)p.out)[((i64)image * p.channels + c) * per + ((u32)i - image * per)] = narrow<T>::of(sum);
  }
}
#define GRIDS(S, T)                                                 \
  HT_KERNEL(grid_sample_##S, Grid, p) { grid_pass<T, false>(p); }   \
  HT_KERNEL(grid_list_##S, Grid, p) { grid_pass<T, true>(p); }      \
  HT_KERNEL(grid_sample_backward_##S, Grid, p) { grid_sum<T>(p); }
GRIDS(f16, f16) GRIDS(bf16, bf16) GRIDS(f32, float) GRIDS(f64, double)
