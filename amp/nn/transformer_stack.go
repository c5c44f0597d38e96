package nn

import "github.com/halftone-ml/halftone/amp"

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
	NameChildren(e)
	return e
}

// Children returns the layers, then the norm.
func (e *TransformerEncoder) Children() []Named { return stacked(e.Layers, e.Norm) }

// Parameters returns those of the layers, then the norm's.
func (e *TransformerEncoder) Parameters() []*amp.Tensor { return ChildParameters(e) }

// Forward is Run without a mask.
func (e *TransformerEncoder) Forward(s *amp.Scope, x *amp.Tensor) *amp.Tensor {
	return e.Run(s, x, nil)
}

// Run returns the stack's output for x [… positions features]: of the same shape. Every layer gets the mask; see
// TransformerEncoderLayer.Run.
func (e *TransformerEncoder) Run(s *amp.Scope, x, mask *amp.Tensor) *amp.Tensor {
	return runStack(s, e.Layers, e.Norm, x, func(l *TransformerEncoderLayer, s *amp.Scope, x *amp.Tensor) *amp.Tensor { return l.Run(s, x, mask) })
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
	NameChildren(d)
	return d
}

// Children returns the layers, then the norm.
func (d *TransformerDecoder) Children() []Named { return stacked(d.Layers, d.Norm) }

// Parameters returns those of the layers, then the norm's.
func (d *TransformerDecoder) Parameters() []*amp.Tensor { return ChildParameters(d) }

// Forward is Run with x as its own memory, without masks.
func (d *TransformerDecoder) Forward(s *amp.Scope, x *amp.Tensor) *amp.Tensor {
	return d.Run(s, x, x, nil, nil)
}

// Run returns the stack's output for x [… T features] and memory [… S features]: of x's shape. Every layer gets memory and masks; see
// TransformerDecoderLayer.Run.
func (d *TransformerDecoder) Run(s *amp.Scope, x, memory, mask, memoryMask *amp.Tensor) *amp.Tensor {
	return runStack(s, d.Layers, d.Norm, x, func(l *TransformerDecoderLayer, s *amp.Scope, x *amp.Tensor) *amp.Tensor {
		return l.Run(s, x, memory, mask, memoryMask)
	})
}

// finalNorm returns the norm of a stack, nil without.
func (o TransformerOptions) finalNorm(s *amp.Scope, features int) *LayerNorm {
	if !o.FinalNorm {
		return nil
	}
	return o.norm(s, features)
}

// stacked names layers and a norm that may be nil.
func stacked[L Module](layers []L, norm *LayerNorm) []Named {
	out := numbered("layers", layers)
	if norm != nil {
		out = append(out, Named{"norm", norm})
	}
	return out
}

// runStack runs layers, then a norm that may be nil.
func runStack[L Module](s *amp.Scope, layers []L, norm *LayerNorm, x *amp.Tensor, run func(l L, s *amp.Scope, x *amp.Tensor) *amp.Tensor) *amp.Tensor {
	for i, l := range layers {
		x = run(l, s.In(number("layers", i)), x)
	}
	if norm != nil {
		x = norm.Forward(s.In("norm"), x)
	}
	return x
}
