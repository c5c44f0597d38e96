// also for sm_80
// Convolutions of halves on tensor cores: the main loop of products, whose second operand is gathered 16 bytes at a time from a copy of x with
// channels last and zeros around it, so that no access looks whether it is inside. Sums are in the order of taps, then channels.
#include "conv.h"
#include "mma_source.h"

#if HT_TENSOR_CORES
enum { CONV_TERMS = 32 };

// Columns are positions: what a thread's pieces have in common is the tap and the channels, what each has of its own the position.
template <int Size, int Threads> struct TapSource {
  typedef Tile<true, Size, CONV_TERMS, Threads> tile;
  const ConvDense& p;
  const ConvPhase& f;
  const char *base, *at;
  u32 off[tile::pieces], place;
  int from, to, piece_of_k, whole;

  HT_METHOD TapSource(const ConvDense& p_, const ConvPhase& f_, const char* base_, int first, int from_, int to_)
      : p(p_), f(f_), base(base_), from(from_), to(to_) {
    whole = to > from ? (to - from) / CONV_TERMS : 0;
    place = tile::place(tile::row(), tile::chunk());
    HT_UNROLL for (int i = 0; i < tile::pieces; i++) {
      const int n = first + tile::row() + i * tile::rows_apart;
      off[i] = position_offset(p, f, n < f.n ? n : f.n - 1);
    }
    piece_of_k = from / 8 + tile::chunk();
    at = base + tap_offset(p, f, piece_of_k);
  }
  template <int I> HT_METHOD void piece(u32 first) { cp_async16(tile::piece(first, I), at + off[I]); }
  HT_METHOD void next() {
    piece_of_k += CONV_TERMS / 8;
    at = base + tap_offset(p, f, piece_of_k);
  }
  HT_METHOD void rest(u32 stage, int n) {
    const int k = from + n * CONV_TERMS + tile::chunk() * 8;
    const u32 tap = k < to ? tap_offset(p, f, k / 8) : 0;
    HT_UNROLL for (int i = 0; i < tile::pieces; i++) cp_async16_zfill(tile::piece(stage + place, i), base + tap + off[i], k < to ? 16 : 0);
  }
};

// Rows are positions, one for each lane of a warp: it computes where that lies, and the others ask it. Columns are taps and channels.
template <int Size, int Threads> struct PositionSource {
  typedef Tile<false, Size, CONV_TERMS, Threads> tile;
  const ConvDense& p;
  const ConvPhase& f;
  const char* base;
  u32 mine, place;
  int from, to, k0, whole;

  HT_METHOD PositionSource(const ConvDense& p_, const ConvPhase& f_, const char* base_, int first, int from_, int to_)
      : p(p_), f(f_), from(from_), to(to_), k0(from_) {
    static_assert(CONV_TERMS == 32, "a lane has a row");
    whole = to > from ? (to - from) / CONV_TERMS : 0;
    place = tile::place(tile::row(), tile::chunk());
    base = base_ + tap_offset(p, f, first + tile::chunk() * 8 < f.n ? first / 8 + tile::chunk() : first / 8);
    mine = position_offset(p, f, k0 + threadIdx.x % 32);
  }
  template <int I> HT_METHOD void piece(u32 first) {
    cp_async16(tile::piece(first, I), base + from_lane(mine, tile::row() + I * tile::rows_apart));
  }
  HT_METHOD void next() {
    k0 += CONV_TERMS;
    mine = position_offset(p, f, k0 + threadIdx.x % 32);
  }
  HT_METHOD void rest(u32 stage, int n) {
    HT_ROLLED for (int i = 0; i < tile::pieces; i++) {
      const int row = tile::row() + i * tile::rows_apart, k = from + n * CONV_TERMS + row;
      cp_async16_zfill(stage + tile::place(row, tile::chunk()), base + (k < to ? position_offset(p, f, k) : 0), k < to ? 16 : 0);
    }
  }
};

