// Command testrun is what `make test` runs: format, vet, an installation for the tests, then all tests, those of nested modules and staticcheck
// beside the others. It ends with one line of totals that counts what really ran.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/halftone-ml/halftone/kernelext/install"
	"github.com/halftone-ml/halftone/kernelext/internal/testenv"
	"github.com/halftone-ml/halftone/kernelext/wire"
)

type runner struct {
	root    string
	tags    string
	goFlags string
	counts  sync.Mutex // of what check and test count: checks run beside others and tests
	total   totals
	skips   []string
	failing []string
	longest longest

	passed map[string]map[string]int // see tally
	others map[string][]string
	known  *record // what need not be run again

	executed string // folder of what tutorials put out, see keepExecuted
}

func main() {
	tags := flag.String("tags", "", "build tags, e.g. long")
	only := flag.String("run", "", "run only tests that match, and no other checks")
	timeout := flag.Duration("timeout", 40*time.Minute, "longest time for one package")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	root, err := install.FindCheckout(".")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	r := &runner{root: root, tags: *tags, goFlags: goFlags(ctx), passed: map[string]map[string]int{}, others: map[string][]string{}}
	began := time.Now()
	disk := watchDisk(root, os.TempDir(), goCache(ctx)) // where the tests write
	var ready sync.WaitGroup
	ready.Go(func() { // waits for downloads most of the time, while the others compute
		r.check(ctx, "install", r.install)
		r.check(ctx, "chromium", r.chromium)
		r.check(ctx, "compilers", r.compilers)
	})
	if *only == "" {
		r.check(ctx, "gofmt", r.gofmt)
		r.check(ctx, "go vet", r.vet)
	}
	ready.Wait()
	whole := *only == "" && flag.NArg() == 0
	var state string
	switch {
	case whole && *tags == "":
		_ = os.Remove(r.recordFile())
		state, err = r.state(ctx)
	case whole:
		r.known = r.before(ctx)
	}
	if whole {
		err = errors.Join(err, r.keepExecuted())
	}
	dirs := modules(root)
	test := func(dir string) {
		if packages := within(dirs, dir, flag.Args()); len(packages) > 0 || flag.NArg() == 0 {
			r.test(ctx, dir, *only, *timeout, packages)
		}
	}
	var beside sync.WaitGroup
	beside.Go(func() { // nested modules' tests wait for browsers a third of the time
		for _, dir := range dirs[1:] {
			test(dir)
		}
	})
	test(root)
	switch { // it has work for all processors, whatever of the tests beside it is left
	case *only != "":
	case r.known != nil:
		r.foundBefore("staticcheck", 1)
	default:
		r.check(ctx, "staticcheck", r.staticcheck)
	}
	beside.Wait()
	if state != "" && err == nil && ctx.Err() == nil && r.total.failed == 0 {
		r.keep(ctx, state)
	}
	if strings.Contains(*tags, "long") && *only == "" {
		r.fuzz(ctx)
	}
	if ctx.Err() != nil {
		fmt.Println("interrupted: what follows counts only what had run")
		r.total.failed++
	}
	if len(r.longest) > 0 {
		fmt.Printf("\nlongest:\n%s", r.longest)
	}
	if len(r.skips) > 0 {
		fmt.Println("\nskipped:")
		for _, s := range r.skips {
			fmt.Println("  " + s)
		}
	}
	if len(r.failing) > 0 {
		fmt.Println("\nfailed:")
		for _, s := range r.failing {
			fmt.Println("  " + s)
		}
	}
	fmt.Printf("\n%s%.0f s\n%s\n", disk(), time.Since(began).Seconds(), r.total)
	if r.total.failed > 0 || r.total.passed == 0 {
		os.Exit(1)
	}
}

// check runs one check that is not a Go test and counts it as one.
func (r *runner) check(ctx context.Context, name string, fn func(context.Context) (string, error)) {
	began := time.Now()
	out, err := fn(ctx)
	r.counts.Lock()
	defer r.counts.Unlock()
	if err != nil {
		r.total.failed++
		r.failing = append(r.failing, name)
		fmt.Printf("FAIL %s: %v\n%s\n", name, err, strings.TrimSpace(out))
		return
	}
	r.total.passed++
	fmt.Printf("ok   %-60s %6.1f s\n", name, time.Since(began).Seconds())
}

// goFlags returns the user's flags with that of cells, so that packages are compiled once for cells and for tests.
func goFlags(ctx context.Context) string {
	out, _ := exec.CommandContext(ctx, "go", "env", "GOFLAGS").Output() // without an answer there are none
	user := strings.TrimSpace(string(out))
	if strings.Contains(user, "-gcflags") {
		return user
	}
	return strings.TrimSpace(user + " " + wire.NoDebugData)
}

func (r *runner) command(ctx context.Context, dir, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	cmd.Env = os.Environ()
	if os.Getenv("CGO_ENABLED") == "" {
		cmd.Env = append(cmd.Env, "CGO_ENABLED=0") // as cells are built; one standard library to compile, not two
	}
	cmd.Env = append(cmd.Env, "GOFLAGS="+r.goFlags)
	for k, v := range testenv.Vars(r.root) {
		cmd.Env = append(cmd.Env, k+"="+v)
	}
	if r.executed != "" {
		cmd.Env = append(cmd.Env, "HALFTONE_TEST_EXECUTED="+r.executed)
	}
	// Tests start programs of their own: an interrupt goes to them as well, and they get a moment to clean up.
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 20 * time.Second
	return cmd
}

