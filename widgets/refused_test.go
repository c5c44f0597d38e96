package widgets

import (
	"testing"

	"github.com/halftone-ml/halftone/amp"
)

// TestFiguresWithoutWhatIsAsked: a figure that is not live has no live numbers, and few points are not thinned to fewer than their ends.
func TestFiguresWithoutWhatIsAsked(t *testing.T) {
	s := amp.NewScope(amp.Record(amp.Decisions))
	defer s.Close()
	if got := Decisions(s.Trace()).LiveMetrics(); len(got) != 0 {
		t.Errorf("a figure that is not live has %v", got)
	}
	for n := range 5 {
		for limit := -1; limit < 3; limit++ {
			if got := ThinPoints(make([]ScalePoint, n), limit); len(got) < min(n, 2) || len(got) > n {
				t.Errorf("%d points thinned to %d are %d", n, limit, len(got))
			}
		}
	}
}
