package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"

	"github.com/halftone-ml/halftone/kernelext/bench"
)

// benchmarkCPU compares the CPU backend with its peers and writes the table to amp/RESULTS.md, unless only some cases are wanted.
func benchmarkCPU(ctx context.Context, goCmd, python, checkout string, rounds int, only []string, report func(done, all int)) error {
	c := bench.Compare{Go: goCmd, Python: python, Checkout: checkout, Rounds: rounds, Budget: 60, Threads: []int{1}, Report: report,
		Cases: bench.Select(bench.CPUCases(), only)}
	if n := runtime.NumCPU(); n > 1 {
		c.Threads = append(c.Threads, n)
	}
	if path := os.Getenv("HALFTONE_BENCH_PYTHON"); path != "" {
		c.Python = path
	} else if path, err := exec.LookPath("python3"); err == nil && hasTorch(ctx, path) {
		c.Python = path
	}
	rows, versions, err := c.Run(ctx)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	b.WriteString("# The CPU backend beside its peers\n\nWritten by `make bench`: run it again rather than edit this page.\n\n")
	bench.PrintCPU(&b, rows, versions, bench.Machine())
	if len(only) > 0 {
		fmt.Print(b.String())
		return nil
	}
	path := filepath.Join(checkout, "amp", "RESULTS.md")
	fmt.Printf("\n%s\nwritten to %s\n", b.String(), path)
	return os.WriteFile(path, b.Bytes(), 0o644)
}

// hasTorch says whether a Python has the main peer.
func hasTorch(ctx context.Context, python string) bool {
	return exec.CommandContext(ctx, python, "-c", "import torch").Run() == nil
}
