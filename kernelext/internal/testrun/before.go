package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"time"
)

// What a run without tags found is not looked for again by a run with tags that follows it on the same files: continuous integration makes
// both, and the second has enough to do with what is long.

// still is how long what a run found is taken for granted.
const still = 2 * time.Hour

// A record is what a run without tags found.
type record struct {
	State  string // of all that its tests depend on
	When   time.Time
	Passed map[string]map[string]int // by package and test function: how many of its tests
	Other  map[string][]string       // by package: functions of which not all passed
}

func (r *runner) recordFile() string { return filepath.Join(r.root, ".halftone", "tested.json") }

// state names what tests depend on: the files of the checkout, the environment, the processors, the go command.
func (r *runner) state(ctx context.Context) (string, error) {
	sum := sha256.New()
	version, err := r.command(ctx, r.root, "go", "version").Output()
	if err != nil {
		return "", err
	}
	env := slices.DeleteFunc(os.Environ(), func(v string) bool { // what make itself and shells set
		name, _, _ := strings.Cut(v, "=")
		return strings.HasPrefix(name, "MAKE") || name == "MFLAGS" || name == "SHLVL" || name == "OLDPWD" || name == "_"
	})
	slices.Sort(env)
	fmt.Fprintf(sum, "%s%q%d", version, env, runtime.NumCPU())
	err = filepath.WalkDir(r.root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == ".git" || d.Name() == ".halftone" || d.Name() == "node_modules") {
			return fs.SkipDir
		}
		if !d.Type().IsRegular() || d.Name() == ".git" {
			return nil
		}
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		defer func() { _ = f.Close() }()
		fmt.Fprintf(sum, "\n%q\n", path)
		_, err = io.Copy(sum, f)
		return err
	})
	return fmt.Sprintf("%x", sum.Sum(nil)), err
}

// keep writes what this run found, which is no failure, unless the files changed under it.
func (r *runner) keep(ctx context.Context, state string) {
	if now, err := r.state(ctx); err != nil || now != state {
		return
	}
	text, err := json.Marshal(record{State: state, When: time.Now(), Passed: r.passed, Other: r.others})
	if err == nil {
		_ = os.WriteFile(r.recordFile(), text, 0o644) // without it the next run finds out for itself
	}
}

// keepExecuted makes a folder in which tests keep what tutorials put out; what lies there stays if it is of these files.
func (r *runner) keepExecuted() error {
	dir := filepath.Join(r.root, ".halftone", "executed")
	if r.known == nil {
		if err := os.RemoveAll(dir); err != nil {
			return err
		}
	}
	r.executed = dir
	return os.MkdirAll(dir, 0o755)
}

// before returns what a run on the same files found a moment ago, or nil.
func (r *runner) before(ctx context.Context) *record {
	text, err := os.ReadFile(r.recordFile())
	var rec record
	if err != nil || json.Unmarshal(text, &rec) != nil || time.Since(rec.When) > still {
		return nil
	}
	if state, err := r.state(ctx); err != nil || state != rec.State {
		return nil
	}
	return &rec
}

// foundBefore counts and says what need not run again.
func (r *runner) foundBefore(name string, passed int) {
	fmt.Printf("ok   %-60s           %d passed, as `make test` found on the same files\n", name, passed)
	r.counts.Lock()
	defer r.counts.Unlock()
	r.total.passed += passed
}

// left returns what of a module's tests has to run, as rest does; known is 0 if all of it.
func (r *runner) left(ctx context.Context, dir string) (packages []string, skip string, known int) {
	if r.known == nil {
		return nil, "", 0
	}
	plain, err := r.sources(ctx, dir, "")
	if err != nil {
		return nil, "", 0
	}
	tagged, err := r.sources(ctx, dir, r.tags)
	if err != nil {
		return nil, "", 0
	}
	return r.known.rest(plain, tagged)
}

// A source is a package as tags choose its files.
type source struct {
	ImportPath, Dir                    string
	GoFiles, TestGoFiles, XTestGoFiles []string
}

func (s *source) tests() []string { return slices.Concat(s.TestGoFiles, s.XTestGoFiles) }

func (r *runner) sources(ctx context.Context, dir, tags string) (map[string]*source, error) {
	out, err := r.command(ctx, dir, "go", "list", "-tags="+tags, "-json=ImportPath,Dir,GoFiles,TestGoFiles,XTestGoFiles", "./...").Output()
	if err != nil {
		return nil, err
	}
	all := map[string]*source{}
	for dec := json.NewDecoder(bytes.NewReader(out)); dec.More(); {
		s := new(source)
		if err := dec.Decode(s); err != nil {
			return nil, err
		}
		all[s.ImportPath] = s
	}
	return all, nil
}

// rest returns the packages with tests left to run, a pattern of the test functions that are not, and how many tests those have. A pattern
// is for all packages: a function that has to run in one is left out in none.
func (rec *record) rest(plain, tagged map[string]*source) (packages []string, skip string, known int) {
	needed := map[string]bool{}
	var run []string
	for path, s := range tagged {
		p := plain[path]
		if p == nil || !slices.Equal(p.GoFiles, s.GoFiles) {
			return nil, "", 0 // the tags change what is tested
		}
		again := slices.Clone(rec.Other[path])
		if !slices.Equal(p.tests(), s.tests()) {
			run = append(run, path)
			// With a file less, or one that begins by changing variables, the functions of others may mean something else.
			added := func(f string) bool { return !slices.Contains(p.tests(), f) }
			other := slices.ContainsFunc(p.tests(), func(f string) bool { return !slices.Contains(s.tests(), f) }) ||
				slices.ContainsFunc(s.tests(), func(f string) bool { return added(f) && begins(filepath.Join(s.Dir, f)) })
			for _, f := range s.tests() {
				if other || added(f) {
					again = append(again, testFunctions(filepath.Join(s.Dir, f))...)
				}
			}
		}
		for _, name := range again {
			needed[name] = true
		}
	}
	names := map[string]bool{}
	for path := range tagged {
		if len(rec.Other[path]) > 0 {
			run = append(run, path)
		}
		for name, n := range rec.Passed[path] {
			if needed[name] {
				run = append(run, path)
				continue
			}
			names[regexp.QuoteMeta(name)] = true
			known += n
		}
	}
	slices.Sort(run)
	return slices.Compact(run), "^(" + strings.Join(slices.Sorted(maps.Keys(names)), "|") + ")$", known
}

var initFunction = regexp.MustCompile(`(?m)^func init\(\)`)

// begins says whether a file has an init, or cannot be read.
func begins(file string) bool {
	text, err := os.ReadFile(file)
	return err != nil || initFunction.Match(text)
}

var testFunction = regexp.MustCompile(`(?m)^func ((?:Test|Example|Fuzz)\w*)\(`)

// testFunctions returns the names of a file's tests; none of a file that cannot be read, which go test then says.
func testFunctions(file string) []string {
	text, _ := os.ReadFile(file)
	var names []string
	for _, m := range testFunction.FindAllSubmatch(text, -1) {
		names = append(names, string(m[1]))
	}
	return names
}
