package amp

import (
	"errors"
	"math"
	"strings"
	"testing"
)

// an optimizer of one parameter, for what scalers say.
type lone struct{ p *Tensor }

func (o lone) Parameters() []*Tensor { return []*Tensor{o.p} }
func (o lone) Step()                 {}
func (o lone) ZeroGrad()             { o.p.ZeroGrad() }

// TestAdvice: what an error says to do helps where it is said, and is said once.
func TestAdvice(t *testing.T) {
	s := NewScope(On("cpu"))
	defer s.Close()
	half := s.Autocast(Float16)
	w := Ones(s, Float32, 2).RequireGrad().SetName("w")
	scaled := func(factor float64) *GradScaler {
		g := NewGradScaler(InitScale(4), MinScale(4))
		w.ZeroGrad()
		g.Scale(s, Sum(s, MulScalar(s, w, factor))).Backward()
		return g
	}
	for name, c := range map[string]struct {
		do      func() error
		kind    error
		has, no string
		once    string
	}{
		"a banned op names its way out once": {func() error {
			return Maybe(func() { BCE(half, Full(s, Float16, 0.5, 2), Ones(s, Float32, 2)) })
		}, ErrBanned, "fix: leave the sigmoid out and use amp.BCEWithLogits", "", "BCEWithLogits"},
		"autocast is no way out for float64": {func() error {
			return Maybe(func() { MatMul(half, Ones(s, Float16, 2, 2), Ones(s, Float64, 2, 2)) })
		}, ErrDType, "autocast leaves float64 alone", "run it in an Autocast scope", "fix:"},
		"nor for a loss that it refuses": {func() error {
			return Maybe(func() { BCE(s, Full(s, Float16, 0.5, 2), Ones(s, Float32, 2)) })
		}, ErrDType, "convert one with amp.To", "run it in an Autocast scope", "fix:"},
		"nor for an op that it leaves alone": {func() error {
			x := Ones(s, Float16, 2)
			return Maybe(func() { Lerp(half, x, x, Ones(s, Float32, 2)) })
		}, ErrDType, "autocast leaves the inputs of lerp alone", "run it in an Autocast scope", "fix:"},
		"elsewhere it is": {func() error {
			return Maybe(func() { MatMul(s, Ones(s, Float16, 2, 2), Ones(s, Float32, 2, 2)) })
		}, ErrDType, "run it in an Autocast scope", "float64", "fix:"},
		"the optimizer's own Step": {func() error {
			g := scaled(1)
			lone{w}.Step()
			return Maybe(g.Update)
		}, ErrScaler, "scaler.Step(opt), not opt.Step()", "", "fix:"},
		"no gradient yet": {func() error {
			return Maybe(func() { Ones(s, Float32, 2).RequireGrad().Grad().Item() })
		}, ErrArgument, "a Grad is nil until Backward", "", "fix:"},
		"NaN at the floor may come of the forward pass": {func() error {
			return scaled(math.NaN()).Step(lone{w}).Err()
		}, ErrScaler, "print the loss", "bfloat16", "fix:"},
		"infinity at the floor": {func() error {
			return scaled(math.Inf(1)).Step(lone{w}).Err()
		}, ErrScaler, "lower the learning rate", "print the loss", "fix:"},
	} {
		err := c.do()
		if err == nil || !errors.Is(err, c.kind) || !strings.Contains(err.Error(), c.has) || c.no != "" && strings.Contains(err.Error(), c.no) || strings.Count(err.Error(), c.once) != 1 {
			t.Errorf("%s: %v", name, err)
		}
	}
}
