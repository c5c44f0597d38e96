package cudart_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/amp/optim"
	"github.com/halftone-ml/halftone/cudart"
	"github.com/halftone-ml/halftone/cudart/driver"
)

// A teller has two weights that its loss uses as halves, so that their gradients are casts, of numbers that the test chooses: what is said of
// them is the word of the cast.
type teller struct {
	root   *amp.Scope
	w, by  []*amp.Tensor
	opt    amp.Optimizer
	scaler *amp.GradScaler
}

func newTeller(device string, half amp.DType, n ...int) *teller {
	p := &teller{root: amp.NewScope(amp.On(device)), scaler: amp.NewGradScaler(amp.InitScale(1))}
	for i, n := range n {
		p.w = append(p.w, amp.Zeros(p.root, amp.Float32, n).RequireGrad().SetName(fmt.Sprintf("w%d", i)))
		p.by = append(p.by, amp.Ones(p.root, half, n))
	}
	p.opt = optim.NewSGD(p.w, optim.LR(0.5))
	return p
}

func (p *teller) backward(s *amp.Scope) {
	for _, w := range p.w {
		w.ZeroGrad()
	}
	p.add(s)
}

func (p *teller) add(s *amp.Scope) {
	var loss *amp.Tensor
	for i, w := range p.w {
		one := amp.Sum(s, amp.Mul(s, amp.To(s, w, p.by[i].DType()), p.by[i]))
		if loss == nil {
			loss = one
		} else {
			loss = amp.Add(s, loss, one)
		}
	}
	p.scaler.Scale(s, amp.To(s, loss, amp.Float32)).Backward()
}

func (p *teller) step() *amp.StepReport {
	r := p.scaler.Step(p.opt)
	p.scaler.Update()
	p.scaler.UpdateTo(1)
	return r
}

func (p *teller) close() {
	for _, w := range p.w {
		w.ZeroGrad()
	}
	p.root.Close()
}

// set writes value at an element of what weight i is multiplied with, which is its gradient.
func (p *teller) set(i, at int, value float64) {
	amp.Assign(amp.Narrow(p.root.NoGrad(), p.by[i], 0, at, 1), amp.Full(p.root, p.by[i].DType(), value, 1))
}

// TestCastsTell: a scaler asks the casts that made the gradients, and hears of what is not finite wherever it is, as on the CPU.
func TestCastsTell(t *testing.T) {
	device := gpu(t)
	const part = 16 * 256 // of a block
	for _, half := range []amp.DType{amp.Float16, amp.BFloat16} {
		for _, n := range []int{1, 7, 255, part, part + 1, 3*part + 13} {
			places := map[int]bool{0: true, n / 2: true, n - 1: true, min(n-1, part): true, max(0, n-9): true}
			for at := range places {
				for _, v := range []float64{math.Inf(1), math.Inf(-1), math.NaN()} {
					said := func(device string) (said []string) {
						p := newTeller(device, half, 64, n, 5)
						defer p.close()
						for s := range p.root.Steps(3) {
							switch p.set(1, at, 1); s.Step() {
							case 1:
								p.set(1, at, v)
								p.set(1, n-1, math.Inf(-1)) // not the first, but for the last place
							case 2:
								p.set(1, n-1, 1)
							}
							p.backward(s)
							if have := cudart.Verdicts(p.root.Device()); device != "cpu" && have != 3 {
								t.Fatalf("%d gradients have a verdict, not 3", have)
							}
							r := p.step()
							if have := cudart.Verdicts(p.root.Device()); have != 0 {
								t.Fatalf("%d verdicts outlived the step", have)
							}
							said = append(said, r.String(), fmt.Sprint(p.w[1].Float64s()[0]))
						}
						return said
					}
					want, got := said("cpu"), said(device)
					if fmt.Sprint(want) != fmt.Sprint(got) {
						t.Fatalf("%v, %v at %d of %d: %q, on the CPU %q", half, v, at, n, got, want)
					}
				}
			}
		}
	}
}

