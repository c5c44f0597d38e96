//go:build long

package train

import (
	"context"
	"math"
	"testing"

	"github.com/halftone-ml/halftone/amp"
)

// TestResNetOnGlyphs: ResNet-18 in float32 and in float16 under autocast reach the same accuracy within 0.3 points, with a loss scale that
// finds its place.
func TestResNetOnGlyphs(t *testing.T) {
	accuracy := map[amp.DType]float64{}
	for _, dt := range []amp.DType{amp.Float32, amp.Float16} {
		r, err := Run(context.Background(), Config{Model: "resnet18", Precision: dt, Seed: 1}, nil)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%v: accuracy %.2f %%, held-out loss %.4f, %d of %d steps skipped, scale %g, %v a step", dt, r.Value, r.Loss, r.Skipped, r.Steps, r.Scale, r.StepTime)
		accuracy[dt] = r.Value
		if dt == amp.Float16 && (r.Skipped > 20 || r.Scale < 1024 || r.Scale > 1<<24 || r.History.Nominal != r.Steps) {
			t.Errorf("%d of %d steps skipped, scale %g", r.Skipped, r.History.Nominal, r.Scale)
		}
	}
	if a, b := accuracy[amp.Float32], accuracy[amp.Float16]; math.Abs(a-b) > 0.3 || min(a, b) < 97 {
		t.Errorf("accuracy %.2f %% in float32 and %.2f %% under float16 autocast", a, b)
	}
}
