package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"sort"
	"strings"
)

// An event is one line of go test -json.
type event struct {
	Action      string
	Package     string
	ImportPath  string // of build output
	Test        string
	Output      string
	Elapsed     float64
	FailedBuild string
}

// Totals count what was checked.
type totals struct{ passed, failed, skipped int }

func (t *totals) add(o totals) {
	t.passed += o.passed
	t.failed += o.failed
	t.skipped += o.skipped
}

func (t totals) String() string {
	return fmt.Sprintf("%d passed, %d failed, %d skipped", t.passed, t.failed, t.skipped)
}

// A test is what became of one test function or subtest.
type test struct {
	result string // pass, fail, skip; "" when the process died in it
	output strings.Builder
	parent bool // has subtests, which are counted in its place
}

// A tally follows the events of one go test and prints a line per package.
type tally struct {
	out     io.Writer
	tests   map[string]map[string]*test // by package and name
	builds  map[string]*strings.Builder // compiler output by package
	loose   map[string]*strings.Builder // output of a package that belongs to no test
	total   totals
	skips   []string
	failing []string
	longest longest

	passed map[string]map[string]int // by package and test function: how many of its tests
	others map[string][]string       // by package: test functions of which not all passed
}

func newTally(out io.Writer) *tally {
	return &tally{out: out, tests: map[string]map[string]*test{}, builds: map[string]*strings.Builder{}, loose: map[string]*strings.Builder{},
		passed: map[string]map[string]int{}, others: map[string][]string{}}
}

// remember keeps what became of a test for its function, the part of its name before a slash.
func (t *tally) remember(pkg, name string, one *test) {
	function, _, _ := strings.Cut(name, "/")
	switch {
	case one.result != "pass":
		t.others[pkg] = append(t.others[pkg], function)
	case !one.parent:
		if t.passed[pkg] == nil {
			t.passed[pkg] = map[string]int{}
		}
		t.passed[pkg][function]++
	}
}

// read takes events until r ends. Lines that are no events are passed on as they are.
func (t *tally) read(r io.Reader) error {
	lines := bufio.NewReader(r)
	for {
		line, err := lines.ReadString('\n')
		if line != "" {
			var e event
			if json.Unmarshal([]byte(line), &e) == nil && e.Action != "" {
				t.take(e)
			} else {
				fmt.Fprint(t.out, line)
			}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func (t *tally) take(e event) {
	switch {
	case e.Action == "build-output":
		builder(t.builds, e.ImportPath).WriteString(e.Output)
	case e.Action == "build-fail":
	case e.Test == "":
		t.takePackage(e)
	default:
		tests := t.tests[e.Package]
		if tests == nil {
			tests = map[string]*test{}
			t.tests[e.Package] = tests
		}
		one := tests[e.Test]
		if one == nil {
			one = &test{}
			tests[e.Test] = one
			for name := e.Test; strings.Contains(name, "/"); {
				name = name[:strings.LastIndexByte(name, '/')]
				if p := tests[name]; p != nil {
					p.parent = true
				}
			}
		}
		switch e.Action {
		case "output":
			one.output.WriteString(e.Output)
		case "pass", "fail", "skip":
			one.result = e.Action
			t.longest.add(e)
		}
	}
}

// takePackage closes a package when its result comes.
func (t *tally) takePackage(e event) {
	switch e.Action {
	case "output":
		builder(t.loose, e.Package).WriteString(e.Output)
		return
	case "pass", "fail", "skip":
	default:
		return
	}
	var sum totals
	names := make([]string, 0, len(t.tests[e.Package]))
	for name := range t.tests[e.Package] {
		names = append(names, name)
	}
	sort.Strings(names)
	childFailed := func(parent string) bool {
		for _, name := range names {
			if strings.HasPrefix(name, parent+"/") && t.tests[e.Package][name].result != "pass" && t.tests[e.Package][name].result != "skip" {
				return true
			}
		}
		return false
	}
	for _, name := range names {
		one := t.tests[e.Package][name]
		t.remember(e.Package, name, one)
		switch one.result {
		case "pass":
			if !one.parent {
				sum.passed++
			}
		case "skip":
			if !one.parent || one.result == "skip" {
				sum.skipped++
				t.skips = append(t.skips, e.Package+" "+name+": "+reason(one.output.String()))
			}
		default: // failed, or still running when the process died
			if one.parent && childFailed(name) { // it is not counted, but may say why
				fmt.Fprint(t.out, one.output.String())
				continue
			}
			sum.failed++
			t.failing = append(t.failing, e.Package+" "+name)
			fmt.Fprintf(t.out, "FAIL %s %s\n%s", e.Package, name, one.output.String())
		}
	}
	if e.Action == "fail" && sum.failed == 0 {
		sum.failed++
		t.failing = append(t.failing, e.Package)
		fmt.Fprintf(t.out, "FAIL %s\n%s%s", e.Package, buildOutput(t.builds, e), builder(t.loose, e.Package))
	} else if sum.failed > 0 && strings.Contains(builder(t.loose, e.Package).String(), "panic:") {
		fmt.Fprint(t.out, builder(t.loose, e.Package))
	}
	if len(names) > 0 || e.Action == "fail" {
		fmt.Fprintf(t.out, "%-4s %-60s %6.1f s  %s\n", word(e.Action), e.Package, e.Elapsed, sum)
	}
	t.total.add(sum)
	delete(t.tests, e.Package)
}

func word(action string) string {
	if action == "fail" {
		return "FAIL"
	}
	return "ok"
}

func builder(m map[string]*strings.Builder, key string) *strings.Builder {
	if m[key] == nil {
		m[key] = &strings.Builder{}
	}
	return m[key]
}

func buildOutput(builds map[string]*strings.Builder, e event) string {
	if e.FailedBuild != "" {
		return builder(builds, e.FailedBuild).String()
	}
	return ""
}

// reason is what a skipped test said.
func reason(output string) string {
	var last string
	for line := range strings.Lines(output) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "===") || strings.HasPrefix(line, "---") {
			continue
		}
		if _, text, ok := strings.Cut(line, ".go:"); ok {
			if _, text, ok = strings.Cut(text, ": "); ok {
				line = text
			}
		}
		last = line
	}
	return last
}
