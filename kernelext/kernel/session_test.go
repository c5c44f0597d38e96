package kernel

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/halftone-ml/halftone/kernelext/layout"
	"github.com/halftone-ml/halftone/kernelext/wire"
)

// sessionDecls is what a notebook declares once, without an import line.
const sessionDecls = `func newNet(s *amp.Scope) *nn.Sequential {
	return nn.NewSequential(nn.NewLinear(s, 200, 100), nn.NewBatchNorm1d(s, 100), nn.ReLU, nn.NewLinear(s, 100, 4))
}

type run struct {
	root *amp.Scope
	net *nn.Sequential
	opt *optim.Adam
	scaler *amp.GradScaler
	steps *int
}

func open() *run {
	r := &run{root: session.NewScope(amp.Seed(1))}
	r.net = session.Model("net", newNet)
	r.opt = session.Optimizer("opt", func() *optim.Adam { return optim.NewAdam(r.net.Parameters()) })
	r.scaler = session.Scaler("scaler", amp.InitScale(1024))
	r.steps = session.Value("steps", 0)
	return r
}

func (r *run) step(s *amp.Scope) {
	half := s.Autocast(amp.Float16)
	x, y := amp.Randn(s, amp.Float32, 0, 1, 16, 200), amp.RandInt(s, 0, 4, 16)
	loss := nn.CrossEntropyLoss(half, r.net.Forward(half, x), y)
	r.opt.ZeroGrad()
	r.scaler.Scale(s, loss).Backward()
	r.scaler.Step(r.opt)
	r.scaler.Update()
	*r.steps++
}

func (r *run) look() {
	sum := 0.0
	for _, t := range append(r.net.Parameters(), r.net.Buffers()...) {
		sum += amp.SumOfSquares(t)
	}
	fmt.Println(*r.steps, sum, r.opt.Steps(), r.scaler.GrowthTracker(), r.root.Random().State().Counter)
}
`

const (
	sessionTrain = "%%\nr := open()\ndefer r.root.Close()\nfor s := range r.root.Steps(5) {\n\tr.step(s)\n}\nr.look()\n"
	sessionLook  = "%%\nr := open()\ndefer r.root.Close()\nr.look()\n"
	sessionLoop  = "%%\nr := open()\ndefer r.root.Close()\nfor s := range r.root.Steps(1_000_000) {\n\tr.step(s)\n\tif s.Step() == 20 {\n\t\tfmt.Println(\"going\")\n\t}\n}\nr.look()\n"
)

// stepsOf is the number of steps that a cell has printed.
func stepsOf(t *testing.T, r result) (n int) {
	t.Helper()
	if _, err := fmt.Sscan(r.stdout[strings.LastIndexByte(strings.TrimSpace(r.stdout), '\n')+1:], &n); err != nil {
		t.Fatalf("%q: %v", r.stdout, err)
	}
	return n
}

