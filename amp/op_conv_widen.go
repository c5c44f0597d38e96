package amp

import (
	"sync"

	"github.com/halftone-ml/halftone/amp/internal/cpu"
)

// Halves on their way to kernels of float32: pieces of a tensor are widened just before they are brought to the kernels' order, so small that the
// L1 cache still has them then, and none that a box does not see.

// A widener holds a piece.
type widener struct{ buf []float32 }

var wides = sync.Pool{New: func() any { return new(widener) }}

// widePiece is how many elements a piece should have.
const widePiece = 1 << 12

// pieceOf is how many elements of each of so many rows of t to ask rows for at a time: all where they are read in place.
func pieceOf(t *Tensor, rows int) int {
	if t.dt == Float32 {
		return maxPiece
	}
	return max(vectorSize, widePiece/rows/vectorSize*vectorSize)
}

const maxPiece = 1 << 40

// rows returns n elements of each of some rows of t in float32, the first one at off and rows row elements apart, and their distance there: in
// place where they are, else widened, with room behind them for kernels that read a vector beyond.
func (w *widener) rows(t *Tensor, off, rows, row, n int) ([]float32, int) {
	if t.dt == Float32 {
		return elements[float32](t)[off:], row
	}
	w.buf = cpu.Grow(w.buf, rows*n+vectorSize)
	if row == n {
		cpu.WidenRows(halfFormat(t), w.buf, rows*n, halvesOf(t)[off:], rows*n, 1, rows*n)
	} else {
		cpu.WidenRows(halfFormat(t), w.buf, n, halvesOf(t)[off:], row, rows, n)
	}
	return w.buf, n
}

// fullOrWidened says whether tensors are of float32, or of halves that are best widened for kernels of float32.
func fullOrWidened(list ...*Tensor) bool {
	for _, t := range list {
		if t.dt != Float32 && (t.dt == Float64 || !cpu.StepsWiden(halfFormat(t))) {
			return false
		}
	}
	return true
}

// A planeSource is a run of channels of a tensor, which all images have.
type planeSource struct {
	t            *Tensor
	off          int // of the first channel of the first image
	image, plane int // distances of images and channels
}

// turn brings n neighbors of each of some channels of an image side by side: element i of channel c to dst[i·ldd + c].
func (w *widener) turn(src *planeSource, image, channel, from, channels, n int, dst []float32, ldd int) {
	at, most := src.off+image*src.image+channel*src.plane+from, pieceOf(src.t, channels)
	for p := 0; p < n; p += most {
		some := min(most, n-p)
		part, row := w.rows(src.t, at+p, channels, src.plane, some)
		cpu.TransposeRows(channels, some, part, row, dst[p*ldd:], ldd)
	}
}

// turnLines is turn for lines that lie so far apart, and ldt in dst.
func (w *widener) turnLines(src *planeSource, image, channel, from, apart, channels, lines, n int, dst []float32, ldt int) {
	if lines == 1 || src.t.dt == Float32 {
		for y := range lines {
			w.turn(src, image, channel, from+y*apart, channels, n, dst[y*ldt:], vectorSize)
		}
		return
	}
	part, row := w.rows(src.t, src.off+image*src.image+channel*src.plane+from, channels, src.plane, (lines-1)*apart+n)
	for y := range lines {
		cpu.TransposeRows(channels, n, part[y*apart:], row, dst[y*ldt:], vectorSize)
	}
}

// channelsFrom is the run of channels of t that begins with the first, of so many, whose planes have size elements.
func channelsFrom(t *Tensor, first, of, size int) planeSource {
	return planeSource{t, t.off + first*size, of * size, size}
}
