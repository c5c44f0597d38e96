package nn_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/amp/nn"
)

// twoHeads is a model of one's own: a body, and two heads of which one is tied to the other.
type twoHeads struct {
	body        *nn.Sequential
	left, right *nn.Linear
}

func newTwoHeads(s *amp.Scope) *twoHeads {
	m := &twoHeads{nn.NewSequential(nn.NewLinear(s, 4, 4), nn.NewBatchNorm1d(s, 4), nn.ReLU), nn.NewLinear(s, 4, 2), nn.NewLinear(s, 4, 2)}
	m.right.Weight = m.left.Weight
	nn.NameChildren(m)
	return m
}

func (m *twoHeads) Children() []nn.Named {
	return []nn.Named{{Name: "body", Module: m.body}, {Name: "left", Module: m.left}, {Name: "right", Module: m.right}}
}
func (m *twoHeads) Parameters() []*amp.Tensor { return nn.ChildParameters(m) }
func (m *twoHeads) Buffers() []*amp.Tensor    { return nn.ChildBuffers(m) }
func (m *twoHeads) Forward(s *amp.Scope, x *amp.Tensor) *amp.Tensor {
	x = m.body.Forward(s.In("body"), x)
	return amp.Cat(s, -1, m.left.Forward(s.In("left"), x), m.right.Forward(s.In("right"), x))
}

// A model of one's own that says what it is made of.
func ExampleNamedModules() {
	root := amp.NewScope(amp.Seed(1))
	defer root.Close()
	net := newTwoHeads(root)
	for name, m := range nn.NamedModules(net) {
		if l, ok := m.(*nn.Linear); ok {
			l.Bias.Freeze()
			fmt.Println(name, l)
		}
	}
	fmt.Println(slices.Sorted(maps.Keys(nn.StateDict(net, nn.TiedNames())))[7:])
	// Output:
	// body.0 Linear(weight=[4 4], bias=[4])
	// left Linear(weight=[2 4], bias=[2])
	// right Linear(weight=[2 4], bias=[2])
	// [left.bias left.weight right.bias right.weight]
}

// TestNamesOfChildren: each parameter and buffer of the models here has the name that the walk to its layer gives.
func TestNamesOfChildren(t *testing.T) {
	root := amp.NewScope(amp.Seed(1))
	defer root.Close()
	body := nn.NewSequential(nn.NewLinear(root, 3, 3), nn.ReLU)
	ema := nn.NewAveragedModel(newTwoHeads(root), newTwoHeads(root))
	for _, m := range []nn.Module{
		newTwoHeads(root), ema, nn.NewResidual(body, nn.NewLinear(root, 3, 3)), nn.NewResNet18(root, 3, nn.SmallImages(), nn.Width(8)),
		nn.NewGPT(root, nn.GPTConfig{Context: 4, Features: 4, Layers: 2, Heads: 1}),
		nn.NewViT(root, nn.ViTConfig{Image: 4, Patch: 2, Features: 4, Layers: 2, Heads: 1, Classes: 2}),
		nn.NewTransformer(root, nn.TransformerConfig{Features: 4, Heads: 2, EncoderLayers: 1, DecoderLayers: 2, Hidden: 4}),
	} {
		found := map[*amp.Tensor]bool{}
		for name, layer := range nn.NamedModules(m) {
			for _, p := range append(layer.Parameters(), nn.Buffers(layer)...) {
				found[p] = true
				tied := strings.HasPrefix(strings.TrimPrefix(name, "module."), "right")
				if name != "" && !strings.HasPrefix(p.Name(), name+".") && !tied {
					t.Errorf("%T: %q is in %q", m, p.Name(), name)
				}
			}
		}
		for _, p := range append(m.Parameters(), nn.Buffers(m)...) {
			if !found[p] {
				t.Errorf("%T: %s is in no module", m, p.Name())
			}
		}
	}
}

// TestModulesOnce: what is there twice comes once, functions each time, under their parents, and a loop may end early.
func TestModulesOnce(t *testing.T) {
	root := amp.NewScope(amp.Seed(1))
	defer root.Close()
	l := nn.NewLinear(root, 2, 2)
	net := nn.NewSequential(l, nn.ReLU, nn.Named{Name: "again", Module: l}, nn.ReLU, nn.NewSequential(nn.MaxPool2d(2)))
	var names []string
	for name := range nn.NamedModules(nn.Named{Name: "net", Module: net}) {
		names = append(names, name)
	}
	if got := strings.Join(names, ","); got != ",0,1,3,4,4.0" {
		t.Errorf("modules %s", got)
	}
	for name := range nn.NamedModules(net) {
		if name == "1" {
			break
		}
	}
	if c := nn.Children(nn.Named{Name: "net", Module: net}); len(c) != 5 || c[2].Name != "again" || nn.Children(l) != nil {
		t.Errorf("children %v", c)
	}
}

