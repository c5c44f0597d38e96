package amp

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// TestHalfLines: rows that have a form for halves give the bits of the same row in float32 with its result rounded, for halves of every kind, whatever
// the shapes, the strides, where a tensor begins and the number of threads.
func TestHalfLines(t *testing.T) {
	computesOnCPU(t)
	sameOnAnyThreads(t, checkHalfLines)
}

func checkHalfLines() string {
	type row struct {
		name string
		in   int
		f    func(s *Scope, x ...*Tensor) *Tensor
	}
	one := func(name string, f func(s *Scope, x *Tensor) *Tensor) row {
		return row{name, 1, func(s *Scope, x ...*Tensor) *Tensor { return f(s, x[0]) }}
	}
	two := func(name string, f func(s *Scope, a, b *Tensor) *Tensor) row {
		return row{name, 2, func(s *Scope, x ...*Tensor) *Tensor { return f(s, x[0], x[1]) }}
	}
	slope := func(name string, f func(s *Scope, x *Tensor) *Tensor) row { // its gradient's row, whatever it is called
		return two(name+"_backward", func(s *Scope, x, dy *Tensor) *Tensor {
			if x.Len() != dy.Len() {
				return s.Own(Full(s, x.dt, 0))
			}
			x = Detach(s, x).RequireGrad()
			return Grad(s, []*Tensor{f(s, x)}, []*Tensor{x}, GradOutputs(Reshape(s, dy, x.shape...)))[0]
		})
	}
	rows := []row{
		two("add", Add), two("sub", Sub), two("mul", Mul), two("div", Div), two("maximum", Maximum), two("minimum", Minimum),
		one("neg", Neg), one("abs", Abs), one("relu", ReLU), one("square", Square),
		one("leaky_relu", func(s *Scope, x *Tensor) *Tensor { return LeakyReLU(s, x, 0.01) }),
		one("clamp", func(s *Scope, x *Tensor) *Tensor { return Clamp(s, x, -1, 0.7) }),
		one("mul_scalar", func(s *Scope, x *Tensor) *Tensor { return MulScalar(s, x, 1.37) }),
		one("add_scalar", func(s *Scope, x *Tensor) *Tensor { return AddScalar(s, x, 1.37) }),
		{"addcmul", 3, func(s *Scope, x ...*Tensor) *Tensor { return Addcmul(s, x[0], x[1], x[2], -1.3) }},
		slope("gelu", GELU), slope("silu", SiLU), slope("relu", ReLU),
	}
	r := rand.New(rand.NewPCG(1, 7))
	root := NewScope(On("cpu"), Seed(8))
	defer root.Close()
	for _, dt := range []DType{Float16, BFloat16} {
		fresh := func(s *Scope, shape ...int) *Tensor {
			values := make([]float32, length(shape))
			for i := range values {
				values[i] = float32(r.NormFloat64() * 3)
				switch r.IntN(40) {
				case 0:
					values[i] = float32(math.Inf(1 - 2*r.IntN(2)))
				case 1:
					values[i] = float32(math.NaN())
				case 2:
					values[i] = float32(math.Ldexp(r.NormFloat64(), -14-r.IntN(120)))
				case 3:
					values[i] = float32(math.Copysign(0, float64(r.IntN(2))-0.5))
				}
			}
			return To(s, s.Own(From(values, shape...).To(s)), dt)
		}
		for _, op := range rows {
			for _, shape := range [][]int{{5}, {24}, {31}, {33}, {1000}, {grain + 77}, {3, 37}, {37, 3}, {70, 513}, {5, 1, 129}, {67, 1027}} {
				s := root.Child()
				n := len(shape)
				whole := fresh(s, append([]int{2}, append(append([]int{}, shape[:n-1]...), shape[n-1]+3)...)...)
				column, bias := append([]int{}, shape...), []int{shape[n-1]}
				column[n-1] = 1
				forms := map[string]*Tensor{
					"own": fresh(s, shape...), "part": Narrow(s, Select(s, whole, 0, 1), n-1, 1, shape[n-1]), "number": fresh(s, 1),
					"column": fresh(s, column...), "bias": fresh(s, bias...), "stretched": Expand(s, fresh(s, column...), shape...),
				}
				if n == 2 {
					forms["turned"] = Transpose(s, fresh(s, shape[1], shape[0]), 0, 1)
				}
				names := []string{"own", "part", "number", "column", "bias", "stretched", "turned"}
				for round := range 4 {
					in, used := make([]*Tensor, op.in), ""
					for k := range in {
						name := names[r.IntN(len(names))]
						if k == round%op.in || forms[name] == nil {
							name = []string{"own", "part", "stretched"}[r.IntN(3)]
						}
						in[k], used = forms[name], used+" "+name
					}
					got := op.f(s, in...)
					wide := make([]*Tensor, op.in)
					for k, x := range in {
						wide[k] = To(s, x, Float32)
					}
					want := To(s, op.f(s, wide...), dt)
					if got.dt != dt {
						panic(fmt.Sprintf("%s of %v gives %v", op.name, dt, got.dt))
					}
					a, b := got.Float64s(), want.Float64s()
					for i := range b {
						if a[i] != b[i] && (a[i] == a[i] || b[i] == b[i]) || math.Signbit(a[i]) != math.Signbit(b[i]) && a[i] == 0 {
							panic(fmt.Sprintf("%s %v %v of%s: element %d is %v, want %v", op.name, dt, shape, used, i, a[i], b[i]))
						}
					}
				}
				s.Close()
			}
		}
	}
	return "right"
}
