package amp

import (
	"strings"
	"testing"
)

// TestShapeMessages: errors say which tensor does not fit, and the numbers that it would take.
func TestShapeMessages(t *testing.T) {
	s := NewScope()
	defer s.Close()
	m := func(shape ...int) *Tensor { return Ones(s, Float32, shape...) }
	index := From([]int64{0})
	norm := func(x, weight, mean, variance *Tensor) {
		BatchNorm(s, x, weight, nil, BatchNormState{RunningMean: mean, RunningVar: variance, Momentum: 0.1, Eps: 1e-5})
	}
	for name, c := range map[string]struct {
		f    func()
		says []string
	}{
		"t[:, index]":      {func() { Index(s, m(2, 3), nil, index) }, []string{"index 0 is nil", "amp.IndexSelect"}},
		"put at t[:, i]":   {func() { IndexPut(s, m(2, 3), []*Tensor{nil, index}, m(1), false) }, []string{"index_put", "index 0 is nil"}},
		"conv channels":    {func() { Conv2d(s, m(1, 5, 4, 4), m(8, 3, 3, 3), nil, Groups(2)) }, []string{"x has 5 channels", "takes 3 in each of 2 groups", "give x 6 channels"}},
		"conv groups":      {func() { Conv2d(s, m(1, 9, 4, 4), m(8, 3, 3, 3), nil, Groups(3)) }, []string{"divide the 8 channels", "3 groups"}},
		"conv bias":        {func() { Conv2d(s, m(1, 3, 4, 4), m(8, 3, 3, 3), m(7)) }, []string{"each of the 8 channels", "bias has shape [7]"}},
		"transposed":       {func() { ConvTranspose2d(s, m(1, 5, 4, 4), m(4, 3, 3, 3), nil) }, []string{"x has 5 channels", "takes 4"}},
		"transposed group": {func() { ConvTranspose2d(s, m(1, 4, 4, 4), m(4, 3, 3, 3), nil, Groups(3)) }, []string{"divide the 4 channels of x", "3 groups"}},
		"norm weight":      {func() { norm(m(2, 3, 4, 4), m(4), nil, nil) }, []string{"weight has shape [4]", "each of the 3 channels"}},
		"norm mean":        {func() { norm(m(2, 3, 4, 4), m(3), m(4), m(3)) }, []string{"the running mean is float32 [4]", "each of the 3 channels"}},
		"norm variance":    {func() { norm(m(2, 3, 4, 4), m(3), m(3), m(5)) }, []string{"the running variance is float32 [5]"}},
	} {
		err := Maybe(c.f)
		if err == nil {
			t.Errorf("%s: nothing is refused", name)
			continue
		}
		for _, part := range c.says {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%s: %v\ndoes not say %q", name, err, part)
			}
		}
	}
}
