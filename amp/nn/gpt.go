package nn

import (
	"math"

	"github.com/halftone-ml/halftone/amp"
)

// GPTConfig is the size of a GPT.
type GPTConfig struct {
	Vocabulary int     // tokens; 0 stands for 256, the bytes of a text
	Context    int     // the longest sequence
	Features   int     // per token
	Layers     int     // transformer blocks
	Heads      int     // of attention; must divide Features
	Hidden     int     // features within a block's linear layers; 0 stands for 4·Features
	Dropout    float64 // while training
	Tied       bool    // the output layer shares the table of tokens: one parameter
}

// GPT is a decoder-only transformer (Radford et al., Language Models are Unsupervised Multitask Learners, 2019): embeddings of
// tokens and positions, causal pre-norm blocks with GELU, a norm, and a linear layer without bias to one logit per token.
type GPT struct {
	Tokens    *Embedding // wte
	Positions *PositionalEncoding
	Blocks    []*TransformerEncoderLayer
	Norm      *LayerNorm
	Head      *Linear // nil if it shares Tokens.Weight
	Config    GPTConfig
}

// NewGPT returns a model whose parts have GPT-2's names, "wte.weight" and "wpe.weight" to "ln_f.weight" and "lm_head.weight", blocks being
// "h.0", "h.1" …; within a block the names, and the layout of the weights, are those of PyTorch's encoder layer, "h.0.self_attn.in_proj_weight"
// to "h.0.norm2.bias", so that a file of GPT-2's needs its blocks renamed and their matrices transposed. Weights are normal with deviation
// 0.02, those that end a residual branch with 0.02/√(2·Layers), biases zero. It panics with amp.ErrArgument for sizes that do not fit.
func NewGPT(s *amp.Scope, c GPTConfig) *GPT {
	if c.Vocabulary == 0 {
		c.Vocabulary = 256
	}
	if c.Hidden == 0 {
		c.Hidden = 4 * c.Features
	}
	checkSizes("NewGPT", []int{c.Vocabulary, c.Context, c.Features, c.Layers, c.Heads, c.Hidden})
	g := &GPT{
		Tokens: NewEmbedding(s, c.Vocabulary, c.Features), Positions: NewLearnedPositions(s, c.Context, c.Features),
		Norm: NewLayerNorm(s, c.Features), Config: c,
	}
	Normal(s, g.Tokens.Weight, 0, 0.02)
	g.Positions.Dropout = c.Dropout
	for range c.Layers {
		b := NewTransformerEncoderLayer(s, c.Features, c.Heads, c.Hidden, TransformerOptions{PreNorm: true, Causal: true, Activation: GELU, Dropout: c.Dropout})
		initBlock(s, b, c.Layers)
		g.Blocks = append(g.Blocks, b)
	}
	if !c.Tied {
		g.Head = NewLinear(s, c.Features, c.Vocabulary, NoBias())
		Normal(s, g.Head.Weight, 0, 0.02)
	}
	NameChildren(g)
	if c.Tied {
		tie(g.Tokens.Weight, "lm_head.weight")
	}
	return g
}

// initBlock draws a block's weights as GPT-2 does; what ends a residual branch is smaller, since branches add up.
func initBlock(s *amp.Scope, b *TransformerEncoderLayer, layers int) {
	end := 0.02 / math.Sqrt(2*float64(layers))
	Normal(s, b.SelfAttn.InProjWeight, 0, 0.02)
	Normal(s, b.Linear1.Weight, 0, 0.02)
	Normal(s, b.SelfAttn.OutProj.Weight, 0, end)
	Normal(s, b.Linear2.Weight, 0, end)
	Normal(s, b.Linear1.Bias, 0, 0)
	Normal(s, b.Linear2.Bias, 0, 0)
}

// Children returns the parts in their order of use.
func (g *GPT) Children() []Named {
	out := append([]Named{{"wte", g.Tokens}, {"wpe", g.Positions}}, numbered("h", g.Blocks)...)
	out = append(out, Named{"ln_f", g.Norm})
	if g.Head != nil {
		out = append(out, Named{"lm_head", g.Head})
	}
	return out
}

// Parameters returns the parameters in their order of use, a shared table once.
func (g *GPT) Parameters() []*amp.Tensor { return ChildParameters(g) }

// Forward returns logits [… positions vocabulary] for int64 tokens [… positions]. It panics with amp.ErrShape for a sequence longer
// than the context and with amp.ErrArgument for a token outside the vocabulary.
func (g *GPT) Forward(s *amp.Scope, tokens *amp.Tensor) *amp.Tensor {
	x := g.features(s, tokens, nil)
	y := g.logits(s, x)
	x.Done()
	return y
}

// features is what the output layer sees. With a cache the tokens [batch positions] follow those it has seen, and are added to it.
func (g *GPT) features(s *amp.Scope, tokens *amp.Tensor, cache *gptCache) *amp.Tensor {
	built("GPT", g != nil && g.Tokens != nil && g.Positions != nil && g.Norm != nil)
	t := g.Tokens.Forward(s.In("wte"), tokens)
	x := g.Positions.from(s.In("wpe"), t, cache.seen())
	t.Done()
	for i, b := range g.Blocks {
		if cache == nil {
			x = b.Forward(s.In(number("h", i)), x)
		} else {
			x = b.follow(s.In(number("h", i)), x, cache, i)
		}
	}
	cache.add(tokens)
	return g.Norm.Forward(s.In("ln_f"), x)
}

func (g *GPT) logits(s *amp.Scope, x *amp.Tensor) *amp.Tensor {
	if g.Head == nil {
		return amp.Linear(s.In("lm_head"), x, g.Tokens.Weight, nil)
	}
	return g.Head.Forward(s.In("lm_head"), x)
}

// Loss returns the mean cross entropy, in nats per token, of the predictions for tokens [batch positions] against the tokens that
// follow them, targets of the same shape.
func (g *GPT) Loss(s *amp.Scope, tokens, targets *amp.Tensor) *amp.Tensor {
	y := g.Forward(s, tokens)
	return CrossEntropyLoss(s, amp.Reshape(s, y, -1, g.Config.Vocabulary), amp.Reshape(s, targets, -1))
}
