//go:build linux && (amd64 || arm64)

package emulator

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/cudart"
	"github.com/halftone-ml/halftone/cudart/driver"
)

// compiled returns a kernel of a program.
func compiled(t *testing.T, source, name string, options ...string) *cudart.Kernel {
	t.Helper()
	p, err := cudart.Compile(source, options...)
	if err != nil {
		t.Fatal(err)
	}
	k, err := p.Kernel(name)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// TestStructsByValue: structs, vectors and short integers reach a kernel as C lays them out.
func TestStructsByValue(t *testing.T) {
	useEmulator(t)
	root := amp.NewScope(amp.On("cuda:0"))
	defer root.Close()
	k := compiled(t, `struct Box { float low; int n; double scale; unsigned char tag[3]; };
extern "C" __global__ void f(double *x, Box b, float4 q, char c, short s, unsigned long long seed, unsigned char u) {
	double all[] = {b.low, double(b.n), b.scale, double(b.tag[2]), q.w, double(c), double(s), double(seed >> 60), double(u)};
	for (int i = 0; i < 9; i++) x[i] = all[i];
}`, "f")
	type box struct {
		low   float32
		n     int32
		scale float64
		tag   [3]uint8
	}
	x := amp.Zeros(root, amp.Float64, 9)
	one := cudart.Config{}
	if err := k.Launch(one, x, box{0.5, -2, 3, [3]uint8{7, 8, 9}}, [4]float32{1, 2, 3, 4}, -5, int16(-300), uint64(0xF<<60), 200); err != nil {
		t.Fatal(err)
	}
	if got := x.Float64s(); !slices.Equal(got, []float64{0.5, -2, 3, 9, 4, -5, -300, 15, 200}) {
		t.Errorf("%v", got)
	}
	for want, args := range map[string][]any{
		"argument 3 (float4 q): a [3]float32 has 12 bytes, and the parameter 16": {x, box{}, [3]float32{}, 1, 1, 1, 1},
		"argument 2 (Box b): the parameter has 24 bytes":                         {x, 3, [4]float32{}, 1, 1, 1, 1},
		"argument 2 (Box b): the kernel takes a number there":                    {x, x, [4]float32{}, 1, 1, 1, 1},
		"amp.From(values": {[]float64{1}, box{}, [4]float32{}, 1, 1, 1, 1},
		"takes 7 arguments (double *x, Box b, float4 q, char c, short s, unsigned long long seed, unsigned char u), not 1": {3},
	} {
		if err := k.Launch(one, args...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// TestKernelsOfMacros: where the source does not show a kernel's parameters, the driver knows how many there are and how long.
func TestKernelsOfMacros(t *testing.T) {
	useEmulator(t)
	root := amp.NewScope(amp.On("cuda:0"))
	defer root.Close()
	const source = `#define FILL(T, name) extern "C" __global__ void name(T *x, T v, int n) { int i = threadIdx.x; if (i < n) x[i] = v; }
FILL(float, fill_float)
FILL(double, fill_double)`
	x := amp.Zeros(root, amp.Float32, 3)
	k := compiled(t, source, "fill_float")
	if err := k.Launch(cudart.For(3), x, float32(2.5), 3); err != nil || x.Float64s()[2] != 2.5 {
		t.Errorf("%v, %v", x, err)
	}
	for want, args := range map[string][]any{
		"takes 3 arguments, not 2": {x, float32(1)}, "takes 3 arguments, not 4": {x, float32(1), 3, 4},
		"argument 2: the parameter has 4 bytes, and a Go float64 has 8": {x, 1.5, 3},
		"argument 3: the kernel takes a number there":                   {x, float32(1), x},
	} {
		if err := k.Launch(cudart.For(3), args...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	var many []any
	for range 70 {
		many = append(many, x)
	}
	if err := k.Launch(cudart.For(3), many...); err == nil || !strings.Contains(err.Error(), "takes 3 arguments, not 70") {
		t.Error(err)
	}
}

// TestPreprocessedKernels: options are the program's own, whatever the emulator's headers call things, and what they leave out does not count.
func TestPreprocessedKernels(t *testing.T) {
	useEmulator(t)
	root := amp.NewScope(amp.On("cuda:0"))
	defer root.Close()
	const source = `
#define call 2
#ifdef WIDE
extern "C" __global__ void f(double *x, T v)
#else
extern "C" __global__ void f(float *x, T v)
#endif
{ x[0] = v + N + count + sizes * call; }`
	x := amp.Zeros(root, amp.Float32, 1)
	options := []string{"-DT=float", "-D", "N=100", "--define-macro=count=1000", "--define-macro", "sizes=5000", "--std", "c++17", "-DA"}
	if err := compiled(t, source, "f", options...).Launch(cudart.Config{}, x, float32(1)); err != nil || x.Item() != 11101 {
		t.Errorf("%v, %v", x, err)
	}
	wide := amp.Zeros(root, amp.Float64, 1)
	if err := compiled(t, source, "f", append(options, "-DWIDE")...).Launch(cudart.Config{}, wide, float32(1)); err != nil || wide.Item() != 11101 {
		t.Errorf("%v, %v", wide, err)
	}
}

// TestHalvesOfOnesOwn: a kernel converts halves with the header that Compile gives, to the same bits as casts.
func TestHalvesOfOnesOwn(t *testing.T) {
	useEmulator(t)
	root := amp.NewScope(amp.On("cuda:0"), amp.Seed(1))
	defer root.Close()
	k := compiled(t, `#include "halftone.h"
extern "C" __global__ void f(const float *v, unsigned short *x, unsigned short *y, float *wide, int n) {
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i >= n) return;
	x[i] = float_to_float16(v[i]), y[i] = float_to_bfloat16(v[i]);
	wide[i] = float16_to_float(x[i]) + bfloat16_to_float(y[i]);
}`, "f")
	const n = 1000
	v := amp.Randn(root, amp.Float32, 0, 1000, n)
	x, y, wide := amp.Zeros(root, amp.Float16, n), amp.Zeros(root, amp.BFloat16, n), amp.Zeros(root, amp.Float32, n)
	if err := k.Launch(cudart.For(n), v, x, y, wide, n); err != nil {
		t.Fatal(err)
	}
	halves, brains := amp.To(root, v, amp.Float16), amp.To(root, v, amp.BFloat16)
	sum := amp.Add(root, amp.To(root, halves, amp.Float32), amp.To(root, brains, amp.Float32))
	for what, pair := range map[string][2]*amp.Tensor{"float16": {x, halves}, "bfloat16": {y, brains}, "float32": {wide, sum}} {
		if !slices.Equal(pair[0].Float64s(), pair[1].Float64s()) {
			t.Errorf("%s differs from a cast", what)
		}
	}
	for _, source := range []string{"#include <cuda_fp16.h>\nextern \"C\" __global__ void f(__half *x) {}", "\nextern \"C\" __global__ void f(__half *x) {}"} {
		_, err := cudart.Compile(source)
		var c *driver.CompileError
		if !errors.As(err, &c) || !strings.Contains(err.Error(), `#include "halftone.h"`) {
			t.Errorf("%v", err)
		}
	}
}

// TestTemplatesAreNoKernels: asking for a template says how a kernel is made of it, and nothing takes one for a kernel.
func TestTemplatesAreNoKernels(t *testing.T) {
	useEmulator(t)
	p, err := cudart.Compile(`template <typename T> __global__ void fill(T *x, T v) { x[0] = v; }
template __global__ void fill<float>(float *, float);
extern "C" __global__ void other(float *x) { x[0] = 1; }`)
	if err != nil {
		t.Fatal(err)
	}
	if got := p.String(); got != "Program(other)" {
		t.Error(got)
	}
	for _, name := range []string{"fill", "fill<float>"} {
		if _, err := p.Kernel(name); !errors.Is(err, driver.ErrNotFound) || !strings.Contains(err.Error(), `it is a template: write a kernel of its own for each type, extern "C" __global__ void fill_float(`) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestNoKernel: what an error that was not looked at gives is refused with that advice.
func TestNoKernel(t *testing.T) {
	useEmulator(t)
	root := amp.NewScope(amp.On("cuda:0"))
	defer root.Close()
	var p *cudart.Program
	k, err := p.Kernel("f")
	if k != nil || err == nil || !strings.Contains(err.Error(), "error of Compile") {
		t.Errorf("%v, %v", k, err)
	}
	if err := k.Launch(cudart.For(1), amp.Zeros(root, amp.Float32, 1)); err == nil || !strings.Contains(err.Error(), "error of Program.Kernel") {
		t.Error(err)
	}
	if _, err := k.Time(1, cudart.For(1)); err == nil || !strings.Contains(err.Error(), "error of Program.Kernel") {
		t.Error(err)
	}
}

// TestFunctionsOfCUDA: what CUDA has without a header a program finds here too.
func TestFunctionsOfCUDA(t *testing.T) {
	useEmulator(t)
	root := amp.NewScope(amp.On("cuda:0"))
	defer root.Close()
	k := compiled(t, `extern "C" __global__ void f(float *x, const float3 *three) {
	unsigned lane = threadIdx.x, low = __reduce_min_sync(0xffffffffu, lane + 3), all = __reduce_add_sync(0xffffffffu, lane);
	if (lane) return;
	float4 v = make_float4(three[1].x, three[1].y, three[1].z, 1);
	float is[] = {rsqrtf(4), min(3, 4), max(-1, 2u), max(v.y, v.z), __saturatef(3), __fmaf_rn(2, 3, 4), __float2int_rn(2.5f), __float2int_rz(-2.7f), __float2uint_ru(-3.f),
		__brev(1) >> 28, __funnelshift_l(0x80000000u, 1, 1), __byte_perm(0x03020100, 0x07060504, 7), low, all, __expf(0), clock64() > 0, __mulhi(1 << 30, 8),
		min(5ull, 7ll), __fdividef(3, 2), __mul24(-1, 2), __umul24(0x1000003, 2)};
	for (int i = 0; i < 21; i++) x[i] = is[i];
}`, "f")
	x, three := amp.Zeros(root, amp.Float32, 21), amp.Arange(root, amp.Float32, 0, 6, 1)
	if err := k.Launch(cudart.Config{Block: cudart.Dim{X: 32}}, x, three); err != nil {
		t.Fatal(err)
	}
	want := []float64{0.5, 3, 1 << 32, 5, 1, 10, 2, -2, 0, 8, 3, 7, 3, 496, 1, 1, 2, 5, 1.5, -2, 6}
	if got := x.Float64s(); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	_, err := cudart.Compile(`extern "C" __global__ void f(int *x) { x[0] = __vadd4(1, 2); }`)
	if err == nil || !strings.Contains(err.Error(), "the emulator has not all of CUDA's functions") {
		t.Errorf("%v", err)
	}
}
