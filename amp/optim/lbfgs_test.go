package optim_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/amp/optim"
)

// lbfgsCase is a case of testdata/torch_lbfgs.json, which testdata/generate_lbfgs.py made with torch.optim.LBFGS.
type lbfgsCase struct {
	Name, DType                             string
	Steps, Iterations, Evaluations, History int
	Start                                   []json.RawMessage
	Data                                    [][][]float64
	First, Losses                           []float64 // what steps returned, and what every evaluation gave
	Ends                                    [][][]float64
}

var lbfgsOptions = map[string]func(p []*amp.Tensor) *optim.LBFGS{
	"rosenbrock": func(p []*amp.Tensor) *optim.LBFGS { return optim.NewLBFGS(p, optim.LR(0.02), optim.MaxIter(6)) },
	"rosenbrock wolfe": func(p []*amp.Tensor) *optim.LBFGS {
		return optim.NewLBFGS(p, optim.MaxIter(8), optim.MaxEval(14), optim.HistorySize(3), optim.StrongWolfe())
	},
	"rosenbrock short": func(p []*amp.Tensor) *optim.LBFGS {
		return optim.NewLBFGS(p, optim.MaxIter(9), optim.MaxEval(3), optim.StrongWolfe())
	},
	"network": func(p []*amp.Tensor) *optim.LBFGS {
		return optim.NewLBFGS(p, optim.LR(0.5), optim.MaxIter(5), optim.HistorySize(2))
	},
	"network wolfe": func(p []*amp.Tensor) *optim.LBFGS { return optim.NewLBFGS(p, optim.MaxIter(4), optim.StrongWolfe()) },
	"network tolerant": func(p []*amp.Tensor) *optim.LBFGS {
		return optim.NewLBFGS(p, optim.LR(0.5), optim.ToleranceChange(1e-2))
	},
	"network flat": func(p []*amp.Tensor) *optim.LBFGS {
		return optim.NewLBFGS(p, optim.ToleranceGrad(0.3), optim.StrongWolfe())
	},
}

// build makes the case's parameters and the function of them.
func (c *lbfgsCase) build(t *testing.T) ([]*amp.Tensor, func(s *amp.Scope) *amp.Tensor) {
	t.Helper()
	dt, err := amp.ParseDType(c.DType)
	if err != nil {
		t.Fatal(err)
	}
	var leaves []*amp.Tensor
	for i, raw := range c.Start {
		var matrix [][]float64
		var line []float64
		var shape []int
		if json.Unmarshal(raw, &matrix) == nil {
			shape = []int{len(matrix), len(matrix[0])}
			for _, row := range matrix {
				line = append(line, row...)
			}
		} else if err := json.Unmarshal(raw, &line); err != nil {
			t.Fatal(err)
		} else {
			shape = []int{len(line)}
		}
		leaves = append(leaves, amp.FromFloat64s(dt, line, shape...).RequireGrad().SetName(fmt.Sprint("p", i)))
	}
	if len(c.Data) == 0 {
		return leaves, func(s *amp.Scope) *amp.Tensor {
			x := leaves[0]
			left, right := amp.Narrow(s, x, 0, 0, 3), amp.Narrow(s, x, 0, 1, 3)
			valley := amp.MulScalar(s, amp.Square(s, amp.Sub(s, right, amp.Square(s, left))), 100)
			return amp.Sum(s, amp.Add(s, valley, amp.Square(s, amp.ScalarSub(s, 1, left))))
		}
	}
	matrix := func(rows [][]float64) *amp.Tensor {
		var line []float64
		for _, row := range rows {
			line = append(line, row...)
		}
		return amp.FromFloat64s(dt, line, len(rows), len(rows[0]))
	}
	x, y := matrix(c.Data[0]), matrix(c.Data[1])
	return leaves, func(s *amp.Scope) *amp.Tensor {
		hidden := amp.Tanh(s, amp.Linear(s, x, leaves[0], leaves[1]))
		return amp.MSELoss(s, amp.Linear(s, hidden, leaves[2], nil), y)
	}
}

