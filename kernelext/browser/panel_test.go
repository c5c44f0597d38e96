package browser

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// linkedNotebook shows decisions and the exponents of their gradients, and trains a little.
var linkedNotebook = []cell{
	{"code", `%%amp float16 --trace health --show decisions,exponents
net := nn.NewSequential(nn.NewLinear(s, 8, 16), nn.ReLU, nn.NewLinear(s, 16, 1))
opt := optim.NewSGD(net.Parameters(), optim.LR(0.01))
scaler := amp.NewGradScaler(amp.InitScale(1 << 10))
x, y := amp.Randn(s, amp.Float32, 0, 1, 32, 8), amp.Randn(s, amp.Float32, 0, 1, 32, 1)
for step := range s.Steps(4) {
	half := step.Autocast(amp.NoDType)
	loss := nn.MSELoss(half, net.Forward(half.In("net"), x), y)
	opt.ZeroGrad()
	scaler.Scale(step, loss).Backward()
	scaler.Step(opt)
	scaler.Update()
}`},
	{"code", `%%
live := widgets.NewLive(100000, "A long run")
for i := range 100000 {
	live.StepLoss(1/float64(i+1), nil)
	time.Sleep(5 * time.Millisecond)
}`},
	{"code", "%amp status"},
}

// The panel lists a notebook's figures and how its kernel stands, and asks the kernel only while it is open. What is selected in the
// decisions lights up in the exponents. Controls change the session's policy, also while a cell runs, and take it back.
func TestPanel(t *testing.T) {
	ready(t)
	path := filepath.Join(t.TempDir(), "panel.ipynb")
	writeNotebook(t, path, linkedNotebook)
	p := open(t, path, "panel.ipynb", false)
	p.wait("the kernel is idle", `probe.status() === 'idle'`)
	p.eval("counting what goes to the kernel", `window.sent = []; (() => { const k = probe.panel().sessionContext.session.kernel; k.anyMessage.connect((_, a) => { if (a.direction === 'send' && /^comm_/.test(a.msg.header.msg_type)) sent.push(a.msg.header.msg_type + ' ' + JSON.stringify(a.msg.content.data)); }); return true; })()`, nil)
	p.runCell(0)
	p.wait("two figures are drawn", `probe.outputs().length === 2 && probe.status() === 'idle' && probe.count(0) === 1`)

	t.Run("linked", func(t *testing.T) {
		defer p.in(t)()
		p.eval("choosing a row", `(() => { const r = [...probe.outputs()[0].querySelectorAll('tr.ht-site')].find((r) => r.textContent.startsWith('linear')); r.click(); return true; })()`, nil)
		p.wait("its gradients light up", `probe.outputs()[1].querySelector('.ht-lit .ht-picked') && /Lit: /.test(probe.outputs()[1].textContent)`)
		p.eval("showing it", `probe.outputs()[0].querySelector('tr[aria-selected=true]').scrollIntoView({ block: 'center' }); probe.frames(5).then(() => true)`, nil)
		p.snap("panel-linked-decisions")
		p.eval("showing it", `probe.outputs()[1].scrollIntoView({ block: 'center' }); probe.frames(5).then(() => true)`, nil)
		p.snap("panel-linked-exponents")
		var sent []string
		p.eval("what was sent", `sent`, &sent)
		if len(sent) > 0 {
			t.Errorf("before any control is used the kernel was sent %q", sent)
		}
	})

	t.Run("panel", func(t *testing.T) {
		defer p.in(t)()
		p.eval("opening the panel", `jupyterapp.commands.execute('halftone:precision').then(() => true)`, nil)
		p.wait("it lists both figures", `document.querySelectorAll('.ht-side .ht-entry').length === 2`)
		p.wait("it knows the kernel", `/device\s*cpu/.test(document.querySelector('.ht-now')?.textContent ?? '') && /idle/.test(document.querySelector('.ht-now').textContent)`)
		p.runCell(1)
		p.wait("it follows the training", `/runs a cell/.test(document.querySelector('.ht-now').textContent) && /running [\d,]+ of 100,000/.test(document.querySelector('.ht-now').textContent)`)
		for _, theme := range []string{"Light", "Dark"} {
			p.theme(theme)
			p.snap("panel-" + strings.ToLower(theme))
			var m measured
			p.eval("measuring the panel", `probe.look(document.querySelector('.ht-panel'), document.querySelector('.ht-side'))`, &m)
			if len(m.Hidden)+len(m.Faint)+len(m.Clipped) > 0 {
				t.Errorf("%s: hidden %q, too little contrast %q, cut off %q", theme, m.Hidden, m.Faint, m.Clipped)
			}
			if axe := axeSource(t); axe != "" {
				p.eval("loading axe-core", axe+"; true", nil)
				p.checkAxe("the panel", ".ht-side")
			}
		}
	})

	t.Run("force", func(t *testing.T) {
		defer p.in(t)()
		p.press(`[...probe.outputs()[0].querySelectorAll('.ht-control button')].find((b) => b.textContent === 'run linear in float32 next time')`)
		p.wait("the kernel has done so, while a cell runs", `/linear runs in float32 from the next scope on/.test(probe.outputs()[0].textContent) && probe.status() === 'busy'`)
		p.wait("the panel lists it", `/linear to fp32/.test(document.querySelector('.ht-forced')?.textContent ?? '')`)
		p.snap("panel-forced")
		p.button("notebook:interrupt-kernel")
		p.wait("the kernel is idle", `probe.status() === 'idle'`)
		p.runCell(2)
		p.wait("%amp status lists it", `/linear = fp32/.test(probe.outputText(2))`)
		p.press(`[...probe.outputs()[0].querySelectorAll('.ht-control button')].find((b) => b.textContent === 'undo')`)
		p.wait("it is taken back", `/linear follows its class again/.test(probe.outputs()[0].textContent) && !/linear/.test(document.querySelector('.ht-forced')?.textContent ?? '')`)
	})

	t.Run("what if", func(t *testing.T) {
		defer p.in(t)()
		p.eval("moving the slider", `(() => { const s = probe.outputs()[1].querySelector('input[type=range]'); s.value = '20'; s.dispatchEvent(new Event('input')); return true; })()`, nil)
		p.wait("the figure follows", `/at loss scale 1,048,576/.test(probe.outputs()[1].textContent)`)
		p.press(`[...probe.outputs()[1].querySelectorAll('.ht-control button')].find((b) => b.textContent === 'recount by module in the kernel')`)
		p.wait("the kernel counts the same", `(() => {
			const t = probe.outputs()[1].textContent, m = /of ([\d,]+) numbers ([\d,]+) are lost to zero/.exec(t);
			return m && /Counted again in the kernel, at 2²⁰/.test(t);
		})()`)
		const modules = `probe.outputs()[1].querySelector('.ht-fold table')`
		p.wait("its modules stand in the table, each with its own largest safe scale", `(() => {
			const t = `+modules+`, heads = [...t.querySelectorAll('thead th')].map((h) => h.textContent);
			return /Counted in the kernel, at loss scale 1,048,576/.test(t.caption.textContent) && heads[7] === 'largest safe scale' && t.closest('details').open
				&& [...t.tBodies[0].rows].some((r) => r.cells[0].textContent === 'net/0' && /^2[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+$/.test(r.cells[7].textContent));
		})()`)
		p.eval("moving the slider on", `(() => { const s = probe.outputs()[1].querySelector('input[type=range]'); s.value = '4'; s.dispatchEvent(new Event('input')); s.dispatchEvent(new Event('change')); return true; })()`, nil)
		p.wait("the kernel counts again", `/Counted in the kernel, at loss scale 16/.test(`+modules+`.caption.textContent)`)
		p.eval("moving the slider back", `(() => { const s = probe.outputs()[1].querySelector('input[type=range]'); s.value = '20'; s.dispatchEvent(new Event('input')); return true; })()`, nil)
		p.press(`[...probe.outputs()[1].querySelectorAll('.ht-control button')].find((b) => b.textContent === 'start the next run with this scale')`)
		p.wait("the kernel has set it", `/Scalers start at 1,048,576/.test(probe.outputs()[1].textContent)`)
	})

	t.Run("closed", func(t *testing.T) {
		defer p.in(t)()
		p.eval("closing the panel", `jupyterapp.shell.collapseRight(); sent.length = 0; new Promise((r) => setTimeout(() => r(true), 4000))`, nil)
		var sent []string
		p.eval("what was sent", `sent`, &sent)
		if len(sent) > 0 {
			t.Errorf("with the panel closed the kernel was sent %q", sent)
		}
	})

	t.Run("no kernel", func(t *testing.T) {
		defer p.in(t)()
		p.eval("ending the kernel", `probe.panel().sessionContext.shutdown().then(() => true)`, nil)
		p.wait("the controls say why they are off", fmt.Sprintf(`[...probe.outputs()[1].querySelectorAll('.ht-control button')].every((b) => b.getAttribute('aria-disabled') === 'true') && /%s/.test(probe.outputs()[1].querySelector('.ht-control').textContent)`, "needs a running kernel"))
	})
	p.quiet()
}

// press brings a button into view and clicks it.
func (p *tab) press(button string) {
	p.t.Helper()
	p.wait("the button is there", button)
	p.eval("showing it", button+`.scrollIntoView({ block: 'center' }); probe.frames(3).then(() => true)`, nil)
	p.click(p.place(button))
}
