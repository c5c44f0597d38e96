package amp

import "testing"

// TestGradientTraceComparesEveryOp: each row's backward runs in float64 from what its forward pass saved, whatever dtype that has.
func TestGradientTraceComparesEveryOp(t *testing.T) {
	compared := 0
	for o := range Ops() {
		if o.Backward == nil || o.InPlace {
			continue
		}
		for _, c := range opCases[o.Name] {
			for _, dt := range []DType{Float16, Float32} {
				s := NewScope()
				in := c.draws(s, dt, 1)
				for _, x := range in {
					if x != nil && x.dt.IsFloat() {
						x.RequireGrad()
					}
				}
				y := c.call(s, in)
				if !y.needs {
					s.Close()
					continue
				}
				var tr GradientTrace
				Sum(s, To(s, y, Float32)).Backward(TraceGradients(&tr))
				for _, e := range tr.Events {
					if compared++; e.Err != "" {
						t.Errorf("%s %s %v: %s of %s: %s", o.Name, c.name, dt, e.Op, e.Of, e.Err)
					}
				}
				s.Close()
			}
		}
	}
	if compared < 1000 {
		t.Errorf("only %d gradients compared", compared)
	}
}
