package amp_test

import (
	"errors"
	"maps"
	"math"
	"slices"
	"testing"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/amp/nn"
)

type moduleCase struct {
	Name    string
	Train   bool
	State   map[string]stored
	In      []stored
	DY, Out stored
	DX      []stored
	Grads   map[string]stored
	Buffers map[string]stored
}

// torchModules makes the module of each case of testdata/torch/modules.py.
var torchModules = map[string]func(s *amp.Scope) nn.Module{
	"linear": func(s *amp.Scope) nn.Module { return nn.NewLinear(s, 5, 3) },
	"conv1d": func(s *amp.Scope) nn.Module {
		return nn.NewConv1d(s, 4, 6, 3, nn.Stride(2), nn.Padding(1), nn.Groups(2))
	},
	"conv2d": func(s *amp.Scope) nn.Module {
		return nn.NewConv2d(s, 3, 4, 3, nn.Kernel(3, 2), nn.Padding(1, 0), nn.Dilation(1, 2), nn.NoBias())
	},
	"conv2d reflect": func(s *amp.Scope) nn.Module {
		return nn.NewConv2d(s, 2, 3, 3, nn.Padding(1), nn.PaddingMode("reflect"))
	},
	"conv3d": func(s *amp.Scope) nn.Module { return nn.NewConv3d(s, 2, 3, 2, nn.Stride(2)) },
	"conv_transpose2d": func(s *amp.Scope) nn.Module {
		return nn.NewConvTranspose2d(s, 4, 4, 3, nn.Stride(2), nn.Padding(1), nn.OutputPadding(1), nn.Groups(2))
	},
	"batch_norm1d":            func(s *amp.Scope) nn.Module { return nn.NewBatchNorm1d(s, 4) },
	"batch_norm2d":            func(s *amp.Scope) nn.Module { return nn.NewBatchNorm2d(s, 3, nn.Momentum(0.3)) },
	"batch_norm2d cumulative": func(s *amp.Scope) nn.Module { return nn.NewBatchNorm2d(s, 3, nn.CumulativeAverage()) },
	"batch_norm2d eval":       func(s *amp.Scope) nn.Module { return nn.NewBatchNorm2d(s, 3) },
	"layer_norm":              func(s *amp.Scope) nn.Module { return nn.NewLayerNorm(s, 3, 4) },
	"rms_norm": func(s *amp.Scope) nn.Module {
		return nn.NewRMSNormOf(s, []int{6}, nn.Eps(1e-6))
	},
	"group_norm":      func(s *amp.Scope) nn.Module { return nn.NewGroupNorm(s, 2, 6) },
	"instance_norm2d": func(s *amp.Scope) nn.Module { return nn.NewInstanceNorm2d(s, 3, nn.Affine()) },
	"embedding":       func(s *amp.Scope) nn.Module { return nn.NewEmbedding(s, 5, 3) },
	"prelu":           func(s *amp.Scope) nn.Module { return nn.NewPReLU(s, 3) },
	"bilinear":        func(s *amp.Scope) nn.Module { return several{nn.NewBilinear(s, 3, 4, 2)} },
	"rnn": func(s *amp.Scope) nn.Module {
		return nn.NewRNN(s, 3, 4, nn.RecurrentOptions{Layers: 2, Bidirectional: true})
	},
	"rnn relu": func(s *amp.Scope) nn.Module { return nn.NewRNN(s, 3, 4, nn.RecurrentOptions{ReLU: true, NoBias: true}) },
	"gru": func(s *amp.Scope) nn.Module {
		return nn.NewGRU(s, 3, 4, nn.RecurrentOptions{Layers: 2, Bidirectional: true, BatchFirst: true})
	},
	"lstm": func(s *amp.Scope) nn.Module {
		return nn.NewLSTM(s, 3, 4, nn.RecurrentOptions{Layers: 2, Bidirectional: true})
	},
	"attention": func(s *amp.Scope) nn.Module { return nn.NewMultiheadAttention(s, 8, 2, nn.AttentionOptions{}) },
	"attention cross": func(s *amp.Scope) nn.Module {
		return several{nn.NewMultiheadAttention(s, 8, 4, nn.AttentionOptions{KeyFeatures: 6, ValueFeatures: 5})}
	},
	"encoder": func(s *amp.Scope) nn.Module {
		return nn.NewTransformerEncoderLayer(s, 8, 2, 16, nn.TransformerOptions{})
	},
	"encoder pre": func(s *amp.Scope) nn.Module {
		return nn.NewTransformerEncoderLayer(s, 8, 2, 16, nn.TransformerOptions{PreNorm: true, Activation: nn.GELU})
	},
	"sequential": func(s *amp.Scope) nn.Module {
		return nn.NewSequential(nn.NewConv2d(s, 2, 4, 3), nn.NewBatchNorm2d(s, 4), nn.ReLU, nn.MaxPool2d(2), nn.Flatten, nn.NewLinear(s, 16, 3))
	},
	"resnet18 small": func(s *amp.Scope) nn.Module { return nn.NewResNet18(s, 3, nn.Width(2), nn.SmallImages()) },
	"resnet18 eval":  func(s *amp.Scope) nn.Module { return nn.NewResNet18(s, 3, nn.Width(2)) },
}

// several is a module of several inputs: its own Forward has other arguments, or none of them.
type several struct {
	parameters interface{ Parameters() []*amp.Tensor }
}

