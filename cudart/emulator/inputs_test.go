package emulator

import (
	"slices"
	"testing"
	"testing/fstest"

	"github.com/halftone-ml/halftone/cudart/kernels"
)

// TestInputs: an object is made of the headers that its file comes to, and of no others.
func TestInputs(t *testing.T) {
	files := []source{
		{"csrc/a.cpp", []byte("#include \"a.h\"\n")},
		{"csrc/a.h", []byte("#if 0\n  #  include \"b.h\"\n#endif\n")},
		{"csrc/b.h", []byte("#include \"missing.h\"\n#include \"a.h\"\n")},
		{"csrc/device.h", nil},
		{"csrc/kernel.h", nil},
		{"kernels/a.h", []byte("#include \"csrc.h\"\n")},
		{"kernels/k.cu", []byte("// #include \"b.h\"\n#include \"a.h\"\n")},
		{"csrc/csrc.h", nil},
		{"csrc/m.cpp", []byte("#include NAME\n")},
	}
	for path, want := range map[string][]string{
		"csrc/a.cpp":   {"csrc/a.cpp", "csrc/a.h", "csrc/b.h"},
		"kernels/k.cu": {"kernels/k.cu", "csrc/kernel.h", "csrc/device.h", "kernels/a.h", "csrc/csrc.h"},
		"csrc/m.cpp":   {"csrc/m.cpp", "csrc/a.h", "csrc/b.h", "csrc/device.h", "csrc/kernel.h", "kernels/a.h", "csrc/csrc.h"},
	} {
		var got []string
		for _, s := range inputs(files, files[slices.IndexFunc(files, func(s source) bool { return s.path == path })]) {
			got = append(got, s.path)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s is compiled from %q, want %q", path, got, want)
		}
	}
}

// TestRuntimeIsCompiledOnce: libraries with other kernels, checked ones and those with sanitizers share the objects of the runtime, but for
// the files that look at HALFTONE_CHECK.
func TestRuntimeIsCompiledOnce(t *testing.T) {
	names := func(o Options) map[string]string {
		files, err := sources(o)
		if err != nil {
			t.Fatal(err)
		}
		of := map[string]string{}
		for _, f := range files {
			_, of[f.path] = (&build{compiler: compiler{"g++", "1"}, options: o}).objectOf(files, f)
		}
		return of
	}
	own := fstest.MapFS{"k.cu": {Data: []byte("#include \"prelude.h\"\n")}, "prelude.h": {Data: []byte("#define P\n")}}
	plain, checked := names(Options{Kernels: kernels.Sources}), names(Options{Kernels: kernels.Sources, Checked: true})
	apart := map[string]bool{}
	for _, o := range []Options{{Kernels: own}, {Kernels: kernels.Sources, Sanitize: true}} {
		for path, name := range names(o) {
			if path[:4] == "csrc" && name != plain[path] {
				t.Errorf("%s is compiled again", path)
			}
		}
	}
	for path, name := range checked {
		apart[path] = name != plain[path]
	}
	for path, want := range map[string]bool{"csrc/nvrtc.cpp": false, "csrc/api_memory.cpp": false, "csrc/dnn.cpp": false,
		"csrc/check.cpp": true, "csrc/block.cpp": true, "csrc/touch.cpp": true, "csrc/memory.cpp": true, "csrc/core.cpp": true, "kernels/softmax.cu": true} {
		if apart[path] != want {
			t.Errorf("%s: another object in the checked library: %v, want %v", path, apart[path], want)
		}
	}
	if names(Options{Kernels: kernels.Sources, Sanitize: true})["kernels/softmax.cu"] == plain["kernels/softmax.cu"] {
		t.Error("kernels with sanitizers are those without")
	}
}
