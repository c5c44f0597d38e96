package amp

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
)

// TestCrossEntropyForms holds the forms of cross entropy to each other and to sums written out.
func TestCrossEntropyForms(t *testing.T) {
	s := NewScope()
	defer s.Close()
	x := From([]float64{1, 2, 0.5, -1, 0, 3, 2, 2, -2}, 3, 3)
	weight := From([]float64{0.5, 2, 1.5})
	target := From([]int64{1, IgnoreIndex, 0})
	logp := func(i, j int) float64 {
		v, sum := x.Float64s(), 0.0
		for k := range 3 {
			sum += math.Exp(v[3*i+k])
		}
		return v[3*i+j] - math.Log(sum)
	}
	a, b := -logp(0, 1), -logp(2, 0)
	wantValues(t, "mean", CrossEntropy(s, x, target), (a+b)/2)
	wantValues(t, "sum", CrossEntropy(s, x, target, ReduceSum), a+b)
	wantValues(t, "none", CrossEntropy(s, x, target, ReduceNone), a, 0, b)
	wantValues(t, "weighted", CrossEntropy(s, x, target, LossWeight(weight)), (2*a+0.5*b)/2.5)
	wantValues(t, "ignoring 0", CrossEntropy(s, x, From([]int64{1, 0, 0}), IgnoreClass(0)), a)
	// Smoothed targets: 1 - e + e/classes for the class, e/classes for the others, each weighted.
	const e = 0.3
	smooth := func(i, class int) float64 {
		sum := 0.0
		for j, w := range weight.Float64s() {
			q := e / 3
			if j == class {
				q += 1 - e
			}
			sum -= q * w * logp(i, j)
		}
		return sum
	}
	opts := []LossOption{LossWeight(weight), LabelSmoothing(e)}
	wantValues(t, "smoothed none", CrossEntropy(s, x, target, append(opts, ReduceNone)...), smooth(0, 1), 0, smooth(2, 0))
	wantValues(t, "smoothed sum", CrossEntropy(s, x, target, append(opts, ReduceSum)...), smooth(0, 1)+smooth(2, 0))
	wantValues(t, "smoothed mean", CrossEntropy(s, x, target, opts...), (smooth(0, 1)+smooth(2, 0))/2.5)
	// Probabilities that are certain are classes, but for the mean, which they divide by rows.
	certain := From([]float64{0, 1, 0, 0, 0, 1, 1, 0, 0}, 3, 3)
	all := From([]int64{1, 2, 0})
	wantValues(t, "certain", CrossEntropy(s, x, certain), CrossEntropy(s, x, all).Item())
	wantValues(t, "certain, smoothed", CrossEntropy(s, x, certain, append(opts, ReduceSum)...), CrossEntropy(s, x, all, append(opts, ReduceSum)...).Item())
	wantValues(t, "certain, weighted", CrossEntropy(s, x, certain, LossWeight(weight)), CrossEntropy(s, x, all, LossWeight(weight), ReduceSum).Item()/3)
	// Images are rows with the classes in front.
	image := Permute(s, Reshape(s, x, 1, 3, 3), 0, 2, 1)
	for _, o := range [][]LossOption{nil, {ReduceSum}, opts} {
		wantValues(t, "image", CrossEntropy(s, image, Reshape(s, target, 1, 3), o...), CrossEntropy(s, x, target, o...).Item())
	}
	if v := CrossEntropy(s, x, From([]int64{IgnoreIndex, IgnoreIndex, IgnoreIndex})).Item(); v == v {
		t.Errorf("a mean over nothing is %v, want NaN", v)
	}
	one := Reshape(s, Narrow(s, x, 0, 0, 1), 3)
	wantValues(t, "one", CrossEntropy(s, one, Scalar[int64](1)), a)
}

