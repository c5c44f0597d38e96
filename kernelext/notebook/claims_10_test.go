package notebook_test

import (
	"regexp"
	"strings"
	"testing"
)

// checkKerasLayers finds the policy on the body and the last layer in float32.
func checkKerasLayers(t *testing.T, nb saved) {
	want := regexp.MustCompile(`net/0 +computes in float16\n +net/2 +computes in float16\n +head +computes in float32`)
	if out := printed(t, nb, "keras-code"); !want.MatchString(out) {
		t.Error(out)
	}
}

// checkLevels finds the casts of the weights under O1, and none under O2, where they are float16.
func checkLevels(t *testing.T, nb saved) {
	levels := figuresIn(t, nb, "apex-code")
	if len(levels) != 2 {
		t.Fatalf("%d figures", len(levels))
	}
	for i, f := range levels {
		weights := 0
		for _, s := range f.Decisions.Sites {
			for _, c := range s.Casts {
				if s.Op == "linear" && s.Phase == "forward" && strings.HasSuffix(c.Name, "weight") {
					weights++
				}
			}
		}
		if want := 3 * (1 - i); weights != want {
			t.Errorf("O%d: %d weights are cast, want %d", i+1, weights, want)
		}
	}
}

// checkWhoDecides reads what the lists and the policy do with each op.
func checkWhoDecides(t *testing.T, nb saved) {
	out := printed(t, nb, "who")
	for op, want := range map[string]string{
		"linear":               `(fp16 → fp16 +){4}`,
		"exp":                  `fp32 → fp32 +fp16 → fp16 +fp32 → fp32 +fp16 → fp16`,
		"mean":                 `fp16 → fp16 +fp16 → fp16 +fp32 → fp32 +fp16 → fp16`,
		"mse_loss":             `fp32 → fp32 +fp32 → fp32 +fp32 → fp32 +fp16 → fp16`,
		"binary_cross_entropy": `refused +fp32 → fp32 +refused +fp16 → fp16`,
	} {
		if !regexp.MustCompile(`(?m)^` + op + ` +` + want + ` *$`).MatchString(out) {
			t.Errorf("%s is not %s in\n%s", op, want, out)
		}
	}
}

// checkRecipes reads the table of all recipes: in fair weather none can be told from float32; dynamic scales skip the broken batch and
// nothing else; what has no scale takes it and is lost; and pure half precision does not move on small gradients.
func checkRecipes(t *testing.T, nb saved) {
	out := printed(t, nb, "table")
	lines := strings.Split(strings.TrimSpace(out), "\n")
	column := func(line, head, next string) string { // they begin where their heads do
		from, to := strings.Index(lines[0], head), len(line)
		if next != "" {
			to = strings.Index(lines[0], next)
		}
		return strings.TrimSpace(line[min(from, len(line)):min(to, len(line))])
	}
	var fairest string
	rows := 0
	for _, line := range lines {
		name, weights, layers := column(line, "recipe", "weights"), column(line, "weights", "layers"), column(line, "layers", "fair")
		if !strings.Contains(weights, "float") {
			continue
		}
		fair, broken, small := column(line, "fair", "broken"), column(line, "broken", "small"), column(line, "small", "")
		if rows++; rows == 1 {
			fairest = fair
		}
		if fair != fairest {
			t.Errorf("%s: %s in fair weather, float32 has %s", name, fair, fairest)
		}
		pure := weights == "float16" && name != "Apex O2"
		scaled := layers == "float16" && !pure
		switch {
		case scaled && !strings.HasSuffix(broken, ", 1 skipped"),
			pure && broken != "NaN: lost",
			!scaled && !pure && !regexp.MustCompile(`e\+\d\d$`).MatchString(broken):
			t.Errorf("%s after a broken batch: %s", name, broken)
		}
		if stuck := strings.HasSuffix(small, "no weight moved"); stuck != pure || !pure && small != fair {
			t.Errorf("%s with small gradients: %s", name, small)
		}
	}
	if rows != 12 {
		t.Fatalf("%d recipes in\n%s", rows, out)
	}
}
