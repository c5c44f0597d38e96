package amp

import (
	"maps"
	"slices"
	"testing"
)

// An inputDim is a dimension of an input of a case.
type inputDim struct{ input, dim int }

// emptied returns the case without elements: of the dimensions that have one size any are 0, since of those that happen to be equal some
// have to be and others not. The other sizes are what they were, and large, since kernels for large ones are others.
func (c opCase) emptied() []opCase {
	var out []opCase
	for _, of := range append([]opCase{c}, c.enlarged(someElements)...) {
		places := map[int][]inputDim{}
		for i, in := range of.inputs {
			for d, n := range in.shape {
				places[n] = append(places[n], inputDim{i, d})
			}
		}
		for _, n := range slices.Sorted(maps.Keys(places)) {
			for some := 1; some < 1<<len(places[n]); some++ {
				e := of
				e.inputs = slices.Clone(of.inputs)
				for k, p := range places[n] {
					if some>>k&1 == 1 {
						e.inputs[p.input].shape = slices.Clone(e.inputs[p.input].shape)
						e.inputs[p.input].shape[p.dim] = 0
					}
				}
				out = append(out, e)
			}
		}
	}
	return out
}

// TestEveryOpOfNothing gives every row that a program can call inputs without elements, as the last batch of a dataset may be. A row refuses
// them with an *Error, or has a result and gradients, also of the gradients, of the right shapes; what no element of a result depends on has
// a gradient of zeros. A device agrees with the CPU.
func TestEveryOpOfNothing(t *testing.T) {
	took := 0
	for _, name := range caseNames() {
		t.Run(name, func(t *testing.T) {
			for _, c := range opCases[name] {
				for _, e := range c.emptied() {
					out, ok := e.ofNothing(t, home())
					if ok {
						took++
					}
					if home() == "cpu" {
						continue
					}
					want, wanted := e.ofNothing(t, "cpu")
					if ok != wanted {
						t.Fatalf("%s %v: taken %v, on the CPU %v", c.name, e.inputs, ok, wanted)
					}
					e.agree(t, want, out, 0x1p-24, 4)
				}
			}
		})
	}
	if took < 8300 {
		t.Errorf("only %d cases were taken", took)
	}
}

// ofNothing runs a case on a device, forward and, for two gradients, backward, and says whether the row took the inputs.
func (c opCase) ofNothing(t *testing.T, device string) (out outcome, took bool) {
	defer SetDefaultDevice(SetDefaultDevice(device))
	root := NewScope(Seed(9))
	defer root.Close()
	defer func() {
		if r := recover(); r != nil {
			t.Errorf("%s %v on %s: %v", c.name, c.inputs, device, r)
		}
	}()
	in := c.draws(root, Float32, 5)
	var y *Tensor
	if err := Maybe(settled(root, func() { y = c.call(root, in) })); err != nil {
		return out, false
	}
	out = outcome{y.dt, [][]float64{y.Float64s()}}
	if got := len(out.lists[0]); got != length(y.shape) {
		t.Errorf("%s %v: %d elements of a result of shape %v", c.name, c.inputs, got, y.shape)
	}
	if !y.needs {
		return out, true
	}
	again := Zeros(root, Float32)
	for i, g := range Grad(root, []*Tensor{Sum(root, y)}, in, CreateGraph()) {
		if x := in[i]; !slices.Equal(g.shape, x.shape) || g.dt != x.dt {
			t.Errorf("%s, input %d, %v %v: gradient %v %v", c.name, i, x.dt, x.shape, g.dt, g.shape)
		}
		values := g.Float64s()
		if y.Len() == 0 && slices.ContainsFunc(values, func(v float64) bool { return v != 0 }) {
			t.Errorf("%s, input %d, %v: gradient %v of a result of shape %v", c.name, i, in[i].shape, values, y.shape)
		}
		out.lists = append(out.lists, values)
		again = Add(root, again, project(root, g, uint64(20+i)))
	}
	if again.needs {
		again.Backward()
	}
	return out, true
}
