package amp_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/amp/dataset"
	"github.com/halftone-ml/halftone/amp/dataset/glyphs"
	"github.com/halftone-ml/halftone/amp/nn"
	"github.com/halftone-ml/halftone/amp/optim"
)

// TestNilOptionsAreNamed checks that an option that is nil, as one chosen at run time may be, is misuse of the function that got it.
func TestNilOptionsAreNamed(t *testing.T) {
	s := amp.NewScope()
	defer s.Close()
	x := amp.From([]float32{1, 2, 3, 4}, 1, 1, 2, 2)
	w := amp.From([]float32{1, 2}).RequireGrad()
	params := []*amp.Tensor{w}
	sgd := optim.NewSGD(params, optim.LR(0.1), optim.Momentum(0.9))
	model, level := amp.Initialize(nn.NewLinear(s, 2, 2), sgd, amp.O0)
	_ = model
	images := glyphs.New(20, 1)
	for op, call := range map[string]func(){
		"NewScope":             func() { amp.NewScope(nil) },
		"Autocast":             func() { s.Autocast(amp.Float16, nil) },
		"NewGradScaler":        func() { amp.NewGradScaler(amp.InitScale(2), nil) },
		"Backward":             func() { amp.Sum(s, amp.Mul(s, w, w)).Backward(nil) },
		"Initialize":           func() { amp.Initialize(nn.NewLinear(s, 2, 2), sgd, amp.O1, nil) },
		"ScaleLoss":            func() { level.ScaleLoss(s, amp.Sum(s, w), func(*amp.Tensor) {}, nil) },
		"conv2d":               func() { amp.Conv2d(s, x, x, nil, nil) },
		"max_pool2d":           func() { amp.MaxPool2d(s, x, 2, nil) },
		"mse_loss":             func() { amp.MSELoss(s, x, x, nil) },
		"NewLinear":            func() { nn.NewLinear(s, 2, 2, nil) },
		"NewBilinear":          func() { nn.NewBilinear(s, 2, 2, 2, nil) },
		"NewGRUCell":           func() { nn.NewGRUCell(s, 2, 2, nil) },
		"NewEmbedding":         func() { nn.NewEmbedding(s, 2, 2, nil) },
		"NewConv2d":            func() { nn.NewConv2d(s, 2, 2, 1, nil) },
		"NewConv1d":            func() { nn.NewConv1d(s, 2, 2, 1, nn.LinearOption(nil)) },
		"NewBatchNorm2d":       func() { nn.NewBatchNorm2d(s, 2, nil) },
		"NewGroupNorm":         func() { nn.NewGroupNorm(s, 1, 2, nil) },
		"NewInstanceNorm1d":    func() { nn.NewInstanceNorm1d(s, 2, nil) },
		"NewResNet18":          func() { nn.NewResNet18(s, 2, nil) },
		"LoadStateDict":        func() { _ = nn.LoadStateDict(nn.NewLinear(s, 2, 2), nil, nil) },
		"StateDict":            func() { nn.StateDict(nn.NewLinear(s, 2, 2), nil) },
		"NewAveragedModel":     func() { nn.NewAveragedModel(nn.NewLinear(s, 2, 2), nn.NewLinear(s, 2, 2), nil) },
		"NewAdam":              func() { optim.NewAdam(params, nil) },
		"GradNorm":             func() { optim.GradNorm(params, nil) },
		"ClipGradNorm":         func() { optim.ClipGradNorm(params, 1, nil) },
		"NewReduceLROnPlateau": func() { optim.NewReduceLROnPlateau(sgd, nil) },
		"NewOneCycleLR":        func() { optim.NewOneCycleLR(sgd, 1, 10, nil) },
		"NewLoader":            func() { dataset.NewLoader(images, 2, nil) },
		"glyphs.New":           func() { glyphs.New(2, 1, nil) },
		"MNIST":                func() { _, _, _ = dataset.MNIST(t.TempDir(), nil) },
	} {
		err := amp.Maybe(call)
		if !errors.Is(err, amp.ErrArgument) || !strings.HasPrefix(err.Error(), "amp: "+op+": ") || !strings.HasSuffix(err.Error(), " is nil; fix: leave it out") {
			t.Errorf("%s: %v", op, err)
		}
	}
}
