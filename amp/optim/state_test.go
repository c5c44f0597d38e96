package optim_test

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/amp/optim"
)

// train takes steps with gradients that depend on the step and the weights.
func train(o optim.Optimizer, from, to int) {
	for step := from; step < to; step++ {
		for i, p := range o.Parameters() {
			if i == 1 && step%3 == 0 {
				p.ZeroGrad() // its own step count falls behind
				continue
			}
			g := p.Float64s()
			for k := range g {
				g[k] = g[k]*0.7 + float64(step%4)*0.1 - 0.1
			}
			p.SetGrad(amp.FromFloat64s(p.DType(), g, p.Shape()...))
		}
		o.Step()
	}
}

func weightsOf(dt amp.DType) []*amp.Tensor {
	return []*amp.Tensor{
		amp.FromFloat64s(dt, []float64{1, -2, 0.3, 5}, 2, 2).SetName("w").RequireGrad(),
		amp.FromFloat64s(dt, []float64{0.1, 0.2}).SetName("b").RequireGrad(),
	}
}

// TestStateRoundTrip: nine steps equal four, a restart from the state through JSON, and five more, bit for bit.
func TestStateRoundTrip(t *testing.T) {
	for name, build := range makers {
		for _, dt := range []amp.DType{amp.Float64, amp.Float32, amp.BFloat16} {
			make2 := func(p []*amp.Tensor, lr float64) optim.Optimizer {
				o := build(p[:1], optim.LR(lr))
				opts := []optim.Option{optim.LR(2 * lr)}
				if name != "rprop" { // which takes none
					opts = append(opts, optim.WeightDecay(0.1))
				}
				o.AddGroup(optim.Group{Params: p[1:], Options: opts})
				return o
			}
			whole := weightsOf(dt)
			train(make2(whole, 0.05), 0, 9)

			first := weightsOf(dt)
			o := make2(first, 0.05)
			train(o, 0, 4)
			st := o.State()
			text, err := json.Marshal(st)
			if err != nil {
				t.Fatal(err)
			}
			second := weightsOf(dt)
			for i := range second {
				amp.Assign(second[i], first[i])
			}
			train(o, 4, 9) // the state is a copy: this must not change it
			var back optim.State
			if err := json.Unmarshal(text, &back); err != nil {
				t.Fatal(err)
			}
			back.Tensors = st.Tensors
			fresh := make2(second, 0.9) // the rates come from the state
			if err := fresh.LoadState(&back); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if fresh.Steps() != 4 || fresh.Groups()[1].LR() != 0.1 {
				t.Errorf("%s: %d steps, rate %v", name, fresh.Steps(), fresh.Groups()[1].LR())
			}
			train(fresh, 4, 9)
			for i := range whole {
				if a, b, c := whole[i].Float64s(), first[i].Float64s(), second[i].Float64s(); !slices.Equal(a, b) || !slices.Equal(a, c) {
					t.Errorf("%s %v: %v in one go, %v saved, %v restarted", name, dt, a, b, c)
				}
			}
		}
	}
}

