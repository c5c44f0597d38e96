package amp

import (
	"fmt"
	"math"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
)

// Every row against PyTorch's own numbers, from testdata/torch (vectors.py there says what the vectors hold and how they are made).
// For each element v of a result or gradient, v64 PyTorch's float64 number from the same inputs:
//
//   - |v - v64| ≤ c·u·scale + one rounding of the dtype. scale is √K·Σ|terms|, in the vectors; c is the row's Bound. Kernels compute
//     in float32 or wider and round once, so that u is 2^-24 for a result (2^-53 in float64). Where several ops each round to the
//     dtype u is the dtype's own: in composites, and in gradients, which read rounded results and are formulas of table ops.
//   - the largest |v - v64| of the case is at most twice PyTorch's, or one rounding of the result and of the terms, on a few of
//     which PyTorch may have been lucky. The terms are float32, but for composites, whose parts round to the dtype here and there.

// TestTorch walks the vectors.
func TestTorch(t *testing.T) {
	cases, ran := map[string]int{}, map[string]bool{}
	for _, f := range torchFiles(t) {
		for _, c := range f.Cases {
			call := torchCalls[c.Op]
			if call == nil {
				t.Errorf("vectors of %s, which no call takes", c.Op)
				continue
			}
			cases[c.Op]++
			t.Run(strings.ReplaceAll(fmt.Sprintf("%s/%s/%v", c.Op, c.Name, c.DType), " ", "_"), func(t *testing.T) {
				c.check(t, call, c.DType, ran)
				if c.DType == Float32 {
					c.check(t, call, Float64, ran)
				}
			})
		}
	}
	for name := range torchCalls {
		if cases[name] == 0 {
			t.Errorf("no vectors of %s", name)
		}
	}
	torchGaps(t, cases, ran)
}

// check runs the case in dtype dt, which is the case's or float64, and adds the rows that ran.
func (c *torchCase) check(t *testing.T, call torchCall, dt DType, ran map[string]bool) {
	root := NewScope(Record(Decisions))
	defer root.Close()
	defer func() {
		if r := recover(); r != nil {
			t.Errorf("%v: %v\n%s", dt, r, debug.Stack())
		}
		for _, e := range root.Trace().Events {
			ran[e.Op] = true
		}
	}()
	in := c.inputs(dt)
	outs := call(root, c.Args, in)
	if len(outs) != len(c.Out) {
		t.Fatalf("%d results, torch has %d", len(outs), len(c.Out))
	}
	u := 0x1p-24
	if row, ok := LookupOp(c.Op); dt == Float64 || ok && row.Composite != nil {
		u = halfULP(dt, 1)
	}
	var differentiable, seeds []*Tensor
	for k, y := range outs {
		c.compare(t, fmt.Sprintf("result %d", k), y, c.Out[k], dt, u)
		if c.DY[k] != nil && y.needs {
			differentiable, seeds = append(differentiable, y), append(seeds, c.DY[k].tensor(dt))
		}
	}
	if len(differentiable) == 0 || t.Failed() {
		return
	}
	var leaves []*Tensor
	var want []*torchTensor
	var names []string
	for i, v := range c.Grad {
		if v != nil {
			leaves, want, names = append(leaves, in[i]), append(want, v), append(names, fmt.Sprintf("gradient of input %d", i))
		}
	}
	for i, g := range Grad(root, differentiable, leaves, GradOutputs(seeds...), AllowUnused()) {
		if g == nil {
			g = Full(root, dt, 0, want[i].Shape...)
		}
		c.compare(t, names[i], g, want[i], dt, halfULP(dt, 1))
	}
}

// inputs makes the inputs, floats in dtype dt.
func (c *torchCase) inputs(dt DType) []*Tensor {
	in := make([]*Tensor, len(c.In))
	for i, v := range c.In {
		in[i] = v.tensor(dt)
		if i < len(c.Grad) && c.Grad[i] != nil {
			in[i].RequireGrad()
		}
	}
	return in
}

// compare holds one result against its vector; u is the unit roundoff of the terms.
func (c *torchCase) compare(t *testing.T, what string, got *Tensor, want *torchTensor, dt DType, u float64) {
	t.Helper()
	if !slices.Equal(got.shape, want.Shape) {
		t.Fatalf("%v %s: shape %v, torch has %v", dt, what, got.shape, want.Shape)
	}
	v := got.Float64s()
	if want.DType != NoDType { // integers and truths: exact
		if exact := bitsAs(want.DType, want.Bits); !slices.Equal(v, exact) {
			t.Errorf("%v %s: %v, torch has %v", dt, what, v, exact)
		}
		return
	}
	if got.dt != dt {
		t.Errorf("%s: %v, want %v", what, got.dt, dt)
	}
	v64, scale, factor, smallest := bitsAs(Float64, want.F64), bitsAs(Float32, want.Scale), 1.0, 0.0
	o, ok := LookupOp(c.Op)
	if ok && o.Bound != 0 {
		factor = o.Bound
	}
	if dt == Float64 { // PyTorch's number is no more exact
		factor *= 2
	}
	luck := min(u, 0x1p-24)
	if ok && o.Composite != nil {
		luck = u
	}
	if dt.IsHalf() && u == halfULP(dt, 1) { // a term that is subnormal in the dtype is off by this
		smallest = dt.MinSubnormal() / 2
	}
	worst, slack := 0.0, 0.0
	for i, w := range v64 {
		d := distance(v[i], w)
		if bound := factor*u*scale[i] + smallest + halfULP(dt, w); !(d <= bound) {
			t.Errorf("%v %s element %d: %v, float64 %v, off by %.3g, bound %.3g", dt, what, i, v[i], w, d, bound)
		}
		worst, slack = math.Max(worst, d), math.Max(slack, luck*scale[i]+halfULP(dt, w))
	}
	if want.Torch == nil || dt != c.DType {
		return
	}
	theirs := 0.0
	for i, x := range bitsAs(dt, want.Torch) {
		theirs = math.Max(theirs, distance(x, v64[i]))
	}
	if worst > max(2*theirs, slack) {
		t.Errorf("%v %s: off by %.3g, torch only by %.3g; one rounding is %.3g", dt, what, worst, theirs, slack)
	}
}

// distance is |a - b|; 0 between equal infinities and between NaNs.
func distance(a, b float64) float64 {
	if a == b || a != a && b != b {
		return 0
	}
	return math.Abs(a - b)
}

// halfULP is half the distance between neighbors of dt at v: the error of one rounding.
func halfULP(dt DType, v float64) float64 {
	digits := map[DType]int{Float16: 11, BFloat16: 8, Float32: 24, Float64: 53}[dt]
	_, e := math.Frexp(math.Max(math.Abs(v), dt.MinNormal()))
	return math.Ldexp(0.5, e-digits)
}
