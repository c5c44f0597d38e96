package cudart

import (
	"unsafe"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/cudart/driver"
)

// What kernels of index.cu go through, and its launches, in pieces where there is more than they count.

// indexing is indexArgs with what it takes to divide it.
type indexing struct {
	indexArgs
	counted view     // what n counts
	unit    int      // threads for each of them
	bytes   [4]int64 // an element's, of the operands
}

// indexed queues a kernel on what was written into indexArgs.
func (l *launcher) indexed(symbol string) bool {
	p := &l.indexArgs
	f := l.kernel(symbol, amp.NoDType, amp.NoDType)
	if f == 0 || p.unit > mostPlaces {
		return false
	}
	if p.n *= int64(p.unit); p.n > int64(mostPlaces) {
		whole := p.indexArgs
		for c := range p.counted.pieces(mostPlaces / p.unit) {
			p.indexArgs = whole
			p.take(&c)
			l.indexPiece(f)
		}
		return true
	}
	l.indexPiece(f)
	return true
}

func (l *launcher) indexPiece(f driver.Function) {
	p := &l.indexArgs.indexArgs
	if p.n > 0 {
		l.run(f, [3]uint32{blocks(int(p.n), indexThreads), 1, 1}, [3]uint32{indexThreads, 1, 1}, 0, unsafe.Pointer(p), unsafe.Sizeof(*p))
	}
}

// take leaves a piece of what is counted.
func (p *indexing) take(c *piece) {
	p.first, p.n = int64(c.first), int64(p.unit)
	var at [4]int64
	for d := range p.counted.rank {
		p.n *= int64(c.size[d])
		p.shape[d] = int32(c.size[d])
		for k := range at {
			at[k] += int64(c.start[d]) * p.stride[k][d]
		}
	}
	for k, ptr := range []*uint64{&p.out, &p.x, &p.index, &p.src} {
		*ptr += uint64(at[k] * p.bytes[k])
	}
	if p.order != 0 {
		p.order += uint64(8 * c.first * p.unit)
	}
}

// space writes the dimensions that the kernel goes through: those of v.
func (p *indexing) space(v *view) {
	*p = indexing{indexArgs: indexArgs{n: int64(v.len()), rank: int32(v.rank), per: 1, inner: 1, count: 1 << 62}, counted: *v, unit: 1}
	for d := range v.rank {
		p.shape[d] = int32(v.shape[d])
	}
}

// operand writes the strides of operand k; dimension but has none.
func (p *indexing) operand(k int, v *view, but int) {
	p.bytes[k] = int64(v.dt.Size())
	for d := range v.rank {
		if d != but {
			p.stride[k][d] = int64(v.stride[d])
		}
	}
}
