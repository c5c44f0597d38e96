package nn

import (
	"strings"

	"github.com/halftone-ml/halftone/amp"
)

// Pools and other layers without parameters.

type poolFunc = func(s *amp.Scope, x *amp.Tensor, kernel int, opts ...amp.WindowOption) *amp.Tensor

// poolSettings are the window of a pool, and what it prints.
type poolSettings struct {
	kernel  int
	options []amp.WindowOption
	text    string
}

func newPoolSettings(name string, kernel int, opts []WindowOption) poolSettings {
	c := convConfig{kernel: []int{kernel}}
	for _, o := range opts {
		o.conv(&c)
	}
	c.options = append(c.options, c.paddingOptions()...)
	if len(c.kernel) > 1 {
		c.options = append(c.options, amp.Kernel(c.kernel...))
	} else if len(c.kernel) == 1 {
		kernel = c.kernel[0]
	}
	return poolSettings{kernel, c.options, name + "(" + strings.Join(append([]string{words("kernel", c.kernel)}, c.said...), ", ") + ")"}
}

// Parameters returns nil.
func (p poolSettings) Parameters() []*amp.Tensor { return nil }

// String is the name with the settings.
func (p poolSettings) String() string { return p.text }

func newPool(name string, f poolFunc, kernel int, opts []WindowOption) Module {
	p := newPoolSettings(name, kernel, opts)
	return shown{func(s *amp.Scope, x *amp.Tensor) *amp.Tensor { return f(s, x, p.kernel, p.options...) }, p.text}
}

// MaxPool1d takes the largest element of windows of kernel elements: amp.MaxPool1d.
func MaxPool1d(kernel int, opts ...WindowOption) Module {
	return newPool("MaxPool1d", amp.MaxPool1d, kernel, opts)
}

// MaxPool2d takes the largest element of windows of kernel × kernel elements: amp.MaxPool2d. Options: Kernel, Stride, Padding,
// Dilation, CeilMode.
func MaxPool2d(kernel int, opts ...WindowOption) Module {
	return newPool("MaxPool2d", amp.MaxPool2d, kernel, opts)
}

// MaxPool3d takes the largest element of windows of kernel × kernel × kernel elements: amp.MaxPool3d.
func MaxPool3d(kernel int, opts ...WindowOption) Module {
	return newPool("MaxPool3d", amp.MaxPool3d, kernel, opts)
}

// AvgPool1d takes the mean of windows of kernel elements: amp.AvgPool1d.
func AvgPool1d(kernel int, opts ...WindowOption) Module {
	return newPool("AvgPool1d", amp.AvgPool1d, kernel, opts)
}

// AvgPool2d takes the mean of windows of kernel × kernel elements: amp.AvgPool2d. Options: Kernel, Stride, Padding, CeilMode,
// ExcludePadding.
func AvgPool2d(kernel int, opts ...WindowOption) Module {
	return newPool("AvgPool2d", amp.AvgPool2d, kernel, opts)
}

// AvgPool3d takes the mean of windows of kernel × kernel × kernel elements: amp.AvgPool3d.
func AvgPool3d(kernel int, opts ...WindowOption) Module {
	return newPool("AvgPool3d", amp.AvgPool3d, kernel, opts)
}

// AdaptiveAvgPool1d takes the mean of size windows: amp.AdaptiveAvgPool1d.
func AdaptiveAvgPool1d(size int) Module {
	return shown{func(s *amp.Scope, x *amp.Tensor) *amp.Tensor { return amp.AdaptiveAvgPool1d(s, x, size) }, "AdaptiveAvgPool1d(" + words("size", []int{size}) + ")"}
}

// AdaptiveAvgPool2d takes the mean of size windows in each dimension: amp.AdaptiveAvgPool2d.
func AdaptiveAvgPool2d(size ...int) Module {
	return shown{func(s *amp.Scope, x *amp.Tensor) *amp.Tensor { return amp.AdaptiveAvgPool2d(s, x, size...) }, "AdaptiveAvgPool2d(" + words("size", size) + ")"}
}

