package amp

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
)

// ctcByPaths adds up the probability of every path, for one item: the definition.
func ctcByPaths(logp [][]float64, target []int64, blank int64) float64 {
	total := 0.0
	path := make([]int64, len(logp))
	var walk func(t int, p float64)
	walk = func(t int, p float64) {
		if t == len(logp) {
			if slices.Equal(collapse(path, blank), target) {
				total += math.Exp(p)
			}
			return
		}
		for c, v := range logp[t] {
			path[t] = int64(c)
			walk(t+1, p+v)
		}
	}
	walk(0, 0)
	return -math.Log(total)
}

// collapse takes out repetitions, then blanks.
func collapse(path []int64, blank int64) []int64 {
	var out []int64
	for i, c := range path {
		if c != blank && (i == 0 || path[i-1] != c) {
			out = append(out, c)
		}
	}
	return out
}

// TestCTCLossIsTheSumOfPaths compares with the definition, in both layouts of the targets and with every blank.
func TestCTCLossIsTheSumOfPaths(t *testing.T) {
	s := NewScope(Seed(3))
	defer s.Close()
	const steps, n, classes, room = 5, 4, 3, 3
	inputs, sizes := []int64{5, 4, 5, 0}, []int64{2, 0, 3, 0}
	for blank := range int64(classes) {
		a, b := (blank+1)%classes, (blank+2)%classes
		labels := [][]int64{{a, a}, {}, {a, b, a}, {}}
		logp := LogSoftmax(s, Randn(s, Float64, 0, 2, steps, n, classes), -1)
		padded, list := make([]int64, n*room), []int64(nil)
		var want []float64
		for i, l := range labels {
			copy(padded[i*room:], l)
			for j := len(l); j < room; j++ {
				padded[i*room+j] = 77 // does not count
			}
			list = append(list, l...)
			var rows [][]float64
			for step := range int(inputs[i]) {
				rows = append(rows, Narrow(s, Narrow(s, logp, 0, step, 1), 1, i, 1).Float64s())
			}
			want = append(want, ctcByPaths(rows, l, blank))
		}
		mean := (want[0]/2 + want[1] + want[2]/3 + want[3]) / n
		for name, targets := range map[string]*Tensor{"rows": From(padded, n, room), "list": From(list)} {
			call := func(o ...LossOption) *Tensor {
				return CTCLoss(s, logp, targets, From(inputs), From(sizes), append(o, CTCBlank(int(blank)))...)
			}
			what := fmt.Sprintf("%s, blank %d", name, blank)
			wantValues(t, what, call(ReduceNone), want...)
			wantValues(t, what+", sum", call(ReduceSum), want[0]+want[1]+want[2]+want[3])
			wantValues(t, what+", mean", call(), mean)
		}
	}
}

// TestCTCLossWithoutPath: a target that needs more steps than there are has an infinite loss and a gradient of NaN, 0 with ZeroInfinity; steps
// that do not count have none.
func TestCTCLossWithoutPath(t *testing.T) {
	s := NewScope(Seed(4))
	defer s.Close()
	for _, dt := range []DType{Float16, BFloat16, Float32, Float64} {
		for _, zero := range []bool{false, true} {
			x := To(s, LogSoftmax(s, Randn(s, Float64, 0, 1, 3, 2, 4), -1), dt)
			x = FromFloat64s(dt, x.Float64s(), 3, 2, 4).RequireGrad()
			o := []LossOption{ReduceNone}
			if zero {
				o = append(o, ZeroInfinity())
			}
			y := CTCLoss(s, x, From([]int64{1, 1, 3, 2}, 2, 2), From([]int64{2, 3}), From([]int64{2, 2}), o...)
			if v := y.Float64s(); zero && v[0] != 0 || !zero && !math.IsInf(v[0], 1) || !(v[1] > 0 && v[1] < 20) || y.dt != dt {
				t.Errorf("%v, zero %t: %v %v", dt, zero, y.dt, v)
			}
			Sum(s, y).Backward()
			for i, g := range x.Grad().Float64s() {
				step, item := i/8, i/4%2
				switch {
				case item == 0 && step < 2 && !zero:
					if g == g {
						t.Errorf("%v: gradient %d is %v, want NaN", dt, i, g)
					}
				case item == 0:
					if g != 0 {
						t.Errorf("%v, zero %t: gradient %d is %v, want 0", dt, zero, i, g)
					}
				case !(math.Abs(g) > 0 && math.Abs(g) < 1):
					t.Errorf("%v: gradient %d is %v", dt, i, g)
				}
			}
		}
	}
}

