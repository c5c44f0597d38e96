package amp

import (
	"errors"
	"testing"

	"github.com/halftone-ml/halftone/amp/internal/cpu"
)

// Sizes of enlarged cases in elements: so many that loops are shared out, which begins with 32768 elements; fewer where an element is a long
// sum, or where the plain kernels compute it.
const (
	manyElements = 36000
	someElements = 3000
	largeBlock   = 1 << 19 // bytes: a result of the sizes of two inputs multiplied is refused
)

// longSums are rows that sum over two inputs for each element, besides those of class Lower.
var longSums = map[string]bool{"cdist": true, "einsum": true}

// A largeWalk compares what cases give on different machines.
type largeWalk struct {
	plain, other machine
	same         []machine // those that have to give the same bits
	ran          map[string]int
}

func newLargeWalk(t *testing.T) *largeWalk {
	computesOnCPU(t)
	was := systemMemory
	systemMemory = func() uint64 { return largeBlock }
	t.Cleanup(func() { systemMemory = was })
	w := &largeWalk{plain: machine{cpu.Current(), cpu.CurrentDot(), 1, 0xff}, other: machine{cpu.Current(), cpu.CurrentDot(), 3, 0x3c}, ran: map[string]int{}}
	for i, v := range cpu.Variants() {
		w.same = append(w.same, machine{cpu.Mode{Variant: v, Reproducible: true}, cpu.Strict, 1 + i, 0xff})
	}
	return w
}

// threads compares one thread with three, and one filling of the memory that nobody wrote with another, and both with float64.
func (w *largeWalk) threads(t *testing.T, o *Op, c opCase, dt DType) {
	one, err := w.plain.run(c, dt, dt, false)
	if err != nil {
		return // the row wants other shapes
	}
	w.ran[o.Name]++
	three, err := w.other.run(c, dt, dt, false)
	if refused(err) {
		return
	}
	if d := one.differs(three); d != "" {
		t.Errorf("%v with one thread and three: %s (%v)", dt, d, err)
	}
	exact, err := w.plain.run(c, dt, Float64, false)
	if err != nil || dt == Float64 {
		return // its blocks are too large
	}
	eps := map[DType]float64{Float16: 0x1p-11, BFloat16: 0x1p-8, Float32: 0x1p-23}[dt]
	if d := c.far(one, exact, eps, max(o.Bound, 1)); d != "" {
		t.Errorf("%v: %s", dt, d)
	}
	views, err := w.other.run(c, dt, dt, true)
	if err != nil {
		return
	}
	if d := c.far(views, exact, eps, max(o.Bound, 1)); d != "" {
		t.Errorf("%v through views: %s", dt, d)
	}
}

// variants compares the kernels of all processors where they have to give the same bits.
func (w *largeWalk) variants(t *testing.T, c opCase, dt DType) {
	first, err := w.same[0].run(c, dt, dt, false)
	if err != nil {
		return
	}
	for _, m := range w.same[1:] {
		got, err := m.run(c, dt, dt, false)
		if refused(err) {
			return
		}
		if d := first.differs(got); d != "" {
			t.Errorf("%v on %v and %v, reproducibly: %s (%v)", dt, w.same[0].mode.Variant, m.mode.Variant, d, err)
		}
	}
}

// refused says that largeBlock stopped a run. It stops only new blocks, so a run may come through on one that an earlier test left
// behind, and the next one, which does not find it free, may not.
func refused(err error) bool { return errors.Is(err, ErrMemory) }

// everyRow compares the cases of every row that a program can call; of the sizes and dtypes of a case only some, or all of them.
func (w *largeWalk) everyRow(t *testing.T, all bool) {
	turn := 0
	each := func(c opCase, total int, dtypes []DType, f func(c opCase, dt DType)) {
		list := c.enlarged(total)
		for i, e := range list {
			for k, dt := range dtypes {
				if all || i == turn%len(list) && k == (turn/7+i)%len(dtypes) {
					f(e, dt)
				}
			}
		}
	}
	for _, name := range caseNames() {
		o, _ := LookupOp(name)
		many := manyElements
		if o.Class == Lower || longSums[name] {
			many = someElements
		}
		t.Run(name, func(t *testing.T) {
			for _, c := range opCases[name] {
				turn++
				each(c, many, []DType{Float32, BFloat16, Float16, Float64}, func(e opCase, dt DType) {
					t.Run(c.name+" "+e.name, func(t *testing.T) { w.threads(t, o, e, dt) })
				})
				each(c, someElements, []DType{Float32, Float16, Float64}, func(e opCase, dt DType) {
					t.Run(c.name+" "+e.name, func(t *testing.T) { w.variants(t, e, dt) })
				})
			}
		})
	}
}

// TestEveryOpLarge: every row gives the same whatever the number of threads and what lies in the memory that it gets, gives what float64
// gives, through views too, and the same bits on all processors where that is promised, at sizes that vectors, tiles and threads share.
func TestEveryOpLarge(t *testing.T) {
	newLargeWalk(t).everyRow(t, false)
}

// TestLargeCases is TestEveryOpLarge for the cases made for devices.
func TestLargeCases(t *testing.T) {
	w := newLargeWalk(t)
	systemMemory = func() uint64 { return 1 << 40 }
	for name, c := range largeCases() {
		t.Run(name, func(t *testing.T) {
			c.terms = max(200, c.terms)
			for i, dt := range []DType{Float32, BFloat16, Float16} {
				if i == 0 || (i+len(name))%2 == 0 {
					w.threads(t, &Op{Name: name, Bound: 4}, c, dt)
				}
			}
			w.variants(t, c, Float32)
		})
	}
}
