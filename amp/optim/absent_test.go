package optim_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/amp/optim"
)

// TestEmptyOptimizersAndSchedules: what no constructor has made says so by each of its methods, and prints.
func TestEmptyOptimizersAndSchedules(t *testing.T) {
	for _, o := range []optim.Optimizer{new(optim.SGD), new(optim.Adam), new(optim.RMSprop), new(optim.Adagrad)} {
		refused(t, o, map[string]func(){
			"Step": o.Step, "ZeroGrad": func() { o.(interface{ ZeroGrad() }).ZeroGrad() }, "State": func() { o.State() }, "LiveState": func() { o.LiveState() },
			"LoadState": func() { _ = o.LoadState(nil) }, "TakeState": func() { _ = o.TakeState(nil) }, "Parameters": func() { o.Parameters() }, "Groups": func() { o.Groups() },
			"AddGroup": func() { o.AddGroup(optim.Group{}) }, "SetLR": func() { o.SetLR(1) }, "LearningRate": func() { o.LearningRate() }, "Steps": func() { o.Steps() },
			"LiveStateLater": func() { o.LiveStateLater() }, "schedule": func() { optim.NewStepLR(o, 1, 1) }, "scaler": func() { amp.NewGradScaler(amp.ScalerEnabled(false)).Step(o) },
		})
	}
	var schedule *optim.Schedule
	var sequence *optim.Sequence
	var chain *optim.Chain
	var applied *optim.Applied
	for _, s := range []optim.Scheduler{new(optim.Schedule), new(optim.Sequence), new(optim.Chain), new(optim.Applied), schedule, sequence, chain, applied} {
		refused(t, s, map[string]func(){
			"Step": s.Step, "LastLR": func() { s.LastLR() }, "State": func() { s.State() }, "LoadState": func() { _ = s.LoadState(&optim.ScheduleState{}) },
			"chained": func() { optim.NewChained(s) },
		})
	}
	var plateau *optim.Plateau
	for _, p := range []*optim.Plateau{new(optim.Plateau), plateau} {
		refused(t, p, map[string]func(){
			"Step": func() { p.Step(1) }, "LastLR": func() { p.LastLR() }, "State": func() { p.State() }, "LoadState": func() { _ = p.LoadState(&optim.ScheduleState{}) },
		})
	}
}

func refused(t *testing.T, v any, calls map[string]func()) {
	t.Helper()
	for name, f := range calls {
		if err := amp.Maybe(f); !errors.Is(err, amp.ErrArgument) {
			t.Errorf("%T, %s: %v", v, name, err)
		}
	}
	if text := fmt.Sprint(v); !strings.Contains(text, "empty") {
		t.Errorf("%T prints %s", v, text)
	}
}