// TestSession trains in cells: what one has done is there in the next, however it ends.
func TestSession(t *testing.T) {
	l := home(t)
	s := startKernel(t, l)
	s.run(sessionDecls).ok(t)
	first := s.run(sessionTrain).ok(t)
	if got := s.run(sessionLook).ok(t); got.stdout != first.stdout || stepsOf(t, got) != 5 {
		t.Errorf("after a cell: %q, it had %q", got.stdout, first.stdout)
	}
	second := s.run(sessionTrain).ok(t)

	m := s.submit(sessionLoop)
	s.waitOutput(m, "going")
	s.press()
	stopped := s.result(m)
	if got := s.run(sessionLook).ok(t); !strings.HasSuffix(stopped.stdout, got.stdout) || stepsOf(t, got) < 20 || got.stderr != "" {
		t.Errorf("after an interrupt: %q %q, it had %q", got.stdout, got.stderr, stopped.stdout)
	}

	m = s.submit(sessionLoop)
	s.waitOutput(m, "going")
	before := stepsOf(t, stopped)
	if err := syscall.Kill(s.cell(), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	s.result(m)
	got := s.run(sessionLook).ok(t)
	if n := stepsOf(t, got); n < before {
		t.Errorf("after a killed cell: %d steps, %d before", n, before)
	}
	before = stepsOf(t, got)

	m = s.submit(sessionLoop)
	s.waitOutput(m, "going")
	if err := syscall.Kill(s.gonb(), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	s.result(m)
	s.run(sessionDecls).ok(t)
	if n := stepsOf(t, s.run(sessionLook).ok(t)); n < before {
		t.Errorf("after GoNB was killed: %d steps, %d before", n, before)
	}

	other := startKernel(t, home(t))
	other.run(sessionDecls).ok(t)
	if got := other.run(sessionTrain).ok(t); got.stdout != first.stdout {
		t.Errorf("another kernel has %q, want %q", got.stdout, first.stdout)
	}
	if got := other.run(sessionTrain).ok(t); got.stdout != second.stdout {
		t.Errorf("another kernel has %q, want %q", got.stdout, second.stdout)
	}
	_ = s.cmd.Process.Kill()
	<-s.exited
	nothingLeft(t, l, 0)
}

// cell returns the process of the cell that runs.
func (s *server) cell() int {
	s.t.Helper()
	gonb := s.gonb()
	for _, p := range processes() {
		if p.parent == gonb && strings.HasPrefix(p.name, "gonb_") {
			return p.pid
		}
	}
	s.t.Fatal("no cell is running")
	return 0
}

// TestSessionMagics lists, saves, drops and loads what cells have made.
func TestSessionMagics(t *testing.T) {
	s := startKernel(t, home(t))
	file := filepath.Join(t.TempDir(), "net.safetensors")
	s.run(sessionDecls).ok(t)
	trained := s.run(sessionTrain).ok(t)
	text := func(code string) string {
		r := s.run(code).ok(t)
		out := r.stdout + r.stderr
		for _, d := range r.displays {
			if p, ok := d["text/plain"].(string); ok {
				out += p
			}
		}
		return out
	}
	list := text("%amp session")
	for _, want := range []string{"net", "model", "*nn.Sequential", "opt", "optimizer", "scaler", "1024", "steps", "random"} {
		if !strings.Contains(list, want) {
			t.Errorf("no %q in\n%s", want, list)
		}
	}
	text("%amp session save net " + file)
	if info, err := os.Stat(file); err != nil || info.Size() < 80000 {
		t.Fatalf("%v %v", info, err)
	}
	s.run(sessionTrain).ok(t)
	text("%amp session load net " + file)
	var a, b struct{ steps, sum float64 }
	fmt.Sscan(trained.stdout, &a.steps, &a.sum)
	fmt.Sscan(s.run(sessionLook).ok(t).stdout, &b.steps, &b.sum)
	if a.sum != b.sum || b.steps != 10 {
		t.Errorf("the weights loaded are %v at step %v, they were saved at %v", b.sum, b.steps, a.sum)
	}
	for n := 1; n <= 2; n++ { // in a %%amp cell, whose scope closes by itself
		r := s.run("%%amp float16\nsession.Join(s)\ncount := session.Value(\"count\", 0)\n*count++\nfmt.Println(*count)").ok(t)
		if want := fmt.Sprintln(n); !strings.HasPrefix(r.stdout, want) {
			t.Errorf("%q, want %q", r.stdout, want)
		}
	}
	text("%amp session drop net opt")
	if list := text("%amp session"); strings.Contains(list, "model") || !strings.Contains(list, "scaler") {
		t.Errorf("after the drop:\n%s", list)
	}
}

// TestSessionInStockGoNB: the same code keeps a file in GoNB's own folder.
func TestSessionInStockGoNB(t *testing.T) {
	l := home(t)
	conn, file := connectionFile(t)
	tmp := t.TempDir()
	cmd := exec.Command(l.GoNB(), "--kernel", file, "-go_work="+checkout)
	st := layout.State{Checkout: checkout}
	st.Go, _ = exec.LookPath("go")
	cmd.Env = append(wire.Env(l, st, os.Environ()), "TMPDIR="+tmp)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		killSession(cmd.Process.Pid)
		_ = cmd.Wait()
	}()
	c := dial(t, conn)
	c.ready()
	imports := "import (\n\t\"" + Module + "/amp\"\n\t\"" + Module + "/amp/nn\"\n\t\"" + Module + "/amp/optim\"\n\t\"" + Module + "/kernelext/session\"\n)\n"
	c.run(imports + sessionDecls).ok(t)
	first := c.run(sessionTrain).ok(t)
	if got := c.run(sessionLook).ok(t); got.stdout != first.stdout || stepsOf(t, got) != 5 {
		t.Errorf("%q, it had %q", got.stdout, first.stdout)
	}
	kept, _ := filepath.Glob(filepath.Join(tmp, "gonb_*", "halftone", "session"))
	if len(kept) != 1 {
		t.Fatalf("the session lies in %v", kept)
	}
	if info, err := os.Stat(filepath.Dir(kept[0])); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("%v %v", info, err)
	}
	c.reply(c.request(c.control, "shutdown_request", map[string]any{"restart": false}))
	for began := time.Now(); time.Since(began) < time.Minute; {
		if kept, _ = filepath.Glob(kept[0]); len(kept) == 0 {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Errorf("%v is left after the shutdown", kept)
}
