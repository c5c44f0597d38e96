package sample

import (
	"math"

	"github.com/halftone-ml/halftone/amp"
)

// flowStep is one gradient of a made-up backward pass: its magnitudes lie around 2^middle.
type flowStep struct {
	op, forOp, of, module string
	line, from            int
	dt                    amp.DType
	n, middle             int
	leaf                  string
}

var flowSteps = []flowStep{
	{"nll_loss", "", "logp", "loss", 31, -1, amp.Float32, 2560, -12, ""},
	{"log_softmax", "", "x", "loss", 31, 0, amp.Float32, 2560, -12, ""},
	{"cast", "log_softmax", "x", "loss", 31, 1, amp.Float16, 2560, -12, ""},
	{"linear", "", "x", "net/4", 12, 2, amp.Float16, 32768, -14, ""},
	{"linear", "", "4.weight", "net/4", 12, 2, amp.Float16, 1280, -9, ""},
	{"cast", "linear", "4.weight", "net/4", 12, 4, amp.Float32, 1280, -9, "4.weight"},
	{"gelu", "", "x", "net/3", 12, 3, amp.Float16, 32768, -16, ""},
	{"linear", "", "x", "net/2", 12, 6, amp.Float16, 32768, -19, ""},
	{"linear", "", "2.weight", "net/2", 12, 6, amp.Float16, 16384, -13, ""},
	{"cast", "linear", "2.weight", "net/2", 12, 8, amp.Float32, 16384, -13, "2.weight"},
	{"relu", "", "x", "net/1", 12, 7, amp.Float16, 16000, -20, ""},
	{"linear", "", "0.weight", "net/0", 12, 10, amp.Float16, 8192, -21, ""},
	{"cast", "linear", "0.weight", "net/0", 12, 11, amp.Float32, 8192, -21, "0.weight"},
}

// Flow is the gradient trace of a step of a small network at loss scale 2^k: as a program would record it, with numbers that are made up and
// the same everywhere.
func Flow(k int) *amp.GradientTrace {
	t := &amp.GradientTrace{Schema: amp.GradientSchema, Device: "cpu", Step: 7, Scale: math.Ldexp(1, k)}
	for _, f := range flowSteps {
		e := amp.GradientEvent{Op: f.op, For: f.forOp, Of: f.of, Module: f.module, From: f.from, DType: f.dt, Shape: []int{f.n},
			Func: "main.main", File: "mlp.go", Line: f.line, N: f.n, Wanted: f.n}
		const half = 9 // binades on either side of the middle
		e.Low = f.middle + k - half
		left := f.n
		for i := range 2 * half {
			n := f.n * (half - max(i-half, half-i) + 1) / (half*half + 2*half) // a triangle
			if i == half {
				n += f.n / 50
			}
			n = min(n, left)
			e.Counts, left = append(e.Counts, n), left-n
		}
		e.Counts[half] += left
		e.Amin, e.Amax = math.Ldexp(1.5, e.Low), math.Ldexp(1.5, e.Low+2*half-1)
		lost := 0.0
		if f.from >= 0 {
			p := &t.Events[f.from]
			if lost = float64(p.Zeros+p.Gone) / float64(p.N); p.Of != f.of { // sums over many numbers lose fewer
				lost /= 3
			}
			if p.Infs+p.Spread > 0 {
				e.Spread = max(f.n*(p.Infs+p.Spread)/p.N, 1)
			}
		}
		e.Gone = int(lost * float64(f.n))
		for i, n := range e.Counts {
			switch at := e.Low + i; {
			case f.dt != amp.Float16:
			case at <= -26 && f.op != "relu":
				e.Zeros += n
			case at <= -26:
			case at <= -15:
				e.Subnormals += n
			case at >= 16:
				e.Infs += n
			}
		}
		e.Zeros = max(e.Zeros-e.Gone, 0)
		e.Infs = max(e.Infs-e.Spread, 0)
		t.Events = append(t.Events, e)
		if f.leaf != "" {
			t.Leaves = append(t.Leaves, amp.GradientLeaf{Name: f.leaf, DType: f.dt, Shape: []int{f.n}, From: len(t.Events) - 1, N: f.n, Wanted: f.n,
				Zeros: e.Gone + e.Zeros, Bad: e.Spread, Error: math.Ldexp(1, -11) + float64(e.Gone)/float64(8*f.n)})
		}
	}
	return t
}
