package amp_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/amp/nn"
	"github.com/halftone-ml/halftone/amp/optim"
)

// normed is a layer whose tensors are marked as batch norm's are.
type normed struct{ weight, stat *amp.Tensor }

func (n *normed) Forward(s *amp.Scope, x *amp.Tensor) *amp.Tensor {
	return amp.To(s, amp.Mul(s, x, n.weight), x.DType()) // float32 weights, the input's dtype out: as batch norm
}
func (n *normed) Parameters() []*amp.Tensor { return []*amp.Tensor{n.weight} }
func (n *normed) Buffers() []*amp.Tensor    { return []*amp.Tensor{n.stat} }

func levelModel(s *amp.Scope) (*nn.Sequential, *normed) {
	n := &normed{
		weight: amp.Full(s, amp.Float32, 1, 4).SetName("weight").RequireGrad().KeepFloat32(),
		stat:   amp.Full(s, amp.Float32, 0, 4).SetName("running_mean").KeepFloat32(),
	}
	return nn.NewSequential(nn.NewLinear(s, 3, 4), n, nn.ReLU, nn.NewLinear(s, 4, 1)), n
}

// TestSpec41Levels: spec, Apex opt levels. What each level does to parameters, buffers, ops, inputs and outputs.
func TestSpec41Levels(t *testing.T) {
	for _, c := range []struct {
		level                amp.OLevel
		overrides            []amp.LevelOption
		weight, norm, linear amp.DType
		out                  amp.DType
		masters              bool
		scale                float64
	}{
		{amp.O0, nil, amp.Float32, amp.Float32, amp.Float32, amp.Float32, false, 1},
		{amp.O1, nil, amp.Float32, amp.Float32, amp.Float16, amp.Float16, false, 65536},
		{amp.O2, nil, amp.Float16, amp.Float32, amp.Float16, amp.Float32, true, 65536},
		{amp.O3, nil, amp.Float16, amp.Float16, amp.Float16, amp.Float32, false, 1},
		{amp.O2, []amp.LevelOption{amp.KeepBatchNormFP32(false)}, amp.Float16, amp.Float16, amp.Float16, amp.Float32, true, 65536},
		{amp.O3, []amp.LevelOption{amp.KeepBatchNormFP32(true), amp.StaticLossScale(128)}, amp.Float16, amp.Float32, amp.Float16, amp.Float32, false, 128},
		{amp.O2, []amp.LevelOption{amp.CastModelType(amp.BFloat16), amp.CastModelOutputs(amp.BFloat16)}, amp.BFloat16, amp.Float32, amp.BFloat16, amp.BFloat16, true, 65536},
		{amp.O2, []amp.LevelOption{amp.MasterWeights(false), amp.MaxLossScale(1024)}, amp.Float16, amp.Float32, amp.Float16, amp.Float32, false, 1024},
	} {
		t.Run(fmt.Sprint(c.level, len(c.overrides)), func(t *testing.T) {
			root := amp.NewScope(amp.Seed(1), amp.Record(amp.Decisions))
			defer root.Close()
			net, n := levelModel(root)
			opt := optim.NewSGD(net.Parameters(), optim.LR(0.1))
			m, o := amp.Initialize(net, opt, c.level, c.overrides...)
			w := net.Parameters()[0]
			if w.DType() != c.weight || n.weight.DType() != c.norm || n.stat.DType() != c.norm {
				t.Errorf("weight %v, norm %v, statistic %v", w.DType(), n.weight.DType(), n.stat.DType())
			}
			y := m.Forward(root, amp.Randn(root, amp.Float32, 0, 1, 2, 3))
			for _, e := range root.Trace().Events {
				if e.Op == "linear" && e.Compute != c.linear {
					t.Errorf("linear ran in %v, want %v", e.Compute, c.linear)
				}
			}
			if y.DType() != c.out {
				t.Errorf("output %v, want %v", y.DType(), c.out)
			}
			if master := o.Parameters()[0]; (master != w) != c.masters || master.DType() != amp.Float32 && (c.masters || c.weight == amp.Float32) {
				t.Errorf("master %v, the same %v", master.DType(), master == w)
			}
			if o.LossScale(0) != c.scale {
				t.Errorf("loss scale %v, want %v", o.LossScale(0), c.scale)
			}
		})
	}
}

// levelStep trains one step and returns the loss.
func levelStep(root *amp.Scope, m *amp.LevelModel, o *amp.LevelOptimizer, x, y *amp.Tensor) float64 {
	s := root.Child()
	defer s.Close()
	loss := nn.MSELoss(m.Scope(s), m.Forward(s, x), y)
	o.ZeroGrad()
	o.ScaleLoss(s, loss, func(scaled *amp.Tensor) { scaled.Backward() })
	o.Step()
	return loss.Item()
}

