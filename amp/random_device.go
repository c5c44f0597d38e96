package amp

import "github.com/halftone-ml/halftone/amp/internal/cpu"

// Numbers are random numbers that fill a tensor, two of each block of a stream, each made in float64 from 64 bits and rounded once.
type Numbers struct {
	What string // the call that wants them
	Kind NumberKind
	Draw Draw
	// A + B·u for the uniform numbers u in [0,1], or of mean A and standard deviation B.
	A, B float64
	// The whole numbers from Low on, Span many.
	Low, Span int64
}

// A NumberKind is a distribution.
type NumberKind uint8

// The distributions of Numbers.
const (
	UniformNumbers NumberKind = iota
	NormalNumbers             // the method of Box and Muller
	WholeNumbers              // ⌊Span·u⌋ of uniform numbers u, as int64
)

// units are uniform in [0,1].
var units = Numbers{What: "uniform", Kind: UniformNumbers, B: 1}

// onHost returns how the host draws uniform and normal numbers.
func (r Numbers) onHost() drawing {
	if r.Kind == NormalNumbers {
		return func(dst []float64, seed, block uint64) { cpu.Normal(dst, seed, block, r.A, r.B) }
	}
	return func(dst []float64, seed, block uint64) { cpu.Uniforms(dst, seed, block, r.A, r.B) }
}

// drawn fills a new tensor on its device, and says whether the device can.
func (s *Scope) drawn(t *Tensor, r Numbers) bool {
	d, able := t.st.dev.(Drawer)
	if !able {
		return false
	}
	n := t.Len()
	r.Draw = s.draw((n + 1) / 2)
	t.st.must(r.What, d.Draw(t.st.buf, t.off*t.dt.Size(), t.dt, n, r))
	return true
}
