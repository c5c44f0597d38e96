package nn

import "github.com/halftone-ml/halftone/amp"

// NoForward is the Module of something that has parameters and no Forward of one input: a Bilinear, or a model of your own that takes two. It can
// be among the Children of another and in a checkpoint, and StateDict, LoadStateDict and NamedModules take it. Names, buffers and children are
// those of what it holds, as far as that has the methods Buffers and Children of a module:
//
//	func (m *towers) Children() []nn.Named {
//		return []nn.Named{{Name: "left", Module: m.left}, {Name: "mix", Module: nn.NoForward{Of: m.mix}}}
//	}
//	func (m *towers) Parameters() []*amp.Tensor { return nn.ChildParameters(m) }
//	…
//	nn.NameChildren(m)
//	state := nn.StateDict(nn.NoForward{Of: m})
//
// (In PyTorch forward takes any inputs.)
type NoForward struct {
	Of interface{ Parameters() []*amp.Tensor }
}

// Forward panics with amp.ErrArgument: a program calls the method of what NoForward holds.
func (n NoForward) Forward(s *amp.Scope, x *amp.Tensor) *amp.Tensor {
	need("NoForward", n)
	misused("NoForward", "call the method of its own that takes its inputs", "a %T has no Forward of one input", n.Of)
	return nil
}

// Parameters returns those of what NoForward holds.
func (n NoForward) Parameters() []*amp.Tensor {
	need("NoForward", n)
	return n.Of.Parameters()
}

// Buffers returns those of what NoForward holds, or of its children.
func (n NoForward) Buffers() []*amp.Tensor {
	if b, ok := n.Of.(interface{ Buffers() []*amp.Tensor }); ok {
		return b.Buffers()
	}
	return ChildBuffers(n)
}

// Children returns those of what NoForward holds.
func (n NoForward) Children() []Named {
	if p, ok := n.Of.(interface{ Children() []Named }); ok {
		return p.Children()
	}
	return nil
}

// String shows what NoForward holds.
func (n NoForward) String() string {
	if missing(n) {
		return "NoForward(nil)"
	}
	if s, ok := n.Of.(interface{ String() string }); ok {
		return s.String()
	}
	if len(n.Children()) > 0 {
		return tree(n, kindName(n))
	}
	return layer(n)
}
