package amp

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/halftone-ml/halftone/amp/internal/cpu"
)

// Products of matrices and convolutions, forward and backward, of sizes drawn at random, on every way to compute them that this machine
// has, compared with float64. The kernels' own tests know where tiles end; these know nothing, and so find what was not thought of.

// A drawnProduct is a product of sizes, views and options that a seed gives.
type drawnProduct struct {
	seed     uint64
	name     string
	operands []*drawnOperand // two, and a bias
	call     func(s *Scope, x, w, b *Tensor) *Tensor
	terms    []int // how many products, each about 1, the elements of the result and of each gradient are summed from
	repeats  []int // how many such sums, each rounded, are then added for the gradient of what is repeated
}

func newDrawnProduct(name string, call func(s *Scope, x, w, b *Tensor) *Tensor, x, w, b *drawnOperand, biased bool) *drawnProduct {
	p := &drawnProduct{name: name, call: call, operands: []*drawnOperand{x, w}}
	if biased {
		p.operands = append(p.operands, b)
	}
	return p
}

// sums sets terms and repeats.
func (p *drawnProduct) sums(n ...int) {
	p.terms, p.repeats = n[:1+len(p.operands)], []int{1}
	for _, o := range p.operands {
		p.repeats = append(p.repeats, o.repeats)
	}
}

func (p *drawnProduct) String() string {
	return fmt.Sprintf("seed %d: %s of %v", p.seed, p.name, p.operands)
}

// drawMatMul draws a product of matrices with at most so many multiply-adds.
func (r sizeDraw) drawMatMul(most int) *drawnProduct {
	batch, m, n, k := 1, r.size(900), r.size(900), r.size(1500)
	if r.coin(3) {
		batch = 1 + r.IntN(5)
	}
	for batch*m*n*k > most {
		switch r.IntN(4) {
		case 0:
			batch = (batch + 1) / 2
		case 1:
			m = m*2/3 + 1
		case 2:
			n = n*2/3 + 1
		case 3:
			k = k*2/3 + 1
		}
	}
	a, b := []int{m, k}, []int{k, n}
	kind := r.IntN(3) // matmul, linear, addmm
	if batch > 1 && kind < 2 {
		a = append([]int{batch}, a...)
		if kind == 0 && !r.coin(3) {
			b = append([]int{batch}, b...)
		}
	} else {
		batch = 1
	}
	if kind == 1 {
		b = []int{n, k}
	}
	biased := kind == 2 || kind == 1 && !r.coin(3)
	calls := []func(s *Scope, x, w, b *Tensor) *Tensor{
		func(s *Scope, x, w, _ *Tensor) *Tensor { return MatMul(s, x, w) },
		Linear,
		func(s *Scope, x, w, b *Tensor) *Tensor { return Addmm(s, b, x, w, 1, 1) },
	}
	p := newDrawnProduct([]string{"matmul", "linear", "addmm"}[kind], calls[kind], r.operand(a...), r.operand(b...), r.operand(n), biased)
	p.sums(k, n, batch*m, batch*m)
	return p
}

// drawConv draws a convolution of one to three dimensions, transposed or not.
func (r sizeDraw) drawConv(most int) *drawnProduct {
	dims := []int{1, 2, 2, 2, 3}[r.IntN(5)]
	turned := r.coin(4)
	groups := []int{1, 1, 1, 2, 4, 0}[r.IntN(6)]
	in, out := r.size(160), r.size(200)
	if groups == 0 { // a group for each channel
		groups, in, out = in, 1, 1+r.IntN(2)
	} else {
		in, out = (in+groups-1)/groups, (out+groups-1)/groups
	}
	images := r.size(70)
	size, kernel, stride, padding, dilation := make([]int, dims), make([]int, dims), make([]int, dims), make([]int, dims), make([]int, dims)
	for d := range dims {
		kernel[d], stride[d], dilation[d] = 1+r.IntN(4), 1, 1
		if r.coin(3) {
			stride[d] = 1 + r.IntN(patchStride+1)
		}
		if r.coin(4) {
			dilation[d] = 1 + r.IntN(3)
		}
		padding[d] = r.IntN(1 + dilation[d]*(kernel[d]-1))
		size[d] = dilation[d]*(kernel[d]-1) + r.size([]int{0, 300, 36, 12}[dims])
	}
	for { // the gradient of the input, and a transposed convolution, take a product for each element of the input at most
		if images*groups*in*out*length(size)*length(kernel) <= most {
			break
		}
		switch d := r.IntN(dims); r.IntN(4) {
		case 0:
			images = (images + 1) / 2
		case 1:
			in = (in + 1) / 2
		case 2:
			out = (out + 1) / 2
		case 3:
			size[d] = max(dilation[d]*(kernel[d]-1)+1, size[d]*2/3)
		}
		if images*in*out == 1 {
			groups = (groups + 1) / 2
		}
	}
	opts, more := []WindowOption{Stride(stride...), Dilation(dilation...), Groups(groups)}, make([]int, dims)
	switch {
	case turned:
		for d := range dims {
			more[d] = r.IntN(max(stride[d], dilation[d]))
		}
		opts = append(opts, Padding(padding...), OutputPadding(more...))
	case slices.Max(stride) == 1 && r.coin(3):
		opts = append(opts, SamePadding())
	default:
		opts = append(opts, Padding(padding...))
	}
	x, w := append([]int{images, groups * in}, size...), append([]int{groups * out, in}, kernel...)
	convs := []func(s *Scope, x, w, b *Tensor, opts ...WindowOption) *Tensor{1: Conv1d, 2: Conv2d, 3: Conv3d}
	name := "conv"
	if turned {
		w = append([]int{groups * in, out}, kernel...)
		convs = []func(s *Scope, x, w, b *Tensor, opts ...WindowOption) *Tensor{1: ConvTranspose1d, 2: ConvTranspose2d, 3: ConvTranspose3d}
		name = "conv_transpose"
	}
	taps, positions := length(kernel), images*length(size)
	if turned {
		positions *= length(stride) // the result's, about
	}
	p := newDrawnProduct(fmt.Sprintf("%s%dd, stride %v padding %v and %v dilation %v groups %d,", name, dims, stride, padding, more, dilation, groups),
		func(s *Scope, x, w, b *Tensor) *Tensor { return convs[dims](s, x, w, b, opts...) }, r.operand(x...), r.operand(w...), r.operand(groups*out), r.coin(2))
	p.sums(in*taps, out*taps, positions, positions)
	return p
}

