package amp

import (
	"math"
	"testing"
)

// TestSlopesOfSmallNorms: a number by its norm is at most 1, however small the two, and so are slopes; PyTorch's are the same.
func TestSlopesOfSmallNorms(t *testing.T) {
	s := NewScope()
	defer s.Close()
	r := math.Sqrt2 / 2
	for name, c := range map[string]struct {
		x    []float32
		f    func(x *Tensor) *Tensor
		want []float64
	}{
		"norm, subnormal": {[]float32{1e-39}, func(x *Tensor) *Tensor { return Norm(s, x) }, []float64{1}},
		"norm, scaled":    {[]float32{1e-35, 1e-35}, func(x *Tensor) *Tensor { return MulScalar(s, Norm(s, x), 65536) }, []float64{65536 * r, 65536 * r}},
		"norm 3":          {[]float32{1e-30, 0}, func(x *Tensor) *Tensor { return NormP(s, x, 3) }, []float64{1, 0}},
		"norm 3, large":   {[]float32{1e30, 0}, func(x *Tensor) *Tensor { return NormP(s, x, 3) }, []float64{1, 0}},
		"frobenius":       {[]float32{0, -1e-39}, func(x *Tensor) *Tensor { return FrobeniusNorm(s, x) }, []float64{0, -1}},
		"dist":            {[]float32{1e-39}, func(x *Tensor) *Tensor { return Dist(s, x, Scalar[float32](0), 2) }, []float64{1}},
		"std":             {[]float32{1e-39, 0}, func(x *Tensor) *Tensor { return Std(s, x) }, []float64{r, -r}},
		"std, scaled":     {[]float32{1e-35, 0}, func(x *Tensor) *Tensor { return MulScalar(s, Std(s, x), 65536) }, []float64{65536 * r, -65536 * r}},
	} {
		x := From(c.x).RequireGrad()
		got := Grad(s, []*Tensor{c.f(x)}, []*Tensor{x})[0].Float64s()
		for i, v := range got {
			if !(math.Abs(v-c.want[i]) <= 1e-5*math.Abs(c.want[i])) {
				t.Errorf("%s: gradient %v, want %v", name, got, c.want)
				break
			}
		}
	}
}

// TestStdOfEqualNumbersTwice: where all numbers are equal not only the gradient of std is 0 but also those of the gradient.
func TestStdOfEqualNumbersTwice(t *testing.T) {
	s := NewScope()
	defer s.Close()
	for _, value := range []float64{0.25, 0, 0.1} { // the mean of the last is rounded
		x := Full(s, Float64, value, 2, 3).RequireGrad()
		g := Grad(s, []*Tensor{Sum(s, Std(s, x, 1))}, []*Tensor{x}, CreateGraph())[0]
		wantValues(t, "gradient", g, 0, 0, 0, 0, 0, 0)
		wantValues(t, "second gradient", Grad(s, []*Tensor{Sum(s, Square(s, g))}, []*Tensor{x}, RetainGraph())[0], 0, 0, 0, 0, 0, 0)
		wantValues(t, "second gradient of a product", Grad(s, []*Tensor{project(s, g, 3)}, []*Tensor{x})[0], 0, 0, 0, 0, 0, 0)
	}
}
