package main

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/halftone-ml/halftone/kernelext/install"
)

// halved are packages whose tests wait, for kernels and pages, more than half of the time: two processes run them, each one's half in turn. What the
// tests of such a package share, as a notebook server or a browser, each process has of its own.
var halved = []string{"kernelext/kernel", "kernelext/browser"}

// halve takes those of a module's packages out of the list whose tests two processes run, and returns what go test is called with for each.
func (r *runner) halve(packages []string) (rest []string, halves [][]string) {
	for _, p := range packages {
		path := strings.TrimPrefix(p, install.Module+"/")
		if !slices.Contains(halved, path) {
			rest = append(rest, p)
			continue
		}
		first := firstHalf(filepath.Join(r.root, filepath.FromSlash(path)))
		halves = append(halves, []string{"-run=" + first, p}, []string{"-skip=" + first, p})
	}
	return rest, halves
}

// firstHalf is a pattern of every second test function in the files of a folder. The other half is what it does not match, so that nothing is
// lost of what it does not know.
func firstHalf(dir string) string {
	files, _ := filepath.Glob(filepath.Join(dir, "*_test.go"))
	var all, names []string
	for _, f := range files {
		all = append(all, testFunctions(f)...)
	}
	for i := 0; i < len(all); i += 2 {
		names = append(names, all[i])
	}
	return "^(" + strings.Join(names, "|") + ")$"
}

// remember adds what a run of go test found; another may have found something of the same package.
func (r *runner) remember(t *tally) {
	for pkg, functions := range t.passed {
		if r.passed[pkg] == nil {
			r.passed[pkg] = map[string]int{}
		}
		maps.Copy(r.passed[pkg], functions)
	}
	for pkg, functions := range t.others {
		r.others[pkg] = append(r.others[pkg], functions...)
	}
}
