package amp

import (
	"fmt"
	"math"
	"slices"
	"testing"
)

// A drawnTap is how much of an element of the input there is in one of the result.
type drawnTap struct {
	place  int
	weight float64
}

// resized are the taps of each element of a dimension of n elements that becomes one of m, by the formulas of PyTorch's documentation and
// Keys' kernel; round rounds the coordinates of "nearest".
func resized(mode string, n, m int, scale float64, align, antialias bool, round func(v float64) float64) [][]drawnTap {
	step := float64(n) / float64(m)
	if scale > 0 {
		step = 1 / scale
	}
	if align {
		step = float64(n-1) / float64(max(1, m-1))
	}
	near := func(x, a float64) float64 { return (a+2)*x*x*x - (a+3)*x*x + 1 }
	far := func(x, a float64) float64 { return a*x*x*x - 5*a*x*x + 8*a*x - 4*a }
	kernel := func(x float64) float64 {
		x = math.Abs(x)
		a := -0.75
		if antialias {
			a = -0.5
		}
		switch {
		case mode != "bicubic":
			return max(0, 1-x)
		case x < 1:
			return near(x, a)
		case x < 2:
			return far(x, a)
		}
		return 0
	}
	all := make([][]drawnTap, m)
	for i := range all {
		center := step*(float64(i)+0.5) - 0.5
		if align {
			center = step * float64(i)
		}
		switch {
		case mode == "nearest":
			all[i] = []drawnTap{{min(n-1, int(round(float64(i)*round(step)))), 1}}
		case mode == "nearest-exact":
			all[i] = []drawnTap{{min(n-1, int(round((float64(i)+0.5)*round(step)))), 1}}
		case n == m && !antialias && mode != "bicubic" && mode != "area": // PyTorch copies, whatever the scale
			all[i] = []drawnTap{{i, 1}}
		case mode == "area":
			lo, hi := i*n/m, ((i+1)*n+m-1)/m
			for j := lo; j < hi; j++ {
				all[i] = append(all[i], drawnTap{j, 1 / float64(hi-lo)})
			}
		case antialias:
			wide, reach, sum := max(step, 1), 1.0, 0.0
			if mode == "bicubic" {
				reach = 2
			}
			for j := range n {
				if w := kernel((float64(j) - center) / wide); math.Abs(float64(j)-center) < reach*wide {
					all[i], sum = append(all[i], drawnTap{j, w}), sum+w
				}
			}
			for k := range all[i] {
				all[i][k].weight /= sum
			}
		default:
			if mode != "bicubic" {
				center = max(0, center)
			}
			for j := int(math.Floor(center)) - 1; j < int(math.Floor(center))+3; j++ {
				all[i] = append(all[i], drawnTap{min(max(j, 0), n-1), kernel(float64(j) - center)})
			}
		}
	}
	return all
}

// drawInterpolate draws a resizing of one to three dimensions in any mode.
func (r sizeDraw) drawInterpolate(most int) *drawnCall {
	dims := 1 + r.IntN(3)
	modes := [][]string{1: {"nearest", "nearest-exact", "area", "linear"}, 2: {"nearest", "nearest-exact", "area", "bilinear", "bicubic"}, 3: {"nearest", "nearest-exact", "area", "trilinear"}}[dims]
	o := Interpolation{Mode: modes[r.IntN(len(modes))]}
	kept := o.Mode == "nearest" || o.Mode == "nearest-exact"
	if !kept && o.Mode != "area" {
		o.AlignCorners = r.coin(3)
		o.Antialias = dims == 2 && !o.AlignCorners && r.coin(2)
	}
	o.RecomputeScale = r.coin(3)
	shape := r.shape(2+dims, most/4)
	scaled := r.coin(2)
	var out []int
	for {
		o.Size, o.Scale, out = nil, nil, slices.Clone(shape)
		for d := range dims {
			if scaled {
				f := 0.3 + 2.5*r.Float64()
				if r.coin(3) {
					f = []float64{0.5, 2, 1, 3, 1.5}[r.IntN(5)]
				}
				o.Scale = append(o.Scale, f)
				out[2+d] = int(float64(shape[2+d]) * f)
				continue
			}
			out[2+d] = r.size(2*shape[2+d] + 3)
			if r.coin(6) {
				out[2+d] = shape[2+d]
			}
			o.Size = append(o.Size, out[2+d])
		}
		if length(out) > 0 && length(out) <= 4*most {
			break
		}
		scaled = false
	}
	along := func(round func(v float64) float64) (all [][][]drawnTap) {
		for d := range dims {
			scale := 0.0
			if scaled && !o.RecomputeScale && o.Mode != "area" {
				scale = o.Scale[d]
			}
			all = append(all, resized(o.Mode, shape[2+d], out[2+d], scale, o.AlignCorners, o.Antialias, round))
		}
		return all
	}
	exact := along(func(v float64) float64 { return v })
	if kept && fmt.Sprint(exact) != fmt.Sprint(along(func(v float64) float64 { return float64(float32(v)) })) {
		return r.drawInterpolate(most) // an element between two, one in float32 and the other in float64
	}
	return r.call1(fmt.Sprintf("interpolate to %v %+v", out, o), shape, func(s *Scope, x *Tensor) *Tensor { return Interpolate(s, x, o) }, func(x []float64) []float64 {
		from := slices.Clone(shape)
		for d, taps := range exact {
			to := slices.Clone(from)
			to[2+d] = out[2+d]
			inner := length(from[3+d:])
			y := make([]float64, length(to))
			for i := range y {
				rest, plane := i%inner, i/inner/to[2+d]
				for _, t := range taps[i/inner%to[2+d]] {
					y[i] += t.weight * x[(plane*from[2+d]+t.place)*inner+rest]
				}
			}
			x, from = y, to
		}
		return x
	})
}

func TestDrawnResizing(t *testing.T) { drawn(t, 60, 1<<15, sizeDraw.drawInterpolate) }
