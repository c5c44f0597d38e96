package browser

import (
	"bytes"
	"cmp"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
)

// maxPicture bounds the picture in bytes: it is in the repository and on the first page that people load.
const maxPicture = 300_000

// TestPicture takes the picture of the README: the saved tutorial in JupyterLab, in two views below each other: the training
// loop with the decisions of its first model, and the scale history with an overflow. With -picture it writes it, and with
// -screenshots a dark one to look at; without, it checks that it could.
func TestPicture(t *testing.T) {
	ready(t)
	if len(storedFigures(t, tutorial(t))) == 0 {
		t.Fatal("the tutorial is saved without outputs: `make notebooks` makes them")
	}
	const name = "01-first-amp-training.ipynb"
	p := newTab(t, suite.browser, suite.lab.url)
	p.serve(tutorial(t), name, true)
	p.load(name)
	p.wait("the figures are drawn", `probe.outputs().length > 1 && probe.outputs().every((f) => f.matches('.ht-card, .halftone-answer'))`)
	p.wait("the kernel is idle", `probe.status() === 'idle'`)
	const top, bottom = 846, 560
	p.run("resizing", emulation.SetDeviceMetricsOverride(1050, top+bottom, 2, false))
	p.eval("opening the second view", `(async () => {
		const app = window.jupyterapp;
		await app.commands.execute('application:toggle-left-area');
		window.views = [probe.panel()];
		await app.commands.execute('docmanager:clone', { options: { mode: 'split-bottom' } });
		views.push(probe.panel());
		return views[1] !== views[0];
	})()`, nil)
	p.wait("the second view has its figures", `views[1].content.node.querySelectorAll('.ht-card').length > 1`)
	handle := p.place(`[...document.querySelectorAll('.lm-DockPanel-handle')].find((h) => h.getBoundingClientRect().width > 300)`)
	x, y := handle.X+handle.Width/2, handle.Y+handle.Height/2
	p.mouse(input.MouseMoved, x, y, 0)
	p.mouse(input.MousePressed, x, y, 1)
	p.mouse(input.MouseMoved, x, top, 1)
	p.mouse(input.MouseReleased, x, top, 0)
	themes := []string{"Light", "Dark"}
	if *screenshots == "" {
		themes = themes[:1]
	}
	for _, theme := range themes {
		p.theme(theme)
		p.eval("scrolling", `(async () => {
			const scroll = async (view, element) => {
				for (let n = 0; n < 3; n++) { // cells that come into view get their real height only then
					element().scrollIntoView({ block: 'start' });
					view.content.node.querySelector('.jp-WindowedPanel-outer').scrollTop -= 6;
					await probe.place(element());
				}
			};
			const cell = (view, id) => view.content.widgets.find((c) => c.model.id === id).node;
			await scroll(views[0], () => [...cell(views[0], 'linear').querySelectorAll('.cm-line')].find((l) => l.textContent.startsWith('for ')));
			await scroll(views[1], () => cell(views[1], 'overflow').querySelector('.ht-card'));
			return true;
		})()`, nil)
		for what, element := range map[string]string{
			"the decisions' first row": `[...views[0].content.node.querySelectorAll('.ht-site')][0]`,
			"the scale history":        `views[1].content.widgets.find((c) => c.model.id === 'overflow').node.querySelector('.ht-svg')`,
		} {
			at := p.place(element)
			if under := p.visible(element); !under || at.Height < 20 {
				t.Errorf("%s is not in the picture: %+v", what, at)
			}
		}
		path := *picture
		if theme == "Dark" {
			path = filepath.Join(*screenshots, "picture-dark.png")
		}
		p.takePicture(path)
	}
	p.quiet()
}

// visible reports whether all of an element is in the part of the page that shows.
func (p *tab) visible(element string) bool {
	p.t.Helper()
	var ok bool
	p.eval("looking whether it shows", `(() => {
		const e = `+element+`, r = e.getBoundingClientRect(), x = r.x + r.width / 2;
		return [r.y + 2, r.bottom - 2].every((y) => { const at = document.elementFromPoint(x, y); return at && (e.contains(at) || at.contains(e)); });
	})()`, &ok)
	return ok
}

// takePicture writes what the window shows, with as many colors as fit; nowhere, when path is empty.
func (p *tab) takePicture(path string) {
	p.t.Helper()
	var shot []byte
	p.run("taking the picture", chromedp.CaptureScreenshot(&shot))
	img, err := png.Decode(bytes.NewReader(shot))
	if err != nil {
		p.t.Fatal(err)
	}
	var b bytes.Buffer
	colors := 256
	for ; colors >= 16; colors /= 2 {
		b.Reset()
		e := png.Encoder{CompressionLevel: png.BestCompression}
		if err := e.Encode(&b, quantize(img, colors)); err != nil {
			p.t.Fatal(err)
		}
		if b.Len() <= maxPicture {
			break
		}
	}
	if b.Len() > maxPicture {
		p.t.Fatalf("%d bytes with 16 colors, at most %d are wanted", b.Len(), maxPicture)
	}
	if path == "" {
		return
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
		p.t.Fatal(err)
	}
	p.t.Logf("%s: %d × %d, %d colors, %d bytes", path, img.Bounds().Dx(), img.Bounds().Dy(), colors, b.Len())
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
