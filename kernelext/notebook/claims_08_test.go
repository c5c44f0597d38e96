package notebook_test

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

var gptOnGo = []claim{
	{"A model that is worth its weights has to come out below.", checkBelowEntropy},
	{"Attention is one op here, as in PyTorch: its inputs and its result are float16", checkBlock},
	{"Because their *parts* leave float16, even where their results are tame.", checkByHand},
	{"So **expect less than half off**, and the less the more the weights dominate", checkWindows},
}

// found returns the numbers that a pattern's groups find in a cell's lines.
func found(t *testing.T, nb saved, cell, pattern string) (values []float64) {
	t.Helper()
	out := printed(t, nb, cell)
	for _, m := range regexp.MustCompile(pattern).FindAllStringSubmatch(out, -1) {
		for _, text := range m[1:] {
			v, err := strconv.ParseFloat(text, 64)
			if err != nil {
				t.Fatalf("%q: %v", text, err)
			}
			values = append(values, v)
		}
	}
	if len(values) == 0 {
		t.Fatalf("cell %s: nothing is like %s in\n%s", cell, pattern, out)
	}
	return values
}

// checkBelowEntropy finds both models below the entropy of the bytes and next to each other, and what they write to begin as it was told to.
func checkBelowEntropy(t *testing.T, nb saved) {
	entropy := found(t, nb, "text", `knowing the frequencies (\d+\.\d+)`)[0]
	held := found(t, nb, "train", `(\d+\.\d+) nats per byte`)
	if len(held) != 2 || held[0] > entropy-0.7 || held[1] > entropy-0.7 || math.Abs(held[0]-held[1]) > 0.15 {
		t.Errorf("%v nats per byte; the bytes have an entropy of %v", held, entropy)
	}
	if out := printed(t, nb, "train"); strings.Count(out, "writes:\nfunc ") != 2 {
		t.Errorf("samples: %s", out)
	}
}

// checkBlock reads the precision of the ops that the text names.
func checkBlock(t *testing.T, nb saved) {
	runs := map[string]string{"linear": "float16", "scaled_dot_product_attention": "float16", "layer_norm": "float32", "gelu": "float16", "log_softmax": "float32", "nll_loss": "float32"}
	seen := map[string]bool{}
	for _, f := range figuresIn(t, nb, "model") {
		for _, s := range f.Decisions.Sites {
			if want, ok := runs[s.Op]; ok && s.Phase == "forward" {
				seen[s.Op] = true
				if s.Compute.String() != want {
					t.Errorf("%s in %s runs in %v, want %s", s.Op, s.Module, s.Compute, want)
				}
			}
			if s.Op == "add" && strings.HasPrefix(s.Module, "h.") && s.Phase == "forward" && s.Compute.String() != "float32" {
				t.Errorf("the residual stream in %s is %v", s.Module, s.Compute)
			}
		}
	}
	for op := range runs {
		if !seen[op] {
			t.Errorf("the figure has no %s", op)
		}
	}
}

func checkByHand(t *testing.T, nb saved) {
	out := printed(t, nb, "softmax")
	for _, want := range []string{"with a mean square of +Inf", "[1.333 -1.333 0.667 0.005]", "[NaN 0 0 0]", "[0.7310 0.2689 0.0001 0.0000]"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
}

// checkWindows finds autocast saving more with each larger window, and never half.
func checkWindows(t *testing.T, nb saved) {
	saves := found(t, nb, "memory", `MB, ([-+]\d+) %`)
	if len(saves) != 3 || saves[0] >= 0 || saves[1] >= saves[0] || saves[2] >= saves[1] || saves[2] < -50 {
		t.Errorf("%v %%", saves)
	}
}