// TestCTCLossLong: thousands of steps and more states than a GPU's block has threads keep their digits: uniform classes, whose paths are
// counted by binomials: a target of S labels without two equal neighbors has C(T+S, 2S) paths over T steps.
func TestCTCLossLong(t *testing.T) {
	s := NewScope()
	defer s.Close()
	const steps, size, classes = 1500, 300, 5
	logp := Full(s, Float32, -math.Log(classes), steps, 1, classes)
	target := make([]int64, size)
	for i := range target {
		target[i] = int64(1 + i%4)
	}
	lg := func(v int) float64 { g, _ := math.Lgamma(float64(v + 1)); return g }
	want := -steps*float64(float32(-math.Log(classes))) - (lg(steps+size) - lg(2*size) - lg(steps-size))
	x := FromFloat64s(Float32, logp.Float64s(), steps, 1, classes).RequireGrad()
	y := CTCLoss(s, x, From(target, 1, size), From([]int64{steps}), From([]int64{size}), ReduceSum)
	if got := y.Item(); !(math.Abs(got-want) <= 1e-7*want) {
		t.Errorf("loss %v, want %v", got, want)
	}
	y.Backward()
	for step := range steps { // e^logp adds up to 1, and so do the shares
		sum := 0.0
		for _, g := range Narrow(s, x.Grad(), 0, step, 1).Float64s() {
			sum += g
		}
		if !(math.Abs(sum) < 1e-6) {
			t.Fatalf("step %d: gradients add up to %v", step, sum)
		}
	}
}

// TestCTCLossThirdDerivative: there is none, and the error says so.
func TestCTCLossThirdDerivative(t *testing.T) {
	s := NewScope(Seed(5))
	defer s.Close()
	x := Rand(s, Float64, -2, 0, 3, 1, 3)
	x = FromFloat64s(Float64, x.Float64s(), 3, 1, 3).RequireGrad()
	y := CTCLoss(s, x, From([]int64{1}), From([]int64{3}), From([]int64{1}))
	for range 2 {
		g := Grad(s, []*Tensor{y}, []*Tensor{x}, CreateGraph())[0]
		y = Sum(s, Mul(s, g, g))
	}
	if err := Maybe(func() { Grad(s, []*Tensor{y}, []*Tensor{x}) }); !errors.Is(err, ErrGrad) || !strings.Contains(err.Error(), "third derivative") {
		t.Errorf("%v", err)
	}
}

