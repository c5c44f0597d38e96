package amp

import (
	"github.com/halftone-ml/halftone/amp/internal/cpu"
	"github.com/x448/float16"

	"github.com/halftone-ml/halftone/amp/bfloat16"
)

// A convJob computes out[image, channel, position] = bias[channel] + Σ weights · columns for the positions of a lattice, which are
// the elements start + position·step of the result's space.
type convJob[T cpu.Float] struct {
	lattice
	src, out    *Tensor
	bias        []T
	m           int // output channels per group
	kernel      kernelLayout
	weights     func(group int) cpu.Matrix[T] // m × channels·taps
	start, step [3]int
	outSize     [3]int
}

// groupsAtOnce is how many groups a worker takes with the same tables.
const groupsAtOnce = 8

// run takes the boxes and groups in parallel; within one, the product is split again where workers are free.
func (j *convJob[T]) run() {
	boxes := j.boxes()
	shares := (j.groups + groupsAtOnce - 1) / groupsAtOnce
	pool := columnPool[T]()
	cpu.Parallel(len(boxes)*shares, 1, func(lo, hi int) {
		c := pool.Get().(*columns[T])
		defer pool.Put(c)
		for i := lo; i < hi; i++ {
			b, first := &boxes[i/shares], i%shares*groupsAtOnce
			if b.positions() == 0 {
				continue
			}
			j.tables(c, b)
			for g := first; g < min(first+groupsAtOnce, j.groups); g++ {
				j.block(c, b, g)
			}
		}
	})
}

// rowShares cuts the rows of a product that there is n times, where n is less than the tasks that there should be: into how many shares, of at
// least so many rows on average, and how many rows each has, whole tiles; the last have fewer or none.
func rowShares(rows, n, tasks, least, tile int) (shares, each int) {
	shares = 1
	if n < tasks {
		shares = max(1, min((tasks+n-1)/n, rows/least))
	}
	each = (rows + shares - 1) / shares
	return shares, (each + tile - 1) / tile * tile
}

// tables makes what the groups of a box have in common.
func (j *convJob[T]) tables(c *columns[T], b *box) {
	c.out, c.outRun = j.places(c.out, b)
	if j.channels*len(j.taps) > 0 {
		c.begin(&j.lattice, j.src, b)
	}
}

func (j *convJob[T]) block(c *columns[T], b *box, group int) {
	plane := j.outSize[0] * j.outSize[1] * j.outSize[2]
	first := group * j.m * plane
	var right cpu.Matrix[T]
	k := j.channels * len(j.taps)
	if k > 0 {
		c.group(&j.lattice, j.src, b, group)
		right = c.matrix()
	}
	n := len(c.out)
	add := func(i int, row []T) {
		if j.bias == nil {
			return
		}
		v := j.bias[group*j.m+i]
		for x := range row {
			row[x] += v
		}
	}
	to := cpu.Result[T]{Done: func(i, from int, row []T) {
		add(i, row)
		put(j.out, first+i*plane, c.out, from, c.outRun, row)
	}}
	if j.out.dt == dtypeOf[T]() && c.outRun == n {
		to = cpu.Result[T]{Elems: elements[T](j.out), Off: first + c.out[0], Row: plane, Done: func(i, _ int, row []T) { add(i, row) }}
	}
	cpu.GemmTo(j.m, n, k, j.weights(group), right, to)
}

// put rounds the piece of a row that begins at column from into t, at the offsets of a table that is made of runs.
func put[T cpu.Float](t *Tensor, off int, at []int, from, run int, row []T) {
	if run >= shortRun {
		for len(row) > 0 {
			n := min(run-from%run, len(row))
			store(t, off+at[from], row[:n])
			row, from = row[n:], from+n
		}
		return
	}
	at = at[from : from+len(row)]
	switch t.dt {
	case Float16:
		scatter(elements[float16.Float16](t)[off:], at, row, func(v T) float16.Float16 { return float16.Float16(cpu.F32ToF16(float32(v))) })
	case BFloat16:
		scatter(elements[bfloat16.BFloat16](t)[off:], at, row, func(v T) bfloat16.BFloat16 { return bfloat16.BFloat16(cpu.F32ToBF16(float32(v))) })
	case Float32:
		scatter(elements[float32](t)[off:], at, row, func(v T) float32 { return float32(v) })
	default:
		scatter(elements[float64](t)[off:], at, row, func(v T) float64 { return float64(v) })
	}
}

func scatter[T, E any](dst []E, at []int, row []T, f func(T) E) {
	for i, v := range row {
		dst[at[i]] = f(v)
	}
}
