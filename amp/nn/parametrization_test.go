package nn_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
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

// layerOf makes the layers of generate_parametrizations.py.
func layerOf(s *amp.Scope, kind string) nn.Parametrizable {
	switch kind {
	case "Linear":
		return nn.NewLinear(s, 6, 5)
	case "Conv1d":
		return nn.NewConv1d(s, 4, 6, 3, nn.Padding(1), nn.Groups(2))
	case "Conv2d":
		return nn.NewConv2d(s, 3, 5, 3, nn.Stride(2), nn.NoBias())
	case "Conv3d":
		return nn.NewConv3d(s, 2, 3, 2)
	case "ConvTranspose1d":
		return nn.NewConvTranspose1d(s, 4, 3, 3)
	case "ConvTranspose2d":
		return nn.NewConvTranspose2d(s, 4, 6, 3, nn.Stride(2), nn.Groups(2))
	case "ConvTranspose3d":
		return nn.NewConvTranspose3d(s, 2, 3, 2)
	case "Bilinear":
		return squared{nn.NewBilinear(s, 4, 4, 3)}
	}
	return nn.NewEmbedding(s, 7, 4, nn.PaddingRow(2))
}

func parametrizedAs(s *amp.Scope, layer nn.Parametrizable, rule string) nn.Module {
	switch rule {
	case "weight_norm":
		nn.WeightNorm(s, layer)
	case "weight_norm dim=1":
		nn.WeightNorm(s, layer, nn.NormDim(1))
	case "weight_norm whole":
		nn.WeightNorm(s, layer, nn.WholeNorm())
	case "spectral_norm":
		nn.SpectralNorm(s, layer)
	default:
		nn.SpectralNorm(s, layer, nn.NormDim(1), nn.PowerIterations(3), nn.PowerEps(0.5))
	}
	return layer.(nn.Module)
}

// inputsOf are the sizes of the inputs there.
var inputsOf = map[string][]int{"Linear": {4, 6}, "Conv1d": {2, 4, 5}, "Conv2d": {2, 3, 5, 5}, "Conv3d": {1, 2, 3, 3, 3}, "ConvTranspose1d": {2, 4, 5}, "ConvTranspose2d": {1, 4, 3, 3},
	"ConvTranspose3d": {1, 2, 2, 2, 2}, "Bilinear": {2, 4}}

// TestParametrizationsAsTorch: a forward pass, its gradients, three steps of SGD and an evaluation, with torch's names.
func TestParametrizationsAsTorch(t *testing.T) {
	var d struct{ Cases []torchParametrized }
	text, err := os.ReadFile("testdata/torch_parametrizations.json")
	if err == nil {
		err = json.Unmarshal(text, &d)
	}
	if err != nil || len(d.Cases) == 0 {
		t.Fatalf("%d cases, %v", len(d.Cases), err)
	}
	for _, c := range d.Cases {
		t.Run(c.Layer+" "+c.Rule+" "+c.Autocast, func(t *testing.T) { sameAsTorch(t, c) })
	}
}

func sameAsTorch(t *testing.T, c torchParametrized) {
	root := amp.NewScope(amp.Seed(1))
	defer root.Close()
	net := parametrizedAs(root, layerOf(root, c.Layer), c.Rule)
	fillState(t, net, c.State)
	x := amp.From([]int64{1, 3, 1, 0, 2, 6}, 2, 3)
	if shape := inputsOf[c.Layer]; shape != nil {
		x = filled(1, shape...).RequireGrad()
	}
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
		wide := y
		if y.DType() != amp.Float32 {
			wide = amp.To(root, y, amp.Float32)
		}
		return y, weighted(root, wide)
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
