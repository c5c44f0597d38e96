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
	fmt.Fprintf(stdout, "%s/%s, %d CPUs, %s, %s\n", runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), state.GoVersion, state.Commit)
	steps := func(pkg, name string) func(*install.Progress) ([]bench.Row, error) {
		return func(*install.Progress) ([]bench.Row, error) {
			return bench.Steps(ctx, state.Go, in.Checkout, pkg, name, 5)
		}
	}
	for _, p := range []struct {
		name, what, title string
		run               func(*install.Progress) ([]bench.Row, error)
	}{
		{"cells", fmt.Sprintf("%d rounds", *rounds), "edited cell, from request to idle", func(p *install.Progress) ([]bench.Row, error) {
			return bench.Cells(ctx, in.Layout, state, install.JupyterEnv(in.Layout, state), *rounds, bench.Cases, func(n int) { p.Bar(n, *rounds) })
		}},
		{"steps", "MLP 8-16-16-1, batch 512", "training step (forward, backward, SGD)", steps("./amp/optim", "BenchmarkMLPStep")},
		{"session", "MLP of 100 MB, batch 32", "training step of 100 MB, kept in a session", steps("./kernelext/session", "BenchmarkSession")},
		{"attach", "the same", "a kept model, from call to return", steps("./kernelext/session", "BenchmarkSessionAttach")},
	} {
		var rows []bench.Row
		if err := in.Report.Phase(p.name, func(bar *install.Progress) (_ string, err error) {
			rows, err = p.run(bar)
			return p.what, err
		}); err != nil {
			return err
		}
		bench.Print(stdout, p.title, rows) // at once: the phase after these takes many minutes, and may be stopped
	}
	return in.Report.Phase("cpu", func(p *install.Progress) (string, error) {
		path := resultsFile(in.Checkout, *results)
		return path, benchmarkCPU(ctx, state.Go, state.Python, in.Checkout, path, *cpuRounds, nil, p.Bar)
	})
}

// prefixes of cases; "all" is every case.
func prefixes(list string) []string {
	if list == "all" {
		return []string{""}
	}
	return strings.Split(list, ",")
}
