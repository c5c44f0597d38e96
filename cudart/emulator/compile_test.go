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

const scaleSource = `extern "C" __global__ void scale(const float *x, float *y, float by, long long n) {
	long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n) y[i] = x[i] * by;
}
extern "C" __global__ void sum(const float *x, float *y, int n) {
	extern __shared__ float part[];
	float v = 0;
	for (int i = threadIdx.x; i < n; i += blockDim.x) v += x[i];
	part[threadIdx.x] = v;
	__syncthreads();
	for (int k = blockDim.x / 2; k > 0; k /= 2) {
		if (threadIdx.x < k) part[threadIdx.x] += part[threadIdx.x + k];
		__syncthreads();
	}
	if (threadIdx.x == 0) y[0] = isfinite(part[0]) && !isnan(part[0]) && !isinf(part[0]) ? part[0] : -1;
}
`

// TestCompile: a program's own kernels run on tensors, in order with the ops around them.
func TestCompile(t *testing.T) {
	useEmulator(t)
	root := amp.NewScope(amp.On("cuda:0"))
	defer root.Close()
	p, err := cudart.Compile(scaleSource)
	if err != nil {
		t.Fatal(err)
	}
	k, err := p.Kernel("scale")
	if err != nil {
		t.Fatal(err)
	}
	x := amp.Rand(root, amp.Float32, 0, 1, 1000)
	y := amp.Zeros(root, amp.Float32, 1000)
	before := [2]uint32{x.Version(), y.Version()}
	if err := k.Launch(cudart.For(1000), x, y, 3, 1000); err != nil {
		t.Fatal(err)
	}
	if x.Version() != before[0] || y.Version() == before[1] {
		t.Errorf("versions %d and %d after %v: what a kernel may change is counted, and nothing else", x.Version(), y.Version(), before)
	}
	got, want := amp.Values[float32](amp.AddScalar(root, y, 1)), amp.Values[float32](x)
	for i := range want {
		want[i] = want[i]*3 + 1
	}
	if !slices.Equal(got, want) {
		t.Error("the kernel's result differs")
	}
	sum, err := p.Kernel("sum")
	if err != nil {
		t.Fatal(err)
	}
	ones, out := amp.Full(root, amp.Float32, 1, 777), amp.Zeros(root, amp.Float32, 1)
	if err := sum.Launch(cudart.Config{Block: cudart.Dim{X: 64}, Shared: 64 * 4}, ones, out, 777); err != nil || out.Item() != 777 {
		t.Errorf("sum is %v, %v", out.Item(), err)
	}
	if d, err := k.Time(3, cudart.For(1000), x, y, 3, 1000); err != nil || d <= 0 {
		t.Errorf("%v, %v", d, err)
	}
}

// TestCompileRefuses: mistakes are errors that say what and where, and cost nothing.
func TestCompileRefuses(t *testing.T) {
	useEmulator(t)
	root := amp.NewScope(amp.On("cuda:0"))
	defer root.Close()
	_, err := cudart.Compile("extern \"C\" __global__ void f(float *x) {\n\tx[0] = nonsense;\n}\n")
	var ce *driver.CompileError
	if !errors.As(err, &ce) || len(ce.Diagnostics) == 0 || ce.Diagnostics[0].Line != 2 || !strings.Contains(err.Error(), "nonsense") {
		t.Errorf("%v", err)
	}
	p, err := cudart.Compile(scaleSource)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Kernel("scal"); !errors.Is(err, driver.ErrNotFound) || !strings.Contains(err.Error(), "the source has ") {
		t.Error(err)
	}
	k, err := p.Kernel("scale")
	if err != nil {
		t.Fatal(err)
	}
	x, half := amp.Zeros(root, amp.Float32, 8, 4), amp.Zeros(root, amp.Float16, 32)
	host := amp.From(make([]float32, 32))
	for want, args := range map[string][]any{
		"takes 4 arguments":          {x, x, 2},
		"a tensor of float16":        {half, x, 2, 32},
		"a view with gaps":           {amp.Transpose(root, x, 0, 1), x, 2, 32},
		"argument 2 is on cpu":       {x, host, 2, 32},
		"pass a tensor":              {3, x, 2, 32},
		"pass one, such as t.Item()": {x, x, x, 32},
		"1.5 does not fit":           {x, x, 2, 1.5},
		"a string can't be passed":   {x, x, "2", 32},
		"argument 1 (const float *x": {1, 2, 3, 4},
		"the tensor is nil":          {x, (*amp.Tensor)(nil), 2, 32},
	} {
		if err := k.Launch(cudart.For(32), args...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
