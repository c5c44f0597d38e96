// Matrix products of float32, as gemm.cu, where both operands lie in pieces of 16 bytes, along k or along m or n. Shared memory holds two tiles
// of each, [k][m] and [k][n]: while one is multiplied, the next is on its way through registers. The order of sums is gemm.cu's, and so are
// the bits.
#include "gemm.h"

enum { F32_TERMS = 16, F32_GAP = 4 };
struct alignas(16) Four { float v[4]; };

// A FloatSource reads tiles of Size rows of m or n (AlongK) or of 16 rows of k. Rows behind the last are copies of it: what is multiplied with
// them is not written.
template <bool AlongK, int Size> struct FloatSource {
  static const int per = (AlongK ? (int)F32_TERMS : Size) / 4, pieces = Size * F32_TERMS / 4 / GEMM_THREADS, apart = GEMM_THREADS / per;
  static const int pitch = Size + F32_GAP;
  const float *base, *at[pieces];
  i64 step, ahead;
  int first, count, from, to, whole;
  Four held[pieces];

  __device__ __forceinline__ FloatSource(const float* base_, i64 step_, int first_, int count_, int from_, int to_)
      : base(base_), step(step_), first(first_), count(count_), from(from_), to(to_) {
    const int row = threadIdx.x / per, c = threadIdx.x % per * 4;
    whole = to > from ? (to - from) / F32_TERMS : 0;
    ahead = AlongK ? (i64)F32_TERMS : F32_TERMS * step;
    if (!AlongK && first + Size > count && count % 4 != 0) whole = 0;  // a piece goes beyond the row
    HT_UNROLL for (int i = 0; i < pieces; i++) {
      int r = row + i * apart;
      if (AlongK) at[i] = base + (first + r < count ? first + r : count - 1) * step + from + c;
      else at[i] = base + (from + r) * step + (first + c < count ? first + c : first);
    }
  }
  // read takes a tile into registers.
  __device__ __forceinline__ void read(int n) {
    if (n < whole) {
      HT_UNROLL for (int i = 0; i < pieces; i++) held[i] = *(const Four*)at[i];
    } else {
      HT_UNROLL for (int i = 0; i < pieces; i++) {
        const int row = threadIdx.x / per + i * apart, c = threadIdx.x % per * 4, k0 = from + n * F32_TERMS;
        const int r = AlongK ? first + row : k0 + row, col = AlongK ? k0 + c : first + c, rows = AlongK ? count : to, width = AlongK ? to : count;
        HT_UNROLL for (int e = 0; e < 4; e++) held[i].v[e] = r < rows && col + e < width ? base[r * step + col + e] : 0.0f;
      }
    }
    HT_UNROLL for (int i = 0; i < pieces; i++) at[i] += ahead;
  }
  // write puts it into shared memory, turned round if it lies along k.
  __device__ __forceinline__ void write(float* tile) const {
    HT_UNROLL for (int i = 0; i < pieces; i++) {
      const int row = threadIdx.x / per + i * apart, c = threadIdx.x % per * 4;
      if (AlongK) HT_UNROLL for (int e = 0; e < 4; e++) tile[(c + e) * pitch + row] = held[i].v[e];
      else *(Four*)(tile + row * pitch + c) = held[i];
    }
  }
};

// f32_end writes four sums of a row.
HT_FN void f32_end(const Gemm& p, const float* sum, const float* x, float* out, float* part, int row, int col) {
  if (row >= p.m || col >= p.n) return;
  Four y;
  HT_UNROLL for (int e = 0; e < 4; e++) y.v[e] = part || col + e >= p.n ? sum[e] : gemm_end<float>(p, sum[e], x, row, col + e);
  float* to = (part ? part : out) + (i64)row * p.n + col;
  if (col + 4 <= p.n && (u64)to % 16 == 0) *(Four*)to = y;
  else HT_UNROLL for (int e = 0; e < 4; e++) if (col + e < p.n) to[e] = y.v[e];
}

