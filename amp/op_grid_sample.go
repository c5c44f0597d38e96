package amp

import (
	"slices"
	"sync"

	"github.com/halftone-ml/halftone/amp/internal/cpu"
)

// grid_sample reads an image at places that are themselves tensors. Both rows take the order of a derivative to the grid for each
// dimension in Attrs.Dims, so that between them they are closed under differentiation: gradients of any order are table ops, where
// PyTorch has the first alone.

var opGridSample, opGridSampleBackward, opAffineGrid *Op

func init() {
	opGridSample = define(Op{
		Name: "grid_sample", Doc: "x interpolated at the places of a grid whose coordinates are -1 and 1 at the ends", Args: []string{"x", "grid"}, Class: Promote, CPUList: FP32,
		Why: "multiplies weights by numbers of different origin, so none may be narrowed", CUDA: "grid_sample", Saves: SaveIn0 | SaveIn1, Wide: true,
		Check: func(c *Call) []int {
			k := checkGrid(c, c.In[0].shape)
			return append(slices.Clone(c.In[0].shape[:2]), c.In[1].shape[1:1+k]...)
		},
		CPU: gridSampleCPU,
		Backward: func(b *Back) {
			a := b.Attrs()
			if b.Needs(0) {
				a := a
				a.Shape = b.Shape(0)
				b.Set(0, b.S.apply(opGridSampleBackward, a, b.DY, b.In(1)))
			}
			if b.Needs(1) {
				b.Set(1, gridGradient(b.S, a, b.In(0), b.DY, b.In(1)))
			}
		},
	})
	opGridSampleBackward = define(Op{
		Name: "grid_sample_backward", Doc: "dy added up, times the weights, at the places that grid_sample read", Args: []string{"dy", "grid"}, Why: "runs in the dtype its forward ran in",
		CUDA: "grid_sample_backward", Saves: SaveIn0 | SaveIn1, Wide: true,
		Check: func(c *Call) []int { checkGrid(c, c.Shape); return c.Shape },
		CPU:   gridSampleBackwardCPU,
		Backward: func(b *Back) {
			a := b.Attrs()
			a.Shape = nil
			if b.Needs(0) {
				b.Set(0, b.S.apply(opGridSample, a, b.DY, b.In(1)))
			}
			if b.Needs(1) {
				b.Set(1, gridGradient(b.S, a, b.DY, b.In(0), b.In(1)))
			}
		},
	})
	opAffineGrid = define(Op{
		Name: "affine_grid", Doc: "the grid that shows an image moved by a matrix", Args: []string{"theta"}, Why: "PyTorch decomposes it: its product is lowered, so that places have half precision; make the grid outside of autocast", CUDA: "affine_grid",
		Composite: []string{"expand", "transpose", "matmul", "reshape"}, Parts: Apart,
	})
}

// gridGradient is the gradient to the grid of Σ dy·sample(x, grid): a coordinate at a time, summed over the channels.
func gridGradient(s *Scope, a Attrs, x, dy, grid *Tensor) *Tensor {
	k := len(a.Dims)
	parts := make([]*Tensor, k)
	for i := range parts { // the first coordinate is that of the last dimension
		a.Dims = slices.Clone(a.Dims)
		a.Dims[k-1-i]++
		parts[i] = Sum(s, Mul(s, dy, s.apply(opGridSample, a, x, grid)), 1)
		a.Dims = slices.Clone(a.Dims)
		a.Dims[k-1-i]--
	}
	return Stack(s, -1, parts...)
}

// checkGrid checks an input of shape x against the grid and returns the number of spatial dimensions.
func checkGrid(c *Call, x []int) int {
	c.floats()
	grid := c.In[1].shape
	k := len(x) - 2
	switch {
	case k < 2 || k > 3 || len(grid) != k+2 || grid[0] != x[0] || grid[k+1] != k:
		fail("grid_sample", ErrShape, "use x [n channels h w] with a grid [n h' w' 2], or x [n channels d h w] with a grid [n d' h' w' 3]", "%s", c.shapes())
	case slices.Contains(x[2:], 0):
		fail("grid_sample", ErrShape, "sample an image with elements", "%s", c.shapes())
	case k == 3 && gridModeOf(&c.Attrs).interpolation == "bicubic":
		fail("grid_sample", ErrArgument, "use \"bilinear\" or \"nearest\" for volumes", "mode \"bicubic\" of %s", c.shapes())
	}
	return k
}

