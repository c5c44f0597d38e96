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

// TestSettled: few rounds say nothing, many that lie apart nothing either, and a few far away do no harm.
func TestSettled(t *testing.T) {
	spread := func(n int, by float64, far int) (ratios []float64) {
		for i := range n {
			ratios = append(ratios, 1+by*float64((i*7)%n)/float64(n))
		}
		for i := range far {
			ratios[i*n/far] = 2
		}
		return ratios
	}
	for _, c := range []struct {
		ratios []float64
		want   bool
	}{
		{nil, false}, {spread(10, 0, 0), false}, {spread(11, 0, 0), true}, {spread(11, 0.1, 0), false}, {spread(11, 0.005, 0), true},
		{spread(101, 0.1, 0), false}, {spread(101, 0.015, 0), true}, {spread(101, 0, 20), true}, {spread(101, 0, 60), false},
	} {
		if got := settled(c.ratios); got != c.want {
			t.Errorf("%d rounds, %v: %v", len(c.ratios), c.ratios, got)
		}
	}
}
