package session_test

import (
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/amp/nn"
	"github.com/halftone-ml/halftone/amp/optim"
	"github.com/halftone-ml/halftone/kernelext/session"
)

// mlp returns the builder of a model with the given widths and activation.
func mlp(act nn.Module, widths ...int) func(s *amp.Scope) *nn.Sequential {
	return func(s *amp.Scope) *nn.Sequential {
		var layers []nn.Module
		for i := range len(widths) - 1 {
			layers = append(layers, nn.NewLinear(s, widths[i], widths[i+1]), act)
		}
		return nn.NewSequential(layers...)
	}
}

// own is a model of a cell's own.
type own struct {
	Fc    *nn.Linear
	Scale float64
	act   func(s *amp.Scope, x *amp.Tensor) *amp.Tensor
}

func (o *own) Forward(s *amp.Scope, x *amp.Tensor) *amp.Tensor {
	return amp.MulScalar(s, o.act(s, o.Fc.Forward(s, x)), o.Scale)
}
func (o *own) Parameters() []*amp.Tensor { return o.Fc.Parameters() }

func ownOf(scale float64) func(s *amp.Scope) *own {
	return func(s *amp.Scope) *own { return &own{nn.NewLinear(s, 3, 3), scale, amp.ReLU} }
}

// say prints the *amp.Error of f, or "ok".
func say(f func()) {
	if err := amp.Maybe(f); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("ok")
}

func first(m amp.Model) float64 { return m.Parameters()[0].Float64s()[0] }

func init() {
	cells["structure"] = func(args []string) {
		root := session.NewScope()
		defer root.Close()
		var opts []session.Option
		if len(args) > 1 {
			opts = append(opts, session.Rebuild())
		}
		switch args[0] {
		case "relu":
			say(func() { session.Model("net", mlp(nn.ReLU, 3, 4, 2), opts...) })
		case "gelu":
			say(func() { session.Model("net", mlp(nn.GELU, 3, 4, 2), opts...) })
		case "wider":
			say(func() { session.Model("net", mlp(nn.ReLU, 3, 5, 2), opts...) })
		case "deeper":
			say(func() { session.Model("net", mlp(nn.ReLU, 3, 4, 2, 2), opts...) })
		case "half":
			say(func() {
				session.Model("net", func(s *amp.Scope) *nn.Sequential {
					return nn.NewSequential(nn.NewLinear(s, 3, 4, nn.DType(amp.Float16)), nn.ReLU, nn.NewLinear(s, 4, 2), nn.ReLU)
				}, opts...)
			})
		case "own1":
			say(func() { session.Model("own", ownOf(1), opts...) })
		case "own2":
			say(func() { session.Model("own", ownOf(2), opts...) })
		case "ownnet":
			say(func() { session.Model("net", ownOf(1), opts...) })
		case "value":
			say(func() { session.Value("net", 1.5, opts...) })
		case "int":
			say(func() { session.Value("v", 1, opts...) })
		case "text":
			say(func() { session.Value("v", "1", opts...) })
		case "stray":
			say(func() {
				net := mlp(nn.ReLU, 3, 4, 2)(root)
				session.Optimizer("stray", func() *optim.SGD { return optim.NewSGD(net.Parameters()) })
			})
		case "opt":
			say(func() {
				net := session.Model("net", mlp(nn.ReLU, 3, 4, 2))
				session.Optimizer("opt", func() *optim.SGD { return optim.NewSGD(net.Parameters(), optim.Momentum(0.9)) }, opts...)
			})
		case "adam":
			say(func() {
				net := session.Model("net", mlp(nn.ReLU, 3, 4, 2))
				session.Optimizer("opt", func() *optim.Adam { return optim.NewAdam(net.Parameters()) }, opts...)
			})
		case "drop":
			session.Drop("net")
			say(func() {})
		}
	}
}

