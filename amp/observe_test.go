package amp

import "testing"

// TestObserve: what is observed leaves no mark on the scope it was observed from.
func TestObserve(t *testing.T) {
	root := NewScope(Seed(3), Record(Decisions))
	defer root.Close()
	s := root.In("outer").Autocast(BFloat16)
	x, before, bytes := Randn(root, Float32, 0, 1, 4, 4), root.Random().State(), MemStats()
	events := len(root.Trace().Events)
	var drawn float64
	tr := s.Observe(func(o *Scope) {
		drawn = Rand(o, Float64, 0, 1, 1).Item()
		MatMul(o.In("inner"), x, x)
	})
	if len(tr.Events) != 3 || tr.Events[2].Op != "matmul" || tr.Events[2].Compute != BFloat16 || tr.Events[2].Module != "inner" {
		t.Errorf("%+v", tr.Events)
	}
	if len(root.Trace().Events) != events || root.Random().State() != before {
		t.Error("the scope's own trace or stream changed")
	}
	if next := Rand(root, Float64, 0, 1, 1).Item(); next != drawn {
		t.Errorf("drew %v, the scope would have drawn %v", drawn, next)
	}
	drawnTensors := int64(8) // Rand in a root scope gives a tensor that belongs to none; that of f is freed
	if now := MemStats()[home()].Bytes; now != bytes[home()].Bytes+drawnTensors {
		t.Errorf("%d bytes before, %d after", bytes[home()].Bytes, now)
	}
}
