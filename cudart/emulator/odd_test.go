//go:build linux && (amd64 || arm64)

package emulator

import (
	"errors"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/halftone-ml/halftone/cudart/driver"
	"github.com/halftone-ml/halftone/cudart/internal/wheel"
)

// plain is a kernel to stand beside what is odd.
const plain = `extern "C" __global__ void k(float *x) { x[0] = 1; }` + "\n"

// odd are programs of all kinds, and the line of the first error, 0 where it names none, -1 where there is no error. NVRTC 13.5 and 12.4 gave these; the
// stand-in has to as well, so that what runs on the emulator compiles for a device.
var odd = map[string]struct {
	source string
	line   int
	words  string // in the error
}{
	"nothing":               {"", -1, ""},
	"no kernel":             {"__device__ int f(int x) { return x; }\n", -1, ""},
	"two kernels":           {"extern \"C\" __global__ void a(int *x) { x[0] = 1; }\nextern \"C\" __global__ void k(int *x) { x[0] = 2; }\n", -1, ""},
	"a block of extern C":   {"extern \"C\" {\n__global__ void k(float *x) { x[0] = 1; }\n}\n", -1, ""},
	"a function template":   {"template <class T> __device__ T twice(T v) { return v + v; }\nextern \"C\" __global__ void k(float *x) { x[0] = twice(x[0]); }\n", -1, ""},
	"a kernel template":     {"template <class T> __global__ void t(T *x) { x[0] = 1; }\n" + plain, -1, ""},
	"C++ linkage":           {"__global__ void k(float *x) { x[0] = 1; }\n", -1, ""},
	"variables":             {"__device__ int counter;\n__constant__ float table[4] = {1, 2, 3, 4};\nconst int N = 3;\nextern \"C\" __global__ void k(float *x) { x[0] = table[threadIdx.x] + N; atomicAdd(&counter, 1); }\n", -1, ""},
	"printf":                {"extern \"C\" __global__ void k(int *x) { printf(\"%d\\n\", x[0]); }\n", -1, ""},
	"assert":                {"extern \"C\" __global__ void k(int *x) { assert(x[0] == 0); }\n", -1, ""},
	"a guarded header":      {"#ifndef __CUDACC_RTC__\n#include <vector>\n#endif\n" + plain, -1, ""},
	"a header of C++":       {"\n#include <cstdio>\n" + plain, 2, `"cstdio"`},
	"a header of C":         {"#include <math.h>\n" + plain, 1, `"math.h"`},
	"a header of CUDA":      {"#include <cuda_fp16.h>\nextern \"C\" __global__ void k(__half *x) { x[0] = x[1]; }\n", 1, `"cuda_fp16.h"`},
	"a header of nobody's":  {"#define A 1\n#if A\n#include \"mine.h\"\n#endif\n" + plain, 3, `"mine.h"`},
	"an unknown name":       {"extern \"C\" __global__ void k(float *x) {\n  x[0] = y;\n}\n", 2, "y"},
	"a missing semicolon":   {"extern \"C\" __global__ void k(float *x) {\n  x[0] = 1\n}\n", -2, ""},
	"a missing brace":       {"extern \"C\" __global__ void k(float *x) {\n  x[0] = 1;\n", -2, ""},
	"#error":                {"#error stop here\n", 1, "stop here"},
	"macros":                {"#define N 4\n#define KERNEL(name) extern \"C\" __global__ void name(float *x)\nKERNEL(k) { x[0] = N; }\n", -1, ""},
	"a struct by value":     {"struct P { float *x; int n; __device__ float get() { return n; } };\nextern \"C\" __global__ void k(P p) { p.x[0] = p.get(); }\n", -1, ""},
	"40 KB of parameters":   {"struct P { float v[10000]; };\nextern \"C\" __global__ void k(P p, float *y) { y[0] = p.v[threadIdx.x]; }\n", -2, "Formal parameter space overflowed"},
	"64 KB of shared":       {"extern \"C\" __global__ void k(float *x) { __shared__ float s[16384]; s[threadIdx.x] = x[0]; __syncthreads(); x[1] = s[threadIdx.x ^ 1]; }\n", 0, "uses too much shared data (0x10000 bytes, 0xc000 max)"},
	"shared of the launch":  {"extern __shared__ float s[];\nextern \"C\" __global__ void k(float *x) { s[threadIdx.x] = x[0]; __syncthreads(); x[1] = s[threadIdx.x ^ 1]; }\n", -1, ""},
	"aligned shared":        {"extern \"C\" __global__ void k(float *x) { extern __shared__ __align__(16) unsigned char raw[]; float *s = (float *)raw; s[threadIdx.x] = x[0]; x[1] = s[threadIdx.x]; }\n", -1, ""},
	"launch bounds":         {"extern \"C\" __global__ __launch_bounds__(4 * 32, 2) void k(float *x) { x[threadIdx.x] = 1; }\n", -1, ""},
	"a program's main":      {plain + "int main() { return 0; }\n", 2, "host functions are not allowed in JIT mode"},
	"a function without":    {"inline float sq(float v)\n{\n  return v * v;\n}\nextern \"C\" __global__ void k(float *x) { x[0] = sq(x[0]); }\n", 1, "host functions are not allowed in JIT mode"},
	"a template without":    {"template <class T> T twice(T v) { return v + v; }\n" + plain, 1, "host functions are not allowed in JIT mode"},
	"a member without":      {"struct P {\n  float v;\n  float get() { return v; }\n};\n" + plain, 3, "host functions are not allowed in JIT mode"},
	"__host__":              {"__host__ int f(int v) { return v; }\n" + plain, 1, "__host__ function is not allowed"},
	"a variable without":    {"int counter = 3;\n" + plain, 1, "host variables are not allowed in JIT mode"},
	"a kernel that returns": {"extern \"C\" __global__ int k(float *x) { return 1; }\n", 1, "must have a void return type"},
	"int64_t":               {"extern \"C\" __global__ void k(float *x) {\n int64_t m = 2; x[0] = m; }\n", 2, "int64_t"},
	"a program's int64_t":   {"typedef long long int64_t;\nextern \"C\" __global__ void k(int64_t *x) { x[0] = 1; }\n", -1, ""},
	"INFINITY":              {"extern \"C\" __global__ void k(float *x) { x[0] = INFINITY; }\n", 1, "INFINITY"},
	"words of warps":        {"extern \"C\" __global__ void k(float *x) { float s = x[threadIdx.x]; for (int o = 16; o; o >>= 1) s += __shfl_xor_sync(0xffffffff, s, o); x[0] = s; }\n", -1, ""},
	"a lambda":              {"extern \"C\" __global__ void k(float *x) { auto f = [=](int i) { return x[i] * 2; }; x[0] = f(0); if constexpr (sizeof(int) == 4) x[1] = 1; }\n", -1, ""},
	"no end of line":        {strings.TrimSpace(plain), -1, ""},
}

