package amp

import (
	"strings"
	"testing"
)

// TestClippingBeforeUnscaling is said once, with the parameter's name, and only where the gradients still carried a loss scale.
func TestClippingBeforeUnscaling(t *testing.T) {
	byValue := func(p *Tensor) { ClampGrad(p, -1, 1) }
	byNorm := func(p *Tensor) {
		sum := PowerSum(p)
		AddPowers(sum, p, 2)
		ClipByNorm(p, sum, 1, 2)
	}
	for _, c := range []struct {
		name  string
		scale float64
		off   bool
		step  func(g *GradScaler, opt Optimizer, p *Tensor)
		warns string
	}{
		{"unscaled, then clipped", 1024, false, func(g *GradScaler, opt Optimizer, p *Tensor) { g.Unscale(opt); byValue(p); byNorm(p); g.Step(opt) }, ""},
		{"clipped by value, then stepped", 1024, false, func(g *GradScaler, opt Optimizer, p *Tensor) { byValue(p); g.Step(opt) }, "Step"},
		{"clipped by norm, then stepped", 1024, false, func(g *GradScaler, opt Optimizer, p *Tensor) { byNorm(p); g.Step(opt) }, "Step"},
		{"clipped by a factor", 1024, false, func(g *GradScaler, opt Optimizer, p *Tensor) { ClipBy(p, .5); g.Step(opt) }, "Step"},
		{"clipped, then unscaled", 1024, false, func(g *GradScaler, opt Optimizer, p *Tensor) { byNorm(p); g.Unscale(opt); g.Step(opt) }, "Unscale"},
		{"scaled down, as accumulation does", 1024, false, func(g *GradScaler, opt Optimizer, p *Tensor) { ScaleGrad(p, .5); g.Step(opt) }, ""},
		{"a scale of 1", 1, false, func(g *GradScaler, opt Optimizer, p *Tensor) { byNorm(p); g.Step(opt) }, ""},
		{"no scaler", 1024, true, func(g *GradScaler, opt Optimizer, p *Tensor) { byNorm(p); g.Step(opt) }, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			root := NewScope(On("cpu"))
			defer root.Close()
			p := From([]float32{1, 2}).To(root).SetName("bias").RequireGrad()
			opt := &countingOptimizer{params: []*Tensor{p}}
			g := NewGradScaler(InitScale(c.scale), ScalerEnabled(!c.off))
			var said strings.Builder
			defer SetWarnings(SetWarnings(&said))
			for range 3 { // the second time nothing more is said, and what was unscaled in time leaves nothing behind
				p.ZeroGrad()
				g.Scale(root, Sum(root, p)).Backward()
				c.step(g, opt, p)
				g.Update()
			}
			warnings.Lock()
			delete(warnings.said, "clipped before unscaled")
			warnings.Unlock()
			want := 0
			if c.warns != "" {
				want = 1
			}
			text := said.String()
			if strings.Count(text, "\n") != want || want == 1 && !strings.Contains(text, "GradScaler."+c.warns+": the gradient of bias was clipped") {
				t.Errorf("said %q", text)
			}
		})
	}
}
