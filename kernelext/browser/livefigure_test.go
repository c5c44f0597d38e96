package browser

import (
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// loopNotebook trains without end and shows how it goes.
var loopNotebook = []cell{
	{"code", `%%
fmt.Println("pid", os.Getpid(), "") // in one piece: other outputs may come between two
root := amp.NewScope(amp.Seed(1))
defer root.Close()
x, y := amp.Randn(root, amp.Float32, 0, 1, 64, 8), amp.Randn(root, amp.Float32, 0, 1, 64, 1)
net := nn.NewSequential(nn.NewLinear(root, 8, 16), nn.ReLU, nn.NewLinear(root, 16, 1))
opt, scaler := optim.NewSGD(net.Parameters(), optim.LR(0.02)), amp.NewGradScaler(amp.InitScale(1<<24))
live := widgets.NewLive(4000, "A network in float16")
for s := range live.Steps(root) {
	half := s.Autocast(amp.Float16)
	loss := nn.MSELoss(half, net.Forward(half.In("net"), x), y)
	opt.ZeroGrad()
	scaler.Scale(s, loss).Backward()
	report := scaler.Step(opt)
	scaler.Update()
	live.Step(loss, report)
	time.Sleep(40 * time.Millisecond) // minutes for all: a busy machine takes its time to look
}
widgets.Show(widgets.ScaleHistory(scaler.History()))`},
}

// A live figure is one output that is updated in place while its cell runs, readable in both themes, and has its chart when the
// cell was interrupted, and when it was killed.
func TestLiveFigure(t *testing.T) {
	ready(t)
	path := t.TempDir() + "/loop.ipynb"
	writeNotebook(t, path, loopNotebook)
	p := open(t, path, "loop.ipynb", false)
	p.wait("the kernel is idle", `probe.status() === 'idle'`)
	for _, end := range []struct {
		name    string
		figures int
		says    string
		do      func(pid int)
	}{
		{"interrupted", 2, "Stopped after", func(int) { p.button("notebook:interrupt-kernel") }}, // what follows the loop is shown, too
		{"killed", 1, "Stopped after", func(pid int) { _ = syscall.Kill(pid, syscall.SIGKILL) }},
		{"restarted", 1, "Interrupted by a restart of the kernel.", func(int) { p.restartKernel() }}, // which takes with it who would have said so
	} {
		t.Run(end.name, func(t *testing.T) {
			defer p.in(t)()
			p.runCell(0)
			p.wait("the figure runs", `probe.outputs().length === 1 && /▶ running ([3-9]\d|\d{3}|\d,\d{3}) of 4,000/.test(probe.outputText(0))`)
			before := p.step()
			p.wait("it moves", fmt.Sprintf(`/(\d[\d,]*) of 4,000/.exec(probe.outputText(0))[1].replace(',', '') - %d > 20`, before))
			for _, theme := range []string{"Dark", "Light"} {
				p.theme(theme)
				p.look(end.name + "-running-" + strings.ToLower(theme))
			}
			end.do(p.pid())
			p.wait("it has stopped", fmt.Sprintf(`probe.status() === 'idle' && probe.outputs().length === %d && probe.outputText(0).includes('■ stopped') && probe.outputText(0).includes(%q) && !/left|so far/.test(probe.outputText(0))`, end.figures, end.says))
			p.wait("it has its chart", `(() => { const c = probe.outputs()[0].querySelector('.ht-svg path.ht-line'); return c && c.getAttribute('d').length > 200; })()`)
			for _, theme := range []string{"Dark", "Light"} {
				p.theme(theme)
				p.look(end.name + "-" + strings.ToLower(theme))
			}
		})
	}
	p.quiet()
}

// step is the number of steps that the figure shows.
func (p *tab) step() (n int) {
	p.t.Helper()
	p.eval("the step", `Number(/(\d[\d,]*) of 4,000/.exec(probe.outputText(0))[1].replace(',', ''))`, &n)
	return n
}

// look checks that the live figure can be read, and takes its picture.
func (p *tab) look(name string) {
	p.t.Helper()
	m := p.settled(0)
	if m.bad() {
		p.t.Errorf("%s: %+v", name, m)
	}
	p.snapFigure("livefigure-"+name, 0)
}

var printedPid = regexp.MustCompile(`pid (\d+) `)

// pid is the process id that the cell has printed.
func (p *tab) pid() int {
	p.t.Helper()
	var text string
	p.eval("the output", `probe.outputText(0)`, &text)
	m := printedPid.FindStringSubmatch(text)
	if m == nil {
		p.t.Fatalf("no process id in %q", text)
	}
	pid, err := strconv.Atoi(m[1])
	if err != nil || pid <= 1 || pid == os.Getpid() {
		p.t.Fatalf("process id %q", m[1])
	}
	return pid
}