func TestCTCLossRefusals(t *testing.T) {
	s := NewScope()
	defer s.Close()
	x := Zeros(s, Float32, 4, 2, 3)
	one := func(v ...int64) *Tensor { return From(v) }
	rows, full, sizes := From([]int64{1, 2, 1, 2}, 2, 2), one(4, 4), one(2, 2)
	for name, c := range map[string]struct {
		kind error
		say  string
		f    func()
	}{
		"input too long":    {ErrArgument, "input length 1 is 5", func() { CTCLoss(s, x, rows, one(4, 5), sizes) }},
		"input negative":    {ErrArgument, "input length 0 is -1", func() { CTCLoss(s, x, rows, one(-1, 4), sizes) }},
		"target too long":   {ErrArgument, "target length 1 is 3", func() { CTCLoss(s, x, rows, full, one(2, 3)) }},
		"target negative":   {ErrArgument, "target length 0 is -2", func() { CTCLoss(s, x, rows, full, one(-2, 2)) }},
		"lists too long":    {ErrArgument, "target length 1 is 3", func() { CTCLoss(s, x, one(1, 2, 1), full, one(1, 3)) }},
		"lists too short":   {ErrArgument, "the sum of all 2 target lengths is 2", func() { CTCLoss(s, x, one(1, 2, 1), full, one(1, 1)) }},
		"blank in a target": {ErrArgument, "target 2 is 0", func() { CTCLoss(s, x, From([]int64{1, 2, 0, 2}, 2, 2), full, sizes) }},
		"another blank":     {ErrArgument, "but for the blank, 2", func() { CTCLoss(s, x, rows, full, sizes, CTCBlank(2)) }},
		"target too large":  {ErrArgument, "target 3 is 3", func() { CTCLoss(s, x, From([]int64{1, 2, 1, 3}, 2, 2), full, sizes) }},
		"target below 0":    {ErrArgument, "target 0 is -1", func() { CTCLoss(s, x, one(-1, 1), full, one(1, 1)) }},
		"blank":             {ErrArgument, "blank 3", func() { CTCLoss(s, x, rows, full, sizes, CTCBlank(3)) }},
		"float targets":     {ErrDType, "int64", func() { CTCLoss(s, x, From([]float32{1, 2}), full, sizes) }},
		"integers":          {ErrDType, "ctc_loss: dtype mismatch: logp int64 [4 2 3]", func() { CTCLoss(s, Zeros(s, Int64, 4, 2, 3), rows, full, sizes) }},
		"no steps":          {ErrShape, "not empty", func() { CTCLoss(s, Zeros(s, Float32, 0, 2, 3), rows, full, sizes) }},
		"one dimension":     {ErrShape, "[steps n classes]", func() { CTCLoss(s, Zeros(s, Float32, 3), rows, full, sizes) }},
		"lengths":           {ErrShape, "lengths of [2]", func() { CTCLoss(s, x, rows, one(4), sizes) }},
		"rows":              {ErrShape, "targets of [2 S]", func() { CTCLoss(s, x, From([]int64{1, 2}, 1, 2), full, sizes) }},
		"no weight":         {ErrArgument, "ctc_loss has no weight", func() { CTCLoss(s, x, rows, full, sizes, LossWeight(x)) }},
		"no blank":          {ErrArgument, "nll_loss has no blank", func() { NLLLoss(s, Zeros(s, Float32, 1, 3), one(1), CTCBlank(1)) }},
		"no lengths":        {ErrArgument, "target lengths is nil", func() { CTCLoss(s, x, rows, full, nil) }},
	} {
		if err := Maybe(settled(s, c.f)); !errors.Is(err, c.kind) || !strings.Contains(err.Error(), c.say) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestCTCLossUnderAutocast: on the CPU lists it is float32, on the CUDA lists it is not named and log_softmax has made its input float32.
func TestCTCLossUnderAutocast(t *testing.T) {
	s := NewScope()
	defer s.Close()
	x := Zeros(s, Float16, 4, 1, 3)
	loss := func(s *Scope, logp *Tensor) DType {
		return CTCLoss(s, logp, From([]int64{1}), From([]int64{4}), From([]int64{1})).DType()
	}
	half, cpu := s.Autocast(Float16), s.Autocast(BFloat16, UseLists(CPULists))
	if dt := loss(half, LogSoftmax(half, x, -1)); dt != Float32 {
		t.Errorf("of log_softmax: %v", dt)
	}
	if dt := loss(half, x); dt != Float16 {
		t.Errorf("of halves: %v", dt)
	}
	if dt := loss(cpu, x); dt != Float32 {
		t.Errorf("on the CPU lists: %v", dt)
	}
}

// TestCTCLossForced: in a dtype that autocast is told to use, the paths forward and backward see the same rounded numbers, and shares add up to 1.
func TestCTCLossForced(t *testing.T) {
	s := NewScope(Seed(8))
	defer s.Close()
	const steps, classes = 300, 20
	v := LogSoftmax(s, Randn(s, Float32, 0, 3, steps, 1, classes), -1).Float64s()
	slope := func(s *Scope, x *Tensor) []float64 {
		CTCLoss(s, x, From([]int64{1, 2, 3, 3}), From([]int64{steps}), From([]int64{4}), ReduceSum).Backward()
		return x.Grad().Float64s()
	}
	x := FromFloat64s(Float32, v, steps, 1, classes).RequireGrad()
	rounded := FromFloat64s(Float16, v, steps, 1, classes).RequireGrad()
	wantValues(t, "gradient", FromFloat64s(Float64, slope(s.Autocast(Float16, Force("ctc_loss", Lower)), x), x.Len()), slope(s, rounded)...)
}

// TestCTCLossLengths: of lengths only their number counts, as in PyTorch.
func TestCTCLossLengths(t *testing.T) {
	s := NewScope(Seed(9))
	defer s.Close()
	logp := LogSoftmax(s, Randn(s, Float64, 0, 1, 4, 2, 3), -1)
	targets, inputs, sizes := From([]int64{1, 2, 2}), []int64{4, 3}, []int64{2, 1}
	want := CTCLoss(s, logp, targets, From(inputs), From(sizes)).Item()
	wantValues(t, "columns", CTCLoss(s, logp, targets, From(inputs, 2, 1), From(sizes, 1, 2)), want)
	first := Narrow(s, logp, 1, 0, 1)
	want = CTCLoss(s, first, From([]int64{1, 2}), From(inputs[:1]), From(sizes[:1])).Item()
	for name, x := range map[string]*Tensor{"one item": first, "no items": Squeeze(s, first, 1)} {
		for _, a := range []*Tensor{Scalar[int64](4), From(inputs[:1])} {
			for _, b := range []*Tensor{Scalar[int64](2), From(sizes[:1])} {
				wantValues(t, name, CTCLoss(s, x, From([]int64{1, 2}), a, b), want)
			}
		}
	}
}

// TestThreadsDoNotChangeCTCLoss: items and steps are shared out by shape.
func TestThreadsDoNotChangeCTCLoss(t *testing.T) {
	sameOnAnyThreads(t, func() string {
		s := NewScope(Seed(6))
		defer s.Close()
		x := Randn(s, Float32, 0, 1, 60, 5, 700).RequireGrad()
		targets := make([]int64, 50)
		for i := range targets {
			targets[i] = int64(1 + i*i%13)
		}
		y := CTCLoss(s, LogSoftmax(s, x, -1), From(targets, 5, 10), From([]int64{60, 50, 40, 30, 20}), From([]int64{10, 9, 8, 7, 6}))
		y.Backward()
		return fmt.Sprintf("%x", sha256.Sum256(fmt.Append(nil, y.Item(), x.Grad().Float64s())))
	})
}