// TestLevelsTrain: every level learns the same line; O0 is plain training bit for bit, and a master moves where its half copy
// would stand still.
func TestLevelsTrain(t *testing.T) {
	for _, level := range []amp.OLevel{amp.O0, amp.O1, amp.O2, amp.O3} {
		root := amp.NewScope(amp.Seed(4))
		net, _ := levelModel(root)
		plain, _ := levelModel(root)
		if err := nn.LoadStateDict(plain, nn.StateDict(net)); err != nil {
			t.Fatal(err)
		}
		opt, plainOpt := optim.NewSGD(net.Parameters(), optim.LR(0.05), optim.Momentum(0.9)), optim.NewSGD(plain.Parameters(), optim.LR(0.05), optim.Momentum(0.9))
		m, o := amp.Initialize(net, opt, level)
		x := amp.Randn(root, amp.Float32, 0, 1, 16, 3)
		y := amp.Sum(root, x, 1)
		y = amp.Reshape(root, y, 16, 1)
		var first, last, want float64
		for i := range 60 {
			last = levelStep(root, m, o, x, y)
			if i == 0 {
				first = last
			}
			s := root.Child()
			loss := nn.MSELoss(s, plain.Forward(s, x), y)
			plainOpt.ZeroGrad()
			loss.Backward()
			plainOpt.Step()
			want = loss.Item()
			s.Close()
			if level == amp.O0 && last != want {
				t.Fatalf("O0 step %d: loss %v, plain training %v", i, last, want)
			}
		}
		if !(last < first/4) || math.Abs(last-want) > 0.05*first {
			t.Errorf("%v: loss from %v to %v, float32 reaches %v", level, first, last, want)
		}
		for i, p := range net.Parameters() { // the model's copy is its master rounded
			master := o.Parameters()[i]
			rounded := amp.FromFloat64s(p.DType(), master.Float64s(), p.Shape()...)
			if !slices.Equal(p.Float64s(), rounded.Float64s()) {
				t.Errorf("%v: %s is not its master rounded", level, p.Name())
			}
		}
		root.Close()
	}
}

// line is y = w·x with one weight, whose gradient is known.
func line(s *amp.Scope, w float64) (*nn.Linear, *amp.Tensor) {
	l := nn.NewLinear(s, 1, 1, nn.NoBias())
	amp.SetValues(l.Weight, []float32{float32(w)})
	return l, amp.From([]float32{1}, 1, 1)
}

// TestLevelOverflow: an overflow halves the scale at once and skips one step, whatever becomes of the next loss.
func TestLevelOverflow(t *testing.T) {
	root := amp.NewScope()
	defer root.Close()
	l, x := line(root, 1)
	_, o := amp.Initialize(l, optim.NewSGD(l.Parameters(), optim.LR(0.5)), amp.O2)
	back := func(k float64) {
		y := amp.To(root, amp.Linear(root, amp.To(root, x, amp.Float16), l.Weight, nil), amp.Float32)
		o.ScaleLoss(root, amp.MulScalar(root, amp.Sum(root, y), k), func(scaled *amp.Tensor) { scaled.Backward() })
	}
	back(1) // 65536 is infinite in float16
	o.Step()
	if w := l.Weight.Item(); w != 1 || o.LossScale(0) != 32768 {
		t.Errorf("weight %v, scale %v after an overflow", w, o.LossScale(0))
	}
	if n, culprit := o.Skipped(); n != 1 || !strings.Contains(culprit, "weight") {
		t.Errorf("%d skipped, culprit %q", n, culprit)
	}
	o.ZeroGrad()
	back(0x1p-12) // gradient 2^-12: the step of 2^-13 vanishes in float16 near 1
	o.Step()
	if m := o.Parameters()[0]; m.Item() != 1-0x1p-13 || l.Weight.Item() != 1 {
		t.Errorf("master %v, weight %v", m.Item(), l.Weight.Item())
	}
	o.ZeroGrad()
	back(0x1p-12)
	back(0x1p-12) // accumulates unscaled
	o.Step()
	if m := o.Parameters()[0]; m.Item() != 1-3*0x1p-13 {
		t.Errorf("master %v after accumulation", m.Item())
	}
}

