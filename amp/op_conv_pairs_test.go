package amp

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/halftone-ml/halftone/amp/internal/cpu"
)

// forPairs makes VDPBF16PS the way to multiply bfloat16, where the machine has it, until the test ends.
func forPairs(t *testing.T) {
	mode := cpu.Current()
	way := cpu.SetDot(cpu.Pairs)
	t.Cleanup(func() { cpu.SetMode(mode); cpu.SetDot(way) })
	cpu.SetMode(cpu.Mode{Variant: cpu.AVX512})
	if !cpu.PairProducts() {
		t.Skip("no VDPBF16PS")
	}
}

// flushed is v, or a zero of its sign where it is subnormal.
func flushed(v float32) float32 {
	if u := math.Float32bits(v); u&0x7f800000 == 0 {
		return math.Float32frombits(u & (1 << 31))
	}
	return v
}

// A pairTwin sums products as VDPBF16PS does: of each pair the later one first, subnormal numbers as zero.
type pairTwin float32

func (c *pairTwin) add(x, y float64) {
	*c = pairTwin(flushed(cpu.FMA32(flushed(float32(x)), flushed(float32(y)), float32(*c))))
}

// A twinConv is a convolution in Go, to the bit.
type twinConv struct {
	n, c, h, w, m, kh, kw       int
	stride, pad, dilate, groups int
	oh, ow                      int
	x, wt, dy                   []float64
	small                       bool // a weight's gradient is summed in one chain over what taps meet
}

// at is what tap p, q meets at position y, z, if it is no padding.
func (t *twinConv) at(y, z, p, q int) (r, s int, ok bool) {
	r, s = y*t.stride+p*t.dilate-t.pad, z*t.stride+q*t.dilate-t.pad
	return r, s, r >= 0 && r < t.h && s >= 0 && s < t.w
}

func (t *twinConv) input(img, ch, r, s int, ok bool) float64 {
	if !ok {
		return 0
	}
	return t.x[((img*t.c+ch)*t.h+r)*t.w+s]
}

func (t *twinConv) weight(o, ch, p, q int) float64 {
	return t.wt[((o*(t.c/t.groups)+ch)*t.kh+p)*t.kw+q]
}

// forward is element img, o, y, z of the result: over pairs of channels, and in each over the taps.
func (t *twinConv) forward(img, o, y, z int, bias float32) float32 {
	var sum pairTwin
	cg := t.c / t.groups
	first := o / (t.m / t.groups) * cg
	for ch := 0; ch < cg; ch += 2 {
		for p := range t.kh {
			for q := range t.kw {
				r, s, ok := t.at(y, z, p, q)
				if ch+1 < cg {
					sum.add(t.weight(o, ch+1, p, q), t.input(img, first+ch+1, r, s, ok))
				} else {
					sum.add(0, 0)
				}
				sum.add(t.weight(o, ch, p, q), t.input(img, first+ch, r, s, ok))
			}
		}
	}
	return float32(sum) + bias
}

// backward is element img, ch, r, s of the input's gradient: over pairs of output channels, and in each over the taps that meet it.
func (t *twinConv) backward(img, ch, r, s int) float32 {
	var sum pairTwin
	cg, mg := t.c/t.groups, t.m/t.groups
	g := ch / cg
	grad := func(o, y, z int) float64 {
		if y < 0 || y >= t.oh || z < 0 || z >= t.ow {
			return 0
		}
		return t.dy[((img*t.m+g*mg+o)*t.oh+y)*t.ow+z]
	}
	for o := 0; o < mg; o += 2 {
		for p := range t.kh {
			for q := range t.kw {
				y, z := r+t.pad-p*t.dilate, s+t.pad-q*t.dilate
				if y%t.stride != 0 || z%t.stride != 0 {
					continue
				}
				y, z = y/t.stride, z/t.stride
				if o+1 < mg {
					sum.add(t.weight(g*mg+o+1, ch%cg, p, q), grad(o+1, y, z))
				} else {
					sum.add(0, 0)
				}
				sum.add(t.weight(g*mg+o, ch%cg, p, q), grad(o, y, z))
			}
		}
	}
	return float32(sum)
}

