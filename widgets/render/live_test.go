package render

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/halftone-ml/halftone/internal/stretch"
	"github.com/halftone-ml/halftone/widgets"
)

// TestRunning: a live figure has text and HTML while it runs, drawn in no time and whole where a notebook is not trusted;
// its images come with its end.
func TestRunning(t *testing.T) {
	s := newSanitizer(t)
	for _, f := range []*widgets.Figure{liveFigure(2000, 0), liveFigure(2000, 1), liveFigure(2000, 412), liveFigure(2000, 1999), liveFigure(0, 90)} {
		began := time.Now()
		faces, err := Bundle(f)
		if took := time.Since(began); err != nil || stretch.Over(took, 50*time.Millisecond) {
			t.Fatalf("%v in %v", err, took)
		}
		if got := fmt.Sprint(slices.Sorted(maps.Keys(faces))); got != "["+widgets.MIME+" text/html text/plain]" {
			t.Errorf("a running figure has %s", got)
		}
		page := faces["text/html"].(string)
		doc := parse(t, page)
		for c := find(doc, "body")[0].FirstChild; c != nil; c = c.NextSibling {
			if lost := s.lost(c); len(lost) > 0 {
				t.Errorf("step %d: lost %q", f.Live.Step, lost)
			}
		}
		if len(page) > 16<<10 || !strings.Contains(words(doc), f.Live.Sentence) {
			t.Errorf("%d bytes, %q", len(page), words(doc))
		}
		if f.Live.Diverged >= 0 != strings.Contains(page, hex(red)) {
			t.Errorf("step %d: a loss that is not finite is not marked", f.Live.Step)
		}
		end, err := Bundle(f.Stopped())
		if err != nil || end["image/svg+xml"] == nil || end["image/png"] == nil {
			t.Errorf("stopped: %v, %v", err, slices.Sorted(maps.Keys(end)))
		}
	}
}

func BenchmarkRunning(b *testing.B) {
	f := liveFigure(2000, 412)
	for b.Loop() {
		if _, err := Bundle(f); err != nil {
			b.Fatal(err)
		}
	}
}
