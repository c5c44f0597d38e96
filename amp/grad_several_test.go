package amp

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

// TestGradOfSeveralElements: outputs of several elements are refused in Grad's own name, as torch.autograd.grad refuses them ("grad can be
// implicitly created only for scalar outputs"), and several outputs of one element give the gradient of their sum.
func TestGradOfSeveralElements(t *testing.T) {
	s := NewScope()
	defer s.Close()
	w := From([]float32{1, 2, 3}).RequireGrad()
	y := Square(s, w)
	err := Maybe(func() { Grad(s, []*Tensor{y}, []*Tensor{w}) })
	if !errors.Is(err, ErrShape) || !strings.HasPrefix(err.Error(), "amp: Grad: ") {
		t.Errorf("%v", err)
	}
	if err := Maybe(func() { y.Backward() }); err == nil || !strings.HasPrefix(err.Error(), "amp: Backward: ") {
		t.Errorf("%v", err)
	}
	got := Grad(s, []*Tensor{Sum(s, y), Select(s, w, 0, 1)}, []*Tensor{w})[0].Float64s()
	if want := []float64{2, 5, 6}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
