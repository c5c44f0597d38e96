package amp

import (
	"bytes"
	"strings"
	"testing"
)

// TestLoopWithoutSteps: a loop whose steps all stay in memory is warned of, once; one by Steps or Child is not, nor a small one.
func TestLoopWithoutSteps(t *testing.T) {
	var said bytes.Buffer
	defer SetWarnings(SetWarnings(&said))
	root := NewScope()
	defer root.Close()
	loop := func(s *Scope, n int, step func(s *Scope)) (warned string) {
		warnings.Lock()
		delete(warnings.said, "a loop without Steps")
		warnings.Unlock()
		said.Reset()
		for range n {
			step(s)
		}
		return said.String()
	}
	w, big := Ones(root, Float32, 1).RequireGrad(), Ones(root, Float32, 1<<19)
	step := func(x *Tensor) func(s *Scope) { return func(s *Scope) { Mean(s, Mul(s, x, w)).Backward() } }
	if got := loop(root, 49, step(big)); got != "" {
		t.Errorf("after 49 passes: %s", got)
	}
	if got := loop(root, 160, step(big)); strings.Count(got, "root.Steps(n)") != 1 || !strings.Contains(got, "50 backward passes") {
		t.Errorf("after more: %q", got)
	}
	other := NewScope()
	defer other.Close()
	if got := loop(other, 200, step(Ones(other, Float32, 4))); got != "" {
		t.Errorf("small tensors: %s", got)
	}
	if got := loop(other, 100, func(s *Scope) { c := s.Child(); defer c.Close(); step(big)(c) }); got != "" {
		t.Errorf("with Child: %s", got)
	}
	got := loop(other, 1, func(s *Scope) {
		for s := range s.Steps(100) {
			step(big)(s)
		}
	})
	if got != "" {
		t.Errorf("with Steps: %s", got)
	}
}
