package nn_test

import (
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/amp/nn"
	"github.com/halftone-ml/halftone/amp/optim"
)

// parametrizationRules are the names of torchRules.
var parametrizationRules = slices.Sorted(maps.Keys(torchRules))

// eachParametrized runs f with every rule on every kind of layer, in a recorded scope of its own.
func eachParametrized(t *testing.T, f func(t *testing.T, root *amp.Scope, net nn.Module, x *amp.Tensor)) {
	t.Helper()
	for _, kind := range slices.Sorted(maps.Keys(torchLayers)) {
		for _, rule := range parametrizationRules {
			t.Run(kind+" "+rule, func(t *testing.T) {
				root := amp.NewScope(amp.Seed(7), amp.Record(amp.Decisions))
				defer root.Close()
				net, x := parametrizedCase(root, kind, rule)
				f(t, root, net, x)
			})
		}
	}
}

// staysWide says whether a layer runs in the dtype of its weight: an Embedding copies rows, and a Bilinear is in the list that promotes.
func staysWide(net nn.Module) bool {
	switch net.(type) {
	case *nn.Embedding, squared:
		return true
	}
	return false
}

// TestParametrizationDecisions: under autocast what computes the weight runs in float32, its backward too, and the layer's op in the lower
// dtype. (On a GPU PyTorch's lists have mv among the lower ones, which SpectralNorm says; all else is float32 there as well.)
func TestParametrizationDecisions(t *testing.T) {
	for _, dt := range []amp.DType{amp.Float16, amp.BFloat16} {
		eachParametrized(t, func(t *testing.T, root *amp.Scope, net nn.Module, x *amp.Tensor) {
			s := root.Autocast(dt)
			stays := staysWide(net)
			from := len(root.Trace().Events)
			amp.Sum(root, amp.To(root, net.Forward(s, x), amp.Float32)).Backward()
			inside, lower := map[string]int{}, 0
			for _, e := range root.Trace().Events[from:] {
				switch {
				case e.Cast != nil:
				case strings.HasSuffix(e.Module, "parametrizations.weight"):
					inside[e.Phase]++
					if e.Compute != amp.Float32 || e.Out.DType != amp.Float32 && e.Out.DType != amp.Bool {
						t.Errorf("%s %s in %v gives %v", e.Phase, e.Op, e.Compute, e.Out)
					}
				case e.Compute == dt && e.Phase == "forward":
					lower++
				}
			}
			if inside["forward"] < 4 || inside["backward"] < 4 || (lower == 0) != stays {
				t.Errorf("%v ops in the path of the weight, %d of the layer in %v", inside, lower, dt)
			}
		})
	}
}

// TestParametrizationsUnderAScaler: gradients unscaled by a power of two are those without a scaler, bit for bit; a step that overflows moves
// no parameter, though u and v have moved with the run.
func TestParametrizationsUnderAScaler(t *testing.T) {
	eachParametrized(t, func(t *testing.T, root *amp.Scope, net nn.Module, x *amp.Tensor) {
		s := root.Autocast(amp.Float16)
		run := func(g *amp.GradScaler, opt *optim.SGD) bool {
			opt.ZeroGrad()
			g.Scale(root, weighted(root, amp.To(root, net.Forward(s, x), amp.Float32))).Backward()
			g.Unscale(opt)
			return g.Step(opt).Applied()
		}
		values := func(of func(p *amp.Tensor) *amp.Tensor) (out [][]float64) {
			for _, p := range net.Parameters() {
				out = append(out, of(p).Float64s())
			}
			return out
		}
		still := optim.NewSGD(net.Parameters(), optim.LR(0))
		buffers := nn.Buffers(net)
		begin := values(func(p *amp.Tensor) *amp.Tensor { return p })
		saved := make([]*amp.Tensor, len(buffers))
		for i, b := range buffers {
			saved[i] = amp.Clone(root.NoGrad(), b)
		}
		run(amp.NewGradScaler(amp.InitScale(1)), still)
		want := values((*amp.Tensor).Grad)
		for i, b := range buffers {
			amp.Assign(b, saved[i])
		}
		run(amp.NewGradScaler(amp.InitScale(1<<6)), still)
		for i, g := range values((*amp.Tensor).Grad) {
			if !near(g, want[i], 1e-3) || slices.Max(g) == 0 && slices.Min(g) == 0 {
				t.Errorf("the gradient of %s is %v, without a scale %v", net.Parameters()[i].Name(), g, want[i])
			}
		}
		version := uint32(0)
		if len(buffers) > 0 {
			version = buffers[0].Version()
		}
		if staysWide(net) {
			return // nothing of it runs in float16, and overflows
		}
		if run(amp.NewGradScaler(amp.InitScale(math.MaxFloat32/2)), optim.NewSGD(net.Parameters())) {
			t.Error("a step that overflows was applied")
		}
		for i, p := range values(func(p *amp.Tensor) *amp.Tensor { return p }) {
			if !slices.Equal(p, begin[i]) {
				t.Errorf("%s has moved", net.Parameters()[i].Name())
			}
		}
		if len(buffers) > 0 && buffers[0].Version() == version {
			t.Error("u has not moved")
		}
	})
}

