package render

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/widgets"
	"github.com/halftone-ml/halftone/widgets/internal/sample"
)

// Histories and runs that are hard to draw small.

// sawtooth is a scale that grows as fast as it may and overflows as often, each time by another parameter.
func sawtooth(steps int) amp.ScaleHistory {
	return sample.Scaler{Steps: steps, Init: 65536, Interval: 3, Overflow: func(i int, scale float64) (string, string) {
		if scale > 1<<27 {
			return fmt.Sprintf("blocks.%d.attention.output.weight", i%40), "+Inf"
		}
		return "", ""
	}}.History()
}

// noisyRuns are as hard to draw small as runs can be: eleven against one, losses without any order, and the ops of all.
func noisyRuns() (runs []widgets.Run) {
	r := rand.New(rand.NewPCG(1, 2))
	for i := range 12 {
		run := widgets.Run{Name: fmt.Sprint("run ", i), DType: []amp.DType{amp.Float16, amp.BFloat16, amp.Float32}[i%3], Trace: sample.Looked(3, 3e-4*float64(i), 1, amp.Float16)}
		for range 3000 {
			run.Loss = append(run.Loss, math.Exp(6*r.NormFloat64()))
		}
		runs = append(runs, run)
	}
	return runs
}

// noisyLive is a live figure whose losses have no order, with as many skipped steps as it keeps.
func noisyLive() *widgets.Figure {
	r := rand.New(rand.NewPCG(1, 2))
	l := widgets.NewLive(3000, "Training")
	for i := range 3000 {
		l.StepLoss(math.Exp(6*r.NormFloat64()), &amp.StepReport{ScaleStep: amp.ScaleStep{Step: i, Next: 65536, Applied: i%3 != 0, Culprit: "w"}})
	}
	f := l.Figure()
	l.Done()
	return f.Stopped()
}

func manyRuns() (runs []widgets.Run) {
	for i := range 20 {
		runs = append(runs, widgets.Run{Name: fmt.Sprint("run ", i), DType: amp.Float16, Loss: sample.Loss(5000, 5, .1+float64(i)/1000, 1e-3, .3)})
	}
	return runs
}
