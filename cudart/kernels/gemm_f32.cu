// Matrix products of float32, as gemm.cu, where both operands lie in pieces of 16 bytes, along k or along m or n. The order of sums is gemm.cu's,
// and so are the bits.
#include "gemm.h"
#include "f32_loop.h"

// A FloatSource reads tiles of Size rows of m or n (AlongK) or of 16 rows of k. Rows behind the last are copies of it: what is multiplied with
// them is not written.
template <bool AlongK, int Size> struct FloatSource {
  typedef FloatTile<AlongK, Size> tile;
  const float *base, *at[tile::pieces];
  i64 step, ahead;
  int first, count, from, to, whole;
  Floats4 held[tile::pieces];

  __device__ __forceinline__ FloatSource(const float* base_, i64 step_, int first_, int count_, int from_, int to_)
      : base(base_), step(step_), first(first_), count(count_), from(from_), to(to_) {
    whole = to > from ? (to - from) / F32_TERMS : 0;
    ahead = AlongK ? (i64)F32_TERMS : F32_TERMS * step;
    if (!AlongK && first + Size > count && count % 4 != 0) whole = 0;  // a piece goes beyond the row
    HT_UNROLL for (int i = 0; i < tile::pieces; i++) {
      const int r = tile::row() + i * tile::apart, c = tile::column();
      if (AlongK) at[i] = base + (first + r < count ? first + r : count - 1) * step + from + c;
      else at[i] = base + (from + r) * step + (first + c < count ? first + c : first);
    }
  }
  __device__ __forceinline__ void read(int n) {
    if (n < whole) {
      HT_UNROLL for (int i = 0; i < tile::pieces; i++) held[i] = *(const Floats4*)at[i];
    } else {
      HT_UNROLL for (int i = 0; i < tile::pieces; i++) {
        const int row = tile::row() + i * tile::apart, c = tile::column(), k0 = from + n * F32_TERMS;
        const int r = AlongK ? first + row : k0 + row, col = AlongK ? k0 + c : first + c, rows = AlongK ? count : to, width = AlongK ? to : count;
        HT_UNROLL for (int e = 0; e < 4; e++) held[i].v[e] = r < rows && col + e < width ? base[r * step + col + e] : 0.0f;
      }
    }
    HT_UNROLL for (int i = 0; i < tile::pieces; i++) at[i] += ahead;
  }
  __device__ __forceinline__ void write(float* to) const { tile::write(to, held); }
};

// f32_end writes four sums of a row.
HT_FN void f32_end(const Gemm& p, const float* sum, const float* x, float* out, float* part, int row, int col) {
  if (row >= p.m || col >= p.n) return;
  Floats4 y;
  HT_UNROLL for (int e = 0; e < 4; e++) y.v[e] = part || col + e >= p.n ? sum[e] : gemm_end<float>(p, sum[e], x, row, col + e);
  float* to = (part ? part : out) + (i64)row * p.n + col;
  if (col + 4 <= p.n && (u64)to % 16 == 0) *(Floats4*)to = y;
  else HT_UNROLL for (int e = 0; e < 4; e++) if (col + e < p.n) to[e] = y.v[e];
}

// A block of 16·E rows and columns.
template <bool AK, bool BK, int E> HT_FN void gemm_f32(const Gemm& p) {
  const int S = 16 * E, W = 2;
  __shared__ FloatStages<FloatTile<AK, S>, FloatTile<BK, S>> shared;
  const int tilesN = (p.n + S - 1) / S, m0 = (int)(blockIdx.x / tilesN) * S, n0 = (int)(blockIdx.x % tilesN) * S;
  const Batch o = batch_of(p, blockIdx.y);
  const int per = ((p.k + p.splits - 1) / p.splits + F32_TERMS - 1) / F32_TERMS * F32_TERMS, from = per * (int)blockIdx.z, to = from + per < p.k ? from + per : p.k;
  FloatSource<AK, S> a((const float*)p.a + o.a, AK ? p.ra : p.ca, m0, p.m, from, to);
  FloatSource<BK, S> b((const float*)p.b + o.b, BK ? p.cb : p.rb, n0, p.n, from, to);
  float sum[E][E];
  float_loop<E, W>(sum, a, b, shared, to > from ? (to - from + F32_TERMS - 1) / F32_TERMS : 0);
  const float* x = p.x ? (const float*)p.x + o.x : (const float*)nullptr;
  float* part = p.splits > 1 ? (float*)p.partial + ((i64)blockIdx.z * gridDim.y + blockIdx.y) * p.m * p.n : (float*)nullptr;
  const int row = m0 + float_row<E, W>(), col = n0 + float_column<E, W>();
  HT_UNROLL for (int i = 0; i < E; i++)
    HT_UNROLL for (int g = 0; g < E / 4; g++) f32_end(p, &sum[i][g * 4], x, (float*)p.out + o.out, part, row + i / 4 * 16 + i % 4, col + g * 32);
}

#define GEMM_F32(L, AK, BK)                                                                     \
  HT_KERNEL_OF(GEMM_THREADS, gemm_pieces_##L##_f32, Gemm, p) { gemm_f32<AK, BK, 4>(p); }        \
  HT_KERNEL_OF(GEMM_THREADS, gemm_pieces_large_##L##_f32, Gemm, p) { gemm_f32<AK, BK, 8>(p); }
GEMM_F32(kk, true, true) GEMM_F32(kn, true, false) GEMM_F32(mk, false, true) GEMM_F32(mn, false, false)
