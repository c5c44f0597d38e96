package nn_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/amp/nn"
)

// towers is a model of two inputs.
type towers struct {
	left, right *nn.Sequential
	mix         *nn.Bilinear
}

func newTowers(s *amp.Scope) *towers {
	m := &towers{nn.NewSequential(nn.NewLinear(s, 3, 4), nn.NewBatchNorm1d(s, 4)), nn.NewSequential(nn.NewLinear(s, 2, 4)), nn.NewBilinear(s, 4, 4, 1)}
	nn.NameChildren(m)
	return m
}

func (m *towers) Children() []nn.Named {
	return []nn.Named{{Name: "left", Module: m.left}, {Name: "right", Module: m.right}, {Name: "mix", Module: nn.NoForward{Of: m.mix}}}
}
func (m *towers) Parameters() []*amp.Tensor { return nn.ChildParameters(m) }
func (m *towers) Run(s *amp.Scope, a, b *amp.Tensor) *amp.Tensor {
	return m.mix.Forward(s.In("mix"), m.left.Forward(s.In("left"), a), m.right.Forward(s.In("right"), b))
}

// A model of two inputs, with a state as any other has.
func ExampleNoForward() {
	root := amp.NewScope(amp.Seed(1))
	defer root.Close()
	net := newTowers(root)
	y := net.Run(root, amp.Ones(root, amp.Float32, 5, 3), amp.Ones(root, amp.Float32, 5, 2))
	fmt.Println(y.Shape())
	fmt.Println(nn.NoForward{Of: net})
	fmt.Println(slices.Sorted(maps.Keys(nn.StateDict(nn.NoForward{Of: net})))[5:])
	// Output:
	// [5 1]
	// towers(
	//   (left): Sequential(
	//     (0): Linear(weight=[4 3], bias=[4])
	//     (1): BatchNorm(weight=[4], bias=[4], running_mean=[4], running_var=[4])
	//   )
	//   (right): Sequential(
	//     (0): Linear(weight=[4 2], bias=[4])
	//   )
	//   (mix): Bilinear(weight=[1 4 4], bias=[1])
	// )
	// [left.1.running_var left.1.weight mix.bias mix.weight right.0.bias right.0.weight]
}

// TestNoForwardLoads: the state of one model fits another, and nothing of it is left out.
func TestNoForwardLoads(t *testing.T) {
	root := amp.NewScope(amp.Seed(2))
	defer root.Close()
	from, to := newTowers(root), newTowers(root)
	if err := nn.LoadStateDict(nn.NoForward{Of: to}, nn.StateDict(nn.NoForward{Of: from})); err != nil {
		t.Fatal(err)
	}
	a, b := amp.Randn(root, amp.Float32, 0, 1, 5, 3), amp.Randn(root, amp.Float32, 0, 1, 5, 2)
	if x, y := from.Run(root, a, b).Float64s(), to.Run(root, a, b).Float64s(); !slices.Equal(x, y) {
		t.Errorf("%v, loaded %v", x, y)
	}
	if n := len(nn.Buffers(nn.NoForward{Of: from})); n != 3 {
		t.Errorf("%d buffers", n)
	}
}

// TestNoForwardIsWalked: a walk meets each module once, by its name.
func TestNoForwardIsWalked(t *testing.T) {
	root := amp.NewScope(amp.Seed(3))
	defer root.Close()
	m := newTowers(root)
	twice := nn.NewSequential(nn.Named{Name: "a", Module: nn.NoForward{Of: m}}, nn.Named{Name: "b", Module: nn.NoForward{Of: m}})
	var names []string
	for name := range nn.NamedModules(twice) {
		names = append(names, name)
	}
	if got, want := strings.Join(names, " "), " a a.left a.left.0 a.left.1 a.right a.right.0 a.mix"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if all := nn.StateDict(twice, nn.TiedNames()); all["a.mix.weight"] == nil || all["b.mix.weight"] != all["a.mix.weight"] {
		t.Errorf("%v", slices.Sorted(maps.Keys(all)))
	}
}

// TestNoForwardRefuses: there is no Forward, and nothing is no module.
func TestNoForwardRefuses(t *testing.T) {
	root := amp.NewScope(amp.Seed(4))
	defer root.Close()
	m := newTowers(root)
	x := amp.Ones(root, amp.Float32, 1, 3)
	for name, f := range map[string]func(){
		"*nn_test.towers has no Forward of one input": func() { nn.NoForward{Of: m}.Forward(root, x) },
		"*nn.Bilinear has no Forward":                 func() { nn.NewSequential(nn.NoForward{Of: m.mix}).Forward(root, x) },
		"the module is nil":                           func() { nn.StateDict(nn.NoForward{}) },
		"the module is nil: pass":                     func() { nn.NoForward{Of: (*towers)(nil)}.Forward(root, x) },
		"module 0 is nil":                             func() { nn.NewSequential(nn.NoForward{Of: (*nn.Bilinear)(nil)}) },
	} {
		err := amp.Maybe(f)
		var e *amp.Error
		if !errors.As(err, &e) || !errors.Is(err, amp.ErrArgument) || !strings.Contains(strings.ReplaceAll(err.Error(), "; fix: ", ": "), name) {
			t.Errorf("%v, want %q", err, name)
		}
	}
	if got := fmt.Sprint(nn.NoForward{}); got != "NoForward(nil)" {
		t.Error(got)
	}
}

// TestChildrenWithoutForward: what a model of several inputs asks for in its own methods, it asks for itself, and a wrapped one is the same.
func TestChildrenWithoutForward(t *testing.T) {
	s := amp.NewScope()
	defer s.Close()
	m := newTowers(s)
	if a, b := nn.ChildParameters(m), nn.ChildParameters(nn.NoForward{Of: m}); len(a) != 8 || !slices.Equal(a, b) {
		t.Errorf("%d parameters, %d wrapped", len(a), len(b))
	}
	if a, b := nn.ChildBuffers(m), nn.ChildBuffers(nn.NoForward{Of: m}); len(a) != 3 || !slices.Equal(a, b) {
		t.Errorf("%d buffers, %d wrapped", len(a), len(b))
	}
	if name := m.left.Parameters()[0].Name(); name != "left.0.weight" {
		t.Errorf("named %q", name)
	}
	for _, missing := range []interface{ Children() []nn.Named }{nil, (*towers)(nil), nn.NoForward{}} {
		if err := amp.Maybe(func() { nn.NameChildren(missing) }); !errors.Is(err, amp.ErrArgument) {
			t.Errorf("%T: %v", missing, err)
		}
	}
}
