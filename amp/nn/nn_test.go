package nn_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/amp/nn"
)

// TestLinearInit: uniform in ±1/√in, as PyTorch's Linear; the deviation of such numbers is bound/√3.
func TestLinearInit(t *testing.T) {
	root := amp.NewScope(amp.Seed(3))
	defer root.Close()
	l := nn.NewLinear(root, 100, 200)
	if !slices.Equal(l.Weight.Shape(), []int{200, 100}) || !slices.Equal(l.Bias.Shape(), []int{200}) {
		t.Fatalf("%v %v", l.Weight.Shape(), l.Bias.Shape())
	}
	for _, p := range l.Parameters() {
		sq, largest := 0.0, 0.0
		for _, v := range p.Float64s() {
			sq += v * v
			largest = math.Max(largest, math.Abs(v))
		}
		sd := math.Sqrt(sq / float64(p.Len()))
		if largest > 0.1 || largest < 0.098 || math.Abs(sd-0.1/math.Sqrt(3)) > 0.004 {
			t.Errorf("%s: largest %v, deviation %v", p.Name(), largest, sd)
		}
	}
	if n := nn.NewLinear(root, 3, 2, nn.NoBias(), nn.DType(amp.BFloat16)); n.Bias != nil || len(n.Parameters()) != 1 || n.Weight.DType() != amp.BFloat16 {
		t.Errorf("%+v", n)
	}
	if err := amp.Maybe(func() { nn.NewLinear(root, 0, 2) }); !errors.Is(err, amp.ErrArgument) {
		t.Error(err)
	}
}

func TestSequentialNamesAndPaths(t *testing.T) {
	root := amp.NewScope(amp.Record(amp.Decisions))
	defer root.Close()
	block := nn.NewSequential(nn.NewLinear(root, 2, 2), nn.ReLU)
	net := nn.NewSequential(block, nn.Named{Name: "head", Module: nn.NewLinear(root, 2, 3)})
	var names []string
	for _, p := range net.Parameters() {
		names = append(names, p.Name())
	}
	if !slices.Equal(names, []string{"0.0.weight", "0.0.bias", "head.weight", "head.bias"}) {
		t.Error(names)
	}
	y := net.Forward(root.Autocast(amp.Float16).In("net"), amp.From([]float32{1, 2}, 1, 2))
	nn.CrossEntropyLoss(root.Autocast(amp.Float16), y, amp.From([]int64{1}))
	var paths []string
	for _, e := range root.Trace().Events {
		if e.Cast == nil {
			paths = append(paths, e.Module+":"+e.Op)
		}
	}
	if !slices.Equal(paths, []string{"net/0/0:linear", "net/0/1:relu", "net/head:linear", "loss:log_softmax", "loss:nll_loss"}) {
		t.Error(paths)
	}
	if err := amp.Maybe(func() { nn.NewSequential(nn.ReLU, nil) }); !errors.Is(err, amp.ErrArgument) {
		t.Error(err)
	}
}

func ExampleSequential() {
	root := amp.NewScope(amp.Seed(1))
	defer root.Close()
	net := nn.NewSequential(nn.NewLinear(root, 8, 16), nn.ReLU, nn.NewLinear(root, 16, 1))
	x := amp.Randn(root, amp.Float32, 0, 1, 4, 8)
	y := net.Forward(root.NoGrad().Autocast(amp.Float16), x)
	fmt.Println(y.Shape(), y.DType(), net.Parameters()[0].Name())
	// Output: [4 1] float16 0.weight
}

// TestModulesAreTheFunctions calls every activation and loss of the package and of amp, which must agree, under autocast.
func TestModulesAreTheFunctions(t *testing.T) {
	root := amp.NewScope()
	defer root.Close()
	half := root.Autocast(amp.Float16)
	x, y := amp.From([]float32{-1.5, 0.25, 2}), amp.From([]float32{0, 1, 0.5})
	for name, pair := range map[string][2]*amp.Tensor{
		"relu":     {nn.ReLU.Forward(half, x), amp.ReLU(half, x)},
		"gelu":     {nn.GELU.Forward(half, x), amp.GELU(half, x)},
		"silu":     {nn.SiLU.Forward(half, x), amp.SiLU(half, x)},
		"sigmoid":  {nn.Sigmoid.Forward(half, x), amp.Sigmoid(half, x)},
		"tanh":     {nn.Tanh.Forward(half, x), amp.Tanh(half, x)},
		"softplus": {nn.Softplus.Forward(half, x), amp.Softplus(half, x)},
		"mse":      {nn.MSELoss(half, x, y), amp.MSELoss(half, x, y)},
		"l1":       {nn.L1Loss(half, x, y), amp.L1Loss(half, x, y)},
		"smooth":   {nn.SmoothL1Loss(half, x, y), amp.SmoothL1Loss(half, x, y, 1)},
		"huber":    {nn.HuberLoss(half, x, y), amp.HuberLoss(half, x, y, 1)},
		"bce":      {nn.BCEWithLogitsLoss(half, x, y), amp.BCEWithLogits(half, x, y)},
	} {
		if a, b := pair[0], pair[1]; a.DType() != b.DType() || !slices.Equal(a.Float64s(), b.Float64s()) {
			t.Errorf("%s: %v %v, want %v %v", name, a.DType(), a.Float64s(), b.DType(), b.Float64s())
		}
	}
}