// TestLevelScales: scales per loss, their growth at 2000 clean steps, floor, ceiling, state, and delayed unscaling.
func TestLevelScales(t *testing.T) {
	root := amp.NewScope()
	defer root.Close()
	l, x := line(root, 1)
	opt := optim.NewSGD(l.Parameters(), optim.LR(0))
	_, o := amp.Initialize(l, opt, amp.O1, amp.NumLosses(2), amp.MinLossScale(20000), amp.MaxLossScale(100000))
	back := func(k float32, opts ...amp.ScaleLossOption) {
		s := root.Child()
		defer s.Close()
		o.ScaleLoss(s, amp.Sum(s, amp.Mul(s, amp.Linear(s, x, l.Weight, nil), amp.From([]float32{k}))), func(scaled *amp.Tensor) { scaled.Backward() }, opts...)
	}
	back(float32(math.Inf(1)), amp.LossID(1))
	back(float32(math.Inf(1)), amp.LossID(1))
	o.ZeroGrad()
	if o.LossScale(0) != 65536 || o.LossScale(1) != 20000 {
		t.Errorf("scales %v and %v", o.LossScale(0), o.LossScale(1))
	}
	back(2, amp.DelayUnscale())
	if g := l.Weight.Grad().Item(); g != 2*65536 {
		t.Errorf("a delayed gradient is %v", g)
	}
	if err := amp.Maybe(o.Step); !errors.Is(err, amp.ErrScaler) {
		t.Error(err)
	}
	back(3)
	if g := l.Weight.Grad().Item(); g != 5 {
		t.Errorf("the gradients of two passes are %v", g)
	}
	for range 1999 {
		o.ZeroGrad()
		back(1)
	}
	if o.LossScale(0) != 100000 {
		t.Errorf("scale %v after 2000 clean passes", o.LossScale(0))
	}
	st := o.State()
	_, again := amp.Initialize(l, opt, amp.O1, amp.NumLosses(2))
	if err := again.LoadState(st); err != nil || again.LossScale(0) != 100000 || again.LossScale(1) != 20000 {
		t.Errorf("%v, scales %v and %v", err, again.LossScale(0), again.LossScale(1))
	}
	_, one := amp.Initialize(l, opt, amp.O1)
	if err := one.LoadState(st); err == nil {
		t.Error("the state of two losses was loaded for one")
	}
	if err := amp.Maybe(func() { back(1, amp.LossID(2)) }); !errors.Is(err, amp.ErrArgument) {
		t.Error(err)
	}
}

func TestLevelMisuse(t *testing.T) {
	root := amp.NewScope()
	defer root.Close()
	l, _ := line(root, 1)
	opt := optim.NewSGD(l.Parameters())
	for name, c := range map[string]struct {
		level amp.OLevel
		opts  []amp.LevelOption
	}{
		"no such level":               {4, nil},
		"O1 with masters":             {amp.O1, []amp.LevelOption{amp.MasterWeights(true)}},
		"O1 with kept norms":          {amp.O1, []amp.LevelOption{amp.KeepBatchNormFP32(true)}},
		"O1 with a cast model":        {amp.O1, []amp.LevelOption{amp.CastModelType(amp.Float16)}},
		"a model of integers":         {amp.O2, []amp.LevelOption{amp.CastModelType(amp.Int64)}},
		"no losses":                   {amp.O2, []amp.LevelOption{amp.NumLosses(0)}},
		"scale 0":                     {amp.O2, []amp.LevelOption{amp.StaticLossScale(0)}},
		"masters of a float32 model":  {amp.O0, []amp.LevelOption{amp.MasterWeights(true)}},
		"masters of a model kept f32": {amp.O2, []amp.LevelOption{amp.CastModelType(amp.Float32)}},
	} {
		if err := amp.Maybe(func() { amp.Initialize(l, opt, c.level, c.opts...) }); !errors.Is(err, amp.ErrArgument) {
			t.Errorf("%s: %v", name, err)
		}
	}
	half := nn.NewLinear(root, 1, 1, nn.DType(amp.Float16))
	if err := amp.Maybe(func() { amp.Initialize(half, optim.NewSGD(half.Parameters()), amp.O2) }); !errors.Is(err, amp.ErrDType) {
		t.Error(err)
	}
}

// TestSpec41ApexLists: mean, std and var in float32, arithmetic and comparisons in the widest of their inputs.
func TestSpec41ApexLists(t *testing.T) {
	root := amp.NewScope()
	defer root.Close()
	s := root.Autocast(amp.Float16, amp.UseLists(amp.ApexLists))
	h := amp.FromFloat64s(amp.Float16, []float64{1, 2})
	f := amp.From([]float32{1, 2})
	for name, c := range map[string]struct{ got, want amp.DType }{
		"mean":        {amp.Mean(s, h).DType(), amp.Float32},
		"var":         {amp.Var(s, h).DType(), amp.Float32},
		"softmax":     {amp.Softmax(s, h, 0).DType(), amp.Float32},
		"add":         {amp.Add(s, h, f).DType(), amp.Float32},
		"add halves":  {amp.Add(s, h, h).DType(), amp.Float16},
		"add numbers": {amp.Add(s, h, amp.Scalar[float32](1)).DType(), amp.Float32}, // not so on the CUDA lists
		"relu":        {amp.ReLU(s, h).DType(), amp.Float16},
		"stack":       {amp.Stack(s, 0, h, f).DType(), amp.Float32},
	} {
		if c.got != c.want {
			t.Errorf("%s gives %v, want %v", name, c.got, c.want)
		}
	}
}

