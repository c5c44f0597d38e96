// Convolutions of float32: the main loop of products, whose second operand is gathered 16 bytes at a time from a copy of x with channels last
// and zeros around it, so that no access looks whether it is inside. Sums are in the order of taps, then channels.
#include "conv.h"
#include "f32_loop.h"

// An operand in memory in rows of k: packed weights, or dy. Its width is a multiple of 4; columns behind the last are others', and not written.
template <int Size> struct RowFloats {
  typedef FloatTile<false, Size> tile;
  const float* at;
  i64 apart;
  int left;  // terms
  Floats4 held[tile::pieces];

  __device__ __forceinline__ RowFloats(const float* base, i64 step, int first, int count, int from, int to) : apart(step), left(to - from) {
    at = base + (from + tile::row()) * step + first + (first + tile::column() < count ? tile::column() : 0);
  }
  __device__ __forceinline__ void read(int) {
    HT_UNROLL for (int i = 0; i < tile::pieces; i++)
      held[i] = tile::row() + i * tile::apart < left ? *(const Floats4*)(at + i * tile::apart * apart) : Floats4{{0, 0, 0, 0}};
    at += F32_TERMS * apart;
    left -= F32_TERMS;
  }
  __device__ __forceinline__ void write(float* to) const { tile::write(to, held); }
};

// Columns are positions: what a thread's pieces have in common is the tap and the channels, what each has of its own the position.
template <int Size> struct TapFloats {
  typedef FloatTile<true, Size> tile;
  const ConvDense& p;
  const ConvPhase& f;
  const char* base;
  u32 off[tile::pieces];
  int k, to;
  Floats4 held[tile::pieces];

  __device__ __forceinline__ TapFloats(const ConvDense& p_, const ConvPhase& f_, const char* base_, int first, int from, int to_)
      : p(p_), f(f_), base(base_), k(from + tile::column()), to(to_) {
    HT_UNROLL for (int i = 0; i < tile::pieces; i++) {
      const int n = first + tile::row() + i * tile::apart;
      off[i] = position_offset(p, f, n < f.n ? n : f.n - 1);
    }
  }
  __device__ __forceinline__ void read(int) {
    const char* at = base + tap_offset(p, f, k / 4);
    HT_UNROLL for (int i = 0; i < tile::pieces; i++) held[i] = k < to ? *(const Floats4*)(at + off[i]) : Floats4{{0, 0, 0, 0}};
    k += F32_TERMS;
  }
  __device__ __forceinline__ void write(float* to) const { tile::write(to, held); }
};

// Rows are positions, one for each lane of half a warp: it computes where that lies, and the others ask it. Columns are taps and channels.
template <int Size> struct PositionFloats {
  typedef FloatTile<false, Size> tile;
  const ConvDense& p;
  const ConvPhase& f;
  const char* base;
  int k, to;
  Floats4 held[tile::pieces];

  __device__ __forceinline__ PositionFloats(const ConvDense& p_, const ConvPhase& f_, const char* base_, int first, int from, int to_)
      : p(p_), f(f_), k(from), to(to_) {
    base = base_ + tap_offset(p, f, (first + tile::column() < f.n ? first + tile::column() : first) / 4);
  }
  __device__ __forceinline__ void read(int) {
    const u32 mine = position_offset(p, f, k + threadIdx.x % F32_TERMS);
    HT_UNROLL for (int i = 0; i < tile::pieces; i++) {
      const int row = tile::row() + i * tile::apart;
      const u32 off = from_lane(mine, row);
      held[i] = k + row < to ? *(const Floats4*)(base + off) : Floats4{{0, 0, 0, 0}};
    }
    k += F32_TERMS;
  }
  __device__ __forceinline__ void write(float* to) const { tile::write(to, held); }
};
template <bool Weight, int Size> struct FloatsOf { typedef TapFloats<Size> type; };
template <int Size> struct FloatsOf<true, Size> { typedef PositionFloats<Size> type; };

