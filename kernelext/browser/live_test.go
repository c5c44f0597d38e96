package browser

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// People run cells, stop them, restart the kernel and ask for completions.
func TestLive(t *testing.T) {
	ready(t)
	p := openLive(t)
	p.wait("the kernel is idle", `probe.status() === 'idle'`)

	for _, step := range []struct {
		name string
		do   func()
	}{
		{"run", p.runFigure}, {"interrupt", p.interrupt}, {"type", p.typeName}, {"complete", p.complete}, {"restart", p.restart},
	} {
		if !t.Run(step.name, func(t *testing.T) {
			defer p.in(t)()
			step.do()
			p.snap("live-" + step.name)
		}) {
			return
		}
	}
	p.quiet()
}

func openLive(t *testing.T) *tab {
	t.Helper()
	path := t.TempDir() + "/live.ipynb"
	writeNotebook(t, path, liveNotebook)
	return open(t, path, "live.ipynb", false)
}

// runCell runs a cell as people do: a click into it, then Shift+Enter.
func (p *tab) runCell(i int) {
	p.t.Helper()
	p.eval("showing a cell", fmt.Sprintf(`probe.cells()[%d].editor.host.scrollIntoView({block: 'center'}); probe.frames(3).then(() => true)`, i), nil)
	p.click(p.place(fmt.Sprintf(`probe.cells()[%d].editor.host`, i)))
	p.wait("the cell has the focus", fmt.Sprintf(`probe.cells()[%d].editor.hasFocus()`, i))
	p.run("Shift+Enter", chromedp.KeyEvent(kb.Enter, chromedp.KeyModifiers(input.ModifierShift)))
}

// button presses a button of the notebook's toolbar.
func (p *tab) button(command string) {
	p.t.Helper()
	p.click(p.place(fmt.Sprintf(`probe.panel().toolbar.node.querySelector('[data-command=%q]')`, command)))
}

// runFigure runs a cell that shows a figure. What a notebook's owner runs is trusted: it is interactive at once.
func (p *tab) runFigure() {
	p.runCell(0)
	p.wait("the cell has run", `probe.count(0) === 1 && probe.status() === 'idle'`)
	p.wait("its figure is there", `probe.outputs().length === 1 && probe.outputs()[0].querySelector('button')`)
	m := p.settled(0)
	if len(m.Tables) != 1 || m.Tables[0].Rows == 0 || m.bad() {
		p.t.Errorf("the figure of a cell run here is not drawn well: %+v", m)
	}
	if m.Controls == 0 {
		p.t.Error("the figure of a cell run here is not interactive")
	}
}

// interrupt stops a cell that never ends, and the kernel goes on.
func (p *tab) interrupt() {
	p.runCell(1)
	p.wait("the endless cell runs", `probe.outputText(1).includes('spinning') && probe.status() === 'busy'`)
	p.button("notebook:interrupt-kernel")
	p.wait("the button has stopped it", `probe.status() === 'idle'`)
	p.runCell(2)
	p.wait("the next cell runs", `probe.outputText(2).includes('42')`)
}

// typeName types what a cell reads from standard input, which it has not asked for.
func (p *tab) typeName() {
	p.runCell(3)
	p.wait("there is a box to type in", `probe.output(3).querySelector('.jp-Stdin-input')`)
	p.snap("live-box")
	p.run("typing a name", chromedp.KeyEvent("Ada"), chromedp.KeyEvent(kb.Enter))
	p.wait("the cell has read it", `probe.outputText(3).includes('Good morning, Ada.') && probe.status() === 'idle'`)
	p.wait("the box is gone", `!probe.output(3).querySelector('.jp-Stdin-input')`)
	// Who does not want to answer stops the cell, and the next one runs.
	p.runCell(3)
	p.wait("there is a box again", `probe.output(3).querySelector('.jp-Stdin-input')`)
	p.button("notebook:interrupt-kernel")
	p.wait("the button has stopped the cell", `probe.status() === 'idle' && probe.outputText(3).includes('Interrupted')`)
	p.snap("live-box-interrupted")
	p.runCell(2)
	p.wait("the next cell runs", `probe.outputText(2).includes('42') && probe.status() === 'idle'`)
}

// complete asks for what amp has to offer.
func (p *tab) complete() {
	p.eval("a new cell", `probe.cells()[2].model.sharedModel.setSource('import "github.com/halftone-ml/halftone/amp"\n\n%%\namp.NewSco'); true`, nil)
	p.click(p.place(`probe.cells()[2].editor.host`))
	p.run("to the end", chromedp.KeyEvent(kb.End, chromedp.KeyModifiers(input.ModifierCtrl)))
	// GoNB answers nothing until twelve seconds after its start, and JupyterLab waits one: people press Tab again.
	const there = `probe.cells()[2].model.sharedModel.source.endsWith('amp.NewScope') || [...document.querySelectorAll('.jp-Completer-item')].some((e) => e.textContent.includes('NewScope'))`
	tries := 0
	for began := time.Now(); time.Since(began) < patience; {
		tries++
		p.run("Tab", chromedp.KeyEvent(kb.Tab))
		if p.within(2*time.Second, there) {
			p.t.Logf("NewScope is offered after Tab was pressed %d times", tries)
			return
		}
	}
	p.fatal("completing amp.NewSco", errors.New("NewScope is neither offered nor filled in"))
}

// restartKernel restarts the kernel as people do.
func (p *tab) restartKernel() {
	p.t.Helper()
	p.button("notebook:restart-kernel")
	p.wait("JupyterLab asks", `document.querySelector('.jp-Dialog .jp-Dialog-button.jp-mod-accept')`)
	p.click(p.place(`document.querySelector('.jp-Dialog .jp-Dialog-button.jp-mod-accept')`))
	p.wait("the dialog is gone and the kernel idle", `!document.querySelector('.jp-Dialog') && probe.status() === 'idle'`)
}

// restart gives a new kernel that counts from one.
func (p *tab) restart() {
	p.restartKernel()
	p.eval("a new cell", `probe.cells()[2].model.sharedModel.setSource('%%\nprint(6 * 8)'); true`, nil)
	p.runCell(2)
	p.wait("a cell runs in the new kernel", `probe.count(2) === 1 && probe.outputText(2).includes('48')`)
}
