package cpu

// Convolutions of images that lie side by side: element j of a vector is that of image j, so that what a tap meets is a cache line of its own
// wherever it lies, and the steps of k are those whose taps meet something. Everything here is for the processors that StepKernels names.

// An ImageTap is where a tap's weight is, from that of a row's first tap, and where what it meets is, from a column's start.
type ImageTap struct{ A, B int }

// An ImageColumn is a vector of the same position of 16 images: which taps it meets, where the first of what they meet is in b, and which vector
// of a row of sums it is.
type ImageColumn struct{ Class, From, To int }

// ImageRows are the rows of a tile.
const ImageRows = 6

// ImagePanel is how many channels to take at a time: weights of so many stay in the L1 cache, and with AVX2, whose tiles are one vector wide and so
// read all that they meet again for every position, so does that.
func ImagePanel() int {
	if variant() == AVX2 {
		return 32
	}
	return 64
}

// imageHeight is how high the next tile of so many rows is.
func imageHeight(rows int) int {
	switch {
	case rows >= 6:
		return 6
	case rows >= 4:
		return 4
	}
	return min(rows, 2)
}
