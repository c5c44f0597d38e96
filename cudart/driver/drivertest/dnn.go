//go:build linux && (amd64 || arm64)

package drivertest

import (
	"errors"
	"slices"
	"testing"

	"github.com/halftone-ml/halftone/cudart/driver"
)

// convolutions are what RunDNN computes, forward; the sizes divide by 8, which tensor cores ask for, or do not.
func convolutions() []driver.Convolution {
	base := func(rank int, x, w, y [5]int) driver.Convolution {
		return driver.Convolution{Rank: rank, X: x, W: w, Y: y, Stride: [3]int{1, 1, 1}, Dilation: [3]int{1, 1, 1}, Align: 16, Workspace: 1 << 30}
	}
	plain := base(2, [5]int{2, 8, 6, 8}, [5]int{16, 8, 3, 3}, [5]int{2, 16, 6, 8})
	plain.Before, plain.After = [3]int{1, 1}, [3]int{1, 1}
	strided := base(2, [5]int{1, 3, 9, 8}, [5]int{5, 3, 3, 2}, [5]int{1, 5, 5, 3})
	strided.Stride, strided.Dilation, strided.Before, strided.After = [3]int{2, 3}, [3]int{1, 1}, [3]int{1, 1}, [3]int{1, 0}
	groups := base(2, [5]int{2, 4, 5, 5}, [5]int{6, 2, 3, 3}, [5]int{2, 6, 3, 3})
	deep := base(3, [5]int{1, 2, 3, 4, 4}, [5]int{4, 2, 2, 3, 1}, [5]int{1, 4, 2, 2, 4})
	return []driver.Convolution{plain, strided, groups, deep}
}

// convTensors are those of a convolution.
type convTensors struct{ x, w, y, bias matrix }

func count(shape [5]int, rank int) int {
	n := 1
	for _, d := range shape[:rank+2] {
		n *= d
	}
	return n
}

// index returns an element's place; spatial dimensions count from the last.
func index(shape [5]int, rank, a, b int, at [3]int) int {
	i := a*shape[1] + b
	for d := range rank {
		i = i*shape[2+d] + at[d]
	}
	return i
}

// each calls f for all places of a shape's spatial dimensions.
func each(shape [5]int, rank int, f func(at [3]int)) {
	size := [3]int{1, 1, 1}
	copy(size[:], shape[2:2+rank])
	for p := range size[0] {
		for q := range size[1] {
			for r := range size[2] {
				f([3]int{p, q, r})
			}
		}
	}
}

// want returns the tensor that a convolution computes, and the number of products in the longest sum, by the definition: every product
// x·w belongs to one y.
func want(c *driver.Convolution, m *convTensors) []float64 {
	x, w, y := m.x.values, m.w.values, m.y.values
	out := make([]float64, len(map[driver.ConvolutionKind][]float64{driver.ConvolutionForward: y, driver.ConvolutionData: x, driver.ConvolutionFilter: w}[c.Kind]))
	perOut, perIn := c.W[0]*c.W[1]/c.X[1], c.W[1]
	for n := range c.Y[0] {
		for k := range c.Y[1] {
			each(c.Y, c.Rank, func(o [3]int) {
				for ch := range perIn {
					each(c.W, c.Rank, func(tap [3]int) {
						var i [3]int
						for d := range c.Rank {
							if i[d] = o[d]*c.Stride[d] + tap[d]*c.Dilation[d] - c.Before[d]; i[d] < 0 || i[d] >= c.X[2+d] {
								return
							}
						}
						xi := index(c.X, c.Rank, n, k/perOut*perIn+ch, i)
						wi, yi := index(c.W, c.Rank, k, ch, tap), index(c.Y, c.Rank, n, k, o)
						switch c.Kind {
						case driver.ConvolutionForward:
							out[yi] += x[xi] * w[wi]
						case driver.ConvolutionData:
							out[xi] += y[yi] * w[wi]
						case driver.ConvolutionFilter:
							out[wi] += y[yi] * x[xi]
						}
					})
				}
			})
		}
	}
	if c.Bias {
		per := len(out) / c.Y[0] / c.Y[1]
		for i := range out {
			out[i] += m.bias.values[i/per%c.Y[1]]
		}
	}
	return out
}

