package nn_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/amp/nn"
)

func TestStateDict(t *testing.T) {
	root := amp.NewScope(amp.Seed(2))
	defer root.Close()
	build := func() *nn.Sequential {
		return nn.NewSequential(nn.NewLinear(root, 3, 4), nn.ReLU, nn.Named{Name: "head", Module: nn.NewLinear(root, 4, 2)})
	}
	a, b := build(), build()
	if err := nn.LoadStateDict(b, nn.StateDict(a)); err != nil {
		t.Fatal(err)
	}
	for i, p := range a.Parameters() {
		if q := b.Parameters()[i]; p == q || !slices.Equal(p.Float64s(), q.Float64s()) {
			t.Errorf("%s was not copied", p.Name())
		}
	}
	other := nn.NewSequential(nn.NewLinear(root, 3, 5), nn.Named{Name: "tail", Module: nn.NewLinear(root, 4, 2)})
	before := other.Parameters()[0].Float64s()
	err := nn.LoadStateDict(other, nn.StateDict(a))
	if err == nil {
		t.Fatal("a state of another model was loaded")
	}
	for _, want := range []string{"missing tail.weight", "unexpected head.weight", "0.weight is [4 3], the module's [5 3]"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q is missing in %v", want, err)
		}
	}
	if !slices.Equal(before, other.Parameters()[0].Float64s()) {
		t.Error("a refused state changed the module")
	}
	if err := nn.LoadStateDict(other, nn.StateDict(a), nn.Partial()); err == nil || !strings.Contains(err.Error(), "0.weight is") {
		t.Errorf("another shape was loaded: %v", err)
	}
	tail := nn.NewSequential(nn.NewLinear(root, 3, 4), nn.ReLU, nn.Named{Name: "tail", Module: nn.NewLinear(root, 4, 5)})
	if err := nn.LoadStateDict(tail, nn.StateDict(a), nn.Partial()); err != nil || !slices.Equal(tail.Parameters()[0].Float64s(), a.Parameters()[0].Float64s()) {
		t.Errorf("the part that fits was not loaded: %v", err)
	}
	unnamed := nn.NewLinear(root, 2, 2)
	unnamed.Bias.SetName("weight")
	if err := amp.Maybe(func() { nn.StateDict(unnamed) }); !errors.Is(err, amp.ErrArgument) {
		t.Error(err)
	}
	if err := amp.Maybe(func() { nn.StateDict(nil) }); !errors.Is(err, amp.ErrArgument) || nn.LoadStateDict(nil, nil) == nil {
		t.Errorf("the state of no module: %v", err)
	}
}

// TestSharedParameters: a tensor that two modules share is one parameter with the name of its first owner.
func TestSharedParameters(t *testing.T) {
	root := amp.NewScope()
	defer root.Close()
	l := nn.NewLinear(root, 2, 2)
	q := nn.NewSequential(l, nn.ReLU, l)
	if p := q.Parameters(); len(p) != 2 || p[0].Name() != "0.weight" {
		t.Errorf("%d parameters, the first is %s", len(p), p[0].Name())
	}
}

// TestAssign rounds once and tells caches and graphs.
func TestAssign(t *testing.T) {
	dst := amp.FromFloat64s(amp.Float16, []float64{0, 0})
	v := dst.Version()
	amp.Assign(dst, amp.From([]float32{1.0005, 65519.996}))
	if got := dst.Float64s(); !slices.Equal(got, []float64{1.0009765625, 65504}) || dst.Version() == v {
		t.Errorf("%v, version %d", got, dst.Version())
	}
	big := amp.From([]int64{1<<62 + 1})
	to := amp.From([]int64{0})
	amp.Assign(to, big)
	if amp.Values[int64](to)[0] != 1<<62+1 {
		t.Error("int64 lost digits")
	}
	if err := amp.Maybe(func() { amp.Assign(dst, to) }); !errors.Is(err, amp.ErrShape) {
		t.Error(err)
	}
}