// A halving is a module without fields, which lies where every other such module does.
type halving struct{}

func (*halving) Forward(s *amp.Scope, x *amp.Tensor) *amp.Tensor { return amp.MulScalar(s, x, 0.5) }
func (*halving) Parameters() []*amp.Tensor                       { return nil }

type optionalParts struct {
	nn.Module
	first, second *nn.Linear
	half, again   *halving
}

func (m *optionalParts) Children() []nn.Named {
	return []nn.Named{{"first", m.first}, {"half", m.half}, {"second", m.second}, {"again", m.again}, {"none", nil}}
}
func (m *optionalParts) Parameters() []*amp.Tensor { return nn.ChildParameters(m) }

// TestModulesOfNothing: modules without fields are not taken for one, and a part that is nil is left out everywhere.
func TestModulesOfNothing(t *testing.T) {
	root := amp.NewScope(amp.Seed(1))
	defer root.Close()
	net := &optionalParts{first: nn.NewLinear(root, 2, 2), half: &halving{}, again: &halving{}}
	nn.NameChildren(net)
	var names []string
	for name, m := range nn.NamedModules(net) {
		names = append(names, name)
		m.Parameters()
	}
	if got := strings.Join(names, ","); got != ",first,half,again" {
		t.Errorf("modules %s", got)
	}
	if state := nn.StateDict(net); len(state) != 2 || state["first.weight"] != net.first.Weight {
		t.Errorf("state %v", state)
	}
}

// normed is a model of one's own as the documentation of Parent writes it: it says nothing of buffers, which its batch norm has.
type normed struct {
	fc *nn.Linear
	bn *nn.BatchNorm
}

func newNormed(s *amp.Scope) *normed {
	m := &normed{nn.NewLinear(s, 4, 4), nn.NewBatchNorm1d(s, 4)}
	nn.NameChildren(m)
	return m
}
func (m *normed) Children() []nn.Named {
	return []nn.Named{{Name: "fc", Module: m.fc}, {Name: "bn", Module: m.bn}}
}
func (m *normed) Parameters() []*amp.Tensor { return nn.ChildParameters(m) }
func (m *normed) Forward(s *amp.Scope, x *amp.Tensor) *amp.Tensor {
	return m.bn.Forward(s, m.fc.Forward(s, x))
}

// TestBuffersOfChildren: running statistics of a Parent that has no Buffers are named, saved, restored and averaged all the same, within
// other modules too.
func TestBuffersOfChildren(t *testing.T) {
	root := amp.NewScope(amp.Seed(1))
	defer root.Close()
	m := newNormed(root)
	net := nn.NewSequential(m, nn.ReLU)
	ema := nn.NewAveragedModel(nn.NewSequential(newNormed(root), nn.ReLU), net, nn.AverageBuffers())
	net.Forward(root, amp.Randn(root, amp.Float32, 3, 1, 8, 4))
	state := nn.StateDict(net)
	want := []string{"0.bn.bias", "0.bn.num_batches_tracked", "0.bn.running_mean", "0.bn.running_var", "0.bn.weight", "0.fc.bias", "0.fc.weight"}
	if got := slices.Sorted(maps.Keys(state)); !slices.Equal(got, want) {
		t.Fatalf("state of %v, want %v", got, want)
	}
	back := nn.NewSequential(newNormed(root), nn.ReLU)
	if err := nn.LoadStateDict(back, state); err != nil {
		t.Fatal(err)
	}
	ema.Update(root)
	x := amp.Randn(root, amp.Float32, 0, 1, 2, 4)
	y := net.Forward(root.Eval(), x).Float64s()
	for name, got := range map[string][]float64{"restored": back.Forward(root.Eval(), x).Float64s(), "averaged": ema.Forward(root.Eval(), x).Float64s()} {
		if !slices.Equal(got, y) {
			t.Errorf("%s: %v, want %v", name, got, y)
		}
	}
	if n := len(nn.Buffers(nn.Named{Name: "x", Module: m})); n != 3 {
		t.Errorf("a Named of it has %d buffers, want 3", n)
	}
}

// TestBuffersOfWrappedModels: so do package amp, which does not know of children, and what it wraps such a model in.
func TestBuffersOfWrappedModels(t *testing.T) {
	root := amp.NewScope(amp.Seed(1))
	defer root.Close()
	m := newNormed(root)
	for name, got := range map[string][]*amp.Tensor{"model": amp.BuffersOf(m), "policy": amp.MustPolicy("float16").Apply(m).Buffers(), "none": append(nn.Buffers(m), amp.BuffersOf(m.fc)...)} {
		if !slices.Equal(got, nn.Buffers(m.bn)) {
			t.Errorf("%s: %d buffers, want 3", name, len(got))
		}
	}
}
