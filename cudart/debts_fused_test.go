package cudart_test

import (
	"math"
	"testing"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/amp/optim"
	"github.com/halftone-ml/halftone/cudart"
)

// overflow is a step whose loss is multiplied by a number that the test sets: infinite, it overflows.
func (d *debtor) overflow(s *amp.Scope, times *amp.Tensor) {
	d.zero()
	h := amp.MatMul(s, d.x, d.w[0])
	d.scaler.Scale(s, amp.Mul(s, amp.Mean(s, amp.Square(s, amp.MatMul(s, h, d.w[1]))), times)).Backward()
}

// TestFusedSkipOwesNothing: a fused step that is skipped leaves the gradients as they are, whoever looks, in replays too; in the next one
// they are divided again.
func TestFusedSkipOwesNothing(t *testing.T) {
	device := gpu(t)
	for _, dt := range []amp.DType{amp.Float32, amp.Float64} {
		t.Run(dt.String(), func(t *testing.T) {
			opts := func(w []*amp.Tensor) []amp.Optimizer {
				return []amp.Optimizer{optim.NewAdam(w[:2], optim.LR(0.1), optim.Fused())}
			}
			d := newDebtor(device, dt, opts, false)
			defer d.end()
			d.scaler = amp.NewGradScaler(amp.InitScale(3), amp.BackoffFactor(0.7))
			read := func(ts ...*amp.Tensor) (out [][]float64) {
				for _, x := range ts {
					out = append(out, x.Float64s())
				}
				return out
			}
			grads := func() [][]float64 { return read(d.w[0].Grad(), d.w[1].Grad()) }
			times := amp.Full(d.root, dt, 1)
			for _, f := range []float64{1, math.Inf(1), 1, math.NaN(), 1} {
				amp.Assign(times, amp.Full(d.root, dt, f))
				var before, weights [][]float64
				for s := range d.root.Steps(1) {
					d.overflow(s, times)
					before, weights = grads(), read(d.w[:2]...)
					scale := d.scaler.CurrentScale()
					r := d.scaler.Step(d.opts[0])
					d.scaler.Update()
					if cudart.Debts(device) == 0 {
						t.Error("nothing is owed before somebody looks")
					}
					after := grads()
					if skipped := f != 1; skipped {
						if r.Applied() || !sameNumbers(before, after) || !sameNumbers(weights, read(d.w[:2]...)) {
							t.Errorf("loss times %v: %v; gradients or weights are others after it", f, r)
						}
						continue
					}
					divided(t, dt, before, after, scale)
				}
			}
			seen := []*amp.Tensor{amp.Like(d.w[0]), amp.Like(d.w[1])} // the gradients before the step
			g := d.root.Capture(func(s *amp.Scope) {
				d.overflow(s, times)
				amp.Assign(seen[0], d.w[0].Grad())
				amp.Assign(seen[1], d.w[1].Grad())
				d.step()
			})
			defer g.Close()
			for _, f := range []float64{1, math.Inf(1), 1, 1, math.Inf(1), math.Inf(1), 1} {
				amp.Assign(times, amp.Full(d.root, dt, f))
				scale := d.scaler.CurrentScale()
				g.Replay()
				if f != 1 {
					if !sameNumbers(read(seen...), grads()) {
						t.Error("a skipped replay has changed gradients")
					}
					continue
				}
				after := grads()
				divided(t, dt, read(seen...), after, scale)
			}
		})
	}
}

// divided holds gradients after a step against those before it, times the inverse of the scale.
func divided(t *testing.T, dt amp.DType, before, after [][]float64, scale float64) {
	t.Helper()
	inv := 1 / float32(scale)
	for i := range before {
		for j, v := range before[i] {
			if before[i][j] = v * float64(inv); dt == amp.Float32 {
				before[i][j] = float64(float32(v) * inv)
			}
		}
	}
	if !sameNumbers(before, after) {
		t.Errorf("at scale %v the gradients are %v, want %v", scale, after, before)
	}
}

