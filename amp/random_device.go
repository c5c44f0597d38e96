package amp

import (
	"math"

	"github.com/halftone-ml/halftone/amp/internal/cpu"
)

// Numbers are random numbers that fill a tensor, two of each block of a stream, each made in float64 from 64 bits and rounded once.
type Numbers struct {
	What string // the call that wants them
	Kind NumberKind
	Draw Draw
	// A + B·u for the uniform numbers u in [0,1], or of mean A and standard deviation B.
	A, B float64
	// Uniform halves stay below it, to which some would be rounded, where it is above A.
	High float64
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

// Most is the largest number that r may give in a dtype; larger ones become it before they are rounded.
func (r Numbers) Most(dt DType) float64 {
	if !dt.IsHalf() || r.Kind != UniformNumbers || !(r.High > r.A) || r.High > dt.Max() {
		return math.Inf(1)
	}
	return belowHalf(dt, r.High)
}

// belowHalf is the largest number below v that a half dtype holds.
func belowHalf(dt DType, v float64) float64 {
	narrow, wide := cpu.F32ToF16, cpu.F16ToF32
	if dt == BFloat16 {
		narrow, wide = cpu.F32ToBF16, cpu.BF16ToF32
	}
	for bits := narrow(float32(v)); ; {
		if most := float64(wide(bits)); most < v {
			return most
		}
		switch {
		case bits&0x7fff == 0:
			bits = 0x8001
		case bits < 0x8000:
			bits--
		default:
			bits++
		}
	}
}

// onHost returns how the host draws uniform and normal numbers of a dtype.
func (r Numbers) onHost(dt DType) drawing {
	if r.Kind == NormalNumbers {
		return func(dst []float64, seed, block uint64) { cpu.Normal(dst, seed, block, r.A, r.B) }
	}
	most := r.Most(dt)
	return func(dst []float64, seed, block uint64) {
		cpu.Uniforms(dst, seed, block, r.A, r.B)
		if math.IsInf(most, 1) {
			return
		}
		for i, v := range dst {
			if v > most {
				dst[i] = most
			}
		}
	}
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
