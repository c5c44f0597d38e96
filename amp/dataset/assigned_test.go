package dataset

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/halftone-ml/halftone/amp"
)

// made is a dataset of five samples given by a function.
type made struct {
	spec   Spec
	sample func(i int, s *Sample) error
}

func (m made) Len() int                        { return 5 }
func (m made) Spec() Spec                      { return m.spec }
func (m made) Sample(i int, dst *Sample) error { return m.sample(i, dst) }

var pairs = Spec{Shape: []int{2}, DType: amp.Float32}

func assign(x []float32, tokens, y []int64) func(i int, s *Sample) error {
	return func(_ int, s *Sample) error { s.X, s.Tokens, s.Y = x, tokens, y; return nil }
}

// TestAssignedSamples: slices that are assigned in place of filled ones are copied, so that transforms leave the dataset's alone.
func TestAssignedSamples(t *testing.T) {
	root := amp.NewScope()
	defer root.Close()
	double := Transform{Name: "double", Apply: func(s *Sample) { s.X = []float32{2 * s.X[0], 2 * s.X[1]} }}
	add := Transform{Name: "add", Apply: func(s *Sample) { s.X[0]++ }}
	for _, prefetch := range []int{0, 2} {
		own := []float32{3, 4}
		b := NewLoader(made{pairs, assign(own, nil, []int64{7})}, 2, double, add, Prefetch(prefetch)).Next(root)
		if x, y := b.X.Float64s(), b.Y.Float64s(); !slices.Equal(x, []float64{7, 8, 7, 8}) || !slices.Equal(y, []float64{7, 7}) || own[0] != 3 {
			t.Errorf("prefetch %d: x %v, y %v, the dataset's own %v", prefetch, x, y, own)
		}
		tokens := NewLoader(made{Spec{Shape: []int{2}, DType: amp.Int64, Target: []int{2}}, assign(nil, []int64{5, 6}, []int64{6, 7})}, 1, Prefetch(prefetch)).Next(root)
		if x, y := tokens.X.Float64s(), tokens.Y.Float64s(); !slices.Equal(x, []float64{5, 6}) || !slices.Equal(y, []float64{6, 7}) {
			t.Errorf("prefetch %d: tokens %v, targets %v", prefetch, x, y)
		}
	}
}

// TestSamplesOfOtherSizes: what does not fit the Spec is refused with who gave it, the sample and both lengths.
func TestSamplesOfOtherSizes(t *testing.T) {
	root := amp.NewScope()
	defer root.Close()
	tokens := Spec{Shape: []int{2}, DType: amp.Int64}
	cut := Transform{Name: "cut", Apply: func(s *Sample) { s.X = s.X[:1] }}
	for want, l := range map[string]*Loader{
		"dataset.made gave sample 0 a X of 3 numbers, its Spec asks for 2":      NewLoader(made{pairs, assign(make([]float32, 3), nil, []int64{0})}, 2),
		"dataset.made gave sample 0 a X of 0 numbers, its Spec asks for 2":      NewLoader(made{pairs, assign(nil, nil, []int64{0})}, 2),
		"dataset.made gave sample 0 a Y of 0 numbers, its Spec asks for 1":      NewLoader(made{pairs, assign(make([]float32, 2), nil, nil)}, 2),
		"dataset.made gave sample 0 a X of 2 numbers, its Spec asks for 0":      NewLoader(made{tokens, assign(make([]float32, 2), make([]int64, 2), []int64{0})}, 2),
		"dataset.made gave sample 0 a Tokens of 1 numbers, its Spec asks for 2": NewLoader(made{tokens, assign(nil, make([]int64, 1), []int64{0})}, 2),
		"the transform cut gave sample 0 a X of 1 numbers":                      NewLoader(made{pairs, func(int, *Sample) error { return nil }}, 2, cut),
	} {
		if err := amp.Maybe(func() { l.Next(root) }); !errors.Is(err, amp.ErrArgument) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	for _, spec := range []Spec{{Shape: []int{-1}, DType: amp.Float32}, {Shape: []int{2}, Target: []int{3, -1}, DType: amp.Int64}, {Shape: []int{1 << 31, 1 << 31}, DType: amp.Float32}} {
		if err := amp.Maybe(func() { NewLoader(made{spec, nil}, 2) }); !errors.Is(err, amp.ErrArgument) {
			t.Errorf("%v: %v", spec, err)
		}
	}
}

// TestCancelBetweenSamples: a context that is done ends the epoch before the batch is whole, at the position that it had.
func TestCancelBetweenSamples(t *testing.T) {
	for _, prefetch := range []int{0, 1} {
		ctx, cancel := context.WithCancel(context.Background())
		root := amp.NewScope(amp.WithContext(ctx))
		var asked atomic.Int64 // the last sample; batches are prepared beside each other
		l := NewLoader(made{pairs, func(i int, s *Sample) error {
			if i == 3 {
				cancel()
				<-ctx.Done()
			}
			asked.Store(max(asked.Load(), int64(i)))
			return nil
		}}, 5, Prefetch(prefetch))
		for range l.Epoch(root) {
			t.Error("a batch after the context was done")
		}
		if prefetch == 0 && asked.Load() != 3 || l.State().Position != 0 {
			t.Errorf("prefetch %d: sample %d was asked for, at position %d", prefetch, asked.Load(), l.State().Position)
		}
		again := amp.NewScope()
		if b := l.Next(again); b.Len() != 5 {
			t.Errorf("prefetch %d: a batch of %d", prefetch, b.Len())
		}
		again.Close()
		root.Close()
	}
}

// TestEmptyLoader: a loader that NewLoader has not made says so.
func TestEmptyLoader(t *testing.T) {
	root := amp.NewScope()
	defer root.Close()
	for _, l := range []*Loader{nil, {}} {
		for name, f := range map[string]func(){
			"Len": func() { l.Len() }, "Left": func() { l.Left() }, "State": func() { l.State() }, "Load": func() { _ = l.Load(State{}) }, "SetEpoch": func() { l.SetEpoch(1) },
			"Next": func() { l.Next(root) }, "Epoch": func() { l.Epoch(root) }, "Batches": func() { l.Batches(root) }, "Dataset": func() { l.Dataset() },
		} {
			if err := amp.Maybe(f); !errors.Is(err, amp.ErrArgument) || !strings.HasPrefix(err.Error(), "amp: Loader."+name+":") {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}
