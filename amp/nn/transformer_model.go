package nn

import (
	"github.com/halftone-ml/halftone/amp"
)

// TransformerConfig is the size of a Transformer; the zero value is PyTorch's default but for dropout.
type TransformerConfig struct {
	Features      int // of both sequences; 0 stands for 512
	Heads         int // of attention, must divide Features; 0 stands for 8
	EncoderLayers int // 0 stands for 6
	DecoderLayers int // 0 stands for 6
	Hidden        int // features within a layer's linear layers; 0 stands for 2048
	// Options are those of all layers. Causal is the decoder's: each position of the target sees itself and those before it, whereas the
	// encoder sees the whole source. FinalNorm is always set.
	Options TransformerOptions
}

// Transformer is an encoder of a source and a decoder of a target that sees what the encoder returns (Vaswani et al., Attention Is All
// You Need, 2017). As in PyTorch it is without embeddings, positions and output layer.
type Transformer struct {
	Encoder *TransformerEncoder
	Decoder *TransformerDecoder
}

// NewTransformer returns a model with parameters named as in PyTorch, "encoder.layers.0.self_attn.in_proj_weight" to
// "decoder.norm.bias". As there all matrices are Xavier uniform. It panics with amp.ErrArgument for sizes that do not fit.
func NewTransformer(s *amp.Scope, c TransformerConfig) *Transformer {
	for _, d := range []struct {
		size     *int
		standard int
	}{{&c.Features, 512}, {&c.Heads, 8}, {&c.EncoderLayers, 6}, {&c.DecoderLayers, 6}, {&c.Hidden, 2048}} {
		if *d.size == 0 {
			*d.size = d.standard
		}
	}
	c.Options.FinalNorm = true
	whole := c.Options
	whole.Causal = false
	t := &Transformer{
		Encoder: NewTransformerEncoder(s, c.EncoderLayers, c.Features, c.Heads, c.Hidden, whole),
		Decoder: NewTransformerDecoder(s, c.DecoderLayers, c.Features, c.Heads, c.Hidden, c.Options),
	}
	NameChildren(t)
	for _, p := range t.Parameters() {
		if p.Rank() > 1 {
			XavierUniform(s, p, 1)
		}
	}
	return t
}

// Children returns encoder and decoder.
func (t *Transformer) Children() []Named {
	return []Named{{"encoder", t.Encoder}, {"decoder", t.Decoder}}
}

// Parameters returns the encoder's, then the decoder's.
func (t *Transformer) Parameters() []*amp.Tensor { return ChildParameters(t) }

// Forward is Run with x as source and target, without masks.
func (t *Transformer) Forward(s *amp.Scope, x *amp.Tensor) *amp.Tensor {
	return t.Run(s, x, x, TransformerMasks{})
}

// TransformerMasks say what attention may look at; see MultiheadAttention.Attend for their shapes. The zero value limits nothing.
// KeyPaddingMask makes masks of padding: that of the source belongs into Source and Memory.
type TransformerMasks struct {
	Source *amp.Tensor // of the source, by itself: broadcast to [… heads S S]
	Target *amp.Tensor // of the target, by itself: broadcast to [… heads T T]; of a causal decoder further to what lies before
	Memory *amp.Tensor // of what the encoder returns, by the target: broadcast to [… heads T S]
}

// Run returns the decoder's output for source [… S features] and target [… T features]: of the target's shape.
func (t *Transformer) Run(s *amp.Scope, source, target *amp.Tensor, masks TransformerMasks) *amp.Tensor {
	built("Transformer", t != nil && t.Encoder != nil && t.Decoder != nil)
	memory := t.Encoder.Run(s.In("encoder"), source, masks.Source)
	return t.Decoder.Run(s.In("decoder"), target, memory, masks.Target, masks.Memory)
}