// TestFusedHalvesOwe: gradients of halves are divided in float32 and rounded once, for who looks as for another step, which takes
// them as they would lie there; the numbers are the CPU's.
func TestFusedHalvesOwe(t *testing.T) {
	device := gpu(t)
	for _, dt := range []amp.DType{amp.Float16, amp.BFloat16} {
		for look, f := range map[string]func(s *amp.Scope, o *optim.SGD, scaler *amp.GradScaler, w *amp.Tensor){
			"values":       func(s *amp.Scope, o *optim.SGD, scaler *amp.GradScaler, w *amp.Tensor) {},
			"a plain step": func(s *amp.Scope, o *optim.SGD, scaler *amp.GradScaler, w *amp.Tensor) { o.Step() },
			"another step": func(s *amp.Scope, o *optim.SGD, scaler *amp.GradScaler, w *amp.Tensor) {
				scaler.Update()
				scaler.Step(o)
			},
			"a change": func(s *amp.Scope, o *optim.SGD, scaler *amp.GradScaler, w *amp.Tensor) {
				amp.AddInPlace(s.NoGrad(), w.Grad(), w)
			},
		} {
			t.Run(look+"/"+dt.String(), func(t *testing.T) {
				run := func(on string) [][]float64 {
					s := amp.NewScope(amp.On(on), amp.Seed(1))
					defer s.Close()
					w := placed(s, dt, numbers(3000), 3000).RequireGrad()
					o := optim.NewSGD([]*amp.Tensor{w}, optim.LR(0.25), optim.Fused())
					scaler := amp.NewGradScaler(amp.InitScale(2.7))
					scaler.Scale(s, amp.Sum(s, amp.To(s, amp.Mul(s, w, w), amp.Float32))).Backward()
					scaler.Step(o)
					f(s, o, scaler, w)
					return [][]float64{w.Grad().Float64s(), w.Float64s()}
				}
				if want, got := run("cpu"), run(device); !sameNumbers(want, got) {
					t.Errorf("gradient and weights %v, on the CPU %v", got, want)
				}
			})
		}
	}
}

// TestFusedRowsOweTheirOwn: rows of optimizers that follow each other owe what each was given, though the number changes between them, or
// whether they step at all; the memory that the number was in may be gone.
func TestFusedRowsOweTheirOwn(t *testing.T) {
	device := gpu(t)
	run := func(on string) (seen [][]float64) {
		s := amp.NewScope(amp.On(on), amp.Seed(1))
		defer s.Close()
		inv, found := amp.Full(s, amp.Float32, 0.3), amp.Full(s, amp.Float32, 0)
		flat := placed(s, amp.Float32, numbers(5000), 5, 1000) // gradients that lie one behind the other, in one block
		var ps []*amp.Tensor
		for i := range 5 {
			p := placed(s, amp.Float32, numbers(1000), 1000).RequireGrad()
			p.SetGrad(amp.Select(s, flat, 0, i))
			ps = append(ps, p)
		}
		row := func(i int, inv, found *amp.Tensor) {
			amp.UpdateSGD(ps[i], nil, amp.Update{LR: 0.5, InvScale: inv, FoundInf: found})
		}
		row(0, inv, found)
		amp.SetValues(inv, []float32{0.7})
		row(1, inv, found)
		amp.SetValues(found, []float32{1})
		row(2, inv, found)
		other := amp.Full(s, amp.Float32, 0.1)
		row(3, other, nil)
		other.Free()
		amp.Full(s, amp.Float32, 11)
		row(4, nil, nil)
		seen = append(seen, flat.Float64s())
		for _, p := range ps {
			seen = append(seen, p.Float64s())
		}
		return seen
	}
	if want, got := run("cpu"), run(device); !sameNumbers(want, got) {
		for i := range want {
			t.Errorf("%.6v …, on the CPU %.6v …", got[i][:4], want[i][:4])
		}
	}
	if n := cudart.Debts(device); n != 0 {
		t.Errorf("%d blocks still owe, though all are freed", n)
	}
}
