// Package nn holds layers, losses and models built from amp's public ops. Names, defaults, initial values and the names of saved state
// are those of torch.nn.
//
//	net := nn.NewSequential(
//		nn.NewConv2d(root, 3, 32, 3, nn.Padding(1)), nn.NewBatchNorm2d(root, 32), nn.ReLU, nn.MaxPool2d(2),
//		nn.Flatten, nn.NewLinear(root, 32*16*16, 10))
//	half := s.Autocast(amp.Float16)
//	loss := nn.CrossEntropyLoss(half, net.Forward(half, x), labels)
//
// A layer is a Module: it owns its parameters and is called with the scope that says how it runs: autocast, training or evaluation,
// gradients. Layers never store a scope. Layers with parameters are made in a root scope by New… functions, which draw from its random
// stream; those without are values (ReLU) or functions of their settings (MaxPool2d). A function of one tensor is a Module as a Func.
//
// # Models of your own
//
// A struct with Forward and Parameters is a Module, and with Children, the modules it is made of, a Parent, for which NameChildren,
// ChildParameters and NamedModules do the rest; Prefix names the tensors of a part, Buffered adds tensors that are no parameters.
// Parameters are named by their place in the model ("0.weight"), and ops are recorded under the same path. To share a weight, give
// both layers the same tensor: it counts, moves and is saved once, under TiedNames with all its names, as PyTorch does. StateDict and
// LoadStateDict exchange weights, with package safetensors also with Python. WeightNorm and SpectralNorm compute a layer's weight from other
// tensors, which are then trained instead. Summary prints a model's modules with dtypes, parameters,
// FLOPs and memory.
//
// # Sequences
//
// Sequences are [batch positions features]. A mask of attention is broadcast to [batch heads T S], and true lets a key take part, which is
// the opposite of what PyTorch's modules take; KeyPaddingMask makes one of padding, and a causal layer takes it too. Recurrent networks run
// sequences of different lengths by RunLengths. GPT.Continue generates.
//
// # Precision
//
// Parameters are float32 unless the DType option says otherwise, and stay so under autocast, which casts copies. Norms compute in
// float32, and running statistics are float32 whatever the model is cast to. Losses take tensors of any float dtype and return
// float32 under autocast; all take a Reduction and what else of torch's options applies (LossWeight, LabelSmoothing …).
package nn

import (
	"fmt"
	"slices"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/internal/parents"
)

// A Module is a layer or a model.
type Module interface {
	// Forward returns the module's output for input x, run as scope s says.
	Forward(s *amp.Scope, x *amp.Tensor) *amp.Tensor
	// Parameters returns the trainable tensors in a fixed order.
	Parameters() []*amp.Tensor
}

// A Buffered module owns tensors that are no parameters and yet part of its state, such as the running statistics of batch norm.
type Buffered interface {
	// Buffers returns them in a fixed order, named as parameters are.
	Buffers() []*amp.Tensor
}

// Buffers returns the buffers of a module: those it says it has, else those of its children. A module that is neither Buffered nor a
// Parent has none, whatever layers it holds.
func Buffers(m Module) []*amp.Tensor {
	return amp.BuffersOf(unnamed(m))
}

// amp.BuffersOf asks here for what a model of amp's does not say.
func init() {
	parents.Buffers = func(model any) any {
		if p, ok := model.(Parent); ok {
			return ChildBuffers(p)
		}
		return nil
	}
}

// Prefix puts "prefix." before the names of a module's parameters and buffers and returns the module; what a model made of other
// modules calls once for each, in its constructor. Tensors for which done is true are left alone, and done is set for the others,
// so that a tensor shared by two modules keeps the name its first owner gives it; a nil map shares nothing. The name that the second
// gives it is known to LoadStateDict and TiedNames, if that is a module of this package. It panics with amp.ErrArgument for a nil module.
func Prefix(prefix string, m Module, done map[*amp.Tensor]bool) Module {
	need("Prefix", m)
	for _, t := range append(m.Parameters(), Buffers(m)...) {
		if done[t] {
			if name := nameWithin(m, t); name != "" {
				tie(t, prefix+"."+name)
			}
			continue
		}
		prefixed(prefix, t)
		if done != nil {
			done[t] = true
		}
	}
	return m
}

// A Func is a module without parameters made of a function.
type Func func(s *amp.Scope, x *amp.Tensor) *amp.Tensor

// Forward calls f.
func (f Func) Forward(s *amp.Scope, x *amp.Tensor) *amp.Tensor {
	if f == nil {
		misused("Func", "give it a function", "the function is nil")
	}
	return f(s, x)
}

// Parameters returns nil.
func (f Func) Parameters() []*amp.Tensor { return nil }

// Activations as modules; each is amp's function of the same name.
var (
	ReLU     Module = Func(amp.ReLU)
	GELU     Module = Func(amp.GELU)
	SiLU     Module = Func(amp.SiLU)
	Sigmoid  Module = Func(amp.Sigmoid)
	Tanh     Module = Func(amp.Tanh)
	Softplus Module = Func(amp.Softplus)
)

// Sequential runs modules one after another.
type Sequential struct{ parts []Named }

// A Named is a module with the name it has within a Sequential.
type Named struct {
	Name string
	Module
}

// NewSequential returns the modules as one, named "0", "1" … by place; nn.Named{Name: "head", Module: m} names one otherwise.
// Parameters get the path as prefix: "0.weight". It panics with amp.ErrArgument for a nil module or a name used twice.
func NewSequential(modules ...Module) *Sequential {
	q := &Sequential{}
	used := map[string]bool{}
	for i, m := range modules {
		name := fmt.Sprint(i)
		if n, ok := m.(Named); ok {
			name, m = n.Name, n.Module
		}
		if missing(m) || used[name] || name == "" {
			misused("NewSequential", "give each module its own name", "module %d is nil, or its name %q is empty or used twice", i, name)
		}
		used[name] = true
		q.parts = append(q.parts, Named{name, m})
	}
	NameChildren(q)
	return q
}

// Forward runs the modules in order, each recorded under its name.
func (q *Sequential) Forward(s *amp.Scope, x *amp.Tensor) *amp.Tensor {
	for _, part := range q.parts {
		x = part.Forward(s.In(part.Name), x)
	}
	return x
}

// Parameters returns the parameters of all modules in order, each once.
func (q *Sequential) Parameters() []*amp.Tensor { return ChildParameters(q) }

// Buffers returns the buffers of all modules in order, each once.
func (q *Sequential) Buffers() []*amp.Tensor { return ChildBuffers(q) }

// ParametersOf returns the parameters of modules in order, each once though modules may share it. Nil modules are left out.
func ParametersOf(modules ...Module) []*amp.Tensor {
	return collect(modules, Module.Parameters)
}

// BuffersOf returns the buffers of modules in order, each once. Nil modules are left out.
func BuffersOf(modules ...Module) []*amp.Tensor {
	return collect(modules, Buffers)
}

func collect(modules []Module, of func(Module) []*amp.Tensor) []*amp.Tensor {
	var out []*amp.Tensor
	seen := map[*amp.Tensor]bool{}
	for _, m := range modules {
		if missing(m) {
			continue
		}
		for _, t := range of(m) {
			if !seen[t] {
				seen[t] = true
				out = append(out, t)
			}
		}
	}
	return out
}

// Children returns the modules with their names.
func (q *Sequential) Children() []Named { return slices.Clone(q.parts) }

// Modules returns the modules in order.
func (q *Sequential) Modules() (out []Module) {
	for _, part := range q.parts {
		out = append(out, part.Module)
	}
	return out
}
