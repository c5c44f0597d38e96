package amp

import (
	"fmt"
	"math"
	"slices"

	"github.com/halftone-ml/halftone/amp/internal/cpu"
)

// The cases of the table have a handful of elements each, so that differences can be taken of them. What vectors, tiles and threads do only
// shows with more: here the same cases get other sizes.

// enlarged returns the case with other sizes: each of its sizes in turn so large that a result has about total elements, and all of them.
// A size is the same number wherever it occurs, so that what had to agree still does. Nothing is round but the sizes that have to be a
// multiple of what they were.
func (c opCase) enlarged(total int) []opCase {
	var sizes []int
	for _, in := range c.inputs {
		for _, n := range in.shape {
			if n > 1 && !slices.Contains(sizes, n) {
				sizes = append(sizes, n)
			}
		}
	}
	var out []opCase
	add := func(name string, size func(n int) int) {
		for _, o := range out {
			if same := slices.EqualFunc(o.inputs, c.inputs, func(a, b input) bool {
				for i, n := range b.shape {
					if a.shape[i] != size(n) {
						return false
					}
				}
				return true
			}); same {
				return
			}
		}
		e := c
		e.name = name
		e.inputs = slices.Clone(c.inputs)
		for i, in := range e.inputs {
			e.inputs[i].shape = slices.Clone(in.shape)
			for k, n := range in.shape {
				e.inputs[i].shape[k] = size(n)
			}
		}
		out = append(out, e)
	}
	for _, v := range sizes {
		for _, whole := range []bool{false, true} { // a multiple of what it was, or not
			n := c.fit(total, func(n, large int) int {
				if n != v {
					return n
				}
				return odd(n, large, whole)
			})
			add(fmt.Sprintf("%d→%d", v, odd(v, n, whole)), func(k int) int {
				if k != v {
					return k
				}
				return odd(k, n, whole)
			})
		}
	}
	if len(sizes) > 1 {
		for _, whole := range []bool{false, true} {
			n := c.fit(total, func(n, large int) int { return odd(n, large*n/2, whole) })
			add(fmt.Sprintf("all ×%d %t", n, whole), func(k int) int { return odd(k, n*k/2, whole) })
		}
	}
	return out
}

// odd is a size of about large for one of n: a multiple of it, or an odd number.
func odd(n, large int, whole bool) int {
	if n <= 1 || large <= n {
		return n
	}
	if whole {
		return large / n * n
	}
	return large | 1
}

// fit returns the largest number for which no input has more than total elements.
func (c opCase) fit(total int, size func(n, large int) int) int {
	lo, hi := 1, total+1
	for hi-lo > 1 {
		mid := (lo + hi) / 2
		most := 0
		for _, in := range c.inputs {
			n := 1
			for _, k := range in.shape {
				n = min(n*size(k, mid), 1<<40)
			}
			most = max(most, n)
		}
		if most <= total {
			lo = mid
		} else {
			hi = mid
		}
	}
	return lo
}

// A machine is what a case runs on: kernels, threads and what lies in memory that nobody wrote.
type machine struct {
	mode    cpu.Mode
	dot     cpu.Dot
	threads int
	poison  int
}

// on runs f on the machine.
func (m machine) on(f func()) {
	mode, dot, poison, device := cpu.Current(), cpu.SetDot(m.dot), cpu.SetPoison(m.poison), SetDefaultDevice("cpu")
	cpu.SetMode(m.mode)
	cpu.SetThreads(m.threads)
	defer func() {
		SetDefaultDevice(device)
		cpu.SetMode(mode)
		cpu.SetDot(dot)
		cpu.SetThreads(0)
		cpu.SetPoison(poison)
	}()
	f()
}

// run runs a case forward and backward on the machine, from inputs of one dtype computed in another. An error is that of the call: the
// shapes are not for it.
func (m machine) run(c opCase, drawn, dt DType, views bool) (out outcome, err error) {
	m.on(func() {
		root := NewScope(On("cpu"), Seed(9))
		defer root.Close()
		err = Maybe(func() {
			in := c.draws(root, drawn, 5)
			for i, x := range in {
				if dt != drawn {
					in[i] = fromFloat64s(dt, x.Float64s(), x.shape).RequireGrad()
				}
			}
			leaves := slices.Clone(in)
			if views {
				for i, x := range in {
					in[i] = gapped(root, x)
				}
			}
			y := c.call(root, in)
			out = outcome{y.dt, [][]float64{y.Float64s()}}
			if !y.needs {
				return
			}
			project(root, y, 7).Backward()
			for _, x := range leaves {
				if g := x.Grad(); g != nil {
					out.lists = append(out.lists, g.Float64s())
				}
			}
		})
	})
	return out, err
}

// differs says where two outcomes have other bits, but for the payload of NaN.
func (o outcome) differs(p outcome) string {
	if o.dt != p.dt || len(o.lists) != len(p.lists) {
		return fmt.Sprintf("%v with %d lists, and %v with %d", o.dt, len(o.lists), p.dt, len(p.lists))
	}
	for k, list := range o.lists {
		if len(list) != len(p.lists[k]) {
			return fmt.Sprintf("list %d: %d elements and %d", k, len(list), len(p.lists[k]))
		}
		for i, a := range list {
			if b := p.lists[k][i]; math.Float64bits(a) != math.Float64bits(b) && (a == a || b == b) {
				return fmt.Sprintf("list %d element %d of %d: %v and %v", k, i, len(list), a, b)
			}
		}
	}
	return ""
}

// far says where an outcome is farther from the truth than rounding explains: eps is that of the dtype, factor allows for the op.
func (c opCase) far(o, exact outcome, eps, factor float64) string {
	if len(o.lists) != len(exact.lists) {
		return fmt.Sprintf("%d lists, and %d", len(o.lists), len(exact.lists))
	}
	for k, list := range exact.lists {
		if c.ties && k > 0 && o.dt.Size() == 2 {
			break
		}
		if len(o.lists[k]) != len(list) {
			return fmt.Sprintf("list %d: %d elements and %d", k, len(o.lists[k]), len(list))
		}
		size := 0.1
		for _, w := range list {
			if finite(w) {
				size = max(size, math.Abs(w))
			}
		}
		bound := factor*size*(16*eps+4*0x1p-24*math.Sqrt(float64(c.most()))) + float64(c.terms)*0x1p-24
		if c.products { // the rounding errors of as many terms, of about a quarter each, walk at random
			bound += eps / 4 * math.Sqrt(float64(c.most()/max(len(list), 1)))
		}
		for i, w := range list {
			g := o.lists[k][i]
			if g == w || g != g && w != w || o.dt == Float16 && math.Abs(w) > 3e4 {
				continue
			}
			if !(math.Abs(g-w) <= bound) {
				return fmt.Sprintf("list %d element %d of %d: %v, want %v", k, i, len(list), g, w)
			}
		}
	}
	return ""
}

// most is how many elements the largest input has: so many a sum may have.
func (c opCase) most() int {
	n := 1
	for _, in := range c.inputs {
		n = max(n, length(in.shape))
	}
	return n
}
