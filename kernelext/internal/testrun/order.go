package main

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"github.com/halftone-ml/halftone/kernelext/install"
)

// long are the packages whose tests take a minute and more, with the build tag long or without, the longest first. They begin before the
// others, in this order, since go test begins packages in the order in which they are named: what is short fills the gaps at the end, where
// one that is long would have the processors to itself. More packages at a time than there are processors, or the tests of one in two processes,
// keep the machine busier and take as long.
var long = []string{
	"cudart/emulator", "kernelext/kernel", "kernelext/conformance", "docker", "kernelext/cmd/halftone", "amp/nn", "kernelext/train", "cudart/kernels",
	"cudart", "kernelext/session", "kernelext/notebook", "amp", "kernelext/bench", "amp/internal/cpu",
}

// longModules are nested modules, of which one begins when the one before has ended. What the last of them needs others have built then.
var longModules = []string{"kernelext/browser", "cudart/gorgoniacu"}

// place is where a package or module is in a list, or behind its end.
func place(list []string, path string) int {
	if at := slices.Index(list, path); at >= 0 {
		return at
	}
	return len(list)
}

// longFirst sorts import paths.
func longFirst(packages []string) []string {
	sorted := slices.Clone(packages)
	slices.SortStableFunc(sorted, func(a, b string) int {
		return place(long, strings.TrimPrefix(a, install.Module+"/")) - place(long, strings.TrimPrefix(b, install.Module+"/"))
	})
	return sorted
}

// longModulesFirst sorts folders below root.
func longModulesFirst(root string, dirs []string) {
	at := func(dir string) int {
		rel, _ := filepath.Rel(root, dir)
		return place(longModules, filepath.ToSlash(rel))
	}
	slices.SortStableFunc(dirs, func(a, b string) int { return at(a) - at(b) })
}

// longFirst returns all packages of a module; without an answer a pattern for them, and go test says what is wrong.
func (r *runner) longFirst(ctx context.Context, dir string) []string {
	out, err := r.command(ctx, dir, "go", "list", "-tags="+r.tags, "./...").Output()
	if packages := strings.Fields(string(out)); err == nil && len(packages) > 0 {
		return longFirst(packages)
	}
	return []string{"./..."}
}
