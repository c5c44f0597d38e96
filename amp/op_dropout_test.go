package amp

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/halftone-ml/halftone/amp/internal/cpu"
)

// TestDropoutMask writes the mask again from its definition: the numbers of the Philox blocks, four a block.
func TestDropoutMask(t *testing.T) {
	for _, dt := range []DType{Float16, BFloat16, Float32, Float64} {
		s := NewScope(Seed(11))
		const n, p = 1003, 0.3
		s.Random().Load(StreamState{Seed: 11, Counter: 20})
		x := Randn(NewScope(Seed(1)), dt, 0, 1, 17, 59)
		y := Dropout(s, x, p)
		if st := s.Random().State(); st.Counter != 20+(n+3)/4 {
			t.Errorf("the stream moved to %d", st.Counter)
		}
		v := x.Float64s()
		for i, got := range y.Float64s() {
			want := 0.0
			if cpu.PhiloxBlock(11, 20+uint64(i/4))[i%4] >= uint32(math.Ceil(p*(1<<32))) {
				if dt == Float64 {
					want = v[i] * (1 / (1 - p))
				} else {
					want = fromFloat64s(dt, []float64{float64(float32(v[i]) * float32(1/(1-p)))}, []int{1}).Item()
				}
			}
			if got != want {
				t.Fatalf("%v element %d of %v: %v, want %v", dt, i, v[i], got, want)
			}
		}
		s.Close()
	}
}

// TestDropoutStatistics: the share of zeros is p within six standard deviations, and the mean stays.
func TestDropoutStatistics(t *testing.T) {
	s := NewScope(Seed(2))
	defer s.Close()
	const n = 1 << 18
	x := Full(s, Float32, 1, n)
	for _, p := range []float64{0.1, 0.5, 0.9} {
		zeros, sum := 0, 0.0
		for _, v := range Dropout(s, x, p).Float64s() {
			if v == 0 {
				zeros++
			}
			sum += v
		}
		if share, dev := float64(zeros)/n, math.Sqrt(p*(1-p)/n); math.Abs(share-p) > 6*dev || math.Abs(sum/n-1) > 6*dev/(1-p) {
			t.Errorf("p %v: %v zeros, mean %v", p, share, sum/n)
		}
	}
	// Two draws of one scope are different, and overlap by chance alone.
	a, b := Dropout(s, x, 0.5).Float64s(), Dropout(s, x, 0.5).Float64s()
	same := 0
	for i := range a {
		if a[i] == b[i] {
			same++
		}
	}
	if !(math.Abs(float64(same)/n-0.5) <= 0.01) {
		t.Errorf("two masks agree in %d of %d elements", same, n)
	}
}

func TestDropoutKinds(t *testing.T) {
	s := NewScope(Seed(4))
	defer s.Close()
	x := Randn(s, Float32, 0, 1, 4, 8, 3, 5).RequireGrad()
	for _, dt := range []DType{Float16, BFloat16} {
		if y := Dropout(s.Autocast(dt), x, 0.5); y.DType() != Float32 {
			t.Errorf("dropout follows its input, got %v", y.DType())
		}
	}
	if Dropout(s.Eval(), x, 0.5) != x || Dropout(s, x, 0) != x || Dropout2d(s.Eval(), x, 0.5) != x || AlphaDropout(s.Eval(), x, 1) != x {
		t.Error("not the input itself in evaluation or for p = 0")
	}
	if y := Dropout(s.Eval().Train(), x, 0.5); y == x {
		t.Error("Train within Eval does not drop")
	}
	before := s.Random().State()
	Dropout(s.Eval(), x, 0.5)
	if s.Random().State() != before {
		t.Error("evaluation draws numbers")
	}
	if y := Dropout(s, From([]float32{1, float32(math.Inf(1)), float32(math.NaN())}), 1); !slices.Equal(y.Float64s(), []float64{0, 0, 0}) {
		t.Errorf("p = 1 gives %v", y.Float64s())
	}
	y := Dropout2d(s, x, 0.5)
	v, dropped := x.Float64s(), 0
	for c := range 32 {
		part := y.Float64s()[c*15 : c*15+15]
		zero := part[0] == 0
		if zero {
			dropped++
		}
		for i, e := range part {
			if zero && e != 0 || !zero && e != 2*v[c*15+i] {
				t.Fatalf("channel %d element %d: %v of %v", c, i, e, v[c*15+i])
			}
		}
	}
	if dropped == 0 || dropped == 32 {
		t.Errorf("%d of 32 channels dropped", dropped)
	}
	// The gradient is dy under the same mask, from a view or not.
	Sum(s, y).Backward()
	for i, g := range x.Grad().Float64s() {
		if want := 2.0; y.Float64s()[i] == 0 && g != 0 || y.Float64s()[i] != 0 && g != want {
			t.Fatalf("gradient %d is %v", i, g)
		}
	}
	if y := Dropout1d(s, Full(s, Float32, 1, 6, 7), 0.5); len(slices.Compact(y.Float64s()[:7])) != 1 {
		t.Errorf("channels without a batch: %v", y.Float64s()[:7])
	}
	if y := Dropout3d(s, Full(s, Float32, 1, 2, 2, 2, 2, 2), 0.5); len(slices.Compact(y.Float64s()[:8])) != 1 {
		t.Errorf("channels of volumes: %v", y.Float64s()[:8])
	}
}

// TestAlphaDropoutMoments: mean 0 and variance 1 stay, as the paper's affine correction promises.
func TestAlphaDropoutMoments(t *testing.T) {
	s := NewScope(Seed(8))
	defer s.Close()
	const n = 1 << 18
	x := Randn(s, Float64, 0, 1, n)
	y := AlphaDropout(s, x, 0.25).Float64s()
	sum, squares := 0.0, 0.0
	for _, v := range y {
		sum += v
		squares += v * v
	}
	if m := sum / n; math.Abs(m) > 0.01 || math.Abs(squares/n-m*m-1) > 0.02 {
		t.Errorf("mean %v, variance %v", m, squares/n-m*m)
	}
	a := math.Pow((1-0.25)*(1+0.25*alphaPrime*alphaPrime), -0.5)
	dropped := 0
	for _, v := range y {
		if math.Abs(v-(a*(-alphaPrime)+0.25*a*alphaPrime)) < 1e-14 {
			dropped++
		}
	}
	if !(math.Abs(float64(dropped)/n-0.25) <= 0.01) {
		t.Errorf("%d of %d at the limit", dropped, n)
	}
}

func TestDropoutRefuses(t *testing.T) {
	s := NewScope()
	defer s.Close()
	x := Full(s, Float32, 1, 2, 3)
	for name, c := range map[string]struct {
		kind error
		f    func()
	}{
		"p above 1":  {ErrArgument, func() { Dropout(s, x, 1.1) }},
		"p below 0":  {ErrArgument, func() { Dropout2d(s, Full(s, Float32, 1, 2, 3, 3), -0.1) }},
		"p NaN":      {ErrArgument, func() { AlphaDropout(s, x, math.NaN()) }},
		"rank":       {ErrShape, func() { Dropout2d(s, x, 0.5) }},
		"integers":   {ErrDType, func() { Dropout(s, From([]int64{1}), 0.5) }},
		"evaluation": {ErrArgument, func() { Dropout(s.Eval(), x, 2) }},
	} {
		if err := Maybe(c.f); !errors.Is(err, c.kind) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
