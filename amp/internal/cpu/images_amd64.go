package cpu

import "unsafe"

// imageTogether is how many vectors a tile has at most.
const imageTogether = 4

// An ImageProduct is the plan of a product: for each class of columns the taps that they meet.
type ImageProduct struct {
	channels, panel int // of all, and of those taken at a time
	inA, inB        int // distances of channels in elements
	taps            int // elements of a channel of a row of a
	classes         [][]ImageTap
	steps           []uint64 // of the channels of a panel, each class behind the other: distances in bytes, those in a in the upper half
	offs            []int    // where those of a class begin
	cols            []imageColumns
	count           [imageTogether + 1]int // of tiles so wide, which come behind those that are wider
	mostB, mostC    int                    // the last vectors of b, for the first channel, and of sums

	Pairs bool // elements of a and b are pairs of bfloat16, all finite
}

// imageColumns are the vectors of a tile. Assembly knows the layout.
type imageColumns struct {
	taps  int
	steps int // in bytes
	b, c  [imageTogether]int
}

// An imageTiles is a list of tiles of up to 6 rows × 4 vectors. Assembly knows its layout.
type imageTiles struct {
	n     int
	cols  *imageColumns
	steps *uint64
	a     *float32
	rowA  int
	b     *float32
	sums  *float32
	row   int
	more  int      // 1: sums go on from what is in memory
	bias  *float32 // if they end, and have one

	channels int
}

var imageKernels = [ImageRows + 1][imageTogether + 1]func(t *imageTiles){
	1: {1: imageTiles1x1, 2: imageTiles1x2, 3: imageTiles1x3, 4: imageTiles1x4},
	2: {1: imageTiles2x1, 2: imageTiles2x2, 3: imageTiles2x3, 4: imageTiles2x4},
	4: {1: imageTiles4x1, 2: imageTiles4x2, 3: imageTiles4x3, 4: imageTiles4x4},
	6: {1: imageTiles6x1, 2: imageTiles6x2, 3: imageTiles6x3, 4: imageTiles6x4},
}

// Plan prepares products of rows of a, in which so many channels lie inA apart and each has the weights of so many taps, with columns of b, in
// which channels lie inB apart; panel channels are taken at a time.
func (p *ImageProduct) Plan(channels, panel, taps, inA, inB int, classes [][]ImageTap, cols []ImageColumn) {
	p.channels, p.panel, p.taps, p.inA, p.inB, p.classes = channels, min(panel, channels), taps, inA, inB, classes
	p.steps, p.offs, p.cols, p.mostB, p.mostC = p.steps[:0], p.offs[:0], p.cols[:0], 0, 0
	for _, class := range classes {
		p.offs = append(p.offs, 8*len(p.steps))
		for c := range p.panel {
			for _, t := range class {
				p.steps = append(p.steps, uint64(4*(c*inA+t.A))<<32|uint64(4*(c*inB+t.B)))
			}
		}
	}
	p.steps = append(p.steps, 0) // so that there is one
	for wide := imageTogether; wide > 0; wide-- {
		before := len(p.cols)
		for at := 0; at < len(cols); {
			n := imagesTogether(cols[at:])
			if n == wide {
				p.add(cols[at : at+n])
			}
			at += n
		}
		p.count[wide] = len(p.cols) - before
	}
}

// add appends a tile.
func (p *ImageProduct) add(cols []ImageColumn) {
	class := cols[0].Class
	c := imageColumns{taps: len(p.classes[class]), steps: p.offs[class]}
	for v, col := range cols {
		c.b[v], c.c[v] = 4*col.From, 64*col.To
		p.mostC = max(p.mostC, 16*col.To)
		for _, t := range p.classes[class] {
			p.mostB = max(p.mostB, col.From+t.B)
		}
	}
	p.cols = append(p.cols, c)
}

