package notebook_test

import (
	"math"
	"strings"
	"testing"

	"github.com/halftone-ml/halftone/widgets"
)

var insideScaler = []claim{
	{"Your dozen lines are the whole thing.", says("machine", "after 2000 of 2000 steps the two agree")},
	{"the scale has drifted to nearly zero", func(t *testing.T, nb saved) {
		if r := rowsOf(t, nb, "machine", `(\d+) were skipped; the scale is (\S+)`, 1)[0]; r[0] < 150 || r[0] > 350 || r[1] > 1e-6 {
			t.Errorf("%g skipped, scale %g", r[0], r[1])
		}
	}},
	{"the 4 of the broken sample became infinite when they were cast to float16", func(t *testing.T, nb saved) {
		out := printed(t, nb, "model")
		if !strings.Contains(out, "step 8 skipped at scale 65536: gradient of 0.weight is NaN\ncast           in loss     4 infinite,   0 NaN of 256 numbers\n") {
			t.Errorf("the first to be bad: %s", out)
		}
	}},
	{"at the first layer 592 of 1024 numbers are NaN", says("model", "matmul         in net/0    0 infinite, 592 NaN of 1024 numbers")},
	{"The figure's verdict is **collapsing**", checkCollapse},
	{"Clipped before unscaling, SGD stands still", checkClipping},
	{"the wrong order costs it *nothing*", checkClipping},
	{"What comes out is less than a quarter of the gradient.", func(t *testing.T, nb saved) {
		rows := rowsOf(t, nb, "accumulate", `4 parts, .*? ([\d.]+) times as long, off by ([\d.]+) %`, 3)
		if right := rows[0]; right[0] < 0.995 || right[0] > 1.005 || right[1] > 0.5 {
			t.Errorf("divided by 4: %v", right)
		}
		if rows[1][0] < 3.99 || rows[1][0] > 4.01 || rows[2][0] > 0.25 || rows[2][0] < 0.2 {
			t.Errorf("not divided, and with a moving scale: %v", rows[1:])
		}
	}},
	{"Calling `Update` after each part, which is how this usually happens, is refused", says("accumulate", "no gradients were checked since the last Update")},
	{"Its Adam is skipped, **and only that**", says("two", "SGD   step 3 applied at scale 65536            Adam 2 step 3 skipped at scale 65536: gradient of right.weight",
		"SGD   step 4 applied at scale 32768 ", "steps taken: 6 5")},
	{"**one step in *n* + 1**", func(t *testing.T, nb saved) {
		for _, r := range rowsOf(t, nb, "probing", `growth interval +(\d+): +(\d+) of (\d+) steps skipped, ([\d.]+) %`, 5) {
			if math.Abs(r[1]/r[2]-1/(r[0]+1)) > 1e-9 {
				t.Errorf("%v", r)
			}
		}
	}},
}

// checkCollapse finds the scale that is halved in every step, the card that says why, the error at the floor, and the cure.
func checkCollapse(t *testing.T, nb saved) {
	d := figuresIn(t, nb, "collapse")[0].Scale
	if d.Verdict != widgets.VerdictCollapsing || d.Skipped != 40 || d.Nominal != 40 || float64(d.Scale) != math.Ldexp(1, -24) {
		t.Errorf("%s: %d of %d skipped, scale %g", d.Verdict, d.Skipped, d.Nominal, d.Scale)
	}
	if len(d.Fixes) == 0 || !strings.Contains(d.Fixes[0].Do, "2.weight NaN") {
		t.Errorf("what helps: %+v", d.Fixes)
	}
	says("collapse", "with amp.MinScale(1), scale 1: amp: GradScaler.Step", "even at the smallest scale allowed", "0 steps skipped")(t, nb)
	stuck := rowsOf(t, nb, "collapse", `(?m)^loss (\S+) … (\S+);`, 1)[0]
	cured := rowsOf(t, nb, "collapse", `under the root: loss (\S+) … (\S+),`, 1)[0]
	if stuck[1] < 0.85*stuck[0] || cured[1] > 0.75*cured[0] {
		t.Errorf("stuck: %v, cured: %v", stuck, cured)
	}
}

// checkClipping finds SGD standing still when it is clipped too early, and Adam not caring.
func checkClipping(t *testing.T, nb saved) {
	rows := rowsOf(t, nb, "clip", `not clipped ([\d.]+), clipped after unscaling ([\d.]+), before ([\d.]+)`, 2)
	sgd, adam := rows[0], rows[1]
	if sgd[2] < 1.2 || sgd[1] > 0.5 {
		t.Errorf("SGD: %v", sgd)
	}
	if adam[2] > 1.1*adam[0] || adam[1] > 1.1*adam[0] {
		t.Errorf("Adam: %v", adam)
	}
	runs := shown(t, nb, "clip")["compare"].Runs
	if early := runs[1].Loss; early[len(early)-1] < 0.9*early[0] {
		t.Errorf("clipped before unscaling: loss from %g to %g", early[0], early[len(early)-1])
	}
}
