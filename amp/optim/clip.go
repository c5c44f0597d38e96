package optim

import (
	"fmt"
	"math"
	"slices"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/internal/optional"
)

// A ClipOption configures ClipGradNorm and GradNorm.
type ClipOption func(*clipSettings)

type clipSettings struct {
	power  float64
	finite bool // a norm that is not is refused
}

// NormType sets the norm: (Σ |g|ᵖ)^(1/p) for p above 0, the largest |g| for math.Inf(1); the default is 2.
func NormType(p float64) ClipOption { return func(c *clipSettings) { c.power = p } }

// ErrorIfNonfinite makes ClipGradNorm and GradNorm panic with amp.ErrFinite if the norm is infinite or NaN, before a gradient is changed, as
// torch's error_if_nonfinite; catch it with amp.Maybe. It waits for a device, and can therefore not be part of a captured step. With a GradScaler
// leave it out: the scaler skips such a step by itself.
func ErrorIfNonfinite() ClipOption { return func(c *clipSettings) { c.finite = true } }

// A Norm is the norm of gradients. On a device that works behind the host's back it is known when Value is called, within the step.
type Norm struct {
	sum   *amp.Tensor // on such a device; nil where value is known
	power float64
	value float64
}

// Value returns the norm; it waits for the device.
func (n Norm) Value() float64 {
	if n.sum != nil {
		return amp.NormOf(n.sum.Item(), n.power)
	}
	return n.value
}

// String returns the value.
func (n Norm) String() string { return fmt.Sprint(n.Value()) }

func clipSettingsOf(op string, opts []ClipOption) clipSettings {
	c := clipSettings{power: 2}
	optional.Apply(op, opts, &c, misused)
	if !(c.power > 0) {
		misused(op, "use optim.NormType(1), (2) or (math.Inf(1))", "norm type %v", c.power)
	}
	return c
}

// needFinite waits for the norm and refuses one that is not finite.
func (n Norm) needFinite(op string) {
	if v := n.Value(); math.IsInf(v, 0) || v != v {
		panic(&amp.Error{Op: op, Kind: amp.ErrFinite, Detail: fmt.Sprintf("the gradients' norm of order %v is %v", n.power, v),
			Fix: "leave the step out, or leave optim.ErrorIfNonfinite out to scale the gradients all the same"})
	}
}

// GradNorm returns the norm of all gradients taken as one vector, in float64, as torch.nn.utils.get_total_norm; 0 without a gradient.
// It panics with amp.ErrArgument for a norm type of 0 or below.
func GradNorm(params []*amp.Tensor, opts ...ClipOption) float64 {
	c := clipSettingsOf("GradNorm", opts)
	n := gradNorm("GradNorm", params, c.power)
	if c.finite {
		n.needFinite("GradNorm")
	}
	return n.Value()
}

func needParameters(op string, params []*amp.Tensor) {
	if i := slices.Index(params, nil); i >= 0 {
		misused(op, "pass net.Parameters()", "parameter %d is nil", i)
	}
}

func gradNorm(op string, params []*amp.Tensor, power float64) Norm {
	n := Norm{power: power}
	total, host := 0.0, false
	add := func(sum float64) {
		if math.IsInf(n.power, 1) {
			total = max(total, sum)
		} else {
			total += sum
		}
	}
	var sums []*amp.Tensor // one for each device that the host does not reach
	needParameters(op, params)
	for _, t := range params {
		switch g := t.Grad(); {
		case g == nil:
		case g.IsCPU():
			add(amp.SumOfPowers(g, n.power))
			host = true
		default:
			i := slices.IndexFunc(sums, func(s *amp.Tensor) bool { return s.Device() == g.Device() })
			if i < 0 {
				i, sums = len(sums), append(sums, amp.PowerSum(t))
			}
			amp.AddPowers(sums[i], t, n.power)
		}
	}
	if len(sums) == 1 && !host {
		n.sum = sums[0]
		return n
	}
	for _, s := range sums {
		add(s.Item())
	}
	n.value = amp.NormOf(total, n.power)
	return n
}

// ClipGradNorm scales all gradients together so that their norm (the 2-norm, unless NormType says otherwise) does not exceed limit, and
// returns the norm they had, as torch.nn.utils.clip_grad_norm_: the factor is min(1, limit/(norm+1e-6)). Call it after
// scaler.Unscale: where it was called before, the scaler warns. A non-finite norm makes the gradients non-finite too; the step is then
// skipped by the flag that Unscale recorded. It panics with amp.ErrArgument for a limit below 0, which would turn the gradients round, or
// NaN. It does not wait for a device, the norm's Value does; but for gradients that lie on several devices, and with ErrorIfNonfinite.
func ClipGradNorm(params []*amp.Tensor, limit float64, opts ...ClipOption) Norm {
	if !(limit >= 0) {
		misused("ClipGradNorm", "use a limit of 0 and above", "limit %v", limit)
	}
	c := clipSettingsOf("ClipGradNorm", opts)
	norm := gradNorm("ClipGradNorm", params, c.power)
	if c.finite {
		norm.needFinite("ClipGradNorm")
	}
	factor := 1.0
	if norm.sum == nil {
		factor = limit / (norm.value + 1e-6)
	}
	for _, p := range params {
		switch {
		case p.Grad() == nil:
		case norm.sum != nil:
			amp.ClipByNorm(p, norm.sum, limit, norm.power)
		case factor < 1 || factor != factor:
			amp.ClipBy(p, factor)
		}
	}
	return norm
}

// ClipGradValue brings every element of every gradient into [-max, max], as torch.nn.utils.clip_grad_value_. Call it after
// scaler.Unscale: where it was called before, the scaler warns. It panics with amp.ErrArgument for a negative max.
func ClipGradValue(params []*amp.Tensor, max float64) {
	if !(max >= 0) {
		misused("ClipGradValue", "use a bound of 0 and above", "bound %v", max)
	}
	needParameters("ClipGradValue", params)
	for _, p := range params {
		if p.Grad() != nil {
			amp.ClampGrad(p, -max, max)
		}
	}
}
