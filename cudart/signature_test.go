package cudart

import (
	"math"
	"strings"
	"testing"
	"time"
	"unsafe"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/cudart/driver"
)

func TestSignature(t *testing.T) {
	src := `
// __global__ void scale(int wrong) is in a comment
__device__ float f(float x) { return x; }
template <int N> struct S {};
extern "C" __global__ void __launch_bounds__(256) scale(const float * __restrict__ x, /* in place */ __half *y,
	float by, unsigned int n, size_t stride, Pair p, S<3, 4> s, const long long k[], bool flag) {}
extern "C" __global__ void nothing(void) {}
extern "C" __global__ void none() {}
#define KERNEL(name) extern "C" __global__ void name(float *x) {}
KERNEL(hidden)
`
	params, ok := signature(src, "scale")
	if !ok || len(params) != 9 {
		t.Fatalf("%d parameters, %v: %+v", len(params), ok, params)
	}
	for i, want := range []struct {
		kind              string
		pointer, readOnly bool
	}{
		{"float", true, true}, {"half", true, false}, {"float", false, false}, {"unsigned", false, false}, {"unsigned long long", false, false},
		{"", false, false}, {"", false, false}, {"long long", true, true}, {"bool", false, false},
	} {
		if p := params[i]; p.kind != want.kind || p.pointer != want.pointer || p.readOnly != want.readOnly {
			t.Errorf("parameter %d is %+v, want %+v", i, p, want)
		}
	}
	for _, name := range []string{"nothing", "none"} {
		if params, ok := signature(src, name); !ok || len(params) != 0 {
			t.Errorf("%s: %v, %v", name, params, ok)
		}
	}
	if got := strings.Join(kernelNames(src), " "); got != "scale nothing none" {
		t.Errorf("kernels %s", got)
	}
	for _, name := range []string{"hidden", "f", "scal"} {
		if params, ok := signature(src, name); ok {
			t.Errorf("%s: found %v", name, params)
		}
	}
}

// TestArguments: Go numbers become the declared type, bit for bit, or are refused.
func TestArguments(t *testing.T) {
	for _, c := range []struct {
		declared string
		v        any
		bits     uint64
		bytes    int
		refused  string
	}{
		{"float a", 2, uint64(math.Float32bits(2)), 4, ""}, {"float a", 0.1, uint64(math.Float32bits(0.1)), 4, ""},
		{"double a", float32(0.5), math.Float64bits(0.5), 8, ""}, {"int n", 7, 7, 4, ""}, {"int n", -1, 0xFFFFFFFF, 4, ""},
		{"const int n", int64(1) << 40, 0, 0, "does not fit int"}, {"int n", 1.5, 0, 0, "1.5 does not fit int"}, {"int n", 3.0, 3, 4, ""},
		{"unsigned n", -1, 0, 0, "does not fit"}, {"unsigned n", uint32(math.MaxUint32), math.MaxUint32, 4, ""},
		{"long long n", -5, math.MaxUint64 - 4, 8, ""}, {"size_t n", -5, 0, 0, "does not fit"}, {"size_t n", uint64(9), 9, 8, ""},
		{"bool b", true, 1, 1, ""}, {"bool b", 1, 0, 0, "pass true or false"}, {"float *x", 3, 0, 0, "pass a tensor"}, {"float *x", []float32{1}, 0, 0, "amp.From"}, {"float a", "2", 0, 0, "a string can't be passed"},
		{"half n", 3, 0, 0, "declare it as int"}, {"short n", -3, 0xFFFD, 2, ""}, {"unsigned char n", 255, 255, 1, ""}, {"char n", 256, 0, 0, "does not fit"},
		{"size_t n", uint64(math.MaxUint64), math.MaxUint64, 8, ""}, {"long long n", uint64(math.MaxUint64), 0, 0, "does not fit"},
		{"int n", uint(7), 7, 4, ""}, {"int n", int8(-7), 0xFFFFFFF9, 4, ""}, {"float a", time.Duration(3), uint64(math.Float32bits(3)), 4, ""},
		{"unsigned long long n", 0x1p63, 1 << 63, 8, ""}, {"long long n", 0x1p63, 0, 0, "does not fit"}, {"int n", math.NaN(), 0, 0, "does not fit"},
		{"Pair p", 3, 0, 0, "pass int32"}, {"Pair p", int32(3), 3, 4, ""},
	} {
		a := driver.GetArgs("test")
		err := newParameter(c.declared).number(a, c.v)
		switch {
		case c.refused != "":
			if err == nil || !strings.Contains(err.Error(), c.refused) {
				t.Errorf("%s = %v: %v, want %q", c.declared, c.v, err, c.refused)
			}
		case err != nil || a.Len() != 1:
			t.Errorf("%s = %v: %v", c.declared, c.v, err)
		default:
			var got uint64
			copy(unsafe.Slice((*byte)(unsafe.Pointer(&got)), 8), unsafe.Slice((*byte)(a.Param(0)), c.bytes))
			if got != c.bits {
				t.Errorf("%s = %v: %#x, want %#x", c.declared, c.v, got, c.bits)
			}
		}
		a.Put()
	}
	for declared, dts := range map[string][]amp.DType{
		"__half *x": {amp.Float16}, "const unsigned short *x": {amp.Float16, amp.BFloat16}, "float *x": {amp.Float32}, "void *x": {amp.Float64, amp.Bool},
		"long long *x": {amp.Int64}, "unsigned char *x": {amp.Bool}, "Mine *x": {amp.Float32}, "float **x": {amp.Float64},
	} {
		for _, dt := range []amp.DType{amp.Float16, amp.BFloat16, amp.Float32, amp.Float64, amp.Int64, amp.Bool} {
			anything := declared == "void *x" || declared == "Mine *x" || declared == "float **x"
			fits := anything
			for _, ok := range dts {
				fits = fits || dt == ok
			}
			x := amp.Zeros(amp.NewScope(), dt, 2)
			if err := newParameter(declared).tensor(x); (err == nil) != fits {
				t.Errorf("%s from %v: %v", declared, dt, err)
			}
		}
	}
}

