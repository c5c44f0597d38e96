package cudart_test

import (
	"fmt"
	"maps"
	"math"
	"strings"
	"testing"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/cudart"
)

// tiledRuns are lengths around the edges of tiles, widths around those of kernels, and all that the second form of the kernels knows.
func tiledRuns() map[string]attentionRun {
	runs := map[string]attentionRun{}
	lengths := [][2]int{{1, 1}, {1, 65}, {63, 63}, {64, 64}, {65, 129}, {129, 65}, {129, 129}, {33, 32}, {31, 40}}
	for i, w := range [][2]int{{64, 64}, {8, 8}, {40, 24}, {72, 72}, {128, 128}, {60, 4}} {
		for j, n := range lengths {
			for _, causal := range []bool{false, true} {
				if i > 0 && (i+j)%3 != 0 {
					continue
				}
				runs[fmt.Sprintf("%d %d of %d %d causal %v", n[0], n[1], w[0], w[1], causal)] = attentionRun{
					q: []int{2, n[0], w[0]}, k: []int{2, n[1], w[0]}, v: []int{2, n[1], w[1]}, dy: 1, opts: amp.Attention{Causal: causal}}
			}
		}
		r := attentionRun{q: []int{2, 70, w[0]}, k: []int{2, 75, w[0]}, v: []int{2, 75, w[1]}, dy: 1}
		masked, dropped, negative := r, r, r
		masked.mask, negative.opts.Scale = seenKeys(70, 75), -0.2
		dropped.opts = amp.Attention{Dropout: 0.3, Causal: true}
		runs[fmt.Sprintf("masked %d", w[0])], runs[fmt.Sprintf("dropped %d", w[0])], runs[fmt.Sprintf("negative %d", w[0])] = masked, dropped, negative
		masked.mask = keyBias(75)
		runs[fmt.Sprintf("biased %d", w[0])] = masked
	}
	grouped := attentionRun{q: []int{1, 6, 70, 64}, k: []int{1, 2, 70, 64}, v: []int{1, 2, 70, 64}, dy: 1, opts: amp.Attention{Grouped: true, Causal: true}}
	runs["grouped"] = grouped
	return runs
}

// TestAttentionInTiles: attention of float32 is the CPU's, forward and backward, in launches of blocks of 128 threads, with the same
// bits each time.
func TestAttentionInTiles(t *testing.T) {
	device := gpu(t)
	for name, r := range tiledRuns() {
		t.Run(name, func(t *testing.T) {
			want, before := r.on("cpu", amp.Float32), cudart.Fallbacks()
			var got [4][]float64
			w := watchLaunches(device, func() { got = r.on(device, amp.Float32) })
			tiled := 3
			if strings.HasPrefix(name, "biased") {
				tiled = 1 // the gradient of a mask is the general kernels'
			}
			if w.flash != tiled || !maps.Equal(before, cudart.Fallbacks()) {
				t.Errorf("%d launches in tiles of %d, want %d; on the host ran %v", w.flash, w.all, tiled, cudart.Fallbacks())
			}
			compareLists(t, want[:], got[:], 0x1p-20)
			if again := r.on(device, amp.Float32); !sameBits(got, again) {
				t.Error("other numbers when it runs again")
			}
		})
	}
}

// TestTilesKeepToTheirRows: a query that is not a number makes its own results such, and of the others none; of the keys' gradients it
// reaches those that it sees.
func TestTilesKeepToTheirRows(t *testing.T) {
	device := gpu(t)
	r := attentionRun{q: []int{1, 140, 64}, k: []int{1, 140, 64}, v: []int{1, 140, 64}, dy: 1, poison: math.NaN(), opts: amp.Attention{Causal: true}}
	got, want := r.on(device, amp.Float32), r.on("cpu", amp.Float32)
	for i, list := range got[:2] {
		for at, v := range list {
			if (v != v) != (want[i][at] != want[i][at]) {
				t.Fatalf("list %d number %d is %v, on the CPU %v", i, at, v, want[i][at])
			}
		}
	}
	for i, list := range got[2:] {
		for at, v := range list {
			if row := at / 64; (v != v) != (row <= 70) && row/32 != 70/32 {
				t.Fatalf("gradient %d of key %d is %v", i+1, row, v)
			}
		}
	}
}

// TestTiledHeadsNeedNoCopy: heads cut out of a projection are attended to as they lie, and those whose rows are no pieces of 16 bytes by the
// general kernels; with the same result.
func TestTiledHeadsNeedNoCopy(t *testing.T) {
	device := gpu(t)
	for width, tiled := range map[int]int{16: 1, 40: 1, 10: 0} {
		run := func(on string) (w attentionWatch, y []float64) {
			s := amp.NewScope(amp.On(on)).NoGrad()
			defer s.Close()
			qkv := placed(s, amp.Float32, numbers(2*70*3*3*width), 2, 70, 3, 3, width)
			parts := amp.Permute(s, qkv, 2, 0, 3, 1, 4)
			attend := func() *amp.Tensor {
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
		w, got := run(device)
		if w.all != 1 || w.flash != tiled {
			t.Errorf("width %d: %d launches, %d in tiles; want one, %d in tiles", width, w.all, w.flash, tiled)
		}
		compareLists(t, [][]float64{want}, [][]float64{got}, 0x1p-20)
	}
}
