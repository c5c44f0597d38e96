package notebook_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/halftone-ml/halftone/kernelext/internal/testenv"
	"github.com/halftone-ml/halftone/widgets"
)

// A site is a row of a decisions figure, as far as this test reads it.
type site struct {
	Module, Op, Phase, Compute, Where string
	Calls                             int
	Changed                           bool
	Casts                             []struct {
		From, To, Name string
		Count          int
	}
}

// payload is the data of a figure of any kind.
type payload struct {
	Sites   []site
	Scale   float64
	Verdict string
	Nominal int `json:"nominal_steps"`
	Skipped int `json:"skipped_steps"`
	Skips   []struct {
		First, Last    int
		Culprit, Value string
	}
	Runs []struct {
		Name    string
		Loss    []float64
		Skipped int
	}
}

// A ran is what became of a notebook that was run.
type ran struct {
	nb    saved
	saved []byte        // the executed notebook
	size  int           // its bytes
	text  string        // what the run printed
	cpu   time.Duration // processor time of the run with all that it started
}

// execute runs a copy of a notebook through the installed kernel.
func execute(t *testing.T, path string) (r ran, err error) {
	t.Helper()
	l, _ := testenv.Installed(t)
	out := filepath.Join(t.TempDir(), "out.ipynb")
	cmd := exec.Command(l.Halftone(), "run", "--output", out, path)
	b, err := cmd.CombinedOutput()
	if r.text = string(b); err != nil {
		return r, err
	}
	r.cpu = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	r.nb, r.size = load(t, out)
	r.saved, err = os.ReadFile(out)
	return r, err
}

// shown returns the data of a cell's figures by kind.
func shown(t *testing.T, nb saved, cell string) map[string]payload {
	t.Helper()
	found := map[string]payload{}
	for _, c := range nb.Cells {
		if c.ID != cell {
			continue
		}
		for _, o := range c.Outputs {
			raw, ok := o.Data[widgets.MIME]
			if !ok {
				continue
			}
			b, _ := json.Marshal(raw)
			if _, err := widgets.Parse(b); err != nil {
				t.Errorf("cell %s: %v", cell, err)
			}
			var f struct {
				Kind string
				Data payload
			}
			if err := json.Unmarshal(b, &f); err != nil {
				t.Fatal(err)
			}
			found[f.Kind] = f.Data
			for _, face := range []string{"text/plain", "text/html", "image/svg+xml", "image/png"} {
				if o.Data[face] == nil {
					t.Errorf("cell %s: the %s figure has no %s", cell, f.Kind, face)
				}
			}
		}
	}
	return found
}

// find returns the forward row of an op, which must be there.
func find(t *testing.T, p payload, module, op string) site {
	t.Helper()
	for _, s := range p.Sites {
		if s.Module == module && s.Op == op && s.Phase == "forward" {
			return s
		}
	}
	t.Fatalf("no forward row of %s in %q", op, module)
	return site{}
}

// checkFirst reads the data of the figures that the first tutorial shows when it is run: what ran in which precision, the
// skipped steps and their culprits, the final scale, and the losses of the three precisions.
func checkFirst(t *testing.T, nb saved) {
	small := shown(t, nb, "linear")["decisions"]
	linear := find(t, small, "net", "linear")
	if linear.Compute != "float16" || !linear.Changed || linear.Calls != 3 || len(linear.Casts) != 3 {
		t.Errorf("linear: %+v", linear)
	}
	if !strings.HasPrefix(linear.Where, "[2]:") {
		t.Errorf("linear was called at %q, want a line of cell 2", linear.Where)
	}
	if loss := find(t, small, "loss", "mse_loss"); loss.Compute != "float32" || !loss.Changed {
		t.Errorf("mse_loss: %+v", loss)
	}

	compare := shown(t, nb, "compare")
	perDType := map[string]int{}
	for _, s := range compare["decisions"].Sites {
		if s.Phase == "forward" {
			perDType[s.Compute] += s.Calls
		}
	}
	// 50 steps: three linears and two activations in half; the loss and its scaling in float32.
	if perDType["float16"] != 50*5 || perDType["float32"] != 50*2 {
		t.Errorf("forward calls by dtype: %v", perDType)
	}
	if h := compare["scale_history"]; h.Skipped != 0 || h.Scale != 65536 || h.Nominal != 50 {
		t.Errorf("scale history: %+v", h)
	}
	runs := compare["compare"].Runs
	if len(runs) != 3 {
		t.Fatalf("%d runs", len(runs))
	}
	for _, r := range runs {
		first, last, reference := r.Loss[0], r.Loss[len(r.Loss)-1], runs[0].Loss[len(r.Loss)-1]
		if len(r.Loss) != 50 || last > first/5 || last < reference*0.95 || last > reference*1.05 {
			t.Errorf("%s: %d losses from %g to %g; float32 ends at %g", r.Name, len(r.Loss), first, last, reference)
		}
	}

	over := shown(t, nb, "overflow")["scale_history"]
	if over.Nominal != 50 || over.Skipped != 10 || over.Scale != 262144 {
		t.Errorf("%d of %d steps skipped, final scale %g", over.Skipped, over.Nominal, over.Scale)
	}
	glitch := false
	for _, s := range over.Skips {
		if s.Culprit == "" || s.Value == "" {
			t.Errorf("a skip without culprit: %+v", s)
		}
		glitch = glitch || s.First <= 30 && 30 <= s.Last
	}
	if !glitch {
		t.Error("the broken batch was not skipped")
	}
}

