package amp

import "testing"

// TestReplaysOfCPUKeepTheirLoss: where a replay runs the step again, what the step made can be read until the next one, as where it is
// recorded, and memory is taken once.
func TestReplaysOfCPUKeepTheirLoss(t *testing.T) {
	root := NewScope(On("cpu"))
	defer root.Close()
	x := From([]float32{1, 2, 3}).To(root)
	var loss *Tensor
	g := root.Capture(func(s *Scope) { loss = Sum(s, Square(s, x)) })
	if v := loss.Item(); v != 14 {
		t.Errorf("after Capture the loss is %v, want 14", v)
	}
	var before int64
	for i := range 4 {
		SetValues(x, []float32{float32(i), 0, 1})
		g.Replay()
		if v := loss.Item(); v != float64(i*i+1) {
			t.Errorf("replay %d: the loss is %v, want %d", i, v, i*i+1)
		}
		now := MemStats()["cpu"].NewBuffers
		if i > 1 && now != before {
			t.Errorf("replay %d took %d new buffers", i, now-before)
		}
		before = now
	}
	if err := g.Close(); err != nil {
		t.Fatal(err)
	}
	if err := Maybe(func() { loss.Item() }); err == nil {
		t.Error("the loss lives on after Close")
	}
}

// TestReplaysOfCPUAreTraced: what is run again is recorded again, as the step in Capture is.
func TestReplaysOfCPUAreTraced(t *testing.T) {
	root := NewScope(On("cpu"), Record(Decisions))
	defer root.Close()
	x := From([]float32{1, 2, 3}).To(root)
	seen := len(root.Trace().Events)
	step := func(s *Scope) { Sum(s, Square(s, x)) }
	g := root.Capture(step)
	each := len(root.Trace().Events) - seen
	if each != 2 {
		t.Fatalf("Capture recorded %d ops, want square and sum", each)
	}
	for i := range 2 {
		g.Replay()
		if got := len(root.Trace().Events) - seen; got != (i+2)*each {
			t.Errorf("after replay %d, %d ops are recorded, want %d", i, got, (i+2)*each)
		}
	}
	if err := g.Close(); err != nil {
		t.Fatal(err)
	}
}
