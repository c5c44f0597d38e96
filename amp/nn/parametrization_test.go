package nn_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/amp/nn"
	"github.com/halftone-ml/halftone/amp/optim"
)

// A layer whose largest singular value is held at 1, within a model: the names are PyTorch's.
func ExampleSpectralNorm() {
	root := amp.NewScope(amp.Seed(1))
	defer root.Close()
	net := nn.NewSequential(nn.SpectralNorm(root, nn.NewConv2d(root, 3, 8, 3)), nn.LeakyReLU(0.2), nn.Flatten, nn.SpectralNorm(root, nn.NewLinear(root, 8, 1)))
	fmt.Println(net.Forward(root, amp.Ones(root, amp.Float32, 2, 3, 3, 3)).Shape())
	for _, name := range slices.Sorted(maps.Keys(nn.StateDict(net))) {
		if strings.HasPrefix(name, "3.") {
			fmt.Println(name)
		}
	}
	// Output:
	// [2 1]
	// 3.bias
	// 3.parametrizations.weight.0._u
	// 3.parametrizations.weight.0._v
	// 3.parametrizations.weight.original
}

// Lengths and directions of a layer's weight are trained apart; the weight that they give can be made the layer's own again.
func ExampleWeightNorm() {
	root := amp.NewScope(amp.Seed(1))
	defer root.Close()
	layer := nn.WeightNorm(root, nn.NewLinear(root, 2, 2, nn.NoBias()))
	amp.SetValues(layer.Weight, []float32{3, 4, 0, 2})
	for _, p := range layer.Parameters() {
		if strings.HasSuffix(p.Name(), "original0") {
			amp.SetValues(p, []float32{1, 10})
		}
	}
	fmt.Println(layer)
	fmt.Printf("%.1f\n", nn.WeightOf(root, layer).Float64s())
	fmt.Println(nn.RemoveParametrization(root, layer), layer.Weight.Name())
	// Output:
	// Linear(original0=[2 1], original1=[2 2], weight_norm(dim=0))
	// [0.6 0.8 0.0 10.0]
	// Linear(weight=[2 2]) weight
}

// torchParametrized is a case of testdata/torch_parametrizations.json.
type torchParametrized struct {
	Layer, Rule, Autocast string
	State                 [][2]any
	Names                 []string
	Y, DX, Eval           []float64
	Grads                 [][]float64
	After                 map[string][]float64
}

// squared is a Bilinear of x and x, a layer as a program's own that embeds one.
type squared struct{ *nn.Bilinear }

func (l squared) Forward(s *amp.Scope, x *amp.Tensor) *amp.Tensor { return l.Bilinear.Forward(s, x, x) }

// A torchLayer is one of generate_parametrizations.py's.
type torchLayer struct {
	input []int // the sizes, nil for an index
	make  func(s *amp.Scope) nn.Parametrizable
}

// torchLayers are the layers there.
var torchLayers = map[string]torchLayer{
	"Linear": {[]int{4, 6}, func(s *amp.Scope) nn.Parametrizable { return nn.NewLinear(s, 6, 5) }},
	"Conv1d": {[]int{2, 4, 5}, func(s *amp.Scope) nn.Parametrizable { return nn.NewConv1d(s, 4, 6, 3, nn.Padding(1), nn.Groups(2)) }},
	"Conv2d": {[]int{2, 3, 5, 5}, func(s *amp.Scope) nn.Parametrizable { return nn.NewConv2d(s, 3, 5, 3, nn.Stride(2), nn.NoBias()) }},
	"Conv3d": {[]int{1, 2, 3, 3, 3}, func(s *amp.Scope) nn.Parametrizable { return nn.NewConv3d(s, 2, 3, 2) }},

	"ConvTranspose1d": {[]int{2, 4, 5}, func(s *amp.Scope) nn.Parametrizable { return nn.NewConvTranspose1d(s, 4, 3, 3) }},
	"ConvTranspose2d": {[]int{1, 4, 3, 3}, func(s *amp.Scope) nn.Parametrizable {
		return nn.NewConvTranspose2d(s, 4, 6, 3, nn.Stride(2), nn.Groups(2))
	}},
	"ConvTranspose3d": {[]int{1, 2, 2, 2, 2}, func(s *amp.Scope) nn.Parametrizable { return nn.NewConvTranspose3d(s, 2, 3, 2) }},

	"Bilinear":  {[]int{2, 4}, func(s *amp.Scope) nn.Parametrizable { return squared{nn.NewBilinear(s, 4, 4, 3)} }},
	"Embedding": {nil, func(s *amp.Scope) nn.Parametrizable { return nn.NewEmbedding(s, 7, 4, nn.PaddingRow(2)) }},
}

