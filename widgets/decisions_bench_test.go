package widgets

import (
	"testing"
	"time"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/internal/stretch"
	"github.com/halftone-ml/halftone/widgets/internal/sample"
)

// manyEvents is a trace of at least n events at level health.
func manyEvents(n int) *amp.Trace {
	one := len(sample.Healthy(1).Events)
	return sample.Healthy((n + one - 1) / one)
}

func BenchmarkDecisions100k(b *testing.B) {
	t := manyEvents(100_000)
	b.ReportAllocs()
	for b.Loop() {
		Decisions(t)
	}
}

// TestManyEventsAreDrawnAtOnce: a trace of 100,000 events becomes figures in far less than a second.
func TestManyEventsAreDrawnAtOnce(t *testing.T) {
	trace := manyEvents(100_000)
	for name, f := range map[string]func() *Figure{
		"decisions": func() *Figure { return Decisions(trace) },
		"exponents": func() *Figure { return Exponents(trace) },
	} {
		best := time.Hour // of three: the machine may be busy
		for range 3 {
			began := time.Now()
			fig := f()
			_ = fig.Text()
			if _, err := fig.MarshalJSON(); err != nil {
				t.Fatal(err)
			}
			best = min(best, time.Since(began))
		}
		if t.Logf("%s: %d events in %v", name, len(trace.Events), best); stretch.Over(best, time.Second) {
			t.Errorf("%s of %d events took %v", name, len(trace.Events), best)
		}
	}
}
