package notebook_test

import (
	"image/png"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestGallery: notebooks/README.md has every tutorial, in order, by its own number, with a picture that is there, can be read and is small;
// and there is no picture that nothing shows.
func TestGallery(t *testing.T) {
	paths := tutorials(t)
	dir := filepath.Dir(paths[0])
	b, err := os.ReadFile(filepath.Join(dir, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	entry := regexp.MustCompile(`### \[(\d+)\. ([^\]]+)\]\(([^)]+)\)\n\n\[!\[([^\]]+)\]\((images/gallery/[^)]+)\)\]\(([^)]+)\)\n\n\S`)
	entries := entry.FindAllStringSubmatch(string(b), -1)
	if len(entries) != len(paths) {
		t.Errorf("%d entries for %d tutorials", len(entries), len(paths))
	}
	shownPictures := map[string]bool{}
	for i, e := range entries {
		number, name, alt, picture := e[1], e[3], e[4], e[5]
		if i < len(paths) && name != filepath.Base(paths[i]) || e[6] != name || len(alt) < 20 {
			t.Errorf("entry %d is %s, linked to %s, described as %q", i+1, name, e[6], alt)
		}
		if !strings.HasPrefix(strings.TrimPrefix(name, "0"), number+"-") {
			t.Errorf("%s is called number %s", name, number)
		}
		shownPictures[filepath.Base(picture)] = true
		f, err := os.Open(filepath.Join(dir, filepath.FromSlash(picture)))
		if err != nil {
			t.Error(err)
			continue
		}
		info, _ := f.Stat()
		if img, err := png.DecodeConfig(f); err != nil || img.Width < 600 || info.Size() > 200_000 {
			t.Errorf("%s: %v wide, %d bytes, %v", picture, img.Width, info.Size(), err)
		}
		f.Close()
	}
	files, err := filepath.Glob(filepath.Join(dir, "images", "gallery", "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if !shownPictures[filepath.Base(f)] {
			t.Errorf("%s is shown nowhere", f)
		}
	}
}