// TestOddSources compiles them with the stand-in and, where its wheel can be had, with NVIDIA's own NVRTC.
func TestOddSources(t *testing.T) {
	compileOdd(t, "stand-in", standIn(t), func(name string) bool { return odd[name].line != -1 || oddFew[name] })
	if dir, err := wheel.Fetch(t.Context(), wheel.NVRTC); err == nil && runtime.GOARCH == "amd64" {
		compileOdd(t, "NVIDIA's", filepath.Join(dir, "nvidia", "cuda_nvrtc", "lib", "libnvrtc.so.12"), func(string) bool { return true })
	}
}

// standIn is the emulator's library in NVRTC's place.
func standIn(t *testing.T) string {
	t.Helper()
	opened(t)
	return filepath.Join(filepath.Dir(suiteLibrary), "libnvrtc.so.13")
}

// compileOdd compiles the chosen programs with a library.
func compileOdd(t *testing.T, who, path string, chosen func(name string) bool) {
	t.Helper()
	n, err := driver.OpenNVRTC(path)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range odd {
		if !chosen(name) {
			continue
		}
		t.Run(who+"/"+name, func(t *testing.T) {
			code, err := n.Compile(driver.Source{Name: "kernel.cu", Text: c.source, Arch: 80}, nil)
			var refused *driver.CompileError
			switch {
			case name == "64 KB of shared" && who != "stand-in" && err == nil: // NVRTC 12.4 leaves that to the loading
			case c.line == -1:
				if err != nil || len(code.Image) == 0 {
					t.Errorf("%d bytes, %v", len(code.Image), err)
				}
			case !errors.As(err, &refused) || !strings.Contains(err.Error(), c.words):
				t.Errorf("%v, want an error with %q", err, c.words)
			case len(refused.Diagnostics) == 0:
				t.Errorf("it is not understood: %s", refused.Log)
			case c.line >= 0 && first(refused).Line != c.line:
				t.Errorf("line %d, want %d: %v", first(refused).Line, c.line, err)
			}
		})
	}
}

// first is the first error of a program.
func first(e *driver.CompileError) driver.Diagnostic {
	for _, d := range e.Diagnostics {
		if strings.HasSuffix(d.Severity, "error") {
			return d
		}
	}
	return driver.Diagnostic{Line: -1}
}

// oddFew are the programs without mistakes that the stand-in compiles in each run of the tests; with the tag long it compiles all.
var oddFew = map[string]bool{"two kernels": true, "variables": true, "C++ linkage": true, "shared of the launch": true}
