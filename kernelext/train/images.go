package train

import (
	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/amp/dataset"
	"github.com/halftone-ml/halftone/amp/dataset/glyphs"
	"github.com/halftone-ml/halftone/amp/nn"
	"github.com/halftone-ml/halftone/amp/optim"
)

// images is ResNet-18 on 32×32 color images: CIFAR-10 if its folder is given, drawn characters otherwise.
type images struct {
	net     *nn.ResNet
	batches *dataset.Loader
	held    *dataset.Loader
}

func newImages(root *amp.Scope, c Config) (*images, error) {
	var train, test *dataset.Images
	var augment []dataset.Option
	if c.Data != "" {
		var err error
		if train, test, err = dataset.CIFAR10(c.Data); err != nil {
			return nil, err
		}
		augment = []dataset.Option{dataset.RandomCrop(4), dataset.RandomHorizontalFlip(0.5)}
	} else {
		set := glyphs.New(c.drawn+c.held, 1)
		train, test = set.Slice(0, c.drawn), set.Slice(c.drawn, c.drawn+c.held)
		augment = []dataset.Option{dataset.RandomCrop(2)}
	}
	norm := dataset.Normalize(train.Stats())
	return &images{
		net:     nn.NewResNet18(root, len(train.Classes), nn.SmallImages(), nn.Width(c.Width)),
		batches: dataset.NewLoader(train, c.Batch, append(augment, dataset.Shuffle(c.Seed), dataset.DropLast(), norm)...),
		held:    dataset.NewLoader(test, 100, norm),
	}, nil
}

func (e *images) model() nn.Module        { return e.net }
func (e *images) loader() *dataset.Loader { return e.batches }
func (e *images) clip() float64           { return 0 }
func (e *images) optimizer(lr float64) optim.Optimizer {
	return optim.NewAdamW(e.net.Parameters(), optim.LR(lr), optim.WeightDecay(0.05))
}

func (e *images) loss(s *amp.Scope, b dataset.Batch) *amp.Tensor {
	return nn.CrossEntropyLoss(s, e.net.Forward(s, b.X), b.Y)
}

func (e *images) test(s *amp.Scope, r *Result) {
	right, n, loss := 0, 0, 0.0
	for s, b := range e.held.Batches(s) {
		b = brought(s, b)
		y := e.net.Forward(s, b.X)
		loss += nn.CrossEntropyLoss(s, y, b.Y, amp.ReduceSum).Item()
		want := amp.Values[int64](b.Y)
		for i, guess := range amp.Values[int64](amp.ArgMax(s, y, 1)) {
			if guess == want[i] {
				right++
			}
		}
		n += b.Len()
	}
	r.Loss, r.Metric, r.Value = loss/float64(n), "accuracy", 100*float64(right)/float64(n)
}
