package checkpoint

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/amp/dataset"
	"github.com/halftone-ml/halftone/amp/nn"
	"github.com/halftone-ml/halftone/amp/optim"
	"github.com/halftone-ml/halftone/amp/safetensors"
)

// FuzzLoad: whatever a file holds, loading it is an error that changes nothing, or gives parts that train on.
func FuzzLoad(f *testing.F) {
	root := amp.NewScope()
	images := &dataset.Images{Shape: [3]int{1, 1, 2}, Classes: []string{"a", "b"}, Data: make([]byte, 8), Labels: []uint8{0, 1, 0, 1}}
	step := 0
	build := func() Parts {
		net := nn.NewSequential(nn.NewLinear(root, 2, 1))
		opt := optim.NewSGD(net.Parameters(), optim.Momentum(0.9))
		return Parts{
			Model: net, Optimizer: opt, Scheduler: optim.CountApplied(optim.NewWarmupCosine(opt, 2, 5, 0.1, 0)), Scaler: amp.NewGradScaler(),
			Random: amp.NewStream(1), Loader: dataset.NewLoader(images, 2, dataset.Shuffle(1)), Values: map[string]any{"step": &step},
		}
	}
	train := func(p Parts) {
		opt := p.Optimizer.(*optim.SGD)
		s := root.Child()
		defer s.Close()
		b := p.Loader.Next(s)
		opt.ZeroGrad()
		amp.Sum(s, p.Model.Forward(s, amp.Reshape(s, b.X, 2, 2))).Backward()
		opt.Step()
		p.Scheduler.(*optim.Applied).Step()
	}
	path := filepath.Join(f.TempDir(), "c.safetensors")
	saved := build()
	train(saved)
	if err := Save(path, saved); err != nil {
		f.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Add(bytes.Replace(data, []byte(`last_epoch\":1`), []byte(`last_epoch\":9`), 1))
	f.Add(bytes.Replace(data, []byte(`momentum_buffer`), []byte(`momentum_butter`), 1))
	f.Fuzz(func(t *testing.T, data []byte) {
		file, err := safetensors.NewReader(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			return
		}
		p := build()
		state := func() string {
			return fmt.Sprint(p.Model.Parameters()[0].Float64s(), p.Optimizer.State(), p.Scaler.State(), p.Random.State(), p.Loader.State(), step)
		}
		before := state()
		if restore(file, p) == nil {
			train(p)
		} else if after := state(); after != before {
			t.Errorf("a refused file changed\n%s\nto\n%s", before, after)
		}
	})
}
