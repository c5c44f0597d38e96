package main

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/halftone-ml/halftone/kernelext/install"
)

func TestLongFirst(t *testing.T) {
	in := []string{install.Module + "/amp", install.Module + "/amp/bfloat16", "example.com/cudart", install.Module + "/cudart", install.Module + "/cudart/emulator"}
	want := []string{in[4], in[3], in[0], in[1], in[2]}
	if got := longFirst(in); !slices.Equal(got, want) || in[0] != install.Module+"/amp" {
		t.Errorf("%q, want %q; given were %q", got, want, in)
	}
}

// TestLongAreThere: every package of the list is one of the module, and each package runs once.
func TestLongAreThere(t *testing.T) {
	root, err := install.FindCheckout(".")
	if err != nil {
		t.Fatal(err)
	}
	all := (&runner{root: root}).longFirst(t.Context(), root)
	for i, path := range long {
		if all[i] != install.Module+"/"+path {
			t.Errorf("package %d to run is %s, want %s of the module", i, all[i], path)
		}
	}
	dirs := modules(root)
	for i, path := range longModules {
		if len(dirs) <= i+1 || dirs[i+1] != filepath.Join(root, filepath.FromSlash(path)) {
			t.Errorf("modules %q: %s is not the next", dirs, path)
		}
	}
	slices.Sort(all)
	if n := len(slices.Compact(slices.Clone(all))); n != len(all) || n < 50 {
		t.Errorf("%d packages, %d of them once", len(all), n)
	}
}