// drawProduct is the case of a seed.
func drawProduct(seed uint64, most int) *drawnProduct {
	r := sizeDraw{rand.New(rand.NewPCG(seed, 1))}
	var p *drawnProduct
	if r.coin(3) {
		p = r.drawMatMul(most)
	} else {
		p = r.drawConv(most)
	}
	p.seed = seed
	return p
}

// run is compute on a machine.
func (p *drawnProduct) run(m machine, drawn, dt DType) (out outcome) {
	m.on(func() { out = p.compute(drawn, dt) })
	return out
}

// compute gives the product and its gradients, from operands drawn in one dtype, in another.
func (p *drawnProduct) compute(drawn, dt DType) outcome {
	s := NewScope(On("cpu"), Seed(p.seed))
	defer s.Close()
	var leaves []*Tensor
	in := make([]*Tensor, 3)
	for i, o := range p.operands {
		in[i] = o.take(s, drawn, dt, &leaves)
	}
	y := p.call(s, in[0], in[1], in[2])
	dy := To(s, To(s, Randn(s, Float32, 0, 1, y.Shape()...), drawn), dt)
	out := outcome{y.dt, [][]float64{y.Float64s()}}
	for _, g := range Grad(s, []*Tensor{y}, leaves, GradOutputs(dy)) {
		out.lists = append(out.lists, g.Float64s())
	}
	return out
}

// far says where a result is farther from the exact one than rounding explains: an element is a sum of terms about 1 in float32, rounded
// to the dtype. What is repeated may have the same gradient, and so the same rounding, each time: those add up, they don't cancel.
func (p *drawnProduct) far(got, exact outcome) string {
	eps := map[DType]float64{Float32: 0, BFloat16: 0x1p-8, Float16: 0x1p-11}[got.dt]
	for k, list := range exact.lists {
		if len(got.lists[k]) != len(list) {
			return fmt.Sprintf("list %d has %d elements, not %d", k, len(got.lists[k]), len(list))
		}
		repeats := float64(p.repeats[k])
		root := math.Sqrt(float64(p.terms[k]) * repeats)
		sum := math.Sqrt(float64(p.terms[k])) * repeats
		unit := eps + 0x1p-23*(1+root)
		if k == 0 && p.operands[0].repeats > 1 && p.operands[1].repeats > 1 { // equal terms, each of whose sums may round the same way
			unit += 0x1p-24 * float64(p.terms[0])
		}
		for i, v := range list {
			if got.dt == Float16 && math.Abs(v) > 3e4 {
				continue
			}
			if g := got.lists[k][i]; !(math.Abs(g-v) <= unit*(2*math.Abs(v)+8*sum)) {
				return fmt.Sprintf("%s element %d of %d is %v, not %v", append([]string{"result"}, "gradient of x", "gradient of w", "gradient of the bias")[k], i, len(list), g, v)
			}
		}
	}
	return ""
}

// productMachines are all ways to compute products that this machine has.
func productMachines() []machine {
	var all []machine
	for _, v := range cpu.Variants() {
		for d := cpu.Strict; d <= cpu.Tiles; d++ {
			if d > cpu.Strict && v != cpu.AVX512 {
				break
			}
			all = append(all, machine{mode: cpu.Mode{Variant: v}, dot: d})
		}
	}
	return all
}

