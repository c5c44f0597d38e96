package amp

import (
	"errors"
	"slices"
	"testing"
)

// loseOne runs two backward passes in s, the second of which loses a gradient to float16, and returns w's gradient.
func loseOne(s *Scope, w *Tensor, opts ...BackwardOption) []float64 {
	w.ZeroGrad()
	half := s.Autocast(Float16)
	Sum(half, MatMul(half, w, Ones(s, Float32, 1, 3))).Backward(opts...)
	y := MulScalar(s, MatMul(half, w, Ones(s, Float32, 1, 3)), 0x1p-20)
	NewGradScaler(InitScale(0x1p-6)).Scale(s, Sum(s, y)).Backward(opts...)
	return w.Grad().Float64s()
}

// TestRecordGradients: which steps are looked at, that every pass of one is there, and that the gradients are those of a run without.
func TestRecordGradients(t *testing.T) {
	for _, c := range []struct {
		every, steps, want int
	}{{0, 5, 0}, {2, 6, 4}, {3, 3, 0}, {1, 2, 1}} {
		s := NewScope(On("cpu"), Record(Decisions), RecordGradients(c.every))
		w := Ones(s, Float32, 2, 1).RequireGrad().SetName("w")
		plain := NewScope(On("cpu"))
		p := Ones(plain, Float32, 2, 1).RequireGrad()
		for step := range s.Steps(c.steps) {
			if got, want := loseOne(step, w), loseOne(plain, p); !slices.Equal(got, want) {
				t.Errorf("every %d: gradients %v, without a record %v", c.every, got, want)
			}
		}
		traces := s.GradientTraces()
		if len(traces) != 2 || traces[0].Step != c.want || traces[1].Step != c.want {
			t.Fatalf("every %d of %d steps: %d traces, %+v", c.every, c.steps, len(traces), traces)
		}
		if a, b := traces[0], traces[1]; a.Scale != 1 || b.Scale != 0x1p-6 || a.Leaves[0].Zeros != 0 || b.Leaves[0].Zeros != 2 || b.Events[0].Line == 0 {
			t.Errorf("every %d: %+v %+v", c.every, a, b)
		}
		if traces := plain.GradientTraces(); traces != nil {
			t.Errorf("without the option: %+v", traces)
		}
		s.Close()
		plain.Close()
	}
}

// TestRecordGradientsOutsideSteps: where no step is counted passes are, and a trace that the program asks for serves for both.
func TestRecordGradientsOutsideSteps(t *testing.T) {
	s := NewScope(On("cpu"), RecordGradients(3))
	defer s.Close()
	w := Ones(s, Float32, 2, 1).RequireGrad()
	var own GradientTrace
	for range 2 {
		loseOne(s, w, TraceGradients(&own)) // passes 0 and 1, 2 and 3
	}
	traces := s.GradientTraces()
	if len(traces) != 1 || traces[0].Scale != 0x1p-6 || own.Scale != 0x1p-6 || len(traces[0].Events) != len(own.Events) {
		t.Fatalf("%+v; the program's own: %+v", traces, own)
	}
	Sum(s, w).Backward(TraceGradients(&own)) // pass 4
	if now := s.GradientTraces(); now[0].Scale != 0x1p-6 || len(own.Events) != 1 {
		t.Errorf("what the program does with its trace changes the scope's: %+v", now)
	}
	if err := Maybe(func() { NewScope(RecordGradients(-1)) }); !errors.Is(err, ErrArgument) {
		t.Error(err)
	}
}

// TestRecordGradientsOfAPanic: a pass that panics leaves what it looked at until there, one that never began leaves nothing.
func TestRecordGradientsOfAPanic(t *testing.T) {
	s := NewScope(On("cpu"), RecordGradients(1))
	defer s.Close()
	w := Ones(s, Float32, 3).RequireGrad().SetName("w")
	x := MulScalar(s, w, 2)
	loss := Sum(s, Mul(s, x, x))
	SetValues(x, []float32{1, 2, 3})
	if err := Maybe(func() { loss.Backward() }); !errors.Is(err, ErrStale) {
		t.Fatal(err)
	}
	if traces := s.GradientTraces(); len(traces) != 1 || len(traces[0].Events) != 1 || traces[0].Events[0].Op != "sum" {
		t.Errorf("%+v", traces)
	}
	if err := Maybe(func() { Ones(s, Float32, 3).Backward() }); !errors.Is(err, ErrGrad) {
		t.Fatal(err)
	}
	if traces := s.GradientTraces(); len(traces) != 1 || len(traces[0].Events) != 1 {
		t.Errorf("%+v", traces)
	}
}
