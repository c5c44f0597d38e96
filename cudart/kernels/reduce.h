// Reductions over any dimensions, in a fixed order: the same numbers give the same bits. A group of lanes of a block reduces one element
// of the result, or one of its splits, which a second launch of the same kernel brings together.
#pragma once
#include "prelude.h"

enum { REDUCE_THREADS = 256 };
enum { REDUCE_COLUMNS = 1, REDUCE_VECTOR = 2, REDUCE_MERGE = 4 };  // Reduce.flags

struct Reduce {
  void* out;
  const void* in[2];
  void* partial;      // [kept][splits] of the kernel's accumulator
  i64 kept, reduced;  // below 2^32, but reduced of one dimension
  int nk, nr, lanes, splits, flags, unused;
  int kshape[8], rshape[8];
  i64 kstride[2][8], rstride[2][8];
  double attr[4];
  const void* more;  // what begin reads
};

HT_FN void reduce_offset(u32 at, int rank, const int* shape, const i64* stride0, const i64* stride1, i64& a, i64& b) {
  a = b = 0;
  if (rank == 0) return;
  HT_ROLLED for (int d = rank - 1; d > 0; d--) {
    const u32 size = (u32)shape[d], q = at / size, r = at - q * size;
    a += r * stride0[d];
    b += r * stride1[d];
    at = q;
  }
  a += at * stride0[0];
  b += at * stride1[0];
}

// What a reduction does its own way: how many vectors of a row are read before the first is used; whether columns may be read in vectors, too;
// whether it takes vectors of halves as a whole (R::vector).
struct Reduces { static const int ahead = 1; static const bool columns = false, whole = false; };
template <class R> struct reduces : Reduces {};

template <int N, class T> struct alignas(N * sizeof(T)) Run { enum { n = N }; T v[N]; };

// reduce_vector takes a vector of each input into the accumulator.
template <class R, class Vec> HT_FN void reduce_vector(typename R::A& acc, const Vec& x, const Vec& y, i64 r, const Reduce& p) {
  if constexpr (reduces<R>::whole && sizeof(x.v[0]) == 2) return R::vector(acc, x);
  else HT_UNROLL for (int i = 0; i < Vec::n; i++) R::step(acc, wide(x.v[i]), wide(y.v[i]), r + i, p);
}

// reduce_columns has V columns side by side in a thread, and lanes of threads below each other. It is for one input, and rows at one distance.
template <class R, class O, class T> HT_FN void reduce_columns(const Reduce& p) {
  typedef typename R::A A;
  const int V = 16 / sizeof(T) > 8 ? 8 : 16 / sizeof(T), most = 4;
  typedef Run<V, T> Vec;
  __shared__ A cell[REDUCE_THREADS * V];  // [lanes][columns of the block]
  const int lanes = p.lanes, groups = REDUCE_THREADS / lanes, t = threadIdx.x, g = t % groups, l = t / groups, columns = groups * V;
  const i64 first = (i64)blockIdx.x * columns, k = first + g * V;
  A acc[V];
  HT_UNROLL for (int i = 0; i < V; i++) acc[i] = R::start(p);
  if (k < p.kept) {
    i64 base0, base1;
    reduce_offset((u32)k, p.nk, p.kshape, p.kstride[0], p.kstride[1], base0, base1);
    const T* x = (const T*)p.in[0] + base0;
    const i64 per = (p.reduced + p.splits - 1) / p.splits, lo = per * blockIdx.y, hi = lo + per < p.reduced ? lo + per : p.reduced, s = p.rstride[0][0];
    i64 r = lo + l;
    for (; r + (most - 1) * lanes < hi; r += most * lanes) {
      Vec in[most];
      HT_UNROLL for (int j = 0; j < most; j++) in[j] = *(const Vec*)(x + (r + j * lanes) * s);
      HT_UNROLL for (int j = 0; j < most; j++)
        HT_UNROLL for (int i = 0; i < V; i++) R::step(acc[i], wide(in[j].v[i]), wide(in[j].v[i]), r, p);
    }
    HT_ROLLED for (; r < hi; r += lanes) {
      const Vec in = *(const Vec*)(x + r * s);
      HT_UNROLL for (int i = 0; i < V; i++) R::step(acc[i], wide(in.v[i]), wide(in.v[i]), r, p);
    }
  }
  HT_UNROLL for (int i = 0; i < V; i++) cell[l * columns + g * V + i] = acc[i];
  __syncthreads();
  for (int c = t; c < columns && first + c < p.kept; c += REDUCE_THREADS) {
    A sum = cell[c];
    for (int j = 1; j < lanes; j++) R::merge(sum, cell[j * columns + c]);
    if (p.splits > 1) ((A*)p.partial)[(first + c) * p.splits + blockIdx.y] = sum;
    else ((O*)p.out)[first + c] = narrow<O>::of(R::finish(sum, p));
  }
}

