package render

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/internal/stretch"
	"github.com/halftone-ml/halftone/widgets"
	"github.com/halftone-ml/halftone/widgets/internal/sample"
)

var update = flag.Bool("update", false, "write the golden drawings anew")

// TestGoldenSVG: a drawing changes when somebody means it to, and the change is seen in the file.
func TestGoldenSVG(t *testing.T) {
	for _, name := range []string{"decisions_health", "steady", "collapsing", "exponents", "flow", "rounding", "rounding_fp32", "live_done"} {
		got := face(t, figures()[name], "image/svg+xml")
		file := filepath.Join("testdata", name+".svg")
		if *update {
			if err := os.WriteFile(file, []byte(got), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if string(want) != got {
			t.Errorf("%s is drawn differently from %s; look at both, and when it is meant write it anew with -update", name, file)
		}
	}
}

// TestSVGTextHasNoSpacesAtItsEnds: a viewer drops them and stretches what is left to the width that was measured with them.
func TestSVGTextHasNoSpacesAtItsEnds(t *testing.T) {
	outer := regexp.MustCompile(`<text [^>]*textLength[^>]*>( [^<]*|[^<]* )</text>`)
	for name, f := range figures() {
		if found := outer.FindString(face(t, f, "image/svg+xml")); found != "" {
			t.Errorf("%s: %s", name, found)
		}
	}
}

// manyEvents are a trace of 100,000 events and a history of as many steps.
func manyEvents() (*amp.Trace, amp.ScaleHistory) {
	one := len(sample.Healthy(1).Events)
	trace := sample.Healthy((100_000 + one - 1) / one)
	return trace, sample.Scaler{Steps: 100_000, Init: 65536, Interval: 50, Overflow: func(i int, scale float64) (string, string) {
		if scale > 1<<17 {
			return "fc.weight", "+Inf"
		}
		return "", ""
	}}.History()
}

// TestManyEventsAreDrawnAtOnce: a trace of 100,000 events has all its faces within a second.
func TestManyEventsAreDrawnAtOnce(t *testing.T) {
	trace, long := manyEvents()
	for name, f := range map[string]func() *widgets.Figure{
		"decisions": func() *widgets.Figure { return widgets.Decisions(trace) },
		"exponents": func() *widgets.Figure {
			return widgets.Exponents(trace, amp.ScaleHistory{Enabled: true, Scale: 1024, Nominal: trace.Steps})
		},
		"scale history": func() *widgets.Figure { return widgets.ScaleHistory(long) },
	} {
		best := time.Hour // of three: the machine may be busy
		for range 3 {
			began := time.Now()
			if _, err := Bundle(f()); err != nil {
				t.Fatal(name, err)
			}
			best = min(best, time.Since(began))
		}
		if t.Logf("%s: %v", name, best); stretch.Over(best, time.Second) {
			t.Errorf("%s took %v to draw", name, best)
		}
	}
}
