package cudart_test

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/halftone-ml/halftone/amp"
)

// TestStatesLater: what an optimizer and a scaler say of a step later, when the device is many steps further on, is what they say of it to
// who waits for it then; steps that were skipped are not counted.
func TestStatesLater(t *testing.T) {
	d, _, _ := snapshotter(t, 64)
	const steps = 12
	build := func() *step {
		m := mlp("cuda:0")
		m.scaler = amp.NewGradScaler(amp.InitScale(1<<26), amp.GrowthInterval(2))
		return m
	}
	text := func(v ...any) string {
		b, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	var now, later []string
	m := build()
	for s := range m.root.Steps(steps) {
		m.run(s)
		now = append(now, text(m.opt.LiveState(), m.scaler.State()))
	}
	m.root.Close()
	m = build()
	var told []func() string
	for s := range m.root.Steps(steps) {
		m.run(s)
		l := m.opt.LiveStateLater()
		of, state := m.scaler.StateLater()
		scaler := len(of)
		snap, err := d.Snapshot(nil, append(of, l.Counters...))
		if err != nil {
			t.Fatal(err)
		}
		told = append(told, func() string {
			if err := snap.Wait(); err != nil {
				t.Fatal(err)
			}
			defer snap.Drop()
			e := snap.Elements()
			return text(l.State(e[scaler:]), state(e))
		})
	}
	for _, f := range told {
		later = append(later, f())
	}
	m.root.Close()
	for i, want := range now {
		if later[i] != want {
			t.Errorf("step %d: later %s, at once %s", i, later[i], want)
		}
	}
	if slices.Equal(now[:1], now[steps-1:]) || m.opt.Steps() == 0 || m.opt.Steps() == steps {
		t.Errorf("%d of %d steps were applied: none was skipped, or all were", m.opt.Steps(), steps)
	}
}
