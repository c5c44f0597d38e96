package nn

import (
	"fmt"
	"math"
	"slices"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/amp/internal/cpu"
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

// NewGPT returns a model with parameters named as GPT-2's, "wte.weight" to "lm_head.weight", blocks being "h.0", "h.1" … Weights are
// normal with deviation 0.02, those that end a residual branch with 0.02/√(2·Layers), biases zero. It panics with amp.ErrArgument
// for sizes that do not fit.
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
	done := map[*amp.Tensor]bool{}
	for i, m := range g.modules() {
		Prefix(g.names()[i], m, done)
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

// modules lists the parts in their order of use; names gives their names.
func (g *GPT) modules() []Module {
	out := []Module{g.Tokens, g.Positions}
	for _, b := range g.Blocks {
		out = append(out, b)
	}
	out = append(out, g.Norm)
	if g.Head != nil {
		out = append(out, g.Head)
	}
	return out
}

func (g *GPT) names() []string {
	out := []string{"wte", "wpe"}
	for i := range g.Blocks {
		out = append(out, fmt.Sprintf("h.%d", i))
	}
	return append(out, "ln_f", "lm_head")
}

// Parameters returns the parameters in their order of use, a shared table once.
func (g *GPT) Parameters() []*amp.Tensor { return ParametersOf(g.modules()...) }

// Forward returns logits [… positions vocabulary] for int64 tokens [… positions]. It panics with amp.ErrShape for a sequence longer
// than the context and with amp.ErrArgument for a token outside the vocabulary.
func (g *GPT) Forward(s *amp.Scope, tokens *amp.Tensor) *amp.Tensor {
	x := g.features(s, tokens)
	y := g.logits(s, x)
	x.Done()
	return y
}

// features is what the output layer sees.
func (g *GPT) features(s *amp.Scope, tokens *amp.Tensor) *amp.Tensor {
	names := g.names()
	t := g.Tokens.Forward(s.In("wte"), tokens)
	x := g.Positions.Forward(s.In("wpe"), t)
	t.Done()
	for i, b := range g.Blocks {
		x = b.Forward(s.In(names[2+i]), x)
	}
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

// Generate returns prompt followed by n tokens, each drawn from the model's predictions by the scope's random stream: logits are
// divided by temperature first, so that below 1 likely tokens become likelier, and with temperature 0 the likeliest is taken. With
// topK above 0 only the topK likeliest are drawn from. Where the sequence outgrows the context its end counts. No graph is
// recorded, and nothing is dropped out. It panics with amp.ErrArgument for an empty prompt, a negative n or a negative temperature.
func (g *GPT) Generate(s *amp.Scope, prompt []int64, n int, temperature float64, topK int) []int64 {
	if len(prompt) == 0 || n < 0 || !(temperature >= 0) {
		misused("Generate", "start from at least one token, and use a temperature of 0 and above", "%d tokens of prompt, %d to make, temperature %v", len(prompt), n, temperature)
	}
	out := slices.Clone(prompt)
	for range n {
		step := s.Child()
		eval := step.NoGrad().Eval()
		seen := out[max(0, len(out)-g.Config.Context):]
		x := g.features(eval, amp.From(seen, 1, len(seen)))
		y := g.logits(eval, amp.Narrow(eval, x, 1, len(seen)-1, 1))
		out = append(out, int64(sample(eval, y.Float64s(), temperature, topK)))
		step.Close()
	}
	return out
}

// sample draws an index by its logit.
func sample(s *amp.Scope, logits []float64, temperature float64, topK int) int {
	order := make([]int, len(logits))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case logits[a] > logits[b]:
			return -1
		case logits[a] < logits[b]:
			return 1
		}
		return 0
	})
	if temperature == 0 {
		return order[0]
	}
	if topK > 0 {
		order = order[:min(topK, len(order))]
	}
	shares, sum := make([]float64, len(order)), 0.0
	for i, k := range order {
		shares[i] = cpu.Exp.Of((logits[k] - logits[order[0]]) / temperature)
		sum += shares[i]
	}
	u := amp.Rand(s, amp.Float64, 0, 1, 1)
	defer u.Free()
	at := u.Item() * sum
	for i, p := range shares {
		if at -= p; at < 0 {
			return order[i]
		}
	}
	return order[0] // rounding, or no finite logit
}