func close64(got, want, tolerance float64) bool {
	return math.Abs(got-want) <= tolerance*max(1, math.Abs(want))
}

// TestTorchLBFGS compares every evaluation of several steps, where each of them ends, and the counts with torch's.
func TestTorchLBFGS(t *testing.T) {
	var cases []lbfgsCase
	readVectors(t, "torch_lbfgs.json", &cases)
	if len(cases) != 2*len(lbfgsOptions) {
		t.Fatalf("%d cases", len(cases))
	}
	for _, c := range cases {
		s := amp.NewScope()
		leaves, f := c.build(t)
		o := lbfgsOptions[c.Name](leaves)
		tolerance := map[string]float64{"float64": 1e-9, "float32": 2e-4}[c.DType]
		var losses []float64
		for step := range s.Steps(c.Steps) {
			first := o.Step(step, func(s *amp.Scope) *amp.Tensor {
				o.ZeroGrad()
				loss := f(s)
				loss.Backward()
				losses = append(losses, loss.Item())
				return loss
			})
			if want := c.First[step.Step()]; !close64(first, want, tolerance) {
				t.Errorf("%s %s: step %d began at %v, torch's at %v", c.Name, c.DType, step.Step(), first, want)
			}
			for i, p := range leaves {
				for j, v := range p.Float64s() {
					if want := c.Ends[step.Step()][i][j]; !close64(v, want, tolerance) {
						t.Errorf("%s %s: after step %d p%d[%d] is %v, torch's %v", c.Name, c.DType, step.Step(), i, j, v, want)
					}
				}
			}
		}
		if len(losses) != len(c.Losses) || o.Iterations() != c.Iterations || o.Evaluations() != c.Evaluations {
			t.Errorf("%s %s: %d losses, %d iterations, %d evaluations; torch's %d, %d, %d", c.Name, c.DType, len(losses), o.Iterations(), o.Evaluations(), len(c.Losses), c.Iterations, c.Evaluations)
			continue
		}
		for i, v := range losses {
			if !close64(v, c.Losses[i], tolerance) {
				t.Errorf("%s %s: evaluation %d gave %v, torch's %v", c.Name, c.DType, i, v, c.Losses[i])
			}
		}
		if len(o.State().Tensors) != 2+2*c.History {
			t.Errorf("%s %s: state of %d vectors, torch remembers %d steps", c.Name, c.DType, len(o.State().Tensors), c.History)
		}
		s.Close()
	}
}

// bowl is a problem that takes many steps, in a scope of the tests' device.
func bowl(s *amp.Scope) (p []*amp.Tensor, f func(o *optim.LBFGS) func(s *amp.Scope) *amp.Tensor) {
	w := amp.Arange(s, amp.Float32, -2, 4, 1).SetName("w").RequireGrad()
	b := amp.Full(s, amp.Float32, 0.5, 2, 3).SetName("b").RequireGrad()
	return []*amp.Tensor{w, b}, func(o *optim.LBFGS) func(s *amp.Scope) *amp.Tensor {
		return func(s *amp.Scope) *amp.Tensor {
			o.ZeroGrad()
			x := amp.Add(s, amp.Reshape(s, w, 2, 3), amp.Sin(s, b))
			loss := amp.Sum(s, amp.Add(s, amp.Square(s, amp.Square(s, x)), amp.Square(s, b)))
			loss.Backward()
			return loss
		}
	}
}

