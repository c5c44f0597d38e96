package nn_test

import (
	"errors"
	"iter"
	"strings"
	"testing"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/amp/nn"
)

// TestModulesThatAreNotThere: nil modules in any guise, and empty layers, are an *amp.Error that names the call, never a fault of Go's.
func TestModulesThatAreNotThere(t *testing.T) {
	s := amp.NewScope()
	defer s.Close()
	x, one := amp.Ones(s, amp.Float32, 2, 3, 4), nn.NewLinear(s, 4, 4)
	images, tokens := amp.Ones(s, amp.Float32, 1, 1, 4, 4), amp.Zeros(s, amp.Int64, 1, 2)
	var gone *nn.Linear
	var none nn.Func
	batches := func(func(*amp.Tensor) bool) {}
	for want, f := range map[string]func(){
		"NewSequential: bad argument: module 1 is nil": func() { nn.NewSequential(one, gone) },
		"NewSequential: bad argument: module 0 is nil": func() { nn.NewSequential(none) },
		"NewSequential: bad argument: module 0 is ":    func() { nn.NewSequential(nn.Named{Name: "a", Module: gone}) },
		"NewResidual: bad argument: body":              func() { nn.NewResidual(gone, nil) },
		"NewResidual: bad argument: body or shortcut":  func() { nn.NewResidual(one, gone) },
		"NewAveragedModel: bad argument: a module":     func() { nn.NewAveragedModel(gone, one) },
		"Func: bad argument":                           func() { none.Forward(s, x) },
		"UpdateBN: bad argument: the batches":          func() { nn.UpdateBN(s, one, nil) },
		"UpdateBN: bad argument: the module":           func() { nn.UpdateBN(s, gone, iter.Seq[*amp.Tensor](batches)) },
		"Summary: bad argument: the module":            func() { nn.Summary(s, nil, x) },
		"To: bad argument: the module":                 func() { nn.To(s, gone) },
		"Prefix: bad argument: the module":             func() { nn.Prefix("a", nil, nil) },
		"NamedModules: bad argument: the module":       func() { nn.NamedModules(gone) },
		"NameChildren: bad argument: the module":       func() { nn.NameChildren(nil) },
		"ChildParameters: bad argument: the module":    func() { nn.ChildParameters(nil) },
		"ChildBuffers: bad argument: the module":       func() { nn.ChildBuffers((*nn.GPT)(nil)) },
		"StateDict: bad argument: the module":          func() { nn.StateDict(nn.Named{}) },
		"Conv2d: bad argument: the layer is":           func() { new(nn.Conv).Forward(s, images) },
		"Recurrent: bad argument: the layer is":        func() { new(nn.LSTM).Forward(s, x) },
		"Recurrent: bad argument: the layer is nil or empty; fix: make it with nn.NewRNN or nn.NewGRU or nn.NewLSTM": func() { new(nn.GRU).RunLengths(s, x, tokens, nn.RecurrentState{}) },
		"GPT: bad argument: the layer is":             func() { new(nn.GPT).Forward(s, tokens) },
		"Residual: bad argument: the layer is":        func() { new(nn.Residual).Forward(s, x) },
		"Transformer: bad argument: the layer is":     func() { new(nn.Transformer).Forward(s, x) },
		"TransformerEncoderLayer: bad argument: the":  func() { new(nn.TransformerEncoderLayer).Forward(s, x) },
		"TransformerDecoderLayer: bad argument: the":  func() { new(nn.TransformerDecoderLayer).Forward(s, x) },
		"MultiheadAttention: bad argument: the layer": func() { new(nn.MultiheadAttention).Forward(s, x) },
		"AveragedModel: bad argument: the layer is":   func() { new(nn.AveragedModel).Update(s) },
		"AveragedModel: bad argument: the layer":      func() { new(nn.AveragedModel).Forward(s, x) },
		"linear: bad argument":                        func() { new(nn.Linear).Forward(s, x) },
		"embedding: bad argument":                     func() { new(nn.Embedding).Forward(s, tokens) },
		"EmbeddingBag: bad argument: the layer is":    func() { new(nn.EmbeddingBag).Forward(s, tokens) },
	} {
		if err := amp.Maybe(f); !errors.Is(err, amp.ErrArgument) || !strings.HasPrefix(err.Error(), "amp: "+want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	if n := len(nn.ParametersOf(one, gone, nil)) + len(nn.BuffersOf(none, gone)); n != 2 {
		t.Errorf("%d tensors of one layer among nil ones", n)
	}
	for _, m := range []nn.Module{new(nn.Linear), new(nn.Conv), new(nn.LayerNorm), new(nn.RMSNorm), new(nn.Embedding), new(nn.EmbeddingBag), new(nn.PReLU), new(nn.LSTM)} {
		if n := len(m.Parameters()); n != 0 {
			t.Errorf("%v has %d parameters", m, n)
		}
	}
}
