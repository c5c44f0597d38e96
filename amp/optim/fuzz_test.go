package optim_test

import (
	"encoding/json"
	"maps"
	"slices"
	"testing"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/amp/optim"
)

// FuzzScheduleState: whatever a file holds, LoadState returns an error or a scheduler that can be stepped.
func FuzzScheduleState(f *testing.F) {
	names := slices.Sorted(maps.Keys(schedules))
	for i, name := range names {
		b, err := json.Marshal(schedules[name].make(twoGroups()).State())
		if err != nil {
			f.Fatal(err)
		}
		f.Add(i, b)
	}
	f.Add(0, []byte(`{"kind":"StepLR","last_epoch":9223372036854775807,"base_lrs":[1,1],"_last_lr":[1,1],"settings":{"step_size":1,"gamma":1e308}}`))
	f.Fuzz(func(t *testing.T, which int, text []byte) {
		var st optim.ScheduleState
		if json.Unmarshal(text, &st) != nil {
			return
		}
		s := schedules[names[uint(which)%uint(len(names))]].make(twoGroups())
		before, _ := json.Marshal(s.State())
		if s.LoadState(&st) != nil {
			if after, _ := json.Marshal(s.State()); string(after) != string(before) {
				t.Errorf("a refused state changed %s to %s", before, after)
			}
			return
		}
		// Maybe lets no other panic through: a one-cycle schedule may be past its end.
		_ = amp.Maybe(func() {
			for range 3 {
				s.Step()
			}
		})
	})
}

// FuzzOptimizerState: as FuzzScheduleState, for optimizers.
func FuzzOptimizerState(f *testing.F) {
	names := slices.Sorted(maps.Keys(makers))
	for i, name := range names {
		o := makers[name](weightsOf(amp.Float32))
		train(o, 0, 3)
		b, err := json.Marshal(o.State())
		if err != nil {
			f.Fatal(err)
		}
		f.Add(i, b)
	}
	f.Fuzz(func(t *testing.T, which int, text []byte) {
		o := makers[names[uint(which)%uint(len(names))]](weightsOf(amp.Float32))
		train(o, 0, 3)
		st := optim.State{Tensors: o.State().Tensors}
		tensors := st.Tensors
		if json.Unmarshal(text, &st) != nil {
			return
		}
		st.Tensors = tensors
		if o.LoadState(&st) == nil {
			train(o, 3, 6)
		}
	})
}
