package main

import (
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/halftone-ml/halftone/kernelext/install"
)

// TestHalves: each test function of a package that is halved is in one of the two runs, neither of which is much smaller, and other packages stay.
func TestHalves(t *testing.T) {
	root, err := install.FindCheckout(".")
	if err != nil {
		t.Fatal(err)
	}
	r := &runner{root: root}
	for _, path := range halved {
		dir := filepath.Join(root, filepath.FromSlash(path))
		rest, halves := r.halve([]string{install.Module + "/amp", install.Module + "/" + path, "example.com/" + path})
		if !slices.Equal(rest, []string{install.Module + "/amp", "example.com/" + path}) || len(halves) != 2 {
			t.Fatalf("%s: %q, %q", path, rest, halves)
		}
		run, skip := strings.TrimPrefix(halves[0][0], "-run="), strings.TrimPrefix(halves[1][0], "-skip=")
		if run != skip || halves[0][1] != install.Module+"/"+path || halves[1][1] != halves[0][1] {
			t.Fatalf("%s: %q", path, halves)
		}
		first, all := 0, 0
		files, _ := filepath.Glob(filepath.Join(dir, "*_test.go"))
		for _, f := range files {
			for _, name := range testFunctions(f) {
				all++
				if regexp.MustCompile(run).MatchString(name) {
					first++
				}
			}
		}
		if all < 20 || first < all/3 || first > 2*all/3 {
			t.Errorf("%s: %d of %d test functions are in the first half", path, first, all)
		}
	}
}

// TestRemember: what two runs of one package found adds up.
func TestRemember(t *testing.T) {
	r := &runner{passed: map[string]map[string]int{}, others: map[string][]string{}}
	for _, half := range []*tally{
		{passed: map[string]map[string]int{"p": {"TestA": 3}, "q": {"TestQ": 1}}, others: map[string][]string{"p": {"TestS"}}},
		{passed: map[string]map[string]int{"p": {"TestB": 2}}, others: map[string][]string{"p": {"TestT"}}},
	} {
		r.remember(half)
	}
	if !maps.Equal(r.passed["p"], map[string]int{"TestA": 3, "TestB": 2}) || r.passed["q"]["TestQ"] != 1 || !slices.Equal(r.others["p"], []string{"TestS", "TestT"}) {
		t.Errorf("%v %v", r.passed, r.others)
	}
}
