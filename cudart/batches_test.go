package cudart_test

import (
	"testing"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/cudart"
	"github.com/halftone-ml/halftone/cudart/driver"
)

// TestManyBatches: more matrices than a launch takes, here seven for 65,535, in one dimension and in several, with operands that are
// broadcast, are multiplied on the device, as on the CPU.
func TestManyBatches(t *testing.T) {
	device := gpu(t)
	defer cudart.NarrowGrid(7)()
	type product func(s *amp.Scope) *amp.Tensor
	fill := func(s *amp.Scope, shape ...int) *amp.Tensor {
		n := 1
		for _, d := range shape {
			n *= d
		}
		return placed(s, amp.Float32, numbers(n), shape...)
	}
	for name, f := range map[string]product{
		"bmm": func(s *amp.Scope) *amp.Tensor { return amp.BMM(s, fill(s, 23, 3, 2), fill(s, 23, 2, 5)) },
		"two dimensions": func(s *amp.Scope) *amp.Tensor {
			return amp.MatMul(s, fill(s, 3, 17, 3, 2), fill(s, 17, 2, 5))
		},
		"one row of batches": func(s *amp.Scope) *amp.Tensor {
			return amp.MatMul(s, fill(s, 1, 11, 3, 2), fill(s, 2, 1, 2, 5))
		},
		"three dimensions": func(s *amp.Scope) *amp.Tensor {
			return amp.MatMul(s, fill(s, 5, 1, 3, 3, 2), amp.Transpose(s, fill(s, 5, 2, 3, 5, 2), -1, -2))
		},
		"baddbmm": func(s *amp.Scope) *amp.Tensor {
			return amp.Baddbmm(s, fill(s, 8, 1, 5), fill(s, 8, 3, 2), fill(s, 8, 2, 5), 0.5, 2)
		},
		"a matrix for all": func(s *amp.Scope) *amp.Tensor {
			return amp.Baddbmm(s, fill(s, 1, 3, 1), fill(s, 9, 3, 2), fill(s, 9, 2, 5), 0.5, 2)
		},
	} {
		run := func(on string) []float64 {
			s := amp.NewScope(amp.On(on)).NoGrad()
			defer s.Close()
			return f(s).Float64s()
		}
		before := cudart.Fallbacks()
		want, got := run("cpu"), run(device)
		if i := farApart(want, got, 1e-6, 1e-6); i >= 0 || len(want) != len(got) {
			t.Errorf("%s: number %d of %d is %v, on the CPU %v", name, i, len(got), got[max(i, 0)], want[max(i, 0)])
		}
		for op, n := range cudart.Fallbacks() {
			if n != before[op] {
				t.Errorf("%s: %s ran on the host", name, op)
			}
		}
	}
}

// TestNarrowGrid: where the second dimension of a grid, here seven for 65,535, has too little room for the matrices of attention, the columns
// that are added up by index or the rows of cdist, the device computes them all the same, forward and backward.
func TestNarrowGrid(t *testing.T) {
	device := gpu(t)
	defer cudart.NarrowGrid(7)()
	fill := func(s *amp.Scope, dt amp.DType, shape ...int) *amp.Tensor {
		n := 1
		for _, d := range shape {
			n *= d
		}
		return placed(s, dt, numbers(n), shape...).RequireGrad()
	}
	attention := func(dt amp.DType, dropout float64) func(s *amp.Scope, x *amp.Tensor) *amp.Tensor {
		return func(s *amp.Scope, x *amp.Tensor) *amp.Tensor {
			x = amp.To(s, x, dt)
			return amp.ScaledDotProductAttention(s, x, x, x, nil, amp.Attention{Dropout: dropout})
		}
	}
	index := []int64{3, 0, 3, 1, 0, 2, 3, 3, 1}
	for name, c := range map[string]struct {
		shape []int
		f     func(s *amp.Scope, x *amp.Tensor) *amp.Tensor
		far   float64
	}{
		"attention":                 {[]int{2, 23, 9, 8}, attention(amp.Float32, 0), 1e-4},
		"attention on tensor cores": {[]int{23, 9, 8}, attention(amp.Float16, 0), 1e-2},
		"attention with dropout":    {[]int{23, 9, 8}, attention(amp.Float32, 0.25), 1e-4},
		"index_select":              {[]int{3, 4, 700}, func(s *amp.Scope, x *amp.Tensor) *amp.Tensor { return amp.IndexSelect(s, x, 1, list(s, index...)) }, 1e-6},
		"embedding":                 {[]int{4, 2000}, func(s *amp.Scope, x *amp.Tensor) *amp.Tensor { return amp.Embedding(s, x, list(s, index...)) }, 1e-6},
		"cdist":                     {[]int{300, 3}, func(s *amp.Scope, x *amp.Tensor) *amp.Tensor { return amp.Cdist(s, x, amp.Narrow(s, x, 0, 1, 40), 1) }, 1e-5},
	} {
		run := func(on string) (all []float64) {
			s := amp.NewScope(amp.On(on), amp.Seed(5))
			defer s.Close()
			x := fill(s, amp.Float32, c.shape...)
			y := c.f(s, x)
			amp.Sum(s, amp.Mul(s, y, y)).Backward()
			return append(y.Float64s(), x.Grad().Float64s()...)
		}
		for _, sorted := range []bool{false, true} {
			if sorted {
				defer cudart.ShortLists(4)()
			}
			before := cudart.Fallbacks()
			want, got := run("cpu"), run(device)
			if i := farApart(want, got, c.far, c.far); i >= 0 || len(want) != len(got) {
				t.Errorf("%s, sorted %v: number %d of %d is %v, on the CPU %v", name, sorted, i, len(got), got[max(i, 0)], want[max(i, 0)])
			}
			for op, n := range cudart.Fallbacks() {
				if n != before[op] {
					t.Errorf("%s: %s ran on the host", name, op)
				}
			}
		}
	}
}

// A gridWatch notes the largest grid of a launch, and leaves launches out.
type gridWatch struct {
	driver.Driver
	grid [3]uint32
}

func (w *gridWatch) Launch(_ driver.Function, grid, _ [3]uint32, _ uint32, _ driver.Stream, _ *driver.Args) error {
	for i, n := range grid {
		w.grid[i] = max(w.grid[i], n)
	}
	return nil
}

// TestLargeConvolution: one with more positions than 65,535 tiles is the device's, without cuDNN too.
func TestLargeConvolution(t *testing.T) {
	device := gpu(t)
	defer cudart.UseCuDNN(cudart.UseCuDNN(false))
	s := amp.NewScope(amp.On(device)).NoGrad()
	defer s.Close()
	const n = 4_300_000
	x, w := amp.Zeros(s, amp.Float32, 1, 1, n), amp.Zeros(s, amp.Float32, 1, 1, 3)
	watch := &gridWatch{}
	before := cudart.Fallbacks()["conv1d"]
	func() {
		defer cudart.WrapDriver(device, func(d driver.Driver) driver.Driver { watch.Driver = d; return watch })()
		amp.Conv1d(s, x, w, nil, amp.Padding(1))
	}()
	if cudart.Fallbacks()["conv1d"] != before || watch.grid[0]*64 < n || watch.grid[1] > 65535 || watch.grid[2] > 65535 {
		t.Errorf("a grid of %v; on the host: %v", watch.grid, cudart.Fallbacks()["conv1d"] != before)
	}
}
