package notebook_test

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

var autocast = []claim{
	{"More than half of all ops are *unlisted*", func(t *testing.T, nb saved) {
		count := map[string]float64{}
		for _, m := range regexp.MustCompile(`(?m)^(\w+) +(\d+) ops`).FindAllStringSubmatch(printed(t, nb, "table"), -1) {
			count[m[1]], _ = strconv.ParseFloat(m[2], 64)
		}
		all := rowsOf(t, nb, "table", `together (\d+)`, 1)[0][0]
		if up := count["fp32"] + count["fp32_output"] + count["fp32_append"]; 2*count["unlisted"] <= all || count["banned"] != 1 || up < 55 || up > 66 {
			t.Errorf("%v of %v", count, all)
		}
	}},
	{"The one after `layer_norm` runs in **fp32 ■**, the other one, after a `linear`, in **fp16 ▮**", func(t *testing.T, nb saved) {
		d := shown(t, nb, "model")["decisions"]
		for module, want := range map[string]string{"net/2": "float32", "net/4": "float16"} {
			if s := find(t, d, module, "gelu"); s.Compute != want {
				t.Errorf("gelu in %s ran in %s", module, s.Compute)
			}
		}
		if s := find(t, d, "net/1", "layer_norm"); s.Compute != "float32" {
			t.Errorf("layer_norm: %+v", s)
		}
	}},
	{"a weight takes a step of **many thousand learning rates**", checkPure},
	{"By hand the loss is infinite from a gap of 20 on", func(t *testing.T, nb saved) {
		for _, r := range rowsOf(t, nb, "hand", `(?m)^ +(\d+) +(\S+) +(\S+) +(\S+)$`, 7) {
			gap, hand, auto, fused := r[0], r[1], r[2], r[3]
			if math.IsInf(hand, 1) != (gap >= 20) || math.IsInf(auto, 1) != (gap >= 110) || math.Abs(fused-gap) > 0.01 {
				t.Errorf("gap %g: %g, %g, %g", gap, hand, auto, fused)
			}
		}
	}},
	{"Zeros. No infinity, no NaN", func(t *testing.T, nb saved) {
		rows := rowsOf(t, nb, "norm", `about +(\d+): by hand +(\S+) +(\S+) …   amp.RMSNorm +(\S+) +(\S+) …`, 3)
		for _, r := range rows[1:] {
			if r[1] != 0 || r[2] != 0 || math.Abs(r[3]-rows[0][3]) > 0.01 {
				t.Errorf("%v", r)
			}
		}
		if r := rows[0]; math.Abs(r[1]-r[3]) > 0.01 {
			t.Errorf("%v", r)
		}
	}},
	{"Casting the *input* to float32 has changed nothing", says("nested",
		"cast to float32 by hand first                        float16  +Inf\n", "in half.Autocast(amp.Float32)                        float32  5.76e+06\n",
		"with linear forced to float32                        float32  5.76e+06\n", "switched off: amp: linear: dtype mismatch", "half itself is what it was                           float16  19200\n")},
	{"The products make nearly all of the error", func(t *testing.T, nb saved) {
		rows := map[string]float64{}
		for _, m := range regexp.MustCompile(`(?m)^(.*?) +error of the logits (\S+) %$`).FindAllStringSubmatch(printed(t, nb, "force"), -1) {
			rows[m[1]], _ = strconv.ParseFloat(m[2], 64)
		}
		as := rows["the table as it is"]
		if as < 0.01 || as > 0.2 || rows["linear forced to float32"] > as/100 || math.Abs(rows["gelu forced to float32"]-as) > as/20 ||
			rows["gelu forced to float16"] > 1.2*as || rows["layer_norm forced to float16"] > 1.2*as {
			t.Errorf("%v", rows)
		}
	}},
	{"The same function, the same input of size 1000, and the right result", func(t *testing.T, nb saved) {
		says("custom", "my_rms(float16) runs in (float32) and gives float32", "the gradient of x is float16")(t, nb)
		op := rowsOf(t, nb, "norm", `about 1000: by hand +\S+ +\S+ …   amp.RMSNorm +(\S+) +(\S+) …`, 1)[0]
		mine := rowsOf(t, nb, "custom", `(?m)^ +(\S+) +(\S+) …;`, 1)[0]
		if math.Abs(mine[0]-op[0]) > 0.01 || math.Abs(mine[1]-op[1]) > 0.01 {
			t.Errorf("%v, the op gives %v", mine, op)
		}
	}},
	{"Most people miss `matmul` in float64", func(t *testing.T, nb saved) {
		out := printed(t, nb, "quiz")
		for _, m := range regexp.MustCompile("`(\\w+\\([^)`]*\\))`").FindAllStringSubmatch(strings.Split(prose(nb), "Your turn")[1], 8) {
			if !strings.Contains(out, m[1]+" runs in") {
				t.Errorf("%s is asked for and not answered:\n%s", m[1], out)
			}
		}
		says("quiz", "matmul(float64, float64) runs in (float64, float64)", "batch_norm(float16, float32, float32) runs in (float16, float32, float32)")(t, nb)
	}},
}

// checkPure finds autocast on float32's losses, and pure float16 far off, for the reason that the text gives.
func checkPure(t *testing.T, nb saved) {
	rows := rowsOf(t, nb, "pure", `loss (\S+) … (\S+); +(\S+) % of the squares are zero; largest step (\S+) learning rates`, 3)
	full, auto, pure := rows[0], rows[1], rows[2]
	if math.Abs(auto[1]-full[1]) > 0.02*full[1] {
		t.Errorf("float32 ends at %g, autocast at %g", full[1], auto[1])
	}
	// Where pure float16 jumps to is chance, that it jumps is not: seeds 1 to 14 left 10 to 51 % of the squares at zero, with steps of 23,888 to
	// 132,448 learning rates.
	runs := figuresIn(t, nb, "pure")[0].Runs.Runs
	end := func(i int) (sum float64) {
		for _, l := range runs[i].Loss[len(runs[i].Loss)-10:] {
			sum += float64(l)
		}
		return sum
	}
	if end(2) < 1.4*end(0) {
		t.Errorf("the last ten losses add up to %g in float32, %g in pure float16", end(0), end(2))
	}
	if full[2] > 1 || auto[2] > 1 || pure[2] < 8 || pure[2] > 60 || full[3] > 1.5 || auto[3] > 1.5 || pure[3] < 4000 {
		t.Errorf("zeros and steps: %v", rows)
	}
	says("pure", "attempting to unscale a float16 gradient")(t, nb)
}
