package nn_test

import (
	"encoding/json"
	"fmt"
	"os"
	"testing"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/amp/nn"
)

// Layers against torch.nn in float64, from testdata/torch.json, which generate.py beside it wrote. Layers here compute in float32.

type torchData struct {
	Transformers []torchTransformer
	Averages     []torchAverage
	Tied         [][2]any
	Recurrent    []torchRecurrent
}

func readTorch(t *testing.T) torchData {
	t.Helper()
	return readData[torchData](t, "torch.json")
}

// readData reads a file of testdata.
func readData[T any](t *testing.T, name string) (d T) {
	t.Helper()
	text, err := os.ReadFile("testdata/" + name)
	if err == nil {
		err = json.Unmarshal(text, &d)
	}
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// filled is generate.py's fill.
func filled(k int, shape ...int) *amp.Tensor {
	n := 1
	for _, d := range shape {
		n *= d
	}
	v := make([]float64, n)
	for i := range v {
		v[i] = float64((7*i+13*k+5)%23-11) / 40
	}
	if len(shape) == 0 {
		return amp.Scalar(float32(v[0]))
	}
	return amp.FromFloat64s(amp.Float32, v, shape...)
}

// prepare is fillState for a module whose state is in the order of its parameters.
func prepare(t *testing.T, m nn.Module, state [][2]any) {
	t.Helper()
	fillState(t, m, state)
	for k, p := range m.Parameters() {
		if p.Name() != state[k][0] {
			t.Errorf("parameter %d is %s, torch's %s", k, p.Name(), state[k][0])
		}
	}
}

// fillState loads the formula's numbers under torch's names: all of the module's, and no others.
func fillState(t *testing.T, m nn.Module, state [][2]any) {
	t.Helper()
	tensors := map[string]*amp.Tensor{}
	for k, entry := range state {
		var shape []int
		for _, d := range entry[1].([]any) {
			shape = append(shape, int(d.(float64)))
		}
		tensors[entry[0].(string)] = filled(k, shape...)
	}
	if err := nn.LoadStateDict(m, tensors); err != nil {
		t.Fatal(err)
	}
}

// weighted is the sum that generate.py takes gradients of.
func weighted(s *amp.Scope, outputs ...*amp.Tensor) *amp.Tensor {
	loss := amp.Scalar[float32](0)
	for _, y := range outputs {
		loss = amp.Add(s, loss, amp.Sum(s, amp.Mul(s, y, filled(99, y.Shape()...))))
	}
	return loss
}

// sameGradients compares those of a loss for inputs, and the sums of those for the parameters.
func sameGradients(t *testing.T, what string, loss *amp.Tensor, inputs []*amp.Tensor, m nn.Module, wantInputs [][]float64, wantParameters []float64) {
	t.Helper()
	loss.Backward()
	for i, x := range inputs {
		if !near(x.Grad().Float64s(), wantInputs[i], 2e-5) {
			t.Errorf("%s: gradient of input %d is %v, torch's %v", what, i, x.Grad().Float64s(), wantInputs[i])
		}
	}
	for i, p := range m.Parameters() {
		sum := 0.0
		for _, v := range p.Grad().Float64s() {
			sum += v
		}
		if !near([]float64{sum}, wantParameters[i:i+1], 2e-4) {
			t.Errorf("%s: gradients of %s add up to %v, torch's to %v", what, p.Name(), sum, wantParameters[i])
		}
	}
}

type torchTransformer struct {
	Name       string
	NormFirst  bool `json:"norm_first"`
	Activation string
	State      [][2]any
	Y          []float64
	Inputs     [][]float64
	Parameters []float64
}

func TestTransformersAsTorch(t *testing.T) {
	for _, c := range readTorch(t).Transformers {
		root := amp.NewScope()
		what := fmt.Sprintf("%s norm_first=%v %s", c.Name, c.NormFirst, c.Activation)
		opts := nn.TransformerOptions{PreNorm: c.NormFirst, Causal: true, Activation: map[string]nn.Module{"relu": nn.ReLU, "gelu": nn.GELU}[c.Activation]}
		source, target := filled(1, 2, 5, 8).RequireGrad(), filled(2, 2, 4, 8).RequireGrad()
		inputs := []*amp.Tensor{target, source}
		padding := func(n int, lengths ...int64) *amp.Tensor {
			return nn.KeyPaddingMask(root, nn.LengthMask(root, amp.From(lengths), n))
		}
		sources, targets := padding(5, 5, 3), padding(4, 2, 4)
		var m nn.Module
		var run func() *amp.Tensor
		switch c.Name {
		case "TransformerDecoderLayer":
			l := nn.NewTransformerDecoderLayer(root, 8, 2, 12, opts)
			m, run = l, func() *amp.Tensor { return l.Run(root, target, source, targets, sources) }
		case "TransformerEncoder":
			e := nn.NewTransformerEncoder(root, 2, 8, 2, 12, opts)
			m, run = e, func() *amp.Tensor { return e.Run(root, source, sources) }
			inputs = inputs[1:]
		case "Transformer":
			l := nn.NewTransformer(root, nn.TransformerConfig{Features: 8, Heads: 2, EncoderLayers: 2, DecoderLayers: 2, Hidden: 12, Options: opts})
			m, run = l, func() *amp.Tensor {
				return l.Run(root, source, target, nn.TransformerMasks{Source: sources, Target: targets, Memory: sources})
			}
		}
		prepare(t, m, c.State)
		y := run()
		if !near(y.Float64s(), c.Y, 2e-5) {
			t.Errorf("%s: %v, torch has %v", what, y.Float64s(), c.Y)
		}
		sameGradients(t, what, weighted(root, y), inputs, m, c.Inputs, c.Parameters)
		root.Close()
	}
}
