// Elements picked, and added up, by index. Sums are made in the order of the indices by one thread per sum, in float64: the same numbers
// give the same bits, without atomics.
#include "map.h"
#include "refuse.h"

enum { INDEX_THREADS = 256 };
enum { INDEX_ZERO = 1 };  // Index.flags: a negative index gives 0

struct Index {
  void* out;
  const void *x, *src;
  const i64* index;
  i64 n;               // elements of the result, or lines
  int rank, flags;
  int shape[8];        // of what n counts
  i64 stride[4][8];    // of out, x, index and src
  i64 along[4];        // strides along the dimension that is indexed
  i64 size, count;     // of that dimension; indices per line
  u64 word;
  const i64* order;    // of the indices of each line, one line after another, for long ones
  i64 per, inner;      // an index is read by per elements of the result, or its line is one of inner side by side
  Guard guard;
  i64 first;           // the number of the first of what n counts, where this is a piece of it
};

// index_at returns the index at an offset, or -1 after it was refused. Its place, which costs divisions, is found only then.
template <class Place> HT_FN i64 index_at(const Index& p, i64 at, Place place) {
  const i64 k = p.index[at];
  if (k >= 0 && k < p.size) return k;
  refuse(p.guard, place(p), k, 0, p.size);
  return -1;
}
// LinePlace is the number of index j of line i; EachPlace that of the index which element i of the
// result is by, ClassPlace that of one_hot's.
struct LinePlace {
  i64 i, j;
  __device__ __forceinline__ i64 operator()(const Index& p) const {
    const i64 at = p.first + i;
    return (at / p.inner * p.count + j) * p.inner + at % p.inner;
  }
};
struct EachPlace {
  i64 i;
  __device__ __forceinline__ i64 operator()(const Index& p) const { return (p.first + i) / p.per % p.count; }
};

template <int N> HT_FN void index_offsets(const Index& p, u32 at, i64 (&off)[N]) {
  HT_UNROLL for (int k = 0; k < N; k++) off[k] = 0;
  HT_ROLLED for (int d = p.rank - 1; d >= 0; d--) {
    const u32 q = at / (u32)p.shape[d], r = at - q * (u32)p.shape[d];
    HT_UNROLL for (int k = 0; k < N; k++) off[k] += r * p.stride[k][d];
    at = q;
  }
}

struct ClassPlace {
  i64 i;
  __device__ __forceinline__ i64 operator()(const Index& p) const { return p.first + i / (i64)p.word; }
};

