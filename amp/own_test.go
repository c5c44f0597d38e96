package amp

import (
	"errors"
	"testing"
)

// TestStepsFreeTheirData checks that tensors made from data or numbers in a step go with it, and that Keep and root scopes keep them.
func TestStepsFreeTheirData(t *testing.T) {
	root := NewScope(Seed(1))
	defer root.Close()
	weight := Randn(root, Float32, 0, 1, 8, 8).RequireGrad()
	var kept, lost, own *Tensor
	var bytes int64
	for s := range root.Steps(4) {
		x := s.Own(From(make([]float32, 64), 8, 8))
		for _, t := range []*Tensor{Rand(s, Float32, 0, 1, 64), Zeros(s, Float32, 64), OnesLike(s, x), Eye(s, Float32, 8, 8), Arange(s, Float32, 0, 64, 1)} {
			x = Add(s, x, Reshape(s, t, 8, 8))
		}
		Sum(s, MatMul(s, x, weight)).Backward()
		if s.Step() == 0 {
			kept, lost, own = s.Keep(Ones(s, Float32, 3)), Ones(s, Float32, 3), s.Own(Scalar[float32](2))
		}
		if s.Step() == 1 {
			bytes = MemStats()[home()].Bytes
		}
		if now := MemStats()[home()].Bytes; s.Step() > 1 && now != bytes {
			t.Errorf("step %d: %d bytes, step 1 had %d", s.Step(), now, bytes)
		}
	}
	if kept.Float64s()[0] != 1 || Randn(root, Float32, 0, 1, 1).scope != nil {
		t.Error("lost what was kept, or a root scope took a tensor")
	}
	if err := Maybe(func() { Neg(root, lost) }); !errors.Is(err, ErrClosed) {
		t.Errorf("read after its step: %v", err)
	}
	if err := Maybe(func() { Neg(root, own) }); !errors.Is(err, ErrClosed) {
		t.Errorf("owned by a step that is over: %v", err)
	}
	if a := Neg(root, kept); root.Own(a) != a || a.scope != root {
		t.Error("Own changed the owner of a result")
	}
}
