// Rows that work on lines: n elements of one dimension (or of the last ones, merged), one line after another. 1, 32 or 256 lanes share a
// line; what they add up is added in a fixed order.
#pragma once
#include "fast32.h"
#include "math32.h"
#include "math64.h"

enum { LINE_THREADS = 256 };
enum { LINE_VECTOR = 1, LINE_KEEP = 4 };  // Lines.flags: lines of whole vectors of 16 bytes; such a line fits registers

struct Lines {
  void* out;
  const void* in[4];
  void* more[2];      // further results
  i64 lines;          // below 2^32
  int n, rank, lanes, flags;
  int shape[8];       // of the lines
  i64 stride[3][8];   // of out, in[0] and in[1] from line to line
  i64 step[3];        // along a line
  double attr[4];
};

// where returns the first elements of line k of N operands.
template <int N> HT_FN void where(const Lines& p, u32 k, i64 (&off)[N]) {
  HT_UNROLL for (int i = 0; i < N; i++) off[i] = 0;
  if (p.rank == 1) {
    HT_UNROLL for (int i = 0; i < N; i++) off[i] = k * p.stride[i][0];
    return;
  }
  HT_ROLLED for (int d = p.rank - 1; d >= 0; d--) {
    const u32 size = (u32)p.shape[d], q = k / size, r = k - q * size;
    HT_UNROLL for (int i = 0; i < N; i++) off[i] += r * p.stride[i][d];
    k = q;
  }
}

HT_FN double ht_shuffle(double v, int lane) {
  const u64 b = ht_bits(v);
  const u32 lo = (u32)__shfl_xor_sync(0xffffffffu, (int)(u32)b, lane), hi = (u32)__shfl_xor_sync(0xffffffffu, (int)(u32)(b >> 32), lane);
  return ht_double((u64)hi << 32 | lo);
}
HT_FN float ht_shuffle(float v, int lane) { return __shfl_xor_sync(0xffffffffu, v, lane); }

struct Plus { template <class C> HT_FN C of(C a, C b) { return a + b; } };
struct Larger { template <class C> HT_FN C of(C a, C b) { return b > a || b != b ? b : a; } };

// across combines a value of each of a line's lanes; all get the result. 256 lanes are a block, and all of its threads must come.
template <class Op, class C> HT_FN C across(C v, int lanes) {
  if (lanes == 1) return v;
  HT_UNROLL for (int lane = 16; lane > 0; lane >>= 1) v = Op::of(v, ht_shuffle(v, lane));
  if (lanes == 32) return v;
  __shared__ C part[LINE_THREADS / 32];
  __syncthreads();
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = v;
  __syncthreads();
  v = part[0];
  HT_UNROLL for (int w = 1; w < LINE_THREADS / 32; w++) v = Op::of(v, part[w]);
  return v;
}
// across_all is across for several values at once, in the time of one.
template <class Op, int N, class C> HT_FN void across_all(C (&v)[N], int lanes) {
  if (lanes == 1) return;
  HT_UNROLL for (int lane = 16; lane > 0; lane >>= 1)
    HT_UNROLL for (int i = 0; i < N; i++) v[i] = Op::of(v[i], ht_shuffle(v[i], lane));
  if (lanes == 32) return;
  __shared__ C part[LINE_THREADS / 32][N];
  __syncthreads();
  if (threadIdx.x % 32 == 0)
    HT_UNROLL for (int i = 0; i < N; i++) part[threadIdx.x / 32][i] = v[i];
  __syncthreads();
  HT_UNROLL for (int i = 0; i < N; i++) {
    v[i] = part[0][i];
    HT_UNROLL for (int w = 1; w < LINE_THREADS / 32; w++) v[i] = Op::of(v[i], part[w][i]);
  }
}

// The type that lines of T are computed in.
template <class T> struct line_of { typedef float type; };
template <> struct line_of<double> { typedef double type; };

HT_FN float line_exp(float x) { return single_exp(x); }
HT_FN double line_exp(double x) { return exp64(x); }
HT_FN float line_log(float x) { return ht_log(x); }
HT_FN double line_log(double x) { return log64(x); }