// A block of E·E sums a thread, WN warps of 8 side by side. blockIdx.x is the tile, column by column; blockIdx.y is the phase, blockIdx.z group and
// split.
template <bool Weight, int E, int WN> HT_FN void conv_f32(const ConvDense& p) {
  const int M = 4 * E * (8 / WN), N = 8 * E * WN, K = F32_TERMS;
  typedef RowFloats<M> A;
  typedef typename FloatsOf<Weight, N>::type B;
  __shared__ FloatStages<typename A::tile, typename B::tile> shared;
  const ConvPhase& f = p.phase[Weight ? 0 : blockIdx.y];
  const int tilesM = (p.m + M - 1) / M, m0 = (int)(blockIdx.x % tilesM) * M, n0 = (int)(blockIdx.x / tilesM) * N;
  if (n0 >= f.n) return;
  const int group = blockIdx.z % p.groups, split = blockIdx.z / p.groups;
  const int per = ((f.k + p.splits - 1) / p.splits + K - 1) / K * K, from = per * split, to = from + per < f.k ? from + per : f.k;
  A a((const float*)p.a + f.a + group * p.a_group, p.a_step, m0, p.a_count, from, to);
  B b(p, f, (const char*)p.b + f.b + (u64)p.b_group * group, n0, from, to);
  float sum[E][E];
  float_loop<E, WN>(sum, a, b, shared, to > from ? (to - from + K - 1) / K : 0);
  const bool split_up = p.splits > 1;
  float* out = split_up ? (float*)p.partial + ((i64)split * p.groups + group) * p.m * p.n : (float*)p.out + group * p.out_group;
  const i64 step = split_up ? (i64)p.n : p.out_m;
  const float* bias = p.bias && !split_up ? (const float*)p.bias + group * p.m : (const float*)nullptr;
  // Four columns follow each other in memory, all there or none, where rows and planes begin at 16 bytes.
  const bool whole = !p.apart && (u64)out % 16 == 0 && (split_up ? p.n % 4 == 0 : !Weight && f.by_plane.by % 4 == 0);
  HT_UNROLL for (int g = 0; g < E / 4; g++) {
    ConvColumn at[4];
    HT_UNROLL for (int e = 0; e < 4; e++) {
      at[e] = conv_column<Weight, 4>(p, f, n0 + float_column<E, WN>() + g * 32 + e);
      if (split_up) at[e].out = at[e].part;
    }
    HT_UNROLL for (int i = 0; i < E; i++) {
      const int row = m0 + float_row<E, WN>() + i / 4 * 16 + i % 4;
      if (row >= p.m) continue;
      const float more = bias ? bias[row] : 0.0f;
      Floats4 y;
      HT_UNROLL for (int e = 0; e < 4; e++) y.v[e] = bias ? sum[i][g * 4 + e] + more : sum[i][g * 4 + e];
      float* to_row = out + row * step;
      if (whole && at[0].there) *(Floats4*)(to_row + at[0].out) = y;
      else HT_UNROLL for (int e = 0; e < 4; e++) if (at[e].there) to_row[at[e].out] = y.v[e];
    }
  }
}

#define CONV_F32(Stem, Weight)                                                                       \
  HT_KERNEL_TWICE(F32_THREADS, Stem##_f32, ConvDense, p) { conv_f32<Weight, 8, 2>(p); }              \
  HT_KERNEL_TWICE(F32_THREADS, Stem##_flat_f32, ConvDense, p) { conv_f32<Weight, 8, 4>(p); }         \
  HT_KERNEL_OF(F32_THREADS, Stem##_small_f32, ConvDense, p) { conv_f32<Weight, 4, 2>(p); }           \
  HT_KERNEL(Stem##_sum_f32, ConvDense, p) { conv_dense_sum<float, Weight>(p); }
CONV_F32(conv_pieces, false)
CONV_F32(conv_pieces_weight, true)