// TestNormsAndEmbedding trains a model of them under autocast and looks at their precision, names and results.
func TestNormsAndEmbedding(t *testing.T) {
	root := amp.NewScope(amp.Seed(4), amp.Record(amp.Decisions))
	defer root.Close()
	net := nn.NewSequential(nn.NewEmbedding(root, 10, 6), nn.NewLayerNorm(root, 6), nn.NewLinear(root, 6, 4), nn.NewRMSNorm(root, 4), nn.GELU)
	index := amp.From([]int64{1, 9, 0, 1}, 2, 2)
	half := root.Autocast(amp.Float16)
	y := net.Forward(half, index)
	if !slices.Equal(y.Shape(), []int{2, 2, 4}) || y.DType() != amp.Float32 {
		t.Fatalf("%v %v", y.Shape(), y.DType())
	}
	amp.Mean(root, amp.Mul(root, y, y)).Backward()
	for _, p := range net.Parameters() {
		if g := p.Grad(); g == nil || amp.SumOfSquares(g) == 0 && p.Name() != "3.weight" {
			t.Errorf("%s has no gradient", p.Name())
		}
	}
	run := map[string]amp.DType{}
	for _, e := range root.Trace().Events {
		if e.Phase == amp.PhaseForward && e.Cast == nil {
			run[e.Op] = e.Compute
		}
	}
	want := map[string]amp.DType{"embedding": amp.Float32, "layer_norm": amp.Float32, "linear": amp.Float16, "rms_norm": amp.Float32, "gelu": amp.Float32}
	for op, dt := range want {
		if run[op] != dt {
			t.Errorf("%s ran in %v, want %v", op, run[op], dt)
		}
	}
	x := amp.Randn(root, amp.Float32, 5, 3, 7, 6)
	n := nn.NewLayerNorm(root, 6).Forward(root, x)
	for i, m := range amp.Mean(root, n, 1).Float64s() {
		if sd := amp.Std(root, n, 1).Float64s()[i]; math.Abs(m) > 1e-5 || math.Abs(sd-math.Sqrt(6.0/5)) > 1e-4 {
			t.Errorf("row %d has mean %v and deviation %v", i, m, sd)
		}
	}
	for name, f := range map[string]func(){
		"layer norm": func() { nn.NewLayerNorm(root) },
		"rms norm":   func() { nn.NewRMSNorm(root, 0) },
		"embedding":  func() { nn.NewEmbedding(root, 0, 3) },
	} {
		if err := amp.Maybe(f); !errors.Is(err, amp.ErrArgument) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := amp.Maybe(func() { amp.LayerNorm(root, x, amp.From([]float32{1, 2}), nil, 1e-5) }); !errors.Is(err, amp.ErrShape) {
		t.Error(err)
	}
}

// TestPaddingRow: the row is zeros, and an optimizer's step leaves it so.
func TestPaddingRow(t *testing.T) {
	root := amp.NewScope(amp.Seed(1))
	defer root.Close()
	e := nn.NewEmbedding(root, 4, 3, nn.PaddingRow(2))
	y := e.Forward(root.Autocast(amp.Float16), amp.From([]int64{2, 1, 2}))
	amp.Sum(root, y).Backward()
	if v := e.Weight.Float64s()[6:9]; !slices.Equal(v, []float64{0, 0, 0}) {
		t.Errorf("the padding row is %v", v)
	}
	if g := e.Weight.Grad().Float64s(); !slices.Equal(g, []float64{0, 0, 0, 1, 1, 1, 0, 0, 0, 0, 0, 0}) {
		t.Errorf("gradient %v", g)
	}
	for _, row := range []int{-5, -6, 4} {
		if err := amp.Maybe(func() { nn.NewEmbedding(root, 4, 3, nn.PaddingRow(row)) }); !errors.Is(err, amp.ErrArgument) {
			t.Errorf("row %d: %v", row, err)
		}
	}
	for i, n := range []*nn.InstanceNorm{nn.NewInstanceNorm1d(root, 2), nn.NewInstanceNorm2d(root, 2), nn.NewInstanceNorm3d(root, 2)} {
		shape := append([]int{3, 2, 8}, []int{1, 2}[:i]...)
		if y := n.Forward(root, amp.Randn(root, amp.Float32, 3, 2, shape...)); math.Abs(amp.Mean(root, y).Item()) > 1e-5 {
			t.Error("instance norm does not center")
		}
	}
}
