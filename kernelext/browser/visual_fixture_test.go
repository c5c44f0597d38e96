package browser

import (
	"context"
	"path/filepath"
	"testing"
	"time"
)

// galleryNotebook shows every kind of figure, most with all that they can hold. All is seeded.
var galleryNotebook = []cell{
	{"code", `import (
	"fmt"
	"strings"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/amp/nn"
	"github.com/halftone-ml/halftone/amp/optim"
	"github.com/halftone-ml/halftone/widgets"
)

// train fits a small network and returns what it did.
func train(autocast amp.DType, steps int) (widgets.Run, *amp.GradScaler) {
	root := amp.NewScope(amp.Seed(1), amp.Record(amp.Health))
	defer root.Close()
	x := amp.Randn(root, amp.Float32, 0, 1, 64, 8)
	y := amp.Randn(root, amp.Float32, 0, 1, 64, 1)
	net := nn.NewSequential(nn.NewLinear(root, 8, 16), nn.ReLU, nn.NewLinear(root, 16, 1))
	opt := optim.NewSGD(net.Parameters(), optim.LR(0.05))
	scaler := amp.NewGradScaler(amp.ScalerEnabled(autocast == amp.Float16), amp.InitScale(1<<20))
	r := widgets.Run{Name: autocast.String(), DType: autocast, Bytes: int64(autocast.Size()) * 30_000}
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
		r.Loss = append(r.Loss, loss.Item())
		r.StepNS = append(r.StepNS, int64(autocast.Size())*100_000)
	}
	r.Trace = root.Trace()
	return r, scaler
}

// A histogram is a figure of the user's own.
type histogram []int

func (h histogram) Text() string {
	var b strings.Builder
	for i, n := range h {
		fmt.Fprintf(&b, "%d %s %d\n", i, strings.Repeat("▇", n), n)
	}
	return b.String()
}

func (h histogram) Alt() string { return fmt.Sprintf("A histogram of %d bins.", len(h)) }

func (h histogram) SVG() string {
	s := "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"360\" height=\"120\" viewBox=\"0 0 360 120\">"
	for i, n := range h {
		s += fmt.Sprintf("<rect x=\"%d\" y=\"%d\" width=\"36\" height=\"%d\" fill=\"%s\"/>", 10+40*i, 110-10*n, 10*n, []string{"#0072b2", "#009e73", "#e69f00", "#d55e00", "#cc79a7"}[i%5])
	}
	return s + "</svg>"
}

%%
run, scaler := train(amp.Float16, 60)
widgets.Show(widgets.Decisions(run.Trace), widgets.ScaleHistory(scaler.History()), widgets.Exponents(run.Trace, scaler.History()))
fp32, _ := train(amp.Float32, 60)
bf16, _ := train(amp.BFloat16, 40)
widgets.Show(widgets.Compare(fp32, run, bf16))`},
	{"code", `%%
widgets.Show(widgets.Bits(0.1), widgets.Bits(1e-8, 70000, 6e-5))
root := amp.NewScope()
defer root.Close()
widgets.Show(widgets.Policy(root.Autocast(amp.Float16, amp.Force("gelu", amp.FP32))), widgets.Own("Counts", histogram{1, 3, 7, 9, 6, 2, 1}))`},
	{"code", `%%
l := widgets.NewLive(300, "Training in float16")
for i := range 300 {
	l.StepLoss(2.3/float64(1+i/20), &amp.StepReport{ScaleStep: amp.ScaleStep{Step: i, Scale: 65536, Next: 65536, Applied: i%150 != 7, Culprit: "fc2.weight"}})
}
l.Done()`},
	{"code", `%%
root := amp.NewScope(amp.Seed(1), amp.Record(amp.Decisions))
defer root.Close()
x := amp.Randn(root, amp.Float32, 0, 1, 64, 8)
net := nn.NewSequential(nn.NewLinear(root, 8, 16), nn.ReLU, nn.NewLinear(root, 16, 16), nn.Tanh, nn.NewLinear(root, 16, 1))
half := root.Autocast(amp.Float16)
var trace amp.GradientTrace
loss := amp.MulScalar(half, nn.MSELoss(half, net.Forward(half.In("net"), x), amp.Zeros(root, amp.Float32, 64, 1)), 1e-5)
loss.Backward(amp.TraceGradients(&trace))
widgets.Show(widgets.GradientFlow(&trace))`},
	{"code", `%%
event := func(op, module string, dt amp.DType, own, total, share, spread float64) amp.RoundingEvent {
	e := amp.RoundingEvent{Op: op, Module: module, Compute: dt, DType: dt, Cell: 3, CellLine: 12, N: 640, Size: 0.5, Own: own, Total: total, Share: share, Spread: spread}
	for i, other := range []amp.DType{amp.Float32, amp.BFloat16, amp.Float16} {
		e.If = append(e.If, amp.RoundingIf{DType: other, Spread: spread * []float64{1e-4, 8, 1}[i]})
	}
	return e
}
widgets.Show(widgets.Rounding(&amp.RoundingTrace{Schema: amp.RoundingSchema, Device: "cpu", Step: -1, DType: amp.Float32, Loss: 2.30412, Exact: 2.30331, First: 7.9e-4, Spread: 8.6e-4, Events: []amp.RoundingEvent{
	event("linear", "net/0", amp.Float16, 1e-4, 1e-4, 9e-5, 1.6e-4), event("relu", "net/1", amp.Float16, 0, 9e-5, 0, 0), event("linear", "net/2", amp.Float16, 1e-4, 1.4e-4, 7e-4, 8.4e-4), event("nll_loss", "loss", amp.Float32, 1e-8, 2e-4, 1e-9, 2e-9),
}}))`},
}

// galleryKinds are the kinds of the gallery's figures, in order.
var galleryKinds = []string{"decisions", "scale_history", "exponents", "compare", "bits", "bits", "policy", "custom", "live", "gradient_flow", "rounding"}

// gallery returns the executed gallery and a page made of it, once for all tests.
func gallery(t *testing.T) (notebook, page string) {
	t.Helper()
	if suite.gallery == "" {
		source, out := filepath.Join(suite.lab.dir, "gallery-source.ipynb"), filepath.Join(suite.lab.dir, "gallery.ipynb")
		writeNotebook(t, source, galleryNotebook)
		ctx, cancel := context.WithTimeout(t.Context(), 8*time.Minute)
		defer cancel()
		if err := suite.lab.halftone(ctx, "run", "--html", "--output", out, source); err != nil {
			t.Fatal(err)
		}
		suite.gallery = out
	}
	return suite.gallery, suite.gallery[:len(suite.gallery)-len("ipynb")] + "html"
}
