package nn

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/internal/optional"
)

// Conv is a convolution of one, two or three spatial dimensions, or a transposed one.
type Conv struct {
	Weight *amp.Tensor // [out in/groups k…]; transposed [in out/groups k…]
	Bias   *amp.Tensor // [out], nil without
	reparametrized

	options []amp.WindowOption
	pads    []int  // of a padding mode other than zeros: before and after, last dimension first
	mode    string // of pads
	apply   func(s *amp.Scope, x, weight, bias *amp.Tensor, opts ...amp.WindowOption) *amp.Tensor
	name    string   // Conv2d …
	said    []string // the options but for those that its parameters show, for String
}

// A ConvOption configures a convolution: a WindowOption, NoBias or DType.
type ConvOption interface{ conv(c *convConfig) }

type convConfig struct {
	linearConfig
	kernel  []int
	groups  int
	options []amp.WindowOption // but for padding
	said    []string           // the options in words

	padding, dilation, stride []int
	same                      bool
	mode                      string
	before                    string // nonlinearity that the weight is drawn for, by Kaiming's normal rule and fan out; "": PyTorch's default
}

// drawnFor draws the weight as models do whose activations follow the convolution.
func drawnFor(nonlinearity string) ConvOption {
	return WindowOption{change: func(c *convConfig) { c.before = nonlinearity }}
}

func (o LinearOption) conv(c *convConfig) { o(&c.linearConfig) }

// A WindowOption says how a convolution or pool moves over its input; amp's options of the same names say what they mean.
type WindowOption struct {
	option amp.WindowOption
	change func(c *convConfig)
	said   string // the option in words, "" for one that the layer shows in another way
}

func (o WindowOption) conv(c *convConfig) {
	if o.change != nil {
		o.change(c)
	}
	if o.option != nil {
		c.options = append(c.options, o.option)
	}
	if o.said != "" {
		c.said = append(c.said, o.said)
	}
}

// words are an option with its numbers, as in "stride=2" and "padding=[1 2]".
func words(name string, n []int) string {
	if len(n) == 1 {
		return fmt.Sprintf("%s=%d", name, n[0])
	}
	return fmt.Sprintf("%s=%v", name, n)
}

// Kernel gives a window whose sides differ, in place of the layer's kernel.
func Kernel(n ...int) WindowOption {
	return WindowOption{change: func(c *convConfig) { c.kernel = n }}
}

// Stride sets the distance of neighboring windows.
func Stride(n ...int) WindowOption {
	return WindowOption{option: amp.Stride(n...), change: func(c *convConfig) { c.stride = n }, said: words("stride", n)}
}

// Padding adds elements on both sides of each dimension.
func Padding(n ...int) WindowOption {
	return WindowOption{change: func(c *convConfig) { c.padding, c.same = n, false }, said: words("padding", n)}
}

// SamePadding pads a convolution of stride 1 so that the size stays.
func SamePadding() WindowOption {
	return WindowOption{change: func(c *convConfig) { c.padding, c.same = nil, true }, said: "padding=same"}
}

// PaddingMode says what a convolution pads with: "zeros", the default, "reflect", "replicate" or "circular", as amp.Pad does.
func PaddingMode(mode string) WindowOption {
	return WindowOption{change: func(c *convConfig) { c.mode = mode }, said: "padding_mode=" + mode}
}

// Dilation sets the distance of the elements of a window.
func Dilation(n ...int) WindowOption {
	return WindowOption{option: amp.Dilation(n...), change: func(c *convConfig) { c.dilation = n }, said: words("dilation", n)}
}

// Groups splits the channels of a convolution into n groups that do not mix.
func Groups(n int) WindowOption {
	return WindowOption{option: amp.Groups(n), change: func(c *convConfig) { c.groups = n }, said: fmt.Sprintf("groups=%d", n)}
}

// OutputPadding adds to one side of the result of a transposed convolution.
func OutputPadding(n ...int) WindowOption {
	return WindowOption{option: amp.OutputPadding(n...), said: words("output_padding", n)}
}

// CeilMode rounds the size of a pool's result up.
func CeilMode() WindowOption { return WindowOption{option: amp.CeilMode(), said: "ceil_mode"} }

// ExcludePadding makes an average pool leave the padding out of its count.
func ExcludePadding() WindowOption {
	return WindowOption{option: amp.ExcludePadding(), said: "exclude_padding"}
}

// NewConv1d returns a convolution over sequences; see NewConv2d.
func NewConv1d(s *amp.Scope, in, out, kernel int, opts ...ConvOption) *Conv {
	return newConv(s, "NewConv1d", 1, in, out, kernel, opts, amp.Conv1d)
}

// NewConv2d returns a convolution of windows of kernel × kernel from in to out channels, x [n in h w] to [n out h' w']. Weight and
// bias are drawn from the scope's stream, uniform in ±1/√(in/groups·kernel²), as PyTorch initialises its Conv2d (Kaiming uniform
// with a = √5). Options: Kernel, Stride, Padding, SamePadding, PaddingMode, Dilation, Groups, NoBias, DType. It panics with amp.ErrArgument for
// sizes below 1, groups that do not divide the channels, or SamePadding with another stride than 1.
func NewConv2d(s *amp.Scope, in, out, kernel int, opts ...ConvOption) *Conv {
	return newConv(s, "NewConv2d", 2, in, out, kernel, opts, amp.Conv2d)
}