// points are the places of the grid of one image, and the pieces of x that each reads.
type points struct {
	mode   gridMode
	size   []int // spatial sizes of the image
	orders []int
	grid   *Tensor
	count  int
	where  [16]int
	weight [16]float64
}

// at fills where and weight with the elements, numbered in the image, that point p of image n reads; it returns their number.
func (g *points) at(n, p int) int {
	k := len(g.size)
	off := g.grid.off + n*g.grid.strides[0]
	for d := k; d >= 1; d-- {
		off += p % g.grid.shape[d] * g.grid.strides[d]
		p /= g.grid.shape[d]
	}
	g.count, g.where[0], g.weight[0] = 1, 0, 1
	var taps axisTaps
	for d, size := range g.size {
		g.mode.taps(&taps, g.grid.at(off+(k-1-d)*g.grid.strides[k+1]), size, g.orders[d])
		old, oldWeight, m := g.where, g.weight, g.count
		g.count = 0
		for i := range m {
			for j := range taps.n {
				g.where[g.count] = old[i]*size + taps.index[j]
				g.weight[g.count] = oldWeight[i] * taps.weight[j]
				g.count++
			}
		}
	}
	return g.count
}

var pointsPool = sync.Pool{New: func() any { return new(points) }}

func (c *Call) points(image []int) *points {
	g := pointsPool.Get().(*points)
	g.mode, g.size, g.orders, g.grid = gridModeOf(&c.Attrs), image[2:], c.Dims, c.In[1]
	return g
}

// gridSampleCPU reads in float64; a worker takes a piece of an image's points for all channels.
func gridSampleCPU(c *Call) {
	x, out := c.In[0], c.Out
	n, channels, image, count := x.shape[0], x.shape[1], length(x.shape[2:]), length(out.shape[2:])
	if out.Len() == 0 {
		return
	}
	values, pooled := inFloat64(x)
	defer rowPool.Put(pooled)
	pieces := (count + chunk - 1) / chunk
	cpu.Parallel(n*pieces, grainOf(16*chunk*channels), func(lo, hi int) {
		g := c.points(x.shape)
		p := rowPool.Get().(*[]float64)
		defer func() { rowPool.Put(p); pointsPool.Put(g) }()
		sums := sized(p, channels*chunk)
		for i := lo; i < hi; i++ {
			batch, first := i/pieces, i%pieces*chunk
			m := min(chunk, count-first)
			for j := range m {
				terms := g.at(batch, first+j)
				for ch := range channels {
					part := values[(batch*channels+ch)*image:][:image]
					sum := 0.0
					for t := range terms {
						sum += float64(g.weight[t] * part[g.where[t]])
					}
					sums[ch*chunk+j] = sum
				}
			}
			for ch := range channels {
				store(out, out.off+(batch*channels+ch)*count+first, sums[ch*chunk:ch*chunk+m])
			}
		}
	})
}

// gridSampleBackwardCPU adds up in float64; a worker takes some channels of an image and goes through all points in order.
func gridSampleBackwardCPU(c *Call) {
	dy, out := c.In[0], c.Out
	n, channels, image, count := c.Shape[0], c.Shape[1], length(c.Shape[2:]), length(dy.shape[2:])
	if out.Len() == 0 {
		return
	}
	const group = 8 // channels that share the work of finding the places
	groups := (channels + group - 1) / group
	values, pooled := inFloat64(dy)
	defer rowPool.Put(pooled)
	cpu.Parallel(n*groups, grainOf(16*group*count), func(lo, hi int) {
		g := c.points(c.Shape)
		p := rowPool.Get().(*[]float64)
		defer func() { rowPool.Put(p); pointsPool.Put(g) }()
		for i := lo; i < hi; i++ {
			batch, first := i/groups, i%groups*group
			m := min(group, channels-first)
			sums := sized(p, m*image)
			clear(sums)
			for j := range count {
				terms := g.at(batch, j)
				for ch := range m {
					v := values[(batch*channels+first+ch)*count+j]
					for t := range terms {
						sums[ch*image+g.where[t]] += float64(g.weight[t] * v)
					}
				}
			}
			store(out, out.off+(batch*channels+first)*image, sums)
		}
	})
}

