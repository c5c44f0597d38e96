package nn

import (
	"fmt"

	"github.com/halftone-ml/halftone/amp"
)

// TransformerEncoder is several TransformerEncoderLayers, one after another.
type TransformerEncoder struct {
	Layers []*TransformerEncoderLayer
	Norm   *LayerNorm // of the last layer's output; nil without FinalNorm
}

// NewTransformerEncoder returns a stack of so many layers made as NewTransformerEncoderLayer makes one. The parameters are named as in
// PyTorch, "layers.0.self_attn.in_proj_weight" to "norm.bias"; unlike there every layer is drawn by itself. It panics with
// amp.ErrArgument for sizes that do not fit.
func NewTransformerEncoder(s *amp.Scope, layers, features, heads, hidden int, opts TransformerOptions) *TransformerEncoder {
	checkSizes("NewTransformerEncoder", []int{layers})
	e := &TransformerEncoder{Norm: opts.finalNorm(s, features)}
	for range layers {
		e.Layers = append(e.Layers, NewTransformerEncoderLayer(s, features, heads, hidden, opts))
	}
	prefixStack(e.modules(), layers)
	return e
}

func (e *TransformerEncoder) modules() []Module { return stack(e.Layers, e.Norm) }

// Parameters returns those of the layers, then the norm's.
func (e *TransformerEncoder) Parameters() []*amp.Tensor { return ParametersOf(e.modules()...) }

// Forward is Run without a mask.
func (e *TransformerEncoder) Forward(s *amp.Scope, x *amp.Tensor) *amp.Tensor {
	return e.Run(s, x, nil)
}

// Run returns the stack's output for x [… positions features]: of the same shape. Every layer gets the mask; see
// TransformerEncoderLayer.Run.
func (e *TransformerEncoder) Run(s *amp.Scope, x, mask *amp.Tensor) *amp.Tensor {
	for i, l := range e.Layers {
		x = l.Run(s.In(layerName(i)), x, mask)
	}
	return endNorm(s, e.Norm, x)
}

// TransformerDecoder is several TransformerDecoderLayers, one after another, with one memory.
type TransformerDecoder struct {
	Layers []*TransformerDecoderLayer
	Norm   *LayerNorm // of the last layer's output; nil without FinalNorm
}

// NewTransformerDecoder returns a stack of so many layers made as NewTransformerDecoderLayer makes one; see NewTransformerEncoder.
func NewTransformerDecoder(s *amp.Scope, layers, features, heads, hidden int, opts TransformerOptions) *TransformerDecoder {
	checkSizes("NewTransformerDecoder", []int{layers})
	d := &TransformerDecoder{Norm: opts.finalNorm(s, features)}
	for range layers {
		d.Layers = append(d.Layers, NewTransformerDecoderLayer(s, features, heads, hidden, opts))
	}
	prefixStack(d.modules(), layers)
	return d
}

func (d *TransformerDecoder) modules() []Module { return stack(d.Layers, d.Norm) }

// Parameters returns those of the layers, then the norm's.
func (d *TransformerDecoder) Parameters() []*amp.Tensor { return ParametersOf(d.modules()...) }

// Forward is Run with x as its own memory, without masks.
func (d *TransformerDecoder) Forward(s *amp.Scope, x *amp.Tensor) *amp.Tensor {
	return d.Run(s, x, x, nil, nil)
}

// Run returns the stack's output for x [… T features] and memory [… S features]: of x's shape. Every layer gets memory and masks; see
// TransformerDecoderLayer.Run.
func (d *TransformerDecoder) Run(s *amp.Scope, x, memory, mask, memoryMask *amp.Tensor) *amp.Tensor {
	for i, l := range d.Layers {
		x = l.Run(s.In(layerName(i)), x, memory, mask, memoryMask)
	}
	return endNorm(s, d.Norm, x)
}

func layerName(i int) string { return fmt.Sprintf("layers.%d", i) }

// finalNorm returns the norm of a stack, nil without.
func (o TransformerOptions) finalNorm(s *amp.Scope, features int) *LayerNorm {
	if !o.FinalNorm {
		return nil
	}
	n := NewLayerNorm(s, features)
	o.setEps(n)
	return n
}

// stack lists layers and a norm that may be nil.
func stack[L Module](layers []L, norm *LayerNorm) (out []Module) {
	for _, l := range layers {
		out = append(out, l)
	}
	if norm != nil {
		out = append(out, norm)
	}
	return out
}

// stackNames are the names of modules of which the first are layers.
func stackNames(modules []Module, layers int) (out []string) {
	for i := range modules {
		if i < layers {
			out = append(out, layerName(i))
		} else {
			out = append(out, "norm")
		}
	}
	return out
}

func prefixStack(modules []Module, layers int) {
	for i, name := range stackNames(modules, layers) {
		Prefix(name, modules[i], nil)
	}
}

// endNorm applies a norm that may be nil.
func endNorm(s *amp.Scope, n *LayerNorm, x *amp.Tensor) *amp.Tensor {
	if n == nil {
		return x
	}
	return n.Forward(s.In("norm"), x)
}
