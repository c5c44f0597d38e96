package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"

	"github.com/halftone-ml/halftone/internal/wholefile"
	"github.com/halftone-ml/halftone/kernelext/bench"
)

// benchmarkCPU compares the CPU backend with its peers and writes the table to a file, unless only some cases are wanted.
func benchmarkCPU(ctx context.Context, goCmd, python, checkout, path string, rounds int, only []string, report func(done, all int)) error {
	c := bench.Compare{Go: goCmd, Python: python, Checkout: checkout, Rounds: rounds, Budget: 60, Threads: []int{1}, Report: report,
		Cases: bench.Select(bench.CPUCases(), only)}
	if n := runtime.NumCPU(); n > 1 {
		c.Threads = append(c.Threads, n)
	}
	if named := os.Getenv("HALFTONE_BENCH_PYTHON"); named != "" {
		c.Python = named
	} else if found, err := exec.LookPath("python3"); err == nil && hasTorch(ctx, found) {
		c.Python = found
	}
	rows, versions, err := c.Run(ctx)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	b.WriteString("# The CPU backend beside its peers\n\nWritten by `make bench`: run it again rather than edit this page.\n\n")
	bench.PrintCPU(&b, rows, versions, bench.Machine())
	if len(only) > 0 {
		fmt.Fprint(stdout, b.String())
		return nil
	}
	fmt.Fprintf(stdout, "\n%s\nwritten to %s\n", b.String(), path)
	return wholefile.Write(path, b.Bytes(), 0o644)
}

// resultsFile is where the table goes: to the checkout's page, unless another file is named, which keeps what another kind of processor
// gave there.
func resultsFile(checkout, named string) string {
	if named != "" {
		return named
	}
	return filepath.Join(checkout, "amp", "RESULTS.md")
}

// hasTorch says whether a Python has the main peer.
func hasTorch(ctx context.Context, python string) bool {
	return exec.CommandContext(ctx, python, "-c", "import torch").Run() == nil
}
