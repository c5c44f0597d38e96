package amp

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/halftone-ml/halftone/amp/internal/cpu"
)

// Calls of shapes, options and views drawn at random, on every kind of processor and one to three threads, in memory that holds NaN where
// nobody wrote. In float64 a result is what plain loops give and a gradient what differences give; in other dtypes both are those of float64
// but for rounding.

// A drawnCall is an op with its options, and the inputs of a seed.
type drawnCall struct {
	name     string
	operands []*drawnOperand
	lo, hi   float64 // between which inputs are drawn
	apart    bool    // inputs are all different, in float64: the op chooses among them
	rough    bool    // it is no smooth function at what is drawn: no differences are taken
	call     func(s *Scope, in []*Tensor) *Tensor
	want     func(in [][]float64) []float64 // what it gives, by plain loops; nil where that is not written down
	steep    float64                        // of what terms a gradient may be the difference
	seed     uint64
}

func (c *drawnCall) String() string {
	return fmt.Sprintf("seed %d: %s of %v", c.seed, c.name, c.operands)
}

// draws are the numbers of the leaves.
func (c *drawnCall) draws() [][]float64 {
	r := rand.New(rand.NewPCG(c.seed, 3))
	lists := make([][]float64, len(c.operands))
	for k, o := range c.operands {
		n := length(o.leaf)
		lists[k] = make([]float64, n)
		for i, place := range r.Perm(n) {
			u := r.Float64()
			if c.apart {
				u = (float64(place) + 0.5) / float64(n)
			}
			lists[k][i] = c.lo + u*(c.hi-c.lo)
		}
	}
	return lists
}

// inputs makes leaves of the numbers and takes what the operands take of them.
func (c *drawnCall) inputs(s *Scope, lists [][]float64, drawn, dt DType) (leaves, in []*Tensor) {
	for k, o := range c.operands {
		x := To(s, To(s, fromFloat64s(Float64, lists[k], o.leaf), drawn), dt).RequireGrad()
		leaves, in = append(leaves, x), append(in, o.of(s, x))
	}
	return leaves, in
}

// run is compute on a machine.
func (c *drawnCall) run(m machine, drawn, dt DType) (out outcome) {
	m.on(func() { out = c.compute(drawn, dt) })
	return out
}

// compute gives the result and its gradients, from operands rounded to one dtype, in another.
func (c *drawnCall) compute(drawn, dt DType) outcome {
	s := NewScope(On("cpu"), Seed(c.seed))
	defer s.Close()
	leaves, in := c.inputs(s, c.draws(), drawn, dt)
	y := c.call(s, in)
	out := outcome{y.dt, [][]float64{y.Float64s()}}
	if !y.needs {
		return out
	}
	dy := To(s, To(s, fromFloat64s(Float64, weights(y.Len(), c.seed), y.shape), drawn), y.dt)
	for _, g := range Grad(s, []*Tensor{y}, append(in, leaves...), GradOutputs(dy), AllowUnused()) {
		list := []float64{}
		if g != nil {
			list = g.Float64s()
		}
		out.lists = append(out.lists, list)
	}
	return out
}

// The lists are the result, the gradients of what was taken of the leaves and those of the leaves.

// far says where an outcome in fewer digits is farther from the exact one than rounding explains: 64 roundings of the largest number of the
// list, and a sum of all inputs in float32. What is looked for, an element left out or taken twice, is far beyond.
func (c *drawnCall) far(got, exact outcome, dt DType) string {
	eps := map[DType]float64{Float32: 0x1p-24, BFloat16: 0x1p-8, Float16: 0x1p-11}[dt]
	most := 1
	for _, o := range c.operands {
		most = max(most, length(o.shape))
	}
	if len(got.lists) != len(exact.lists) {
		return fmt.Sprintf("%d lists, and %d", len(got.lists), len(exact.lists))
	}
	bounds := make([]float64, len(exact.lists))
	for k, list := range exact.lists {
		if len(got.lists[k]) != len(list) {
			return fmt.Sprintf("list %d has %d elements, not %d", k, len(got.lists[k]), len(list))
		}
		size := 0.0
		for _, v := range list {
			size = max(size, math.Abs(v))
		}
		steep := 0.1
		if k > 0 {
			steep += c.steep
		}
		bound := 64*eps*(size+steep) + 0x1p-24*(math.Sqrt(float64(most))*size+float64(most)*max(math.Abs(c.lo), math.Abs(c.hi)))
		if leaf := k - 1 - len(c.operands); leaf >= 0 { // errors of what is repeated add up
			bound = max(bound, float64(c.operands[leaf].repeats)*bounds[1+leaf])
		}
		bounds[k] = bound
		for i, v := range list {
			if dt == Float16 && math.Abs(v) > 3e4 {
				continue
			}
			if g := got.lists[k][i]; !(math.Abs(g-v) <= bound) && !(v != v && g != g) {
				return fmt.Sprintf("list %d element %d of %d is %v, not %v (bound %.2g)", k, i, len(list), g, v, bound)
			}
		}
	}
	return ""
}

