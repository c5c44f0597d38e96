package amp

import (
	"math"

	"github.com/halftone-ml/halftone/amp/internal/cpu"
)

// softmaxCPU is the kernel of both softmaxes.
func softmaxCPU(c *Call, log bool) {
	x := c.In[0]
	switch {
	case !narrowLines(x, c.Out) && log:
		alongAxis(c, logSoftmaxRow)
	case !narrowLines(x, c.Out):
		alongAxis(c, softmaxRow)
	case log:
		eachLine(c.Out, c.Dims[0], c.In, logSoftmaxLine)
	default:
		eachLine(c.Out, c.Dims[0], c.In, softmaxLine)
	}
}

// softmaxLine needs no care for NaN and infinities: their differences make the sum NaN, and all of the line with it.
func softmaxLine(w *lineWork, dst []float32, src [3][]float32) {
	x, n := src[0], len(dst)
	w.Arg[0] = float32(w.MaxOf(x))
	w.F32[1], w.Acc[0] = dst, cpu.Lanes{}
	cpu.LineExp.Run(n, &w.Line)
	w.Arg[0] = float32(1 / w.Acc[0].Sum())
	w.F32[0] = dst
	cpu.LineScale.Run(n, &w.Line)
}

func logSoftmaxLine(w *lineWork, dst []float32, src [3][]float32) {
	x, n := src[0], len(dst)
	m := w.MaxOf(x)
	w.Arg[0], w.Acc[0] = float32(m), cpu.Lanes{}
	cpu.LineExpSum.Run(n, &w.Line)
	w.Arg[1] = float32(cpu.Log.Of(w.Acc[0].Sum()))
	if math.IsInf(m, 0) { // as in softmax: nothing is known of the others beside it
		w.Arg[0] = float32(math.NaN())
	}
	w.F32[1] = dst
	cpu.LineShift.Run(n, &w.Line)
}

// softmaxGradCPU is the kernel of both gradients.
func softmaxGradCPU(c *Call, log bool) {
	dy, y, d := c.In[0], c.In[1], c.Dims[0]
	if !narrowLines(dy, y, c.Out) {
		f := softmaxGradRow
		if log {
			f = logSoftmaxGradRow
		}
		overLines(c.Out, d, []*Tensor{dy, y}, f)
		return
	}
	eachLine(c.Out, d, []*Tensor{y, dy}, func(w *lineWork, dst []float32, src [3][]float32) {
		w.F32[0], w.F32[1], w.F32[2] = src[0], src[1], dst
		if log {
			w.Arg[0] = float32(w.SumOf(src[1]))
			w.F32[0] = src[0]
			cpu.LineLogSoftmaxGrad.Run(len(dst), &w.Line)
			return
		}
		w.Acc[0] = cpu.Lanes{}
		cpu.LineDot.Run(len(dst), &w.Line)
		w.Arg[0] = float32(w.Acc[0].Sum()) // 1 for dy of 1, as the y are rounded, too: the gradient is then 0
		cpu.LineSoftmaxGrad.Run(len(dst), &w.Line)
	})
}

func softmaxGradRow(out []float64, in [][]float64) {
	dy, y := in[0], in[1]
	sum := 0.0
	for i, v := range dy {
		sum += float64(v * y[i])
	}
	for i, v := range dy {
		out[i] = y[i] * (v - sum)
	}
}

func logSoftmaxGradRow(out []float64, in [][]float64) {
	dy, y := in[0], in[1]
	sum := sumOf(dy)
	cpu.Exp.F64(out, y)
	for i, v := range dy {
		out[i] = v - float64(out[i]*sum)
	}
}