func (m several) Parameters() []*amp.Tensor { return m.parameters.Parameters() }

func (m several) Forward(*amp.Scope, *amp.Tensor) *amp.Tensor { panic("takes several inputs") }

func (m several) run(s *amp.Scope, x []*amp.Tensor) *amp.Tensor {
	if b, ok := m.parameters.(*nn.Bilinear); ok {
		return b.Forward(s, x[0], x[1])
	}
	return m.parameters.(*nn.MultiheadAttention).Attend(s, x[0], x[1], x[2], nil, false)
}

// TestTorchModules loads PyTorch's state into each module, by PyTorch's names, and compares results, gradients and buffers in float32
// with PyTorch's float64: to 1e-5 of the largest element, and 1e-4 of the gradients of a network of 20 layers.
func TestTorchModules(t *testing.T) {
	var f struct{ Cases []moduleCase }
	readGzip(t, "testdata/torch/modules.json.gz", &f)
	if len(f.Cases) != len(torchModules) {
		t.Errorf("%d cases, %d modules", len(f.Cases), len(torchModules))
	}
	for _, c := range f.Cases {
		t.Run(c.Name, func(t *testing.T) { c.check(t, torchModules[c.Name]) })
	}
}

func (c moduleCase) check(t *testing.T, build func(s *amp.Scope) nn.Module) {
	s := amp.NewScope(amp.Seed(1))
	defer s.Close()
	m := build(s)
	state := map[string]*amp.Tensor{}
	for name, v := range c.State {
		state[name] = v.tensor(t, amp.Float32)
	}
	if err := nn.LoadStateDict(m, state); err != nil {
		t.Fatal(err)
	}
	var in, leaves []*amp.Tensor
	for _, v := range c.In {
		x := v.tensor(t, amp.Float32)
		if x.DType().IsFloat() {
			leaves = append(leaves, x.RequireGrad())
		}
		in = append(in, x)
	}
	y := c.run(s, m, in)
	tol := 1e-5
	if len(c.State) > 100 {
		tol = 1e-4
	}
	near(t, "result", y, c.Out, tol)
	y.Backward(amp.GradOutputs(c.DY.tensor(t, amp.Float32)))
	for i, x := range leaves {
		near(t, "gradient of the input", x.Grad(), c.DX[i], tol)
	}
	own := nn.StateDict(m)
	for _, name := range slices.Sorted(maps.Keys(c.Grads)) {
		near(t, "gradient of "+name, own[name].Grad(), c.Grads[name], tol)
	}
	for name, v := range c.Buffers {
		near(t, name, own[name], v, 1e-6)
	}
}

func (c moduleCase) run(s *amp.Scope, m nn.Module, in []*amp.Tensor) *amp.Tensor {
	if !c.Train {
		s = s.Eval()
	}
	if k, ok := m.(several); ok {
		return k.run(s, in)
	}
	return m.Forward(s, in[0])
}

// TestTorchModuleDecisions compares the dtype of what each module, its parameters in float32, gives under autocast to both dtypes with what
// PyTorch decides for CUDA tensors (decisions.py), for inputs in three dtypes.
func TestTorchModuleDecisions(t *testing.T) {
	var f struct{ Cases []moduleCase }
	readGzip(t, "testdata/torch/modules.json.gz", &f)
	cases := map[string]moduleCase{}
	for _, c := range f.Cases {
		cases[c.Name] = c
	}
	var decided struct {
		Modules []struct {
			Name      string
			To        amp.DType
			Decisions []struct{ In, Out []amp.DType }
		}
	}
	readGzip(t, "testdata/torch/decisions.json.gz", &decided)
	n := 0
	for _, d := range decided.Modules {
		c := cases[d.Name]
		for _, a := range d.Decisions {
			n++
			s := amp.NewScope(amp.Seed(1))
			var in []*amp.Tensor
			for _, v := range c.In {
				x := v.tensor(t, amp.Float32)
				if x.DType().IsFloat() {
					x = amp.To(s, x, a.In[0])
				}
				in = append(in, x)
			}
			var got []amp.DType
			err := amp.Maybe(func() { got = append(got, c.run(s.NoGrad().Autocast(d.To), torchModules[d.Name](s), in).DType()) })
			switch refused := errors.Is(err, amp.ErrDType) && len(a.Out) == 0; {
			case err != nil && !refused:
				t.Errorf("%s of %v to %v: %v", d.Name, a.In, d.To, err)
			case err == nil && !slices.Equal(got, a.Out):
				t.Errorf("%s of %v to %v gives %v, torch %v", d.Name, a.In, d.To, got, a.Out)
			}
			s.Close()
		}
	}
	if n < 140 {
		t.Errorf("only %d decisions", n)
	}
}

// near compares to a tolerance relative to the largest element.
func near(t *testing.T, what string, got *amp.Tensor, want stored, tol float64) {
	t.Helper()
	if got == nil || !slices.Equal(got.Shape(), want.Shape) {
		t.Errorf("%s: %v, torch has shape %v", what, got, want.Shape)
		return
	}
	exact, largest := want.values(t), 0.1 // inputs are about 1
	for _, v := range exact {
		largest = math.Max(largest, math.Abs(v))
	}
	if d := farthest(got.Float64s(), exact); !(d <= tol*largest) {
		t.Errorf("%s is off by %.3g, the largest element is %.3g", what, d, largest)
	}
}