// TestStructure: what was built otherwise is refused with what differs and the choice, and Rebuild takes its place.
func TestStructure(t *testing.T) {
	n := newNotebook(t)
	for _, c := range []struct {
		cell    string
		rebuild bool
		want    string
	}{
		{"relu", false, "ok"},
		{"relu", false, "ok"},
		{"gelu", false, `it was built with "1: github.com/halftone-ml/halftone/amp.ReLU", here "1: github.com/halftone-ml/halftone/amp.GELU"`},
		{"gelu", false, `session.Drop("net")`},
		{"gelu", false, `add session.Rebuild()`},
		{"wider", false, "0.weight is float32 [4 3] in the session, float32 [5 3] here"},
		{"deeper", false, "4.weight float32 [2 2] is new"},
		{"half", false, "0.weight is float32 [4 3] in the session, float16 [4 3] here"},
		{"ownnet", false, "it is *nn.Sequential, here *session_test.own"},
		{"value", false, "it is a model, no value"},
		{"own1", false, "ok"},
		{"own2", false, `it was built with "Scale: 1", here "Scale: 2"`},
		{"int", false, "ok"},
		{"text", false, "it is int, here string"},
		{"text", true, "ok"},
		{"text", false, "ok"},
		{"stray", false, "parameter 0 (0.weight) is not kept in the session"},
		{"opt", false, "ok"},
		{"opt", false, "ok"},
		{"adam", false, "it is *optim.SGD, here *optim.Adam"},
		{"adam", true, "ok"},
		{"relu", true, "ok"},
		{"wider", true, "ok"},
		{"relu", true, "ok"},
		{"adam", false, `it is the state for a "net" that was built anew`},
		{"adam", true, "ok"},
		{"drop", false, "ok"},
		{"gelu", false, "ok"},
	} {
		args := []any{c.cell}
		if c.rebuild {
			args = append(args, "rebuild")
		}
		if out := n.run("structure", args...); !strings.Contains(out, c.want) || c.want == "ok" && out != "ok\n" {
			t.Errorf("%v: %s\nwant %s", args, out, c.want)
		}
	}
}

func init() {
	// endings: one step, then an end of some kind in the next one.
	cells["ending"] = func(args []string) {
		root := session.NewScope()
		defer root.Close()
		v := session.Value("v", 0)
		net := session.Model("net", mlp(nn.ReLU, 200, 200))
		opt := session.Optimizer("opt", func() *optim.SGD { return optim.NewSGD(net.Parameters(), optim.LR(1)) })
		w := net.Parameters()[0]
		fmt.Println(*v, first(net))
		step := func(s *amp.Scope) {
			w.SetGrad(amp.Full(root, amp.Float32, 1, 200, 200))
			opt.Step()
			*v++
		}
		switch args[0] {
		case "panic":
			for s := range root.Steps(2) {
				step(s)
				if s.Step() == 1 {
					panic("in a step")
				}
			}
		case "exit":
			for s := range root.Steps(2) {
				step(s)
				if s.Step() == 1 {
					os.Exit(3)
				}
			}
		case "killed":
			for s := range root.Steps(2) {
				step(s)
				if s.Step() == 1 {
					_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
				}
			}
		case "interrupted":
			for s := range root.Steps(2) {
				step(s)
				if s.Step() == 1 {
					_ = syscall.Kill(os.Getpid(), syscall.SIGINT)
					select {}
				}
			}
		case "break":
			for s := range root.Steps(5) {
				step(s)
				if s.Step() == 1 {
					break
				}
			}
		case "outside": // without steps: closing the root commits
			step(root)
		case "lost": // neither steps nor Close nor Commit
			step(root)
			os.Exit(0)
		case "commit":
			step(root)
			if err := session.Commit(); err != nil {
				panic(err)
			}
			os.Exit(0)
		}
	}
}

// TestEndings: however a cell ends, the next one finds the last committed step, and is told when something was lost.
func TestEndings(t *testing.T) {
	n := newNotebook(t)
	read := func() (v int, w float64) {
		out, _, err := n.try("ending", "none")
		if err != nil {
			t.Fatal(err)
		}
		_, _ = fmt.Sscan(out, &v, &w)
		return v, w
	}
	v0, w0 := read()
	for _, c := range []struct {
		ending string
		steps  int // that are kept
		lost   bool
	}{
		{"break", 2, false}, {"outside", 1, false}, {"commit", 1, false}, {"lost", 0, true},
		{"panic", 1, true}, {"exit", 1, true}, {"killed", 1, true}, {"interrupted", 1, true}, {"none", 0, false},
	} {
		_, _, _ = n.try("ending", c.ending)
		out, said, err := n.try("ending", "none")
		if err != nil {
			t.Fatal(err)
		}
		var v int
		var w float64
		_, _ = fmt.Sscan(out, &v, &w)
		if v != v0+c.steps || math.Abs(w-(w0-float64(c.steps))) > 1e-4 {
			t.Errorf("%s: %d steps are kept and the weight moved by %v, want %d", c.ending, v-v0, w0-w, c.steps)
		}
		if lost := strings.Contains(said, "ended before it committed"); lost != c.lost {
			t.Errorf("%s: it says %q", c.ending, said)
		}
		v0, w0 = v, w
	}
}

