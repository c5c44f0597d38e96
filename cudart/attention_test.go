package cudart_test

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"testing"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/cudart"
	"github.com/halftone-ml/halftone/cudart/driver"
)

// An attentionWatch counts launches, and those of blocks of 128 threads with memory to share, as attention in tiles has.
type attentionWatch struct {
	driver.Driver
	all, flash int
}

func (w *attentionWatch) Launch(f driver.Function, grid, block [3]uint32, shared uint32, s driver.Stream, args *driver.Args) error {
	w.all++
	if block == [3]uint32{128, 1, 1} && shared > 0 {
		w.flash++
	}
	return w.Driver.Launch(f, grid, block, shared, s, args)
}

func watchLaunches(device string, f func()) (w attentionWatch) {
	defer cudart.WrapDriver(device, func(d driver.Driver) driver.Driver { w.Driver = d; return &w })()
	f()
	return w
}

// An attentionRun is a call of attention, forward and backward.
type attentionRun struct {
	q, k, v []int
	opts    amp.Attention
	mask    func(s *amp.Scope, dt amp.DType) *amp.Tensor
	dy      float64 // size of the result's gradient
	poison  float64 // the number of one query, if it is not 0
}

// on returns the result and the gradients of q, k and v.
func (r *attentionRun) on(device string, dt amp.DType) [4][]float64 {
	s := amp.NewScope(amp.On(device), amp.Seed(5))
	defer s.Close()
	in := make([]*amp.Tensor, 3)
	for i, shape := range [][]int{r.q, r.k, r.v} {
		n := 1
		for _, d := range shape {
			n *= d
		}
		x := numbers(n + i)[:n]
		for j := range x {
			x[j] /= 3
		}
		if i == 0 && r.poison != 0 {
			x[n/2] = r.poison
		}
		in[i] = placed(s, dt, x, shape...).RequireGrad()
	}
	var mask *amp.Tensor
	if r.mask != nil {
		mask = r.mask(s, dt)
	}
	y := amp.ScaledDotProductAttention(s, in[0], in[1], in[2], mask, r.opts)
	dy := numbers(y.Len() + 7)[:y.Len()]
	for i := range dy {
		dy[i] *= r.dy / 4
	}
	g := amp.Grad(s, []*amp.Tensor{y}, in, amp.GradOutputs(placed(s, dt, dy, y.Shape()...)))
	return [4][]float64{y.Float64s(), g[0].Float64s(), g[1].Float64s(), g[2].Float64s()}
}

func seenKeys(t, n int) func(s *amp.Scope, _ amp.DType) *amp.Tensor {
	return func(s *amp.Scope, _ amp.DType) *amp.Tensor {
		v := make([]bool, t*n)
		for i := range v {
			v[i] = i*i%7 < 4 && i/n != 5 // the query 5 sees none
		}
		return amp.From(v, t, n).To(s)
	}
}

func keyBias(n int) func(s *amp.Scope, dt amp.DType) *amp.Tensor {
	return func(s *amp.Scope, dt amp.DType) *amp.Tensor { return placed(s, dt, numbers(n, math.Inf(-1)), n) }
}