// TestSignatureOfSeveral: what the preprocessor decides is left open, and templates are no kernels.
func TestSignatureOfSeveral(t *testing.T) {
	src := `
#ifdef DOUBLE
extern "C" __global__ void both(double *x, const float *y, int n)
#else
extern "C" __global__ void both(float *x, const float *z, int n)
#endif
{}
#ifdef MANY
extern "C" __global__ void counts(float *x) {}
#else
extern "C" __global__ void counts(float *x, int n) {}
#endif
template <typename T> __global__ void generic(T *x, int n) {}
template __global__ void generic<float>(float *, int);
extern "C" __global__ void last(float *x);
extern "C" __global__ void last(float *x) {}
`
	params, ok := signature(src, "both")
	if !ok || len(params) != 3 || params[0].kind != "" || !params[0].pointer || params[1].kind != "float" || !params[1].readOnly || params[2].kind != "int" {
		t.Errorf("%v, %+v", ok, params)
	}
	if params, ok := signature(src, "counts"); ok {
		t.Errorf("two numbers of parameters: %+v", params)
	}
	if params, ok := signature(src, "last"); !ok || len(params) != 1 || params[0].kind != "float" {
		t.Errorf("%v, %+v", ok, params)
	}
	if got := strings.Join(kernelNames(src), " "); got != "both counts last" {
		t.Errorf("kernels %s", got)
	}
	if !isTemplate(src, "generic") || isTemplate(src, "both") {
		t.Error("generic alone is a template")
	}
}

// TestParametersByTheDriver: the driver's sizes say what the source leaves open, and are right where the two differ.
func TestParametersByTheDriver(t *testing.T) {
	list, _ := signature(`extern "C" __global__ void f(real *x, real v, int n)`, "f")
	k := &Kernel{params: list, known: true}
	for _, c := range []struct {
		sizes   []int
		i       int // parameter
		v       any
		bits    uint64
		refused string
	}{
		{[]int{8, 4, 4}, 1, float32(0.5), uint64(math.Float32bits(0.5)), ""}, {[]int{8, 4, 4}, 1, 0.5, 0, "float64 has 8; pass a float32"},
		{[]int{8, 8, 4}, 1, 0.5, math.Float64bits(0.5), ""}, {[]int{8, 8, 4}, 1, -3, math.MaxUint64 - 2, ""}, {[]int{8, 4, 4}, 1, 1 << 32, 0, "does not fit the 4 bytes"},
		{[]int{8, 4, 8}, 2, 7, 7, ""}, {[]int{8, 2, 4}, 1, -1, 0xFFFF, ""}, {[]int{8, 16, 4}, 1, 3, 0, "pass a struct or an array"},
		{[]int{8, 8, 4}, 1, [2]float32{0, 0.5}, uint64(math.Float32bits(0.5)) << 32, ""}, {[]int{8, 8, 4}, 1, struct{ A, B uint32 }{2, 1}, 1<<32 + 2, ""},
		{[]int{8, 4, 4}, 1, [2]float32{}, 0, "has 8 bytes, and the parameter 4"}, {[]int{8, 8, 4}, 1, struct{ A *int }{}, 0, "not all in it are numbers"},
		{[]int{8, 8, 4}, 1, struct{ A int }{}, 0, "of fixed size"}, {nil, 1, [2]float32{}, 0, "CUDA 12.4"}, {[]int{8, 4, 4}, 1, nil, 0, "can't be passed"},
	} {
		params, known := k.parameters(c.sizes)
		a := driver.GetArgs("test")
		err := params[c.i].number(a, c.v)
		switch {
		case c.refused != "":
			if err == nil || !strings.Contains(err.Error(), c.refused) {
				t.Errorf("%v of %v: %v, want %q", c.v, c.sizes, err, c.refused)
			}
		case err != nil || !known:
			t.Errorf("%v of %v: %v", c.v, c.sizes, err)
		default:
			var got uint64
			copy(unsafe.Slice((*byte)(unsafe.Pointer(&got)), 8), unsafe.Slice((*byte)(a.Param(0)), c.sizes[c.i]))
			if got != c.bits {
				t.Errorf("%v of %v: %#x, want %#x", c.v, c.sizes, got, c.bits)
			}
		}
		a.Put()
	}
	if params, _ := k.parameters([]int{8, 4}); len(params) != 2 || params[0].text != "" {
		t.Errorf("the source's parameters though there are others: %+v", params)
	}
}