// TestParametrizationsOfOtherDTypes: a weight in halves is what float64 makes of the same numbers, rounded once; one in float64 is computed in
// it, under autocast too.
func TestParametrizationsOfOtherDTypes(t *testing.T) {
	for dt, eps := range map[amp.DType]float64{amp.Float16: 0x1p-11, amp.BFloat16: 0x1p-8, amp.Float64: 0x1p-48} {
		for _, rule := range parametrizationRules {
			root := amp.NewScope(amp.Seed(5))
			make := func(dt amp.DType) nn.Parametrizable {
				return parametrizedAs(root, nn.NewLinear(root, 9, 7, nn.DType(dt)), rule).(nn.Parametrizable)
			}
			layer, exact := make(dt), make(amp.Float64)
			for name, from := range nn.StateDict(layer.(nn.Module)) {
				amp.Assign(nn.StateDict(exact.(nn.Module))[name], from)
			}
			s := root.Eval().Autocast(amp.Float16)
			w, want := nn.WeightOf(s, layer), nn.WeightOf(s, exact).Float64s()
			for i, v := range w.Float64s() {
				if w.DType() != dt || math.Abs(v-want[i]) > eps*1.01*math.Abs(want[i]) {
					t.Errorf("%v %s: %v at %d, in float64 %v", w.DType(), rule, v, i, want[i])
					break
				}
			}
			for _, b := range layer.(nn.Buffered).Buffers() {
				if dt.IsHalf() && b.DType() != amp.Float32 {
					t.Errorf("%s is %v", b.Name(), b.DType())
				}
			}
			root.Close()
		}
	}
}

// TestParametrizationsUnderPolicies: a model under a policy, which casts parameters and not buffers, computes near what it did, and learns.
func TestParametrizationsUnderPolicies(t *testing.T) {
	for policy, dt := range map[string]amp.DType{"half": amp.Float16, "f64": amp.Float64, "params=f32,compute=bf16,output=f32": amp.Float32} {
		for _, rule := range parametrizationRules {
			root := amp.NewScope(amp.Seed(1))
			net := nn.NewSequential(parametrizedAs(root, nn.NewLinear(root, 3, 4), rule))
			x := filled(1, 2, 3)
			want := net.Forward(root.Eval(), x).Float64s()
			m := amp.MustPolicy(policy).Apply(net)
			if y := m.Forward(root.Eval(), x).Float64s(); !near(y, want, 5e-3) {
				t.Errorf("%s under %s: %v, alone %v", rule, policy, y, want)
			}
			weighted(root, amp.To(root, m.Forward(root, x), amp.Float32)).Backward()
			for _, p := range net.Parameters() {
				if g := p.Grad(); g.DType() != dt || slices.Max(g.Float64s()) == slices.Min(g.Float64s()) && p.Rank() > 0 {
					t.Errorf("%s under %s: the gradient of %s is %v %v", rule, policy, p.Name(), g.DType(), g.Float64s())
				}
			}
			root.Close()
		}
	}
}

