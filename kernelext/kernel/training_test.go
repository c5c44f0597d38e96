package kernel

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/halftone-ml/halftone/widgets"
)

// trainingCell has no import line. The line that calls the op has number 9.
const trainingCell = `%%
root := amp.NewScope(amp.Seed(1), amp.Record(amp.Decisions))
defer root.Close()
x := amp.Randn(root, amp.Float32, 0, 1, 20, 10)
y := amp.Randn(root, amp.Float32, 0, 1, 20, 1)
net := nn.NewLinear(root, 10, 1)
opt, scaler := optim.NewSGD(net.Parameters(), optim.LR(0.1)), amp.NewGradScaler(amp.InitScale(1024))
half := root.Autocast(amp.Float16)
loss := nn.MSELoss(half, net.Forward(half.In("net"), x), y)
scaler.Scale(root, loss).Backward()
fmt.Println(scaler.Step(opt).Applied())
scaler.Update()
widgets.Show(widgets.Decisions(root.Trace()))`

// TestTraining trains under autocast in a cell, and sees its decisions drawn by what draws them for users.
func TestTraining(t *testing.T) {
	s := startKernel(t, home(t), drawEnv+"=real", emptyCache(t), "GOPROXY=off")
	s.run("func unrelated() {}").ok(t)
	r := s.run(trainingCell).ok(t)
	if r.stdout != "true\n" || len(r.displays) != 1 || r.stderr != "" {
		t.Fatalf("%q %q %d displays", r.stdout, r.stderr, len(r.displays))
	}
	d := r.displays[0]
	for kind, want := range map[string]string{"text/plain": "linear", "text/html": "<", "image/svg+xml": "<svg", "image/png": "iVBOR"} {
		if text, _ := d[kind].(string); !strings.Contains(text, want) {
			t.Errorf("%s: %.80q", kind, text)
		}
	}
	figure, ok := d[widgets.MIME].(map[string]any)
	if !ok || figure["kind"] == "" {
		t.Fatalf("%T", d[widgets.MIME])
	}
	if all, _ := json.Marshal(d); len(all) > 150<<10 {
		t.Errorf("the figure takes %d bytes", len(all))
	}
	// The cell map has told the trace where in the notebook the op is.
	sites, _ := figure["data"].(map[string]any)["sites"].([]any)
	for _, site := range sites {
		if v := site.(map[string]any); v["op"] == "linear" && v["phase"] == "forward" {
			if v["where"] != "[2]:9" || v["out"] != "float16" {
				t.Errorf("%v", v)
			}
			return
		}
	}
	t.Errorf("no linear op in %v", sites)
}
