package amp

import (
	"fmt"
	"slices"

	"github.com/halftone-ml/halftone/internal/optional"
)

// A WindowOption says how a convolution or pool moves over its input. Numbers are given once for all spatial dimensions, or one for
// each of them, outermost first.
type WindowOption func(*windowConfig)

type windowConfig struct {
	Window
	op      string // whose options these are, for messages
	same    bool
	divisor int
	output  []int // of unpooling, nil unless given
	set     map[string]bool
}

func (c *windowConfig) note(option string) {
	if c.set == nil {
		c.set = map[string]bool{}
	}
	c.set[option] = true
}

// Kernel gives a window whose sides differ: amp.Kernel(3, 5) is 3 high and 5 wide.
func Kernel(n ...int) WindowOption {
	return func(c *windowConfig) { c.Kernel = n; c.note("Kernel") }
}

// Stride sets the distance of neighboring windows. The default is 1 for convolutions and the kernel size for pools.
func Stride(n ...int) WindowOption {
	return func(c *windowConfig) { c.Stride = n; c.note("Stride") }
}

// Padding adds elements on both sides of each dimension: zeros for convolutions, -∞ for max pools. The default is 0.
func Padding(n ...int) WindowOption {
	return func(c *windowConfig) { c.Padding, c.same = n, false; c.note("Padding") }
}

// SamePadding pads a convolution of stride 1 so that the result has the size of the input; where the padding is odd, the end gets
// one more.
func SamePadding() WindowOption {
	return func(c *windowConfig) { c.Padding, c.same = nil, true; c.note("SamePadding") }
}

// ValidPadding pads nothing: the default.
func ValidPadding() WindowOption {
	return func(c *windowConfig) { c.Padding, c.same = nil, false; c.note("ValidPadding") }
}

// Dilation sets the distance of the elements of a window. The default is 1.
func Dilation(n ...int) WindowOption {
	return func(c *windowConfig) { c.Dilation = n; c.note("Dilation") }
}

// Groups splits the channels of a convolution into n groups that do not mix. The default is 1.
func Groups(n int) WindowOption {
	return func(c *windowConfig) { c.Groups = n; c.note("Groups") }
}

// OutputPadding adds to one side of the result of a transposed convolution, whose size the stride leaves open.
func OutputPadding(n ...int) WindowOption {
	return func(c *windowConfig) { c.OutputPadding = n; c.note("OutputPadding") }
}

// CeilMode rounds the result's size of a pool up: a last window may stick out at the end.
func CeilMode() WindowOption {
	return func(c *windowConfig) { c.Ceil = true; c.note("CeilMode") }
}

// ExcludePadding makes an average pool divide by the elements that are no padding (count_include_pad false).
func ExcludePadding() WindowOption {
	return func(c *windowConfig) { c.CountPadding = false; c.note("ExcludePadding") }
}

// Divisor makes an average pool divide by n, whatever a window holds (divisor_override).
func Divisor(n int) WindowOption {
	return func(c *windowConfig) { c.divisor = n; c.note("Divisor") }
}

var (
	convOptions          = []string{"Stride", "Padding", "SamePadding", "ValidPadding", "Dilation", "Groups"}
	convTransposeOptions = []string{"Stride", "Padding", "ValidPadding", "Dilation", "Groups", "OutputPadding"}
	maxPoolOptions       = []string{"Kernel", "Stride", "Padding", "Dilation", "CeilMode"}
	avgPoolOptions       = []string{"Kernel", "Stride", "Padding", "CeilMode", "ExcludePadding", "Divisor"}
)

// newWindow resolves the options of an op of the given spatial rank; allowed names those that it takes.
func newWindow(op string, rank int, kernel []int, opts []WindowOption, allowed []string) *windowConfig {
	c := &windowConfig{op: op, Window: Window{Kernel: kernel, Groups: 1, CountPadding: true}}
	optional.Apply(op, opts, c, misused)
	for name := range c.set {
		if !slices.Contains(allowed, name) {
			fail(op, ErrArgument, "leave it out", "amp.%s is no option of %s", name, op)
		}
	}
	c.Kernel = c.each("kernel", c.Kernel, rank, 1, 1)
	c.Stride = c.each("stride", c.Stride, rank, 1, 1)
	c.Padding = c.each("padding", c.Padding, rank, 0, 0)
	c.Dilation = c.each("dilation", c.Dilation, rank, 1, 1)
	c.OutputPadding = c.each("output padding", c.OutputPadding, rank, 0, 0)
	if c.Groups < 1 {
		fail(op, ErrArgument, "use 1 group or more", "%d groups", c.Groups)
	}
	return c
}

// windowLimit keeps sizes in the range where their sums and products cannot overflow.
const windowLimit = 1 << 30

// each returns one number per dimension, not below least; none given means standard.
func (c *windowConfig) each(what string, n []int, rank, standard, least int) []int {
	if n == nil {
		n = []int{standard}
	}
	if len(n) != 1 && len(n) != rank {
		fail(c.op, ErrArgument, fmt.Sprintf("give one number, or %d", rank), "%d numbers of %s: %v", len(n), what, n)
	}
	out := make([]int, rank)
	for d := range out {
		v := n[min(d, len(n)-1)]
		if v < least || v > windowLimit {
			fail(c.op, ErrArgument, fmt.Sprintf("use numbers from %d to %d", least, windowLimit), "%s %v", what, n)
		}
		out[d] = v
	}
	return out
}

// extent is the number of elements that a window spans in dimension d.
func (w *Window) extent(d int) int { return w.Dilation[d]*(w.Kernel[d]-1) + 1 }

// pads returns the padding before and after dimension d: Padding holds one number per dimension, or the ends after the beginnings.
func (w *Window) pads(d int) (before, after int) {
	before = w.Padding[d]
	if rank := len(w.Kernel); len(w.Padding) == 2*rank {
		return before, w.Padding[rank+d]
	}
	return before, before
}