// torchRules are the rules there.
var torchRules = map[string]func(s *amp.Scope, l nn.Parametrizable){
	"weight_norm":       func(s *amp.Scope, l nn.Parametrizable) { nn.WeightNorm(s, l) },
	"weight_norm dim=1": func(s *amp.Scope, l nn.Parametrizable) { nn.WeightNorm(s, l, nn.NormDim(1)) },
	"weight_norm whole": func(s *amp.Scope, l nn.Parametrizable) { nn.WeightNorm(s, l, nn.WholeNorm()) },
	"spectral_norm":     func(s *amp.Scope, l nn.Parametrizable) { nn.SpectralNorm(s, l) },
	"spectral_norm dim=1 iterations=3 eps=0.5": func(s *amp.Scope, l nn.Parametrizable) {
		nn.SpectralNorm(s, l, nn.NormDim(1), nn.PowerIterations(3), nn.PowerEps(0.5))
	},
}

// parametrizedAs applies one of torchRules to a layer.
func parametrizedAs(s *amp.Scope, layer nn.Parametrizable, rule string) nn.Module {
	torchRules[rule](s, layer)
	return layer.(nn.Module)
}

// parametrizedCase is one of torchLayers under one of torchRules, and its input.
func parametrizedCase(s *amp.Scope, kind, rule string) (net nn.Module, x *amp.Tensor) {
	l := torchLayers[kind]
	net = parametrizedAs(s, l.make(s), rule)
	if l.input == nil {
		return net, amp.From([]int64{1, 3, 1, 0, 2, 6}, 2, 3)
	}
	return net, filled(1, l.input...).RequireGrad()
}

// TestParametrizationsAsTorch: a forward pass, its gradients, three steps of SGD and an evaluation, with torch's names.
func TestParametrizationsAsTorch(t *testing.T) {
	cases := readData[struct{ Cases []torchParametrized }](t, "torch_parametrizations.json").Cases
	if len(cases) == 0 {
		t.Fatal("no cases")
	}
	for _, c := range cases {
		t.Run(c.Layer+" "+c.Rule+" "+c.Autocast, func(t *testing.T) { sameAsTorch(t, c) })
	}
}

func sameAsTorch(t *testing.T, c torchParametrized) {
	root := amp.NewScope(amp.Seed(1))
	defer root.Close()
	net, x := parametrizedCase(root, c.Layer, c.Rule)
	fillState(t, net, c.State)
	s, tol := root, 2e-5
	switch c.Autocast {
	case "bfloat16":
		s, tol = root.Autocast(amp.BFloat16), 2e-2
	case "float16":
		s, tol = root.Autocast(amp.Float16), 3e-3
	}
	check := func(what string, got, want []float64) {
		t.Helper()
		if !near(got, want, tol) {
			t.Errorf("%s is %v, torch's %v", what, got, want)
		}
	}
	lossOf := func() (y, loss *amp.Tensor) {
		y = net.Forward(s, x)
		return y, weighted(root, amp.To(root, y, amp.Float32))
	}
	opt := optim.NewSGD(net.Parameters(), optim.LR(0.1))
	y, loss := lossOf()
	loss.Backward()
	check("the result", y.Float64s(), c.Y)
	if x.DType().IsFloat() {
		check("the input's gradient", x.Grad().Float64s(), c.DX)
	}
	for i, p := range net.Parameters() {
		if p.Name() != c.Names[i] {
			t.Errorf("parameter %d is %s, torch's %s", i, p.Name(), c.Names[i])
		}
		check("the gradient of "+p.Name(), p.Grad().Float64s(), c.Grads[i])
	}
	for range 3 {
		opt.Step()
		opt.ZeroGrad()
		_, loss := lossOf()
		loss.Backward()
	}
	check("the result in evaluation", net.Forward(s.NoGrad().Eval(), x).Float64s(), c.Eval)
	for name, p := range nn.StateDict(net) {
		check(name+" after three steps", p.Float64s(), c.After[name])
	}
}

