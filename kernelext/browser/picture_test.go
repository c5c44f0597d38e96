package browser

import (
	"bytes"
	"cmp"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// maxPicture bounds the picture in bytes: it is in the repository and on the first page that people load.
const maxPicture = 300_000

// TestPicture takes the picture of the README: two cells of the saved tutorial, the decisions of its first model and the scale
// history with an overflow, in JupyterLab, at twice the size. With -picture it writes it, and a dark one to look at beside it.
func TestPicture(t *testing.T) {
	if *picture == "" {
		t.Skip("takes a picture only with -picture FILE")
	}
	ready(t)
	notebook := filepath.Join(t.TempDir(), "picture.ipynb")
	selection(t, tutorial(t), notebook, "linear", "overflow")
	p := newTab(t, suite.browser, suite.lab.url, 2*time.Minute)
	p.serve(notebook, "01-first-amp-training.ipynb", true)
	p.load("01-first-amp-training.ipynb")
	p.wait("the figures are interactive", `probe.outputs().length === 2 && probe.outputs().every((f) => !f.querySelector('.halftone-chart img'))`)
	p.wait("the kernel is idle", `probe.status() === 'idle'`)
	p.eval("making room", `(async () => {
		const app = window.jupyterapp;
		await app.commands.execute('application:toggle-left-area');
		probe.cells()[1].inputHidden = true;
		document.querySelectorAll('.Toastify').forEach((e) => e.remove());
		return true;
	})()`, nil)
	for theme, path := range map[string]string{"Light": *picture, "Dark": strings.TrimSuffix(*picture, ".png") + "-dark.png"} {
		p.theme(theme)
		p.takePicture(path)
	}
	p.quiet()
}

// takePicture makes the window as high as what it has to show, from the training loop on.
func (p *tab) takePicture(path string) {
	p.t.Helper()
	const width = 960
	resize := func(height int64) {
		p.run("resizing", emulation.SetDeviceMetricsOverride(width, height, 2, false))
		p.eval("settling", `probe.place(probe.cells()[1].node).then(() => true)`, nil)
	}
	resize(3000)
	const loop = `[...probe.cells()[0].editor.host.querySelectorAll('.cm-line')].find((l) => l.textContent.startsWith('for '))`
	top := p.place(loop)
	last := p.place(`probe.outputs()[1].querySelector('.halftone-chart')`)
	chrome := p.place(`probe.panel().content.node`)
	resize(int64(chrome.Y + (last.Y + last.Height - top.Y) + 60))
	p.eval("scrolling", fmt.Sprintf(`(async () => {
		const outer = probe.panel().content.node.querySelector('.jp-WindowedPanel-outer');
		outer.scrollTop += %s.getBoundingClientRect().top - outer.getBoundingClientRect().top - 6;
		await probe.place(probe.cells()[1].node);
		return true;
	})()`, loop), nil)
	var shot []byte
	p.run("taking the picture", chromedp.CaptureScreenshot(&shot))
	img, err := png.Decode(bytes.NewReader(shot))
	if err != nil {
		p.t.Fatal(err)
	}
	for colors := 128; ; colors /= 2 {
		var b bytes.Buffer
		e := png.Encoder{CompressionLevel: png.BestCompression}
		if err := e.Encode(&b, quantize(img, colors)); err != nil {
			p.t.Fatal(err)
		}
		if b.Len() > maxPicture && colors > 16 {
			continue
		}
		if b.Len() > maxPicture {
			p.t.Fatalf("%d bytes with %d colors, at most %d are wanted", b.Len(), colors, maxPicture)
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			p.t.Fatal(err)
		}
		if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
			p.t.Fatal(err)
		}
		p.t.Logf("%s: %d × %d, %d colors, %d bytes", path, img.Bounds().Dx(), img.Bounds().Dy(), colors, b.Len())
		return
	}
}

// quantize maps an image to its n most frequent colors that differ enough from each other: flat areas keep their color, and
// shades that only antialiasing makes go to the nearest.
func quantize(src image.Image, n int) *image.Paletted {
	box := src.Bounds()
	count := map[color.RGBA]int{}
	for y := box.Min.Y; y < box.Max.Y; y++ {
		for x := box.Min.X; x < box.Max.X; x++ {
			count[color.RGBAModel.Convert(src.At(x, y)).(color.RGBA)]++
		}
	}
	var colors []color.RGBA
	for c := range count {
		colors = append(colors, c)
	}
	slices.SortFunc(colors, func(a, b color.RGBA) int {
		return cmp.Or(count[b]-count[a], int(a.R)-int(b.R), int(a.G)-int(b.G), int(a.B)-int(b.B))
	})
	var palette color.Palette
	for _, c := range colors {
		if len(palette) == n {
			break
		}
		if !slices.ContainsFunc(palette, func(p color.Color) bool { return distance(p.(color.RGBA), c) < 60 }) {
			palette = append(palette, c)
		}
	}
	index := map[color.RGBA]uint8{}
	for c := range count {
		index[c] = uint8(palette.Index(c))
	}
	out := image.NewPaletted(box, palette)
	for y := box.Min.Y; y < box.Max.Y; y++ {
		for x := box.Min.X; x < box.Max.X; x++ {
			out.SetColorIndex(x, y, index[color.RGBAModel.Convert(src.At(x, y)).(color.RGBA)])
		}
	}
	return out
}

// distance is the squared distance of two colors.
func distance(a, b color.RGBA) int {
	r, g, u := int(a.R)-int(b.R), int(a.G)-int(b.G), int(a.B)-int(b.B)
	return r*r + g*g + u*u
}