// TestLossValues: by hand.
func TestLossValues(t *testing.T) {
	s := NewScope()
	defer s.Close()
	x, y := From([]float64{-1, 0, 2, 3}, 2, 2), From([]float64{0.5, 0.25, 0, 1}, 2, 2)
	each := []float64{0.5 * (math.Log(0.5) + 1), 0.25 * math.Log(0.25), 0, -3}
	sum := each[0] + each[1] + each[2] + each[3]
	wantValues(t, "kl_div none", KLDiv(s, x, y, ReduceNone), each...)
	wantValues(t, "kl_div mean", KLDiv(s, x, y), sum/4)
	wantValues(t, "kl_div batch mean", KLDiv(s, x, y, ReduceBatchMean), sum/2)
	wantValues(t, "kl_div of logarithms", KLDiv(s, x, Log(s, AddScalar(s, y, 1)), LogTarget(), ReduceSum), KLDiv(s, x, AddScalar(s, y, 1), ReduceSum).Item())
	wantValues(t, "kl_div of an impossible", KLDiv(s, From([]float64{math.Inf(-1)}), From([]float64{0})), 0)
	n := From([]float64{0, 1, 3, 2}, 2, 2)
	wantValues(t, "poisson", PoissonNLLLoss(s, x, n, ReduceNone), math.Exp(-1), 1, math.Exp(2)-6, math.Exp(3)-6)
	r := AddScalar(s, x, 2)
	stirling := func(n float64) float64 { return n*math.Log(n) - n + math.Log(2*math.Pi*n)/2 }
	wantValues(t, "poisson rate", PoissonNLLLoss(s, r, n, RateInput(0), FullLikelihood(), ReduceNone),
		1, 2-math.Log(2), 4-3*math.Log(4)+stirling(3), 5-2*math.Log(5)+stirling(2))
	wantValues(t, "gaussian", GaussianNLLLoss(s, x, y, From([]float64{4, 0}), 0.25, ReduceNone),
		(math.Log(4)+1.5*1.5/4)/2, (math.Log(4)+0.25*0.25/4)/2, (math.Log(0.25)+4*4)/2, (math.Log(0.25)+4*4)/2)
	sign := From([]float64{1, -1, -1, 1}, 2, 2)
	wantValues(t, "soft margin", SoftMarginLoss(s, x, sign, ReduceNone), math.Log1p(math.E), math.Log(2), math.Log1p(math.Exp(2)), math.Log1p(math.Exp(-3)))
	wantValues(t, "soft margin far out", SoftMarginLoss(s, From([]float64{-1000, 1000}), From([]float64{1, 1}), ReduceNone), 1000, 0)
	wantValues(t, "hinge", HingeEmbeddingLoss(s, x, sign, 1, ReduceNone), -1, 1, 0, 3)
	wantValues(t, "ranking", MarginRankingLoss(s, From([]float64{1, 1, 1}), From([]float64{0, 2, 1}), From([]float64{1, 1, -1}), 0.5, ReduceNone), 0, 1.5, 0.5)
	a, b := From([]float64{1, 0, 1, 0, 0, 1}, 3, 2), From([]float64{1, 1, 1, 1, 0, -2}, 3, 2)
	root := math.Sqrt2 / 2
	wantValues(t, "cosine embedding", CosineEmbeddingLoss(s, a, b, From([]float64{1, -1, -1}), 0.25, ReduceNone), 1-root, root-0.25, 0)
	anchor, near, far := From([]float64{0, 0}, 1, 2), From([]float64{3, 4}, 1, 2), From([]float64{4, 4}, 1, 2)
	wantValues(t, "triplet", TripletMarginLoss(s, anchor, near, far, 1, 1, 0), 0)
	wantValues(t, "triplet swapped", TripletMarginLoss(s, anchor, near, far, 1, 1, 0, SwapNegatives()), 7)
	// PyTorch's own example of the multi-label margin: 0.25·(1-(0.1-0.2) + 1-(0.1-0.4) + 1-(0.8-0.2) + 1-(0.8-0.4)).
	wantValues(t, "multilabel margin", MultilabelMarginLoss(s, From([]float64{0.1, 0.2, 0.4, 0.8}, 1, 4), From([]int64{3, 0, -1, 1}, 1, 4)), 0.85)
	m := From([]float64{0.1, 0.2, 0.4, 0.8}, 1, 4)
	wantValues(t, "multi margin", MultiMarginLoss(s, m, From([]int64{3}), 1, 1), (0.3+0.4+0.6)/4)
	wantValues(t, "multi margin squared", MultiMarginLoss(s, m, From([]int64{3}), 2, 1, LossWeight(From([]float64{1, 1, 1, 2}))), 2*(0.09+0.16+0.36)/4)
	sig := func(v float64) float64 { return 1 / (1 + math.Exp(-v)) }
	wantValues(t, "multilabel soft margin", MultilabelSoftMarginLoss(s, From([]float64{1, -2}, 1, 2), From([]float64{1, 0}, 1, 2)), -(math.Log(sig(1))+math.Log(1-sig(-2)))/2)
	p, q := From([]float64{0.5, -1}), From([]float64{1, 0})
	wantValues(t, "weighted bce", BCEWithLogits(s, p, q, LossWeight(From([]float64{3, 1})), PosWeight(From([]float64{2})), ReduceNone), -3*2*math.Log(sig(0.5)), -math.Log(sig(1)))
	wantValues(t, "bce of certainty", BCE(s, From([]float64{1, 0}), From([]float64{1, 1}), ReduceNone), 0, 100)
}

