package amp

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/halftone-ml/halftone/amp/internal/cpu"
)

// slowConv is the convolution of x [n c h w] with w [m c/groups kh kw], in float64.
func slowConv(x, w *Tensor, stride, pad, dilation, groups int) []float64 {
	n, c, h, wd := x.shape[0], x.shape[1], x.shape[2], x.shape[3]
	m, cg, kh, kw := w.shape[0], w.shape[1], w.shape[2], w.shape[3]
	oh, ow := (h+2*pad-dilation*(kh-1)-1)/stride+1, (wd+2*pad-dilation*(kw-1)-1)/stride+1
	xs, ws := x.Float64s(), w.Float64s()
	out := make([]float64, 0, n*m*oh*ow)
	for i := range n * m * oh * ow {
		img, o, y, z := i/(m*oh*ow), i/(oh*ow)%m, i/ow%oh, i%ow
		sum := 0.0
		for ch := range cg {
			for p := range kh {
				for q := range kw {
					r, s := y*stride+p*dilation-pad, z*stride+q*dilation-pad
					if r >= 0 && r < h && s >= 0 && s < wd {
						sum += ws[((o*cg+ch)*kh+p)*kw+q] * xs[((img*c+o/(m/groups)*cg+ch)*h+r)*wd+s]
					}
				}
			}
		}
		out = append(out, sum)
	}
	return out
}