// inFloat64 returns the elements of t in row-major order as float64, in pooled memory that the caller gives back.
func inFloat64(t *Tensor) ([]float64, *[]float64) {
	p := rowPool.Get().(*[]float64)
	buf := sized(p, t.Len())
	w := newRowWalk(&Tensor{dt: t.dt, shape: t.shape, strides: contiguousStrides(t.shape)}, t)
	w.run(func(off [4]int, n int) { load(buf[off[0]:off[0]+n], t, off[1], w.step[1]) })
	return buf, p
}

func contiguousStrides(shape []int) []int {
	t := &Tensor{}
	t.layout(shape)
	return t.strides
}

// A GridSampling says how GridSample interpolates.
type GridSampling struct {
	Mode         string // "bilinear" (the default; trilinear for volumes), "nearest" or, for images, "bicubic"
	Padding      string // what lies outside: "zeros" (the default), "border" or "reflection"
	AlignCorners bool   // -1 and 1 are the centers of the outermost elements, not their edges
}

// GridSample returns x [n channels h w] read at the places of grid [n h' w' 2], whose last dimension is (x, y) with -1 and 1 at the
// ends: [n channels h' w']; volumes likewise with (x, y, z). Gradients flow to x and to the grid, of any order. Weights and sums are
// float64. Under autocast in the wider dtype of x and grid. It panics with ErrArgument for an unknown mode.
func GridSample(s *Scope, x, grid *Tensor, o GridSampling) *Tensor {
	opGridSample.need(x, grid)
	if o.Mode == "" {
		o.Mode = "bilinear"
	}
	if o.Padding == "" {
		o.Padding = "zeros"
	}
	if !slices.Contains([]string{"bilinear", "nearest", "bicubic"}, o.Mode) || !slices.Contains([]string{"zeros", "border", "reflection"}, o.Padding) {
		fail("grid_sample", ErrArgument, `use the modes "bilinear", "nearest" or "bicubic" and the paddings "zeros", "border" or "reflection"`, "mode %q, padding %q", o.Mode, o.Padding)
	}
	return s.apply(opGridSample, Attrs{Mode: o.Mode + " " + o.Padding, Keep: o.AlignCorners, Dims: make([]int, max(len(x.shape)-2, 0))}, x, grid)
}

// AffineGrid returns the grid for GridSample that shows an image of the given size [n channels h w] moved by theta [n 2 3], or a volume
// [n channels d h w] by theta [n 3 4]: the places theta·(x, y, 1). Under autocast the product is lowered, as in PyTorch: make the grid
// outside of it, since half precision can't tell neighboring pixels of a large image apart.
func AffineGrid(s *Scope, theta *Tensor, size []int, alignCorners bool) *Tensor {
	s, in := s.enter(opAffineGrid, theta)
	theta = in[0]
	k := len(size) - 2
	if k < 2 || k > 3 || !slices.Equal(theta.shape, []int{size[0], k, k + 1}) {
		fail("affine_grid", ErrShape, "use theta [n 2 3] with a size [n channels h w], or theta [n 3 4] with [n channels d h w]", "theta %v, size %v", theta.shape, size)
	}
	count := length(size[2:])
	base := made(s, "affine_grid", theta.dt, []int{count, k + 1}, func(i int) float64 {
		p, axis := i/(k+1), i%(k+1)
		if axis == k {
			return 1
		}
		d := k - 1 - axis
		p /= length(size[2+d+1:])
		n := size[2+d]
		switch at := p % n; {
		case alignCorners && n > 1:
			return 2*float64(at)/float64(n-1) - 1
		case alignCorners:
			return 0
		default:
			return (2*float64(at)+1)/float64(n) - 1
		}
	})
	grid := MatMul(s, Expand(s, s.Own(base), size[0], count, k+1), Transpose(s, theta, 1, 2))
	return Reshape(s, grid, append(append([]int{size[0]}, size[2:]...), k)...)
}
