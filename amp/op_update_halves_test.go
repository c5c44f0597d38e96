package amp

import (
	"slices"
	"testing"

	"github.com/halftone-ml/halftone/amp/internal/cpu"
)

// TestUpdatesOfHalves: a step of halves in one pass gives the bits of widening, the step in float32 and rounding, which is what plain Go does.
func TestUpdatesOfHalves(t *testing.T) {
	defer cpu.SetMode(cpu.Current())
	adam := Update{LR: 0.01, Beta1: 0.9, Beta2: 0.99, Eps: 1e-3, Step: 3}
	with := func(u Update, change func(u *Update)) Update { change(&u); return u }
	for name, c := range map[string]struct {
		u     Update
		state int
		pass  bool
	}{
		"adam":           {adam, 2, true},
		"adamw":          {with(adam, func(u *Update) { u.WeightDecay, u.Decoupled = 0.1, true }), 2, true},
		"adam, decay":    {with(adam, func(u *Update) { u.WeightDecay = 0.1 }), 2, false},
		"adam, upwards":  {with(adam, func(u *Update) { u.Maximize = true }), 2, false},
		"adam, slow":     {with(adam, func(u *Update) { u.Beta1 = 0.25 }), 2, false},
		"amsgrad":        {adam, 3, false},
		"sgd":            {Update{LR: 0.1}, 0, true},
		"sgd, decay":     {Update{LR: 0.1, WeightDecay: 0.5}, 0, false},
		"momentum":       {Update{LR: 0.1, Momentum: 0.9, Dampening: 0.25, WeightDecay: 0.5}, 1, true},
		"momentum first": {Update{LR: 0.1, Momentum: 0.9, First: true}, 1, false},
		"nesterov":       {Update{LR: 0.1, Momentum: 0.9, Nesterov: true}, 1, false},
	} {
		op, pass := opSGD, sgdPass
		if c.u.Beta2 != 0 {
			op, pass = opAdam, adamPass
		}
		state := make([]*Tensor, len(op.Args)-2-told)
		for i := range c.state {
			state[i] = From([]float32{1})
		}
		if k, _ := pass(&c.u, state); (k != nil) != c.pass {
			t.Errorf("%s: that it is one pass is %v, want %v", name, k != nil, c.pass)
		}
		for _, dt := range []DType{Float16, BFloat16} {
			for _, n := range []int{1, 31, 64, 1000, 2*grain + 5} {
				cpu.SetMode(cpu.Mode{Variant: cpu.Generic})
				want := halfUpdate(op, c.u, c.state, dt, n)
				for _, v := range cpu.Variants() {
					cpu.SetMode(cpu.Mode{Variant: v})
					if got := halfUpdate(op, c.u, c.state, dt, n); !slices.Equal(got, want) {
						t.Errorf("%s, %v, %v: %d numbers differ from plain Go", name, v, dt, n)
					}
				}
			}
		}
	}
}

// halfUpdate returns the bits of a parameter and its state, one behind the other, after a step.
func halfUpdate(o *Op, u Update, states int, dt DType, n int) (bits []uint16) {
	s := NewScope(On("cpu"), Seed(7))
	defer s.Close()
	ts := []*Tensor{To(s, Randn(s, Float32, 0, 1, n), dt), To(s, Randn(s, Float32, 0, 1, n), dt)}
	for i := range len(o.Args) - 2 - told {
		if ts = append(ts, nil); i < states {
			ts[2+i] = To(s, Rand(s, Float32, 0, 1, n), dt)
		}
	}
	s.NoGrad().apply(o, Attrs{Update: &u}, append(slices.Clone(ts), nil, nil, nil, nil)...)
	for _, t := range ts {
		if t != nil {
			bits = append(bits, bits16(t)[t.off:][:n]...)
		}
	}
	return bits
}