// weights is element o, ch, p, q of the weight's gradient: over pairs of images, and in each over the positions; box by box, or in one chain over the
// positions at which the tap meets something.
func (t *twinConv) weights(boxes []box, o, ch, p, q int) float32 {
	first := o / (t.m / t.groups) * (t.c / t.groups)
	var all float32
	for i := range boxes {
		b := &boxes[i]
		var sum pairTwin
		for img := 2 * b.lo[0]; img < 2*b.hi[0]; img += 2 {
			for y := b.lo[2]; y < b.hi[2]; y++ {
				for z := b.lo[3]; z < b.hi[3]; z++ {
					r, s, ok := t.at(y, z, p, q)
					if t.small && !ok {
						continue
					}
					grad := func(img int) float64 { return t.dy[((img*t.m+o)*t.oh+y)*t.ow+z] }
					if img+1 < t.n {
						sum.add(grad(img+1), t.input(img+1, first+ch, r, s, ok))
					} else {
						sum.add(0, 0)
					}
					sum.add(grad(img), t.input(img, first+ch, r, s, ok))
				}
			}
		}
		if all += float32(sum); i == 0 {
			all = float32(sum)
		}
	}
	return all
}

// TestConvPairsMatchTheirTwins: convolutions of bfloat16 and their gradients where VDPBF16PS multiplies them, element by element to the bit, over odd
// channels, sizes and numbers of images, strides, padding, dilation, groups, with NaN, infinities and subnormal numbers.
func TestConvPairsMatchTheirTwins(t *testing.T) {
	forPairs(t)
	r := rand.New(rand.NewPCG(11, 12))
	special := []float32{float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1)), 0x1p-130, -0x1p-133, 0, 0x1p-100}
	for i, c := range [][11]int{ // n, c, h, w, m, kh, kw, stride, pad, dilation, groups
		{2, 16, 32, 32, 16, 3, 3, 1, 1, 1, 1}, {3, 35, 16, 16, 41, 3, 3, 1, 1, 1, 1}, {5, 64, 8, 8, 33, 3, 3, 1, 1, 1, 1}, {2, 3, 16, 16, 20, 3, 3, 1, 1, 1, 1},
		{2, 20, 16, 16, 24, 3, 3, 2, 1, 1, 1}, {3, 41, 16, 32, 48, 1, 1, 2, 0, 1, 1}, {2, 33, 12, 16, 17, 1, 1, 2, 0, 1, 1}, {4, 26, 14, 14, 34, 3, 3, 1, 2, 2, 2},
		{2, 13, 33, 40, 9, 5, 5, 1, 2, 1, 1}, {2, 39, 20, 24, 36, 3, 2, 1, 0, 1, 3}, {3, 16, 9, 64, 16, 2, 11, 1, 1, 1, 1}, {3, 15, 35, 34, 8, 7, 7, 2, 3, 1, 1},
		{16, 17, 8, 8, 12, 3, 3, 1, 1, 1, 1}, {33, 64, 4, 4, 70, 3, 3, 1, 1, 1, 1}, {29, 50, 7, 5, 38, 3, 2, 1, 1, 1, 2}, {13, 130, 2, 2, 20, 3, 3, 1, 1, 1, 1}, {30, 20, 9, 11, 15, 3, 3, 2, 1, 1, 1},
	} {
		for trial := range 3 { // ordinary numbers; special ones in x and dy; special ones in x and the weight
			fill := func(awkward bool, shape ...int) []float32 {
				out := make([]float32, length(shape))
				for i := range out {
					if out[i] = float32(r.NormFloat64()); awkward && r.IntN(2000) == 0 {
						out[i] = special[r.IntN(len(special))]
					}
				}
				return out
			}
			tw := twinConv{n: c[0], c: c[1], h: c[2], w: c[3], m: c[4], kh: c[5], kw: c[6], stride: c[7], pad: c[8], dilate: c[9], groups: c[10]}
			s := NewScope(On("cpu"))
			x := To(s, From(fill(trial > 0, c[:4]...), c[:4]...).To(s), BFloat16).RequireGrad()
			shape := []int{tw.m, tw.c / tw.groups, tw.kh, tw.kw}
			w := To(s, From(fill(trial == 2, shape...), shape...).To(s), BFloat16).RequireGrad()
			bias := To(s, From(fill(false, tw.m), tw.m).To(s), BFloat16)
			if i%2 == 0 {
				bias = nil
			}
			win := Window{Kernel: shape[2:], Stride: []int{tw.stride, tw.stride}, Padding: []int{tw.pad, tw.pad}, Dilation: []int{tw.dilate, tw.dilate}, Groups: tw.groups}
			y := Conv2d(s, x, w, bias, Stride(tw.stride), Padding(tw.pad), Dilation(tw.dilate), Groups(tw.groups))
			tw.oh, tw.ow = y.shape[2], y.shape[3]
			if trial == 2 && 2*tw.oh*tw.ow < vectorSize {
				continue // with nearly empty vectors such weights are widened
			}
			dy := To(s, From(fill(trial == 1, y.shape...), y.shape...).To(s), BFloat16)
			y.Backward(GradOutputs(dy))
			tw.x, tw.wt, tw.dy = x.Float64s(), w.Float64s(), dy.Float64s()
			l := lattice{images: pairsOf(tw.n), groups: tw.groups, channels: tw.c / tw.groups, grid: [3]int{1, tw.oh, tw.ow}, taps: make([][3]int, tw.kh*tw.kw)}
			boxes := l.boxes()
			if tw.small = tw.ow <= weightImageWidth && trial != 1 && tw.m/tw.groups >= weightImageRows; tw.small {
				boxes = []box{{hi: [4]int{pairsOf(tw.n), 1, tw.oh, tw.ow}}}
			}
			biases := make([]float64, tw.m)
			if bias != nil {
				biases = bias.Float64s()
			}
			// result runs an op into float32, whose bits show the order of a sum, and says whether halves are that rounded.
			result := func(name string, half *Tensor, cpuOf func(c *Call), in ...*Tensor) *Tensor {
				out := Zeros(s, Float32, half.shape...)
				cpuOf(&Call{Op: opConv[1], Attrs: Attrs{Window: &win, Shape: half.shape}, In: in, Out: out})
				rounded := half.Float64s()
				for i, v := range out.Float64s() {
					if v = float64(cpu.BF16ToF32(cpu.F32ToBF16(float32(v)))); v != rounded[i] && (v == v || rounded[i] == rounded[i]) {
						t.Fatalf("%v, case %d, %s: element %d is %v as a half, and %v rounded", c, trial, name, i, rounded[i], v)
					}
				}
				return out
			}
			name := fmt.Sprintf("%v, case %d: ", c, trial)
			compareTwin(t, r, name+"y", result("y", y, convCPU[float32], x, w, bias), func(at []int) float32 { return tw.forward(at[0], at[1], at[2], at[3], float32(biases[at[1]])) })
			compareTwin(t, r, name+"dx", result("dx", x.Grad(), convTransposeCPU[float32], dy, w, nil), func(at []int) float32 { return tw.backward(at[0], at[1], at[2], at[3]) })
			if tw.c/tw.groups < leastWeights {
				continue
			}
			compareTwin(t, r, name+"dw", result("dw", w.Grad(), convWeightCPU[float32], x, dy), func(at []int) float32 { return tw.weights(boxes, at[0], at[1], at[2], at[3]) })
			s.Close()
		}
	}
}

