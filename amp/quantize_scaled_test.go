package amp

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

// scaledNumbers are numbers of a dtype around 2^exponent, of up to 40 powers of two, some of them zero, subnormal, or as large as there are.
func scaledNumbers(r *rand.Rand, dt DType, exponent, n int) []float64 {
	v := make([]float64, n)
	for i := range v {
		switch r.IntN(20) {
		case 0:
		case 1:
			v[i] = math.Ldexp(float64(1+r.IntN(64)), -149)
		case 2:
			v[i] = dt.Max() * (1 - r.Float64()/8)
			if exponent < 0 { // those would hide the others
				v[i] = math.Ldexp(1+float64(r.IntN(8))/8, exponent) // halfway between numbers of the formats, and at their ends
			}
		default:
			v[i] = math.Ldexp(r.NormFloat64(), exponent-r.IntN(40))
		}
	}
	return v
}

// TestQuantizeScaledIsItsDefinition holds the kernels to Format.scaleExponent and roundScaled, in every format, dtype, margin and layout, and all
// results to be numbers of their dtype.
func TestQuantizeScaledIsItsDefinition(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	s := NewScope()
	defer s.Close()
	for f := range Format(len(formats)) {
		for _, dt := range []DType{Float16, BFloat16, Float32, Float64} {
			for margin := range 9 {
				for _, dim := range []int{0, 1} {
					shape := []int{32 * (1 + r.IntN(2)), 32 * (1 + r.IntN(2))}
					x := To(s, From(scaledNumbers(r, dt, []int{-140, -100, -20, 0, 10, 100}[r.IntN(6)], length(shape)), shape...), dt)
					for _, g := range []Granularity{PerTensor, PerRow, PerBlock} {
						to := casting{format: f, granularity: g, margin: margin, dim: dim}
						checkScaled(t, s, x, to)
						to.dim = 1 - dim
						checkScaled(t, s, Transpose(s, x, 0, 1), to)
					}
				}
			}
		}
	}
}

// checkScaled rounds a matrix.
func checkScaled(t *testing.T, s *Scope, x *Tensor, to casting) {
	t.Helper()
	in, got := x.Float64s(), s.quantizeScaled(x, to).Float64s()
	share := func(i int) [2]int { // elements of one scale have this in common
		at := [2]int{i / x.shape[1], i % x.shape[1]}
		switch to.granularity {
		case PerTensor:
			return [2]int{}
		case PerRow:
			at[to.dim] = 0
		case PerBlock:
			at[to.dim] /= scaleBlock
		}
		return at
	}
	amax := map[[2]int]float64{}
	for i, v := range in {
		amax[share(i)] = max(amax[share(i)], math.Abs(v))
	}
	most := x.dt.Max()
	for i, v := range in {
		want := to.format.roundScaled(v, to.format.scaleExponent(amax[share(i)], to.margin), most)
		if math.Float64bits(got[i]) != math.Float64bits(want) {
			t.Fatalf("%v in %v, a scale per %v along %d of %v, margin %d: %v beside %v gives %v, want %v", to.format, x.dt, to.granularity, to.dim, x.shape, to.margin, v, amax[share(i)], got[i], want)
		}
	}
}

// TestLargestAmountIsNaN: NaN hides no infinity and is not hidden by one, however far apart they lie.
func TestLargestAmountIsNaN(t *testing.T) {
	s := NewScope()
	defer s.Close()
	for _, dt := range []DType{Float16, BFloat16, Float32, Float64} {
		for _, shape := range [][]int{{3 * sumRun, 1}, {3, sumRun}} { // runs in pieces, and columns
			v := make([]float64, 3*sumRun)
			v[5], v[2*sumRun+5] = math.Inf(1), math.NaN()
			for range 2 {
				if y := VectorNorm(s, To(s, From(v, shape...), dt), math.Inf(1), []int{0}, false).Float64s(); y[5%shape[1]] == y[5%shape[1]] {
					t.Errorf("%v %v: the largest is %v", dt, shape, y[5%shape[1]])
				}
				v[5], v[2*sumRun+5] = v[2*sumRun+5], v[5]
			}
		}
	}
}

// ended is a measurement.
type ended struct {
	d       time.Duration
	done    bool
	dropped *int
}

func (e ended) Stop()                   {}
func (e ended) Done() bool              { return e.done }
func (e ended) Duration() time.Duration { return e.d }
func (e ended) Drop()                   { *e.dropped++ }

// TestTimesOfTwoKernels: an event that two kernels make has the time of both, and gives both clocks up.
func TestTimesOfTwoKernels(t *testing.T) {
	dropped := 0
	one, two := ended{3, true, &dropped}, ended{4, false, &dropped}
	if both := (took{ns: 1}).and(took{ns: 2}); both.ns != 3 || both.clock != nil {
		t.Errorf("of the host: %+v", both)
	}
	for _, pair := range [][2]took{{{}, {clock: one}}, {{clock: one}, {}}} {
		if c := pair[0].and(pair[1]).clock; c.Duration() != 3 || !c.Done() {
			t.Errorf("one clock: %v", c)
		}
	}
	both := took{clock: one}.and(took{clock: two})
	both.clockUnless(new(bool))
	if both.clock.Duration() != 7 || both.clock.Done() || dropped != 2 {
		t.Errorf("%v, %d dropped", both, dropped)
	}
}