// TestSpec42Policies: peers in one table, jmp.
func TestSpec42Policies(t *testing.T) {
	for text, want := range map[string]string{
		"params=f32,compute=f16,output=f16": "params=float32,compute=float16,output=float16",
		"p=full, c=bf16":                    "params=float32,compute=bfloat16,output=bfloat16",
		"params=half":                       "params=float16,compute=float16,output=float16",
		"float64":                           "params=float64,compute=float64,output=float64",
		"o=f32,p=f32,c=half":                "params=float32,compute=float16,output=float32",
	} {
		p, err := amp.ParsePolicy(text)
		if err != nil || p.String() != want {
			t.Errorf("%q is %v, %v", text, p, err)
		}
		if again, err := amp.ParsePolicy(p.String()); err != nil || again != p {
			t.Errorf("%v does not read back: %v %v", p, again, err)
		}
	}
	for _, text := range []string{"", "f8", "params", "params=int", "compute=f16", "params=f32,params=f16", "dtype=f32,params=f32"} {
		if p, err := amp.ParsePolicy(text); err == nil {
			t.Errorf("%q was read as %v", text, p)
		}
	}
	root := amp.NewScope(amp.Record(amp.Decisions))
	defer root.Close()
	net := nn.NewSequential(nn.NewLinear(root, 3, 4), nn.NewLayerNorm(root, 4), nn.NewLinear(root, 4, 1))
	m := amp.MustPolicy("params=f32,compute=bf16,output=f32").Apply(net)
	x := amp.Randn(root, amp.Float32, 0, 1, 2, 3)
	y := m.Forward(root, x)
	if y.DType() != amp.Float32 || net.Parameters()[0].DType() != amp.Float32 {
		t.Errorf("output %v, weight %v", y.DType(), net.Parameters()[0].DType())
	}
	for _, e := range root.Trace().Events {
		if e.Cast == nil && e.Compute != amp.BFloat16 {
			t.Errorf("%s ran in %v", e.Op, e.Compute)
		}
	}
	amp.Mean(root, y).Backward()
	if g := net.Parameters()[0].Grad(); g == nil || g.DType() != amp.Float32 {
		t.Error("gradients are in the dtype of the parameters")
	}
	half := amp.MustPolicy("half").Apply(net)
	if net.Parameters()[0].DType() != amp.Float16 || half.Forward(root, x).DType() != amp.Float16 {
		t.Error("half parameters")
	}
	double := amp.MustPolicy("f64").Apply(nn.NewLinear(root, 3, 1))
	if double.Forward(root, x).DType() != amp.Float64 {
		t.Error("float64")
	}
	if err := amp.Maybe(func() { amp.MustPolicy("p=f32,c=f64").Apply(net) }); !errors.Is(err, amp.ErrArgument) {
		t.Error(err)
	}
	if err := amp.Maybe(func() { amp.MustPolicy("no") }); !errors.Is(err, amp.ErrArgument) {
		t.Error(err)
	}
}

// O2 keeps the model in float16 and lets the optimizer move float32 master weights.
func ExampleInitialize() {
	root := amp.NewScope(amp.Seed(1))
	defer root.Close()
	net := nn.NewSequential(nn.NewLinear(root, 8, 16), nn.ReLU, nn.NewLinear(root, 16, 1))
	model, opt := amp.Initialize(net, optim.NewSGD(net.Parameters(), optim.LR(0.01)), amp.O2)
	x, y := amp.Randn(root, amp.Float32, 0, 1, 32, 8), amp.Randn(root, amp.Float32, 0, 1, 32, 1)
	for s := range root.Steps(3) {
		loss := nn.MSELoss(s, model.Forward(s, x), y)
		opt.ZeroGrad()
		opt.ScaleLoss(s, loss, func(scaled *amp.Tensor) { scaled.Backward() })
		optim.ClipGradNorm(opt.Parameters(), 1)
		opt.Step()
	}
	fmt.Println(net.Parameters()[0].DType(), opt.Parameters()[0].DType(), opt.LossScale(0))
	// Output: float16 float32 65536
}
