//go:build long

package train

import (
	"context"
	"testing"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/cudart"
	"github.com/halftone-ml/halftone/cudart/emulator"
)

// TestRunOnAGPU: both models train and are tested on a device that is not the CPU, to which batches and prompts have to be brought.
func TestRunOnAGPU(t *testing.T) {
	if _, err := emulator.Library(); err != nil {
		t.Skip(err)
	}
	t.Setenv(cudart.ModeEnv, cudart.ModeEmulator)
	t.Setenv("HALFTONE_EMULATOR", "quiet=1")
	for _, model := range []string{"gpt", "resnet18"} {
		c := small(model, amp.Float16, 2)
		c.Device = "cuda:0"
		r, err := Run(context.Background(), c, nil)
		if err != nil || r.Steps != 2 || r.Peak == 0 || (r.Sample == "") != (model == "resnet18") {
			t.Errorf("%s: %v %+v", model, err, r)
		}
	}
}