// check compares the call with plain loops, differences, other dtypes, threads and processors.
func (c *drawnCall) check(t *testing.T) {
	t.Helper()
	r := rand.New(rand.NewPCG(c.seed, 4))
	defer func() {
		if e := recover(); e != nil {
			t.Errorf("%v: %v", c, e)
		}
	}()
	variants, machines := cpu.Variants(), productMachines()
	m := machines[r.IntN(len(machines))]
	m.threads, m.poison = 1+r.IntN(3), 0xff
	other := m
	other.threads, other.poison = 1+(m.threads+r.IntN(2))%3, 0x3c
	c.definition(t, m)
	dt := []DType{Float32, BFloat16, Float16}[r.IntN(3)]
	how := fmt.Sprintf("%v\n\t%v on %v %v with %d threads", c, dt, m.mode.Variant, m.dot, m.threads)
	one, two := c.run(m, dt, dt), c.run(other, dt, dt)
	if d := c.far(one, c.run(m, dt, Float64), dt); d != "" {
		t.Errorf("%s: %s", how, d)
	}
	if d := one.differs(two); d != "" {
		t.Errorf("%s and with %d: %s", how, other.threads, d)
	}
	if m.dot != cpu.Strict { // sums have another order
		return
	}
	m.mode.Reproducible, other.mode = true, cpu.Mode{Variant: variants[r.IntN(len(variants))], Reproducible: true}
	if d := c.run(m, dt, dt).differs(c.run(other, dt, dt)); d != "" {
		t.Errorf("%s and on %v, reproducibly: %s", how, other.mode.Variant, d)
	}
}

// definition compares a result in float64 with plain loops, and the slope along one direction with differences.
func (c *drawnCall) definition(t *testing.T, m machine) {
	t.Helper()
	m.on(func() {
		s := NewScope(On("cpu"), Seed(c.seed))
		defer s.Close()
		lists := c.draws()
		leaves, in := c.inputs(s, lists, Float64, Float64)
		if c.want != nil {
			numbers := make([][]float64, len(in))
			for k, x := range in {
				numbers[k] = x.Float64s()
			}
			got, want := c.call(s, in).Float64s(), c.want(numbers)
			if len(got) != len(want) {
				t.Errorf("%v has %d elements, not %d", c, len(got), len(want))
				return
			}
			for i, w := range want {
				if !(math.Abs(got[i]-w) <= 1e-9*(1+math.Abs(w))) && !(w != w && got[i] != got[i]) {
					t.Errorf("%v, float64 on %v with %d threads: element %d of %d is %v, not %v", c, m.mode.Variant, m.threads, i, len(want), got[i], w)
					return
				}
			}
		}
		y := c.call(s, in)
		if c.rough || !y.needs || y.dt != Float64 {
			return
		}
		dy := weights(y.Len(), c.seed)
		value := func(step float64) (sum float64) {
			moved := make([][]float64, len(lists))
			for k, list := range lists {
				moved[k] = slices.Clone(list)
				for i, d := range weights(len(list), c.seed+uint64(k)+1) {
					moved[k][i] += step * d
				}
			}
			s := s.Child()
			defer s.Close()
			_, in := c.inputs(s, moved, Float64, Float64)
			for i, v := range c.call(s, in).Float64s() {
				sum += dy[i] * v
			}
			return sum
		}
		const h = 1e-6
		slope, got, size := (value(h)-value(-h))/(2*h), 0.0, 0.0
		for k, g := range Grad(s, []*Tensor{y}, leaves, GradOutputs(fromFloat64s(Float64, dy, y.shape)), AllowUnused()) {
			if g != nil {
				step := weights(len(lists[k]), c.seed+uint64(k)+1)
				for i, v := range g.Float64s() {
					d := v * step[i]
					got, size = got+d, size+math.Abs(d)
				}
			}
		}
		if !(math.Abs(got-slope) <= 1e-6*(1+size)) {
			t.Errorf("%v, float64 on %v with %d threads: the slope is %v, differences give %v", c, m.mode.Variant, m.threads, got, slope)
		}
	})
}

