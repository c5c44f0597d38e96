package bench

import (
	"fmt"
	"strings"
)

// A missed bar says by how much and what limits it: how much of the machine's ceiling the row reaches in this run, and what is known of the
// kernel beyond that.

// missedBy says by how much.
func missedBy(ratio, bar float64) string {
	part := 100 * (1 - ratio/bar)
	if part < 1 {
		return fmt.Sprintf("missed by %.1f %%", part)
	}
	return fmt.Sprintf("missed by %.0f %%", part)
}

// because is what limits a row: what is known of it, and the figures of this run that show it.
func (r CPURow) because() string {
	var causes, figures []string
	known := limit(r.CPUCase, r.Ceilings.Dot)
	if known != "" {
		causes = append(causes, known)
	}
	part, name := r.share()
	switch {
	case part == 0:
	case r.Bytes > 0:
		kind := "arithmetic rather than memory"
		if part >= 0.8 {
			kind = "memory"
		}
		causes = append(causes, kind)
		figures = append(figures, fmt.Sprintf("%s as many bytes would take %.0f %% of its time in this run", moving[name], 100*part))
	default:
		if known == "" {
			causes = append(causes, "what surrounds its products")
		}
		figures = append(figures, fmt.Sprintf("at the peak of this run its products alone would take %.0f %% of its time", 100*part))
	}
	if loops := r.Ceilings.Region / r.Ours; r.Threads > 1 && r.Ours > 0 && loops >= 0.002 {
		causes = append(causes, "starting threads")
		figures = append(figures, fmt.Sprintf("a parallel loop costs %.1f %% of its time", 100*loops))
	}
	switch {
	case len(causes) == 0:
		return "what is unknown: no ceiling of this machine was measured, as where there are no vector kernels"
	case len(figures) == 0:
		return strings.Join(causes, ", and by ")
	}
	return strings.Join(causes, ", and by ") + ": " + strings.Join(figures, ", ")
}

// moving says what a ceiling in bytes is of.
var moving = map[string]string{"copy": "copying", "read": "reading", "in place": "writing in place"}

// verdict is the last column: whether a bar is reached, and why not.
func (r CPURow) verdict(ratio, bar float64) (text string, missed bool) {
	switch {
	case bar == 0 || ratio == 0:
		return "", false
	case ratio >= bar:
		return "ok", false
	}
	return missedBy(ratio, bar) + "; limited by " + r.because(), true
}

// atMost is the verdict on a bar from above: what is limited by why may be as much as most.
func atMost(got, most float64, why string) (text string, missed bool) {
	if got <= most {
		return "ok", false
	}
	return fmt.Sprintf("missed by %.0f %%; limited by %s", 100*(got/most-1), why), true
}

// limits says, by prefix of the case and, unless it is "", by what multiplies bfloat16, what is known to keep ours behind; the first that
// fits counts. Figures of a run do not belong here.
var limits = []struct{ prefix, dot, text string }{
	{"gemm/bf16/", "tiles", "copying b for the tile registers, and what the L3 cache delivers to them: fetching overlaps only in part with their products"},
	{"gemm/bf16/", "", "packing both operands in pairs, and rounding and storing sums"},
	{"gemm/f32/1/", "", "what the L3 cache delivers"},
	{"gemm/f32/1024/1/", "", "the order of sums: each multiply-add, of 16 rows at a time, waits for the one before"},
	{"conv/bf16/", "", "what is no product: packing the weight, pairing channels of the input, storing sums"},
	{"conv/f32/", "", "the loads beside its multiply-adds, which the caches deliver more slowly than they are used, and bringing the input to the order of its kernels"},
	{"depthwise/", "", "copying rows: each element is used in few products"},
	{"gpt/", "", "what is no product"},
	{"resnet18/", "", "what is no product: batch norm and the elementwise passes"},
	{"mlp/", "", "the cost of its ops, each too small to compute for long"},
	{"op/", "", "the op's node, result and record on the heap"},
}

// heldLimit is what keeps the activations of a step from halving.
const heldLimit = "what autocast keeps in float32: the sums along the residual path, which layer_norm reads, and the inputs of the loss"

// strictLimit is what keeps a small product of halves, computed as float32, behind one of float32.
const strictLimit = "widening and copying both operands: float32 reads one where it lies"

func limit(c CPUCase, dot string) string {
	halves := strings.HasPrefix(c.Name, "gemm/bf16/") || strings.HasPrefix(c.Name, "gemm/f16/")
	if strings.Contains(c.Env, "HALFTONE_DOT=strict") || halves && dot == "strict" {
		return strictLimit
	}
	for _, l := range limits {
		if strings.HasPrefix(c.Name, l.prefix) && (l.dot == "" || l.dot == dot) {
			return l.text
		}
	}
	return ""
}