// R: A (accumulator), start(p), step(A&, x, y, r, p), merge(A&, const A&), finish(A, p). T is the dtype of the inputs, O of the result. N is
// the number of inputs. With Two, R::begin(A&, k, p) comes first, and R::second(A, p) is a second result, kept elements behind the first.
template <class R, int N, class O, class T, bool Two = false> HT_FN void reduce_pass(const Reduce& p) {
  typedef typename R::A A;
  static_assert(sizeof(A) <= 32, "accumulatorBytes of launch_reduce.go is what partial has room for");
  if constexpr (reduces<R>::columns) {
    if ((p.flags & (REDUCE_COLUMNS | REDUCE_VECTOR)) == (REDUCE_COLUMNS | REDUCE_VECTOR)) return reduce_columns<R, O, T>(p);
  }
  __shared__ A cell[REDUCE_THREADS];
  const int lanes = p.lanes, groups = REDUCE_THREADS / lanes, t = threadIdx.x;
  const bool columns = p.flags & REDUCE_COLUMNS, second = p.flags & REDUCE_MERGE;
  const int g = columns ? t % groups : t / lanes, l = columns ? t / groups : t % lanes, step = columns ? groups : 1;
  const i64 k = (i64)blockIdx.x * groups + g;
  A acc = R::start(p);
  if (k < p.kept) {
    if constexpr (Two) R::begin(acc, k, p);
    if (second) {
      const A* from = (const A*)p.partial + k * p.splits;
      for (int s = l; s < p.splits; s += lanes) R::merge(acc, from[s]);
    } else {
      i64 base0, base1, o0, o1;
      reduce_offset((u32)k, p.nk, p.kshape, p.kstride[0], p.kstride[1], base0, base1);
      const T* x = (const T*)p.in[0] + base0;
      const T* y = N > 1 ? (const T*)p.in[1] + base1 : x;
      const i64 per = ((p.reduced + p.splits - 1) / p.splits + 7) & ~7ll, lo = per * blockIdx.y, hi = lo + per < p.reduced ? lo + per : p.reduced;
      const int V = 16 / sizeof(T) > 8 ? 8 : 16 / sizeof(T);
      if (p.flags & REDUCE_VECTOR) {  // splits, and the innermost dimension, are multiples of V then
        typedef Run<V, T> Vec;
        const int ahead = reduces<R>::ahead;
        const i64 hop = (i64)lanes * V;
        for (i64 r = lo + (i64)l * V; r < hi; r += ahead * hop) {
          Vec in[ahead], in2[ahead];
          HT_UNROLL for (int j = 0; j < ahead; j++) {
            const i64 at = r + j * hop;
            if (at >= hi) break;
            o0 = o1 = at;
            if (p.nr > 1) reduce_offset((u32)at, p.nr, p.rshape, p.rstride[0], p.rstride[1], o0, o1);
            in[j] = *(const Vec*)(x + o0);
            if (N > 1) in2[j] = *(const Vec*)(y + o1);
          }
          HT_UNROLL for (int j = 0; j < ahead; j++) {
            if (r + j * hop < hi) reduce_vector<R>(acc, in[j], N > 1 ? in2[j] : in[j], r + j * hop, p);
          }
        }
      } else if (p.nr <= 1) {
        const i64 s0 = p.rstride[0][0], s1 = p.rstride[1][0];
        i64 r = lo + l;
        for (; r + 3 * lanes < hi; r += 4 * lanes) {
          T a[4], b[4];
          HT_UNROLL for (int i = 0; i < 4; i++) a[i] = x[(r + i * lanes) * s0];
          HT_UNROLL for (int i = 0; i < 4; i++) b[i] = N > 1 ? y[(r + i * lanes) * s1] : a[i];
          HT_UNROLL for (int i = 0; i < 4; i++) R::step(acc, wide(a[i]), wide(b[i]), r + i * lanes, p);
        }
        HT_ROLLED for (; r < hi; r += lanes) R::step(acc, wide(x[r * s0]), wide(y[N > 1 ? r * s1 : r * s0]), r, p);
      } else {
        HT_ROLLED for (i64 r = lo + l; r < hi; r += lanes) {
          reduce_offset((u32)r, p.nr, p.rshape, p.rstride[0], p.rstride[1], o0, o1);
          R::step(acc, wide(x[o0]), wide(y[N > 1 ? o1 : o0]), r, p);
        }
      }
    }
  }
  cell[t] = acc;
  __syncthreads();
  for (int half = lanes / 2; half > 0; half >>= 1) {
    if (l < half) {
      A mine = cell[t];
      R::merge(mine, cell[t + half * step]);
      cell[t] = mine;
    }
    __syncthreads();
  }
  if (l != 0 || k >= p.kept) return;
  if (p.splits > 1 && !second) {
    ((A*)p.partial)[k * p.splits + blockIdx.y] = cell[t];
    return;
  }
  ((O*)p.out)[k] = narrow<O>::of(R::finish(cell[t], p));
  if constexpr (Two) ((O*)p.out)[p.kept + k] = narrow<O>::of(R::second(cell[t], p));
}

#define HT_REDUCE(name, R, N, S, T, D, O) \
  HT_KERNEL(name##_##S##_##D, Reduce, p) { reduce_pass<R, N, O, T>(p); }