// TestConvFastPaths compares convolutions and their gradients with plain sums, in all dtypes, over shapes that the fast paths cut in every
// way: rows longer and shorter than a vector, channels that fill no tile, strides, dilations, groups. The gradients are those of a sum
// weighted by dy: g is then linear in the input, and the sums are taken as products with it.
func TestConvFastPaths(t *testing.T) {
	computesOnCPU(t)
	type shape struct{ n, c, h, w, m, kh, kw, stride, pad, dilation, groups int }
	shapes := []shape{
		{2, 16, 32, 32, 16, 3, 3, 1, 1, 1, 1}, {3, 34, 8, 8, 40, 3, 3, 1, 1, 1, 1}, {5, 64, 4, 4, 33, 3, 3, 1, 1, 1, 1}, {2, 3, 16, 16, 20, 3, 3, 1, 1, 1, 1},
		{2, 20, 16, 16, 24, 3, 3, 2, 1, 1, 1}, {2, 40, 16, 32, 48, 1, 1, 2, 0, 1, 1}, {2, 33, 12, 8, 17, 1, 1, 1, 0, 1, 1}, {2, 24, 14, 14, 32, 3, 3, 1, 2, 2, 2},
		{1, 32, 33, 40, 9, 5, 5, 1, 2, 1, 1}, {2, 12, 20, 24, 36, 3, 2, 1, 0, 1, 3}, {1, 16, 9, 64, 16, 2, 11, 1, 1, 1, 1}, {1, 5, 70, 35, 8, 7, 7, 2, 3, 1, 1},
		{2, 8, 16, 20, 8, 3, 3, 1, 1, 1, 8}, {1, 6, 11, 16, 12, 3, 3, 1, 1, 1, 6},
		{1, 3, 63, 64, 20, 7, 7, 2, 3, 1, 1}, {2, 4, 49, 46, 9, 5, 5, 3, 2, 1, 1}, {1, 13, 33, 33, 9, 3, 2, 2, 1, 3, 1}, // columns that a stride skips
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range 6 {
		g := 1 + r.IntN(2)
		shapes = append(shapes, shape{1 + r.IntN(3), g * (1 + r.IntN(40)), 4 + r.IntN(20), 4 + r.IntN(30), g * (1 + r.IntN(40)), 1 + r.IntN(3), 1 + r.IntN(3), 1 + r.IntN(2), r.IntN(2), 1, g})
	}
	for _, dt := range []DType{Float32, BFloat16, Float16} {
		for _, c := range shapes {
			s := NewScope(On("cpu"), Seed(7))
			x := To(s, Randn(s, Float32, 0, 1, c.n, c.c, c.h, c.w), dt).RequireGrad()
			w := To(s, Randn(s, Float32, 0, 1, c.m, c.c/c.groups, c.kh, c.kw), dt).RequireGrad()
			y := Conv2d(s, x, w, nil, Stride(c.stride), Padding(c.pad), Dilation(c.dilation), Groups(c.groups))
			name := fmt.Sprintf("%v %+v", dt, c)
			nearSums(t, name, dt, y.Float64s(), slowConv(x, w, c.stride, c.pad, c.dilation, c.groups), c.c/c.groups*c.kh*c.kw)
			dy := To(s, Randn(s, Float32, 0, 1, y.shape...), dt)
			y.Backward(GradOutputs(dy))
			dx, dw := slowConvGrads(x, w, dy, c.stride, c.pad, c.dilation, c.groups)
			nearSums(t, name+" dx", dt, x.Grad().Float64s(), dx, c.m/c.groups*c.kh*c.kw)
			nearSums(t, name+" dw", dt, w.Grad().Float64s(), dw, c.n*y.shape[2]*y.shape[3])
			s.Close()
		}
	}
}

// TestConvSameBits: in float32 the bits are those of the column matrix, which the kernels of other processors multiply, and so are those of
// halves where nothing but float32 multiplies them.
func TestConvSameBits(t *testing.T) {
	computesOnCPU(t)
	was := cpu.Current()
	defer cpu.SetMode(was)
	for _, c := range []struct {
		x, w []int
		opts []WindowOption
	}{
		{[]int{3, 20, 16, 16}, []int{21, 20, 3, 3}, options(Padding(1))},
		{[]int{2, 33, 8, 8}, []int{12, 33, 3, 3}, options(Padding(1))},
		{[]int{2, 16, 9, 32}, []int{19, 16, 3, 3}, options(Padding(1), Stride(2))},
		{[]int{2, 24, 12, 12}, []int{24, 1, 3, 3}, options(Padding(1), Groups(24))},
		{[]int{1, 40, 10, 16}, []int{14, 20, 1, 2}, options(Groups(2))},
		{[]int{70, 16, 4, 4}, []int{16, 16, 3, 3}, options(Padding(1))},
		{[]int{7, 104, 4, 4}, []int{76, 104, 3, 3}, options(Padding(1))},
		{[]int{2, 12, 5, 3}, []int{33, 12, 5, 3}, options(Padding(2, 1))},
		{[]int{1, 40, 8, 8}, []int{136, 40, 3, 3}, options(Padding(1))},
		{[]int{32, 8, 8, 8}, []int{15, 8, 3, 3}, options(Padding(1))},
		{[]int{29, 24, 7, 5}, []int{38, 12, 3, 2}, options(Padding(2, 1), Groups(2))},
		{[]int{16, 68, 7, 9}, []int{12, 68, 3, 3}, options(Padding(3, 2), Stride(2, 3), Dilation(2, 1))},
		{[]int{13, 130, 2, 2}, []int{20, 130, 3, 3}, options(Padding(1))},
		{[]int{14, 67, 16, 13}, []int{12, 67, 2, 2}, options(Padding(1))},
		{[]int{16, 64, 4, 4}, []int{64, 64, 3, 3}, options(Padding(1))},
		{[]int{32, 128, 4, 4}, []int{128, 128, 3, 3}, options(Padding(1))},
		{[]int{3, 9, 8, 20}, []int{129, 9, 3, 3}, options(Padding(1))}, // rows that no even share holds
		{[]int{3, 129, 8, 20}, []int{12, 129, 3, 3}, options(Padding(1))},
		{[]int{2, 16, 56, 56}, []int{13, 16, 3, 3}, options(Padding(1))}, // boxes of some rows of an image, of some columns of a row
		{[]int{12, 40, 32, 32}, []int{12, 40, 3, 3}, options(Padding(1), Stride(2))},
		{[]int{2, 17, 1, 2100}, []int{13, 17, 1, 3}, options(Padding(0, 1))},
		{[]int{2, 24, 40, 40}, []int{24, 1, 3, 3}, options(Padding(1), Groups(24))},
		{[]int{2, 64, 16, 16}, []int{32, 32, 1, 1}, options(Stride(2), Groups(2))},
		{[]int{17, 24, 9, 11}, []int{31, 24, 3, 3}, options(Padding(1), Stride(2))},
		{[]int{2, 3, 37, 64}, []int{20, 3, 7, 7}, options(Padding(3), Stride(2))}, // columns that a stride skips
		{[]int{2, 5, 20, 46}, []int{9, 5, 2, 5}, options(Padding(0, 2), Stride(1, 3))},
		{[]int{2, 16, 20, 47}, []int{8, 16, 3, 2}, options(Padding(1), Stride(2, 3), Dilation(1, 3))},
	} {
		for _, dt := range []DType{Float32, Float16, BFloat16} {
			var want []float64
			for _, v := range cpu.Variants() {
				cpu.SetMode(cpu.Mode{Variant: v, Reproducible: true})
				s := NewScope(On("cpu"), Seed(7))
				x, w := To(s, Randn(s, Float32, 0, 1, c.x...), dt).RequireGrad(), To(s, Randn(s, Float32, 0, 1, c.w...), dt).RequireGrad()
				b := To(s, Randn(s, Float32, 0, 1, c.w[0]), dt)
				y := Conv2d(s, x, w, b, c.opts...)
				y.Backward(GradOutputs(y))
				got := slices.Concat(y.Float64s(), x.Grad().Float64s(), w.Grad().Float64s())
				if want == nil {
					want = got
				} else if !slices.Equal(got, want) {
					t.Errorf("%v %v %v: %v differs from %v", dt, c.x, c.w, v, cpu.Generic)
				}
				s.Close()
			}
		}
	}
}

// TestRowShares: all rows are in a share of whole tiles.
func TestRowShares(t *testing.T) {
	for _, c := range [][3]int{{24, 2 * cpu.ImageRows, cpu.ImageRows}, {24, 32, cpu.StepRows()}, {12, 32, cpu.StepRows()}, {8, 64, 32}} {
		for n := 1; n <= 40; n++ {
			for rows := 1; rows < 700; rows++ {
				shares, each := rowShares(rows, n, c[0], c[1], c[2])
				if shares < 1 || each%c[2] != 0 || shares*each < rows || n >= c[0] && shares > 1 {
					t.Fatalf("%v: %d rows of %d pieces: %d shares of %d", c, rows, n, shares, each)
				}
			}
		}
	}
}

// TestConvEdgeBits is about what taps beyond an edge add, on all processors: zeros times weights that are infinite or NaN are NaN, and a sum of
// products too small for a number is zero, of one sign.
func TestConvEdgeBits(t *testing.T) {
	was := cpu.Current()
	defer cpu.SetMode(was)
	for _, weight := range []float32{1, -0x1p-120, float32(math.Inf(1)), float32(math.NaN())} {
		for _, bias := range []float32{0, float32(math.Copysign(0, -1)), -1} {
			var want []uint32
			for _, v := range cpu.Variants() {
				cpu.SetMode(cpu.Mode{Variant: v, Reproducible: true})
				s := NewScope(On("cpu"), Seed(7))
				tiny := Mul(s, Full(s, Float32, 0x1p-100, 16, 9, 3, 3), Randn(s, Float32, 0, 1, 16, 9, 3, 3))
				x := Mul(s, tiny, Full(s, Float32, 0x1p-20, 16, 9, 3, 3)).RequireGrad()
				w := Full(s, Float32, float64(weight), 13, 9, 3, 3).RequireGrad()
				b := Full(s, Float32, float64(bias), 13)
				if bias == 0 {
					b = nil
				}
				y := Conv2d(s, x, w, b, Padding(1))
				y.Backward(GradOutputs(tinyLike(s, y)))
				var got []uint32
				for _, out := range []*Tensor{y, x.Grad()} {
					for _, f := range out.Float64s() {
						if f != f {
							f = math.NaN()
						}
						got = append(got, math.Float32bits(float32(f)))
					}
				}
				if want == nil {
					want = got
				} else if !slices.Equal(got, want) {
					t.Errorf("weight %v, bias %v: %v differs from %v", weight, bias, v, cpu.Generic)
				}
				s.Close()
			}
		}
	}
}

func tinyLike(s *Scope, y *Tensor) *Tensor {
	return Mul(s, Randn(s, Float32, 0, 1, y.shape...), Full(s, Float32, -0x1p-120, y.shape...))
}

// nearSums fails where got, sums of k products of normal numbers, is farther from want than rounding explains.
func nearSums(t *testing.T, name string, dt DType, got, want []float64, k int) {
	t.Helper()
	eps := map[DType]float64{Float32: 0x1p-23, BFloat16: 0x1p-8, Float16: 0x1p-11}[dt]
	if len(got) != len(want) {
		t.Errorf("%s: %d elements, want %d", name, len(got), len(want))
		return
	}
	for i, v := range want {
		if d := math.Abs(got[i] - v); !(d <= eps*math.Abs(v)+4*0x1p-23*float64(k)+0x1p-24) {
			t.Errorf("%s: element %d is %v, want %v", name, i, got[i], v)
			return
		}
	}
}

// slowConvGrads are the gradients of slowConv.
func slowConvGrads(x, w, dy *Tensor, stride, pad, dilation, groups int) (dx, dw []float64) {
	c, h, wd := x.shape[1], x.shape[2], x.shape[3]
	m, cg, kh, kw := w.shape[0], w.shape[1], w.shape[2], w.shape[3]
	oh, ow := dy.shape[2], dy.shape[3]
	xs, ws, ds := x.Float64s(), w.Float64s(), dy.Float64s()
	dx, dw = make([]float64, len(xs)), make([]float64, len(ws))
	for i, d := range ds {
		img, o, y, z := i/(m*oh*ow), i/(oh*ow)%m, i/ow%oh, i%ow
		for ch := range cg {
			for p := range kh {
				for q := range kw {
					r, s := y*stride+p*dilation-pad, z*stride+q*dilation-pad
					if r >= 0 && r < h && s >= 0 && s < wd {
						a, b := ((o*cg+ch)*kh+p)*kw+q, ((img*c+o/(m/groups)*cg+ch)*h+r)*wd+s
						dx[b] += ws[a] * d
						dw[a] += xs[b] * d
					}
				}
			}
		}
	}
	return dx, dw
}
