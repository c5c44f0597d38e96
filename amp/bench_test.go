package amp

import "testing"

// BenchmarkOpOverhead times an op too small to compute anything: what apply, tape and trace cost.
func BenchmarkOpOverhead(b *testing.B) {
	for _, c := range []struct {
		name  string
		level Level
		grad  bool
	}{{"off", Off, false}, {"off/tape", Off, true}, {"decisions/tape", Decisions, true}} {
		b.Run(c.name, func(b *testing.B) {
			root := NewScope(Record(c.level))
			defer root.Close()
			x := From([]float32{1})
			if c.grad {
				x.RequireGrad()
			}
			b.ReportAllocs()
			b.ResetTimer()
			i := 0
			for s := range root.Steps(b.N/100 + 1) {
				for range 100 {
					ReLU(s, x)
					i++
				}
			}
		})
	}
}