// NewConv3d returns a convolution over volumes; see NewConv2d.
func NewConv3d(s *amp.Scope, in, out, kernel int, opts ...ConvOption) *Conv {
	return newConv(s, "NewConv3d", 3, in, out, kernel, opts, amp.Conv3d)
}

// NewConvTranspose1d returns a transposed convolution over sequences; see NewConvTranspose2d.
func NewConvTranspose1d(s *amp.Scope, in, out, kernel int, opts ...ConvOption) *Conv {
	return newConv(s, "NewConvTranspose1d", 1, in, out, kernel, opts, amp.ConvTranspose1d)
}

// NewConvTranspose2d returns a transposed convolution from in to out channels. Weight and bias are drawn uniform in
// ±1/√(out/groups·kernel²), as PyTorch does. Options are those of NewConv2d but SamePadding and PaddingMode, and OutputPadding.
func NewConvTranspose2d(s *amp.Scope, in, out, kernel int, opts ...ConvOption) *Conv {
	return newConv(s, "NewConvTranspose2d", 2, in, out, kernel, opts, amp.ConvTranspose2d)
}

// NewConvTranspose3d returns a transposed convolution over volumes; see NewConvTranspose2d.
func NewConvTranspose3d(s *amp.Scope, in, out, kernel int, opts ...ConvOption) *Conv {
	return newConv(s, "NewConvTranspose3d", 3, in, out, kernel, opts, amp.ConvTranspose3d)
}

type convFunc = func(s *amp.Scope, x, weight, bias *amp.Tensor, opts ...amp.WindowOption) *amp.Tensor

func newConv(s *amp.Scope, name string, rank, in, out, kernel int, opts []ConvOption, apply convFunc) *Conv {
	c := convConfig{linearConfig: linearConfig{bias: true, dtype: amp.Float32}, kernel: []int{kernel}, groups: 1}
	optional.Given(name, opts, misused)
	for _, o := range opts {
		o.conv(&c)
	}
	if len(c.kernel) == 1 {
		c.kernel = slices.Repeat(c.kernel, rank)
	}
	checkSizes(name, append([]int{in, out, c.groups}, c.kernel...))
	if in%c.groups != 0 || out%c.groups != 0 || len(c.kernel) != rank {
		misused(name, fmt.Sprintf("use groups that divide both numbers of channels, and one side of the kernel or %d", rank), "%d and %d channels in %d groups, kernel %v", in, out, c.groups, c.kernel)
	}
	if c.same && slices.ContainsFunc(c.stride, func(n int) bool { return n != 1 }) {
		misused(name, "use nn.Padding, or stride 1", "SamePadding keeps the size, stride %v does not", c.stride)
	}
	rows, cols := out, in
	if strings.HasPrefix(name, "NewConvTranspose") {
		rows, cols = in, out
	}
	shape := append([]int{rows, cols / c.groups}, c.kernel...)
	fanIn, fanOut := fans(shape)
	bound := 1 / math.Sqrt(float64(fanIn))
	l := &Conv{options: c.options, apply: apply, name: strings.TrimPrefix(name, "New"), said: c.said}
	l.pad(name, &c, rank)
	if c.before != "" {
		l.Weight = amp.Randn(s, c.dtype, 0, Gain(c.before)/math.Sqrt(float64(fanOut)), shape...)
	} else {
		l.Weight = amp.Rand(s, c.dtype, -bound, bound, shape...)
	}
	l.Weight.SetName("weight").RequireGrad()
	if c.bias {
		l.Bias = amp.Rand(s, c.dtype, -bound, bound, out).SetName("bias").RequireGrad()
	}
	return l
}

// pad leaves the padding to the convolution, or in another mode than zeros works out what Forward pads.
func (l *Conv) pad(name string, c *convConfig, rank int) {
	switch c.mode {
	case "", "zeros":
		l.options = append(l.options, c.paddingOptions()...)
		return
	case "reflect", "replicate", "circular":
	default:
		misused(name, "use zeros, reflect, replicate or circular", "padding mode %q", c.mode)
	}
	if strings.HasPrefix(name, "NewConvTranspose") {
		misused(name, "pad a transposed convolution with zeros", "padding mode %q", c.mode)
	}
	l.mode = c.mode
	at := func(n []int, d, standard int) int {
		if len(n) == 0 {
			return standard
		}
		return n[min(d, len(n)-1)]
	}
	for d := rank - 1; d >= 0; d-- {
		before := at(c.padding, d, 0)
		after := before
		if c.same {
			total := at(c.dilation, d, 1) * (c.kernel[d] - 1)
			before, after = total/2, total-total/2
		}
		l.pads = append(l.pads, before, after)
	}
}

// paddingOptions hands the padding to amp.
func (c *convConfig) paddingOptions() []amp.WindowOption {
	switch {
	case c.same:
		return []amp.WindowOption{amp.SamePadding()}
	case c.padding != nil:
		return []amp.WindowOption{amp.Padding(c.padding...)}
	}
	return nil
}

// Forward returns the convolution of x.
func (l *Conv) Forward(s *amp.Scope, x *amp.Tensor) *amp.Tensor {
	built("Conv2d", l != nil && l.apply != nil)
	if l.pads != nil {
		x = amp.Pad(s, x, l.pads, l.mode, 0)
	}
	return l.apply(s, x, l.weight(s, l.Weight), l.Bias, l.options...)
}

// Parameters returns weight and bias.
func (l *Conv) Parameters() []*amp.Tensor { return l.parameters(l.Weight, l.Bias) }

func (l *Conv) parametrized() (**amp.Tensor, *reparametrized) { return &l.Weight, &l.reparametrized }
