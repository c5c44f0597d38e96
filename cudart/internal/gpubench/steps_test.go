package main

import (
	"reflect"
	"testing"
)

// TestInOrder: each of the two is first in every other round, and keeps its place in what is returned.
func TestInOrder(t *testing.T) {
	var called []string
	call := func(name string, seconds float64) func() float64 {
		return func() float64 { called = append(called, name); return seconds }
	}
	for _, turned := range []bool{false, true} {
		if a, b := inOrder(turned, call("a", 1), call("b", 2)); a != 1 || b != 2 {
			t.Errorf("%v, %v", a, b)
		}
	}
	if !reflect.DeepEqual(called, []string{"a", "b", "b", "a"}) {
		t.Error(called)
	}
}
