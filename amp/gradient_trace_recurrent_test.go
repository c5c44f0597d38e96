package amp

import "testing"

// TestGradientTraceOfRecurrentLayers: whole layers of LSTMs and GRUs, which keep what they need by themselves, are compared too, and their
// reference is that of the layer step by step.
func TestGradientTraceOfRecurrentLayers(t *testing.T) {
	const steps, batch, in, hidden = 5, 3, 4, 6
	for name, gates := range map[string]int{"lstm": 4, "gru": 3} {
		for _, dt := range []DType{Float16, BFloat16, Float32} {
			for _, reverse := range []bool{false, true} {
				s := NewScope(On("cpu"), Seed(5))
				draw := func(label string, shape ...int) *Tensor {
					return Rand(s, Float32, -0.5, 0.5, shape...).RequireGrad().SetName(label)
				}
				w := CellWeights{IH: draw("ih", gates*hidden, in), HH: draw("hh", gates*hidden, hidden), BiasIH: draw("bi", gates*hidden), BiasHH: draw("bh", gates*hidden)}
				x, h, c := draw("x", steps, batch, in), draw("h", batch, hidden), draw("c", batch, hidden)
				scope, leaves := s.Autocast(dt), 6
				var y *Tensor
				if name == "gru" {
					y, _ = GRU(scope, x, h, w, reverse)
				} else {
					y, _, _ = LSTM(scope, x, h, c, w, reverse)
					leaves = 7
				}
				var tr GradientTrace
				Sum(s, Mul(s, To(s, y, Float32), To(s, y, Float32))).Backward(TraceGradients(&tr))
				if len(tr.Leaves) != leaves {
					t.Errorf("%s %v: %d leaves", name, dt, len(tr.Leaves))
				}
				for _, e := range tr.Events {
					if e.Err != "" {
						t.Errorf("%s %v: %s of %s: %s", name, dt, e.Op, e.Of, e.Err)
					}
				}
				// Each of five steps rounds half a dozen numbers that it hands on: to halves of relative error 2^-11 or 2^-8, or to float32.
				bound := map[DType]float64{Float16: 30 * 0x1p-11, BFloat16: 30 * 0x1p-8, Float32: 30 * 0x1p-24}[dt]
				for _, l := range tr.Leaves {
					if l.Wanted != l.N || l.Zeros+l.Bad > 0 || !(l.Error > 0 && l.Error < bound) {
						t.Errorf("%s %v, reverse %v: %+v, bound %g", name, dt, reverse, l, bound)
					}
				}
				s.Close()
			}
		}
	}
}
