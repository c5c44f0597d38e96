package amp

import (
	"github.com/halftone-ml/halftone/amp/internal/cpu"
)

// Convolutions of bfloat16 whose windows are single elements, where pairs of halves have an instruction: plain matrix products, in which the
// positions of all images are the columns, or, for the gradient of the weight, k.

// Channels from which such a product is worth its packing.
const leastPoints = 8

// pointwise says whether every position of the lattice meets the element of the source that has its place.
func (l *lattice) pointwise() bool {
	return len(l.taps) == 1 && l.taps[0] == [3]int{} && l.step == [3]int{1, 1, 1} && l.size == l.grid && l.images*l.volume() > 0
}

// points computes the job that way, if it is one.
func (j *convJob[T]) points() bool {
	l := &j.lattice
	if !cpu.PairProducts() || !l.pointwise() || j.outSize != l.grid || min(j.m, l.channels) < leastPoints || !allBF16(j.src, j.out, j.kernel.w) {
		return false
	}
	bias := any(j.bias).([]float32)
	planes, sums := l.planesOf(l.channels), l.planesOf(j.m)
	for g := range l.groups {
		a := operand[float32](j.kernel.w, j.kernel.at(g)+j.kernel.place[0], j.kernel.out, j.kernel.in)
		b := operand[float32](j.src, j.src.off+g*l.channels*l.volume(), l.volume(), 1)
		b.ColFold = planes
		to := cpu.Result[float32]{BF16: halvesOf(j.out), Off: j.out.off + g*j.m*l.volume(), Row: l.volume(), Fold: sums}
		if bias != nil {
			to.RowBias = bias[g*j.m : (g+1)*j.m]
		}
		cpu.GemmTo(j.m, l.images*l.volume(), l.channels, a, b, to)
	}
	return true
}

// pointWeights computes the gradient of such a convolution's weight: every element is one sum over the positions of all images.
func pointWeights(out *Tensor, l *lattice, x, dy *Tensor, m int) bool {
	if !cpu.PairProducts() || !l.pointwise() || min(m, l.channels) < leastPoints || !allBF16(x, dy) || out.dt != BFloat16 && out.dt != Float32 {
		return false
	}
	for g := range l.groups {
		a := operand[float32](dy, dy.off+g*m*l.volume(), l.volume(), 1)
		a.ColFold = l.planesOf(m)
		b := operand[float32](x, x.off+g*l.channels*l.volume(), 1, l.volume())
		b.RowFold = l.planesOf(l.channels)
		cpu.GemmTo(m, l.channels, l.images*l.volume(), a, b, productInto[float32](out, out.off+g*m*l.channels, l.channels, nil))
	}
	return true
}

// planesOf says where the positions of a channel are, in images of so many channels in each group.
func (l *lattice) planesOf(channels int) cpu.Fold {
	return cpu.Fold{Len: l.volume(), Step: l.groups * channels * l.volume()}
}

func allBF16(list ...*Tensor) bool {
	for _, t := range list {
		if t.dt != BFloat16 {
			return false
		}
	}
	return true
}