// imagesTogether is how many of these vectors make the next tile: they have one class.
func imagesTogether(cols []ImageColumn) int {
	if variant() == AVX2 {
		return 1
	}
	n := 1
	for n < len(cols) && n < 7 && cols[n].Class == cols[0].Class {
		n++
	}
	if n == 5 || n == 6 {
		return 3 // 3 and 3, or 2, keep the processor busier than 4 and what is left
	}
	return min(n, imageTogether)
}

// Rows computes rows ≤ ImageRows of a, rowA elements apart: sums[i·row + 16·To + j] = bias[i] + Σ a·b, in the order of channels and their taps.
// Bias may be nil. It returns false, with sums of any value, if an element of a is not finite: the taps without a step then count.
func (p *ImageProduct) Rows(rows int, a []float32, rowA int, b, sums []float32, row int, bias []float32) bool {
	_ = a[(p.channels-1)*p.inA+(rows-1)*rowA+p.taps-1]
	_ = b[(p.channels-1)*p.inB+p.mostB+15]
	for i := 0; i < rows; {
		h := imageHeight(rows - i)
		if !p.tiles(h, a[i*rowA:], rowA, b, sums[i*row:], row, bias, i) {
			return false
		}
		i += h
	}
	return true
}

func (p *ImageProduct) tiles(rows int, a []float32, rowA int, b, sums []float32, row int, bias []float32, first int) bool {
	t := imageTiles{steps: &p.steps[0], rowA: 4 * rowA, sums: &sums[0], row: 4 * row}
	_ = sums[(rows-1)*row+p.mostC+15]
	for c := 0; c < p.channels; c += p.panel {
		n := min(p.panel, p.channels-c)
		var bad int
		if p.Pairs {
		} else if variant() == AVX2 {
			finiteTapsY(rows, n, &a[c*p.inA], 4*rowA, 4*p.inA, haveY(p.taps), &bad)
		} else {
			finiteTaps(rows, n, &a[c*p.inA], 4*rowA, 4*p.inA, mask(p.taps), &bad)
		}
		if bad != 0 {
			return false
		}
		t.a, t.b, t.more, t.channels = &a[c*p.inA], &b[c*p.inB], flag(c > 0), n
		if bias != nil && c+n == p.channels {
			t.bias = &bias[first : first+rows][0]
		}
		at := 0
		for wide := imageTogether; wide > 0; wide-- {
			if p.count[wide] == 0 {
				continue
			}
			some := p.cols[at : at+p.count[wide]]
			t.n, t.cols = len(some), &some[0]
			switch {
			case p.Pairs:
				imagePairs[rows][wide](&t)
			case variant() == AVX2:
				imageKernelsY[rows](&t)
			default:
				imageKernels[rows][wide](&t)
			}
			at += len(some)
		}
	}
	return true
}

// SideBySide writes n elements of up to 16 images, which lie image elements apart in src, side by side; lanes without an image are zero.
func SideBySide(dst []float32, images, n int, src []float32, image int) {
	if n == 0 {
		return
	}
	_, _ = dst[16*n-1], src[(images-1)*image+n-1]
	i := 0
	if images == 16 && variant() == AVX512 {
		for ; i+16 <= n; i += 16 {
			transposeZ(1, word(&src[i]), 4*image, 0, word(&dst[16*i]), 64)
		}
	} else if images < 16 {
		clear(dst[:16*n])
	}
	if i < n {
		TransposeRows(images, n-i, src[i:], image, dst[16*i:], 16)
	}
}

// OneByOne is the way back: n elements of up to 16 images, image elements apart in dst.
func OneByOne(dst []float32, images, n int, src []float32, image int) {
	if n == 0 {
		return
	}
	_, _ = dst[(images-1)*image+n-1], src[16*n-1]
	i := 0
	if images == 16 && n >= 16 && variant() == AVX512 {
		i = n &^ 15
		transposeZ(i/16, word(&src[0]), 64, 1024, word(&dst[0]), 4*image)
	}
	if i < n {
		TransposeRows(n-i, images, src[16*i:], 16, dst[i:], image)
	}
}

func word(p *float32) *uint32 { return (*uint32)(unsafe.Pointer(p)) }
