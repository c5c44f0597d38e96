package checkpoint_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/halftone-ml/halftone/amp/checkpoint"
	"github.com/halftone-ml/halftone/amp/nn"
	"github.com/halftone-ml/halftone/amp/optim"
)

// TestNilPointersInParts: a nil pointer in a part is named by Save and Load, and no file is begun; nil itself leaves the part out.
func TestNilPointersInParts(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "run.safetensors")
	for want, p := range map[string]checkpoint.Parts{
		"Model is a nil *nn.Sequential":   {Model: (*nn.Sequential)(nil)},
		"Optimizer is a nil *optim.Adam":  {Optimizer: (*optim.Adam)(nil)},
		"Scheduler is a nil *optim.Chain": {Scheduler: (*optim.Chain)(nil)},
		"critic/Model is a nil *nn.Linea": {More: map[string]checkpoint.Parts{"critic": {Model: (*nn.Linear)(nil)}}},
	} {
		for _, err := range []error{checkpoint.Save(path, p), checkpoint.Load(path, p)} {
			if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "leave it out") {
				t.Errorf("%q: %v", want, err)
			}
		}
	}
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("%v are left behind", left)
	}
	if err := nn.LoadStateDict((*nn.Linear)(nil), nil); err == nil || !strings.Contains(err.Error(), "the module is nil") {
		t.Error(err)
	}
}