// shape draws a shape of at most so many elements.
func (r sizeDraw) shape(rank, most int) []int {
	shape := make([]int, rank)
	for d := range shape {
		shape[d] = r.size([]int{0, 70000, 900, 200, 60, 30}[rank])
	}
	for length(shape) > most {
		d := r.IntN(rank)
		shape[d] = shape[d]*2/3 + shape[d]%2
		if shape[d] > 1 {
			shape[d]--
		}
		shape[d] = max(1, shape[d])
	}
	return shape
}

// call1 is a call of one operand.
func (r sizeDraw) call1(name string, shape []int, call func(s *Scope, x *Tensor) *Tensor, want func(x []float64) []float64) *drawnCall {
	c := &drawnCall{name: name, operands: []*drawnOperand{r.operand(shape...)}, lo: -2, hi: 2}
	c.call = func(s *Scope, in []*Tensor) *Tensor { return call(s, in[0]) }
	if want != nil {
		c.want = func(in [][]float64) []float64 { return want(in[0]) }
	}
	return c
}

// A lineWalk goes along some dimensions of a row-major array.
type lineWalk struct {
	shape   []int
	reduced []bool
}

func walkOf(shape []int, dims ...int) lineWalk {
	w := lineWalk{shape, make([]bool, len(shape))}
	for _, d := range dims {
		w.reduced[d] = true
	}
	return w
}

// lines calls f with the places of the elements of each line.
func (w lineWalk) lines(f func(places []int)) {
	lines, order := map[int][]int{}, []int{}
	for i := range length(w.shape) {
		key, rest, step := 0, i, 1
		for d := len(w.shape) - 1; d >= 0; d-- {
			if !w.reduced[d] {
				key += rest % w.shape[d] * step
				step *= w.shape[d]
			}
			rest /= w.shape[d]
		}
		if lines[key] == nil {
			order = append(order, key)
		}
		lines[key] = append(lines[key], i)
	}
	slices.Sort(order)
	for _, key := range order {
		f(lines[key])
	}
}

// each returns f of each line, in order.
func (w lineWalk) each(x []float64, f func(line []float64) float64) []float64 {
	var out []float64
	w.lines(func(places []int) {
		line := make([]float64, len(places))
		for k, i := range places {
			line[k] = x[i]
		}
		out = append(out, f(line))
	})
	return out
}

// along returns x with each line replaced by what f makes of it.
func (w lineWalk) along(x []float64, f func(line []float64) []float64) []float64 {
	out := slices.Clone(x)
	w.lines(func(places []int) {
		line := make([]float64, len(places))
		for k, i := range places {
			line[k] = x[i]
		}
		for k, v := range f(line) {
			out[places[k]] = v
		}
	})
	return out
}

func newSizeDraw(seed uint64) sizeDraw { return sizeDraw{rand.New(rand.NewPCG(seed, 1))} }

// drawOn makes a test go on after a failure: for a hunt.
var drawOn = os.Getenv("HALFTONE_TEST_GO_ON") != ""

// drawn checks so many draws of each kind, the same each time; with HALFTONE_TEST_SEED as TestDrawnProductsLong, for two minutes.
func drawn(t *testing.T, n, most int, draws ...func(r sizeDraw, most int) *drawnCall) {
	t.Helper()
	computesOnCPU(t)
	text := os.Getenv("HALFTONE_TEST_SEED")
	if text == "" {
		checkCalls(t, 1, n, most, draws...)
		return
	}
	first, err := strconv.ParseUint(text, 10, 64)
	if text == "now" {
		first = uint64(time.Now().UnixNano())
	} else if err != nil {
		t.Fatalf("HALFTONE_TEST_SEED=%q is no number, and not now", text)
	}
	k := 0
	for end := time.Now().Add(2 * time.Minute); time.Now().Before(end) && (drawOn || !t.Failed()); k += 10 {
		checkCalls(t, first+uint64(k), 10, most, draws...)
	}
	t.Logf("%d cases of each kind from seed %d on", k, first)
}
