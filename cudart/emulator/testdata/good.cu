// Kernels that are right, and use what the emulator has to imitate.

struct HalfRows { const unsigned short* x; float* y; int columns; float scale; };

// The sum of each row of halves: a stride loop, shuffles, static shared memory.
extern "C" __global__ void row_sum_f16(HalfRows p) {
  __shared__ float part[32];
  int row = blockIdx.x, lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  float sum = 0;
  for (int c = threadIdx.x; c < p.columns; c += blockDim.x) sum += f16_to_f32(p.x[(long long)row * p.columns + c]);
  for (int o = 16; o > 0; o >>= 1) sum += __shfl_down_sync(0xffffffffu, sum, o);
  if (lane == 0) part[warp] = sum;
  __syncthreads();
  if (warp == 0) {
    sum = lane < (int)(blockDim.x >> 5) ? part[lane] : 0.f;
    for (int o = 16; o > 0; o >>= 1) sum += __shfl_down_sync(0xffffffffu, sum, o);
    if (lane == 0) p.y[row] = sum * p.scale;
  }
}

// Multiplies halves, and tells whether all came out finite.
extern "C" __global__ void unscale_check_f16(unsigned short* g, float inv, int n, int* found_inf) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float v = f16_to_f32(g[i]) * inv;
  if (!(v - v == 0)) atomicOr(found_inf, 1);
  g[i] = f32_to_f16(v);
}

// c[m][n] = a[m][k]·b[n][k]ᵀ, a warp per 16×8 tile: cp.async, ldmatrix and mma.
extern "C" __global__ void gemm_mma_f16(const unsigned short* a, const unsigned short* b, float* c, int n, int k) {
  __shared__ __align__(16) unsigned short ta[2][16][16], tb[2][8][16];
  int l = threadIdx.x, m0 = blockIdx.y * 16, n0 = blockIdx.x * 8;
  float d[4] = {0, 0, 0, 0};
  auto load = [&](int stage, int k0) {
    cp_async16(&ta[stage][l >> 1][(l & 1) * 8], a + (m0 + (l >> 1)) * k + k0 + (l & 1) * 8);
    if (l < 16) cp_async16(&tb[stage][l >> 1][(l & 1) * 8], b + (n0 + (l >> 1)) * k + k0 + (l & 1) * 8);
    cp_async_commit();
  };
  load(0, 0);
  for (int k0 = 0, s = 0; k0 < k; k0 += 16, s ^= 1) {
    if (k0 + 16 < k) {
      load(s ^ 1, k0 + 16);
      cp_async_wait<1>();
    } else {
      cp_async_wait<0>();
    }
    __syncthreads();
    unsigned fa[4], fb[2];
    ldmatrix_x4(fa, &ta[s][(l & 7) + (l >> 3 & 1) * 8][(l >> 4) * 8]);
    ldmatrix_x2(fb, &tb[s][l & 7][(l >> 3 & 1) * 8]);
    mma_m16n8k16_f16(d, fa, fb);
    __syncthreads();
  }
  for (int i = 0; i < 4; i++) c[(m0 + (l >> 2) + 8 * (i >> 1)) * n + n0 + (l & 3) * 2 + (i & 1)] = d[i];
}

// Votes, and shuffles of 8 bytes and of half a warp.
extern "C" __global__ void warp_words(long long* out) {
  unsigned t = threadIdx.x;
  long long v = (long long)t << 40;
  out[t] = __shfl_xor_sync(0xffffffffu, v, 1) + (long long)__ballot_sync(0xffffffffu, t % 3 == 0);
  unsigned half = t < 16 ? 0x0000ffffu : 0xffff0000u;
  if (t < 16) out[t] += __shfl_sync(half, (int)t, 5);
  else out[t] += __shfl_sync(half, (int)t, 20);
}

// All blocks store the same to one place: in no order, and it does not matter.
extern "C" __global__ void same_flag(int* flag) { *flag = 1; }

// A product of a warpgroup whose operands lie in shared memory as image has them: descriptors and turns are the caller's.
extern "C" __global__ void wgmma_image(const unsigned* image, float* c, int words, unsigned long long a, unsigned long long b, int turns) {
  extern __shared__ unsigned dynamic_shared[];
  float d[32][4];
  for (int i = 0; i < 128; i++) d[i / 4][i % 4] = 1;
  for (int i = threadIdx.x; i < words; i += 128) dynamic_shared[i] = image[i];
  fence_proxy_async();
  __syncthreads();
  wgmma_fence();
  wgmma_m64n256k16_f16(d, a, b, turns & 1, turns >> 1);
  wgmma_commit();
  wgmma_wait<0>();
  int row = threadIdx.x / 32 * 16 + threadIdx.x % 32 / 4, column = threadIdx.x % 4 * 2;
  for (int i = 0; i < 128; i++) c[(row + i / 2 % 2 * 8) * 256 + column + i / 4 * 8 + i % 2] = d[i / 4][i % 4];
}
