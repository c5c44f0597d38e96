package session_test

import (
	"crypto/sha256"
	"fmt"
	"math"
	"os"
	"strconv"
	"testing"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/amp/dataset"
	"github.com/halftone-ml/halftone/amp/nn"
	"github.com/halftone-ml/halftone/amp/optim"
	"github.com/halftone-ml/halftone/kernelext/session"
)

// points are samples whose transforms draw random numbers.
type points struct{}

func (points) Len() int { return 37 }
func (points) Spec() dataset.Spec {
	return dataset.Spec{Shape: []int{1, 6, 6}, DType: amp.Float32, Target: nil}
}
func (points) Sample(i int, s *dataset.Sample) error {
	for k := range s.X {
		s.X[k] = float32(math.Sin(float64(i*len(s.X)+k))) + 0.1*float32(s.Rand.Float64())
	}
	s.Y[0] = int64(i % 4)
	return nil
}

// everything is a run with all that has state: batch norm, dropout (the random stream), a momentum, a schedule, a scaler whose scale
// moves, a loader that shuffles, values.
type everything struct {
	root   *amp.Scope
	net    *nn.Sequential
	opt    *optim.Adam
	sched  *optim.Schedule
	scaler *amp.GradScaler
	loader *dataset.Loader
	losses *[]float64
}

// wide makes some tensors too large for records.
var wide = 128

func netOf(s *amp.Scope) *nn.Sequential {
	return nn.NewSequential(
		nn.NewConv2d(s, 1, 8, 3, nn.Padding(1)), nn.NewBatchNorm2d(s, 8), nn.ReLU, nn.Flatten,
		nn.NewLinear(s, 8*36, wide), nn.NewBatchNorm1d(s, wide), nn.ReLU, nn.NewDropout(0.2), nn.NewLinear(s, wide, 4))
}

// device is where the run's tensors are.
var device = "cpu"

func take() *everything {
	e := &everything{}
	e.root = session.NewScope(amp.Seed(3), amp.On(device))
	e.net = session.Model("net", netOf)
	e.opt = session.Optimizer("opt", func() *optim.Adam { return optim.NewAdamW(e.net.Parameters(), optim.LR(0.002)) })
	e.sched = session.Schedule("schedule", optim.NewStepLR(e.opt, 5, 0.8))
	e.scaler = session.Scaler("scaler", amp.InitScale(1<<20), amp.GrowthInterval(7))
	e.loader = session.Loader("train", dataset.NewLoader(points{}, 5, dataset.Shuffle(11)))
	e.losses = session.Value("losses", []float64{})
	return e
}

// step is one training step.
func (e *everything) step(s *amp.Scope) {
	b := e.loader.Next(s)
	b.X, b.Y = b.X.To(s), b.Y.To(s)
	half := s.Autocast(amp.Float16)
	loss := nn.CrossEntropyLoss(half, e.net.Forward(half, b.X), b.Y)
	e.opt.ZeroGrad()
	e.scaler.Scale(s, loss).Backward()
	e.scaler.Step(e.opt)
	e.scaler.Update()
	e.sched.Step()
	*e.losses = append(*e.losses, loss.Item())
}

// sum is a digest of every bit of the run's state.
func (e *everything) sum() string {
	h := sha256.New()
	for _, t := range append(e.net.Parameters(), e.net.Buffers()...) {
		_ = amp.WriteRaw(h, t)
	}
	st := e.opt.LiveState()
	for i := range len(e.opt.Parameters()) {
		for _, name := range []string{"exp_avg", "exp_avg_sq"} {
			if t := st.Tensors[strconv.Itoa(i)+"."+name]; t != nil {
				_ = amp.WriteRaw(h, t)
			}
		}
	}
	fmt.Fprintln(h, st.Steps, st.Groups, *e.scaler.State(), *e.sched.State(), e.loader.State(), e.root.Random().State(), *e.losses)
	return fmt.Sprintf("%d %x", len(*e.losses), h.Sum(nil)[:8])
}

func init() {
	// train N: N steps in a loop of Steps.
	cells["train"] = func(args []string) {
		e := take()
		defer e.root.Close()
		n, _ := strconv.Atoi(args[0])
		for s := range e.root.Steps(n) {
			e.step(s)
		}
		fmt.Println(e.sum())
	}
	cells["look"] = func([]string) {
		e := take()
		fmt.Println(e.sum())
		os.Exit(0) // no hook runs
	}
}

// TestResumeEqualsUninterrupted: 40 steps in cells of 1 to 17 equal 40 in one, bit for bit.
func TestResumeEqualsUninterrupted(t *testing.T) {
	whole := newNotebook(t).run("train", 40)
	n := newNotebook(t)
	for _, steps := range []int{1, 17, 3, 9, 10} {
		after := n.run("train", steps)
		if got := n.run("look"); got != after {
			t.Errorf("after a cell of %d steps: %s, it had %s", steps, got, after)
		}
	}
	if got := n.run("look"); got != whole {
		t.Errorf("in cells %s, at once %s", got, whole)
	}
}
