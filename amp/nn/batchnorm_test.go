package nn_test

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/amp/nn"
)

// TestBatchNormLayer: training moves the running statistics and counts, evaluation uses them; everything stays float32 beside half
// activations.
func TestBatchNormLayer(t *testing.T) {
	s := amp.NewScope()
	defer s.Close()
	b := nn.NewBatchNorm1d(s, 1, nn.Momentum(0.5), nn.Eps(1e-12))
	x := amp.FromFloat64s(amp.Float16, []float64{2, 4, 6, 8}, 4, 1) // mean 5, variance 5, unbiased 20/3
	y := b.Forward(s, x)
	if y.DType() != amp.Float16 || math.Abs(y.Float64s()[0]+3/math.Sqrt(5)) > 1e-3 {
		t.Errorf("%v %v", y.DType(), y.Float64s())
	}
	b.Forward(s, x)
	if m, v, n := b.RunningMean.Item(), b.RunningVar.Item(), b.NumBatches.Item(); m != 3.75 || math.Abs(v-(0.25+0.75*20/3)) > 1e-6 || n != 2 {
		t.Errorf("mean %v, variance %v after %v batches", m, v, n)
	}
	if b.RunningMean.DType() != amp.Float32 || b.NumBatches.DType() != amp.Int64 || b.Weight.DType() != amp.Float32 {
		t.Error("dtypes")
	}
	if y := b.Forward(s.Eval(), amp.From([]float32{3.75}, 1, 1)).Item(); y != 0 || b.NumBatches.Item() != 2 {
		t.Errorf("evaluation gives %v, %v batches", y, b.NumBatches.Item())
	}
	// The mean over all batches.
	c := nn.NewBatchNorm1d(s, 1, nn.CumulativeAverage())
	for _, v := range []float32{1, 2, 6} {
		c.Forward(s, amp.From([]float32{v, v}, 2, 1))
	}
	if m := c.RunningMean.Item(); !(math.Abs(m-3) <= 1e-6) {
		t.Errorf("cumulative mean %v", m)
	}
}

