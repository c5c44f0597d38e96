package optim

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/halftone-ml/halftone/amp"
)

func refusalOptimizer() *SGD {
	return NewSGD([]*amp.Tensor{amp.From([]float32{1}).RequireGrad()}, LR(0.5))
}

// TestRatesThatWouldClimbOrDestroyAreRefused: wherever a rate comes from it is a finite number of 0 and above, and the error names the call.
func TestRatesThatWouldClimbOrDestroyAreRefused(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for want, call := range map[string]func(o *SGD){
		"SetLR: bad argument: the learning rate is NaN":                                             func(o *SGD) { o.SetLR(nan) },
		"SetLR: bad argument: the learning rate is -3":                                              func(o *SGD) { o.SetLR(-3) },
		"Group.SetLR: bad argument: the learning rate is +Inf":                                      func(o *SGD) { o.Groups()[0].SetLR(inf) },
		"LambdaLR.Step: bad argument: the learning rate of group 0 would be NaN":                    func(o *SGD) { NewLambdaLR(o, func(int) float64 { return nan }) },
		"NewStepLR: bad argument: gamma is -1, not a finite number of 0 and above":                  func(o *SGD) { NewStepLR(o, 1, -1) },
		"LambdaLR.Step: bad argument: the learning rate of group 0 would be -0.5":                   func(o *SGD) { NewLambdaLR(o, func(int) float64 { return -1 }) },
		"NewSGD: bad argument: lr is +Inf":                                                          func(o *SGD) { NewSGD(o.Parameters(), LR(inf)) },
		"NewSGD: bad argument: dampening is NaN":                                                    func(o *SGD) { NewSGD(o.Parameters(), Dampening(nan)) },
		"ClipGradNorm: bad argument: limit NaN":                                                     func(o *SGD) { ClipGradNorm(o.Parameters(), nan) },
		"ClipGradNorm: bad argument: limit -1":                                                      func(o *SGD) { ClipGradNorm(o.Parameters(), -1) },
		"NewWarmupCosine: bad argument: 10 steps of warm-up of a total of 5":                        func(o *SGD) { NewWarmupCosine(o, 10, 5, 0.1, 0) },
		"NewWarmupCosine: bad argument: start is 2, not a finite number above 0, at most 1":         func(o *SGD) { NewWarmupCosine(o, 1, 5, 2, 0) },
		"NewStepLR: bad argument: step_size is 0, not a finite number of 1 and above":               func(o *SGD) { NewStepLR(o, 0, 0.1) },
		"NewCosineAnnealingLR: bad argument: T_max is 0, not a finite number of 1 and above, at mo": func(o *SGD) { NewCosineAnnealingLR(o, 0, 0) },
		"NewStepLR: bad argument: no optimizer":                                                     func(*SGD) { NewStepLR((*SGD)(nil), 1, 0.1) },
		"NewOneCycleLR: bad argument: no optimizer":                                                 func(*SGD) { NewOneCycleLR((*Adam)(nil), 1, 9) },
		"NewReduceLROnPlateau: bad argument: no optimizer":                                          func(*SGD) { NewReduceLROnPlateau((*SGD)(nil)) },
		"NewWarmupCosine: bad argument: no optimizer":                                               func(*SGD) { NewWarmupCosine((*SGD)(nil), 1, 5, 0.1, 0) },
		"NewChained: bad argument: scheduler 0 is nil":                                              func(*SGD) { NewChained((*Schedule)(nil)) },
	} {
		o := refusalOptimizer()
		err := amp.Maybe(func() { call(o) })
		if !errors.Is(err, amp.ErrArgument) || !strings.HasPrefix(err.Error(), "amp: "+want) {
			t.Errorf("%q: %v", want, err)
		}
		if o.LearningRate() != 0.5 {
			t.Errorf("%q: a refused call left the rate at %v", want, o.LearningRate())
		}
	}
	o := refusalOptimizer()
	o.SetLR(0)
	if ClipGradNorm(o.Parameters(), math.Inf(1)); o.LearningRate() != 0 {
		t.Error("a rate of 0 or no limit was refused")
	}
}

// TestPlateauPrintsAnInfiniteMeasure: what it has seen is shown, and the state goes into JSON all the same.
func TestPlateauPrintsAnInfiniteMeasure(t *testing.T) {
	for best, opts := range map[float64][]PlateauOption{math.Inf(-1): nil, math.Inf(1): {Rising()}, 3: nil} {
		p := NewReduceLROnPlateau(refusalOptimizer(), opts...)
		p.Step(best)
		if got, want := fmt.Sprint(p), fmt.Sprintf(" best=%v,", best); !strings.Contains(got, want) {
			t.Errorf("%q is not in %s", want, got)
		}
		if err := p.LoadState(p.State()); err != nil {
			t.Error(err)
		}
	}
}
