package bench

import (
	"regexp"
	"strings"
	"testing"
)

// missed has a row for every case and number of threads that is behind every bar it may have.
func missed() []CPURow {
	var rows []CPURow
	for _, threads := range []int{1, 2} {
		for _, c := range CPUCases() {
			r := CPURow{CPUCase: c, Threads: threads, Ours: 1e9, Ratio: 0.5, CPU: 0.5, RSS: 200, PeerRSS: map[string]float64{"torch": 100}, Peers: map[string]float64{"torch": 5e8},
				Ceilings: Ceilings{FMA: 1, BF16: 2, F16: 2, Copy: 1, Region: 1e7}}
			if float32Of(c.Name) != c.Name || c.Env != "" { // behind float32 as well
				r.Ours = 2e9
			}
			if strings.HasPrefix(c.Name, "gpt/") || strings.HasPrefix(c.Name, "resnet18/") {
				r.Held = 10
			}
			rows = append(rows, r)
		}
	}
	return rows
}

// TestCasesAreDistinct: a row of the page has one case.
func TestCasesAreDistinct(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range CPUCases() {
		if seen[c.title()] {
			t.Errorf("two rows are called %q", c.title())
		}
		seen[c.title()] = true
	}
}

// TestEveryMissedBarSaysWhy: the page never says that a bar is missed without saying what limits it, and with a figure of the run.
func TestEveryMissedBarSaysWhy(t *testing.T) {
	said := regexp.MustCompile(`missed by [\d.]+ %; limited by [^|]*\d[^|]*\|`)
	for name, ceilings := range map[string]Ceilings{"measured": {FMA: 1, BF16: 2, F16: 2, Copy: 1, Region: 1e7, Dot: "pairs"}, "unknown": {}} {
		rows := missed()
		for i := range rows {
			rows[i].Ceilings = ceilings
		}
		var b strings.Builder
		PrintCPU(&b, rows, nil, "a machine")
		bars := 0
		for _, line := range strings.Split(b.String(), "\n") {
			if !strings.HasPrefix(line, "| ") || !strings.Contains(line, "missed by") {
				continue
			}
			bars++
			limited := strings.Count(line, "; limited by ")
			if limited != strings.Count(line, "missed by") {
				t.Errorf("%s: a bar is missed for no reason:\n%s", name, line)
			}
			if regexp.MustCompile(`limited by *\|`).MatchString(line) {
				t.Errorf("%s: an empty reason:\n%s", name, line)
			}
			if name == "measured" && !said.MatchString(line) && !strings.Contains(line, heldLimit) && !strings.HasPrefix(line, "| op/") {
				t.Errorf("a reason without a figure of the run:\n%s", line)
			}
		}
		want := 0
		for _, r := range rows {
			if r.Bar > 0 || r.Most > 0 {
				want++
			}
		}
		if want < 60 || bars < want {
			t.Errorf("%s: %d lines with a missed bar for %d cases", name, bars, want)
		}
	}
}

// TestCeilings: which ceiling a row has, and what share of it.
func TestCeilings(t *testing.T) {
	c := Ceilings{FMA: 100, BF16: 1000, F16: 800, Copy: 50, Read: 200, Rewrite: 80, Dot: "tiles"}
	for _, k := range []struct {
		c    CPUCase
		want string
	}{
		{CPUCase{Name: "gemm/f32/8", Flops: 50}, "50 % FMA"},
		{CPUCase{Name: "gemm/f64/8", Flops: 25}, "50 % FMA"},
		{CPUCase{Name: "gemm/bf16/8", Flops: 100}, "10 % tiles"},
		{CPUCase{Name: "gemm/f16/8", Flops: 400}, "50 % tiles"},
		{CPUCase{Name: "gemm/bf16/8", Flops: 50, Env: "HALFTONE_DOT=strict"}, "50 % FMA"},
		{CPUCase{Name: "cast/f32/bf16/8", Bytes: 40}, "80 % copy"},
		{CPUCase{Name: "sum/f32/fwd", Bytes: 100, Moves: "read"}, "50 % read"},
		{CPUCase{Name: "sgd/f32/fwd", Bytes: 40, Moves: "in place"}, "50 % in place"},
		{CPUCase{Name: "op/tape"}, ""},
	} {
		if got := (CPURow{CPUCase: k.c, Ours: 1, Ceilings: c}).showShare(); got != k.want {
			t.Errorf("%s: %q, want %q", k.c.title(), got, k.want)
		}
	}
	if got := (Ceilings{FMA: 1, Region: 5}).best(Ceilings{FMA: 2, Region: 3}); got.FMA != 2 || got.Region != 3 {
		t.Errorf("best of two measurements: %+v", got)
	}
}

// TestModelFlops: the sums of the models' layers, and ResNet-18's as published for images of 32×32, 0.56 G multiply-adds.
func TestModelFlops(t *testing.T) {
	if per := resnetFlops() / 6 / 32; per < 0.54e9 || per > 0.57e9 {
		t.Errorf("ResNet-18: %.3g multiply-adds per image", per)
	}
	if got := gptFlops(); got != 6*1024*(4*(12*256*256+256*128)+256*256) {
		t.Errorf("GPT: %g", got)
	}
	if got := mlpFlops(); got != 2*512*(2*8*16+3*16*16+3*16) {
		t.Errorf("MLP: %g", got)
	}
}