func init() {
	cells["values"] = func([]string) {
		root := session.NewScope(amp.Seed(5))
		defer root.Close()
		type record struct {
			Name string
			Loss []float64
			Best map[string]float64
		}
		r := session.Value("record", record{Name: "first"})
		fmt.Println(r.Name, r.Loss, r.Best)
		r.Name += "+"
		r.Loss = append(r.Loss, math.NaN(), math.Inf(1), 0.1)
		if r.Best == nil {
			r.Best = map[string]float64{}
		}
		r.Best["x"]++
		big := session.Tensor("big", func(s *amp.Scope) *amp.Tensor { return amp.Randn(s, amp.Float32, 0, 1, 100, 200) })
		small := session.Tensor("small", func(s *amp.Scope) *amp.Tensor { return amp.Scalar(int64(7)).SetName("seven") })
		w := session.Tensor("w", func(s *amp.Scope) *amp.Tensor { return amp.Full(s, amp.Float64, 2, 3).RequireGrad() })
		amp.AddInPlace(root, big, amp.Scalar(float32(1)))
		amp.AddInPlace(root, small, amp.Scalar(int64(1)))
		fmt.Println(amp.SumOfSquares(big) > 1, small.Item(), small.Name(), w.RequiresGrad(), root.Random().State())
		if t := session.Trace("t"); t != nil {
			fmt.Println("trace", len(t.Events))
		} else {
			rec := amp.NewScope(amp.Record(amp.Decisions))
			amp.ReLU(rec, big)
			amp.ReLU(rec, big)
			session.KeepTrace("t", rec.Trace())
		}
		say(func() { session.Value("bad", func() {}) })
	}
}

func TestValues(t *testing.T) {
	n := newNotebook(t)
	bad := "amp: session.Value: bad argument: func() can't be kept: gob: type not registered for interface: func(); fix: use numbers, strings, slices, maps, or structs with exported fields\n"
	for i, want := range []string{
		"first [] map[]\ntrue 8 seven true {5 10000}\n",
		"first+ [NaN +Inf 0.1] map[x:1]\ntrue 9 seven true {5 10000}\ntrace 2\n",
		"first++ [NaN +Inf 0.1 NaN +Inf 0.1] map[x:2]\ntrue 10 seven true {5 10000}\ntrace 2\n",
	} {
		got := n.run("values")
		if !strings.HasPrefix(got, want) || !strings.Contains(got, "session.Value: bad argument") {
			t.Errorf("cell %d: %q\nwant %q", i, got, want+bad)
		}
	}
}

func init() {
	cells["settings"] = func(args []string) {
		root := session.NewScope()
		defer root.Close()
		var lr float64
		_, _ = fmt.Sscan(args[0], &lr)
		net := session.Model("net", mlp(nn.ReLU, 3, 4, 2))
		opt := session.Optimizer("opt", func() *optim.SGD { return optim.NewSGD(net.Parameters(), optim.LR(lr), optim.Momentum(0.9)) })
		sched := session.Schedule("s", optim.NewLambdaLR(opt, func(epoch int) float64 { return 1 / float64(1+epoch) }))
		fmt.Printf("%.3f ", opt.LearningRate())
		for _, p := range net.Parameters() {
			p.SetGrad(amp.Like(p))
		}
		opt.Step()
		sched.Step()
		fmt.Printf("%.3f %d\n", opt.LearningRate(), opt.Steps())
	}
}

// TestEditedSettings: numbers that were not edited go on, those that were are the new ones.
func TestEditedSettings(t *testing.T) {
	n := newNotebook(t)
	for _, c := range [][2]string{{"0.6", "0.600 0.300 1\n"}, {"0.6", "0.300 0.200 2\n"}, {"0.6", "0.200 0.150 3\n"}, {"6", "6.000 "}} {
		if got, _, err := n.try("settings", c[0]); err != nil || !strings.HasPrefix(got, c[1]) {
			t.Errorf("rate %s: %q %v, want %q", c[0], got, err, c[1])
		}
	}
}

// TestTwoNotebooks: each sees its own.
func TestTwoNotebooks(t *testing.T) {
	a, b := newNotebook(t), newNotebook(t)
	one, two := a.command("train", 30), b.command("train", 12)
	var outA, outB strings.Builder
	one.Stdout, two.Stdout = &outA, &outB
	if err := one.Start(); err != nil {
		t.Fatal(err)
	}
	if err := two.Start(); err != nil {
		t.Fatal(err)
	}
	if err := one.Wait(); err != nil {
		t.Fatal(err)
	}
	if err := two.Wait(); err != nil {
		t.Fatal(err)
	}
	if got := a.run("look"); got != outA.String() || !strings.HasPrefix(got, "30 ") {
		t.Errorf("the first has %s, it had %s", got, &outA)
	}
	if got := b.run("look"); got != outB.String() || !strings.HasPrefix(got, "12 ") {
		t.Errorf("the second has %s, it had %s", got, &outB)
	}
	if slices.Equal([]byte(outA.String()), []byte(outB.String())) {
		t.Error("both are the same")
	}
}
