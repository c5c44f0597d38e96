package amp

// A kernelLayout says where the elements of a convolution's weight are: that of output channel i of a group, its input channel c and tap t
// lies at off + group·(groups' distance) + i·out + c·in + place[t].
type kernelLayout struct {
	w              *Tensor
	group, out, in int
	place          []int
	size           int // elements of a kernel: those of all taps, used or not
}

// at is where the weights of a group begin.
func (k *kernelLayout) at(group int) int { return k.w.off + group*k.group }

// identity returns 0 … n-1.
func identity(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

// fast computes the job by one of the ways that copy no window for each tap, if one is for it.
func (j *convJob[T]) fast() bool {
	f, ok := any(j).(*convJob[float32])
	return ok && f.kernel.w != nil && (f.points() || f.pairImages() || f.pairSteps() || f.inParts() || f.images() || f.fits() && (f.tiles() || f.steps()))
}