// attentionRuns has every width of the kernels on tensor cores, all that their second form knows, and numbers at the ends of float16's range.
func attentionRuns() map[string]attentionRun {
	runs := map[string]attentionRun{}
	lengths := map[string][2]int{"square": {140, 140}, "short": {33, 100}, "one": {1, 65}, "long": {100, 31}}
	for _, w := range [][2]int{{16, 16}, {32, 24}, {64, 64}, {80, 72}, {128, 120}} {
		for name, length := range lengths {
			if w[0] != 64 && (name != "square" || w[0] == 80) {
				continue
			}
			t, n := length[0], length[1]
			r := attentionRun{q: []int{1, t, w[0]}, k: []int{1, n, w[0]}, v: []int{1, n, w[1]}, dy: 1}
			runs[fmt.Sprintf("%s %d", name, w[0])] = r
			r.opts.Causal = true
			runs[fmt.Sprintf("causal %s %d", name, w[0])] = r
		}
		masked := attentionRun{q: []int{2, 70, w[0]}, k: []int{2, 75, w[0]}, v: []int{2, 75, w[1]}, dy: 1, mask: seenKeys(70, 75)}
		dropped := attentionRun{q: []int{2, 35, w[0]}, k: []int{2, 41, w[0]}, v: []int{2, 41, w[1]}, dy: 1}
		negative := dropped
		dropped.opts.Dropout, negative.opts.Scale = 0.3, -0.2
		runs[fmt.Sprintf("masked %d", w[0])], runs[fmt.Sprintf("dropped %d", w[0])], runs[fmt.Sprintf("negative %d", w[0])] = masked, dropped, negative
	}
	plain := attentionRun{q: []int{1, 2, 70, 64}, k: []int{1, 2, 70, 64}, v: []int{1, 2, 70, 64}, dy: 1}
	grouped, large, small, nan := plain, plain, plain, plain
	grouped.q, grouped.opts = []int{1, 6, 70, 64}, amp.Attention{Grouped: true, Causal: true}
	runs["grouped"] = grouped
	large.dy, small.dy = 30000, 1e-5
	runs["large gradient"], runs["small gradient"] = large, small
	nan.poison, nan.opts.Causal = math.NaN(), true
	runs["not a number"] = nan
	return runs
}

// TestAttentionOnTensorCores: attention of halves is the CPU's, to one rounding of results and gradients; it runs on tensor cores and gives
// the same bits each time.
func TestAttentionOnTensorCores(t *testing.T) {
	device := tensorCores(t)
	for name, r := range attentionRuns() {
		t.Run(name, func(t *testing.T) {
			for dt, eps := range map[amp.DType]float64{amp.Float16: 0x1p-11, amp.BFloat16: 0x1p-8} {
				if r.poison != 0 && dt == amp.BFloat16 {
					continue
				}
				want := r.on("cpu", dt)
				var got [4][]float64
				w := watchLaunches(device, func() { got = r.on(device, dt) })
				if w.flash != 3 {
					t.Errorf("%v: %d launches on tensor cores of %d, want 3", dt, w.flash, w.all)
				}
				for i, list := range want {
					size := 0.0
					for _, v := range list {
						if v-v == 0 {
							size = max(size, math.Abs(v))
						}
					}
					absolute := 2e-5 * size
					if r.opts.Grouped && i >= 2 { // the heads' shares of a gradient are rounded before they are added up; the CPU adds them first
						absolute = 4 * eps * size
					}
					if r.poison != 0 && i == 2 { // a query's NaN, times weights of 0, reaches the keys of its tile
						for j, v := range got[i] {
							if v != v {
								list[j] = v
							}
						}
					}
					if at := farApart(list, got[i], 3*eps, absolute+0x1p-24); at >= 0 {
						t.Errorf("%v list %d number %d: %v, on the CPU %v, of up to %v", dt, i, at, got[i][at], list[at], size)
					}
				}
				if again := r.on(device, dt); !sameBits(got, again) {
					t.Errorf("%v: other numbers when it runs again", dt)
				}
			}
		})
	}
}

func sameBits(a, b [4][]float64) bool {
	for i := range a {
		if !slices.EqualFunc(a[i], b[i], func(x, y float64) bool { return math.Float64bits(x) == math.Float64bits(y) }) {
			return false
		}
	}
	return true
}

// TestAttentionOfBias: a mask to add that asks for no gradient goes to tensor cores, forward; rows of it are repeated.
func TestAttentionOfBias(t *testing.T) {
	device := tensorCores(t)
	run := func(on string) []float64 {
		s := amp.NewScope(amp.On(on)).NoGrad()
		defer s.Close()
		x := placed(s, amp.Float16, numbers(2*90*48), 2, 90, 48)
		return amp.ScaledDotProductAttention(s, x, x, x, keyBias(90)(s, amp.Float16), amp.Attention{}).Float64s()
	}
	var got []float64
	w := watchLaunches(device, func() { got = run(device) })
	if want := run("cpu"); w.flash != 1 || farApart(want, got, 0x1p-9, 1e-4) >= 0 {
		i := max(0, farApart(want, got, 0x1p-9, 1e-4))
		t.Errorf("%d launches on tensor cores; number %d is %v, on the CPU %v", w.flash, i, got[i], want[i])
	}
}

