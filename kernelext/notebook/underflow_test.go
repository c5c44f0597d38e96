package notebook_test

import (
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/halftone-ml/halftone/widgets"
)

// figuresIn returns the figures that a cell shows, in order.
func figuresIn(t *testing.T, nb saved, cell string) (out []*widgets.Figure) {
	t.Helper()
	for _, c := range nb.Cells {
		if c.ID != cell {
			continue
		}
		for _, o := range c.Outputs {
			raw, ok := o.Data[widgets.MIME]
			if !ok {
				continue
			}
			b, err := json.Marshal(raw)
			if err != nil {
				t.Fatal(err)
			}
			f, err := widgets.Parse(b)
			if err != nil {
				t.Fatalf("cell %s: %v", cell, err)
			}
			out = append(out, f)
		}
	}
	return out
}

// printed is what a cell printed.
func printed(t *testing.T, nb saved, cell string) string {
	t.Helper()
	for _, c := range nb.Cells {
		if c.ID == cell {
			return everything(t, c.Outputs)
		}
	}
	t.Fatalf("no cell %s", cell)
	return ""
}

// checkTiny finds the gradients of the loss where the text has them, and what is printed after a figure behind it.
func checkTiny(t *testing.T, nb saved) {
	if out := printed(t, nb, "data"); !strings.Contains(out, "/ 2^19 = 2^-26.0") {
		t.Errorf("the largest gradient of the loss is not below 2^-25: %s", out)
	}
	for _, c := range nb.Cells { // a line that is printed after a figure comes after it
		if len(c.Outputs) > 1 && c.Outputs[0].OutputType != "display_data" {
			t.Errorf("cell %s begins with %s", c.ID, c.Outputs[0].OutputType)
		}
	}
}

// checkStuck finds float16 without a scaler standing still where float32 learns.
func checkStuck(t *testing.T, nb saved) {
	if out := printed(t, nb, "stuck"); !strings.Contains(out, "0 of 70912 weights changed") {
		t.Errorf("the stuck run says %q", out)
	}
	runs := shown(t, nb, "stuck")["compare"].Runs
	if len(runs) != 2 || len(runs[1].Loss) != 40 {
		t.Fatalf("runs: %+v", runs)
	}
	for i, l := range runs[1].Loss {
		if l != runs[0].Loss[0] {
			t.Errorf("loss of step %d without a scaler is %g, at first %g", i, l, runs[0].Loss[0])
		}
	}
	if r := runs[0].Loss; r[len(r)-1] > r[0]/10 {
		t.Errorf("float32 goes from %g to %g: too little to be held against", r[0], r[len(r)-1])
	}
}

// checkLost finds all gradients of the predictions below what float16 holds, and most of all gradients.
func checkLost(t *testing.T, nb saved) {
	figs := figuresIn(t, nb, "before")
	if len(figs) != 1 || figs[0].Exponents == nil {
		t.Fatalf("%d figures", len(figs))
	}
	d := figs[0].Exponents
	if lost := float64(d.Unscaled.Zero) / float64(d.Unscaled.All()); lost < 0.8 {
		t.Errorf("%.0f %% of the gradients are lost without a scale", 100*lost)
	}
	for _, m := range d.Modules {
		if m.Module == "loss" && m.Unscaled.Zero != m.Unscaled.All() {
			t.Errorf("gradients of the predictions: %+v; the text says that all are lost", m.Unscaled)
		}
	}
}

// checkUnderflowBits finds the number that vanishes and is held when scaled, and the limits of float16 where the text has them.
func checkUnderflowBits(t *testing.T, nb saved) {
	fp16 := func(cell string) (kinds []string) {
		for _, f := range figuresIn(t, nb, cell) {
			for _, v := range f.Bits.Values {
				for _, r := range v.Rows {
					if r.Format == "fp16" {
						kinds = append(kinds, r.Kind)
					}
				}
			}
		}
		return kinds
	}
	for cell, want := range map[string]string{"bits": "zero normal", "limits": "normal subnormal zero subnormal"} {
		if got := strings.Join(fp16(cell), " "); got != want {
			t.Errorf("cell %s: in fp16 the numbers are %q, want %q", cell, got, want)
		}
	}
}

// checkRescue finds the same model learning with a scaler.
func checkRescue(t *testing.T, nb saved) {
	figs := shown(t, nb, "rescue")
	runs := figs["compare"].Runs
	if len(runs) != 3 {
		t.Fatalf("%d runs", len(runs))
	}
	full, half, stuck := runs[0].Loss, runs[1].Loss, runs[2].Loss
	if half[0] != stuck[len(stuck)-1] {
		t.Errorf("the run begins at loss %g; the model was left at %g", half[0], stuck[len(stuck)-1])
	}
	end, reference := half[len(half)-1], full[len(full)-1]
	if end > half[0]/10 || end > 1.15*reference || end < 0.85*reference {
		t.Errorf("with a scaler the loss goes from %g to %g; float32 ends at %g", half[0], end, reference)
	}
	h := figs["scale_history"]
	if h.Nominal != 100 || h.Skipped == 0 || h.Skipped > 10 || h.Scale < 1<<36 || h.Scale > 1<<42 {
		t.Errorf("%d of %d steps skipped, final scale %g", h.Skipped, h.Nominal, h.Scale)
	}
}

var scaleRow = regexp.MustCompile(`(?m)^2\^(\d+) +([\d.]+) % +([\d.]+) % +([\d.]+) % +([\d.]+) %$`)

// checkScales finds the two cliffs and the plain between them.
func checkScales(t *testing.T, nb saved) {
	rows := scaleRow.FindAllStringSubmatch(printed(t, nb, "scales"), -1)
	if len(rows) != 13 {
		t.Fatalf("%d rows in\n%s", len(rows), printed(t, nb, "scales"))
	}
	for _, r := range rows {
		var v [5]float64 // exponent; zero, subnormal, normal, not finite in percent
		for i := range v {
			v[i], _ = strconv.ParseFloat(r[i+1], 64)
		}
		switch k := v[0]; {
		case k == 0 && v[1] != 100, k == 8 && v[2] < 50, k >= 24 && k <= 40 && v[3] < 98, k == 48 && v[4] < 99:
			t.Errorf("at 2^%g: %v", k, r[0])
		}
	}
	figs := figuresIn(t, nb, "at-and-after")
	if len(figs) != 2 {
		t.Fatalf("%d figures", len(figs))
	}
	at, after := figs[0].Exponents, figs[1].Exponents
	if at.Scaled.Overflow+at.Infs+at.NaNs != 0 || float64(at.Scaled.Zero) > 0.01*float64(at.Scaled.All()) {
		t.Errorf("at the scaler's start: %+v, %d infinite, %d NaN", at.Scaled, at.Infs, at.NaNs)
	}
	if after.Infs == 0 || after.NaNs == 0 {
		t.Errorf("far too high a scale: %d infinite, %d NaN", after.Infs, after.NaNs)
	}
}
