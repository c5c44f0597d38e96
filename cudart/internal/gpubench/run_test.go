//go:build linux

package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// sh is a stage of a shell command.
func sh(name string, s side, command string) stage {
	return stage{name: name, side: s, usual: time.Second, limit: time.Minute, argv: []string{"/bin/sh", "-c", command}}
}

// stages runs a list in a folder, as a call of the program would.
func call(t *testing.T, ctx context.Context, dir string, left time.Duration, list ...stage) *state {
	t.Helper()
	st, err := load(dir)
	if err != nil {
		t.Fatal(err)
	}
	st.Began, st.Device.Name, st.planned = "2026-01-02 03:04 UTC", "a device", list
	if err := st.runStages(ctx, list, func() time.Duration { return left }); err != nil {
		t.Fatal(err)
	}
	return st
}

func (st *state) of(t *testing.T, stage string, want status) *entry {
	t.Helper()
	e := st.entryOf(stage)
	if e == nil || e.Status != want {
		t.Fatalf("%s is %v, want %s", stage, e, want)
	}
	return e
}

func needsShell(t *testing.T) {
	if _, err := exec.LookPath("/bin/sh"); err != nil {
		t.Skip(err)
	}
}

// TestStages: what stages come to is read from their output, one that fails or lacks something stops no other, and the report has it all.
func TestStages(t *testing.T) {
	needsShell(t)
	slow := sh("slow", ours, `echo '{"name":"a","value":3,"unit":"x"}'; exec sleep 60`)
	slow.limit = 300 * time.Millisecond
	lacking := sh("lacking", peer, "true")
	lacking.lacks = "it is not there"
	dir := t.TempDir()
	st := call(t, t.Context(), dir, time.Hour,
		sh("suite", tests, `echo '--- PASS: TestA (0.00s)'; echo '    a_test.go:7: no reason'; echo '--- SKIP: TestB (0.00s)'; echo '--- FAIL: TestC (0.00s)'; exit 1`),
		sh("parts", tests, `printf '=== RUN   TestD\n=== RUN   TestD/a\n    d_test.go:3: no room\n=== RUN   TestD/b\n=== RUN   TestD/c\n    d_test.go:3: no room\n'
			printf -- '--- PASS: TestD (0.00s)\n    --- SKIP: TestD/a (0.00s)\n    --- PASS: TestD/b (0.00s)\n    --- SKIP: TestD/c (0.00s)\nPASS\n'`),
		slow,
		sh("again", ours, `echo noise; echo '{"name":"a","value":5,"unit":"x"}'; echo '{"name":"copy on the device, 400 MB","value":10,"unit":"x"}'; printf '{"name":"ha'; echo; echo '{"name":"add fp32","value":9}'`),
		sh("PyTorch", peer, `echo '{"name":"a","value":8,"unit":"x"}'`),
		lacking,
		sh("memcheck", checker, `echo '========= ERROR SUMMARY: 0 errors'; exit 99`),
		sh("racecheck", checker, `echo '========= Error: Race reported'; echo '=========     in a kernel'; exit 99`))
	e := st.of(t, "suite", failed)
	if e.Passed != 1 || e.Failed != 1 || e.Skipped != 1 {
		t.Errorf("%+v", e)
	}
	if s := e.String(); !strings.HasSuffix(s, "1 skipped  exit status 1; TestC failed") {
		t.Error(s)
	}
	st.of(t, "slow", tooLong)
	st.of(t, "again", done)
	st.of(t, "lacking", missing)
	st.of(t, "memcheck", failed)
	if bad := strings.Join(st.bad(), " "); bad != "suite slow memcheck racecheck" {
		t.Error(bad)
	}
	text, err := os.ReadFile(st.path("results.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"## 2026-01-02: a device", "| suite | failed | 1 | 1 | 1 |", "- suite: TestB skipped: no reason", "- suite: TestC failed", "- parts: TestD/a, TestD/c skipped: no room\n",
		"| a | 4 | 8 | 0.500 | x |", "| add fp32, 100 M | 0.9 | ≥ 0.85 × copy bandwidth | met |", "| add fp32, 100 M | not measured | ≥ 1 × PyTorch's speed |  |",
		"- lacking: missing: it is not there", "- slow: timed out", "ERROR SUMMARY: 0 errors", "no summary; 1 errors told until then"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	// In a rehearsal no number is written.
	st.Device.Emulated = true
	if text := string(st.report()); strings.Contains(text, "| a | 4") || strings.Contains(text, "| met |") || !strings.Contains(text, "4 figures of Halftone and 1 of PyTorch") {
		t.Error(text)
	}
	if err := st.save(); err != nil {
		t.Fatal(err)
	}
	if err := appendReport(dir, dir+"/RESULTS.md"); err == nil || !strings.Contains(err.Error(), "not recorded") {
		t.Errorf("a rehearsal was recorded: %v", err)
	}
}

// TestCutOff: a call that ends goes on from where it was; what is cut off twice is given up, and the figures of a cut attempt give way to the next one's.
func TestCutOff(t *testing.T) {
	needsShell(t)
	dir := t.TempDir()
	long := sh("long", ours, `echo '{"name":"b","value":'$(cat `+dir+`/n)'}'; exec sleep 60`)
	first, last := sh("first", ours, `echo '{"name":"f","value":1}'`), sh("last", ours, `echo '{"name":"l","value":1}'`)
	list := []stage{first, long, last}
	cutOff := func(n string) *state {
		if err := os.WriteFile(dir+"/n", []byte(n), 0o600); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			for ctx.Err() == nil { // until it has said its figure
				if text, _ := os.ReadFile(dir + "/figures.jsonl"); strings.Contains(string(text), `"value":`+n+",") {
					cancel()
				}
				time.Sleep(time.Millisecond)
			}
		}()
		defer cancel()
		return call(t, ctx, dir, time.Hour, list...)
	}
	st := cutOff("2")
	st.of(t, "first", done)
	st.of(t, "long", cut)
	if st.entryOf("last") != nil {
		t.Error("a run that was ended went on")
	}
	st = cutOff("3") // the last one has its turn before the long one has another
	st.of(t, "last", done)
	if e := st.of(t, "long", cut); e.Attempts != 2 {
		t.Errorf("%+v", e)
	}
	if err := st.save(); err != nil {
		t.Fatal(err)
	}
	if bad := strings.Join(st.bad(), " "); bad != "long" || !strings.Contains(string(st.report()), "- long: cut off twice") {
		t.Errorf("what is given up: %q\n%s", bad, st.report())
	}
	if v := st.medians().ours["b"]; v != 3 {
		t.Errorf("the median of both attempts is %v", v)
	}
	began := time.Now()
	st = call(t, t.Context(), dir, time.Hour, list...)
	if time.Since(began) > 30*time.Second || st.entryOf("long").Attempts != 2 {
		t.Error("it had a third attempt")
	}
	// What a call that was killed had begun is cut off, and its page says so. What it wrote last may be no whole line.
	st.entryOf("long").Status, st.entryOf("long").Attempts = running, 1
	if err := st.save(); err != nil {
		t.Fatal(err)
	}
	if text, _ := os.ReadFile(st.path("results.md")); !strings.Contains(string(text), "- long: cut off") {
		t.Errorf("%s", text)
	}
	for _, text := range []string{`{"stage":"long","na`, "", `{"stage":"last","attempt":1,"name":"whole","value":1}` + "\n", ""} {
		f, err := st.appendFigures()
		if err != nil {
			t.Fatal(err)
		}
		_, _ = f.WriteString(text)
		f.Close()
	}
	if err := st.readFigures(); err != nil || st.figures[len(st.figures)-1].Name != "whole" {
		t.Errorf("%v, %v", st.figures, err)
	}
	st, err := load(dir)
	if err != nil {
		t.Fatal(err)
	}
	st.of(t, "long", cut)
	if n, usual := st.open(list); n != 1 || usual != long.usual {
		t.Errorf("%d are left, of %v", n, usual)
	}
	// One that others depend on has its second attempt before them.
	for _, first := range []bool{false, true} {
		long.first = first
		if s, ok := st.next([]stage{long, sh("other", ours, "true")}, func(stage) bool { return true }); !ok || (s.name == "long") != first {
			t.Errorf("%s comes next", s.name)
		}
	}
	if err := os.WriteFile(dir+"/state.json", []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := load(dir); err == nil || !strings.Contains(err.Error(), "-o") {
		t.Error(err)
	}
}

// TestTime: nothing is begun that usually takes longer than what is left, but for the first of a call.
func TestTime(t *testing.T) {
	needsShell(t)
	dir := t.TempDir()
	long := sh("long", ours, "true")
	long.usual = time.Hour
	longer := long
	longer.name = "longer"
	list := []stage{long, longer, sh("short", ours, "true")}
	st := call(t, t.Context(), dir, time.Minute, list...)
	st.of(t, "long", done)
	st.of(t, "short", done)
	if st.entryOf("longer") != nil {
		t.Error("an hour was begun with a minute left")
	}
	call(t, t.Context(), dir, time.Minute, list...).of(t, "longer", done)
}

func TestCommandLine(t *testing.T) {
	if s := commandLine([]string{"-o", "/somewhere/r", "-sanitizer", "", "-within", "4m"}, "/somewhere/r"); s != `-o r -sanitizer "" -within 4m` {
		t.Error(s)
	}
}

// TestTogether: test binaries run side by side, as many as may, and nothing else runs beside them.
func TestTogether(t *testing.T) {
	needsShell(t)
	dir := t.TempDir()
	// each waits until the other one is there
	meets := func(name, other string) stage {
		s := sh(name, tests, `touch `+dir+`/`+name+`; until test -e `+dir+`/`+other+`; do sleep 0.01; done; echo '--- PASS: Test`+name+` (0.00s)'; echo PASS`)
		s.limit, s.together = 20*time.Second, 2
		return s
	}
	alone := sh("C", tests, `test -e `+dir+`/A && test ! -e `+dir+`/D && echo '--- PASS: TestC (0.00s)'; echo PASS`)
	alone.together = 2
	st := call(t, t.Context(), dir, time.Hour, meets("A", "B"), meets("B", "A"), alone, sh("D", ours, "touch "+dir+"/D"))
	for _, name := range []string{"A", "B", "C"} {
		if e := st.of(t, name, done); e.Passed != 1 {
			t.Errorf("%+v", e)
		}
	}
	st.of(t, "D", done)
	memory, races := meets("E", "F"), meets("F", "E")
	memory.side, races.side = checker, checker
	st = call(t, t.Context(), dir, time.Hour, memory, races)
	st.of(t, "E", done)
	st.of(t, "F", done)
	text, err := os.ReadFile(dir + "/log.txt")
	if err != nil || strings.Count(string(text), "=== stage") != 6 || !strings.Contains(string(text), "TestC") {
		t.Errorf("%v\n%s", err, text)
	}
	if left, _ := filepath.Glob(dir + "/stage-*"); len(left) > 0 {
		t.Error("left behind:", left)
	}
}

// TestAppendReport: a run's report is one section of the file, whose place the next report of the same run takes.
func TestAppendReport(t *testing.T) {
	needsShell(t)
	dir := t.TempDir()
	file := dir + "/RESULTS.md"
	if err := os.WriteFile(file, []byte("# What\n\n## Before\n\ntext\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, value := range []string{"7", "8"} {
		st := call(t, t.Context(), dir, time.Hour, sh("v"+value, ours, `echo '{"name":"v`+value+`","value":`+value+`}'`))
		if err := st.save(); err != nil {
			t.Fatal(err)
		}
		if err := appendReport(dir, file); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if s := string(text); strings.Count(s, "\n## ") != 2 || !strings.HasPrefix(s, "# What\n\n## Before\n\ntext\n\n## 2026-01-02: a device\n") || !strings.Contains(s, "| v8 | 8 |") {
		t.Error(s)
	}
	if err := appendReport(t.TempDir(), file); err == nil {
		t.Error("a folder without results")
	}
}

// TestPlan: the stages have names of their own and each fits into ten minutes.
func TestPlan(t *testing.T) {
	p := &plan{home: "/home", exe: "/home/run", python: "python3", sanitizer: "compute-sanitizer", rounds: 3}
	seen := map[string]bool{}
	for _, s := range p.stages() {
		if seen[s.name] || s.usual > s.limit || s.limit > 5*time.Minute {
			t.Errorf("%+v", s)
		}
		seen[s.name] = true
	}
	if last := p.stages()[len(seen)-1]; last.side != checker {
		t.Errorf("the last is %s", last.name)
	}
	if len(seen) < 20 {
		t.Errorf("%d stages", len(seen))
	}
	// What is worth most comes first: what a call of nine minutes has time for are all figures that bars look at, and the walk over the table.
	var early time.Duration
	var names []string
	for _, s := range p.stages() {
		if early += s.usual; early > 9*time.Minute {
			break
		}
		names = append(names, s.name)
	}
	first := strings.Join(names, "; ")
	for _, want := range []string{"compile; steps of MLP 1; ", "kernels 1, elementwise; ", "kernels 1, layers; kernels 1, PyTorch; ", "steps of GPT 1, PyTorch", "driver 1, PyTorch; cells; profile of steps; tests of amp; ", "tests of cudart"} {
		if !strings.Contains(first, want) {
			t.Errorf("no %q among the first: %s", want, first)
		}
	}
}

// TestEnvironment: stages share a cache of the driver's, if the caller has not named one.
func TestEnvironment(t *testing.T) {
	needsShell(t)
	t.Setenv("CUDA_CACHE_PATH", "")
	t.Setenv("CUDA_CACHE_MAXSIZE", "7")
	st := call(t, t.Context(), t.TempDir(), time.Hour, sh("a", ours, `echo "{\"name\":\"$CUDA_CACHE_PATH\",\"value\":$CUDA_CACHE_MAXSIZE}"`))
	if err := st.save(); err != nil || len(st.figures) != 1 || !strings.HasSuffix(st.figures[0].Name, "/halftone-gpubench") || st.figures[0].Value != 7 {
		t.Errorf("%v, %v", st.figures, err)
	}
	cache := t.TempDir() + "/cache"
	t.Setenv("CUDA_CACHE_PATH", cache)
	if !nothingCompiled() {
		t.Error("a cache that is not there")
	}
	if err := os.MkdirAll(cache+"/0", 0o755); err != nil || nothingCompiled() {
		t.Error("a cache with something in it", err)
	}
}