// TestLossRefusals: what does not fit is said with a way out.
func TestLossRefusals(t *testing.T) {
	s := NewScope()
	defer s.Close()
	x, y := From([]float64{1, 2, 3, 4}, 2, 2), From([]float64{1, 2})
	class := From([]int64{0, 1})
	for name, c := range map[string]struct {
		kind error
		say  string
		f    func()
	}{
		"no such option":      {ErrArgument, "mse_loss has no weight", func() { MSELoss(s, x, x, LossWeight(y)) }},
		"no batch mean":       {ErrArgument, "l1_loss has no batch mean", func() { L1Loss(s, x, x, ReduceBatchMean) }},
		"no such reduction":   {ErrArgument, "reduction 9", func() { L1Loss(s, x, x, Reduction(9)) }},
		"target broadcast":    {ErrShape, "equal", func() { KLDiv(s, x, y) }},
		"smoothing":           {ErrArgument, "share 1.5", func() { LabelSmoothing(1.5) }},
		"class weight":        {ErrShape, "weight of [2]", func() { CrossEntropy(s, x, class, LossWeight(From([]float64{1, 2, 3}))) }},
		"class weight of one": {ErrShape, "weight of [2]", func() { NLLLoss(s, x, class, LossWeight(x)) }},
		"soft class weight":   {ErrShape, "weight of [2]", func() { CrossEntropy(s, x, x, LossWeight(x)) }},
		"ignored probability": {ErrArgument, "class to ignore", func() { CrossEntropy(s, x, x, IgnoreClass(0)) }},
		"probabilities":       {ErrShape, "shape of the logits", func() { CrossEntropy(s, x, y) }},
		"class too large":     {ErrArgument, "target[1] is 2", func() { NLLLoss(s, x, From([]int64{0, 2})) }},
		"image target":        {ErrShape, "[n classes …]", func() { NLLLoss(s, Reshape(s, x, 1, 2, 2), class) }},
		"number":              {ErrShape, "no dimension", func() { CrossEntropy(s, Scalar(1.0), class) }},
		"bce weight":          {ErrShape, "broadcasts to [2 2]", func() { BCEWithLogits(s, x, x, LossWeight(From([]float64{1, 2, 3, 4}, 2, 1, 2))) }},
		"variance":            {ErrShape, "one per row", func() { GaussianNLLLoss(s, x, x, From([]float64{1, 2, 3}), 1e-6) }},
		"gaussian target":     {ErrShape, "target [1]", func() { GaussianNLLLoss(s, x, From([]float32{1}), x, 1e-6) }},
		"gaussian eps":        {ErrArgument, "eps 0", func() { GaussianNLLLoss(s, x, x, x, 0) }},
		"ranks":               {ErrShape, "as many dimensions", func() { MarginRankingLoss(s, x, x, y, 0) }},
		"cosine rows":         {ErrShape, "target of [n]", func() { CosineEmbeddingLoss(s, x, x, Scalar(1.0), 0) }},
		"triplet":             {ErrShape, "as many dimensions", func() { TripletMarginLoss(s, x, y, x, 1, 2, 1e-6) }},
		"multi p":             {ErrArgument, "p 3", func() { MultiMarginLoss(s, x, class, 3, 1) }},
		"multi float target":  {ErrDType, "int64", func() { MultiMarginLoss(s, x, y, 1, 1) }},
		"multi rows":          {ErrShape, "target of [n]", func() { MultiMarginLoss(s, x, From([]int64{0}), 1, 1) }},
		"multi weight":        {ErrShape, "weight of [2]", func() { MultiMarginLoss(s, x, class, 1, 1, LossWeight(x)) }},
		"labels":              {ErrArgument, "target[0,1] is 7", func() { MultilabelMarginLoss(s, x, From([]int64{0, 7, -1, 0}, 2, 2)) }},
		"label shape":         {ErrShape, "equal", func() { MultilabelMarginLoss(s, x, class) }},
		"huber":               {ErrArgument, "delta 0", func() { HuberLoss(s, x, x, 0) }},
		"banned":              {ErrBanned, "amp.BCEWithLogits", func() { BCE(s.Autocast(Float16), From([]float32{1}), From([]float32{1})) }},
	} {
		if err := Maybe(settled(s, c.f)); !errors.Is(err, c.kind) || !strings.Contains(err.Error(), c.say) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestLossesUnderAutocast: half inputs give float32 losses, of rows that are listed and of those whose parts are.
func TestLossesUnderAutocast(t *testing.T) {
	s := NewScope()
	defer s.Close()
	half, cpu := s.Autocast(Float16), s.Autocast(BFloat16, UseLists(CPULists))
	x := FromFloat64s(Float16, []float64{1, -2, 300, 4}, 2, 2)
	y := FromFloat64s(Float32, []float64{1, -1, 1, 1}, 2, 2)
	for name, f := range map[string]func(s *Scope) *Tensor{
		"mse beyond half's range": func(s *Scope) *Tensor { return MSELoss(s, x, y) },
		"weighted bce":            func(s *Scope) *Tensor { return BCEWithLogits(s, x, y, LossWeight(x)) },
		"smoothed":                func(s *Scope) *Tensor { return CrossEntropy(s, x, From([]int64{0, 1}), LabelSmoothing(0.1)) },
		"probabilities":           func(s *Scope) *Tensor { return CrossEntropy(s, x, y) },
		"gaussian":                func(s *Scope) *Tensor { return GaussianNLLLoss(s, x, y, Abs(s, x), 1e-6) },
		"distance":                func(s *Scope) *Tensor { return PairwiseDistance(s, x, y, 2, 1e-6, false) },
		"triplet":                 func(s *Scope) *Tensor { return TripletMarginLoss(s, x, y, x, 1, 2, 1e-6) },
		"multilabel soft margin":  func(s *Scope) *Tensor { return MultilabelSoftMarginLoss(s, x, y) },
		"hinge":                   func(s *Scope) *Tensor { return HingeEmbeddingLoss(s, x, y, 1) },
	} {
		for _, scope := range []*Scope{half, cpu} {
			if v := f(scope); v.dt != Float32 || !finite(v.Float64s()[0]) {
				t.Errorf("%s: %v %v", name, v.dt, v.Float64s())
			}
		}
	}
	// Followed: the distance of two half tensors is what norm makes of it, on the lists that have norm.
	h := FromFloat64s(Float16, []float64{3, 4}, 1, 2)
	if a, b := PairwiseDistance(half, h, h, 2, 0, false), PairwiseDistance(cpu, To(s, h, BFloat16), To(s, h, BFloat16), 2, 0, false); a.dt != Float32 || b.dt != BFloat16 {
		t.Errorf("distance %v, by the CPU lists %v", a.dt, b.dt)
	}
}

// TestLossesFreeTheirMemory: the constants and masks that losses and distances make for themselves go with their scope.
func TestLossesFreeTheirMemory(t *testing.T) {
	x := FromFloat64s(Float16, []float64{1, -2, 3, 4}, 2, 2).RequireGrad()
	y := FromFloat64s(Float16, []float64{1, -1, -1, 1}, 2, 2)
	sign, class, labels := FromFloat64s(Float16, []float64{1, -1}, 2), From([]int64{1, 0}), From([]int64{1, -1, 0, -1}, 2, 2)
	for name, f := range map[string]func(s *Scope) *Tensor{
		"hinge":      func(s *Scope) *Tensor { return HingeEmbeddingLoss(s, x, y, 1) },
		"cosine":     func(s *Scope) *Tensor { return CosineEmbeddingLoss(s, x, y, sign, 0) },
		"multi":      func(s *Scope) *Tensor { return MultiMarginLoss(s, x, class, 2, 1) },
		"smoothed":   func(s *Scope) *Tensor { return CrossEntropy(s, x, class, LabelSmoothing(0.1)) },
		"multilabel": func(s *Scope) *Tensor { return MultilabelMarginLoss(s, x, labels) },
		"gaussian":   func(s *Scope) *Tensor { return GaussianNLLLoss(s, x, y, Mul(s, x, x), 1e-6, FullLikelihood()) },
		"pdist":      func(s *Scope) *Tensor { return Pdist(s, x, 2) },
		"cdist":      func(s *Scope) *Tensor { return Sum(s, Cdist(s, x, y, 2)) },
		"renorm":     func(s *Scope) *Tensor { return Sum(s, Renorm(s, x, 2, 0, 1)) },
		"einsum":     func(s *Scope) *Tensor { return Einsum(s, "ij,kj,ik->", x, x, y) },
		"clamp":      func(s *Scope) *Tensor { return Sum(s, ClampTensors(s, x, sign, nil)) },
		"maximum":    func(s *Scope) *Tensor { return Sum(s, Maximum(s, x, y)) },
	} {
		root := NewScope()
		var held []int64
		for range 3 {
			x.ZeroGrad()
			s := root.Child()
			Sum(s, f(s)).Backward()
			s.Close()
			held = append(held, MemStats()[home()].Bytes)
		}
		if held[2] > held[1] {
			t.Errorf("%s: %v bytes held after each step", name, held)
		}
		root.Close()
	}
}

// TestVariancesBelowZero: they are held at eps, however far below they are.
func TestVariancesBelowZero(t *testing.T) {
	s := NewScope()
	defer s.Close()
	v := From([]float32{-1e-9, -1e-7, -3, -6e4, -1e30}).RequireGrad()
	x, y := Full(s, Float32, 2, 5), Full(s, Float32, 1, 5)
	loss := GaussianNLLLoss(s, x, y, v, 0.25, ReduceNone)
	Sum(s, loss).Backward()
	for i, g := range v.Grad().Float64s() {
		if l, want := loss.Float64s()[i], (math.Log(0.25)+4)/2; math.Abs(l-want) > 1e-6 || math.Abs(g+6) > 1e-5 { // (1/v - 1/v²)/2
			t.Errorf("variance %v: loss %v, want %v; gradient %v, want -6", v.Float64s()[i], l, want, g)
		}
	}
}

// TestLossesOfMixedDTypes: x and target are brought to a common dtype, and gradients to that of their tensor. (PyTorch's huber_loss takes
// the dtype of x, and has no gradient then.)
func TestLossesOfMixedDTypes(t *testing.T) {
	s := NewScope()
	defer s.Close()
	ones := Ones(s, Float32, 3, 4)
	for name, f := range map[string]func(x, y *Tensor) *Tensor{
		"mse_loss":                         func(x, y *Tensor) *Tensor { return MSELoss(s, x, y) },
		"l1_loss":                          func(x, y *Tensor) *Tensor { return L1Loss(s, x, y) },
		"smooth_l1_loss":                   func(x, y *Tensor) *Tensor { return SmoothL1Loss(s, x, y, 0.2) },
		"huber_loss":                       func(x, y *Tensor) *Tensor { return HuberLoss(s, x, y, 0.2) },
		"kl_div":                           func(x, y *Tensor) *Tensor { return KLDiv(s, x, y) },
		"poisson_nll_loss":                 func(x, y *Tensor) *Tensor { return PoissonNLLLoss(s, x, y) },
		"gaussian_nll_loss":                func(x, y *Tensor) *Tensor { return GaussianNLLLoss(s, x, y, ones, 1e-6) },
		"soft_margin_loss":                 func(x, y *Tensor) *Tensor { return SoftMarginLoss(s, x, y) },
		"hinge_embedding_loss":             func(x, y *Tensor) *Tensor { return HingeEmbeddingLoss(s, x, Sign(s, y), 1) },
		"binary_cross_entropy_with_logits": func(x, y *Tensor) *Tensor { return BCEWithLogits(s, x, y, LossWeight(ones), PosWeight(ones)) },
		"margin_ranking_loss":              func(x, y *Tensor) *Tensor { return MarginRankingLoss(s, x, y, ones, 0) },
	} {
		for _, dt := range []DType{Float32, Float64} {
			x, y := Rand(s, Float16, 0.1, 1, 3, 4).RequireGrad(), Rand(s, dt, 0.1, 1, 3, 4)
			loss := f(x, y)
			loss.Backward()
			wide := To(s, Detach(s, x), dt).RequireGrad()
			want := f(wide, y)
			want.Backward()
			if loss.DType() != dt || x.Grad().DType() != Float16 || math.Abs(loss.Item()-want.Item()) > 1e-6*math.Abs(want.Item()) {
				t.Errorf("%s of float16 and %v: %v in %v, want %v; gradient in %v", name, dt, loss.Item(), loss.DType(), want.Item(), x.Grad().DType())
			}
			if got, want := x.Grad().Float64s(), To(s, wide.Grad(), Float16).Float64s(); !slices.Equal(got, want) {
				t.Errorf("%s of float16 and %v: gradient %v, want %v", name, dt, got, want)
			}
		}
	}
}

// TestBCERefusesWhatIsNoProbability, as PyTorch does on the CPU.
func TestBCERefusesWhatIsNoProbability(t *testing.T) {
	s := NewScope(On("cpu"))
	defer s.Close()
	good := Full(s, Float32, 0.5, 3)
	for _, v := range []float64{1.5, -1e-9, 1 + 0x1p-23, math.Inf(1), math.Inf(-1)} {
		bad := FromFloat64s(Float32, []float64{0, 1, v}).To(s)
		for want, f := range map[string]func(){
			"element 2 of x is":      func() { BCE(s, bad, good) },
			"element 2 of target is": func() { BCE(s, good, bad, ReduceNone) },
		} {
			if err := Maybe(f); !errors.Is(err, ErrArgument) || !strings.Contains(err.Error(), want) {
				t.Errorf("%v: %v, want %q", v, err, want)
			}
		}
	}
	if y := BCE(s, FromFloat64s(Float32, []float64{0, math.NaN(), 1}).To(s), good).Item(); y == y {
		t.Errorf("of NaN: %v", y)
	}
	if y := BCE(s, FromFloat64s(Float32, []float64{0, 1}).To(s), FromFloat64s(Float32, []float64{0, 1}).To(s)).Item(); y != 0 {
		t.Errorf("the bounds themselves: %v", y)
	}
}
