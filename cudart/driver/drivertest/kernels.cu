// Kernels of the driver suite: one per thing that a driver could get wrong. Compiled by clang to kernels.ptx (go generate), and
// by the emulator to host code; plain CUDA C++ without headers.
#if !defined(HALFTONE_EMULATOR) && defined(__clang__) && defined(__CUDA__)
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __shared__ __attribute__((shared))
#include "__clang_cuda_builtin_vars.h"
#endif

extern "C" {

// Mixed parameters: an address, a narrow value, a wide one.
__global__ void drivertest_saxpy(float* y, const float* x, float a, long long n) {
  long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}

// A struct by value, with padding inside, between two scalars.
struct DriverTestStruct {
  double* out;
  char tag;
  double scale[3];
  short step;
  long long n;
};
__global__ void drivertest_struct(int before, DriverTestStruct s, int after) {
  long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  if (i < s.n) s.out[i] = before + after + s.tag + s.scale[i % 3] * s.step * (double)i;
}

// Every dimension of grid and block.
__global__ void drivertest_index(unsigned* out) {
  unsigned b = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  unsigned t = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  out[b * (blockDim.x * blockDim.y * blockDim.z) + t] = b * 1000u + t;
}

// The sum of each block's n floats, in dynamic shared memory, in a fixed order.
__global__ void drivertest_block_sum(float* out, const float* in) {
  extern __shared__ float part[];
  unsigned t = threadIdx.x;
  part[t] = in[(unsigned long long)blockIdx.x * blockDim.x + t];
  __syncthreads();
  for (unsigned k = blockDim.x / 2; k > 0; k /= 2) {
    if (t < k) part[t] += part[t + k];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = part[0];
}

// One thread that keeps the device busy for rounds dependent steps, then stores what it came to.
__global__ void drivertest_spin(unsigned* out, long long rounds, unsigned seed) {
  unsigned x = seed;
  for (long long i = 0; i < rounds; i++) x = x * 1664525u + 1013904223u;
  *out = x;
}

// Not commutative with itself at other arguments, so that the order of launches shows: out = out*factor + term.
__global__ void drivertest_step(unsigned* out, unsigned factor, unsigned term) {
  if (threadIdx.x == 0 && blockIdx.x == 0) *out = *out * factor + term;
}

// The same, with its arguments in device memory, as captured graphs want them.
__global__ void drivertest_step_from(unsigned* out, const unsigned* factorAndTerm) {
  if (threadIdx.x == 0 && blockIdx.x == 0) *out = *out * factorAndTerm[0] + factorAndTerm[1];
}

__global__ void drivertest_empty() {}

// Ends the context.
__global__ void drivertest_trap(int code) {
#if defined(HALFTONE_EMULATOR)
  __trap();
#else
  if (code) asm volatile("trap;");
#endif
}
}
