package amp

import (
	"math"
	"math/rand/v2"
	"testing"
)

// The numbers of E2M1 that are no less than 0, in the order of their codes, as the OCP Microscaling Formats (MX), version 1.0, list them.
var e2m1Numbers = []float64{0, 0.5, 1, 1.5, 2, 3, 4, 6}

// e4m3Numbers are those of E4M3: 2^-6·m/8, and 2^e·(1+m/8) up to 448.
var e4m3Numbers = func() (v []float64) {
	for m := range 8 {
		v = append(v, math.Ldexp(float64(m), -9))
	}
	for e := -6; e <= 8; e++ {
		for m := range 8 {
			if x := math.Ldexp(1+float64(m)/8, e); x <= 448 {
				v = append(v, x)
			}
		}
	}
	return v
}()

// nearestIn returns the number of a list nearest to v·1 ≥ 0, of two as near the one whose code is even, and the last for what is beyond it.
func nearestIn(list []float64, v float64) float64 {
	for i := 1; i < len(list); i++ {
		switch half := (list[i-1] + list[i]) / 2; {
		case v < half, v == half && i%2 == 1:
			return list[i-1]
		case v == half:
			return list[i]
		}
	}
	return list[len(list)-1]
}

// fp4Scale is the scale of a block by the words of QuantizeScaled.
func fp4Scale(dt DType, nv bool, amax, top float64) float64 {
	if amax != amax || math.IsInf(amax, 0) {
		return 1
	}
	if !nv {
		if amax == 0 {
			return 1
		}
		for k := -126; ; k++ {
			if math.Ldexp(6, k) >= amax || k == 126 {
				return math.Ldexp(1, k)
			}
		}
	}
	smallest := map[DType]int{Float16: -24, BFloat16: -133, Float32: -149, Float64: -1074}[dt]
	k := max(-126, smallest+10)
	for math.Ldexp(2688, k) < top && k < 126 {
		k++
	}
	if top == 0 || top != top || math.IsInf(top, 0) {
		k = 0
	}
	s := nearestIn(e4m3Numbers, math.Ldexp(amax, -k)/6)
	for i := len(e4m3Numbers) - 1; math.Ldexp(6*s, k) > dt.Max(); i-- {
		s = min(s, e4m3Numbers[i])
	}
	return math.Ldexp(s, k)
}

// fp4Casting is a way to round a matrix to E2M1.
type fp4Casting struct {
	nv, square bool
	dim        int
}

func (c fp4Casting) casting() casting {
	to := casting{format: FormatE2M1, granularity: PerBlock, dim: c.dim, square: c.square}
	if c.nv {
		to.granularity = PerBlock16
	}
	return to
}

// scales returns the scale of every element of a matrix.
func (c fp4Casting) scales(dt DType, v []float64, shape []int) []float64 {
	size, top := 32, 0.0
	if c.nv {
		size = 16
	}
	block := func(i int) [2]int {
		at := [2]int{i / shape[1], i % shape[1]}
		for d := range at {
			if c.square || d == c.dim {
				at[d] /= size
			}
		}
		return at
	}
	amax := map[[2]int]float64{}
	for i, x := range v {
		amax[block(i)] = max(amax[block(i)], math.Abs(x))
		top = max(top, math.Abs(x))
	}
	scales := make([]float64, len(v))
	for i := range v {
		scales[i] = fp4Scale(dt, c.nv, amax[block(i)], top)
	}
	return scales
}

// eachFP4 calls f for matrices of every dtype and size of number, transposed ones too, and ways to round them.
func eachFP4(t *testing.T, f func(s *Scope, x *Tensor, c fp4Casting)) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, dt := range []DType{Float16, BFloat16, Float32, Float64} {
		for _, exponent := range []int{-140, -100, -30, -20, -8, 0, 10, 100} {
			s := NewScope(Seed(6))
			shape := []int{32 * (1 + r.IntN(3)), 32 * (1 + r.IntN(4))}
			v := scaledNumbers(r, dt, exponent, length(shape))
			if exponent == 10 {
				v[3], v[len(v)/2] = math.Inf(-1), math.NaN()
			}
			x := To(s, From(v, shape...), dt)
			for _, y := range []*Tensor{x, Transpose(s, x, 0, 1)} {
				for _, c := range []fp4Casting{{true, false, 0}, {true, false, 1}, {true, true, 0}, {false, false, 0}, {false, false, 1}, {false, true, 1}} {
					f(s, y, c)
				}
			}
			s.Close()
		}
	}
}

// TestFP4IsItsDefinition holds the roundings to lists of the formats' numbers and to the words of QuantizeScaled, bit for bit.
func TestFP4IsItsDefinition(t *testing.T) {
	eachFP4(t, func(s *Scope, x *Tensor, c fp4Casting) {
		in, got := x.Float64s(), s.quantizeScaled(x, c.casting()).Float64s()
		scales := c.scales(x.dt, in, x.shape)
		for i, v := range in {
			want := v
			if !math.IsInf(v, 0) && v == v {
				q := 0.0
				if scales[i] > 0 {
					q = math.Abs(v) / scales[i]
				}
				want = math.Copysign(nearestIn(e2m1Numbers, q)*scales[i], v)
				if fits := fromFloat64s(x.dt, []float64{want}, []int{1}).Float64s()[0]; fits != want {
					if c.nv || math.Abs(v) < x.dt.Max()/2 {
						t.Fatalf("%+v in %v: %v is no number of the dtype", c, x.dt, want)
					}
					want = math.Copysign(3*scales[i], v) // 4 times the scale, a power of two, would be infinite
				}
			}
			if math.Float64bits(got[i]) != math.Float64bits(want) {
				t.Fatalf("%+v of %v %v: %v with scale %v gives %v, want %v", c, x.dt, x.shape, v, scales[i], got[i], want)
			}
		}
	})
}
