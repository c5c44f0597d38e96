package nn

import (
	"github.com/halftone-ml/halftone/amp"
)

// Activations without numbers of their own, as modules; each is amp's function of the same name.
var (
	SELU        Module = Func(amp.SELU)
	GELUTanh    Module = Func(amp.GELUTanh)
	Mish        Module = Func(amp.Mish)
	ReLU6       Module = Func(amp.ReLU6)
	Hardswish   Module = Func(amp.Hardswish)
	Hardsigmoid Module = Func(amp.Hardsigmoid)
	Softsign    Module = Func(amp.Softsign)
	Tanhshrink  Module = Func(amp.Tanhshrink)
	LogSigmoid  Module = Func(amp.LogSigmoid)
)

// withNumber makes a module of a function of a tensor and a number.
func withNumber(f func(*amp.Scope, *amp.Tensor, float64) *amp.Tensor, c float64) Module {
	return Func(func(s *amp.Scope, x *amp.Tensor) *amp.Tensor { return f(s, x, c) })
}

// LeakyReLU returns amp.LeakyReLU as a module; PyTorch's slope is 0.01.
func LeakyReLU(slope float64) Module { return withNumber(amp.LeakyReLU, slope) }

// ELU returns amp.ELU as a module; PyTorch's alpha is 1.
func ELU(alpha float64) Module { return withNumber(amp.ELU, alpha) }

// CELU returns amp.CELU as a module; PyTorch's alpha is 1.
func CELU(alpha float64) Module { return withNumber(amp.CELU, alpha) }

// Hardshrink returns amp.Hardshrink as a module; PyTorch's lambda is 0.5.
func Hardshrink(lambda float64) Module { return withNumber(amp.Hardshrink, lambda) }

// Softshrink returns amp.Softshrink as a module; PyTorch's lambda is 0.5.
func Softshrink(lambda float64) Module { return withNumber(amp.Softshrink, lambda) }

// Hardtanh returns amp.Hardtanh as a module; PyTorch's bounds are -1 and 1.
func Hardtanh(lo, hi float64) Module {
	return Func(func(s *amp.Scope, x *amp.Tensor) *amp.Tensor { return amp.Hardtanh(s, x, lo, hi) })
}

// RReLU returns amp.RReLU as a module: slopes are drawn in training and their mean is used in an Eval scope. PyTorch's bounds are 1/8
// and 1/3.
func RReLU(lower, upper float64) Module {
	return Func(func(s *amp.Scope, x *amp.Tensor) *amp.Tensor { return amp.RReLU(s, x, lower, upper) })
}

// Threshold returns amp.Threshold as a module.
func Threshold(threshold, value float64) Module {
	return Func(func(s *amp.Scope, x *amp.Tensor) *amp.Tensor { return amp.Threshold(s, x, threshold, value) })
}

// along makes a module of a function along a dimension.
func along(f func(*amp.Scope, *amp.Tensor, int, ...amp.DType) *amp.Tensor, dim int) Module {
	return Func(func(s *amp.Scope, x *amp.Tensor) *amp.Tensor { return f(s, x, dim) })
}

// Softmax returns amp.Softmax along dim as a module.
func Softmax(dim int) Module { return along(amp.Softmax, dim) }

// LogSoftmax returns amp.LogSoftmax along dim as a module.
func LogSoftmax(dim int) Module { return along(amp.LogSoftmax, dim) }

// Softmin returns amp.Softmin along dim as a module.
func Softmin(dim int) Module { return along(amp.Softmin, dim) }

// GLU returns amp.GLU along dim as a module; PyTorch's dim is -1.
func GLU(dim int) Module {
	return Func(func(s *amp.Scope, x *amp.Tensor) *amp.Tensor { return amp.GLU(s, x, dim) })
}

// PReLU is a rectifier with a learned slope below 0, one for all channels or one each.
type PReLU struct {
	Weight *amp.Tensor // [1] or [channels], 0.25 at first
}

// NewPReLU returns a layer with n slopes, 1 or the number of channels (dimension 1 of its input), all 0.25. It panics with
// amp.ErrArgument for n below 1.
func NewPReLU(s *amp.Scope, n int) *PReLU {
	if n < 1 {
		misused("NewPReLU", "use 1, or the number of channels", "%d slopes", n)
	}
	return &PReLU{Weight: amp.Full(s, amp.Float32, 0.25, n).SetName("weight").RequireGrad()}
}

// Forward returns x above 0 and Weight·x below.
func (p *PReLU) Forward(s *amp.Scope, x *amp.Tensor) *amp.Tensor { return amp.PReLU(s, x, p.Weight) }

// Parameters returns the slopes.
func (p *PReLU) Parameters() []*amp.Tensor { return present(p.Weight) }
