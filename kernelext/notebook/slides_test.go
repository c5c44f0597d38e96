package notebook_test

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var heading = regexp.MustCompile(`(?m)^##? `)

// TestTutorialsAreSlides: `jupyter nbconvert --to slides` makes a slide of a title and of each section, and below it one of each cell.
func TestTutorialsAreSlides(t *testing.T) {
	for _, path := range tutorials(t) {
		t.Run(filepath.Base(path), func(t *testing.T) {
			nb, _ := load(t, path)
			for i, c := range nb.Cells {
				show, _ := c.Metadata["slideshow"].(map[string]any)
				got, _ := show["slide_type"].(string)
				want := "subslide"
				switch {
				case c.CellType == "markdown" && heading.MatchString(strings.Join(c.Source, "")):
					want = "slide"
				case c.CellType == "markdown" && nb.Cells[i-1].CellType == "markdown":
					want = "-"
				}
				if got != want {
					t.Errorf("cell %s is a slide of type %q, want %q", c.ID, got, want)
				}
			}
		})
	}
}
