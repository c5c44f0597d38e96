package main

import (
	"fmt"
	"slices"
	"strings"
)

// longest are the test functions that took most of the time, the longest first: where to look when the whole takes too long.
type longest []event

const longestKept = 20

// add takes the result of a test function; subtests are part of theirs.
func (l *longest) add(e event) {
	if strings.Contains(e.Test, "/") || e.Elapsed < 1 {
		return
	}
	at, _ := slices.BinarySearchFunc(*l, e, func(a, b event) int {
		if a.Elapsed > b.Elapsed {
			return -1
		}
		return 1
	})
	*l = slices.Insert(*l, at, e)
	*l = (*l)[:min(len(*l), longestKept)]
}

func (l longest) String() string {
	var b strings.Builder
	for _, e := range l {
		fmt.Fprintf(&b, "  %6.1f s  %s %s\n", e.Elapsed, e.Package, e.Test)
	}
	return b.String()
}
