package nn

import (
	"iter"
	"reflect"
	"strconv"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/internal/absent"
)

// Modules within modules: which a model is made of, and under what names.

// A Parent is a module made of others. A model of your own that has Children is walked by NamedModules, and gets its Parameters, its
// Buffers and the names of its tensors from them:
//
//	func (m *model) Children() []nn.Named      { return []nn.Named{{Name: "fc1", Module: m.fc1}, {Name: "fc2", Module: m.fc2}} }
//	func (m *model) Parameters() []*amp.Tensor { return nn.ChildParameters(m) }
//	func newModel(s *amp.Scope) *model         { m := &model{…}; nn.NameChildren(m); return m }
//
// Tensors of the model's own, such as a class token, are leaves with a name, which its Parameters puts beside those of the children:
//
//	m.token = amp.Zeros(s, amp.Float32, 1, 1, 64).RequireGrad().SetName("token")
//	nn.Normal(s, m.token, 0, 0.02)
//	…
//	func (m *model) Parameters() []*amp.Tensor { return append([]*amp.Tensor{m.token}, nn.ChildParameters(m)...) }
//
// A model of several inputs has a method of its own beside Forward, as Transformer has Run; where one input is not enough it has no Forward,
// and NoForward makes a module of it for StateDict, checkpoints and the Children of another.
type Parent interface {
	Module
	// Children returns the modules with their names, which stand before those of their tensors: "fc1" before "weight". One that is nil is
	// as good as none.
	Children() []Named
}

// Children returns the modules that a module is made of, none for one that is no Parent. (PyTorch: named_children.)
func Children(m Module) []Named {
	if p, ok := unnamed(m).(Parent); ok {
		return p.Children()
	}
	return nil
}

// unnamed is a module without the name that it has among others.
func unnamed(m Module) Module {
	if n, ok := m.(Named); ok {
		return n.Module
	}
	return m
}

// held is what stands behind a module's wrappers, a Named and a NoForward: what has the fields and may be nil.
func held(m Module) any {
	m = unnamed(m)
	if n, ok := m.(NoForward); ok {
		return n.Of
	}
	return m
}

// NamedModules yields a module, under the name "", and all modules within it, a parent before its children, under names such as
// "encoder.layers.0.norm1". A module that is there twice comes once. (PyTorch: named_modules; module.apply is a loop over it.)
//
//	for name, m := range nn.NamedModules(net) {
//		if l, ok := m.(*nn.Linear); ok && name != "head" {
//			nn.KaimingNormal(root, l.Weight, nn.FanIn, 1)
//		}
//	}
func NamedModules(m Module) iter.Seq2[string, Module] {
	need("NamedModules", m)
	return func(yield func(string, Module) bool) {
		walk("", m, map[Module]bool{}, yield)
	}
}

func walk(name string, m Module, seen map[Module]bool, yield func(string, Module) bool) bool {
	m = unnamed(m)
	if t := reflect.TypeOf(held(m)); t.Kind() == reflect.Pointer && t.Elem().Size() > 0 { // a Func, or a pointer to nothing, is the same as no other
		if seen[m] {
			return true
		}
		seen[m] = true
	}
	if !yield(name, m) {
		return false
	}
	for _, c := range Children(m) {
		if missing(c) {
			continue
		}
		below := c.Name
		if name != "" {
			below = name + "." + c.Name
		}
		if !walk(below, c.Module, seen, yield) {
			return false
		}
	}
	return true
}

// NameChildren puts the names of a module's children before those of their parameters and buffers; what its constructor does once, at its
// end. Tensors that several of them share keep the name of the first; see Prefix.
//
// It takes a model without a Forward of one input as it is, as ChildParameters and ChildBuffers do: no NoForward is needed for that.
func NameChildren(p interface{ Children() []Named }) {
	needChildren("NameChildren", p)
	if m, ok := p.(Module); ok {
		need("NameChildren", m)
	}
	done := map[*amp.Tensor]bool{}
	for _, c := range p.Children() {
		if !missing(c) {
			Prefix(c.Name, c.Module, done)
		}
	}
}

func needChildren(op string, p interface{ Children() []Named }) {
	if absent.Is(p) {
		misused(op, "pass a module", "the module is nil")
	}
}

// ChildParameters returns the parameters of a module's children in order, each once. It panics with amp.ErrArgument for a nil module.
func ChildParameters(p interface{ Children() []Named }) []*amp.Tensor {
	return within("ChildParameters", p, Module.Parameters)
}

// ChildBuffers returns the buffers of a module's children in order, each once. It panics with amp.ErrArgument for a nil module.
func ChildBuffers(p interface{ Children() []Named }) []*amp.Tensor {
	return within("ChildBuffers", p, Buffers)
}

func within(op string, p interface{ Children() []Named }, of func(Module) []*amp.Tensor) []*amp.Tensor {
	needChildren(op, p)
	var modules []Module
	for _, c := range p.Children() {
		modules = append(modules, c.Module)
	}
	return collect(modules, of)
}

// numbered names layers of a kind by their places: "h.0", "h.1" …
func numbered[M Module](name string, layers []M) (out []Named) {
	for i, l := range layers {
		out = append(out, Named{number(name, i), l})
	}
	return out
}

func number(name string, i int) string { return name + "." + strconv.Itoa(i) }
