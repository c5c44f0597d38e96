package amp

import (
	"sync"
	"testing"

	"github.com/halftone-ml/halftone/amp/internal/cpu"
)

// TestDrawnTogether: calls of all kinds give the same bits, gradients included, while other goroutines run theirs in scopes of their own on
// the same threads and memory.
func TestDrawnTogether(t *testing.T) {
	computesOnCPU(t)
	draws := []func(r sizeDraw, most int) *drawnCall{
		sizeDraw.drawReduction, sizeDraw.drawAlong, sizeDraw.drawNorm, sizeDraw.drawElements, sizeDraw.drawLoss, sizeDraw.drawGather, sizeDraw.drawScatter,
		sizeDraw.drawMove, sizeDraw.drawJoin, sizeDraw.drawPool, sizeDraw.drawAttention, sizeDraw.drawDropped, sizeDraw.drawEinsum, sizeDraw.drawRecurrent, sizeDraw.drawInterpolate,
	}
	type job struct {
		name string
		run  func() outcome
		want outcome
	}
	var jobs []job
	for seed := uint64(1); seed <= 6; seed++ {
		for _, draw := range draws {
			c := draw(newSizeDraw(seed), 1<<13)
			c.seed = seed
			dt := []DType{Float32, BFloat16, Float16}[seed%3]
			jobs = append(jobs, job{name: c.String(), run: func() outcome { return c.compute(dt, dt) }})
		}
		p := drawProduct(seed, 1<<18)
		jobs = append(jobs, job{name: p.String(), run: func() outcome { return p.compute(Float32, []DType{Float32, BFloat16, Float16}[seed%3]) }})
	}
	machine{mode: cpu.Current(), threads: 3, poison: 0xff}.on(func() {
		for k := range jobs {
			jobs[k].want = jobs[k].run()
		}
		var wg sync.WaitGroup
		for g, step := range []int{1, 5, 7, 11} { // in an order of its own: the number of jobs is 96
			wg.Go(func() {
				for k := range jobs {
					j := &jobs[(k*step+g*17)%len(jobs)]
					if d := j.run().differs(j.want); d != "" {
						t.Errorf("%s beside others: %s", j.name, d)
					}
				}
			})
		}
		wg.Wait()
	})
}
