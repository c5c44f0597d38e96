// A cuBLAS that computes nothing and keeps the mode of its handle, which is NVIDIA's default at first.
extern "C" {
static int mode = 0, handles = 0, refuse = 0;
int cublasCreate_v2(void **h) { *h = &mode; mode = 0; handles++; return 0; }
int cublasDestroy_v2(void *) { handles--; return 0; }
int cublasGetVersion_v2(void *, int *v) { *v = 130000; return 0; }
int cublasSetStream_v2(void *, void *) { return 0; }
int cublasSetWorkspace_v2(void *, void *, unsigned long) { return 0; }
int cublasSetMathMode(void *, int m) { return refuse ? 7 : (mode = m, 0); }
int cublasGemmEx() { return 0; }
int cublasGemmStridedBatchedEx() { return 0; }
int fakeMode() { return mode; }
int fakeHandles() { return handles; }
void fakeRefuse(int on) { refuse = on; }
}