// TestLoadOfFreedTensors is an error that names one, and changes nothing.
func TestLoadOfFreedTensors(t *testing.T) {
	s := amp.NewScope(amp.Seed(1))
	defer s.Close()
	net := nn.NewBatchNorm1d(s, 2)
	step := s.Child()
	state := map[string]*amp.Tensor{}
	for name := range nn.StateDict(net) {
		state[name] = amp.Full(s, amp.Float32, 9, 2)
	}
	state["num_batches_tracked"] = amp.Full(s, amp.Int64, 9)
	state["running_var"] = amp.Neg(step, state["weight"])
	step.Close()
	err := nn.LoadStateDict(net, state)
	if err == nil || !strings.Contains(err.Error(), "running_var has been freed") {
		t.Error(err)
	}
	for name, p := range nn.StateDict(net) {
		if slices.Contains(p.Float64s(), 9) {
			t.Errorf("%s was loaded", name)
		}
	}
}

// TestPartialReports: what was not loaded is told, as PyTorch's load_state_dict returns it; a state of another model is an error.
func TestPartialReports(t *testing.T) {
	s := amp.NewScope(amp.Seed(1))
	defer s.Close()
	net := nn.NewSequential(nn.NewLinear(s, 2, 2), nn.NewLinear(s, 2, 3))
	state := map[string]*amp.Tensor{"0.weight": amp.From([]float32{1, 2, 3, 4}, 2, 2), "b": amp.Scalar[float32](1), "a": amp.Scalar[float32](1)}
	var left nn.Misfit
	if err := nn.LoadStateDict(net, state, nn.Partial(), nn.Report(&left)); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(left.Missing, []string{"0.bias", "1.bias", "1.weight"}) || !slices.Equal(left.Unexpected, []string{"a", "b"}) {
		t.Errorf("%+v", left)
	}
	if w := net.Parameters()[0].Float64s(); !slices.Equal(w, []float64{1, 2, 3, 4}) {
		t.Errorf("weight %v", w)
	}
	if err := nn.LoadStateDict(net, state, nn.Report(&left)); err == nil || len(left.Missing) != 3 {
		t.Errorf("%v, %+v", err, left)
	}
	delete(state, "0.weight")
	if err := nn.LoadStateDict(net, state, nn.Partial()); err == nil || !strings.Contains(err.Error(), "unexpected a") {
		t.Errorf("nothing fits: %v", err)
	}
	if err := nn.LoadStateDict(net, state, nn.Partial(), nn.Report(&left)); err != nil || len(left.Missing) != 4 {
		t.Errorf("nothing fits, reported: %v, %+v", err, left)
	}
	if err := nn.LoadStateDict(net, nil, nn.Partial()); err != nil {
		t.Errorf("nothing at all: %v", err)
	}
	if err := amp.Maybe(func() { nn.Report(nil) }); !errors.Is(err, amp.ErrArgument) {
		t.Error(err)
	}
}

// TestNamingAdvice: a model of one's own whose tensors have no names of their own is told the step that it forgot.
func TestNamingAdvice(t *testing.T) {
	s := amp.NewScope()
	defer s.Close()
	parts := func() (a, b *nn.Linear) { return nn.NewLinear(s, 1, 1), nn.NewLinear(s, 1, 1) }
	a, b := parts()
	for want, m := range map[string]nn.Module{
		"fix: call nn.NameChildren at the end": &unnamedParent{plainPair{a, b}},
		"fix: give the model the method Child": &plainPair{a, b},
	} {
		if err := amp.Maybe(func() { nn.StateDict(m) }); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	if err := amp.Maybe(func() { nn.StateDict(nn.NoForward{Of: &unnamedParent{plainPair{a, b}}}) }); err == nil || !strings.Contains(err.Error(), "nn.NameChildren at the end") {
		t.Errorf("%v", err)
	}
}

// plainPair is a model without Children, unnamedParent one with them that nobody named.
type plainPair struct{ a, b *nn.Linear }

func (m *plainPair) Parameters() []*amp.Tensor { return nn.ParametersOf(m.a, m.b) }
func (m *plainPair) Forward(s *amp.Scope, x *amp.Tensor) *amp.Tensor {
	return m.b.Forward(s, m.a.Forward(s, x))
}

type unnamedParent struct{ plainPair }

func (m *unnamedParent) Children() []nn.Named {
	return []nn.Named{{Name: "a", Module: m.a}, {Name: "b", Module: m.b}}
}