// misuse is a notebook whose cells do what newcomers do wrong; each must fail with a sentence and leave the kernel alive.
var misuse = []struct{ name, code, say string }{
	{"shapes", `amp.MatMul(s.In("net"), amp.From([]float32{1, 2}, 1, 2), amp.From([]float32{1, 2, 3}, 3, 1))`, "amp: matmul (in net): shape mismatch: a float32 [1 2], b float32 [3 1]"},
	{"integer loss", `amp.NewGradScaler().Scale(s, amp.Scalar(int64(1)))`, "compute a float loss"},
	{"closed", `s.Close(); amp.Exp(s, amp.From([]float32{1}))`, "used after Close"},
	{"step without backward", `opt := optim.NewSGD(nn.NewLinear(s, 2, 1).Parameters()); g := amp.NewGradScaler(); g.Scale(s, amp.Scalar(float32(1))); g.Step(opt)`, "Backward() first"},
	{"device", `amp.NewScope(amp.On("cuda:0"))`, "github.com/halftone-ml/halftone/cudart"},
}

func TestMisuseLeavesTheKernelAlive(t *testing.T) {
	imports := "import (\n\t\"fmt\"\n\t\"github.com/halftone-ml/halftone/amp\"\n\t\"github.com/halftone-ml/halftone/amp/nn\"\n\t\"github.com/halftone-ml/halftone/amp/optim\"\n)\n"
	type cell map[string]any
	code := func(id, source string, tags ...string) cell {
		return cell{"cell_type": "code", "id": id, "metadata": map[string]any{"tags": append([]string{}, tags...)}, "execution_count": nil, "outputs": []any{}, "source": source}
	}
	var cells []cell
	for i, m := range misuse {
		cells = append(cells, code(strings.ReplaceAll(m.name, " ", "-"), imports+"%%\ns := amp.NewScope()\n"+m.code+"\n_, _, _ = s, nn.ReLU, optim.LR\nfmt.Print()\n", "raises-exception"))
		cells = append(cells, code("alive-"+string(rune('a'+i)), "%%\nfmt.Println(\"still alive\")\n"))
	}
	b, err := json.Marshal(map[string]any{"cells": cells, "nbformat": 4, "nbformat_minor": 5,
		"metadata": map[string]any{"kernelspec": map[string]any{"name": "halftone", "display_name": "Go (AMP)", "language": "go"}}})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "misuse.ipynb")
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := execute(t, path)
	if err != nil {
		t.Fatalf("%v\n%s", err, r.text)
	}
	nb := r.nb
	for i, m := range misuse {
		failed, alive := everything(t, nb.Cells[2*i].Outputs), everything(t, nb.Cells[2*i+1].Outputs)
		if !strings.Contains(failed, m.say) || !strings.Contains(failed, "fix: ") {
			t.Errorf("%s: the cell does not say %q:\n%s", m.name, m.say, failed)
		}
		if !strings.Contains(alive, "still alive") {
			t.Errorf("after %s the kernel says: %s", m.name, alive)
		}
	}
}

// everything is all text of a cell's outputs.
func everything(t *testing.T, outputs []output) string {
	t.Helper()
	var b strings.Builder
	for _, o := range outputs {
		for _, line := range o.Text {
			b.WriteString(line)
		}
		b.WriteString(o.Value + strings.Join(o.Traceback, "\n"))
	}
	return b.String()
}
