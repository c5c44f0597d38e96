package amp

import (
	"errors"
	"strings"
	"testing"
)

// TestStrayScopes: a function that is handed over and uses a scope around it is refused, whether its result or something on the way was made
// there; what it was given, what was made before, and scopes derived from its own are not.
func TestStrayScopes(t *testing.T) {
	root := NewScope(Seed(1))
	defer root.Close()
	defer forget("stray")
	half := root.Autocast(Float16)
	w := Ones(root, Float32, 2, 2).RequireGrad()
	before := Mul(half, w, w)
	custom := func(forward func(c *Context, in []*Tensor) *Tensor) func(s *Scope, x *Tensor) *Tensor {
		return func(s *Scope, x *Tensor) *Tensor {
			return Register(Custom{Name: "stray", Class: Lower, CastInputs: Float32, Args: []string{"x"}, Forward: forward})(s, x)
		}
	}
	part := func(fn func(s *Scope, in ...*Tensor) *Tensor) func(s *Scope, x *Tensor) *Tensor {
		return func(s *Scope, x *Tensor) *Tensor { return Checkpoint(s, fn, x) }
	}
	rows := map[string]struct {
		call    func(s *Scope, x *Tensor) *Tensor
		refused string
	}{
		"checkpoint's result":     {part(func(_ *Scope, in ...*Tensor) *Tensor { return Dropout(half, in[0], .5) }), "amp: checkpoint"},
		"on the way":              {part(func(s *Scope, in ...*Tensor) *Tensor { return ReLU(s, MatMul(half, in[0], w)) }), "amp: checkpoint"},
		"another root":            {part(func(_ *Scope, in ...*Tensor) *Tensor { return ReLU(root, in[0]) }), "amp: checkpoint"},
		"custom's result":         {custom(func(_ *Context, in []*Tensor) *Tensor { return MatMul(half, in[0], in[0]) }), "amp: stray"},
		"on custom's way":         {custom(func(c *Context, in []*Tensor) *Tensor { return ReLU(c.S, MatMul(half, in[0], w)) }), "amp: stray"},
		"its own":                 {part(func(s *Scope, in ...*Tensor) *Tensor { return MatMul(s.Autocast(BFloat16).In("deeper"), in[0], w) }), ""},
		"its input":               {part(func(_ *Scope, in ...*Tensor) *Tensor { return in[0] }), ""},
		"made before, the result": {part(func(_ *Scope, _ ...*Tensor) *Tensor { return before }), ""},
		"made before":             {part(func(s *Scope, in ...*Tensor) *Tensor { return MatMul(s, in[0], before) }), ""},
		"a gradient within":       {part(func(s *Scope, in ...*Tensor) *Tensor { return Mul(s, Square(s.EnableGrad(), w), in[0]) }), ""},
		"custom, in c.S":          {custom(func(c *Context, in []*Tensor) *Tensor { return MatMul(c.S.In("deeper"), in[0], w) }), ""},
		"custom's input":          {custom(func(_ *Context, in []*Tensor) *Tensor { return in[0] }), ""},
		"custom, made before":     {custom(func(c *Context, _ []*Tensor) *Tensor { return Detach(c.S, before) }), ""},
		"custom in checkpoint": {part(func(s *Scope, in ...*Tensor) *Tensor {
			return ReLU(s, custom(func(c *Context, in []*Tensor) *Tensor { return Mul(c.S, in[0], w) })(s, in[0]))
		}), ""},
		"checkpoint in a custom": {custom(func(c *Context, in []*Tensor) *Tensor {
			return ReLU(c.S, part(func(s *Scope, in ...*Tensor) *Tensor { return Mul(s, in[0], w) })(c.S, in[0]))
		}), ""},
	}
	for name, r := range rows {
		var y *Tensor
		err := Maybe(func() { y = r.call(half, w) })
		if r.refused == "" {
			if err == nil && y.needs {
				err = Maybe(func() { Sum(half, y).Backward(RetainGraph()) }) // before is in several
			}
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		if !errors.Is(err, ErrArgument) || !strings.Contains(err.Error(), r.refused) || !strings.Contains(err.Error(), "in the scope that the function is given") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
