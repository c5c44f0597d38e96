package notebook_test

import (
	"math"
	"strings"
	"testing"
)

var bfloat16 = []claim{
	{"100,000 is infinite in float16, and 10⁻⁸ is zero", func(t *testing.T, nb saved) {
		want := []struct{ fp16, bf16 string }{{"infinite", "normal"}, {"zero", "normal"}, {"normal", "normal"}}
		for i, v := range figuresIn(t, nb, "bits")[0].Bits.Values {
			for _, r := range v.Rows {
				if r.Format == "fp16" && r.Kind != want[i].fp16 || r.Format == "bf16" && (r.Kind != want[i].bf16 || i == 2 && r.Value != 1) {
					t.Errorf("%g in %s is %s, %g", float64(v.Value), r.Format, r.Kind, float64(r.Value))
				}
			}
		}
	}},
	{"float16 has no loss at all, from the first step on", func(t *testing.T, nb saved) {
		runs := figuresIn(t, nb, "deep")[0].Runs.Runs
		final := func(i int) float64 { return float64(runs[i].Loss[len(runs[i].Loss)-1]) }
		first := float64(runs[0].Loss[0])
		if full, brain := final(0), final(1); full > first/2 || brain > first/2 {
			t.Errorf("float32 ends at %g, bfloat16 at %g", full, brain)
		}
		for i, l := range runs[2].Loss {
			if !math.IsNaN(float64(l)) {
				t.Errorf("float16 has loss %g in step %d", float64(l), i)
			}
		}
		says("deep", "float16: 60 of 60 steps skipped, scale from 65536 to 2^-44")(t, nb)
	}},
	{"its loss falls to a quarter, while float32's falls to a fifth. It ends some three steps behind", func(t *testing.T, nb saved) {
		runs := figuresIn(t, nb, "deep")[0].Runs.Runs
		full, brain := runs[0].Loss, runs[1].Loss
		last := len(full) - 1
		if a, b := full[last]/full[0], brain[last]/brain[0]; a < .17 || a > .22 || b < .22 || b > .28 {
			t.Errorf("float32 ends at %.3f of where it began, bfloat16 at %.3f", a, b)
		}
		if brain[last] < full[last-2] || brain[last] > full[last-5] {
			t.Errorf("bfloat16 ends at %g, float32 was at %v in its last steps", brain[last], full[last-5:])
		}
	}},
	{"It is the product in block 13 that cannot hold its result", func(t *testing.T, nb saved) {
		out := printed(t, nb, "where")
		_, bad, _ := strings.Cut(out, "float32  largest  5.41e+04,   0 infinite,   0 NaN\n")
		if !strings.HasPrefix(bad, "block13/0  linear  float16") {
			t.Errorf("the first infinities:\n%s", out)
		}
		if r := rowsOf(t, nb, "where", `after block(\d+) +is (\S+)`, 2); r[0][1] > 20 || r[1][1] < 1<<20 {
			t.Errorf("%v", r)
		}
	}},
	{"Now float16 trains without a single skip, and all three end at the same loss, several times lower", func(t *testing.T, nb saved) {
		r := rowsOf(t, nb, "normed", `loss from (\S+) to (\S+) in float32, (\S+) in bfloat16, (\S+) in float16`, 1)[0]
		without := figuresIn(t, nb, "deep")[0].Runs.Runs[0].Loss
		if math.Abs(r[2]-r[1]) > 0.1*r[1] || math.Abs(r[3]-r[1]) > 0.1*r[1] || float64(without[len(without)-1]) < 4*r[1] {
			t.Errorf("%v, without norms %g", r, float64(without[len(without)-1]))
		}
		says("normed", "0 of 60 steps skipped in float16")(t, nb)
	}},
	{"**100 % of all updates swallowed**", func(t *testing.T, nb saved) {
		rows := rowsOf(t, nb, "swallow", `loss (\S+) … ([\d.e-]+) *; swallowed in the last step: +(\d+) %`, 4)
		full, bf16, fp16, chance := rows[0], rows[1], rows[2], rows[3]
		if full[2] != 0 || bf16[2] != 100 || fp16[2] < 90 || chance[2] < 90 {
			t.Errorf("swallowed: %v", rows)
		}
		if bf16[1] < 0.4*bf16[0] || bf16[1]/fp16[1] < 35 || bf16[1]/fp16[1] > 45 || bf16[1]/chance[1] < 100 || chance[1] > fp16[1] {
			t.Errorf("losses: %v", rows)
		}
	}},
	{"an average of weights stops at a quarter of the way", says("decay", "float32   1 · 0.999¹⁰⁰⁰ = 0.3677   average after 10000 steps towards 1: 1.0000\n",
		"float16   1 · 0.999¹⁰⁰⁰ = 0.37", "1: 0.75", "bfloat16  1 · 0.999¹⁰⁰⁰ = 1.0000   average after 10000 steps towards 1: 0.2500\n")},
	{"with one scale for the whole tensor a single row can take all others with it", func(t *testing.T, nb saved) {
		r := rowsOf(t, nb, "eight", `(\S+) % +(\S+) %`, 4)
		half, tensor, row, block := r[0], r[1], r[2], r[3]
		if half[0] > 0.35 || half[1] != half[0] || math.Abs(tensor[0]-4) > 0.5 || tensor[1] != 100 || math.Abs(row[1]-4) > 0.5 || math.Abs(block[1]-4) > 0.5 {
			t.Errorf("errors: %v", r)
		}
		lost := map[string]int{}
		for _, s := range figuresIn(t, nb, "eight")[0].Decisions.Sites {
			for _, c := range s.Casts {
				lost[s.Module+" "+c.Name+" "+c.ToText()] += c.Lost
			}
		}
		if lost["per tensor x e4m3"] != 255*128 || lost["per row x e4m3"] != 0 {
			t.Errorf("lost: %v", lost)
		}
	}},
	{"bfloat16 gives the same gradient at any scale, to the last digit", func(t *testing.T, nb saved) {
		r := rowsOf(t, nb, "gradients", `error of the gradient +(\S+) %`, 4)
		scaled, unscaled, brain, small := r[0][0], r[1][0], r[2][0], r[3][0]
		if brain != small || math.Abs(brain/scaled-8) > 1 || unscaled < 10*brain {
			t.Errorf("errors: %v", r)
		}
	}},
	{"769 of 4096, by the cell.", says("positions", "3073 are different in float16", " 769 are different in bfloat16")},
	{"with a rate of 0.1 it stops at 0.984, and only 0.5 arrives", says("positions", "rate 0.1   after 10000 steps: 0.984", "rate 0.5   after 10000 steps: 1.0000", "is 0.135, in bfloat16 0.977")},
}