// TestLBFGSResumes: what a state holds is enough to go on with the same bits, also through JSON.
func TestLBFGSResumes(t *testing.T) {
	for _, opts := range [][]optim.Option{{optim.StrongWolfe(), optim.MaxIter(3), optim.MaxEval(30), optim.HistorySize(4)}, {optim.MaxIter(3), optim.MaxEval(30), optim.HistorySize(4)}} {
		root := amp.NewScope()
		p, f := bowl(root)
		o := optim.NewLBFGS(p, append([]optim.Option{optim.LR(0.1)}, opts...)...)
		o.Step(root, f(o))
		o.Step(root, f(o))
		text, err := json.Marshal(o.State())
		if err != nil {
			t.Fatal(err)
		}
		st := &optim.State{}
		if err := json.Unmarshal(text, st); err != nil {
			t.Fatal(err)
		}
		st.Tensors = o.State().Tensors
		q, g := bowl(root)
		for i := range q {
			amp.Assign(q[i], p[i])
		}
		other := optim.NewLBFGS(q, opts...)
		if err := other.LoadState(st); err != nil {
			t.Fatal(err)
		}
		for range 3 {
			a, b := o.Step(root, f(o)), other.Step(root, g(other))
			if a != b {
				t.Errorf("%v, resumed %v", a, b)
			}
		}
		if o.String() != other.String() || o.Iterations() <= 6 {
			t.Errorf("%v, resumed %v", o, other)
		}
		root.Close()
	}
}