// writers are the ways to change a gradient behind the cast that made it. Each makes element 3 of the second one infinite.
var writers = map[string]func(p *teller, s *amp.Scope){
	"values": func(p *teller, _ *amp.Scope) {
		v := amp.Values[float32](p.w[1].Grad())
		v[3] = inf32
		amp.SetValues(p.w[1].Grad(), v)
	},
	"a copy": func(p *teller, s *amp.Scope) { amp.CopyInPlace(s.NoGrad(), p.w[1].Grad(), p.large(s, 1)) },
	"a sum":  func(p *teller, s *amp.Scope) { amp.AddInPlace(s.NoGrad(), p.w[1].Grad(), p.large(s, 1)) },
	"a half": func(p *teller, s *amp.Scope) {
		amp.CopyInPlace(s.NoGrad(), p.w[1].Grad(), amp.To(s, p.large(s, 1), amp.Float16))
	},
	"a view": func(p *teller, s *amp.Scope) {
		amp.Assign(amp.Narrow(s.NoGrad(), p.w[1].Grad(), 0, 3, 1), amp.Full(s, amp.Float32, math.Inf(1), 1))
	},
	"assigned": func(p *teller, s *amp.Scope) {
		amp.Assign(p.w[1].Grad(), amp.Full(s, amp.Float32, math.Inf(1), p.w[1].Len()))
	},
	"another": func(p *teller, s *amp.Scope) {
		p.w[1].SetGrad(amp.Full(p.root, amp.Float32, math.Inf(1), p.w[1].Len()))
	},
	"a kernel": func(p *teller, _ *amp.Scope) {
		k := p.kernel()
		if err := k.Launch(cudart.For(1), p.w[1].Grad()); err != nil {
			panic(err)
		}
	},
	"backward again": func(p *teller, s *amp.Scope) {
		p.set(1, 3, math.Inf(1))
		p.add(s)
	},
	"a row on the host": func(p *teller, s *amp.Scope) {
		defer cudart.UseHost(true)()
		amp.AddInPlace(s.NoGrad(), p.w[1].Grad(), p.large(s, 1))
	},
	"a replay": func(p *teller, s *amp.Scope) {
		large, g := p.large(p.root, 1), p.w[1].Grad()
		zero := amp.Zeros(p.root, amp.Float32, g.Len())
		graph := p.root.Capture(func(s *amp.Scope) { amp.AddInPlace(s.NoGrad(), g, zero) })
		defer graph.Close()
		amp.Assign(zero, large)
		graph.Replay()
	},
	"optimizers": func(p *teller, s *amp.Scope) { // that takes the gradient for a weight
		p.opt.ZeroGrad()
		p.add(s)
		w := amp.Detach(s, p.w[1].Grad()).RequireGrad()
		w.SetGrad(amp.MulScalar(s.NoGrad(), p.large(s, 1), -1))
		optim.NewSGD([]*amp.Tensor{w}, optim.LR(1)).Step()
	},
}

var inf32 = float32(math.Inf(1))

// large has an infinite element 3, and zeros, as many as weight i.
func (p *teller) large(s *amp.Scope, i int) *amp.Tensor {
	v := make([]float32, p.w[i].Len())
	v[3] = inf32
	t := amp.Zeros(s, amp.Float32, len(v))
	amp.SetValues(t, v)
	return t
}

func (p *teller) kernel() *cudart.Kernel {
	program, err := cudart.Compile(`extern "C" __global__ void spoil(float *x) { if (threadIdx.x == 3) x[3] = 1e30f * 1e30f; }`)
	if err != nil {
		panic(err)
	}
	k, err := program.Kernel("spoil")
	if err != nil {
		panic(err)
	}
	return k
}

// TestChangedGradientsAreRead: nobody takes a cast's word for what was changed since.
func TestChangedGradientsAreRead(t *testing.T) {
	device := gpu(t)
	for name, change := range writers {
		t.Run(name, func(t *testing.T) {
			p := newTeller(device, amp.Float16, 64, 100)
			defer p.close()
			for s := range p.root.Steps(2) {
				p.set(1, 3, 1)
				p.backward(s)
				if s.Step() == 1 { // after a step, as the words are as it leaves them
					change(p, s)
				}
				if r := p.step(); r.Applied() != (s.Step() == 0) || s.Step() == 1 && r.Culprit() != "w1" {
					t.Errorf("step %d: %v", s.Step(), r)
				}
			}
		})
	}
}

