//go:build long

package nn_test

import (
	"testing"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/amp/dataset"
	"github.com/halftone-ml/halftone/amp/nn"
	"github.com/halftone-ml/halftone/amp/optim"
)

// TestGPTOnGoSource trains a small model on the source of Go's library in float16 until it predicts text it has not seen below
// 2.0 nats per byte (8 bits are 5.5), and looks at the history of the loss scale.
func TestGPTOnGoSource(t *testing.T) {
	text, err := dataset.GoSource(4 << 20)
	if err != nil {
		t.Skip(err)
	}
	train, unseen := text.Split(0.9)
	root := amp.NewScope(amp.Seed(1))
	defer root.Close()
	const steps = 900
	g := nn.NewGPT(root, nn.GPTConfig{Context: 64, Features: 128, Layers: 4, Heads: 4, Tied: true})
	opt := optim.NewAdamW(g.Parameters(), optim.LR(3e-3))
	rate := optim.NewOneCycleLR(opt, 3e-3, steps)
	scaler := amp.NewGradScaler()
	loader := dataset.NewLoader(train.Windows(64, 1), 16, dataset.Draw(steps*16, 1))
	for s, b := range loader.Epoch(root) {
		loss := g.Loss(s.Autocast(amp.Float16), b.X, b.Y)
		opt.ZeroGrad()
		scaler.Scale(s, loss).Backward()
		scaler.Unscale(opt)
		optim.ClipGradNorm(g.Parameters(), 1)
		scaler.Step(opt)
		scaler.Update()
		rate.Step()
		if s.Step()%100 == 0 {
			t.Logf("step %d: %.3f nats per byte, scale %g", s.Step(), loss.Item(), scaler.CurrentScale())
		}
	}
	sum, n := 0.0, 0
	for s, b := range dataset.NewLoader(unseen.Windows(64, 64), 16).Batches(root.NoGrad().Eval()) {
		if n++; n > 60 {
			break
		}
		sum += g.Loss(s.Autocast(amp.Float16), b.X, b.Y).Item()
	}
	loss := sum / float64(n-1)
	t.Logf("unseen text: %.3f nats per byte", loss)
	t.Logf("%q", dataset.Decode(g.Generate(root.Autocast(amp.Float16), dataset.Encode("func (s *Scope) "), 200, 0.8, 40)))
	if !(loss < 2) {
		t.Errorf("%.3f nats per byte", loss)
	}
	if h := scaler.History(); h.Nominal != steps || h.Skipped > 10 {
		t.Errorf("%d of %d steps skipped", h.Skipped, h.Nominal)
	}
}
