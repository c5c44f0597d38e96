// also for sm_80
// Matrix products: alpha·a·b + beta·x, rounded once. a and b may lie in any strides; half products with 16-byte rows go to tensor cores,
// others through a tile of multiply-adds. Sums are in float32 (float64 for float64), in the order of k.
#include "mma.h"

enum { GEMM_THREADS = 256, GEMM_BATCH = 6 };

struct Gemm {
  void* out;                    // [batch][m][n] without gaps
  const void *a, *b, *x;        // x may be null
  i64 ra, ca, rb, cb, rx, cx;   // strides from row to row and column to column
  i64 ba[GEMM_BATCH], bb[GEMM_BATCH], bx[GEMM_BATCH];
  int bshape[GEMM_BATCH];
  int m, n, k, nb, splits, unused;
  double alpha, beta;
  void* partial;                // [splits][batch][m][n] sums, where k is split
};

struct Batch { i64 a, b, x, out; };
HT_FN Batch batch_of(const Gemm& p, u32 i) {
  Batch o = {0, 0, 0, (i64)i * p.m * p.n};
  HT_ROLLED for (int d = p.nb - 1; d >= 0; d--) {
    const u32 q = i / (u32)p.bshape[d], r = i - q * (u32)p.bshape[d];
    o.a += r * p.ba[d];
    o.b += r * p.bb[d];
    o.x += r * p.bx[d];
    i = q;
  }
  return o;
}

template <class T> HT_FN T gemm_end(const Gemm& p, typename as<T>::wide sum, const T* x, i64 row, i64 col) {
  typedef typename as<T>::wide C;
  if (p.alpha != 1) sum *= (C)p.alpha;
  if (x && p.beta != 0) sum += (C)p.beta * wide(x[row * p.rx + col * p.cx]);
  return narrow<T>::of(sum);
}

// A tile of 16·E rows and columns, E·E sums per thread.
template <class T, int E> HT_FN void gemm_tile(const Gemm& p) {
  typedef typename as<T>::wide C;
  const int S = 16 * E, K = 16;
  __shared__ C as_[K][S + 1], bs_[K][S + 1];
  const int t = threadIdx.x, tx = t % 16, ty = t / 16, tilesN = (p.n + S - 1) / S;
  const int m0 = (int)(blockIdx.x / tilesN) * S, n0 = (int)(blockIdx.x % tilesN) * S;
  const Batch o = batch_of(p, blockIdx.y);
  const T *a = (const T*)p.a + o.a, *b = (const T*)p.b + o.b;
  const bool ak = p.ca == 1, bk = p.rb == 1;
  C sum[E][E];
  HT_UNROLL for (int i = 0; i < E; i++) HT_UNROLL for (int j = 0; j < E; j++) sum[i][j] = 0;
  const int per = ((p.k + p.splits - 1) / p.splits + K - 1) / K * K, from = per * (int)blockIdx.z, to = from + per < p.k ? from + per : p.k;
  for (int k0 = from; k0 < to; k0 += K) {
    HT_UNROLL for (int i = 0; i < E; i++) {
      const int c = i * GEMM_THREADS + t;
      const int r = ak ? c / K : c % S, k = ak ? c % K : c / S;
      as_[k][r] = m0 + r < p.m && k0 + k < to ? wide(a[(m0 + r) * p.ra + (k0 + k) * p.ca]) : (C)0;
      const int r2 = bk ? c / K : c % S, k2 = bk ? c % K : c / S;
      bs_[k2][r2] = n0 + r2 < p.n && k0 + k2 < to ? wide(b[(k0 + k2) * p.rb + (n0 + r2) * p.cb]) : (C)0;
    }
    __syncthreads();
    HT_UNROLL for (int k = 0; k < K; k++) {
      C av[E], bv[E];
      HT_UNROLL for (int i = 0; i < E; i++) av[i] = as_[k][ty + 16 * i], bv[i] = bs_[k][tx + 16 * i];
      HT_UNROLL for (int i = 0; i < E; i++) HT_UNROLL for (int j = 0; j < E; j++) sum[i][j] = fused(av[i], bv[j], sum[i][j]);
    }
    __syncthreads();
  }
  const T* x = p.x ? (const T*)p.x + o.x : (const T*)nullptr;
  HT_UNROLL for (int i = 0; i < E; i++) {
    HT_UNROLL for (int j = 0; j < E; j++) {
      const i64 row = m0 + ty + 16 * i, col = n0 + tx + 16 * j;
      if (row >= p.m || col >= p.n) continue;
      if (p.splits > 1) ((C*)p.partial)[((i64)blockIdx.z * gridDim.y + blockIdx.y) * p.m * p.n + row * p.n + col] = sum[i][j];
      else ((T*)p.out)[o.out + row * p.n + col] = gemm_end<T>(p, sum[i][j], x, row, col);
    }
  }
}

