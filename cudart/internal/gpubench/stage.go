package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// A stage is one program that the run starts. Stages stand in the order of their worth: what is cut off at the end was worth least.
type stage struct {
	name  string
	side  side
	usual time.Duration // what it takes on an H200 or H100, about: it is not begun with less time left
	limit time.Duration // it is ended then
	argv  []string
	dir   string
	env   []string
	lacks string // why it can't run here
}

// A side says what a stage's output is.
type side string

const (
	tests   side = "tests"   // of a test binary, with -test.v
	ours    side = "ours"    // lines of JSON, each a figure of Halftone
	peer    side = "peer"    // the same of PyTorch
	checker side = "checker" // of compute-sanitizer
)

// A plan is what the stages depend on.
type plan struct {
	home, exe string // the bundle, this program
	python    string
	noPeer    string // why there is no PyTorch
	sanitizer string // "" for none
	rounds    int
}

func (p *plan) stages() []stage {
	list := []stage{
		// What comes then does not wait for the driver's compiler, one kernel after another.
		{name: "compile", side: ours, usual: 30 * time.Second, limit: 3 * time.Minute, argv: []string{p.exe, "-compile"}},
		// The walk over the op table: every case of every row on the GPU and on the CPU.
		p.suite("amp", 60, 240, []string{"HALFTONE_COMPARE_DEVICE=cuda:0"}, "-test.run=OnDevice$"),
	}
	list = append(list, p.figures(1)...)
	list = append(list,
		p.suite("cudart", 60, 240, nil),
		p.suite("cudart/driver", 20, 120, nil),
		p.suite("kernelext/session", 60, 180, nil, "-test.run=OnTheGPU$|CapturedInASession$|NoStepWaits$|RefusedStepIsNotKept$|KilledFarBehind$"),
		p.suite("cudart/libraries", 5, 60, nil),
		stage{name: "cells", side: ours, usual: 15 * time.Second, limit: 2 * time.Minute, argv: []string{p.exe, "-cells"}})
	// The tests of amp, of its optimizers and of its layers with the GPU as the device of scopes that name none.
	byDefault := []string{"HALFTONE_TEST_DEVICE=cuda:0"}
	list = append(list,
		p.suite("amp/optim", 20, 120, byDefault, "-test.short"),
		p.suite("amp/nn", 60, 240, byDefault, "-test.short", size("-test.skip=^$", "-test.skip="+notRehearsedTests)),
		p.suite("amp", 60, 240, byDefault, "-test.short"))
	for round := 2; round <= p.rounds; round++ {
		list = append(list, p.figures(round)...)
	}
	return append(list, p.checkers()...)
}

// notRehearsedTests are tests of layers that train models: minutes of the emulator's.
const notRehearsedTests = "Learns$|Fits$|Precisions$|ThreadsDoNotChange"

// suite is a test binary in its own folder, as go test would run it.
func (p *plan) suite(pkg string, usual, limit int, env []string, args ...string) stage {
	s := stage{name: "tests of " + pkg, side: tests, usual: time.Duration(usual) * time.Second, limit: time.Duration(limit) * time.Second,
		argv: append([]string{"./suite.test", "-test.v", fmt.Sprintf("-test.timeout=%ds", limit-5)}, args...), dir: filepath.Join(p.home, "tests", filepath.FromSlash(pkg)), env: env}
	if len(env) > 0 && env[0] == "HALFTONE_TEST_DEVICE=cuda:0" {
		s.name += " on the GPU by default"
	}
	return s
}

// figures are the benchmarks, ours and the peer's in turn, so that what changes with time meets both.
func (p *plan) figures(round int) (list []stage) {
	script := func(name string, args ...string) []string {
		return append([]string{p.python, "-u", filepath.Join(p.home, name)}, args...)
	}
	for _, b := range []struct {
		name       string
		usual      int
		ours, peer []string
		in         string
		env        []string
	}{
		// A model a process: one that loses the device takes no other with it.
		{"steps of MLP", 20, []string{p.exe, "-steps", "-model", "MLP"}, script("steps.py", "MLP"), "", nil},
		{"steps of ResNet", 40, []string{p.exe, "-steps", "-model", "ResNet"}, script("steps.py", "ResNet"), "", nil},
		{"steps of GPT", 40, []string{p.exe, "-steps", "-model", "GPT"}, script("steps.py", "GPT"), "", nil},
		{"kernels", 60, []string{"./suite.test", "-test.run=TestKernelSpeed$", "-test.timeout=235s"}, script("kernelpeer.py", "/dev/stdout"),
			filepath.Join(p.home, "tests", "cudart"), []string{"HALFTONE_SPEED=/dev/stdout"}},
		{"driver", 60, []string{p.exe, "-bench"}, script("peer.py"), "", nil},
	} {
		name := fmt.Sprintf("%s %d", b.name, round)
		usual, limit := time.Duration(b.usual)*time.Second, 4*time.Minute
		list = append(list,
			stage{name: name, side: ours, usual: usual, limit: limit, argv: b.ours, dir: b.in, env: b.env},
			stage{name: name + ", PyTorch", side: peer, usual: usual, limit: limit, argv: b.peer, lacks: p.noPeer})
	}
	return list
}

// checkers run the driver's suite and all kernels' tests under NVIDIA's checker of memory accesses, and the kernels under that of races.
func (p *plan) checkers() (list []stage) {
	if p.sanitizer == "" {
		return nil
	}
	path, err := exec.LookPath(p.sanitizer)
	lacks := ""
	if err != nil {
		path = "/usr/local/cuda/bin/compute-sanitizer"
		if _, e := os.Stat(path); e != nil {
			lacks = err.Error()
		}
	}
	for _, c := range []struct{ tool, pkg, run string }{
		{"memcheck", "cudart/driver", "OnDevice"}, {"memcheck", "cudart", "."}, {"racecheck", "cudart", "Kernel|Row|Gemm|Reduce|Scan|Sort|Attention"},
	} {
		list = append(list, stage{name: c.tool + " of " + c.pkg, side: checker, usual: 90 * time.Second, limit: 4 * time.Minute, lacks: lacks,
			dir: filepath.Join(p.home, "tests", filepath.FromSlash(c.pkg)),
			// What the suites provoke on purpose, calls with wrong arguments, is not an error of theirs.
			argv: []string{path, "--tool", c.tool, "--report-api-errors", "no", "--target-processes", "application-only", "--error-exitcode", "99",
				"./suite.test", "-test.run", c.run, "-test.short"}})
	}
	return list
}
