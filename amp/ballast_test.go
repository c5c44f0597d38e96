package amp

import (
	"runtime"
	"runtime/debug"
	"testing"
)

// TestHeapIsSettled: a scope sees to it that small ops do not have garbage collected every few milliseconds.
func TestHeapIsSettled(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(100))
	s := NewScope()
	defer s.Close()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	if m.NextGC < 2*ballastBytes {
		t.Errorf("the next collection comes at %d bytes of heap, want %d at the least", m.NextGC, 2*ballastBytes)
	}
	x := From([]float32{1}).RequireGrad()
	before := m.NumGC
	for s := range s.Steps(100) {
		for range 100 {
			ReLU(s, x)
		}
	}
	runtime.ReadMemStats(&m)
	if n := m.NumGC - before; n > 1 {
		t.Errorf("10,000 small ops had garbage collected %d times, want once at most", n)
	}
}