// ConvEnd writes 8 sums of a row. A lane's columns are the same in all rows, so that it looks for their places once.
template <class H, bool Weight> struct ConvEnd {
  const ConvDense& p;
  H* out;
  float* part;
  const H* bias;
  int m0, left;   // columns from the lane's first on
  bool whole;     // whether the columns follow each other in memory
  ConvColumn at[8];

  HT_METHOD ConvEnd(const ConvDense& p_, const ConvPhase& f, H* out_, float* part_, const H* bias_, int m, int n)
      : p(p_), out(out_), part(part_), bias(bias_), m0(m) {
    const int col = n + threadIdx.x % 8 * 8;
    left = f.n - col;
    whole = !p.apart && (part || (!Weight && f.by_plane.by % 8 == 0 && (u64)out % 16 == 0));
    HT_UNROLL for (int e = 0; e < 8; e++) at[e] = conv_column<Weight, 8>(p, f, col + e);
  }
  HT_METHOD void operator()(int row, int, const float (&v)[8]) const {
    row += m0;
    if (row >= p.m || left <= 0) return;
    if (part) {
      float* to = part + (i64)row * p.n;
      if (whole) return mma_part(to + at[0].part, v, left < 8 ? left : 8, p.n % 4 == 0);
      HT_UNROLL for (int e = 0; e < 8; e++) if (at[e].there) to[at[e].part] = v[e];
      return;
    }
    struct alignas(16) Eight { H v[8]; } y;
    const float more = bias ? wide(bias[row]) : 0.0f;
    HT_UNROLL for (int e = 0; e < 8; e++) y.v[e] = narrow<H>::of(bias ? v[e] + more : v[e]);
    H* to = out + row * p.out_m;
    if (whole) *(Eight*)(to + at[0].out) = y;
    else HT_UNROLL for (int e = 0; e < 8; e++) if (at[e].there) to[at[e].out] = y.v[e];
  }
};

// A block of WM × WN warps, 64 × 64 each. blockIdx.x is the tile, column by column; blockIdx.y is the phase, blockIdx.z group and split.
template <class H, bool Weight, int WM, int WN> HT_FN void conv_cores(const ConvDense& p) {
  const int M = 64 * WM, N = 64 * WN, K = CONV_TERMS, T = 32 * WM * WN;
  extern __shared__ Banks dynamic_shared[];
  const ConvPhase& f = p.phase[Weight ? 0 : blockIdx.y];
  const int tilesM = (p.m + M - 1) / M, m0 = (int)(blockIdx.x % tilesM) * M, n0 = (int)(blockIdx.x / tilesM) * N;
  if (n0 >= f.n) return;
  const int group = blockIdx.z % p.groups, split = blockIdx.z / p.groups, warp = threadIdx.x / 32;
  const int per = ((f.k + p.splits - 1) / p.splits + K - 1) / K * K, from = per * split, to = from + per < f.k ? from + per : f.k;
  const int tiles = to > from ? (to - from + K - 1) / K : 0;
  const H* weights = (const H*)p.a + f.a + group * p.a_group;
  const char* x = (const char*)p.b + f.b + (u64)p.b_group * group;
  float sum[4][8][4];
  HT_UNROLL for (int i = 0; i < 4; i++) HT_UNROLL for (int j = 0; j < 8; j++) HT_UNROLL for (int e = 0; e < 4; e++) sum[i][j][e] = 0;
  RowSource<H, !Weight, M, K, T> a(weights, p.a_step, m0, p.a_count, from, to);
  if constexpr (Weight) {
    PositionSource<N, T> b(p, f, x, n0, from, to);
    mma_loop<H, WN, K, false, false>(sum, a, b, shared_address(dynamic_shared), tiles, p.stages);
  } else {
    TapSource<N, T> b(p, f, x, n0, from, to);
    mma_loop<H, WN, K, true, true>(sum, a, b, shared_address(dynamic_shared), tiles, p.stages);
  }
  float* part = p.splits > 1 ? (float*)p.partial + ((i64)split * p.groups + group) * p.m * p.n : (float*)nullptr;
  const H* bias = p.bias ? (const H*)p.bias + group * p.m : (const H*)nullptr;
  mma_rows(sum, dynamic_shared, ConvEnd<H, Weight>(p, f, (H*)p.out + group * p.out_group, part, bias, m0 + warp / WN * 64, n0 + warp % WN * 64));
}

#define CONV_CORES(S, H)                                                                             \
  HT_KERNEL_OF(128, conv_cores_##S, ConvDense, p) { conv_cores<H, false, 2, 2>(p); }                 \
  HT_KERNEL_OF(128, conv_cores_flat_##S, ConvDense, p) { conv_cores<H, false, 1, 4>(p); }            \
  HT_KERNEL_OF(128, conv_cores_weight_##S, ConvDense, p) { conv_cores<H, true, 2, 2>(p); }           \
  HT_KERNEL_OF(128, conv_cores_weight_flat_##S, ConvDense, p) { conv_cores<H, true, 1, 4>(p); }      \
  HT_KERNEL(conv_cores_sum_##S, ConvDense, p) { conv_dense_sum<H, false>(p); }                       \
  HT_KERNEL(conv_cores_weight_sum_##S, ConvDense, p) { conv_dense_sum<H, true>(p); }
CONV_CORES(f16, f16)
CONV_CORES(bf16, bf16)
#endif