// TestCapturedCastsTell: captured steps hear of their gradients, and steps that a replay comes into hear of theirs, though all have the same words.
func TestCapturedCastsTell(t *testing.T) {
	device := gpu(t)
	p, q := newTeller(device, amp.Float16, 64, 5000), newTeller(device, amp.Float16, 5000)
	defer p.close()
	defer q.close()
	var last *amp.StepReport
	graph := p.root.Capture(func(s *amp.Scope) {
		p.backward(s)
		last = p.scaler.Step(p.opt)
		p.scaler.Update()
	})
	defer graph.Close()
	for i := range 40 {
		spoilP, spoilQ := i%4 == 1, i%5 == 2
		p.set(1, 4500, map[bool]float64{false: 1, true: math.Inf(1)}[spoilP])
		q.set(0, 4500, map[bool]float64{false: 1, true: math.NaN()}[spoilQ])
		for s := range q.root.Steps(1) {
			q.backward(s)
			graph.Replay()
			if r := q.step(); r.Applied() == spoilQ {
				t.Errorf("step %d: %v", i, r)
			}
		}
		if last.Applied() == spoilP {
			t.Errorf("replay %d: %v", i, last)
		}
	}
}

// TestFewWords: without a word for every gradient those without are read.
func TestFewWords(t *testing.T) {
	device := gpu(t)
	for _, words := range []int{0, 1} {
		restore := cudart.LeaveWords(device, words)
		p := newTeller(device, amp.BFloat16, 10, 20, 30)
		for s := range p.root.Steps(7) {
			spoiled := s.Step()%4 - 1
			for i := range p.by {
				p.set(i, 9, map[bool]float64{false: 1, true: math.Inf(1)}[i == spoiled])
			}
			p.backward(s) // nobody asks about these
			p.backward(s)
			if n := cudart.Verdicts(p.root.Device()); n != words {
				t.Errorf("%d gradients have a verdict, and there are %d words", n, words)
			}
			if r := p.step(); r.Applied() != (spoiled < 0) || spoiled >= 0 && r.Culprit() != fmt.Sprintf("w%d", spoiled) {
				t.Errorf("step %d: %v", s.Step(), r)
			}
			if n := cudart.Verdicts(p.root.Device()); n != 0 {
				t.Errorf("%d verdicts outlived step %d", n, s.Step())
			}
		}
		p.close()
		restore()
	}
}

// A fullDriver has no memory.
type fullDriver struct {
	driver.Driver
	asked int
}

func (d *fullDriver) Alloc(uint64) (driver.DevicePtr, error) {
	d.asked++
	return 0, driver.ErrMemory
}

// TestCaptureWithoutWords: where there is no memory for the words, a step is captured all the same, and its gradients are read.
func TestCaptureWithoutWords(t *testing.T) {
	device := gpu(t)
	p := newTeller(device, amp.Float16, 64)
	defer p.close()
	p.backward(p.root) // what a device makes once is there
	p.step()
	defer cudart.ForgetWords(device)()
	full := &fullDriver{}
	defer cudart.WrapDriver(device, func(drv driver.Driver) driver.Driver { full.Driver = drv; return full })()
	var last *amp.StepReport
	graph := p.root.Capture(func(s *amp.Scope) {
		p.backward(s)
		last = p.scaler.Step(p.opt)
		p.scaler.Update()
	})
	defer graph.Close()
	if full.asked == 0 {
		t.Error("no memory was asked for: nothing was tested")
	}
	for i := range 6 {
		spoiled := i%3 == 1
		p.set(0, 60, map[bool]float64{false: 1, true: math.Inf(1)}[spoiled])
		if graph.Replay(); last.Applied() == spoiled {
			t.Errorf("replay %d: %v", i, last)
		}
	}
	if n := cudart.Verdicts(p.root.Device()); n != 0 {
		t.Errorf("%d verdicts without words", n)
	}
}
