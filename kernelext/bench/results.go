package bench

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"time"
)

// PrintCPU writes rows as a table in Markdown, with what limits the ratio: machine, versions of peers, and the bars missed.
func PrintCPU(w io.Writer, rows []CPURow, versions map[string]string, machine string) {
	fmt.Fprintf(w, "Machine: %s. Peers: PyTorch: %s; OpenBLAS: %s; C: %s.\n", machine, versions["torch"], versions["numpy"], versions["c"])
	fmt.Fprint(w, "\nTimes are medians over interleaved rounds in one run; the ratio is the median over the rounds of the fastest peer's time divided by ours, so above 1 ours is faster. \"CPU\" is the same ratio of processor time, which other programs on the machine disturb less.\n")
	missed := 0
	for i, r := range rows {
		if i == 0 || r.Threads != rows[i-1].Threads {
			fmt.Fprintf(w, "\n## %d thread(s)\n\n| case | ours | rate | PyTorch | OpenBLAS | C | ratio | CPU | bar | |\n|---|--:|--:|--:|--:|--:|--:|--:|--:|---|\n", r.Threads)
		}
		verdict := ""
		if r.Bar > 0 && r.Ratio > 0 {
			verdict = "ok"
			if r.Ratio < r.Bar {
				missed++
				verdict = fmt.Sprintf("missed by %.0f %%", 100*(1-r.Ratio/r.Bar))
			}
		}
		fmt.Fprintf(w, "| %s | %s | %s | %s | %s | %s | %s | %s | %s | %s |\n", r.Name, showNS(r.Ours), r.rate(), showNS(r.Peers["torch"]), showNS(r.Peers["numpy"]),
			showNS(r.Peers["c"]), number(r.Ratio), number(r.CPU), number(r.Bar), verdict)
	}
	own(w, rows)
	fmt.Fprintf(w, "\nBars missed: %d.\n", missed)
}

// own compares our formats with each other.
func own(w io.Writer, rows []CPURow) {
	find := func(threads int, name string) float64 {
		for _, r := range rows {
			if r.Threads == threads && r.Name == name {
				return r.Ours
			}
		}
		return 0
	}
	fmt.Fprint(w, "\n## Formats against our float32\n\n| case | threads | float32 | this | speed ratio |\n|---|--:|--:|--:|--:|\n")
	for _, r := range rows {
		for _, dt := range []string{"f16", "bf16"} {
			base, ok := strings.CutPrefix(r.Name, "gemm/"+dt+"/")
			full := "gemm/f32/" + base
			if !ok {
				if base, ok = strings.CutSuffix(r.Name, "/"+dt); !ok {
					continue
				}
				full = base + "/f32"
			}
			if f := find(r.Threads, full); f > 0 {
				fmt.Fprintf(w, "| %s | %d | %s | %s | %.2f |\n", r.Name, r.Threads, showNS(f), showNS(r.Ours), f/r.Ours)
			}
		}
	}
}

func (r CPURow) rate() string {
	switch {
	case r.Flops > 0:
		return fmt.Sprintf("%.1f GFLOP/s", r.Flops/r.Ours)
	case r.Bytes > 0:
		return fmt.Sprintf("%.1f GB/s", r.Bytes/r.Ours)
	}
	return ""
}

func showNS(ns float64) string {
	if ns == 0 {
		return "–"
	}
	return show(time.Duration(ns))
}

func number(x float64) string {
	if x == 0 {
		return ""
	}
	return fmt.Sprintf("%.2f", x)
}

// Machine describes this one.
func Machine() string {
	model := runtime.GOARCH
	if f, err := os.Open("/proc/cpuinfo"); err == nil {
		defer f.Close()
		known := map[string]bool{}
		for lines := bufio.NewScanner(f); lines.Scan(); {
			name, value, _ := strings.Cut(lines.Text(), ":")
			switch strings.TrimSpace(name) {
			case "model name":
				model = strings.TrimSpace(value)
			case "flags":
				for _, flag := range strings.Fields(value) {
					known[flag] = true
				}
			}
		}
		for _, flag := range []string{"avx2", "avx512f", "avx512_bf16", "avx512_fp16", "amx_bf16"} {
			if known[flag] {
				model += " " + flag
			}
		}
	}
	return fmt.Sprintf("%s, %d CPUs, %s, %s/%s", model, runtime.NumCPU(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
}
