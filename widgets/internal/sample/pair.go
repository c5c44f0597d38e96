package sample

import (
	"fmt"
	"math"

	"github.com/halftone-ml/halftone/amp"
)

// Looked is the trace of one step of a net of n layers at level health, whose results are off by about the given part of themselves,
// and whose gradients were multiplied by the scale: two of them are what a comparison op by op reads. Deeper layers are further off.
func Looked(n int, off, scale float64, d amp.DType) *amp.Trace {
	t := &amp.Trace{Schema: amp.TraceSchema, Level: amp.Health.String(), Device: "cpu", Steps: 1}
	add := func(phase, module, op string, compute amp.DType, wrong, scale float64, gradient bool) {
		h := &amp.Exponents{N: 512, Amax: scale}
		for i := range 16 {
			v := math.Sin(float64(i)+float64(len(t.Events)+1)) * scale
			h.Sample = append(h.Sample, float32(v*(1+wrong*math.Cos(float64(3*i)))))
		}
		t.Events = append(t.Events, amp.Event{Seq: len(t.Events), Phase: phase, Module: module, Op: op, Compute: compute, Health: h, Gradient: gradient,
			Out: amp.Arg{DType: compute, Shape: []int{32, 16}}})
	}
	for i := range n {
		add(amp.PhaseForward, fmt.Sprintf("net/%d", 2*i), "linear", d, off*float64(i+1), 1, false)
		add(amp.PhaseForward, fmt.Sprintf("net/%d", 2*i+1), "gelu", d, off*float64(i+1)*1.2, 1, false)
	}
	add(amp.PhaseForward, "loss", "cross_entropy", amp.Float32, off/30, 1, false)
	t.Events = append(t.Events, amp.Event{Phase: amp.PhaseBackward, Module: "scaler", Op: "mul", Compute: amp.Float32, Gradient: true,
		Health: &amp.Exponents{N: 1, Amax: scale, Sample: amp.Sample{float32(scale)}}})
	add(amp.PhaseBackward, "loss", "sub", amp.Float32, 0, 1, false)
	for i := n - 1; i >= 0; i-- {
		add(amp.PhaseBackward, fmt.Sprintf("net/%d", 2*i+1), "gelu_backward", d, off*float64(2*n-i)*1.5, scale, true)
		add(amp.PhaseBackward, fmt.Sprintf("net/%d", 2*i), "matmul", d, off*float64(2*n-i)*2, scale, true)
	}
	return t
}
