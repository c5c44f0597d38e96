//go:build long

package notebook_test

import (
	"path/filepath"
	"slices"
	"testing"
)

// TestTutorialsTwice runs every tutorial a second time: on the CPU cells print the same numbers again, to the last digit.
func TestTutorialsTwice(t *testing.T) {
	for _, path := range tutorials(t) {
		t.Run(filepath.Base(path), func(t *testing.T) {
			first := executed(t, path)
			t.Setenv("HALFTONE_CPU", "reproducible")
			again, err := execute(t, path)
			if err != nil {
				t.Fatalf("%v\n%s", err, again.text)
			}
			for i, c := range again.nb.Cells {
				if slices.Contains(tags(c.Metadata), "volatile") {
					continue
				}
				if got, want := streams(c.Outputs), streams(first.nb.Cells[i].Outputs); got != want {
					t.Errorf("cell %s printed\n%s\nthe first time\n%s", c.ID, got, want)
				}
			}
		})
	}
}
