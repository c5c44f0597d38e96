package browser

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// tutorial is the notebook that newcomers open first.
func tutorial(t testing.TB) string {
	t.Helper()
	root, err := checkoutDir()
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(root, "notebooks", "01-first-amp-training.ipynb")
}

// The saved tutorial shows all its figures to who just opens it, which JupyterLab does not trust; and running all of it in
// the page makes them again.
func TestTutorial(t *testing.T) {
	ready(t)
	saved := storedFigures(t, tutorial(t))
	if len(saved) == 0 {
		t.Fatal("the tutorial is saved without outputs: `make notebooks` makes them")
	}
	const answers = 2 // of %amp version and %amp device, in the first cell
	p := open(t, tutorial(t), "tutorial.ipynb", false)
	p.wait("all saved figures are there", fmt.Sprintf(`probe.outputs().length === %d`, answers+len(saved)))
	p.wait("the kernel is idle", `probe.status() === 'idle'`)
	var popups []string
	p.eval("looking for popups", `[...document.querySelectorAll('.Toastify__toast, .jp-Dialog')].map((e) => e.textContent)`, &popups)
	if len(popups) > 0 {
		t.Errorf("the first thing to see is %q", popups)
	}
	// Who only looks is not asked to save. JupyterLab writes what the kernel says of itself into the notebook.
	var dirty bool
	p.eval("looking whether the notebook counts as changed", `window.jupyterapp.shell.currentWidget.context.model.dirty`, &dirty)
	if dirty {
		t.Error("opening the tutorial marks it as changed")
	}
	for _, theme := range []string{"Light", "Dark"} {
		t.Run("saved/"+theme, func(t *testing.T) {
			defer p.in(t)()
			p.theme(theme)
			for i := range saved {
				m := p.settled(answers + i)
				p.snapFigure(strings.ToLower(fmt.Sprintf("tutorial-%s-%d-%s", theme, i, saved[i].Data.Kind)), answers+i)
				m.checkCard(t, &saved[i])
			}
		})
	}
	t.Run("run", func(t *testing.T) {
		defer p.in(t)()
		p.theme("Light")
		p.eval("running all cells", `window.jupyterapp.commands.execute('notebook:run-all-cells').then(() => true)`, nil)
		const done = `probe.cells().every((c) => c.model.type !== 'code' || c.model.executionCount > 0) && probe.status() === 'idle'`
		if !p.within(6*time.Minute, done) {
			p.fatal("running all cells", fmt.Errorf("not done within 6 minutes"))
		}
		p.wait("all figures are there again", fmt.Sprintf(`probe.outputs().length === %d`, answers+len(saved)))
		for i := range saved {
			m := p.settled(answers + i)
			again := saved[i]
			again.Data.Title = "" // the saved figure may have been made by an older version
			m.checkCard(t, &again)
		}
	})
	p.quiet()
}