// TestLBFGSRefusesStates: one that does not fit changes nothing.
func TestLBFGSRefusesStates(t *testing.T) {
	root := amp.NewScope()
	defer root.Close()
	p, f := bowl(root)
	o := optim.NewLBFGS(p, optim.LR(0.1), optim.MaxIter(3), optim.MaxEval(9))
	o.Step(root, f(o))
	before := o.String()
	for want, spoil := range map[string]func(st *optim.State){
		"saved by \"SGD\"":           func(st *optim.State) { st.Kind = "SGD" },
		"strong_wolfe is true":       func(st *optim.State) { st.Groups[0].Flags["strong_wolfe"] = true },
		"parameter 1 is \"c\"":       func(st *optim.State) { st.Groups[0].Params[1].Name = "c" },
		"maximize is true in it":     func(st *optim.State) { st.Groups[0].Flags["maximize"] = true },
		"its t is missing":           func(st *optim.State) { delete(st.Groups[0].Numbers, "t") },
		"its n_iter is no count":     func(st *optim.State) { st.Groups[0].Numbers["n_iter"] = 1.5 },
		"setting of it is out of":    func(st *optim.State) { st.Groups[0].Numbers["history_size"] = 0 },
		"its 0.d is no vector of 12": func(st *optim.State) { st.Tensors["0.d"] = amp.From([]float32{1}) },
		"step 1 of its history":      func(st *optim.State) { delete(st.Groups[0].Numbers, "ro.1") },
		"vectors are not those of 3": func(st *optim.State) { delete(st.Tensors, "0.d") },
		"it remembers 2 steps of 1":  func(st *optim.State) { st.Groups[0].Numbers["history_size"] = 1 },
		"its 0.d has been freed":     func(st *optim.State) { st.Tensors["0.d"].Free() },
		"is not of one group of 2":   func(st *optim.State) { st.Groups[0].Params = st.Groups[0].Params[:1] },
	} {
		st := o.State()
		spoil(st)
		if err := o.LoadState(st); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	if err := o.LoadState(nil); err == nil {
		t.Error("no state was taken")
	}
	if o.String() != before {
		t.Errorf("%v, before %v", o, before)
	}
}

// TestLBFGSSteady: with a full history, steps take no buffer from the system, and leave none in their scope.
func TestLBFGSSteady(t *testing.T) {
	root := amp.NewScope()
	defer root.Close()
	p, f := bowl(root)
	o := optim.NewLBFGS(p, optim.LR(0.01), optim.MaxIter(4), optim.HistorySize(3))
	device := p[0].Device()
	var buffers, bytes int64
	for s := range root.Steps(9) {
		m := amp.MemStats()[device]
		if s.Step() == 4 {
			buffers, bytes = m.NewBuffers, m.Bytes
		}
		if s.Step() > 4 && (m.NewBuffers != buffers || m.Bytes != bytes) {
			t.Errorf("step %d: %d buffers and %d bytes more", s.Step(), m.NewBuffers-buffers, m.Bytes-bytes)
		}
		o.Step(s, f(o))
	}
}

// TestLBFGSUnderAutocast: the closure runs as the caller's scope says, the vectors in float32.
func TestLBFGSUnderAutocast(t *testing.T) {
	root := amp.NewScope(amp.Record(amp.Decisions))
	defer root.Close()
	w := amp.Full(root, amp.Float32, 0.3, 4, 4).SetName("w").RequireGrad()
	o := optim.NewLBFGS([]*amp.Tensor{w}, optim.StrongWolfe(), optim.MaxIter(5))
	x := amp.Ones(root, amp.Float32, 2, 4)
	ran := amp.NoDType
	step := func() float64 {
		return o.Step(root.NoGrad().Autocast(amp.BFloat16), func(s *amp.Scope) *amp.Tensor {
			o.ZeroGrad()
			y := amp.MatMul(s, x, w)
			ran = y.DType()
			loss := amp.MSELoss(s, y, amp.Zeros(s, amp.Float32, 2, 4))
			loss.Backward()
			return loss
		})
	}
	first := step()
	if last := step(); !(last < first/100) || ran != amp.BFloat16 {
		t.Errorf("from %v to %v in %v", first, last, ran)
	}
	for _, e := range root.Trace().Events {
		if e.Op == "dot" && e.Compute != amp.Float32 {
			t.Errorf("a product of vectors ran in %v", e.Compute)
		}
	}
}

// TestLBFGSMisuse: mistakes are named.
func TestLBFGSMisuse(t *testing.T) {
	s := amp.NewScope()
	defer s.Close()
	w := amp.Ones(s, amp.Float32, 2).SetName("w").RequireGrad()
	one := []*amp.Tensor{w}
	o := optim.NewLBFGS(one)
	for want, f := range map[string]func(){
		"no parameters":                      func() { optim.NewLBFGS(nil) },
		"no parameter wants a":               func() { optim.NewLBFGS([]*amp.Tensor{amp.Ones(s, amp.Float32, 2)}) },
		"parameter 1 (y) is no leaf":         func() { optim.NewLBFGS([]*amp.Tensor{w, amp.Square(s, w).SetName("y")}) },
		"parameter 0 is float16":             func() { optim.NewLBFGS([]*amp.Tensor{amp.Ones(s, amp.Float16, 2).RequireGrad()}) },
		"parameter 1 is float64":             func() { optim.NewLBFGS([]*amp.Tensor{w, amp.Ones(s, amp.Float64, 2).RequireGrad()}) },
		"lr is -1":                           func() { optim.NewLBFGS(one, optim.LR(-1)) },
		"MaxIter 0":                          func() { optim.NewLBFGS(one, optim.MaxIter(0)) },
		"MaxEval -1":                         func() { optim.NewLBFGS(one, optim.MaxEval(-1)) },
		"Momentum is not an option of LBFGS": func() { optim.NewLBFGS(one, optim.Momentum(0.9)) },
		"MaxIter is not an option of SGD":    func() { optim.NewSGD(one, optim.MaxIter(3)) },
		"HistorySize 0":                      func() { optim.NewLBFGS(one, optim.HistorySize(0)) },
		"ToleranceGrad NaN":                  func() { optim.NewLBFGS(one, optim.ToleranceGrad(math.NaN())) },
		"the closure is nil":                 func() { o.Step(s, nil) },
		"the closure returned nil":           func() { o.Step(s, func(s *amp.Scope) *amp.Tensor { return nil }) },
		"the closure left no gradient":       func() { o.Step(s, func(s *amp.Scope) *amp.Tensor { return amp.Sum(s, w) }) },
	} {
		if err := amp.Maybe(f); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// TestLBFGSPanickingClosure: parameters are where the step had them, not at the point that was tried.
func TestLBFGSPanickingClosure(t *testing.T) {
	s := amp.NewScope()
	defer s.Close()
	p, f := bowl(s)
	o := optim.NewLBFGS(p, optim.StrongWolfe())
	want, calls := p[0].Float64s(), 0
	err := amp.Maybe(func() {
		o.Step(s, func(s *amp.Scope) *amp.Tensor {
			if calls++; calls == 2 {
				if slices.Equal(p[0].Float64s(), want) {
					t.Error("the search began where it was")
				}
				amp.Reshape(s, p[0], 5)
			}
			return f(o)(s)
		})
	})
	if !errors.Is(err, amp.ErrShape) || !slices.Equal(p[0].Float64s(), want) {
		t.Errorf("%v; parameters %v, before %v", err, p[0].Float64s(), want)
	}
}

// TestLBFGSFrozen: a frozen parameter stays where it is, and those that train go as without it.
func TestLBFGSFrozen(t *testing.T) {
	s := amp.NewScope()
	defer s.Close()
	run := func(more ...*amp.Tensor) []float64 {
		w := amp.Arange(s, amp.Float32, 1, 4, 1).RequireGrad()
		o := optim.NewLBFGS(append(more, w), optim.LR(0.3), optim.MaxIter(5))
		o.Step(s, func(s *amp.Scope) *amp.Tensor {
			o.ZeroGrad()
			loss := amp.Sum(s, amp.Square(s, amp.Square(s, w)))
			loss.Backward()
			return loss
		})
		return w.Float64s()
	}
	frozen := amp.Full(s, amp.Float32, 5, 2)
	if a, b := run(), run(frozen); !slices.Equal(a, b) || !slices.Equal(frozen.Float64s(), []float64{5, 5}) {
		t.Errorf("%v, beside a frozen parameter %v, which is %v", a, b, frozen.Float64s())
	}
}

// TestLBFGSFrozenLater: a parameter that is frozen after some steps stays where it is, whatever the history says and the gradient that it
// was left with; the others go on.
func TestLBFGSFrozenLater(t *testing.T) {
	for _, opts := range [][]optim.Option{{optim.StrongWolfe(), optim.MaxIter(3)}, {optim.LR(0.1), optim.MaxIter(3)}} {
		root := amp.NewScope()
		p, f := bowl(root)
		o := optim.NewLBFGS(p, opts...)
		loss := f(o)
		o.Step(root, loss)
		p[1].Freeze()
		left := amp.Ones(root, amp.Float32, 2, 3)
		stale := func(s *amp.Scope) *amp.Tensor {
			value := loss(s)
			p[1].SetGrad(left)
			return value
		}
		frozen := p[1].Float64s()
		first := o.Step(root, stale)
		if last := o.Step(root, stale); !slices.Equal(p[1].Float64s(), frozen) || !(last < first) {
			t.Errorf("from %v to %v; frozen %v, after it %v", first, last, frozen, p[1].Float64s())
		}
		root.Close()
	}
}

// TestEmptyLBFGS: what no constructor has made says so by each of its methods, and prints.
func TestEmptyLBFGS(t *testing.T) {
	for _, o := range []*optim.LBFGS{nil, new(optim.LBFGS)} {
		refused(t, o, map[string]func(){
			"Step": func() { o.Step(amp.NewScope(), nil) }, "ZeroGrad": o.ZeroGrad, "State": func() { o.State() }, "LoadState": func() { _ = o.LoadState(nil) },
			"Parameters": func() { o.Parameters() }, "SetLR": func() { o.SetLR(1) }, "LearningRate": func() { o.LearningRate() },
			"Iterations": func() { o.Iterations() }, "Evaluations": func() { o.Evaluations() },
		})
	}
}
