package session_test

import (
	"crypto/sha256"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/amp/nn"
	"github.com/halftone-ml/halftone/amp/optim"
	"github.com/halftone-ml/halftone/kernelext/session"
)

func init() {
	// level trains under an O-level: the float32 weights are the masters, and the session's.
	cells["level"] = func(args []string) {
		n, _ := strconv.Atoi(args[1])
		root := session.NewScope(amp.Seed(2))
		defer root.Close()
		net := session.Model("net", func(s *amp.Scope) *nn.Sequential {
			return nn.NewSequential(nn.NewLinear(s, 100, 100), nn.NewBatchNorm1d(s, 100), nn.ReLU, nn.NewLinear(s, 100, 1))
		})
		opt := session.Optimizer("opt", func() *optim.SGD { return optim.NewSGD(net.Parameters(), optim.LR(0.01), optim.Momentum(0.9)) })
		m, o := amp.Initialize(net, opt, map[string]amp.OLevel{"O1": amp.O1, "O2": amp.O2, "O3": amp.O3}[args[0]])
		session.Schedule("level", o)
		for s := range root.Steps(n) {
			x := amp.Randn(s, amp.Float32, 0, 1, 8, 100)
			loss := amp.Mean(s, amp.Square(s, m.Forward(s, x)))
			o.ZeroGrad()
			o.ScaleLoss(s, loss, func(scaled *amp.Tensor) { scaled.Backward() })
			o.Step()
		}
		h := sha256.New()
		for _, t := range append(o.Parameters(), net.Buffers()...) {
			_ = amp.WriteRaw(h, t)
		}
		for _, t := range opt.Parameters() {
			fmt.Fprint(h, t.DType())
		}
		fmt.Fprintln(h, o.State(), opt.Steps())
		fmt.Printf("%d %x\n", opt.Steps(), h.Sum(nil)[:8])
	}
	// amid makes things within a step, between two changes.
	cells["amid"] = func(args []string) {
		root := session.NewScope(amp.Seed(2))
		defer root.Close()
		net := session.Model("net", mlp(nn.ReLU, 150, 100, 100))
		opt := session.Optimizer("opt", func() *optim.Adam { return optim.NewAdam(net.Parameters()) })
		one := func(i int) {
			for k, p := range net.Parameters() {
				p.SetGrad(amp.Like(p))
				if k == i {
					amp.SetValues(p.Grad(), make([]float32, p.Len()))
				}
			}
			opt.Step()
		}
		steps := session.Value("steps", 0)
		for s := range root.Steps(3) {
			one(0)
			v := session.Value(fmt.Sprint("v", *steps), *steps)
			t := session.Tensor(fmt.Sprint("t", *steps), func(s *amp.Scope) *amp.Tensor { return amp.Full(s, amp.Float32, float64(*steps), 100, 100) })
			*v += 100
			amp.AddInPlace(s.NoGrad(), t, amp.Scalar(float32(1)))
			one(1)
			*steps++
			if len(args) > 0 && s.Step() == 2 {
				session.Value("late", 1)
				os.Exit(0)
			}
		}
		fmt.Println(*steps, opt.Steps(), *session.Value("v1", 0), session.Tensor("t1", nil).Float64s()[7], len(session.List()))
	}
}

// TestLevels: masters live in the session, also those of small tensors; a cast that gives the session's memory up is refused.
func TestLevels(t *testing.T) {
	for _, level := range []string{"O1", "O2"} {
		whole, parts := newNotebook(t), newNotebook(t)
		want := whole.run("level", level, 9)
		parts.run("level", level, 4)
		parts.run("level", level, 1)
		if got := parts.run("level", level, 4); got != want {
			t.Errorf("%s: %s in cells, %s at once", level, got, want)
		}
	}
	n := newNotebook(t)
	_, errs, err := n.try("level", "O3", 2)
	if err == nil || !strings.Contains(errs, "its memory was given up") {
		t.Errorf("O3: %v %s", err, errs)
	}
}

// TestAmidAStep: what is made within a step is kept with it, or not at all.
func TestAmidAStep(t *testing.T) {
	n := newNotebook(t)
	if got := n.run("amid"); got != "3 6 101 2 10\n" {
		t.Errorf("%q", got)
	}
	_, _, _ = n.try("amid", "exit")
	out, _, err := n.try("amid")
	if err != nil || !strings.HasPrefix(out, "8 16 101 ") || !strings.HasSuffix(out, " 2 21\n") && !strings.HasSuffix(out, " 2 20\n") && !strings.HasSuffix(out, " 2 19\n") {
		t.Errorf("%q %v", out, err)
	}
}