// A block of 16·E rows and columns, E·E sums per thread: 4 × 2 warps of 4 × 8 lanes, whose rows and columns lie in fours.
template <bool AK, bool BK, int E> HT_FN void gemm_f32(const Gemm& p) {
  const int S = 16 * E, G = E / 4, pitch = S + F32_GAP;
  __shared__ Four as_[2][F32_TERMS * pitch / 4], bs_[2][F32_TERMS * pitch / 4];
  const int t = threadIdx.x, lane = t % 32, warp = t / 32, tilesN = (p.n + S - 1) / S;
  const int m0 = (int)(blockIdx.x / tilesN) * S, n0 = (int)(blockIdx.x % tilesN) * S;
  const int row = warp / 2 * 4 * E + lane / 8 * 4, col = warp % 2 * 8 * E + lane % 8 * 4;
  const Batch o = batch_of(p, blockIdx.y);
  const int per = ((p.k + p.splits - 1) / p.splits + F32_TERMS - 1) / F32_TERMS * F32_TERMS, from = per * (int)blockIdx.z, to = from + per < p.k ? from + per : p.k;
  const int tiles = to > from ? (to - from + F32_TERMS - 1) / F32_TERMS : 0;
  float sum[E][E];
  HT_UNROLL for (int i = 0; i < E; i++) HT_UNROLL for (int j = 0; j < E; j++) sum[i][j] = 0;
  FloatSource<AK, S> a((const float*)p.a + o.a, AK ? p.ra : p.ca, m0, p.m, from, to);
  FloatSource<BK, S> b((const float*)p.b + o.b, BK ? p.cb : p.rb, n0, p.n, from, to);
  if (tiles > 0) {
    a.read(0), b.read(0);
    a.write((float*)as_[0]), b.write((float*)bs_[0]);
  }
  __syncthreads();
  HT_ROLLED for (int kt = 0; kt < tiles; kt++) {
    const bool more = kt + 1 < tiles;
    if (more) a.read(kt + 1), b.read(kt + 1);
    const Four *ta = as_[kt & 1] + row / 4, *tb = bs_[kt & 1] + col / 4;
    HT_UNROLL for (int k = 0; k < F32_TERMS; k++) {
      Four av[G], bv[G];
      HT_UNROLL for (int g = 0; g < G; g++) av[g] = ta[k * (pitch / 4) + g * 4], bv[g] = tb[k * (pitch / 4) + g * 8];
      HT_UNROLL for (int i = 0; i < E; i++) HT_UNROLL for (int j = 0; j < E; j++) sum[i][j] = fused(av[i / 4].v[i % 4], bv[j / 4].v[j % 4], sum[i][j]);
    }
    if (more) a.write((float*)as_[(kt + 1) & 1]), b.write((float*)bs_[(kt + 1) & 1]);
    __syncthreads();
  }
  const float* x = p.x ? (const float*)p.x + o.x : (const float*)nullptr;
  float* part = p.splits > 1 ? (float*)p.partial + ((i64)blockIdx.z * gridDim.y + blockIdx.y) * p.m * p.n : (float*)nullptr;
  HT_UNROLL for (int i = 0; i < E; i++)
    HT_UNROLL for (int g = 0; g < G; g++) f32_end(p, &sum[i][g * 4], x, (float*)p.out + o.out, part, m0 + row + i / 4 * 16 + i % 4, n0 + col + g * 32);
}

#define GEMM_F32(L, AK, BK)                                                                     \
  HT_KERNEL_OF(GEMM_THREADS, gemm_pieces_##L##_f32, Gemm, p) { gemm_f32<AK, BK, 4>(p); }        \
  HT_KERNEL_OF(GEMM_THREADS, gemm_pieces_large_##L##_f32, Gemm, p) { gemm_f32<AK, BK, 8>(p); }
GEMM_F32(kk, true, true) GEMM_F32(kn, true, false) GEMM_F32(mk, false, true) GEMM_F32(mn, false, false)
