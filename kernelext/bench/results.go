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
	fmt.Fprintf(w, "Machine: %s. Peers:", machine)
	head, rule := "| case | ours | rate | of its ceiling |", "|---|--:|--:|--:|"
	for i, p := range Peers {
		fmt.Fprintf(w, "%s %s: %s", [2]string{"", ";"}[min(i, 1)], p.Title, versions[p.Name])
		head, rule = head+" "+p.Title+" |", rule+"--:|"
	}
	fmt.Fprintln(w, ".")
	fmt.Fprintf(w, "\nTimes are medians over interleaved rounds in one run; the ratio is the median over the rounds of the fastest peer's time divided by ours, so above 1 ours is faster. \"CPU\" is the same ratio of processor time, which other programs on the machine disturb less. A peer that is over %d times behind the fastest in the first round is timed in that round only; GoMLX multiplies halves of up to 512³ here, since it takes half a minute for 2048³. %s\n", hopeless, disturbances(rows))
	missed := 0
	for i, r := range rows {
		if i == 0 || r.Threads != rows[i-1].Threads {
			fmt.Fprintf(w, "\n## %d thread(s)\n\nCeilings: %s.\n\n%s ratio | CPU | bar | |\n%s--:|--:|--:|---|\n", r.Threads, r.Ceilings, head, rule)
		}
		verdict, behind := r.verdict(r.Ratio, r.Bar)
		bar := number(r.Bar)
		if r.Most > 0 {
			bar = "≤ " + showNS(r.Most)
			verdict, behind = atMost(r.Ours, r.Most, r.because())
		}
		if behind {
			missed++
		}
		fmt.Fprintf(w, "| %s | %s | %s | %s |", r.title(), showNS(r.Ours), r.rate(), r.showShare())
		for _, p := range Peers {
			fmt.Fprintf(w, " %s |", showNS(r.Peers[p.Name]))
		}
		fmt.Fprintf(w, " %s | %s | %s | %s |\n", number(r.Ratio), number(r.CPU), bar, verdict)
	}
	missed += own(w, rows)
	missed += memory(w, rows)
	fmt.Fprintf(w, "\nBars missed: %d.\n", missed)
}

// disturbances says how much of a run had to be measured again.
func disturbances(rows []CPURow) string {
	var rounds, again, left int
	for _, r := range rows {
		rounds, again, left = rounds+r.Rounds, again+r.Again, left+r.Disturbed
	}
	return fmt.Sprintf("The table is walked several times, up to %d rounds of a case each time and with all processes started anew, so that the rounds of a case lie minutes apart. "+
		"A round is disturbed if a contender, ours or a peer, stood still in it, in that its wall time was more than %.2f times what its processor time takes in its best round, "+
		"or if a loop of multiply-adds on every processor, run before, between and after the contenders, took more than %.2f times its median over the run: someone else used the cores. "+
		"Disturbed rounds are measured again in up to %d further walks, the less disturbed measurement counts, and the times of ours and of peers have no part in that: of %d rounds that was done %d times, and %d were disturbed all the same.",
		perPass, tooIdle, tooSlow, mostAgain, rounds, again, left)
}

// strict says that halves of any format are multiplied as float32, since the processor or HALFTONE_DOT has it so.
func (r CPURow) strict() bool {
	return r.Env == "HALFTONE_DOT=strict" || r.Env == "" && r.Ceilings.Dot == "strict"
}

// ownBar is the bar of a format, or of another form of our kernels, against our float32 as it is.
func ownBar(c CPURow) float64 {
	training := strings.HasPrefix(c.Name, "gpt/") || strings.HasPrefix(c.Name, "resnet18/")
	switch {
	case c.Env == "HALFTONE_DOT=strict":
		return 0.97
	case c.Env != "":
		return 0
	case strings.HasPrefix(c.Name, "gemm/f16/"):
		return 0.97
	case strings.HasPrefix(c.Name, "gemm/bf16/") && c.strict():
		return 0.97
	case strings.HasPrefix(c.Name, "gemm/bf16/"):
		return 1.8
	case training && strings.HasSuffix(c.Name, "/f16"):
		return 1 / 1.10
	}
	return 0
}

// float32Of is the name of the case in float32.
func float32Of(name string) string {
	part := strings.Split(name, "/")
	for i, p := range part {
		if p == "f16" || p == "bf16" {
			part[i] = "f32"
		}
	}
	return strings.Join(part, "/")
}

// own compares our formats with each other, and returns how many bars were missed.
func own(w io.Writer, rows []CPURow) (missed int) {
	fmt.Fprint(w, "\n## Formats and modes against our float32\n\n| case | threads | float32 | this | speed ratio | bar | |\n|---|--:|--:|--:|--:|--:|---|\n")
	for _, r := range rows {
		full := float32Of(r.Name)
		f := find(rows, r.Threads, full).Ours
		if strings.HasPrefix(r.Name, "cast/") || full == r.Name && r.Env == "" || f == 0 || r.Ours == 0 {
			continue
		}
		bar := ownBar(r)
		verdict, behind := r.verdict(f/r.Ours, bar)
		if behind {
			missed++
		}
		fmt.Fprintf(w, "| %s | %d | %s | %s | %.2f | %s | %s |\n", r.title(), r.Threads, showNS(f), showNS(r.Ours), f/r.Ours, number(bar), verdict)
	}
	return missed
}

// find returns the row of a case in our usual form.
func find(rows []CPURow, threads int, name string) CPURow {
	for _, r := range rows {
		if r.Threads == threads && r.Name == name && r.Env == "" {
			return r
		}
	}
	return CPURow{}
}

// heldBar is how much of the activation memory of float32 a step in half precision may take.
const heldBar = 0.65

// memory shows what training steps keep, and returns how many bars were missed.
func memory(w io.Writer, rows []CPURow) (missed int) {
	fmt.Fprint(w, "\n## Memory of training steps\n\nActivations: tensor memory held between forward and backward. RSS: most that was resident in the whole process during the case, libraries included.\n\n"+
		"| case | threads | activations, MiB | of float32 | bar | | RSS, MiB | PyTorch's | |\n|---|--:|--:|--:|--:|---|--:|--:|---|\n")
	count := func(verdict string, behind bool) string {
		if behind {
			missed++
		}
		return verdict
	}
	for _, r := range rows {
		if r.Held == 0 {
			continue
		}
		part, bar, verdict, rss := 0.0, 0.0, "", ""
		if f := find(rows, r.Threads, float32Of(r.Name)); f.Held > 0 && f.Name != r.Name {
			part = r.Held / f.Held
			if !strings.HasPrefix(r.Name, "mlp/") {
				bar = heldBar
				verdict = count(atMost(part, bar, heldLimit))
			}
		}
		if p := r.PeerRSS["torch"]; p > 0 {
			rss = count(atMost(r.RSS, p, fmt.Sprintf("%.0f MiB beside the activations: parameters, gradients, and what the heap keeps for the next step", r.RSS-r.Held)))
		}
		fmt.Fprintf(w, "| %s | %d | %.1f | %s | %s | %s | %.0f | %.0f | %s |\n", r.title(), r.Threads, r.Held, number(part), number(bar), verdict, r.RSS, r.PeerRSS["torch"], rss)
	}
	return missed
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
	switch {
	case ns == 0:
		return "–"
	case ns < 1000:
		return fmt.Sprintf("%.0f ns", ns)
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
