package main

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"strings"

	"github.com/halftone-ml/halftone/kernelext/bench"
	"github.com/halftone-ml/halftone/kernelext/install"
)

func benchmark(ctx context.Context, args []string) error {
	fs := flags("bench", "", "Measures, side by side in one run, the latency of cells and the time of a training step.")
	newInstaller := installerFlags(fs)
	rounds := fs.Int("rounds", 20, "how often each cell is timed; the table shows medians")
	cpuRounds := fs.Int("cpu-rounds", 6, "how often each case of the CPU backend is timed, two rounds in each walk through the table")
	only := fs.String("cpu", "", "time only the CPU backend, in cases that start with one of these prefixes (with commas; all for every case)")
	results := fs.String("o", "", "write the table of the CPU backend to this file; amp/RESULTS.md of the checkout without")
	if err := parseBare(fs, args); err != nil {
		return err
	}
	if *rounds < 1 || *cpuRounds < 1 {
		return wrongCall("--rounds %d, --cpu-rounds %d: time each cell and case at least once", *rounds, *cpuRounds)
	}
	if *only != "" && len(bench.Select(bench.CPUCases(), prefixes(*only))) == 0 {
		return wrongCall("--cpu %s: no case starts like that; --cpu all times every one, and amp/RESULTS.md names them", *only)
	}
	in, err := newInstaller()
	if err != nil {
		return err
	}
	if *only != "" {
		return benchmarkCPU(ctx, "go", "python3", in.Checkout, "", *cpuRounds, prefixes(*only), func(n, all int) { fmt.Fprintf(os.Stderr, "\r%d of %d ", n, all) })
	}
	if err := in.Install(ctx); err != nil {
		return err
	}
	state, err := in.Layout.Load()
	if err != nil {
		return err
	}
	var cells, steps []bench.Row
	err = in.Report.Phase("cells", func(p *install.Progress) (string, error) {
		cells, err = bench.Cells(ctx, in.Layout, state, install.JupyterEnv(in.Layout, state), *rounds, bench.Cases, func(n int) { p.Bar(n, *rounds) })
		return fmt.Sprintf("%d rounds", *rounds), err
	})
	if err != nil {
		return err
	}
	err = in.Report.Phase("steps", func(p *install.Progress) (string, error) {
		steps, err = bench.Steps(ctx, state.Go, in.Checkout, "./amp/optim", "BenchmarkMLPStep", 5)
		return "MLP 8-16-16-1, batch 512", err
	})
	if err != nil {
		return err
	}
	var kept, attach []bench.Row
	err = in.Report.Phase("session", func(p *install.Progress) (string, error) {
		if kept, err = bench.Steps(ctx, state.Go, in.Checkout, "./kernelext/session", "BenchmarkSession", 5); err == nil {
			attach, err = bench.Steps(ctx, state.Go, in.Checkout, "./kernelext/session", "BenchmarkSessionAttach", 5)
		}
		return "MLP of 100 MB, batch 32", err
	})
	if err != nil {
		return err
	}
	err = in.Report.Phase("cpu", func(p *install.Progress) (string, error) {
		path := resultsFile(in.Checkout, *results)
		return path, benchmarkCPU(ctx, state.Go, state.Python, in.Checkout, path, *cpuRounds, nil, p.Bar)
	})
	if err != nil {
		return err
	}
	fmt.Fprintf(stdout, "\n%s/%s, %d CPUs, %s, %s\n", runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), state.GoVersion, state.Commit)
	bench.Print(stdout, "edited cell, from request to idle", cells)
	bench.Print(stdout, "training step (forward, backward, SGD)", steps)
	bench.Print(stdout, "training step of 100 MB, kept in a session", kept)
	bench.Print(stdout, "a kept model, from call to return", attach)
	return nil
}

// prefixes of cases; "all" is every case.
func prefixes(list string) []string {
	if list == "all" {
		return []string{""}
	}
	return strings.Split(list, ",")
}
