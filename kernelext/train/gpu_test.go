package train

import (
	"testing"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/amp/dataset"
	"github.com/halftone-ml/halftone/cudart"
	"github.com/halftone-ml/halftone/cudart/emulator"
)

// TestBatchesAreBroughtToTheDevice: loaders make them on the CPU. The long tests train on such a device.
func TestBatchesAreBroughtToTheDevice(t *testing.T) {
	if _, err := emulator.Library(); err != nil {
		t.Skip(err)
	}
	t.Setenv(cudart.ModeEnv, cudart.ModeEmulator)
	t.Setenv("HALFTONE_EMULATOR", "quiet=1")
	root := amp.NewScope(amp.On("cuda:0"))
	defer root.Close()
	for s := range root.Steps(1) {
		b := brought(s, dataset.Batch{X: amp.From([]float32{1, 2}), Y: amp.From([]int64{3})})
		if b.X.Device() != root.Device() || b.Y.Device() != root.Device() || amp.Values[int64](b.Y)[0] != 3 {
			t.Errorf("inputs on %s, targets on %s", b.X.Device(), b.Y.Device())
		}
	}
}
