package amp_test

import (
	"fmt"
	"testing"

	"github.com/halftone-ml/halftone/amp"
)

type depthKey struct{}

// A layer of one's own that asks how deep it is to go, without a parameter that all layers above it would have to pass on.
func ExampleScope_WithValue() {
	root := amp.NewScope()
	defer root.Close()
	layer := func(s *amp.Scope) any { return s.Value(depthKey{}) }
	shallow := root.WithValue(depthKey{}, 1)
	fmt.Println(layer(root), layer(shallow.Autocast(amp.Float16).In("fc")), layer(shallow.WithValue(depthKey{}, 2)))
	// Output: <nil> 1 2
}

// TestScopeValueAgain: a checkpointed part sees in backward what it saw in forward.
func TestScopeValueAgain(t *testing.T) {
	root := amp.NewScope()
	defer root.Close()
	x := amp.From([]float32{1, 2}).RequireGrad()
	var seen []any
	y := amp.Checkpoint(root.WithValue(depthKey{}, 3), func(s *amp.Scope, in ...*amp.Tensor) *amp.Tensor {
		seen = append(seen, s.Value(depthKey{}))
		return amp.Mul(s, in[0], in[0])
	}, x)
	amp.Sum(root, y).Backward()
	if fmt.Sprint(seen) != "[3 3]" {
		t.Error(seen)
	}
}

func TestScopeValueErrors(t *testing.T) {
	root := amp.NewScope()
	for _, key := range []any{nil, []int{1}} {
		if err := amp.Maybe(func() { root.WithValue(key, 1) }); err == nil {
			t.Errorf("key %v is taken", key)
		}
	}
	root.Close()
}
