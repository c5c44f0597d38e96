package cudart

import (
	"math"
	"strings"
	"testing"
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
		{"bool b", true, 1, 1, ""}, {"bool b", 1, 0, 0, "not a bool"}, {"float *x", 3, 0, 0, "pass a tensor"}, {"float a", "2", 0, 0, "a string can't be passed"},
		{"short n", 3, 0, 0, "declare it as int"}, {"Pair p", 3, 0, 0, "pass int32"}, {"Pair p", int32(3), 3, 4, ""},
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
