package nn_test

import (
	"testing"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/amp/nn"
)

// tensorBytes is the memory of tensors on all devices.
func tensorBytes() (sum int64) {
	for _, m := range amp.MemStats() {
		sum += m.Bytes
	}
	return sum
}

// TestRootScopesTakeTheirTemporaries: what layers make on the way in a root scope goes with its Close, on the host and on a device.
func TestRootScopesTakeTheirTemporaries(t *testing.T) {
	keep := amp.NewScope(amp.Seed(1))
	defer keep.Close()
	lstm := nn.NewLSTM(keep, 3, 4, nn.RecurrentOptions{Bidirectional: true, Layers: 2})
	mha := nn.NewMultiheadAttention(keep, 4, 2, nn.AttentionOptions{})
	gpt := nn.NewGPT(keep, nn.GPTConfig{Context: 8, Features: 8, Layers: 1, Heads: 2, Vocabulary: 11})
	lengths := amp.From([]int64{1, 3, 2}).To(keep)
	x, q := amp.Randn(keep, amp.Float32, 0, 1, 4, 3, 3), amp.Randn(keep, amp.Float32, 0, 1, 2, 3, 4)
	prompts := amp.Zeros(keep, amp.Int64, 2, 3)
	pattern := amp.Zeros(keep, amp.Float32, 3, 3)
	for name, f := range map[string]func(s *amp.Scope){
		"lengths":     func(s *amp.Scope) { nn.KeyPaddingMask(s, nn.LengthMask(s, lengths, 4)) },
		"causal mask": func(s *amp.Scope) { nn.CausalMask(s, 5) },
		"attention":   func(s *amp.Scope) { mha.Attend(s, q, q, q, pattern, true) },
		"weights":     func(s *amp.Scope) { mha.Weights(s, q, q, nil, true) },
		"LSTM": func(s *amp.Scope) {
			y, _ := lstm.RunLengths(s, x, lengths, nn.RecurrentState{})
			amp.Sum(s, y).Backward()
			for _, p := range lstm.Parameters() {
				p.ZeroGrad()
			}
		},
		"generation": func(s *amp.Scope) { gpt.Continue(s, prompts, 3, nn.Sampling{Temperature: 1}) },
		"summary":    func(s *amp.Scope) { nn.Summary(s, mha, q) },
	} {
		run := func() {
			root := amp.NewScope()
			f(root)
			root.Close()
		}
		run() // what a device or a layer makes once
		before := tensorBytes()
		for range 3 {
			run()
		}
		if now := tensorBytes(); now != before {
			t.Errorf("%s: %d bytes after three roots, %d before", name, now, before)
		}
	}
}

// TestConstructorsKeepTheirParametersAlone: a layer made in a root scope leaves nothing else there.
func TestConstructorsKeepTheirParametersAlone(t *testing.T) {
	for name, build := range map[string]func(s *amp.Scope) []*amp.Tensor{
		"attention": func(s *amp.Scope) []*amp.Tensor {
			return nn.NewMultiheadAttention(s, 8, 2, nn.AttentionOptions{}).Parameters()
		},
		"positions":  func(s *amp.Scope) []*amp.Tensor { return []*amp.Tensor{nn.NewPositionalEncoding(s, 4, 8).Table} },
		"layer norm": func(s *amp.Scope) []*amp.Tensor { return nn.NewLayerNorm(s, 8).Parameters() },
	} {
		before := tensorBytes()
		s := amp.NewScope()
		var want int64
		for _, p := range build(s) {
			want += p.Bytes()
		}
		s.Close()
		if got := tensorBytes() - before; got != want {
			t.Errorf("%s: %d bytes, its parameters have %d", name, got, want)
		}
	}
}

// TestGenerationCastsWeightsOnce: under autocast a token costs no casts of weights, whose copies go with the generation.
func TestGenerationCastsWeightsOnce(t *testing.T) {
	root := amp.NewScope(amp.Seed(1), amp.Record(amp.Decisions))
	defer root.Close()
	g := nn.NewGPT(root, nn.GPTConfig{Context: 16, Features: 8, Layers: 2, Heads: 2, Vocabulary: 11})
	prompts := amp.Zeros(root, amp.Int64, 1, 3)
	weights := func(n int) (made int) {
		from := len(root.Trace().Events)
		g.Continue(root.Autocast(amp.BFloat16), prompts, n, nn.Sampling{})
		for _, e := range root.Trace().Events[from:] {
			if e.Cast != nil && e.Cast.Cached && !e.Cast.Hit {
				made++
			}
		}
		return made
	}
	one, ten := weights(1), weights(10)
	if one == 0 || ten != one {
		t.Errorf("%d casts of weights for one token, %d for ten", one, ten)
	}
	before := tensorBytes()
	for range 3 {
		s := root.Child()
		g.Continue(s.Autocast(amp.Float16), prompts, 4, nn.Sampling{})
		s.Close()
	}
	if now := tensorBytes(); now != before {
		t.Errorf("%d bytes after three generations, %d before", now, before)
	}
}