// TestParametrizationsAtOLevels: three steps at each of Apex's levels, with the dtypes that it leaves parameters and buffers in, come near those
// in float32.
func TestParametrizationsAtOLevels(t *testing.T) {
	dtypes := map[amp.OLevel][2]amp.DType{
		amp.O0: {amp.Float32, amp.Float32}, amp.O1: {amp.Float32, amp.Float32}, amp.O2: {amp.Float16, amp.Float32}, amp.O3: {amp.Float16, amp.Float16},
	}
	for _, rule := range parametrizationRules {
		var want []float64
		for level := amp.O0; level <= amp.O3; level++ {
			root := amp.NewScope(amp.Seed(5))
			net := nn.NewSequential(parametrizedAs(root, nn.NewLinear(root, 6, 8), rule), nn.Tanh, nn.NewBatchNorm1d(root, 8), parametrizedAs(root, nn.NewLinear(root, 8, 2), rule))
			m, opt := amp.Initialize(net, optim.NewSGD(net.Parameters(), optim.LR(0.1)), level, amp.StaticLossScale(128))
			x := filled(1, 4, 6)
			for range 3 {
				opt.ZeroGrad()
				opt.ScaleLoss(root, amp.Mean(root, amp.Square(root, m.Forward(root, x))), func(scaled *amp.Tensor) { scaled.Backward() })
				opt.Step()
			}
			y := m.Forward(root.NoGrad().Eval(), x).Float64s()
			if level == amp.O0 {
				want = y
			}
			if !near(y, want, 0.03) {
				t.Errorf("%s at %v: %v, at O0 %v", rule, level, y, want)
			}
			for name, p := range nn.StateDict(net) {
				at := 0
				if strings.HasSuffix(name, "._u") || strings.HasSuffix(name, "._v") {
					at = 1
				}
				if strings.Contains(name, "parametrizations") && p.DType() != dtypes[level][at] {
					t.Errorf("%s at %v: %s is %v", rule, level, name, p.DType())
				}
			}
			root.Close()
		}
	}
}

// TestParametrizationsInACheckpoint: parts that are run again use the u and v of their first run, though the layer has run since, in nested parts
// and for a second backward too: gradients are those of plain runs, bit for bit, and u and v move as often.
func TestParametrizationsInACheckpoint(t *testing.T) {
	part := func(net nn.Module) func(s *amp.Scope, in ...*amp.Tensor) *amp.Tensor {
		return func(s *amp.Scope, in ...*amp.Tensor) *amp.Tensor {
			return amp.To(s, net.Forward(s, in[0]), amp.Float32)
		}
	}
	ways := map[string]func(s *amp.Scope, net nn.Module, x *amp.Tensor) *amp.Tensor{
		"plain":      func(s *amp.Scope, net nn.Module, x *amp.Tensor) *amp.Tensor { return part(net)(s, x) },
		"checkpoint": func(s *amp.Scope, net nn.Module, x *amp.Tensor) *amp.Tensor { return amp.Checkpoint(s, part(net), x) },
		"nested": func(s *amp.Scope, net nn.Module, x *amp.Tensor) *amp.Tensor {
			return amp.Checkpoint(s, func(s *amp.Scope, in ...*amp.Tensor) *amp.Tensor { return amp.Checkpoint(s, part(net), in...) }, x)
		},
	}
	run := func(kind, rule, way string, eval bool) (out [][]float64) {
		root := amp.NewScope(amp.Seed(7))
		defer root.Close()
		net, x := parametrizedCase(root, kind, rule)
		s := root.Autocast(amp.BFloat16)
		if eval {
			s = s.Eval()
		}
		first := ways[way](s, net, x)
		second := ways[way](s, net, amp.MulScalar(root, x, 3))
		net.Forward(root, x) // moves u and v
		loss := weighted(root, amp.Mul(root, first, second))
		loss.Backward(amp.RetainGraph())
		loss.Backward()
		for _, p := range net.Parameters() {
			out = append(out, p.Grad().Float64s())
		}
		out = append(out, x.Grad().Float64s())
		for _, b := range nn.Buffers(net) {
			out = append(out, b.Float64s())
		}
		return out
	}
	for _, kind := range []string{"Linear", "Conv2d"} {
		for _, rule := range parametrizationRules {
			for _, eval := range []bool{false, true} {
				want := run(kind, rule, "plain", eval)
				for way := range ways {
					if got := run(kind, rule, way, eval); !slices.EqualFunc(got, want, slices.Equal[[]float64]) {
						t.Errorf("%s %s, %s, evaluation %v: %v, plain %v", kind, rule, way, eval, got, want)
					}
				}
			}
		}
	}
}