// compareTwin compares some elements of x with those that twin gives.
func compareTwin(t *testing.T, r *rand.Rand, name string, x *Tensor, twin func(at []int) float32) {
	t.Helper()
	got := x.Float64s()
	for range 150 {
		i := r.IntN(len(got))
		at, left := make([]int, 4), i
		for d := 3; d >= 0; d-- {
			at[d], left = left%x.shape[d], left/x.shape[d]
		}
		want := float64(twin(at))
		if got[i] != want && (got[i] == got[i] || want == want) {
			t.Errorf("%s: element %v is %v, want %v", name, at, got[i], want)
			return
		}
	}
}

// TestConvPairsWhere: subnormal numbers count as zero where VDPBF16PS multiplies them, and nowhere else: not where float32 sums in their order are
// wanted, and not where the same bits are wanted everywhere.
func TestConvPairsWhere(t *testing.T) {
	forPairs(t)
	const tiny, large = 0x1p-133, 0x1p100
	for _, c := range []struct {
		mode  cpu.Mode
		way   cpu.Dot
		count bool
	}{{cpu.Mode{Variant: cpu.AVX512}, cpu.Pairs, false}, {cpu.Mode{Variant: cpu.AVX512}, cpu.Strict, true}, {cpu.Mode{Variant: cpu.AVX512, Reproducible: true}, cpu.Pairs, true},
		{cpu.Mode{Variant: cpu.AVX2}, cpu.Pairs, true}} {
		cpu.SetMode(c.mode)
		cpu.SetDot(c.way)
		for _, size := range [][2]int{{2, 16}, {16, 4}} {
			s := NewScope(On("cpu"))
			run := func(x, w, dy float64) (y, dx, dw float64) {
				shape := []int{size[0], 16, size[1], size[1]}
				in, weight := Full(s, BFloat16, x, shape...).RequireGrad(), Full(s, BFloat16, w, 16, 16, 3, 3).RequireGrad()
				out := Conv2d(s, in, weight, nil, Padding(1))
				out.Backward(GradOutputs(Full(s, BFloat16, dy, shape...)))
				return out.Float64s()[0], in.Grad().Float64s()[0], weight.Grad().Float64s()[0]
			}
			y, _, dw := run(tiny, large, large)
			_, dx, _ := run(1, large, tiny)
			for i, v := range []float64{y, dx, dw} {
				if v > 0 != c.count {
					t.Errorf("%+v, images of %d: %s is %v", c, size[1], []string{"y", "dx", "dw"}[i], v)
				}
			}
			s.Close()
		}
	}
}
