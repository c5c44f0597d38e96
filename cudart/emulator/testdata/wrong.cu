// Kernels that are wrong, each in one way. On a GPU most of them compute the right thing most of the time.

// Reverses 64 numbers, without the barrier that it needs.
extern "C" __global__ void no_barrier(int* x) {
  __shared__ int s[64];
  s[threadIdx.x] = x[threadIdx.x];
  x[threadIdx.x] = s[63 - threadIdx.x];
}

// Threads of one warp hand over a number through shared memory without __syncwarp.
extern "C" __global__ void no_syncwarp(int* x) {
  __shared__ int s[32];
  s[threadIdx.x] = x[threadIdx.x];
  x[threadIdx.x] = s[threadIdx.x ^ 1];
}

// The second round overwrites what others still read.
extern "C" __global__ void late_reader(int* x) {
  __shared__ int s;
  for (int round = 0; round < 2; round++) {
    if (threadIdx.x == 0) s = round;
    __syncthreads();
    x[threadIdx.x] += s;
  }
}

// The copy into a buffer begins while others may still read it; it is waited for after a barrier.
extern "C" __global__ void early_copy(int* x) {
  __shared__ __align__(16) int s[128];
  for (int i = 0; i < 4; i++) s[4 * threadIdx.x + i] = i;
  __syncthreads();
  x[128 + threadIdx.x] = s[127 - threadIdx.x];
  cp_async16(s + 4 * threadIdx.x, x + 4 * threadIdx.x);
  cp_async_commit();
  __syncthreads();
  cp_async_wait<0>();
  __syncthreads();
  x[128 + threadIdx.x] += s[threadIdx.x];
}

// The copy is read a barrier later, but nobody has waited for it.
extern "C" __global__ void no_wait(int* x) {
  __shared__ __align__(16) int s[128];
  cp_async16(s + 4 * threadIdx.x, x + 4 * threadIdx.x);
  cp_async_commit();
  __syncthreads();
  x[128 + threadIdx.x] = s[threadIdx.x];
}

// Half of the threads do not come.
extern "C" __global__ void half_barrier(int* x) {
  if (threadIdx.x < 32) __syncthreads();
  x[threadIdx.x] = 1;
  if (threadIdx.x >= 32) __syncthreads();
}

// Lanes wait for lanes that have another mask.
extern "C" __global__ void wrong_mask(int* x) {
  x[threadIdx.x] = __shfl_sync(threadIdx.x < 16 ? 0xffffffffu : 0xffff0000u, (int)threadIdx.x, 0);
}

// One element too many.
extern "C" __global__ void off_by_one(int* x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i <= n) x[i] = i;
}

// Far away.
extern "C" __global__ void far_away(int* x) { x[1ll << 38] = 1; }

extern "C" __global__ void read_one(const int* x, int* y) { *y = *x; }

// Shared memory that nobody wrote.
extern "C" __global__ void unwritten(float* x) {
  __shared__ float s[32];
  if (threadIdx.x < 16) s[threadIdx.x] = 1;
  __syncthreads();
  x[threadIdx.x] = s[threadIdx.x];
}

// Dynamic shared memory past its end.
extern "C" __global__ void past_shared(float* x) {
  extern __shared__ float d[];
  d[threadIdx.x + 1] = 1;
  __syncthreads();
  x[threadIdx.x] = d[threadIdx.x];
}

// Blocks that count on the one before.
extern "C" __global__ void chain(int* x) { x[blockIdx.x + 1] = x[blockIdx.x] + 1; }

// All blocks store to one place; the last one wins.
extern "C" __global__ void last_wins(int* x) { *x = blockIdx.x; }

extern "C" __global__ void add_one(int* x) { *x += 1; }

extern "C" __global__ void divide(int* x, int by) { *x = *x / by; }

// A sum that is too large for its type.
extern "C" __global__ void overflows(int* x) { *x += 0x7fffffff; }

// A read beside what was allocated, whose result nobody misses.
extern "C" __global__ void reads_beside(int* x, int n) {
  if (threadIdx.x == 0 && x[n] == 0x12345678) x[0] = 1;
}

// What a device refuses and a processor takes: addresses that are no multiple of what is moved.
extern "C" __global__ void odd_word(int* x) { *reinterpret_cast<long long*>(x + 1) = 1; }

extern "C" __global__ void odd_vector(float4* x) {
  float4* odd = reinterpret_cast<float4*>(reinterpret_cast<float*>(x) + 1);
  *odd = x[4];
}

extern "C" __global__ void odd_async_global(const int* x, int* y) {
  __shared__ __align__(16) int s[4];
  cp_async16(s, x + 1);
  cp_async_commit();
  cp_async_wait<0>();
  y[0] = s[0];
}

extern "C" __global__ void odd_async_shared(const int* x, int* y) {
  __shared__ __align__(16) int s[8];
  cp_async16(s + 1, x);
  cp_async_commit();
  cp_async_wait<0>();
  y[0] = s[1];
}

extern "C" __global__ void odd_rows(unsigned* y) {
  __shared__ __align__(16) unsigned short s[32][10];
  for (int i = 0; i < 10; i++) s[threadIdx.x][i] = 0;
  __syncthreads();
  unsigned r[4];
  ldmatrix_x4(r, s[threadIdx.x]);
  y[threadIdx.x] = r[0];
}

// A number that the integer does not hold: a device gives the largest one, a processor the smallest.
extern "C" __global__ void too_large(int* x) { x[0] = (int)((float)x[1] * 1e20f); }

// Products of a warpgroup of zeros, each wrong in one way: 0 is right.
extern "C" __global__ void wgmma_wrong(const int* x, float* y, int mistake) {
  extern __shared__ int zeros[];  // 64 and 256 rows of 16 halves
  const unsigned long long a = 256ull >> 4 << 32 | 128 >> 4 << 16, b = a | 2048 >> 4;
  float d[32][4] = {};
  for (int i = threadIdx.x; i < 2560; i += 128) zeros[i] = 0;
  if (mistake == 1) cp_async16(zeros + 4 * threadIdx.x, x), cp_async_commit(), cp_async_wait<0>();
  else fence_proxy_async();
  __syncthreads();
  if (mistake == 3 && threadIdx.x >= 96) return;
  if (mistake == 4 && threadIdx.x % 32 >= 16) return;
  if (mistake != 2) wgmma_fence();
  wgmma_m64n256k16_f16(d, mistake == 5 ? a | 1 << 14 : mistake == 6 ? a + threadIdx.x / 32 : a, mistake == 7 ? b + 0x2000 : b, false, false);
  wgmma_commit();
  if (mistake == 8) y[threadIdx.x] = d[0][0];
  if (mistake == 9) zeros[threadIdx.x] = 1;
  wgmma_wait<0>();
  if (mistake != 8) y[threadIdx.x] = d[0][0];
}
