package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/halftone-ml/halftone/kernelext/install"
)

func TestRest(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("a_test.go", "package a\n\nfunc TestA(t *testing.T) {}\n\nfunc TestB(t *testing.T) {}\n")
	write("long_test.go", "package a\n\nfunc TestLong(t *testing.T) {}\n\nfunc ExampleLong() {}\n")
	pkg := func(tests ...string) *source { return &source{Dir: dir, GoFiles: []string{"x.go"}, TestGoFiles: tests} }
	rec := record{
		Passed: map[string]map[string]int{"same": {"TestA": 3, "TestB": 1}, "more": {"TestA": 2, "TestC": 1}, "less": {"TestB": 4}, "clash": {"TestLong": 5, "TestC": 1}, "skipped": {"TestC": 2}},
		Other:  map[string][]string{"skipped": {"TestD"}},
	}
	plain := map[string]*source{"same": pkg("c_test.go"), "more": pkg("c_test.go"), "clash": pkg("c_test.go"), "skipped": pkg("c_test.go"), "none": pkg()}
	tagged := map[string]*source{"same": pkg("c_test.go"), "more": pkg("c_test.go", "long_test.go"), "clash": pkg("c_test.go"), "skipped": pkg("c_test.go"), "none": pkg()}
	packages, skip, known := rec.rest(plain, tagged)
	if want := []string{"clash", "more", "skipped"}; !slices.Equal(packages, want) {
		t.Errorf("packages %q, want %q", packages, want)
	}
	if skip != "^(TestA|TestB|TestC)$" || known != 3+1+2+1+1+2 {
		t.Errorf("skip %s, %d tests known", skip, known)
	}

	// A file that the tags leave out: all of the package runs.
	plain["less"], tagged["less"] = pkg("a_test.go", "few_test.go"), pkg("a_test.go", "many_test.go")
	packages, skip, known = rec.rest(plain, tagged)
	if want := []string{"clash", "less", "more", "same", "skipped"}; !slices.Equal(packages, want) {
		t.Errorf("packages %q, want %q", packages, want)
	}
	if skip != "^(TestC)$" || known != 1+1+2 {
		t.Errorf("skip %s, %d tests known", skip, known)
	}
	if !regexp.MustCompile(skip).MatchString("TestC") {
		t.Error("the pattern matches nothing")
	}

	// A file that puts more into a table which other files' functions walk.
	write("rows_test.go", "package a\n\nfunc init() { rows = append(rows, 7) }\n")
	plain["less"], tagged["less"] = pkg("a_test.go"), pkg("a_test.go", "rows_test.go")
	packages, skip, known = rec.rest(plain, tagged)
	if !slices.Contains(packages, "less") || skip != "^(TestC)$" || known != 1+1+2 {
		t.Errorf("packages %q, skip %s, %d known", packages, skip, known)
	}

	tagged["same"] = &source{Dir: dir, GoFiles: []string{"y.go"}}
	if _, _, known := rec.rest(plain, tagged); known != 0 {
		t.Error("the tags change a package itself, and what it did without them is taken for known")
	}
}

// What was found holds for the same files, a while.
func TestBefore(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a.go", ".halftone/x"} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("a"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	r := &runner{root: dir, passed: map[string]map[string]int{"p": {"TestA": 1}}}
	ctx := t.Context()
	keep := func() {
		t.Helper()
		state, err := r.state(ctx)
		if err != nil {
			t.Fatal(err)
		}
		r.keep(ctx, state)
	}
	found := func(want bool, when string) {
		t.Helper()
		if rec := r.before(ctx); rec != nil != want || want && rec.Passed["p"]["TestA"] != 1 {
			t.Errorf("%s: %+v", when, rec)
		}
	}
	found(false, "at first")
	keep()
	found(true, "after a run")
	if err := os.WriteFile(filepath.Join(dir, ".halftone", "x"), []byte("b"), 0o600); err != nil {
		t.Fatal(err)
	}
	found(true, "after something was installed")
	for _, name := range []string{"MAKELEVEL", "SHLVL", "OLDPWD"} {
		t.Setenv(name, "7")
	}
	found(true, "from another folder")
	if err := os.WriteFile(filepath.Join(dir, "a.go"), []byte("b"), 0o600); err != nil {
		t.Fatal(err)
	}
	found(false, "after a file changed")
	keep()
	t.Setenv("HALFTONE_CPU", "generic")
	found(false, "with another environment")
	keep()
	rec := r.before(ctx)
	if rec == nil || time.Since(rec.When) > time.Minute {
		t.Fatalf("%+v", rec)
	}
	r.keep(ctx, "another state")
	found(true, "after a run while files changed")
}

func TestWithin(t *testing.T) {
	dirs := []string{"/c", "/c/a/nested", "/c/b"}
	args := []string{"./a/nested", "./a/nested/deep/...", "./a", "./bc", "b/x"}
	for dir, want := range map[string][]string{"/c": {"./a", "./bc"}, "/c/a/nested": {"./.", "./deep/..."}, "/c/b": {"./x"}} {
		if got := within(dirs, dir, args); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", dir, got, want)
		}
	}
}

// What tutorials put out stays for a second run on the same files alone.
func TestKeepExecuted(t *testing.T) {
	r := &runner{root: t.TempDir()}
	for _, known := range []*record{nil, {}, nil} {
		r.known = known
		if err := r.keepExecuted(); err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(r.executed, "a.ipynb")
		if _, err := os.Stat(file); (err == nil) != (known != nil) {
			t.Errorf("known %v: %v", known, err)
		}
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// TestLongFilesOnlyAdd holds that the tag long adds test functions and changes none: what would be run again whole takes minutes.
func TestLongFilesOnlyAdd(t *testing.T) {
	root, err := install.FindCheckout(".")
	if err != nil {
		t.Fatal(err)
	}
	r := &runner{root: root}
	seen := 0
	for _, dir := range modules(root) {
		plain, err := r.sources(t.Context(), dir, "")
		if err != nil {
			t.Fatal(err)
		}
		tagged, err := r.sources(t.Context(), dir, "long")
		if err != nil {
			t.Fatal(err)
		}
		for path, s := range tagged {
			for _, f := range s.tests() {
				if slices.Contains(plain[path].tests(), f) {
					continue
				}
				if seen++; begins(filepath.Join(s.Dir, f)) {
					t.Errorf("%s: %s has an init: all tests of the package run again; give what it changes to functions of its own", path, f)
				}
			}
			for _, f := range plain[path].tests() {
				if !slices.Contains(s.tests(), f) {
					t.Errorf("%s: the tag long leaves %s out: all tests of the package run again", path, f)
				}
			}
		}
	}
	if seen < 10 {
		t.Errorf("%d long files", seen)
	}
}