func (r *runner) gofmt(ctx context.Context) (string, error) {
	var files []string
	err := filepath.WalkDir(r.root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && path != r.root && (strings.HasPrefix(d.Name(), ".") || d.Name() == "node_modules" || d.Name() == "testdata") {
			return fs.SkipDir
		}
		if !d.IsDir() && strings.HasSuffix(path, ".go") {
			files = append(files, path)
		}
		return nil
	})
	if err != nil {
		return "", err
	}
	goCmd, _, err := install.FindGo(ctx, r.root)
	if err != nil {
		return "", err
	}
	out, err := r.command(ctx, r.root, filepath.Join(filepath.Dir(goCmd), "gofmt"), append([]string{"-l"}, files...)...).CombinedOutput()
	if err == nil && len(bytes.TrimSpace(out)) > 0 {
		err = fmt.Errorf("these files are not formatted; run `make fmt`")
	}
	return string(out), err
}

// everyFile is the build tag with which all files of the checkout are read, those of the long tests too.
const everyFile = "long"

// fewCollections takes a sixth off the time in which go commands compile what has changed. It is not for the tests themselves.
const fewCollections = "GOGC=400"

func (r *runner) vet(ctx context.Context) (string, error) {
	return r.everyModule(ctx, "env", fewCollections, "go", "vet", "-tags="+everyFile, "./...")
}

// staticcheck is built at the version that its own module pins.
func (r *runner) staticcheck(ctx context.Context) (string, error) {
	bin := filepath.Join(r.root, ".halftone", "bin", "staticcheck")
	build := r.command(ctx, filepath.Join(r.root, "kernelext", "tools", "staticcheck"), "go", "build", "-o", bin, "honnef.co/go/tools/cmd/staticcheck")
	if out, err := build.CombinedOutput(); err != nil {
		return string(out), fmt.Errorf("building it: %w", err)
	}
	return r.everyModule(ctx, bin, "-tags="+everyFile, "./...")
}

// everyModule runs a command in the module root and in each nested module.
func (r *runner) everyModule(ctx context.Context, name string, args ...string) (string, error) {
	var all strings.Builder
	var errs []error
	for _, dir := range modules(r.root) {
		out, err := r.command(ctx, dir, name, args...).CombinedOutput()
		all.Write(out)
		errs = append(errs, err)
	}
	return all.String(), errors.Join(errs...)
}

// install brings the tests' installation up to date before the tests do it one after another.
func (r *runner) install(ctx context.Context) (string, error) {
	if err := testenv.Set(r.root); err != nil {
		return "", err
	}
	in := testenv.New(r.root, install.NewReporter(os.Stdout))
	if err := in.Install(ctx); err != nil {
		return "", err
	}
	return "", in.Completion(ctx)
}

// modules returns the module root and the nested modules that have packages, those whose tests are long first.
func modules(root string) []string {
	dirs := []string{root}
	_ = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return nil
		case d.IsDir() && path != root && (strings.HasPrefix(d.Name(), ".") || d.Name() == "node_modules" || d.Name() == "testdata"):
			return fs.SkipDir
		case d.Name() == "go.mod" && filepath.Dir(path) != root:
			if found, _ := filepath.Glob(filepath.Join(filepath.Dir(path), "*.go")); len(found) > 0 {
				dirs = append(dirs, filepath.Dir(path))
			}
		}
		return nil
	})
	longModulesFirst(root, dirs[1:])
	return dirs
}

// within returns those of the packages, patterns of paths from the root, that are of the module in dir, as paths from there.
func within(dirs []string, dir string, packages []string) (own []string) {
	for _, p := range packages {
		path, of := filepath.Join(dirs[0], p), dirs[0]
		for _, d := range dirs[1:] {
			if path == d || strings.HasPrefix(path, d+string(filepath.Separator)) {
				of = d
			}
		}
		if of == dir {
			rel, _ := filepath.Rel(dir, path)
			own = append(own, "./"+filepath.ToSlash(rel))
		}
	}
	return own
}

// test runs the tests of one module.
func (r *runner) test(ctx context.Context, dir, only string, timeout time.Duration, packages []string) {
	args := []string{"test", "-json", "-count=1", "-vet=off", "-timeout=" + timeout.String(), "-tags=" + r.tags}
	if len(packages) == 0 {
		packages = r.longFirst(ctx, dir)
		if left, skip, known := r.left(ctx, dir); known > 0 {
			r.foundBefore(filepath.Base(dir), known)
			if len(left) == 0 {
				return
			}
			packages, args = longFirst(left), append(args, "-skip="+skip)
		}
	}
	if only != "" {
		args = append(args, "-run="+only)
	}
	cmd := r.command(ctx, dir, "go", append(args, packages...)...)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		fmt.Println("FAIL go test:", err)
		r.counts.Lock()
		defer r.counts.Unlock()
		r.total.failed++
		return
	}
	t := newTally(os.Stdout)
	if err := t.read(out); err != nil {
		fmt.Println("FAIL go test:", err)
		t.total.failed++
	}
	if err := cmd.Wait(); err != nil && t.total.failed == 0 {
		fmt.Println("FAIL go test:", err)
		t.total.failed++
	}
	r.counts.Lock()
	defer r.counts.Unlock()
	r.total.add(t.total)
	r.skips = append(r.skips, t.skips...)
	maps.Copy(r.others, t.others)
	maps.Copy(r.passed, t.passed)
	r.failing = append(r.failing, t.failing...)
	for _, e := range t.longest {
		r.longest.add(e)
	}
}
