package amp

import (
	"fmt"
	"maps"
	"math"
	"runtime/debug"
	"slices"
	"testing"
)

// A torchProgram is ops in a row and what is differentiated then, with PyTorch's numbers (testdata/torch/programs.py).
type torchProgram struct {
	Seed   int
	Inputs []struct {
		Grad, Whole bool
		Shape       []int
		Data        []float64
		At          int // so many steps come before it
	}
	Steps []struct {
		Op      string
		Args    torchArgs
		In, Out []int
		Tie     bool // of elements that the step names by their indices: each may be named
	}
	Passes []struct {
		Kind   string
		Of, By int
		DY     []float64
		Want   []float64
	}
	Grads []struct {
		Of   int
		Want []float64 // nil: none
	}
	Values map[int][]float64
}

// programCalls are torchCalls, and what programs call otherwise than single ops are.
var programCalls = map[string]torchCall{
	"where": torchOne(func(s *Scope, _ torchArgs, x []*Tensor) *Tensor {
		return Where(s, Gt(s, x[0], ZerosLike(s, x[0])), x[1], x[2])
	}),
	"conv2d":   func(s *Scope, a torchArgs, x []*Tensor) []*Tensor { return torchCalls["conv2d"](s, a, append(x, nil)) },
	"mse_loss": torchLoss(MSELoss),
	"detach":   torchUnary(Detach),
}

// namesElements has the ops with results that are indices, programs.NAMING.
var namesElements = map[string]bool{"max": true, "sort": true, "argmax": true, "argmin": true, "topk": true}

// run computes the program's values, each beside what PyTorch has.
func (p *torchProgram) run(t *testing.T, s *Scope) []*Tensor {
	var x []*Tensor
	in := 0
	for k, step := range p.Steps {
		for ; in < len(p.Inputs) && p.Inputs[in].At == k; in++ {
			x = append(x, p.input(s, in))
		}
		call := programCalls[step.Op]
		if call == nil {
			call = torchCalls[step.Op]
		}
		var args []*Tensor
		for _, i := range step.In {
			args = append(args, x[i])
		}
		out := call(s, step.Args, args)
		if len(out) != len(step.Out) || len(x) != step.Out[0] {
			t.Fatalf("step %d, %s: %d results, want %d", k, step.Op, len(out), len(step.Out))
		}
		x = append(x, out...)
		for j, i := range step.Out {
			if !step.Tie || x[i].DType() == Float64 {
				compareProgram(t, fmt.Sprintf("step %d, %s, result %d", k, step.Op, j), x[i], p.Values[i])
			}
		}
	}
	return x
}

func (p *torchProgram) input(s *Scope, i int) *Tensor {
	in := p.Inputs[i]
	if in.Whole {
		return FromFloat64s(Int64, in.Data, in.Shape...).To(s)
	}
	x := FromFloat64s(Float64, in.Data, in.Shape...).To(s)
	if in.Grad {
		x.RequireGrad()
	}
	return x
}

// compareProgram allows what sums in another order differ by.
func compareProgram(t *testing.T, what string, got *Tensor, want []float64) {
	t.Helper()
	v := got.Float64s()
	if len(v) != len(want) {
		t.Errorf("%s: %d elements, want %d", what, len(v), len(want))
		return
	}
	largest := 1.0
	for _, w := range want {
		largest = max(largest, math.Abs(w))
	}
	for i := range v {
		if !(math.Abs(v[i]-want[i]) <= 1e-10*largest) {
			t.Errorf("%s: element %d is %v, torch has %v", what, i, v[i], want[i])
			return
		}
	}
}

// differentiate does the program's passes and compares gradients.
func (p *torchProgram) differentiate(t *testing.T, s *Scope, x []*Tensor) {
	for k, pass := range p.Passes {
		what := fmt.Sprintf("pass %d, %s", k, pass.Kind)
		y := x[pass.Of]
		dy := GradOutputs(Reshape(s, FromFloat64s(Float64, pass.DY, len(pass.DY)).To(s), y.Shape()...))
		if pass.Kind == "backward" {
			y.Backward(dy, RetainGraph())
			continue
		}
		g := Grad(s, []*Tensor{y}, []*Tensor{x[pass.By]}, dy, RetainGraph(), CreateGraph())[0]
		if pass.Kind == "grad" {
			compareProgram(t, what, g, pass.Want)
			continue
		}
		z := Sum(s, Square(s, g))
		compareProgram(t, what, z, pass.Want)
		z.Backward(RetainGraph())
	}
	for _, g := range p.Grads {
		got := x[g.Of].Grad()
		if got == nil && !slices.ContainsFunc(g.Want, func(v float64) bool { return v != 0 }) {
			continue // where PyTorch writes zeros, the second derivative of relu for one, there need be nothing
		}
		if got == nil || g.Want == nil {
			t.Errorf("gradient of %d: %v, torch has %v", g.Of, got, g.Want)
		} else {
			compareProgram(t, fmt.Sprintf("gradient of %d", g.Of), got, g.Want)
		}
	}
}

// TestTorchPrograms runs programs that were drawn at random as PyTorch does.
func TestTorchPrograms(t *testing.T) {
	var file struct{ Cases []*torchProgram }
	readTorch(t, "testdata/torch/programs.json.gz", &file)
	used, indices, ties := map[string]int{}, 0, 0
	for _, p := range file.Cases {
		t.Run(fmt.Sprint(p.Seed), func(t *testing.T) {
			defer func() {
				if r := recover(); r != nil {
					t.Errorf("%v\n%s", r, debug.Stack())
				}
			}()
			s := NewScope()
			defer s.Close()
			p.differentiate(t, s, p.run(t, s))
		})
		for _, step := range p.Steps {
			used[step.Op]++
			if namesElements[step.Op] {
				indices++
			}
			if step.Tie {
				ties++
			}
		}
	}
	if len(file.Cases) < 100 || len(used) < 60 {
		t.Errorf("%d programs of the ops %v", len(file.Cases), slices.Sorted(maps.Keys(used)))
	}
	if ties == 0 || ties > indices/2 {
		t.Errorf("%d of %d results that are indices have ties: the others alone are compared", ties, indices)
	}
}
