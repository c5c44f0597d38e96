package amp

import (
	"math"
	"slices"
	"strings"
	"testing"
)

// TestEveryOpHasCase: rows have cases in op_cases_test.go, those without a gradient there or in device_answers_test.go, but for those that
// change a tensor.
func TestEveryOpHasCase(t *testing.T) {
	n := 0
	for o := range Ops() {
		n++
		cases := len(opCases[o.Name])
		if !o.Differentiable() && len(o.Composite) == 0 {
			cases += len(answerCases[o.Name])
		}
		if !o.InPlace && cases == 0 && o != opBatchStats { // which batch_norm's cases call
			t.Errorf("row %s has no case", o.Name)
		}
	}
	for name := range opCases {
		if _, ok := LookupOp(name); !ok {
			t.Errorf("case of %s, which is no row", name)
		}
	}
	if n < 25 {
		t.Errorf("only %d rows", n)
	}
}

func TestEveryOpIsDocumented(t *testing.T) {
	for o := range Ops() {
		if o.Doc == "" || o.Why == "" || o.CUDA == "" || len(o.Args) == 0 {
			t.Errorf("%s: doc %q, why %q, CUDA %q, args %v", o.Name, o.Doc, o.Why, o.CUDA, o.Args)
		}
		if strings.HasSuffix(o.Why, ".") || strings.HasSuffix(o.Doc, ".") {
			t.Errorf("%s: texts are joined into sentences and end without a full stop", o.Name)
		}
		kernels := 0
		for _, has := range []bool{o.CPU != nil, o.View != nil, len(o.Composite) > 0} {
			if has {
				kernels++
			}
		}
		if kernels != 1 {
			t.Errorf("%s needs exactly one of a kernel, a view and parts", o.Name)
		}
		for _, part := range o.Composite {
			if _, ok := LookupOp(part); !ok {
				t.Errorf("%s is made of %s, which is no row", o.Name, part)
			}
		}
		if o.InPlace && o.Backward != nil {
			t.Errorf("%s works in place and can't have a gradient", o.Name)
		}
	}
}

// weights gives every element of a result its own weight, so that a gradient can't be right by symmetry.
func weights(n int, seed uint64) []float64 {
	w := make([]float64, n)
	NewStream(seed).fill(w, func(u, v float64) (float64, float64) { return 0.5 + u, -0.5 - v })
	return w
}

// project returns Σ w·y as a tensor.
func project(s *Scope, y *Tensor, seed uint64) *Tensor {
	return Sum(s, Mul(s, y, fromFloat64s(y.dt, weights(y.Len(), seed), y.shape)))
}

// bump adds h to element k of a contiguous leaf.
func bump(x *Tensor, k int, h float64) {
	v := Values[float64](x)
	v[k] += h
	SetValues(x, v)
}

// home is the device that the tests run on.
func home() string { return defaultDevice().Name() }

// TestEveryOpGradient compares backward with central differences in float64, for every row.
func TestEveryOpGradient(t *testing.T) {
	eachCase(t, func(t *testing.T, o *Op, c opCase) {
		root := NewScope()
		defer root.Close()
		value := func(in []*Tensor) float64 {
			s := root.Child()
			defer s.Close()
			return project(s, c.call(s.NoGrad(), in), 7).Item()
		}
		in := c.draws(root, Float64, 3)
		project(root, c.call(root, in), 7).Backward()
		for i, x := range in {
			g := x.Grad()
			if g == nil {
				t.Fatalf("input %d has no gradient", i)
			}
			analytic := g.Float64s()
			if c.through {
				if !slices.Equal(analytic, weights(x.Len(), 7)) {
					t.Errorf("input %d: the gradient does not pass straight through", i)
				}
				continue
			}
			for k := range x.Len() {
				const h = 1e-5
				bump(x, k, h)
				up := value(in)
				bump(x, k, -2*h)
				down := value(in)
				bump(x, k, h)
				if want := (up - down) / (2 * h); !(math.Abs(analytic[k]-want) <= 1e-6*(1+math.Abs(want))) {
					t.Errorf("input %d element %d: %.9g, differences give %.9g", i, k, analytic[k], want)
				}
			}
		}
	})
}

// TestEveryOpSecondOrder differentiates the gradient again and compares with differences of it.
func TestEveryOpSecondOrder(t *testing.T) {
	eachCase(t, func(t *testing.T, o *Op, c opCase) {
		root := NewScope()
		defer root.Close()
		// directional is Σ v·∂(Σ w·y)/∂x, the quantity that is differentiated again.
		directional := func(s *Scope, in []*Tensor, opts ...BackwardOption) *Tensor {
			grads := Grad(s, []*Tensor{project(s, c.call(s, in), 7)}, in, opts...)
			var total *Tensor
			for i, g := range grads {
				p := project(s, g, uint64(20+i))
				if total == nil {
					total = p
				} else {
					total = Add(s, total, p)
				}
			}
			return total
		}
		in := c.draws(root, Float64, 3)
		d := directional(root, in, CreateGraph())
		nonzero := false
		if d.RequiresGrad() {
			d.Backward()
		}
		for i, x := range in {
			analytic := make([]float64, x.Len())
			if g := x.Grad(); g != nil {
				analytic = g.Float64s()
			}
			each := 1
			if home() != "cpu" { // the formulas are the CPU's, whose every element is looked at
				each = 3
			}
			for k := 0; k < x.Len(); k += each {
				const h = 1e-5
				at := func() float64 {
					s := root.Child()
					defer s.Close()
					return directional(s, in).Item()
				}
				bump(x, k, h)
				up := at()
				bump(x, k, -2*h)
				down := at()
				bump(x, k, h)
				want := (up - down) / (2 * h)
				nonzero = nonzero || math.Abs(want) > 1e-6
				if !(math.Abs(analytic[k]-want) <= 1e-5*(1+math.Abs(want))) {
					t.Errorf("input %d element %d: %.9g, differences give %.9g", i, k, analytic[k], want)
				}
			}
		}
		if c.flat && nonzero {
			t.Error("declared flat, yet its second derivative is not zero")
		}
	})
}