func TestStateRefusals(t *testing.T) {
	build := func(opts ...optim.Option) *optim.Adam { return optim.NewAdam(weightsOf(amp.Float32), opts...) }
	o := build()
	train(o, 0, 4)
	target := build(optim.LR(0.5))
	train(target, 0, 2)
	before, _ := json.Marshal(target.State())
	for name, c := range map[string]struct {
		change func(st *optim.State)
		want   string
	}{
		"kind":         {func(st *optim.State) { st.Kind = "AdamW" }, `saved by "AdamW"`},
		"groups":       {func(st *optim.State) { st.Groups = append(st.Groups, st.Groups[0]) }, "2 parameter groups"},
		"steps":        {func(st *optim.State) { st.Steps = -1 }, "-1 steps"},
		"parameters":   {func(st *optim.State) { st.Groups[0].Params = st.Groups[0].Params[:1] }, "1 parameters in it, 2 here"},
		"name":         {func(st *optim.State) { st.Groups[0].Params[1].Name = "bias" }, `"bias", here "b"`},
		"counter":      {func(st *optim.State) { st.Groups[0].Params[1].Step = -3 }, "-3 steps"},
		"missing rate": {func(st *optim.State) { delete(st.Groups[0].Numbers, "lr") }, "no lr"},
		"beta":         {func(st *optim.State) { st.Groups[0].Numbers["beta1"] = math.NaN() }, "beta1 is NaN"},
		"rate":         {func(st *optim.State) { st.Groups[0].Numbers["lr"] = math.Inf(-1) }, "lr is -Inf"},
		"start":        {func(st *optim.State) { st.Groups[0].Numbers["initial_lr"] = math.Inf(1) }, "initial_lr is +Inf"},
		"flag":         {func(st *optim.State) { st.Groups[0].Flags["amsgrad"] = true }, "amsgrad is true"},
		"missing":      {func(st *optim.State) { delete(st.Tensors, "0.exp_avg") }, "exp_avg of parameter 0 (w) is missing"},
		"stray":        {func(st *optim.State) { st.Tensors["2.exp_avg"] = st.Tensors["0.exp_avg"] }, `"2.exp_avg"`},
		"dtype": {func(st *optim.State) {
			st.Tensors["0.exp_avg"] = amp.FromFloat64s(amp.Float64, make([]float64, 4), 2, 2)
		}, "is float64 in it, the parameter float32"},
		"shape": {func(st *optim.State) { st.Tensors["0.exp_avg"] = amp.From([]float32{0, 0, 0, 0}) }, "is [4] in it, the parameter [2 2]"},
	} {
		st := o.State()
		c.change(st)
		if err := target.LoadState(st); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := target.LoadState(nil); err == nil {
		t.Error("no state was loaded")
	}
	if after, _ := json.Marshal(target.State()); string(after) != string(before) {
		t.Errorf("a refused state changed the optimizer:\n%s\n%s", before, after)
	}
	if err := target.LoadState(o.State()); err != nil || target.LearningRate() != 0.001 {
		t.Errorf("%v, rate %v", err, target.LearningRate())
	}
	if err := build(optim.AMSGrad()).LoadState(o.State()); err == nil || !strings.Contains(err.Error(), "amsgrad is false") {
		t.Error(err)
	}
}

// TestTakeState: the tensors given are the optimizer's own from then on, and it goes on as if nothing had happened.
func TestTakeState(t *testing.T) {
	for name, build := range makers {
		p := weightsOf(amp.Float32)
		o := build(p, optim.LR(0.05))
		train(o, 0, 4)
		q := weightsOf(amp.Float32)
		for i := range q {
			amp.Assign(q[i], p[i])
		}
		st := o.State()
		live := o.LiveState()
		fresh := build(q, optim.LR(0.9))
		if err := fresh.TakeState(st); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for key, own := range fresh.LiveState().Tensors {
			if own != st.Tensors[key] || own == live.Tensors[key] {
				t.Errorf("%s: %s was copied", name, key)
			}
		}
		train(o, 4, 9)
		train(fresh, 4, 9)
		for i := range p {
			if !slices.Equal(p[i].Float64s(), q[i].Float64s()) {
				t.Errorf("%s: %s is %v, want %v", name, p[i].Name(), q[i].Float64s(), p[i].Float64s())
			}
		}
		if err := fresh.TakeState(fresh.LiveState()); err != nil { // what it has already
			t.Fatal(err)
		}
		train(fresh, 9, 10)
	}
}

// TestStateOfMasters: float32 state serves a parameter of 16 bits that has no master: it is rounded by the next step.
func TestStateOfMasters(t *testing.T) {
	for _, fused := range []bool{false, true} {
		build := func(dt amp.DType) (*amp.Tensor, *optim.Adam) {
			p := amp.FromFloat64s(dt, []float64{1, 2}).SetName("w").RequireGrad()
			if fused {
				return p, optim.NewAdam([]*amp.Tensor{p}, optim.Fused())
			}
			return p, optim.NewAdam([]*amp.Tensor{p})
		}
		step := func(p *amp.Tensor, o *optim.Adam) {
			p.SetGrad(amp.FromFloat64s(p.DType(), []float64{0.3, -0.7}))
			o.Step()
		}
		full, from := build(amp.Float32)
		step(full, from)
		half, to := build(amp.BFloat16)
		if err := to.LoadState(from.State()); err != nil {
			t.Fatal(err)
		}
		if dt := to.State().Tensors["0.exp_avg"].DType(); dt != amp.Float32 {
			t.Errorf("%v before the step", dt)
		}
		step(half, to)
		own, same := build(amp.BFloat16) // whose state was of 16 bits from the start
		step(own, same)
		step(own, same)
		for name, got := range to.State().Tensors {
			want := same.State().Tensors[name]
			if got.DType() != amp.BFloat16 || !slices.Equal(got.Shape(), want.Shape()) {
				t.Errorf("%s is %v %v", name, got.DType(), got.Shape())
			}
			for i, v := range got.Float64s() {
				if w := want.Float64s()[i]; math.Abs(v-w) > 0x1p-7*math.Abs(w) {
					t.Errorf("%s, element %d: %v, want %v", name, i, v, w)
				}
			}
		}
	}
}