// gemm_sum brings the splits of k together, in their order. n counts elements per split here: blockIdx.y is the batch.
template <class T> HT_FN void gemm_sum(const Gemm& p) {
  typedef typename as<T>::wide C;
  const i64 size = (i64)p.m * p.n, i = (i64)blockIdx.x * GEMM_THREADS + threadIdx.x;
  if (i >= size) return;
  const Batch o = batch_of(p, blockIdx.y);
  C sum = 0;
  for (int s = 0; s < p.splits; s++) sum += ((const C*)p.partial)[((i64)s * gridDim.y + blockIdx.y) * size + i];
  const T* x = p.x ? (const T*)p.x + o.x : (const T*)nullptr;
  ((T*)p.out)[o.out + i] = gemm_end<T>(p, sum, x, i / p.n, i % p.n);
}

#define GEMM(S, T)                                              \
  HT_KERNEL(gemm_##S, Gemm, p) { gemm_tile<T, 4>(p); }          \
  HT_KERNEL(gemm_sum_##S, Gemm, p) { gemm_sum<T>(p); }
GEMM(f16, f16) GEMM(bf16, bf16) GEMM(f32, float) GEMM(f64, double) GEMM(i64, i64)
HT_KERNEL(gemm_large_f32, Gemm, p) { gemm_tile<float, 8>(p); }

#if HT_TENSOR_CORES
enum { MMA_STAGES = 3, MMA_K = 64 };

// Where 16 bytes of a tile lie in shared memory, so that ldmatrix meets no bank twice. Rows of k: 8 chunks; rows of m or n: Size/8.
template <bool AlongK, int Size> HT_FN int mma_chunk(int row, int chunk) { return row * (AlongK ? MMA_K / 8 : Size / 8) + (chunk ^ (row & 7)); }

// mma_copy queues the copy of a tile of Size rows (of m or n) and MMA_K columns (of k).
template <bool AlongK, int Size, class H>
HT_FN void mma_copy(Chunk* to, const H* from, i64 step, int first, int count, int k0, int k) {
  HT_UNROLL for (int i = 0; i < Size * (MMA_K / 8) / GEMM_THREADS; i++) {
    const int c = i * GEMM_THREADS + threadIdx.x, per = AlongK ? MMA_K / 8 : Size / 8;
    const int row = c / per, chunk = c % per;
    const int r = AlongK ? first + row : k0 + row, at = (AlongK ? k0 : first) + chunk * 8;  // row of memory, place in it
    const int rows = AlongK ? count : k, width = AlongK ? k : count;
    int bytes = r < rows ? (width - at) * 2 : 0;
    bytes = bytes < 0 ? 0 : (bytes > 16 ? 16 : bytes);
    cp_async16_zfill(to + mma_chunk<AlongK, Size>(row, chunk), bytes ? from + r * step + at : from, bytes);
  }
}

// mma_load reads a warp's operands of 16 k.
template <bool AK, bool BK, int M, int N, int TM, int TN>
HT_FN void mma_load(u32 (&fa)[TM][4], u32 (&fb)[TN][2], const Chunk* ta, const Chunk* tb, int kk, int wm, int wn, int lane) {
  HT_UNROLL for (int i = 0; i < TM; i++) {
    const int r = wm + i * 16;
    if (AK) ldmatrix_x4(fa[i], ta + mma_chunk<AK, M>(r + lane % 16, kk * 2 + lane / 16));
    else ldmatrix_x4_trans(fa[i], ta + mma_chunk<AK, M>(kk * 16 + lane % 8 + lane / 16 * 8, r / 8 + lane / 8 % 2));
  }
  HT_UNROLL for (int j = 0; j < TN; j += 2) {
    const int r = wn + j * 8;
    u32 q[4];
    if (BK) ldmatrix_x4(q, tb + mma_chunk<BK, N>(r + lane % 8 + lane / 16 * 8, kk * 2 + lane / 8 % 2));
    else ldmatrix_x4_trans(q, tb + mma_chunk<BK, N>(kk * 16 + lane % 16, r / 8 + lane / 16));
    fb[j][0] = q[0], fb[j][1] = q[1], fb[j + 1][0] = q[2], fb[j + 1][1] = q[3];
  }
}

// A block of 128×N: 8 warps of 64×N/4 each.
template <class H, bool AK, bool BK, int N> HT_FN void gemm_mma(const Gemm& p) {
  const int M = 128, WN = N / 4, TM = 4, TN = WN / 8, stage = (M + N) * (MMA_K / 8), half = M * (MMA_K / 8);
  extern __shared__ Chunk dynamic_shared[];
  const int t = threadIdx.x, lane = t % 32, warp = t / 32, wm = warp / 4 * 64, wn = warp % 4 * WN;
  // Blocks that run together share rows of a and columns of b in L2: groups of 8 rows of blocks.
  const int tilesM = (p.m + M - 1) / M, tilesN = (p.n + N - 1) / N;
  const int group = (int)blockIdx.x / (8 * tilesN), in = (int)blockIdx.x % (8 * tilesN), high = tilesM - group * 8 < 8 ? tilesM - group * 8 : 8;
  const int m0 = (group * 8 + in % high) * M, n0 = in / high * N;
  const Batch o = batch_of(p, blockIdx.y);
  const H *a = (const H*)p.a + o.a, *b = (const H*)p.b + o.b;
  const i64 stepA = AK ? p.ra : p.ca, stepB = BK ? p.cb : p.rb;
  float sum[TM][TN][4];
  HT_UNROLL for (int i = 0; i < TM; i++) HT_UNROLL for (int j = 0; j < TN; j++) HT_UNROLL for (int e = 0; e < 4; e++) sum[i][j][e] = 0;
  const int per = ((p.k + p.splits - 1) / p.splits + MMA_K - 1) / MMA_K * MMA_K, from = per * (int)blockIdx.z, to = from + per < p.k ? from + per : p.k;
  const int tiles = to > from ? (to - from + MMA_K - 1) / MMA_K : 0;
  HT_UNROLL for (int s = 0; s < MMA_STAGES - 1; s++) {
    if (s < tiles) {
      mma_copy<AK, M>(dynamic_shared + s * stage, a, stepA, m0, p.m, from + s * MMA_K, to);
      mma_copy<BK, N>(dynamic_shared + s * stage + half, b, stepB, n0, p.n, from + s * MMA_K, to);
    }
    cp_async_commit();
  }
  HT_ROLLED for (int kt = 0; kt < tiles; kt++) {
    cp_async_wait<MMA_STAGES - 2>();
    __syncthreads();
    const int next = kt + MMA_STAGES - 1;
    if (next < tiles) {
      Chunk* room = dynamic_shared + next % MMA_STAGES * stage;
      mma_copy<AK, M>(room, a, stepA, m0, p.m, from + next * MMA_K, to);
      mma_copy<BK, N>(room + half, b, stepB, n0, p.n, from + next * MMA_K, to);
    }
    cp_async_commit();
    const Chunk *ta = dynamic_shared + kt % MMA_STAGES * stage, *tb = ta + half;
    u32 fa[2][TM][4], fb[2][TN][2];
    mma_load<AK, BK, M, N>(fa[0], fb[0], ta, tb, 0, wm, wn, lane);
    HT_UNROLL for (int kk = 0; kk < MMA_K / 16; kk++) {  // the next operands are read while these are multiplied
      if (kk + 1 < MMA_K / 16) mma_load<AK, BK, M, N>(fa[(kk + 1) & 1], fb[(kk + 1) & 1], ta, tb, kk + 1, wm, wn, lane);
      HT_UNROLL for (int i = 0; i < TM; i++) HT_UNROLL for (int j = 0; j < TN; j++) ht_mma(sum[i][j], fa[kk & 1][i], fb[kk & 1][j], H());
    }
  }
  const H* x = p.x ? (const H*)p.x + o.x : (const H*)nullptr;
  H* out = (H*)p.out + o.out;
  struct alignas(4) Pair { H v[2]; };
  HT_UNROLL for (int i = 0; i < TM; i++) {
    HT_UNROLL for (int j = 0; j < TN; j++) {
      HT_UNROLL for (int h = 0; h < 2; h++) {
        const i64 row = m0 + wm + i * 16 + h * 8 + lane / 4, col = n0 + wn + j * 8 + lane % 4 * 2;
        if (row >= p.m || col >= p.n) continue;
        if (p.splits > 1) {
          float* part = (float*)p.partial + ((i64)blockIdx.z * gridDim.y + blockIdx.y) * p.m * p.n + row * p.n + col;
          part[0] = sum[i][j][2 * h];
          if (col + 1 < p.n) part[1] = sum[i][j][2 * h + 1];
          continue;
        }
        Pair v;
        v.v[0] = gemm_end<H>(p, sum[i][j][2 * h], x, row, col);
        if (col + 1 < p.n) v.v[1] = gemm_end<H>(p, sum[i][j][2 * h + 1], x, row, col + 1);
        if (p.n % 2 == 0) {
          *(Pair*)(out + row * p.n + col) = v;
        } else {
          out[row * p.n + col] = v.v[0];
          if (col + 1 < p.n) out[row * p.n + col + 1] = v.v[1];
        }
      }
    }
  }
}
#define GEMM_MMA(S, H)                                                                                                    \
  HT_KERNEL_OF(GEMM_THREADS, gemm_kk_##S, Gemm, p) { gemm_mma<H, true, true, 128>(p); }    \
  HT_KERNEL_OF(GEMM_THREADS, gemm_kn_##S, Gemm, p) { gemm_mma<H, true, false, 128>(p); }   \
  HT_KERNEL_OF(GEMM_THREADS, gemm_mk_##S, Gemm, p) { gemm_mma<H, false, true, 128>(p); }   \
  HT_KERNEL_OF(GEMM_THREADS, gemm_mn_##S, Gemm, p) { gemm_mma<H, false, false, 128>(p); }  \
  HT_KERNEL_OF(GEMM_THREADS, gemm_wide_kk_##S, Gemm, p) { gemm_mma<H, true, true, 256>(p); }   \
  HT_KERNEL_OF(GEMM_THREADS, gemm_wide_kn_##S, Gemm, p) { gemm_mma<H, true, false, 256>(p); }  \
  HT_KERNEL_OF(GEMM_THREADS, gemm_wide_mk_##S, Gemm, p) { gemm_mma<H, false, true, 256>(p); }  \
  HT_KERNEL_OF(GEMM_THREADS, gemm_wide_mn_##S, Gemm, p) { gemm_mma<H, false, false, 256>(p); }
GEMM_MMA(f16, f16)
GEMM_MMA(bf16, bf16)
#endif
