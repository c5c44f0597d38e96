package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"time"
)

// A checked part is those tests of a suite that one process of compute-sanitizer runs. A launch takes some hundred times as long there, on the host
// above all: the parts, side by side, are cut so that each ends within about two minutes on an H200.
type checked struct {
	tool, pkg, part string
	run, skip       string // of go test
}

// Parts that are cut out of others.
const (
	owe, oweFused        = "^TestGradientsThatOwe$", "^TestGradientsThatOwe$/^fused"
	drawn                = "^TestDrawn"
	later                = "Captur|Replay|ComesAndGo|ComeAndGo"
	attention            = "^TestAttention"
	inTiles, tilesCausal = "^TestAttentionInTiles$", "^TestAttentionInTiles$/causal"
	inPlace              = "^TestAttentionWritesInPlace$"
	raced                = "OnTensorCores|Products|Sums|Norm|Scan|Order|Fast|Counts|Clips"
)

// checkedParts are all kernels' tests and the driver's suite under the checker of memory accesses, and the kernels with shared memory under that
// of races.
var checkedParts = []checked{
	{"memcheck", "cudart/driver", "", "OnDevice", ""},
	{"memcheck", "cudart", "debts", owe, oweFused},
	{"memcheck", "cudart", "debts of fused steps", oweFused, ""},
	{"memcheck", "cudart", "drawn", drawn, later},
	{"memcheck", "cudart", "captured", later, ""},
	{"memcheck", "cudart", "A to E", "^Test[A-E]", drawn + "|" + later},
	{"memcheck", "cudart", "F to Z", "^Test[^A-E]", owe + "|" + later},
	{"racecheck", "cudart", "products and order", "Products|Order", attention},
	{"racecheck", "cudart", "", raced, attention + "|Products|Order"},
	{"racecheck", "cudart", "attention", attention, inTiles + "|" + inPlace},
	{"racecheck", "cudart", "attention in place", inPlace, ""},
	{"racecheck", "cudart", "attention in tiles", inTiles, tilesCausal},
	{"racecheck", "cudart", "causal attention in tiles", tilesCausal, ""},
}

// checkers are the stages of the checked parts.
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
	for _, c := range checkedParts {
		// What the suites provoke on purpose, calls with wrong arguments, is not an error of theirs.
		argv := []string{path, "--tool", c.tool, "--report-api-errors", "no", "--target-processes", "application-only", "--error-exitcode", "99",
			"./suite.test", "-test.v", "-test.run", c.run, "-test.short"}
		if c.skip != "" {
			argv = append(argv, "-test.skip", c.skip)
		}
		name := c.tool + " of " + c.pkg
		if c.part != "" {
			name += ", " + c.part
		}
		list = append(list, stage{name: name, side: checker, usual: 90 * time.Second, limit: 5 * time.Minute, lacks: lacks, together: max(5, runtime.NumCPU()-2),
			dir: filepath.Join(p.home, "tests", filepath.FromSlash(c.pkg)), argv: argv})
	}
	return list
}
