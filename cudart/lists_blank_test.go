package cudart_test

import (
	"testing"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/amp/optim"
	"github.com/halftone-ml/halftone/cudart"
)

// TestListsNameNothing: what was gathered names nothing once it is launched: the memory may be freed then, and a launch of fewer tensors has it in
// its parameters all the same.
func TestListsNameNothing(t *testing.T) {
	device := gpu(t)
	root := amp.NewScope(amp.On(device), amp.Seed(1))
	defer root.Close()
	params, free := listedParameters(root, amp.Float32, false)
	opt, scaler := optim.NewAdam(params), amp.NewGradScaler(amp.InitScale(4))
	defer free(opt)
	for name, step := range map[string]func(){
		"unscale_ and adam_": func() {
			scaler.Scale(root, amp.Scalar(float32(1)).To(root))
			scaler.Step(opt)
			scaler.Update()
		},
		"norm_add_ and clip_norm_": func() { optim.ClipGradNorm(params, 0.5) },
		"cast":                     func() { amp.To(root, params[4], amp.Float16); amp.To(root, params[5], amp.Float16) },
		"copy_":                    func() { amp.CopyInPlace(root.NoGrad(), params[2].Grad(), amp.OnesLike(root, params[2])) },
	} {
		step()
		params[0].Float64s() // waits
		if n := cudart.Named(device); n != 0 {
			t.Errorf("%s: the lists name %d places", name, n)
		}
	}
}
