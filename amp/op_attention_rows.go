package amp

import (
	"math"

	"github.com/halftone-ml/halftone/amp/internal/cpu"
)

// rowKernels is what one worker of attention does to rows of its score matrix.
type rowKernels[T float32 | float64] struct {
	most     func(rows, n int, p []T, row int, most []T) // the largest of each row, NaN aside, which reaches the sum of exponentials anyway; minus infinity if there is none
	exps     func(p []T, scale, top T) T                 // sets p to e^(p·scale - top) for a positive scale and returns the sum
	scale    func(v []T, k T)                            // multiplies
	add      func(v, x []T, k T)                         // sets v to v·k + x
	mask     func(v, seen []T, k T)                      // sets v to v·k, and to minus infinity where seen is 0, not 1
	dot      func(x, y []T) T                            // of the same length
	gradient func(p, dp []T, k, delta T)                 // multiplies p by k, then sets dp to p·(dp - delta)
	release  func()                                      // forgets the rows
}

// newLineRows returns the kernels of float32, in passes of package cpu, for one worker.
func newLineRows() rowKernels[float32] {
	io := new(cpu.Line)
	return rowKernels[float32]{
		most: cpu.MaxRows,
		exps: func(p []float32, scale, top float32) float32 {
			io.F32[0], io.F32[1] = p, p
			io.Arg[0], io.Arg[1] = top, scale
			io.Acc[0] = cpu.Lanes{}
			cpu.LineExpScale.Run(len(p), io)
			return float32(io.Acc[0].Sum())
		},
		scale: func(v []float32, k float32) {
			whole := len(v) &^ 31
			if whole > 0 {
				io.F32[0], io.F32[1], io.Arg[0] = v, v, k
				cpu.LineScale.Run(whole, io)
			}
			for i := range v[whole:] { // fewer than a pass would copy
				v[whole+i] *= k
			}
		},
		add: func(v, x []float32, k float32) {
			io.F32[0], io.F32[1], io.Arg[0] = v, x, k
			cpu.LineScaleAdd.Run(len(v), io)
		},
		mask: func(v, seen []float32, k float32) {
			io.F32[0], io.F32[1], io.Arg[0], io.Arg[1] = v, seen, k, float32(math.Inf(-1))
			cpu.LineScaleMask.Run(len(v), io)
		},
		dot: func(x, y []float32) float32 {
			io.F32[0], io.F32[1] = x, y
			io.Acc[0] = cpu.Lanes{}
			cpu.LineDot.Run(len(x), io)
			return float32(io.Acc[0].Sum())
		},
		gradient: func(p, dp []float32, k, delta float32) {
			io.F32[0], io.F32[1], io.Arg[0] = p, p, k
			cpu.LineScale.Run(len(p), io)
			io.F32[0], io.F32[1], io.F32[2], io.Arg[0] = p, dp, dp, delta
			cpu.LineSoftmaxGrad.Run(len(p), io)
		},
		release: func() { clear(io.F32[:]) },
	}
}

// plainRows are the kernels of float64.
var plainRows = rowKernels[float64]{
	most: func(rows, n int, p []float64, row int, most []float64) {
		for r := range rows {
			most[r] = math.Inf(-1)
			for _, v := range p[r*row:][:n] {
				if v > most[r] {
					most[r] = v
				}
			}
		}
	},
	exps: func(p []float64, scale, top float64) float64 {
		for i, v := range p {
			p[i] = float64(v*scale) - top
		}
		cpu.Exp.F64(p, p)
		return sumOf(p)
	},
	scale: func(v []float64, k float64) {
		for i := range v {
			v[i] *= k
		}
	},
	add: func(v, x []float64, k float64) {
		for i, b := range x {
			v[i] = float64(v[i]*k) + b
		}
	},
	mask: func(v, seen []float64, k float64) {
		for i, b := range seen {
			v[i] *= k
			if b == 0 {
				v[i] = math.Inf(-1)
			}
		}
	},
	dot: func(x, y []float64) float64 {
		sum := 0.0
		for i, v := range x {
			sum += float64(v * y[i])
		}
		return sum
	},
	gradient: func(p, dp []float64, k, delta float64) {
		for i, v := range p {
			v *= k
			p[i] = v
			dp[i] = v * (dp[i] - delta)
		}
	},
	release: func() {},
}