// AdaptiveMaxPool2d takes the largest element of size windows in each dimension: amp.AdaptiveMaxPool2d.
func AdaptiveMaxPool2d(size ...int) Module {
	return shown{func(s *amp.Scope, x *amp.Tensor) *amp.Tensor { return amp.AdaptiveMaxPool2d(s, x, size...) }, "AdaptiveMaxPool2d(" + words("size", size) + ")"}
}

// AdaptiveAvgPool3d takes the mean of size windows in each dimension: amp.AdaptiveAvgPool3d.
func AdaptiveAvgPool3d(size ...int) Module {
	return shown{func(s *amp.Scope, x *amp.Tensor) *amp.Tensor { return amp.AdaptiveAvgPool3d(s, x, size...) }, "AdaptiveAvgPool3d(" + words("size", size) + ")"}
}

// AdaptiveMaxPool1d takes the largest element of size windows: amp.AdaptiveMaxPool1d.
func AdaptiveMaxPool1d(size int) Module {
	return shown{func(s *amp.Scope, x *amp.Tensor) *amp.Tensor { return amp.AdaptiveMaxPool1d(s, x, size) }, "AdaptiveMaxPool1d(" + words("size", []int{size}) + ")"}
}

// AdaptiveMaxPool3d takes the largest element of size windows in each dimension: amp.AdaptiveMaxPool3d.
func AdaptiveMaxPool3d(size ...int) Module {
	return shown{func(s *amp.Scope, x *amp.Tensor) *amp.Tensor { return amp.AdaptiveMaxPool3d(s, x, size...) }, "AdaptiveMaxPool3d(" + words("size", size) + ")"}
}

// Flatten makes one dimension of all but the first: [n c h w] to [n c·h·w].
var Flatten Module = shown{func(s *amp.Scope, x *amp.Tensor) *amp.Tensor {
	rest := 1
	for d := 1; d < x.Rank(); d++ {
		rest *= x.Dim(d)
	}
	return amp.Reshape(s, x, x.Dim(0), rest)
}, "Flatten()"}

// Identity returns its input.
var Identity Module = shown{func(_ *amp.Scope, x *amp.Tensor) *amp.Tensor { return x }, "Identity()"}

// Residual adds its input, or a shortcut of it, to what its body makes of it: y = body(x) + shortcut(x).
type Residual struct {
	Body     Module
	Shortcut Module // nil stands for the input itself
}

// NewResidual returns body with a shortcut around it, nil for none but the input. Parameters are named "body.…" and "shortcut.…". It
// panics with amp.ErrArgument for a nil body.
func NewResidual(body, shortcut Module) *Residual {
	if missing(body) || shortcut != nil && missing(shortcut) {
		misused("NewResidual", "give the module to go around, nn.Identity is one, and nil itself for no shortcut", "body or shortcut is a nil module")
	}
	r := &Residual{Body: body, Shortcut: shortcut}
	NameChildren(r)
	return r
}

// Forward returns body(x) + shortcut(x).
func (r *Residual) Forward(s *amp.Scope, x *amp.Tensor) *amp.Tensor {
	built("Residual", r != nil && !missing(r.Body))
	y := r.Body.Forward(s.In("body"), x)
	if r.Shortcut != nil {
		x = r.Shortcut.Forward(s.In("shortcut"), x)
	}
	return amp.Add(s, y, x)
}

// Children returns body and shortcut, if there is one.
func (r *Residual) Children() []Named {
	out := []Named{{"body", r.Body}}
	if r.Shortcut != nil {
		out = append(out, Named{"shortcut", r.Shortcut})
	}
	return out
}

// Parameters returns those of body and shortcut.
func (r *Residual) Parameters() []*amp.Tensor { return ChildParameters(r) }

// Buffers returns those of body and shortcut.
func (r *Residual) Buffers() []*amp.Tensor { return ChildBuffers(r) }
