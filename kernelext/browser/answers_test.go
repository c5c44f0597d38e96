package browser

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// answersNotebook asks every %amp command, and trains a net under %%amp.
var answersNotebook = []cell{
	{"code", "%amp help"},
	{"code", "%amp device\n%amp trace health every 2\n%amp scale 2^12 min 1"},
	{"code", "%amp policy softmax linear binary_cross_entropy"},
	{"code", "%amp policy"},
	{"code", "%amp ops conv"},
	{"code", "%amp force gelu=float32 exp=lower"},
	{"code", "%amp help %%amp"},
	{"code", `%%amp float16 --show decisions,scale,exponents,flow,rounding
net := nn.NewSequential(nn.NewLinear(s, 16, 32), nn.ReLU, nn.NewLinear(s, 32, 16))
opt := optim.NewSGD(net.Parameters(), optim.LR(0.01))
scaler := amp.NewGradScaler()
x, y := amp.Randn(s, amp.Float32, 0, 1, 32, 16), amp.Randn(s, amp.Float32, 0, 1, 32, 16)
for step := range s.Steps(60) {
	half := step.Autocast(amp.NoDType)
	loss := nn.MSELoss(half, net.Forward(half.In("net"), x), y)
	opt.ZeroGrad()
	scaler.Scale(step, loss).Backward()
	scaler.Step(opt)
	scaler.Update()
}`},
	{"code", "%%amp off --trace off\nnet := session.Tensor(\"embedding\", func(s *amp.Scope) *amp.Tensor { return amp.Zeros(s, amp.Float32, 100, 8) })\nfmt.Println(net.Shape())"},
	{"code", "%amp session"},
	{"code", "%amp status"},
	{"code", "%amp doctor"},
	{"code", "%amp version"},
}

// storedHTML returns the HTML of a notebook's outputs, in order.
func storedHTML(t *testing.T, path string) (list []string) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var nb struct {
		Cells []struct {
			Outputs []struct {
				Kind  string                     `json:"output_type"`
				Value string                     `json:"evalue"`
				Data  map[string]json.RawMessage `json:"data"`
			} `json:"outputs"`
		} `json:"cells"`
	}
	if err := json.Unmarshal(b, &nb); err != nil {
		t.Fatal(err)
	}
	for i, c := range nb.Cells {
		for _, o := range c.Outputs {
			if o.Kind == "error" {
				t.Fatalf("cell %d: %s", i, o.Value)
			}
			if o.Data["text/html"] == nil {
				continue
			}
			if html := multiline(t, o.Data["text/html"]); strings.Contains(html, `class="halftone-`) {
				list = append(list, html)
			}
		}
	}
	return list
}

// Every answer of %amp is shown whole and readable, in both themes, in a notebook that JupyterLab does not trust.
func TestAnswers(t *testing.T) {
	ready(t)
	source, notebook := filepath.Join(suite.lab.dir, "magics.ipynb"), filepath.Join(suite.lab.dir, "answers.ipynb")
	writeNotebook(t, source, answersNotebook)
	ctx, cancel := context.WithTimeout(t.Context(), 8*time.Minute)
	defer cancel()
	if err := suite.lab.halftone(ctx, "run", "--output", notebook, source); err != nil {
		t.Fatal(err)
	}
	stored := storedHTML(t, notebook)
	if len(stored) != 18 {
		t.Fatalf("%d answers and figures, want 18", len(stored))
	}
	p := openHTML(t, notebook, "answers.ipynb", false)
	p.wait("all answers are there", fmt.Sprintf(`probe.outputs().length === %d`, len(stored)))
	for _, theme := range []string{"Light", "Dark"} {
		t.Run(theme, func(t *testing.T) {
			defer p.in(t)()
			p.theme(theme)
			for i, html := range stored {
				t.Run(fmt.Sprint(i), func(t *testing.T) {
					defer p.in(t)()
					m := p.settled(i)
					p.snapFigure(strings.ToLower(fmt.Sprintf("answer-%s-%d", theme, i)), i)
					if said := p.stored(html); m.Text != said {
						t.Errorf("text is not what is stored:\n shown  %s\n stored %s", m.Text, said)
					}
					for what, list := range map[string][]string{"not visible": m.Hidden, "too little contrast": m.Faint, "cut off": m.Clipped} {
						if len(list) > 0 {
							t.Errorf("%s: %s", what, strings.Join(list, "; "))
						}
					}
					if m.Scripts+m.Controls > 0 {
						t.Errorf("%d scripts, %d controls", m.Scripts, m.Controls)
					}
				})
			}
		})
	}
	p.quiet()
	t.Run("trusted", func(t *testing.T) { tryScales(t, notebook) })
}

// tryScales moves the slider of the exponents, which only a trusted notebook has.
func tryScales(t *testing.T, notebook string) {
	p := openHTML(t, notebook, "slider.ipynb", true)
	const panel = `document.querySelector('.halftone-whatif')`
	p.wait("the slider is there", panel+` !== null`)
	says := func() (text string) {
		t.Helper()
		p.eval("reading", panel+`.querySelector('[aria-live]').textContent`, &text)
		return text
	}
	if text := says(); !strings.HasPrefix(text, "Scaled by 4,096 = 2¹² in float16: the present scale") || !strings.Contains(text, "0% ○ lost to zero") {
		t.Errorf("at first it says %q", text)
	}
	move := func(what, js string) {
		t.Helper()
		p.eval(what, `(() => { const panel = `+panel+`; `+js+`; return true; })()`, nil)
	}
	move("moving the slider", `const s = panel.querySelector('input'); s.value = s.max; s.dispatchEvent(new Event('input'))`)
	if text := says(); !strings.HasPrefix(text, "Scaled by ") || strings.Contains(text, "whole0% × overflow") {
		t.Errorf("at the largest scale it says %q", text)
	}
	p.snap("answer-slider")
	move("choosing bfloat16", `const s = panel.querySelector('select'); s.selectedIndex = [...s.options].findIndex((o) => o.text === 'bfloat16'); s.dispatchEvent(new Event('change'))`)
	if text := says(); !strings.Contains(text, " in bfloat16") || !strings.Contains(text, "0% ○ lost to zero0% ░ fewer digits100% ═ kept whole0% × overflow") {
		t.Errorf("in bfloat16 it says %q", text)
	}
	move("taking the scale out", `panel.querySelectorAll('button')[0].click()`)
	if text := says(); !strings.HasPrefix(text, "Unscaled in bfloat16") {
		t.Errorf("without a scale it says %q", text)
	}
	for _, theme := range []string{"Light", "Dark"} {
		p.theme(theme)
		move("showing it", panel+`.scrollIntoView({ block: 'center' }); panel.querySelectorAll('button')[1].click()`)
		p.snap("answer-slider-" + strings.ToLower(theme))
	}
	p.quiet()
}
