package notebook_test

import (
	"path/filepath"
	"strings"
	"testing"
)

// A claim is something that the text of a tutorial says, and how it is seen in what the cells gave.
type claim struct {
	says  string // words of the text
	check func(t *testing.T, nb saved)
}

// claims are those of every tutorial. A new one needs a row here; what else is checked of all notebooks (they run, print again what
// is saved, and every number of the text comes from a cell) needs none.
var claims = map[string][]claim{
	"01-first-amp-training": {
		{"The first step was *skipped*, and the loss did not move.", checkFirst},
	},
	"02-floating-point": floatingPoint,
	"03-fp16-underflow": {
		{"even the largest gradient of the loss is below 2⁻²⁵", checkTiny},
		{"it is flat to the last bit: not one weight changed", checkStuck},
		{"Once they are zero, everything upstream is zero", checkLost},
		{"In float16 every bit of the first number is 0.", checkUnderflowBits},
		{"it is the same model. From there its curve lies on float32's.", checkRescue},
		{"There is a wide plain between the two cliffs", checkScales},
	},
	"04-autocast":          autocast,
	"05-gradscaler-inside": insideScaler,
	"06-bfloat16-float16":  bfloat16,
	"07-resnet-and-vit":    convolutional,
	"08-gpt-on-go":         gptOnGo,
	"09-cuda-kernels": {
		{"As a kernel it is one.", checkKernel},
		{"what is wrong with a launch is refused before it runs", checkMistakes},
		{"its speed says nothing of a GPU, so that no times are shown", checkTimes},
		{"Summed in float16 the result is **2048**", checkTensorCores},
		{"step by step and as replays, and compares every weight", checkCapture},
	},
	"10-coming-from": {
		{"Look at where the weights' casts are.", checkLevels},
		{"give the last layer `dtype=\"float32\"` by hand", checkKerasLayers},
		{"A policy computes *everything* in half", checkWhoDecides},
		{"**In fair weather you cannot tell them apart.**", checkRecipes},
	},
}

// TestTutorialClaims holds every tutorial to what its text says, by the outputs of one run. The words of a claim must be in the text,
// so that who changes them looks at its check.
func TestTutorialClaims(t *testing.T) {
	for _, path := range tutorials(t) {
		name := strings.TrimSuffix(filepath.Base(path), ".ipynb")
		t.Run(name, func(t *testing.T) {
			if len(claims[name]) == 0 {
				t.Fatal("no claims: add what the text says to the table")
			}
			e := executed(t, path)
			text := words(prose(e.nb))
			for _, c := range claims[name] {
				t.Run(strings.Join(strings.Fields(c.says)[:min(4, len(strings.Fields(c.says)))], "-"), func(t *testing.T) {
					if !strings.Contains(text, words(c.says)) {
						t.Errorf("the text does not say %q", c.says)
					}
					c.check(t, e.nb)
				})
			}
		})
	}
}

// prose is the text of all markdown cells.
func prose(nb saved) string {
	var b strings.Builder
	for _, c := range nb.Cells {
		if c.CellType == "markdown" {
			b.WriteString(strings.Join(c.Source, "") + "\n\n")
		}
	}
	return b.String()
}

// words are a text with single spaces, as lines may break anywhere.
func words(text string) string { return strings.Join(strings.Fields(text), " ") }