// RunDNN checks convolutions of every kind against sums in float64, and that what is queued can be captured. path is cuDNN's.
func RunDNN(t *testing.T, d driver.Driver, path string) {
	s, st := begin(t, d)
	n, err := driver.NewDNN(d, path)
	if errors.Is(err, driver.ErrUnsupported) {
		t.Skip(err)
	}
	check(t, err)
	check(t, n.SetStream(st))
	t.Logf("%s is version %d", n.Path(), n.Version())
	for _, dt := range []driver.DataType{driver.Float16, driver.BFloat16, driver.Float32} {
		for i, c := range convolutions() {
			for kind := range driver.ConvolutionFilter + 1 {
				c.Type, c.Kind, c.Bias = dt, kind, kind == driver.ConvolutionForward && i%2 == 0
				s.convolution(t, n, st, &c)
			}
		}
	}
	wrong := convolutions()[0]
	wrong.Type, wrong.Y[3] = driver.Float16, 7
	for range 2 { // the second time from what is kept
		if p, err := n.Plan("conv2d", wrong); !errors.Is(err, driver.ErrUnsupported) {
			t.Errorf("a result of another size has plan %v, %v", p, err)
		}
	}
	little := convolutions()[0]
	little.Type, little.Workspace = driver.Float16, 0
	if p, err := n.Plan("conv2d", little); err == nil && p.Workspace > 0 {
		t.Errorf("a plan wants %d bytes where there are none", p.Workspace)
	}
	check(t, n.Close())
}

func (s *suite) convolution(t *testing.T, n *driver.DNN, st driver.Stream, c *driver.Convolution) {
	p, err := n.Plan("conv", *c)
	if errors.Is(err, driver.ErrUnsupported) && c.Before != c.After {
		t.Log(err)
		return
	}
	check(t, err)
	m := &convTensors{x: s.matrix(t, c.Type, count(c.X, c.Rank), 1), w: s.matrix(t, c.Type, count(c.W, c.Rank), 2), y: s.matrix(t, c.Type, count(c.Y, c.Rank), 3)}
	if c.Bias {
		m.bias = s.matrix(t, c.Type, c.Y[1], 4)
	}
	work := s.alloc(t, int(max(p.Workspace, 1)))
	result := map[driver.ConvolutionKind]*matrix{driver.ConvolutionForward: &m.y, driver.ConvolutionData: &m.x, driver.ConvolutionFilter: &m.w}[c.Kind]
	expected := want(c, m)
	convolve := func() error { return n.Convolve("conv", p, m.x.ptr, m.w.ptr, m.y.ptr, m.bias.ptr, work) }
	check(t, convolve(), s.d.SyncStream(st))
	got := s.read(t, *result)
	same(t, c.String(), c.Type, got, expected, 2*unit(c.Type)+1e-5*largest(expected))
	if c.Kind != driver.ConvolutionForward || c.Type != driver.Float16 {
		return
	}
	// The same as a node of a graph, over what was there.
	check(t, s.d.Memset8(result.ptr, 0, uint64(len(result.values)*c.Type.Size()), st), s.d.SyncStream(st))
	check(t, s.d.BeginCapture(st))
	queued := convolve()
	g, err := s.d.EndCapture(st)
	check(t, queued, err)
	x, err := s.d.Instantiate(g)
	check(t, err)
	check(t, s.d.LaunchGraph(x, st), s.d.SyncStream(st))
	if again := s.read(t, *result); !slices.Equal(again, got) {
		t.Errorf("%v: replayed, it gives another result", c)
	}
	check(t, s.d.DestroyGraphExec(x), s.d.DestroyGraph(g))
}