// TestHeadsNeedNoCopy: queries, keys and values cut out of one projection, their heads turned, are attended to without a copy.
func TestHeadsNeedNoCopy(t *testing.T) {
	device := tensorCores(t)
	const batch, length, heads, width = 2, 40, 3, 16
	run := func(on string) (w attentionWatch, y []float64) {
		s := amp.NewScope(amp.On(on)).NoGrad()
		defer s.Close()
		qkv := placed(s, amp.Float16, numbers(batch*length*3*heads*width), batch, length, 3*heads*width)
		attend := func() *amp.Tensor {
			parts := amp.Permute(s, amp.Reshape(s, qkv, batch, length, 3, heads, width), 2, 0, 3, 1, 4)
			return amp.ScaledDotProductAttention(s, amp.Select(s, parts, 0, 0), amp.Select(s, parts, 0, 1), amp.Select(s, parts, 0, 2), nil, amp.Attention{Causal: true})
		}
		if on == "cpu" {
			return w, attend().Float64s()
		}
		var out *amp.Tensor
		w = watchLaunches(on, func() { out = attend() })
		return w, out.Float64s()
	}
	_, want := run("cpu")
	if w, got := run(device); w.all != 1 || w.flash != 1 || farApart(want, got, 0x1p-9, 1e-4) >= 0 {
		t.Errorf("%d launches, %d of attention on tensor cores, want one; %d numbers", w.all, w.flash, len(got))
	}
}

// TestAttentionInLittleRoom: where a block has too little shared memory for the tiles of wide rows, it takes lower ones, and nothing runs on
// the host.
func TestAttentionInLittleRoom(t *testing.T) {
	device := gpu(t)
	defer cudart.SetShared(device, 65536)()
	for name, c := range map[string]struct {
		width, launches int // of blocks of 128 threads, as the low kernels are
		dt              amp.DType
		eps             float64
	}{
		"float32":         {120, 3, amp.Float32, 0x1p-20},
		"float64":         {112, 3, amp.Float64, 0x1p-46},
		"float64 narrow":  {64, 3, amp.Float64, 0x1p-46},
		"float32, enough": {64, 0, amp.Float32, 0x1p-20},
	} {
		t.Run(name, func(t *testing.T) {
			r := attentionRun{q: []int{2, 70, c.width}, k: []int{2, 75, c.width}, v: []int{2, 75, c.width - 7}, dy: 1}
			masked, causal, dropped := r, r, r
			masked.mask, causal.opts.Causal, dropped.opts.Dropout = seenKeys(70, 75), true, 0.3
			for _, r := range []attentionRun{r, masked, causal, dropped} {
				want, before := r.on("cpu", c.dt), cudart.Fallbacks()
				var got [4][]float64
				w := watchLaunches(device, func() { got = r.on(device, c.dt) })
				if w.flash != c.launches || !maps.Equal(before, cudart.Fallbacks()) {
					t.Errorf("%d launches of low tiles of %d, want %d; on the host ran %v", w.flash, w.all, c.launches, cudart.Fallbacks())
				}
				compareLists(t, want[:], got[:], c.eps)
			}
		})
	}
}

// compareLists fails where lists lie apart by more than their sums' order explains, eps being the rounding of their dtype.
func compareLists(t *testing.T, want, got [][]float64, eps float64) {
	t.Helper()
	for i, list := range want {
		size := 0.0
		for _, v := range list {
			size = max(size, math.Abs(v))
		}
		if at := farApart(list, got[i], 16*eps, 4*eps*size); at >= 0 {
			t.Errorf("list %d number %d: %v, on the CPU %v", i, at, got[i][at], list[at])
		}
	}
}