// gather: out[i] = x[index[i]] along a dimension, for words of any dtype; an index out of range gives 0.
template <class W> HT_FN void gather(const Index& p) {
  const i64 i = (i64)blockIdx.x * INDEX_THREADS + threadIdx.x;
  if (i >= p.n) return;
  i64 off[3];
  index_offsets<3>(p, (u32)i, off);
  const i64 k = index_at(p, off[2], EachPlace{i});
  ((W*)p.out)[off[0]] = k >= 0 ? ((const W*)p.x)[off[1] + k * p.along[1]] : (W)0;
}
// scatter: a thread per line puts src, or a word, at its places in out, the last of several.
template <class W> HT_FN void scatter(const Index& p) {
  const i64 i = (i64)blockIdx.x * INDEX_THREADS + threadIdx.x;
  if (i >= p.n) return;
  i64 off[4];
  index_offsets<4>(p, (u32)i, off);
  const W word = (W)held(p.word);
  HT_ROLLED for (i64 j = 0; j < p.count; j++) {
    const i64 k = index_at(p, off[2] + j * p.along[2], LinePlace{i, j});
    if (k < 0) continue;
    ((W*)p.out)[off[0] + k * p.along[0]] = p.src ? ((const W*)p.src)[off[3] + j * p.along[3]] : word;
  }
}
#define WORDS(S, W)                                          \
  HT_KERNEL(gather_##S, Index, p) { gather<W>(p); }          \
  HT_KERNEL(scatter_##S, Index, p) { scatter<W>(p); }
WORDS(w8, unsigned char) WORDS(w16, unsigned short) WORDS(w32, u32) WORDS(w64, u64)

// scatter_add: a thread per line adds src at its places in out, which is float64, or int64 for integers.
template <class S, class T> HT_FN void scatter_add(const Index& p) {
  const i64 i = (i64)blockIdx.x * INDEX_THREADS + threadIdx.x;
  if (i >= p.n) return;
  i64 off[4];
  index_offsets<4>(p, (u32)i, off);
  HT_ROLLED for (i64 j = 0; j < p.count; j++) {
    const i64 k = index_at(p, off[2] + j * p.along[2], LinePlace{i, j});
    if (k < 0) continue;
    ((S*)p.out)[off[0] + k * p.along[0]] += (S)wide(((const T*)p.src)[off[3] + j * p.along[3]]);
  }
}
HT_KERNEL(scatter_add_f16, Index, p) { scatter_add<double, f16>(p); }
HT_KERNEL(scatter_add_bf16, Index, p) { scatter_add<double, bf16>(p); }
HT_KERNEL(scatter_add_f32, Index, p) { scatter_add<double, float>(p); }
HT_KERNEL(scatter_add_f64, Index, p) { scatter_add<double, double>(p); }
HT_KERNEL(scatter_add_i64, Index, p) { scatter_add<i64, i64>(p); }
HT_KERNEL(scatter_add_b8, Index, p) { scatter_add<i64, b8>(p); }

// rows_add: out[index[i]] += rows i of src, for tables whose rows are columns wide. The block of the first index of a value adds up all
// rows of that value, in their order; out was set to 0 before. A row is blockIdx.x;
// blockIdx.y, and every gridDim.y-th after it, are 256 of its columns. along[0] and along[3]
// are the distances of rows, word is the index to leave out, if flags has INDEX_ZERO.
struct Rows {
  void* out;
  const void* src;
  const i64* index;
  i64 n, columns, inner, rows;  // column c lies at c / inner · outer + c % inner
  i64 outer_out, outer_src, row_out, row_src;
  i64 leave;
  int left, unused;
  Guard guard;
  const i64* order;    // of the indices, for long lists
};
template <class T> HT_FN void rows_add(const Rows& p) {
  __shared__ u32 found[INDEX_THREADS / 32];
  const i64 mine = p.index[blockIdx.x];
  if (p.left && mine == p.leave) return;
  if (mine < 0 || mine >= p.rows) {
    if (threadIdx.x == 0) refuse(p.guard, blockIdx.x, mine, 0, p.rows);
    return;
  }
  for (i64 first = (i64)blockIdx.y * INDEX_THREADS; first < p.columns; first += (i64)gridDim.y * INDEX_THREADS) {
    const i64 c = first + threadIdx.x;
    const bool in = c < p.columns;
    const i64 from = in ? c / p.inner * p.outer_src + c % p.inner : 0;
    double sum = 0;
    for (i64 base = 0; base < p.n; base += INDEX_THREADS) {
      const i64 j = base + threadIdx.x;
      const u32 some = __ballot_sync(0xffffffffu, j < p.n && p.index[j] == mine);
      __syncthreads();
      if (threadIdx.x % 32 == 0) found[threadIdx.x / 32] = some;
      __syncthreads();
      for (int w = 0; w < INDEX_THREADS / 32; w++) {
        u32 bits = found[w];
        while (bits) {
          const i64 row = base + w * 32 + __ffs((int)bits) - 1;
          if (row < (i64)blockIdx.x) return;  // not the first: another block adds; all threads see the same
          bits &= bits - 1;
          if (in) sum += (double)wide(((const T*)p.src)[row * p.row_src + from]);
        }
      }
    }
    if (in) ((T*)p.out)[mine * p.row_out + c / p.inner * p.outer_out + c % p.inner] = narrow<T>::of(sum);
  }
}
HT_KERNEL(rows_add_f16, Rows, p) { rows_add<f16>(p); }
HT_KERNEL(rows_add_bf16, Rows, p) { rows_add<bf16>(p); }
HT_KERNEL(rows_add_f32, Rows, p) { rows_add<float>(p); }
HT_KERNEL(rows_add_f64, Rows, p) { rows_add<double>(p); }

// As rows_add, for long lists: block s adds up the rows of a value whose first, in the order of values and places, is at s.
template <class T> HT_FN void rows_sorted(const Rows& p) {
  const i64 s = blockIdx.x, mine = p.index[p.order[s]];
  if ((s > 0 && p.index[p.order[s - 1]] == mine) || (p.left && mine == p.leave)) return;
  if (mine < 0 || mine >= p.rows) {
    if (threadIdx.x == 0) refuse(p.guard, p.order[s], mine, 0, p.rows);
    return;
  }
  for (i64 c = (i64)blockIdx.y * INDEX_THREADS + threadIdx.x; c < p.columns; c += (i64)gridDim.y * INDEX_THREADS) {
    const i64 from = c / p.inner * p.outer_src + c % p.inner;
    double sum = 0;
    for (i64 j = s; j < p.n && p.index[p.order[j]] == mine; j++) sum += (double)wide(((const T*)p.src)[p.order[j] * p.row_src + from]);
    ((T*)p.out)[mine * p.row_out + c / p.inner * p.outer_out + c % p.inner] = narrow<T>::of(sum);
  }
}
HT_KERNEL(rows_sorted_f16, Rows, p) { rows_sorted<f16>(p); }
HT_KERNEL(rows_sorted_bf16, Rows, p) { rows_sorted<bf16>(p); }
HT_KERNEL(rows_sorted_f32, Rows, p) { rows_sorted<float>(p); }
HT_KERNEL(rows_sorted_f64, Rows, p) { rows_sorted<double>(p); }

// Sorted is index s of line i of long lines, a thread each, in the order of values and places.
struct Sorted {
  const Index& p;
  i64 off[4], s, k;
  const i64* order;
  __device__ __forceinline__ i64 at(i64 s) { return p.index[off[2] + order[s] * p.along[2]]; }
  __device__ __forceinline__ bool find() {
    const i64 i = (i64)blockIdx.x * INDEX_THREADS + threadIdx.x;
    if (i >= p.n) return false;
    const i64 line = i / p.count;
    s = i % p.count;
    index_offsets<4>(p, (u32)line, off);
    order = p.order + line * p.count;
    k = index_at(p, off[2] + order[s] * p.along[2], LinePlace{line, order[s]});
    return k >= 0;
  }
};
// As scatter: the last of a value writes.
template <class W> HT_FN void scatter_sorted(const Index& p) {
  Sorted o{p, {0, 0, 0, 0}, 0, 0, nullptr};
  if (!o.find() || (o.s + 1 < p.count && o.at(o.s + 1) == o.k)) return;
  ((W*)p.out)[o.off[0] + o.k * p.along[0]] = p.src ? ((const W*)p.src)[o.off[3] + o.order[o.s] * p.along[3]] : (W)held(p.word);
}
HT_KERNEL(scatter_sorted_w8, Index, p) { scatter_sorted<unsigned char>(p); }
HT_KERNEL(scatter_sorted_w16, Index, p) { scatter_sorted<unsigned short>(p); }
HT_KERNEL(scatter_sorted_w32, Index, p) { scatter_sorted<u32>(p); }
HT_KERNEL(scatter_sorted_w64, Index, p) { scatter_sorted<u64>(p); }
// As scatter_add: the first of a value adds all of them.
template <class S, class T> HT_FN void scatter_add_sorted(const Index& p) {
  Sorted o{p, {0, 0, 0, 0}, 0, 0, nullptr};
  if (!o.find() || (o.s > 0 && o.at(o.s - 1) == o.k)) return;
  S* out = (S*)p.out + o.off[0] + o.k * p.along[0];
  S sum = *out;
  for (i64 j = o.s; j < p.count && o.at(j) == o.k; j++) sum += (S)wide(((const T*)p.src)[o.off[3] + o.order[j] * p.along[3]]);
  *out = sum;
}
HT_KERNEL(scatter_add_sorted_f16, Index, p) { scatter_add_sorted<double, f16>(p); }
HT_KERNEL(scatter_add_sorted_bf16, Index, p) { scatter_add_sorted<double, bf16>(p); }
HT_KERNEL(scatter_add_sorted_f32, Index, p) { scatter_add_sorted<double, float>(p); }
HT_KERNEL(scatter_add_sorted_f64, Index, p) { scatter_add_sorted<double, double>(p); }
HT_KERNEL(scatter_add_sorted_i64, Index, p) { scatter_add_sorted<i64, i64>(p); }
HT_KERNEL(scatter_add_sorted_b8, Index, p) { scatter_add_sorted<i64, b8>(p); }

// one_hot: out[i, class] = class == index[i]; word is the number of classes.
HT_KERNEL(one_hot_i64, Index, p) {
  const i64 i = (i64)blockIdx.x * INDEX_THREADS + threadIdx.x;
  if (i >= p.n) return;
  i64 off[3];
  index_offsets<3>(p, (u32)(i / (i64)p.word), off);
  ((i64*)p.out)[i] = index_at(p, off[2], ClassPlace{i}) == i % (i64)p.word;
}

// tril and triu of matrices of count rows and size columns, the last two dimensions, stride of x; word is the diagonal; flags: 1 for triu.
template <class W> HT_FN void triangle(const Index& p) {
  const i64 i = (i64)blockIdx.x * INDEX_THREADS + threadIdx.x, at = p.first + i;
  if (i >= p.n) return;
  i64 off[2];
  index_offsets<2>(p, (u32)i, off);
  const i64 col = at % p.size, row = at / p.size % p.count, d = (i64)p.word;
  const bool keep = p.flags ? col >= row + d : col <= row + d;
  ((W*)p.out)[i] = keep ? ((const W*)p.x)[off[1]] : (W)0;
}
HT_KERNEL(triangle_w8, Index, p) { triangle<unsigned char>(p); }
HT_KERNEL(triangle_w16, Index, p) { triangle<unsigned short>(p); }
HT_KERNEL(triangle_w32, Index, p) { triangle<u32>(p); }
HT_KERNEL(triangle_w64, Index, p) { triangle<u64>(p); }

// bucketize: how many of the sorted edges src are below x, or, with flags 1, not above it; NaN is above all. Computed in float64, of integers in i64.
template <class T, class V = double> HT_FN void bucketize(const Index& p) {
  const i64 i = (i64)blockIdx.x * INDEX_THREADS + threadIdx.x;
  if (i >= p.n) return;
  i64 off[2];
  index_offsets<2>(p, (u32)i, off);
  const V v = (V)wide(((const T*)p.x)[off[1]]);
  i64 lo = 0, hi = p.size;
  while (lo < hi) {
    const i64 m = (lo + hi) / 2;
    const V e = (V)wide(((const T*)p.src)[m * p.along[3]]);
    if (e > v || (v != v && e != e) || (!p.flags && e == v)) hi = m;
    else lo = m + 1;
  }
  ((i64*)p.out)[i] = lo;
}
HT_KERNEL(bucketize_f16, Index, p) { bucketize<f16>(p); }
HT_KERNEL(bucketize_bf16, Index, p) { bucketize<bf16>(p); }
HT_KERNEL(bucketize_f32, Index, p) { bucketize<float>(p); }
HT_KERNEL(bucketize_f64, Index, p) { bucketize<double>(p); }
HT_KERNEL(bucketize_i64, Index, p) { bucketize<i64, i64>(p); }
HT_KERNEL(bucketize_b8, Index, p) { bucketize<b8>(p); }

// bag_index: the bag of each of size places, where count offsets, the index, say at which place each bag begins and, with flags 1, where the last one
// ends. An offset that is out of order, beyond the places or no such end is refused; a place is then said to be in some bag.
HT_KERNEL(bag_index_i64, Index, p) {
  const i64 i = (i64)blockIdx.x * INDEX_THREADS + threadIdx.x, step = p.along[2];
  if (i < p.count) {
    const i64 o = p.index[i * step], low = p.flags && i == p.count - 1 ? p.size : i ? p.index[(i - 1) * step] : 0;
    if (o < low || o > (i ? p.size : 0)) refuse(p.guard, i, o, 0, p.size + 1);
  }
  if (i >= p.size) return;
  i64 lo = 0, hi = p.count - (p.flags & 1);
  while (lo < hi) {
    const i64 m = (lo + hi) / 2;
    if (p.index[m * step] > i) hi = m;
    else lo = m + 1;
  }
  ((i64*)p.out)[i] = lo ? lo - 1 : 0;
}

// ravel_index: the row-major number of the element that one index of each dimension names; negative ones count from the end. An index out of
// range makes it -1.
struct Ravel {
  i64* out;
  const i64* in[8];
  i64 n;
  int rank, count;    // of the indices' shape; dimensions that are indexed
  int shape[8];
  i64 stride[8][8];   // of each in
  i64 size[8];
  Guard guard[8];
  i64 first;          // as in Index
};
HT_KERNEL(ravel_index_i64, Ravel, p) {
  const i64 i = (i64)blockIdx.x * INDEX_THREADS + threadIdx.x;
  if (i >= p.n) return;
  i64 number = 0;
  HT_ROLLED for (int k = 0; k < p.count; k++) {
    u32 at = (u32)i;
    i64 off = 0;
    HT_ROLLED for (int d = p.rank - 1; d >= 0; d--) {
      const u32 q = at / (u32)p.shape[d];
      off += (at - q * (u32)p.shape[d]) * p.stride[k][d];
      at = q;
    }
    const i64 size = p.size[k], j = p.in[k][off];
    if (j < -size || j >= size) {
      refuse(p.guard[k], p.first + i, j, -size, size);
      number = -1;
      break;
    }
    number = number * size + (j < 0 ? j + size : j);
  }
  p.out[i] = number;
}