// check compares the case in a dtype, on a machine with two numbers of threads, with float64; and the machines that have to give the same
// bits with each other.
func (p *drawnProduct) check(t *testing.T, dt DType, m machine, r *rand.Rand) {
	t.Helper()
	computesOnCPU(t)
	m.threads, m.poison = 1+r.IntN(3), 0xff
	other := m
	other.threads, other.poison = 1+(m.threads+r.IntN(2))%3, 0x3c
	exact, one, two := p.run(m, dt, Float64), p.run(m, dt, dt), p.run(other, dt, dt)
	how := fmt.Sprintf("%v\n\t%v on %v %v with %d threads", p, dt, m.mode.Variant, m.dot, m.threads)
	if d := p.far(one, exact); d != "" {
		t.Errorf("%s: %s", how, d)
	}
	if d := one.differs(two); d != "" {
		t.Errorf("%s and with %d: %s", how, other.threads, d)
	}
	if m.dot == cpu.Strict { // elsewhere sums have another order
		m.mode.Reproducible, other.mode = true, cpu.Mode{Variant: cpu.Variants()[r.IntN(len(cpu.Variants()))], Reproducible: true}
		if d := p.run(m, dt, dt).differs(p.run(other, dt, dt)); d != "" {
			t.Errorf("%s and on %v, reproducibly: %s", how, other.mode.Variant, d)
		}
	}
}

// checkProducts checks the cases of some seeds, which do not depend on the machine.
func checkProducts(t *testing.T, first uint64, n, most int) {
	t.Helper()
	machines, dtypes := productMachines(), []DType{Float32, BFloat16, Float16}
	for seed := first; seed < first+uint64(n) && !t.Failed(); seed++ {
		r := rand.New(rand.NewPCG(seed, 2))
		p := drawProduct(seed, most)
		p.check(t, dtypes[r.IntN(len(dtypes))], machines[r.IntN(len(machines))], r)
	}
}

func TestDrawnProducts(t *testing.T) { checkProducts(t, 1, 100, 1<<21) }

// TestTallTransposedProducts: products of matrices whose columns lie together, with more rows than are widened at once, and few columns.
func TestTallTransposedProducts(t *testing.T) {
	r := sizeDraw{rand.New(rand.NewPCG(5, 6))}
	for _, dt := range []DType{BFloat16, Float16} {
		for _, m := range productMachines() {
			for _, n := range []int{9, 270} {
				x := &drawnOperand{shape: []int{1057, 33}, leaf: []int{33, 1057}, d: 0, e: 1, first: -1, repeats: 1}
				w := &drawnOperand{shape: []int{33, n}, leaf: []int{33, n}, first: -1, repeats: 1}
				p := newDrawnProduct("matmul", func(s *Scope, x, w, _ *Tensor) *Tensor { return MatMul(s, x, w) }, x, w, nil, false)
				p.sums(33, n, 1057)
				p.check(t, dt, m, r.Rand)
			}
		}
	}
}

// TestConvStrides: windows as far apart as patches take them, and farther, in every dtype on every kernel.
func TestConvStrides(t *testing.T) {
	r := sizeDraw{rand.New(rand.NewPCG(3, 4))}
	for _, dt := range []DType{Float32, BFloat16, Float16} {
		for _, m := range productMachines() {
			for stride := 1; stride <= patchStride+1; stride++ {
				opts := []WindowOption{Stride(stride), Padding(1)}
				plain := func(shape ...int) *drawnOperand {
					return &drawnOperand{shape: shape, leaf: shape, first: -1, repeats: 1}
				}
				p := newDrawnProduct(fmt.Sprintf("conv2d, stride %d,", stride), func(s *Scope, x, w, b *Tensor) *Tensor { return Conv2d(s, x, w, b, opts...) },
					plain(3, 18, 11*stride, 16*stride), plain(21, 18, 3, 4), plain(21), true)
				p.sums(18*12, 21*12, 3*11*16, 3*11*16)
				p.check(t, dt, m, r.Rand)
			}
		}
	}
}

// TestConvLongRows: rows that boxes cut, into pieces of odd length too.
func TestConvLongRows(t *testing.T) {
	r := sizeDraw{rand.New(rand.NewPCG(5, 6))}
	plain := func(shape ...int) *drawnOperand {
		return &drawnOperand{shape: shape, leaf: shape, first: -1, repeats: 1}
	}
	for _, c := range []struct{ channels, long int }{{1024, 190}, {514, 2 * 171}, {130, 2002}} {
		for _, dt := range []DType{Float32, BFloat16, Float16} {
			for _, m := range productMachines() {
				if (m.dot == cpu.Strict) != (dt == Float32) {
					continue
				}
				p := newDrawnProduct("conv1d", func(s *Scope, x, w, b *Tensor) *Tensor { return Conv1d(s, x, w, b, Padding(1)) },
					plain(1, c.channels, c.long), plain(33, c.channels, 3), plain(33), true)
				p.sums(c.channels*3, 33*3, c.long, c.long)
				p.check(t, dt, m, r.Rand)
			}
		}
	}
}
