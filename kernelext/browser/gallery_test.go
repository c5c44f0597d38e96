package browser

import (
	"flag"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
)

var galleryDir = flag.String("gallery", "", "draw the pictures of notebooks/README.md into this folder, from the saved tutorials")

// galleryViews say what of each tutorial its picture shows: the cell, and of its outputs the n-th figure, or where n is negative the cell's code.
var galleryViews = []struct {
	tutorial, cell string
	figure         int
}{
	{"01-first-amp-training", "compare", 1},
	{"02-floating-point", "decode", 0},
	{"03-fp16-underflow", "at-and-after", 0},
	{"04-autocast", "model", 0},
	{"05-gradscaler-inside", "collapse", 0},
	{"06-bfloat16-float16", "deep", 0},
	{"07-resnet-and-vit", "train", 0},
	{"08-gpt-on-go", "train", 0},
	{"09-cuda-kernels", "first", -1},
	{"10-coming-from", "table", 0},
}

// TestGallery draws the pictures of the gallery: `go test -run TestGallery -gallery ../../notebooks/images/gallery`. That every tutorial is in
// the gallery, and has a picture, is checked without a browser by the tests of kernelext/notebook.
func TestGallery(t *testing.T) {
	if *galleryDir == "" {
		t.Skip("draws pictures when asked to with -gallery")
	}
	ready(t)
	for _, v := range galleryViews {
		t.Run(v.tutorial, func(t *testing.T) {
			name := "gallery-" + v.tutorial + ".ipynb"
			p := newTab(t, suite.browser, suite.lab.url)
			p.serve(filepath.Join(filepath.Dir(tutorial(t)), v.tutorial+".ipynb"), name, true)
			p.load(name)
			p.wait("the kernel is idle", `probe.status() === 'idle'`)
			p.run("resizing", emulation.SetDeviceMetricsOverride(900, 680, 1, false))
			p.eval("hiding the file browser", `window.jupyterapp.commands.execute('application:toggle-left-area').then(() => true)`, nil)
			cell := fmt.Sprintf(`window.jupyterapp.shell.currentWidget.content.widgets.find((c) => c.model.id === %q).node`, v.cell)
			element := cell + `.querySelector('.jp-Cell-inputWrapper')`
			if v.figure >= 0 {
				element = cell + fmt.Sprintf(`.querySelectorAll('.jp-OutputArea-child:has(.ht-card)')[%d]`, v.figure)
			}
			p.eval("scrolling", `(async () => {
				const view = window.jupyterapp.shell.currentWidget;
				view.content.activeCellIndex = view.content.widgets.findIndex((c) => c.model.id === '`+v.cell+`');
				for (let n = 0; n < 4; n++) { // cells that come into view get their real height only then
					await view.content.scrollToItem(view.content.activeCellIndex, 'start');
					await probe.frames(10);
				}
				for (let n = 0; n < 4; n++) {
					(`+element+`).scrollIntoView({ block: 'start' });
					view.content.node.querySelector('.jp-WindowedPanel-outer').scrollTop -= 6;
					await probe.place(`+element+`);
				}
				return true;
			})()`, nil)
			if at := p.place(element); at.Height < 100 {
				t.Errorf("what is to be shown is not there: %+v", at)
			}
			p.takePicture(filepath.Join(*galleryDir, strings.SplitN(v.tutorial, "-", 2)[0]+".png"))
		})
	}
}
