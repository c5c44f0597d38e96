package amp

import (
	"errors"
	"testing"
)

// TestCastsIn: casts of weights made in one Child after the other are kept by the scope around them, and go with it.
func TestCastsIn(t *testing.T) {
	root := NewScope(Seed(1), Record(Decisions))
	defer root.Close()
	x, w := Ones(root, Float32, 2, 2), Ones(root, Float32, 2, 2).RequireGrad()
	before := MemStats()[home()].Bytes
	for _, c := range []struct {
		keep bool
		want int
	}{{false, 3}, {true, 1}} {
		from := len(root.Trace().Events)
		run := root.Child()
		for range 3 {
			step := run.Child()
			s := step.NoGrad()
			if c.keep {
				s = s.CastsIn(run)
			}
			MatMul(s.Autocast(BFloat16), x, w)
			step.Close()
		}
		run.Close()
		made := 0
		for _, e := range root.Trace().Events[from:] {
			if e.Cast != nil && e.Cast.Cached && !e.Cast.Hit {
				made++
			}
		}
		if made != c.want {
			t.Errorf("kept %v: %d casts of the weight, want %d", c.keep, made, c.want)
		}
	}
	if now := MemStats()[home()].Bytes; now != before {
		t.Errorf("%d bytes, %d before", now, before)
	}
	other, closed := NewScope(), root.Child()
	defer other.Close()
	closed.Close()
	for want, f := range map[error]func(){
		ErrArgument: func() { root.CastsIn(other) },
		ErrClosed:   func() { root.CastsIn(closed) },
	} {
		if err := Maybe(f); !errors.Is(err, want) {
			t.Errorf("%v, want %v", err, want)
		}
	}
}
