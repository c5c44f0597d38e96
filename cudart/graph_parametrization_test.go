package cudart_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/amp/nn"
	"github.com/halftone-ml/halftone/amp/optim"
)

// parametrizedNet is a model whose weights are all computed.
func parametrizedNet(s *amp.Scope) *nn.Sequential {
	return nn.NewSequential(
		nn.SpectralNorm(s, nn.NewConv1d(s, 3, 4, 3)), nn.LeakyReLU(0.2), nn.WeightNorm(s, nn.NewConvTranspose1d(s, 4, 3, 2)), nn.Tanh,
		nn.SpectralNorm(s, nn.NewLinear(s, 5, 4), nn.NormDim(1), nn.PowerIterations(2)), nn.WeightNorm(s, nn.NewLinear(s, 4, 2), nn.WholeNorm()))
}

// TestCapturedParametrizations: each replay of a captured step moves u and v of SpectralNorm, twice where a layer runs twice, as the same steps one by
// one do, bit for bit, under autocast and a scaler and with a part that backward runs again.
func TestCapturedParametrizations(t *testing.T) {
	device := gpu(t)
	run := func(captured bool) (out [][]float64) {
		root := amp.NewScope(amp.On(device), amp.Seed(3))
		defer root.Close()
		net, x := parametrizedNet(root), amp.Randn(root, amp.Float32, 0, 1, 2, 3, 6)
		opt, scaler := optim.NewSGD(net.Parameters(), optim.LR(0.1)), amp.NewGradScaler(amp.InitScale(1<<8))
		step := func(s *amp.Scope) {
			opt.ZeroGrad()
			half := s.Autocast(amp.Float16)
			part := func(s *amp.Scope, in ...*amp.Tensor) *amp.Tensor { return net.Forward(s, in[0]) }
			y := amp.Add(half, net.Forward(half, x), amp.Checkpoint(half, part, amp.Flip(half, x, 2)))
			scaler.Scale(s, amp.Mean(s, amp.Square(s, amp.To(s, y, amp.Float32)))).Backward()
			scaler.Step(opt)
			scaler.Update()
		}
		replay, done := firstStep(root, captured, step)
		defer done()
		for range 4 {
			replay()
			for _, p := range append(net.Parameters(), net.Buffers()...) {
				out = append(out, p.Float64s())
			}
		}
		return out
	}
	got, want := run(true), run(false)
	each := len(want) / 4
	for i, v := range want {
		if !slices.Equal(got[i], v) {
			t.Errorf("replay %d, tensor %d: %v, step by step %v", i/each, i%each, got[i], v)
		}
		if i >= each && slices.Equal(v, want[i-each]) {
			t.Errorf("step %d does not move tensor %d", i/each, i%each)
		}
	}
}

// TestParametrizationsMove: nn.To takes what weights are computed from, and u and v, to another device, where layers can be parametrized and made
// plain again too; results are those of the CPU.
func TestParametrizationsMove(t *testing.T) {
	cpu, there := amp.NewScope(amp.Seed(3)), amp.NewScope(amp.On(gpu(t)), amp.Seed(3))
	defer cpu.Close()
	defer there.Close()
	x := amp.Randn(cpu, amp.Float32, 0, 1, 2, 3, 6)
	moved := x.To(there)
	net := parametrizedNet(cpu)
	run := func(s *amp.Scope, x *amp.Tensor, eval bool) []float64 {
		if eval {
			s = s.Eval()
		}
		return net.Forward(s.NoGrad(), x).Float64s()
	}
	want := run(cpu, x, true)
	near := func(what string, got []float64) {
		t.Helper()
		if !slices.EqualFunc(got, want, func(a, b float64) bool { return a-b < 1e-5 && b-a < 1e-5 }) {
			t.Errorf("%s: %v, want %v", what, got, want)
		}
	}
	nn.To(there, net)
	for _, p := range append(net.Parameters(), net.Buffers()...) {
		if p.Device() != there.Device() {
			t.Errorf("%s is on %s", p.Name(), p.Device())
		}
	}
	near("moved", run(there, moved, true))
	run(there, moved, false)
	want = run(there, moved, true)
	nn.To(cpu, net)
	near("moved back", run(cpu, x, true))
	nn.To(there, net)
	for _, m := range nn.NamedModules(net) {
		if l, ok := m.(nn.Parametrizable); ok {
			nn.RemoveParametrization(there, l)
		}
	}
	near("without them", run(there, moved, true))
	for _, m := range nn.NamedModules(net) {
		if l, ok := m.(nn.Parametrizable); ok {
			if err := amp.Maybe(func() { nn.WeightNorm(cpu, l) }); !errors.Is(err, amp.ErrDevice) {
				t.Errorf("in a scope of another device: %v", err)
			}
			nn.SpectralNorm(there, nn.RemoveParametrization(there, nn.WeightNorm(there, l)))
		}
	}
	if got := run(there, moved, true); slices.Equal(got, want) || len(net.Buffers()) != 8 {
		t.Errorf("%v, with and without SpectralNorm", got)
	}
}
