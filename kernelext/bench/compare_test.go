package bench

import (
	"context"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestCompare runs the harness itself: our worker, and those peers that are installed.
func TestCompare(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	python, err := exec.LookPath("python3")
	if err != nil {
		python = "python3-is-missing"
	}
	c := Compare{Go: "go", Python: python, Checkout: root, Rounds: 3, Budget: 1, Threads: []int{1}, Cases: Select(CPUCases(), []string{"gemm/f32/64/", "cast/f32/f16"})}
	rows, versions, err := c.Run(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) != len(c.Cases) || len(rows) != 2 {
		t.Fatalf("%d rows", len(rows))
	}
	for _, r := range rows {
		if r.Rounds != map[string]int{"gemm": 2, "cast": 3}[r.Name[:4]] {
			t.Errorf("%s: %d rounds", r.Name, r.Rounds)
		}
		if r.Ours <= 0 || (r.Ratio > 0) != (len(r.Peers) > 0) {
			t.Errorf("%+v", r)
		}
	}
	for _, p := range Peers {
		if versions[p.Name] == "" {
			t.Errorf("%s: neither a version nor that it is missing", p.Name)
		}
	}
}

// TestCPUTable: what the page says of a bar that was met and of one that was missed.
func TestCPUTable(t *testing.T) {
	rows := []CPURow{
		{CPUCase: CPUCase{Name: "gemm/f32/64", Bar: 1, Flops: 1e6}, Threads: 1, Ours: 2e3, Peers: map[string]float64{"torch": 1e3}, Ratio: 0.5, CPU: 0.6, Ceilings: Ceilings{FMA: 1000}},
		{CPUCase: CPUCase{Name: "gemm/bf16/64", Bar: 1}, Threads: 1, Ours: 1e3, Peers: map[string]float64{"torch": 2e3}, Ratio: 2, CPU: 2},
		{CPUCase: CPUCase{Name: "gemm/bf16/64", Env: "HALFTONE_DOT=strict"}, Threads: 1, Ours: 4e3},
		{CPUCase: CPUCase{Name: "gemm/f32/32"}, Threads: 1, Ours: 1e3},
		{CPUCase: CPUCase{Name: "gemm/bf16/32"}, Threads: 1, Ours: 1e3, Ceilings: Ceilings{Dot: "strict"}},
		{CPUCase: CPUCase{Name: "gpt/f32"}, Threads: 1, Ours: 1e3, Held: 40},
		{CPUCase: CPUCase{Name: "gpt/f16"}, Threads: 1, Ours: 1e3, Held: 30, RSS: 300, PeerRSS: map[string]float64{"torch": 200}},
	}
	var b strings.Builder
	PrintCPU(&b, rows, map[string]string{"torch": "PyTorch 9", "numpy": "not installed", "c": "C loop"}, "a machine")
	for _, want := range []string{
		"| gemm/f32/64 | 2.0 µs | 500.0 GFLOP/s | 50 % FMA | 1.0 µs | – | – | – | – | 0.50 | 0.60 | 1.00 | missed by 50 %; limited by what surrounds its products: at the peak of this run its products alone would take 50 % of its time |", "| 2.00 | 2.00 | 1.00 | ok |",
		"| gemm/bf16/64 | 1 | 2.0 µs | 1.0 µs | 2.00 | 1.80 | ok |",
		"| gemm/bf16/32 | 1 | 1.0 µs | 1.0 µs | 1.00 | 0.97 | ok |",
		"| gemm/bf16/64 HALFTONE_DOT=strict | 1 | 2.0 µs | 4.0 µs | 0.50 | 0.97 | missed by 48 %; limited by " + strictLimit + " |",
		"| gpt/f16 | 1 | 30.0 | 0.75 | 0.65 | missed by 15 %; limited by " + heldLimit + " | 300 | 200 | missed by 50 %; limited by 270 MiB", "OpenBLAS: not installed", "Bars missed: 4.",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("the table lacks %q:\n%s", want, b.String())
		}
	}
}
