package main

import (
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
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
	first bool   // what comes then is the better for it: cut off, it has its second attempt before them
	// together is how many test binaries, or checkers of some, run at once where this one does: they are right or wrong in company as well, figures
	// are not.
	together int
	// turns names the stages whose programs take turns: they run at once, and of all but one each moment waits.
	turns string
	seat  *seat
}

// A side says what a stage's output is.
type side string

const (
	tests   side = "tests"   // of a test binary, with -test.v
	ours    side = "ours"    // lines of JSON, each a figure of Halftone
	peer    side = "peer"    // the same of PyTorch
	checker side = "checker" // of compute-sanitizer
	paired  side = "paired"  // how much faster ours was than the peer's, measured in turn
)

// A plan is what the stages depend on.
type plan struct {
	home, exe string // the bundle, this program
	python    string
	noPeer    string // why there is no PyTorch
	onlyOne   string // why no program may run beside another
	sanitizer string // "" for none
	rounds    int
}

func (p *plan) stages() []stage {
	list := []stage{
		// What comes then does not wait for the driver's compiler, one kernel after another.
		{name: compileStage, side: ours, usual: 20 * time.Second, limit: 3 * time.Minute, argv: []string{p.exe, "-compile"}, first: true},
	}
	list = append(list, p.figures(1)...)
	list = append(list,
		stage{name: "cells", side: ours, usual: 5 * time.Second, limit: 2 * time.Minute, argv: []string{p.exe, "-cells"}},
		// Where the steps' time goes, kernel by kernel; it stands in the log.
		stage{name: "profile of steps", side: ours, usual: 6 * time.Second, limit: time.Minute, dir: filepath.Join(p.home, "tests", "cudart"),
			argv: []string{"./suite.test", "-test.v", "-test.run=TestStepProfile$", "-test.timeout=55s"}, env: []string{"HALFTONE_PROFILE=1"}},
		// The walk over the op table: every case of every row on the GPU and on the CPU.
		p.suite("amp", 15, 240, []string{"HALFTONE_COMPARE_DEVICE=cuda:0"}, "-test.run=OnDevice$"),
		p.suite("cudart", 25, 240, nil),
		p.suite("cudart/driver", 10, 120, nil),
		p.suite("kernelext/session", 40, 180, nil, "-test.run=OnTheGPU$|CapturedInASession$|NoStepWaits$|RefusedStepIsNotKept$|KilledFarBehind$"),
		p.suite("cudart/libraries", 1, 60, nil))
	// The tests of amp, of its optimizers, files and layers with the GPU as the device of scopes that name none.
	byDefault := []string{"HALFTONE_TEST_DEVICE=cuda:0"}
	list = append(list,
		p.suite("amp/optim", 5, 120, byDefault, "-test.short"),
		p.suite("amp/checkpoint", 2, 60, byDefault, "-test.short"),
		p.suite("amp/nn", 10, 240, byDefault, "-test.short", rehearsedBut("Learns$|Fits$|Precisions$|ThreadsDoNotChange")),
		p.suite("amp", 100, 240, byDefault, "-test.short", rehearsedBut("Threads$")))
	for round := 2; round <= p.rounds; round++ {
		list = append(list, p.figures(round)...)
	}
	list = append(list, p.checkers()...)
	if p.onlyOne != "" {
		return oneByOne(list, p.onlyOne)
	}
	return list
}

const compileStage = "compile"

// rehearsedBut leaves out of a rehearsal what takes minutes of the emulator's: tests that train models, and that start their programs again.
func rehearsedBut(tests string) string { return size("-test.skip=^$", "-test.skip="+tests) }

// suite is a test binary in its own folder, as go test would run it.
func (p *plan) suite(pkg string, usual, limit int, env []string, args ...string) stage {
	s := stage{name: "tests of " + pkg, side: tests, usual: time.Duration(usual) * time.Second, limit: time.Duration(limit) * time.Second,
		argv: append([]string{"./suite.test", "-test.v", fmt.Sprintf("-test.timeout=%ds", limit-5)}, args...), dir: filepath.Join(p.home, "tests", filepath.FromSlash(pkg)), env: env,
		together: min(8, runtime.NumCPU()/2)}
	if len(env) > 0 && env[0] == "HALFTONE_TEST_DEVICE=cuda:0" {
		s.name += " on the GPU by default"
	}
	return s
}

// figures are the benchmarks, ours and the peer's in turn, so that what changes with time meets both: steps program by program, the rest round
// by round.
func (p *plan) figures(round int) (list []stage) {
	script := func(name string, args ...string) []string {
		return append([]string{p.python, "-u", filepath.Join(p.home, name)}, args...)
	}
	for _, b := range []struct {
		name        string
		usual, peer int
		ours        [][]string // each a program of its own
		script      []string
		in          string
		env         []string
		inTurn      bool
	}{
		// A model a process, and a part of the kernels: one that loses the device takes no other with it.
		{"steps of MLP", 5, 17, [][]string{{p.exe, "-steps", "-model", "MLP"}}, script("steps.py", "MLP"), "", nil, false},
		{"kernels", 3, 16, kernelParts, script("kernelpeer.py", "-"), filepath.Join(p.home, "tests", "cudart"), []string{"HALFTONE_SPEED=-"}, true},
		{"steps of ResNet", 12, 17, [][]string{{p.exe, "-steps", "-model", "ResNet"}}, script("steps.py", "ResNet"), "", nil, false},
		{"steps of GPT", 25, 16, [][]string{{p.exe, "-steps", "-model", "GPT"}}, script("steps.py", "GPT"), "", nil, false},
		{"driver", 5, 8, [][]string{{p.exe, "-bench"}}, script("peer.py"), "", nil, true},
	} {
		name, limit := fmt.Sprintf("%s %d", b.name, round), 150*time.Second
		with := "" // takes turns with those of this name
		if b.inTurn {
			with, limit = name, mostGroup // it waits for the others, and each turn has a limit of its own
		}
		for _, argv := range b.ours {
			part := name
			if len(b.ours) > 1 {
				part += ", " + argv[1][strings.IndexByte(argv[1], '/')+1:len(argv[1])-1]
			}
			list = append(list, stage{name: part, side: ours, usual: time.Duration(b.usual) * time.Second, limit: limit, argv: argv, dir: b.in, env: b.env, turns: with})
		}
		list = append(list, stage{name: name + ", PyTorch", side: peer, usual: time.Duration(b.peer) * time.Second, limit: limit, argv: b.script, lacks: p.noPeer, turns: with})
	}
	return list
}

// kernelParts are the parts of TestKernelSpeed. They have no limit of their own, which would go on while they wait for their turns.
var kernelParts = [][]string{
	{"./suite.test", "-test.run=TestKernelSpeed$/elementwise$", "-test.timeout=0"}, {"./suite.test", "-test.run=TestKernelSpeed$/rows$", "-test.timeout=0"},
	{"./suite.test", "-test.run=TestKernelSpeed$/products$", "-test.timeout=0"}, {"./suite.test", "-test.run=TestKernelSpeed$/layers$", "-test.timeout=0"},
}