// resultOf is what a row gives where the policy says want: want, unless the row has one dtype of results whatever its inputs.
func resultOf(o *Op, want DType) DType {
	if o.Result == nil {
		return want
	}
	of := func(dt DType) DType { return o.Result(&Call{Op: o, In: []*Tensor{{dt: dt}}}) }
	if dt := of(Float16); dt != NoDType && dt == of(Float32) {
		return dt
	}
	return want
}

// TestEveryOpDTypes runs every row in every float dtype and compares with float64, within the rounding of the result.
func TestEveryOpDTypes(t *testing.T) {
	eps := map[DType]float64{Float16: 0x1p-11, BFloat16: 0x1p-8, Float32: 0x1p-24}
	eachCase(t, func(t *testing.T, o *Op, c opCase) {
		root := NewScope()
		defer root.Close()
		for dt, e := range eps {
			in := c.draws(root, dt, 5)
			exact := make([]*Tensor, len(in)) // the same rounded values, in float64
			for i, x := range in {
				exact[i] = fromFloat64s(Float64, x.Float64s(), x.shape).RequireGrad()
			}
			got, want := c.call(root.NoGrad(), in), c.call(root.NoGrad(), exact)
			if got.dt != resultOf(o, dt) {
				t.Errorf("%v in, %v out", dt, got.dt)
			}
			if !slices.Equal(got.shape, want.shape) {
				t.Fatalf("shape %v in %v, %v in float64", got.shape, dt, want.shape)
			}
			for i, w := range want.Float64s() {
				// Composites round once per part; three roundings cover them. A sum that cancels keeps its terms' errors.
				bound := 3*e*(math.Abs(w)+0.1) + float64(c.terms)*0x1p-24
				if g := got.Float64s()[i]; !(math.Abs(g-w) <= bound) {
					t.Errorf("%v element %d: %.9g, want %.9g", dt, i, g, w)
				}
			}
			for i, x := range in { // a gradient has the dtype and shape of its leaf
				x.ZeroGrad()
				project(root, c.call(root, in), 7).Backward()
				if g := x.Grad(); g == nil || g.dt != dt || !slices.Equal(g.shape, x.shape) {
					t.Errorf("%v: gradient of input %d: %v", dt, i, g)
				}
			}
		}
	})
}

// TestEveryOpThroughViews gives every row inputs with gaps and in another order.
func TestEveryOpThroughViews(t *testing.T) {
	eachCase(t, func(t *testing.T, o *Op, c opCase) {
		root := NewScope()
		defer root.Close()
		plain := c.draws(root, Float64, 9)
		views := make([]*Tensor, len(plain))
		for i, x := range plain {
			views[i] = gapped(root, x)
		}
		a, b := c.call(root, plain).Float64s(), c.call(root, views).Float64s()
		for i := range a {
			if !(math.Abs(a[i]-b[i]) <= 1e-12*(1+math.Abs(a[i]))) {
				t.Fatalf("element %d: %v, through a view %v", i, a[i], b[i])
			}
		}
	})
}

// TestEveryOpWithExpandedGradient: the gradient of a plain sum reaches a row as one number repeated without memory of its own,
// which must give what a tensor of ones gives.
func TestEveryOpWithExpandedGradient(t *testing.T) {
	eachCase(t, func(t *testing.T, o *Op, c opCase) {
		root := NewScope()
		defer root.Close()
		grads := func(loss func(y *Tensor) *Tensor) [][]float64 {
			in := c.draws(root, Float64, 6)
			loss(c.call(root, in)).Backward()
			var out [][]float64
			for _, x := range in {
				out = append(out, gradient(x))
			}
			return out
		}
		ones := grads(func(y *Tensor) *Tensor { return Sum(root, Mul(root, y, Full(root, Float64, 1, y.shape...))) })
		expanded := grads(func(y *Tensor) *Tensor { return Sum(root, y) })
		for i := range ones {
			for k := range ones[i] {
				if !(math.Abs(ones[i][k]-expanded[i][k]) <= 1e-12*(1+math.Abs(ones[i][k]))) {
					t.Errorf("input %d element %d: %v, with ones %v", i, k, expanded[i][k], ones[i][k])
				}
			}
		}
	})
}

// gradient returns the values of a leaf's gradient, zeros without one.
func gradient(t *Tensor) []float64 {
	if t.Grad() == nil {
		return make([]float64, t.Len())
	}
	return t.Grad().Float64s()
}
