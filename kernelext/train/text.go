package train

import (
	"os"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/amp/dataset"
	"github.com/halftone-ml/halftone/amp/nn"
	"github.com/halftone-ml/halftone/amp/optim"
)

// text is a GPT on bytes: a file's, or those of the Go tree on this machine.
type text struct {
	net     *nn.GPT
	batches *dataset.Loader
	held    *dataset.Loader
}

// Sizes of the model and of what it reads; the width is Config's.
const (
	layers  = 4
	length  = 64 // positions of a sample
	textMax = 4 << 20
)

func newText(root *amp.Scope, c Config) (*text, error) {
	source, err := readText(c.Data)
	if err != nil {
		return nil, err
	}
	train, held := source.Split(0.95)
	return &text{
		net:     nn.NewGPT(root, nn.GPTConfig{Context: length, Features: c.Width, Layers: layers, Heads: max(1, c.Width/32), Tied: true}),
		batches: dataset.NewLoader(train.Windows(length, 1), c.Batch, dataset.Draw(1<<20, c.Seed)),
		held:    dataset.NewLoader(held.Windows(length, max(1, len(held.Data)/(c.held+1))), 16),
	}, nil
}

func readText(file string) (dataset.Text, error) {
	if file == "" {
		return dataset.GoSource(textMax)
	}
	b, err := os.ReadFile(file)
	return dataset.Text{Data: b, Name: file}, err
}

func (e *text) model() nn.Module        { return e.net }
func (e *text) loader() *dataset.Loader { return e.batches }
func (e *text) clip() float64           { return 1 }
func (e *text) optimizer(lr float64) optim.Optimizer {
	return optim.NewAdamW(e.net.Parameters(), optim.LR(lr))
}

func (e *text) loss(s *amp.Scope, b dataset.Batch) *amp.Tensor { return e.net.Loss(s, b.X, b.Y) }

func (e *text) test(s *amp.Scope, r *Result) {
	n, loss := 0, 0.0
	for s, b := range e.held.Batches(s) {
		b = brought(s, b)
		loss += e.net.Loss(s, b.X, b.Y).Item() * float64(b.Len())
		n += b.Len()
	}
	r.Loss = loss / float64(n)
	r.Metric, r.Value = "nats per byte", r.Loss
	r.Sample = dataset.Decode(e.net.Generate(s, dataset.Encode("func "), 200, 0.8, 40))
}
