package browser

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A cell of a notebook that these tests write.
type cell struct{ kind, source string }

// figuresNotebook shows the figures of training runs: decisions with casts, a backward pass and magnitudes, a scale history with
// skipped steps and their culprits, the exponents of the gradients, a comparison, and a scaler that is disabled. All is seeded.
var figuresNotebook = []cell{
	{"markdown", "# Figures\n\nEvery kind of figure, as the browser tests look at them."},
	{"code", `import (
	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/amp/nn"
	"github.com/halftone-ml/halftone/amp/optim"
	"github.com/halftone-ml/halftone/widgets"
)

// train fits a small network and returns its losses.
func train(root *amp.Scope, autocast amp.DType, scaler *amp.GradScaler, steps int) []float64 {
	x := amp.Randn(root, amp.Float32, 0, 1, 64, 8)
	y := amp.Randn(root, amp.Float32, 0, 1, 64, 1)
	net := nn.NewSequential(nn.NewLinear(root, 8, 16), nn.ReLU, nn.NewLinear(root, 16, 1))
	opt := optim.NewSGD(net.Parameters(), optim.LR(0.05))
	var losses []float64
	for s := range root.Steps(steps) {
		half := s
		if autocast != amp.Float32 {
			half = s.Autocast(autocast)
		}
		loss := nn.MSELoss(half, net.Forward(half.In("net"), x), y)
		opt.ZeroGrad()
		scaler.Scale(s, loss).Backward()
		scaler.Step(opt)
		scaler.Update()
		losses = append(losses, loss.Item())
	}
	return losses
}

%%
root := amp.NewScope(amp.Seed(1), amp.Record(amp.Health), amp.HealthEvery(10))
defer root.Close()
scaler := amp.NewGradScaler(amp.InitScale(1<<22))
train(root, amp.Float16, scaler, 80)
widgets.Show(widgets.Decisions(root.Trace()), widgets.ScaleHistory(scaler.History()), widgets.Exponents(root.Trace(), scaler.History()))`},
	{"code", `%%
var runs []widgets.Run
for _, d := range []amp.DType{amp.Float32, amp.Float16, amp.BFloat16} {
	root := amp.NewScope(amp.Seed(1))
	scaler := amp.NewGradScaler(amp.ScalerEnabled(d == amp.Float16))
	runs = append(runs, widgets.Run{Name: d.String(), DType: d, Loss: train(root, d, scaler, 80)})
	root.Close()
}
widgets.Show(widgets.Compare(runs...), widgets.ScaleHistory(amp.NewGradScaler(amp.ScalerEnabled(false)).History()))`},
}

// liveNotebook is run by hand, in the page.
var liveNotebook = []cell{
	{"code", `import (
	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/amp/nn"
	"github.com/halftone-ml/halftone/widgets"
)

%%
root := amp.NewScope(amp.Seed(1), amp.Record(amp.Decisions))
defer root.Close()
half := root.Autocast(amp.Float16)
x := amp.Randn(root, amp.Float32, 0, 1, 4, 10)
nn.MSELoss(half, nn.NewLinear(root, 10, 1).Forward(half, x), amp.Randn(root, amp.Float32, 0, 1, 4, 1)).Backward()
widgets.Show(widgets.Decisions(root.Trace()))`},
	{"code", `%%
println("spinning")
for {
}`},
	{"code", `%%
print(6 * 7)`},
	{"code", `%%
var name string
fmt.Print("Who is there? ")
fmt.Scanln(&name)
fmt.Println("Good morning, " + name + ".")`},
}

// writeNotebook writes cells as a notebook of our kernel.
func writeNotebook(t testing.TB, path string, cells []cell) {
	t.Helper()
	list := []map[string]any{}
	for i, c := range cells {
		m := map[string]any{"cell_type": c.kind, "id": "cell-" + string(rune('a'+i)), "metadata": map[string]any{}, "source": c.source}
		if c.kind == "code" {
			m["execution_count"], m["outputs"] = nil, []any{}
		}
		list = append(list, m)
	}
	b, err := json.MarshalIndent(map[string]any{
		"cells": list, "nbformat": 4, "nbformat_minor": 5,
		"metadata": map[string]any{"kernelspec": map[string]any{"name": "halftone", "display_name": "Go (AMP)", "language": "go"}},
	}, "", " ")
	if err == nil {
		err = os.WriteFile(path, b, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

const figureMIME = "application/vnd.halftone.figure.v1+json"

// A figure as a notebook stores it.
type figure struct {
	Cell   int    // index of its cell in the notebook
	HTML   string // its stored face
	Static string // the same without its script
	Data   struct {
		Schema, Kind, Title, Alt string
		Data                     struct {
			Sites []struct{ Op, Phase string }
			Skips []json.RawMessage
			Runs  []json.RawMessage

			Formats, Modules []json.RawMessage
		}
	}
}

// Charts is how many charts the figure draws.
func (f *figure) Charts() int {
	return strings.Count(f.HTML, "<img ")
}

// storedFigures reads the figures that a notebook has saved, in order.
func storedFigures(t testing.TB, path string) []figure {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var nb struct {
		Cells []struct {
			Outputs []struct {
				Data map[string]json.RawMessage
			}
		}
	}
	if err := json.Unmarshal(b, &nb); err != nil {
		t.Fatalf("%s: %v", filepath.Base(path), err)
	}
	var out []figure
	for i, c := range nb.Cells {
		for _, o := range c.Outputs {
			if o.Data[figureMIME] == nil {
				continue
			}
			f := figure{Cell: i, HTML: multiline(t, o.Data["text/html"])}
			raw := []byte(o.Data[figureMIME])
			if raw[0] != '{' {
				raw = []byte(multiline(t, raw))
			}
			if err := json.Unmarshal(raw, &f.Data); err != nil {
				t.Fatalf("%s: the figure in cell %d: %v", filepath.Base(path), i, err)
			}
			f.Static = f.HTML
			if at := strings.Index(f.HTML, "<script"); at >= 0 {
				f.Static = f.HTML[:at] + f.HTML[strings.Index(f.HTML, "</script>")+len("</script>"):]
			}
			out = append(out, f)
		}
	}
	return out
}

// multiline reads a string that the notebook format may store as a list of lines.
func multiline(t testing.TB, raw json.RawMessage) string {
	t.Helper()
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	var lines []string
	if err := json.Unmarshal(raw, &lines); err != nil {
		t.Fatalf("neither text nor lines: %.60s", raw)
	}
	return strings.Join(lines, "")
}