// TestSpectralNormRuns: u and v move in training alone, and not again when a part is recomputed; two runs before Backward do not disturb
// each other; the largest singular value comes near 1.
func TestSpectralNormRuns(t *testing.T) {
	root := amp.NewScope(amp.Seed(3))
	defer root.Close()
	l := nn.SpectralNorm(root, nn.NewLinear(root, 5, 4))
	amp.Assign(l.Weight, filled(3, 4, 5))
	u := l.Buffers()[0]
	x := filled(1, 2, 5).RequireGrad()
	before := u.Float64s()
	l.Forward(root.Eval(), x)
	if !slices.Equal(before, u.Float64s()) {
		t.Error("evaluation moved u")
	}
	first, second := l.Forward(root, x), l.Forward(root, amp.MulScalar(root, x, 2))
	if slices.Equal(before, u.Float64s()) {
		t.Error("training did not move u")
	}
	amp.Sum(root, amp.Add(root, first, second)).Backward()
	moved := u.Version()
	y := amp.Checkpoint(root, func(s *amp.Scope, in ...*amp.Tensor) *amp.Tensor { return l.Forward(s, in[0]) }, x)
	once := u.Version()
	amp.Sum(root, y).Backward()
	if once == moved || u.Version() != once {
		t.Errorf("versions of u: %d, %d after a checkpoint, %d after its backward", moved, once, u.Version())
	}
	for range 50 {
		l.Forward(root.NoGrad(), x)
	}
	w := nn.WeightOf(root.NoGrad().Eval(), l)
	v := l.Buffers()[1]
	if sigma := amp.Norm(root, amp.MV(root, w, v)).Item(); !near([]float64{sigma}, []float64{1}, 1e-5) {
		t.Errorf("the largest singular value is %v", sigma)
	}
}

// TestParametrizationRefusals says what is wrong.
func TestParametrizationRefusals(t *testing.T) {
	s := amp.NewScope()
	defer s.Close()
	linear := func() *nn.Linear { return nn.NewLinear(s, 2, 2) }
	for want, f := range map[string]func(){
		"the layer has weight_norm": func() { nn.SpectralNorm(s, nn.WeightNorm(s, linear())) },
		"dimension 2":               func() { nn.WeightNorm(s, linear(), nn.NormDim(2)) },
		"no power iterations":       func() { nn.WeightNorm(s, linear(), nn.PowerIterations(2)) },
		"no matrix":                 func() { nn.SpectralNorm(s, linear(), nn.WholeNorm()) },
		"0 power iterations":        func() { nn.SpectralNorm(s, linear(), nn.PowerIterations(0)) },
		"eps -1":                    func() { nn.SpectralNorm(s, linear(), nn.PowerEps(-1)) },
		"shortens the rows":         func() { nn.WeightNorm(s, nn.NewEmbedding(s, 3, 2, nn.MaxNorm(1))) },
		"the layer is nil":          func() { nn.WeightNorm(s, (*nn.Linear)(nil)) },
		"no weight":                 func() { nn.SpectralNorm(s, new(nn.Linear)) },
	} {
		if err := amp.Maybe(f); !errors.Is(err, amp.ErrArgument) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