func TestNormLayers(t *testing.T) {
	s := amp.NewScope()
	defer s.Close()
	names := func(ts []*amp.Tensor) (out []string) {
		for _, p := range ts {
			out = append(out, p.Name())
		}
		return out
	}
	b := nn.NewBatchNorm2d(s, 3)
	if !slices.Equal(names(b.Parameters()), []string{"weight", "bias"}) || !slices.Equal(names(b.Buffers()), []string{"running_mean", "running_var", "num_batches_tracked"}) {
		t.Error(names(b.Parameters()), names(b.Buffers()))
	}
	bare := nn.NewBatchNorm3d(s, 3, nn.NoAffine(), nn.NoRunningStats())
	if len(bare.Parameters())+len(bare.Buffers()) != 0 {
		t.Error("parameters or buffers of a bare batch norm")
	}
	x := amp.Randn(s, amp.Float32, 1, 2, 2, 4, 3, 3)
	for name, c := range map[string][2]*amp.Tensor{
		"bare batch norm in evaluation": {nn.NewBatchNorm2d(s, 4, nn.NoRunningStats()).Forward(s.Eval(), x), amp.BatchNorm(s, x, nil, nil, amp.BatchNormState{Eps: 1e-5})},
		"group norm":                    {nn.NewGroupNorm(s, 2, 4).Forward(s, x), amp.GroupNorm(s, x, 2, nil, nil, 1e-5)},
		"instance norm":                 {nn.NewInstanceNorm2d(s, 4, nn.Affine()).Forward(s, x), amp.InstanceNorm(s, x, nil, nil, 1e-5)},
	} {
		if !slices.Equal(c[0].Float64s(), c[1].Float64s()) {
			t.Error(name)
		}
	}
	if n := len(nn.NewInstanceNorm2d(s, 4).Parameters()); n != 0 {
		t.Errorf("%d parameters of an instance norm", n)
	}
	for name, c := range map[string]struct {
		kind error
		f    func()
	}{
		"rank":     {amp.ErrShape, func() { nn.NewBatchNorm1d(s, 4).Forward(s, x) }},
		"channels": {amp.ErrArgument, func() { nn.NewBatchNorm2d(s, 0) }},
		"groups":   {amp.ErrArgument, func() { nn.NewGroupNorm(s, 3, 4) }},
	} {
		if err := amp.Maybe(c.f); !errors.Is(err, c.kind) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestInit holds the initializers to the deviation that their formula gives.
func TestInit(t *testing.T) {
	s := amp.NewScope(amp.Seed(9))
	defer s.Close()
	w := amp.Full(s, amp.Float32, 0, 64, 32, 3, 3) // fan in 288, fan out 576
	for _, c := range []struct {
		name string
		fill func()
		rms  float64
		top  float64 // bound of the magnitude, 0 for none
	}{
		{"constant", func() { nn.Constant(s, w, 0.5) }, 0.5, 0.5},
		{"uniform", func() { nn.Uniform(s, w, -0.3, 0.3) }, 0.3 / math.Sqrt(3), 0.3},
		{"normal", func() { nn.Normal(s, w, 0, 0.2) }, 0.2, 0},
		{"truncated", func() { nn.TruncNormal(s, w, 0, 1, -2, 2) }, 0.87962566, 2}, // √(1 - 4φ(2)/(2Φ(2)-1))
		{"xavier uniform", func() { nn.XavierUniform(s, w, 2) }, 2 * math.Sqrt(2.0/864), 2 * math.Sqrt(6.0/864)},
		{"xavier normal", func() { nn.XavierNormal(s, w, 1) }, math.Sqrt(2.0 / 864), 0},
		{"kaiming uniform", func() { nn.KaimingUniform(s, w, nn.FanIn, nn.Gain("relu")) }, math.Sqrt(2.0 / 288), math.Sqrt(6.0 / 288)},
		{"kaiming normal", func() { nn.KaimingNormal(s, w, nn.FanOut, nn.Gain("leaky_relu", 1)) }, math.Sqrt(1.0 / 576), 0},
	} {
		c.fill()
		largest, rms := spread(w)
		if math.Abs(rms-c.rms) > 0.02*c.rms || c.top > 0 && (largest > c.top*1.000001 || largest < 0.95*c.top) {
			t.Errorf("%s: deviation %v, want %v; up to %v, bound %v", c.name, rms, c.rms, largest, c.top)
		}
	}
	for _, shape := range [][]int{{4, 7}, {7, 4}, {3, 2, 2}} {
		m := amp.Full(s, amp.Float64, 0, shape...)
		nn.Orthogonal(s, m, 3)
		flat := amp.Reshape(s, m, shape[0], -1)
		product := amp.MatMul(s, flat, amp.Transpose(s, flat, 0, 1))
		if flat.Dim(0) > flat.Dim(1) {
			product = amp.MatMul(s, amp.Transpose(s, flat, 0, 1), flat)
		}
		n := product.Dim(0)
		for i, v := range product.Float64s() {
			want := 0.0
			if i/n == i%n {
				want = 9
			}
			if !(math.Abs(v-want) <= 1e-12) {
				t.Fatalf("%v: element %d of the product is %v", shape, i, v)
			}
		}
	}
	for name, want := range map[string]float64{"linear": 1, "tanh": 5.0 / 3, "relu": math.Sqrt2, "selu": 0.75, "leaky_relu": math.Sqrt(2 / 1.0001)} {
		if g := nn.Gain(name); !(math.Abs(g-want) <= 1e-15) {
			t.Errorf("gain of %s is %v", name, g)
		}
	}
	for name, f := range map[string]func(){
		"no fan":       func() { nn.XavierNormal(s, amp.Full(s, amp.Float32, 0, 3), 1) },
		"no gain":      func() { nn.Gain("swish") },
		"no range":     func() { nn.TruncNormal(s, w, 0, 1, 2, 2) },
		"no deviation": func() { nn.TruncNormal(s, w, 0, 0, -2, 2) },
		"no matrix":    func() { nn.Eye(w) },
	} {
		if amp.Maybe(f) == nil {
			t.Errorf("%s: no panic", name)
		}
	}
}

// TestUpdateBNBeginsAnew: whatever averages a layer keeps, and in whatever scope, UpdateBN leaves the means over its batches.
func TestUpdateBNBeginsAnew(t *testing.T) {
	for name, opts := range map[string][]nn.NormOption{"exponential": nil, "cumulative": {nn.CumulativeAverage()}} {
		root := amp.NewScope(amp.Seed(1))
		defer root.Close()
		for kind, s := range map[string]*amp.Scope{"plain": root, "no gradient": root.NoGrad(), "evaluation": root.Eval(), "no initial values": root.SkipInit()} {
			b := nn.NewBatchNorm1d(root, 1, opts...)
			for range 3 {
				b.Forward(root, amp.Full(root, amp.Float32, 100, 2, 1))
			}
			nn.UpdateBN(s, b, func(yield func(*amp.Tensor) bool) {
				_ = yield(amp.Full(root, amp.Float32, 1, 2, 1)) && yield(amp.Full(root, amp.Float32, 5, 2, 1))
			})
			if m, v, n := b.RunningMean.Item(), b.RunningVar.Item(), b.NumBatches.Item(); math.Abs(m-3) > 1e-6 || v != 0 || n != 2 {
				t.Errorf("%s, %s: mean %v, variance %v after %v batches, want 3, 0 and 2", name, kind, m, v, n)
			}
		}
	}
}

// TestBatchNormOfOneSample: an image without a batch is refused, and told how to be one.
func TestBatchNormOfOneSample(t *testing.T) {
	s := amp.NewScope()
	defer s.Close()
	layer := nn.NewBatchNorm2d(s, 3)
	for _, c := range []struct {
		shape []int
		say   string
	}{
		{[]int{3, 4, 4}, "a batch of 1: amp.Unsqueeze(s, x, 0)"},
		{[]int{4, 3}, "as many dimensions as x has"},
	} {
		err := amp.Maybe(func() { layer.Forward(s, amp.Zeros(s, amp.Float32, c.shape...)) })
		if !errors.Is(err, amp.ErrShape) || !strings.HasSuffix(err.Error(), c.say) {
			t.Errorf("%v: %v", c.shape, err)
		}
	}
}
