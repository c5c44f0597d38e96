package cellgo

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/mod/modfile"

	"github.com/halftone-ml/halftone/kernelext/wire"
)

// root is the Go of the tests, as goRoot finds it.
func root(t *testing.T) string {
	t.Helper()
	out, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	r, err := filepath.EvalSymlinks(strings.TrimSpace(string(out)))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// folder writes the files of a cell, with a checkout of Halftone's beside it that has one package.
func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	base := t.TempDir()
	all := map[string]string{
		"cell/go.mod":               "module gonb_1\n\ngo 1.26\n\nreplace " + wire.Module + " => " + modfile.AutoQuote(filepath.Join(base, "halftone")) + "\n",
		"cell/go.work":              "go 1.26\n\nuse (\n\t.\n\t" + modfile.AutoQuote(filepath.Join(base, "halftone")) + "\n)\n",
		"cell/main.go":              "package main\n\nimport \"fmt\"\n\nfunc main() { fmt.Println() }\n",
		"halftone/go.mod":           "module " + wire.Module + "\n",
		"halftone/amp/amp.go":       "package amp\n",
		"halftone/docs/README.md":   "no package\n",
		"own/go.mod":                "module example.org/own\n",
		"own/greet/greet.go":        "package greet\n",
		"halftone/kernelext/a_b.go": "package kernelext\n",
	}
	for name, text := range files {
		all["cell/"+name] = text
	}
	for name, text := range all {
		path := filepath.Join(base, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if text == "" {
			continue
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(base, "cell")
}

func imports(paths ...string) map[string]string {
	text := "package main\n\nimport (\n"
	for _, p := range paths {
		text += "\t_ \"" + p + "\"\n"
	}
	return map[string]string{"main.go": text + ")\n\nfunc main() {}\n"}
}

// with adds files to others.
func with(files, more map[string]string) map[string]string {
	all := maps.Clone(files)
	maps.Copy(all, more)
	return all
}

// TestComplete: only a cell all of whose imports are there already needs no `go get`, and in doubt it is run.
func TestComplete(t *testing.T) {
	const greet = "example.org/greet"
	for name, c := range map[string]struct {
		files map[string]string
		known []string
		want  bool
	}{
		"no imports":                 {files: map[string]string{"main.go": "package main\n\nfunc main() {}\n"}, want: true},
		"the standard library":       {files: imports("fmt", "math/rand/v2", "unsafe"), want: true},
		"C":                          {files: imports("C", "os"), want: true},
		"Halftone":                   {files: imports("fmt", wire.Module+"/amp"), want: true},
		"Halftone lacks it":          {files: imports(wire.Module + "/docs")},
		"Halftone has no such thing": {files: imports(wire.Module + "/nowhere")},
		"a name that begins as ours": {files: imports(wire.Module + "x/amp")},
		"no checkout":                {files: with(imports(wire.Module+"/amp"), map[string]string{"go.work": "go 1.26\n\nuse .\n"})},
		"no workspace":               {files: with(imports("fmt"), map[string]string{"go.work": ""}), want: true},
		"of another module":          {files: imports("fmt", greet)},
		"of another module, known":   {files: imports("fmt", greet), known: []string{greet}, want: true},
		"one of two known":           {files: imports(greet, greet+"/more"), known: []string{greet}},
		"in the second file":         {files: map[string]string{"main_test.go": imports(greet)["main.go"]}},
		"not in the library":         {files: imports("fmtt")},
		"not Go":                     {files: map[string]string{"main.go": "packag main\n"}},
		"no module":                  {files: map[string]string{"go.mod": ""}},
		"a damaged module":           {files: map[string]string{"go.mod": "modul x\n"}},
		"a damaged workspace":        {files: map[string]string{"go.work": "us .\n"}},
		"the user's own module":      {files: with(imports("fmt"), map[string]string{"go.work": "go 1.26\n\nuse (\n\t.\n\t../own\n)\n"})},
		"a module that is gone":      {files: with(imports("fmt"), map[string]string{"go.work": "go 1.26\n\nuse (\n\t.\n\t../gone\n)\n"})},
		"replaced by a folder":       {files: with(imports(greet), map[string]string{"go.mod": "module m\n\nreplace example.org/greet => ../own\n"}), known: []string{greet}},
		"replaced in the workspace":  {files: with(imports("fmt"), map[string]string{"go.work": "go 1.26\n\nuse .\n\nreplace example.org/greet => ../own\n"})},
		"replaced by another module": {files: with(imports("fmt"), map[string]string{"go.mod": "module m\n\nreplace example.org/greet => example.org/fork v1.0.0\n"}), want: true},
	} {
		t.Run(name, func(t *testing.T) {
			dir := folder(t, c.files)
			if len(c.known) > 0 {
				kept := folder(t, with(c.files, imports(c.known...)))
				known, err := read(kept, root(t), nil)
				if err == nil {
					known.dir = dir
					now, err := read(dir, root(t), nil)
					if err != nil {
						t.Fatal(err)
					}
					known.state = now.state // the checkouts lie in other places
					known.remember()
				}
			}
			got, err := read(dir, root(t), nil)
			if complete := err == nil && got.complete(); complete != c.want {
				t.Errorf("got %v, %v, want %v", complete, err, c.want)
			}
		})
	}
}

// TestNoRoot: where the library is not found, nothing is taken to be of it.
func TestNoRoot(t *testing.T) {
	for _, root := range []string{"", t.TempDir()} {
		c, err := read(folder(t, nil), root, nil)
		if err != nil || c.complete() {
			t.Errorf("root %q: %+v, %v", root, c, err)
		}
	}
}

// TestMemory: what has succeeded counts as long as all else is as it was.
func TestMemory(t *testing.T) {
	const a, b = "example.org/a", "example.org/b"
	dir := folder(t, imports(a))
	look := func(env ...string) *cell {
		t.Helper()
		c, err := read(dir, root(t), env)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	look().remember()
	write("main.go", imports(b)["main.go"])
	if look().complete() {
		t.Error("an import that was never asked for")
	}
	look().remember()
	write("main.go", imports(a, b)["main.go"])
	if c := look(); !c.complete() || !slices.Equal(c.known, []string{a, b}) {
		t.Errorf("both have been asked for: %+v", c)
	}
	if look("GOFLAGS=-mod=mod").complete() {
		t.Error("another environment")
	}
	if !look("HOME=/elsewhere").complete() {
		t.Error("an environment that does not concern the go command")
	}
	for _, name := range []string{"go.mod", "go.sum", "go.work"} {
		old, _ := os.ReadFile(filepath.Join(dir, name))
		write(name, string(old)+"\n// changed\n")
		if look().complete() {
			t.Errorf("%s has changed", name)
		}
		write(name, string(old))
	}
	_ = os.Remove(filepath.Join(dir, "go.sum"))
	if !look().complete() {
		t.Error("all is as it was")
	}
	write(memoryName, "{")
	if look().complete() {
		t.Error("a damaged memory")
	}
}