// TestParametrizationsOfSecondOrder: the gradient of a penalty on the input's gradient, as discriminators have, is that of central differences.
func TestParametrizationsOfSecondOrder(t *testing.T) {
	for _, rule := range parametrizationRules {
		root := amp.NewScope(amp.Seed(5))
		s := root.Eval() // differences want a u and v that stay
		net := nn.NewSequential(parametrizedAs(root, nn.NewLinear(root, 4, 3, nn.DType(amp.Float64)), rule), nn.Tanh)
		x := amp.Randn(root, amp.Float64, 0, 1, 2, 4).RequireGrad()
		penalty := func() *amp.Tensor {
			g := amp.Grad(s, []*amp.Tensor{amp.Sum(s, net.Forward(s, x))}, []*amp.Tensor{x}, amp.CreateGraph())
			return amp.Sum(s, amp.Square(s, g[0]))
		}
		penalty().Backward()
		const h = 1e-5
		for _, p := range net.Parameters() {
			values := p.Float64s()
			at := func(i int, v float64) float64 {
				moved := slices.Clone(values)
				if moved[i] = v; p.Rank() == 0 {
					amp.Assign(p, amp.Scalar(v))
				} else {
					amp.SetValues(p, moved)
				}
				return penalty().Item()
			}
			for i, g := range p.Grad().Float64s() {
				want := (at(i, values[i]+h) - at(i, values[i]-h)) / (2 * h)
				at(i, values[i])
				if math.Abs(g-want) > 1e-7*(1+math.Abs(want)) {
					t.Errorf("%s: the gradient of %s at %d is %v, by differences %v", rule, p.Name(), i, g, want)
				}
			}
		}
		root.Close()
	}
}

// TestParametrizationsAveraged: averages are of what is trained, g and v, and u and v of SpectralNorm are copied.
func TestParametrizationsAveraged(t *testing.T) {
	for _, rule := range parametrizationRules {
		root := amp.NewScope(amp.Seed(5))
		build := func() *nn.Sequential {
			return nn.NewSequential(parametrizedAs(root, nn.NewLinear(root, 6, 3), rule), parametrizedAs(root, squared{nn.NewBilinear(root, 3, 3, 2)}, rule))
		}
		net := build()
		averages := nn.NewAveragedModel(build(), net, nn.EMA(0.5))
		opt, x := optim.NewSGD(net.Parameters(), optim.LR(0.5)), filled(1, 4, 6)
		var want [][]float64
		for step := range 3 {
			opt.ZeroGrad()
			amp.Mean(root, amp.Square(root, net.Forward(root, x))).Backward()
			opt.Step()
			averages.Update(root)
			for i, p := range net.Parameters() {
				if step == 0 {
					want = append(want, p.Float64s())
					continue
				}
				for k, v := range p.Float64s() {
					want[i][k] = (want[i][k] + v) / 2
				}
			}
		}
		for i, p := range averages.Parameters() {
			if !near(p.Float64s(), want[i], 1e-6) || slices.Equal(p.Float64s(), net.Parameters()[i].Float64s()) {
				t.Errorf("%s: %s is %v, want %v", rule, p.Name(), p.Float64s(), want[i])
			}
		}
		for i, b := range nn.Buffers(averages)[1:] { // behind n_averaged
			if of := nn.Buffers(net)[i]; b.Name() != "module."+of.Name() || !slices.Equal(b.Float64s(), of.Float64s()) {
				t.Errorf("%s: %s is not the model's", rule, b.Name())
			}
		}
		root.Close()
	}
}
