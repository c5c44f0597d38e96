package amp

import "github.com/halftone-ml/halftone/amp/internal/cpu"

// Rows of halves in one pass, without widened copies: lines 0, 1 … of the kernel are the inputs, and the next is the result.

// inHalves lets next compute what the kernel has no form for: other dtypes than one half, and inputs whose elements lie apart.
func inHalves(k *cpu.LineKernel, next func(c *Call)) func(c *Call) {
	return func(c *Call) {
		if !halfPass(k, c.Out, c.In) {
			next(c)
		}
	}
}

// halfPass runs a kernel over halves; false if it cannot.
func halfPass(k *cpu.LineKernel, out *Tensor, in []*Tensor, arg ...float64) bool {
	if !out.dt.IsHalf() || out.Len() < shortLine || !k.Halves() {
		return false
	}
	for _, t := range in {
		if t.dt != out.dt {
			return false
		}
	}
	run := func(w *lineWork, n int) { k.RunHalf(n, out.dt == BFloat16, &w.Line) }
	if onePiece(out, in...) && allLong(in) {
		w := lineWorks.Get().(*lineWork)
		w.numbers(arg)
		n := out.Len()
		for j, t := range in {
			w.Half[j] = bits16(t)[t.off:][:n]
		}
		w.Half[len(in)] = bits16(out)[out.off:][:n]
		run(w, n)
		w.release()
		return true
	}
	var ts [4]*Tensor
	ts[0] = out
	copy(ts[1:], in)
	walk := newRowWalk(ts[:len(in)+1]...)
	if walk.step[0] != 1 {
		return false
	}
	piece := grain
	for j := range in {
		switch walk.step[j+1] {
		case 0:
			piece = chunk // repeated so often
		case 1:
		default:
			return false
		}
	}
	var bits [4][]uint16
	for j, t := range ts[:len(in)+1] {
		bits[j] = bits16(t)
	}
	walk.runBy(grain, func(off [4]int, n int) {
		w := lineWorks.Get().(*lineWork)
		w.numbers(arg)
		for j := range in {
			if walk.step[j+1] == 0 {
				fillWords(w.same[j][:min(n, chunk)], bits[j+1][off[j+1]])
			}
		}
		for lo := 0; lo < n; lo += piece {
			m := min(piece, n-lo)
			for j := range in {
				if w.Half[j] = w.same[j][:min(m, chunk)]; walk.step[j+1] == 1 {
					w.Half[j] = bits[j+1][off[j+1]+lo:][:m]
				}
			}
			w.Half[len(in)] = bits[0][off[0]+lo:][:m]
			run(w, m)
		}
		w.release()
	})
	return true
}

// allLong says whether no tensor is one element that stands for many.
func allLong(ts []*Tensor) bool {
	for _, t := range ts {
		if t.pace() == 0 {
			return false
		}
	}
	return true
}

// numbers sets the arguments of a pass.
func (w *lineWork) numbers(arg []float64) {
	for i, v := range arg {
		w.Arg[i] = float32(v)
	}
}

// byRows is next for a sum or product in float32 of rows with one number each, of which k has the form with a number: it need not be repeated.
func byRows(k *cpu.LineKernel, next func(c *Call)) func(c *Call) {
	return func(c *Call) {
		if !rowPass(k, c.Out, c.In[0], c.In[1]) {
			next(c)
		}
	}
}

// rowPass runs k over the rows of out; false if they are not rows with a number.
func rowPass(k *cpu.LineKernel, out, a, b *Tensor) bool {
	if out.dt != Float32 || a.dt != Float32 || b.dt != Float32 || out.Len() < grain {
		return false
	}
	walk := newRowWalk(out, a, b)
	rows, numbers := 1, 2
	if walk.step[1] == 0 {
		rows, numbers = 2, 1
	}
	if walk.step[0] != 1 || walk.step[rows] != 1 || walk.step[numbers] != 0 || walk.inner < shortLine {
		return false
	}
	dst, x, c := values[float32](out), values[float32]([]*Tensor{nil, a, b}[rows]), values[float32]([]*Tensor{nil, a, b}[numbers])
	walk.runBy(grain, func(off [4]int, n int) {
		w := lineWorks.Get().(*lineWork)
		w.F32[0], w.F32[1], w.Arg[0] = x[off[rows]:][:n], dst[off[0]:][:n], c[off[numbers]]
		k.Run(n, &w.Line)
		w.release()
	})
	return true
}
