package session_test

import (
	"bufio"
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/amp/nn"
	"github.com/halftone-ml/halftone/amp/optim"
	"github.com/halftone-ml/halftone/cudart"
	"github.com/halftone-ml/halftone/cudart/emulator"
	"github.com/halftone-ml/halftone/cudart/libraries"
	"github.com/halftone-ml/halftone/kernelext/session"
)

// Cells whose tensors stay in the memory of a GPU, the emulated one where there is no other. Each is a process; what is between them is
// the vault, in this one, which opens no device.

// gpuName is what tensors say that they are on.
var gpuName = "cuda:0"

// onGPU returns a notebook whose cells have a GPU.
func onGPU(t *testing.T, settings ...string) *notebook {
	t.Helper()
	n := newNotebook(t)
	if libraries.Find("libcuda").Path != "" && os.Getenv(cudart.ModeEnv) == "" {
		if len(settings) > 0 {
			t.Skip("the GPU has other settings")
		}
		return n
	}
	if _, err := emulator.Library(); err != nil {
		t.Skip(err)
	}
	gpuName = "cuda:0 (emulated)"
	n.env = append(n.env, cudart.ModeEnv+"="+cudart.ModeEmulator, "HALFTONE_EMULATOR="+strings.Join(append(settings, "quiet=1"), ","))
	return n
}

// A gpuRun is a training run that waits for the device in every third step.
type gpuRun struct {
	root   *amp.Scope
	net    *nn.Sequential
	opt    *optim.Adam
	scaler *amp.GradScaler
	steps  *int
}

func gpuNet(s *amp.Scope) *nn.Sequential {
	return nn.NewSequential(nn.NewLinear(s, 16, 32), nn.NewBatchNorm1d(s, 32), nn.ReLU, nn.NewLinear(s, 32, 4))
}

func takeGPU(device string) *gpuRun {
	r := &gpuRun{root: session.NewScope(amp.Seed(3), amp.On(device))}
	r.net = session.Model("net", gpuNet)
	r.opt = session.Optimizer("opt", func() *optim.Adam { return optim.NewAdamW(r.net.Parameters(), optim.LR(0.002)) })
	r.scaler = session.Scaler("scaler", amp.InitScale(1<<12), amp.GrowthInterval(7))
	r.steps = session.Value("steps", 0)
	return r
}

func (r *gpuRun) step(s *amp.Scope) {
	loss := r.learn(s, amp.Randn(s, amp.Float32, 0, 1, 8, 16))
	if *r.steps++; *r.steps%3 == 0 {
		loss.Item() // else the host runs ahead of an emulated device without bound
	}
}

func (r *gpuRun) learn(s *amp.Scope, x *amp.Tensor) *amp.Tensor {
	half := s.Autocast(amp.Float16)
	loss := amp.Mean(half, amp.Square(half, amp.Dropout(half, r.net.Forward(half, x), 0.25)))
	r.opt.ZeroGrad()
	r.scaler.Scale(s, loss).Backward()
	r.scaler.Step(r.opt)
	r.scaler.Update()
	return loss
}

func (r *gpuRun) sum() string {
	h := sha256.New()
	for _, t := range append(r.net.Parameters(), r.net.Buffers()...) {
		_ = amp.WriteRaw(h, t)
	}
	st := r.opt.LiveState()
	for i := range len(r.opt.Parameters()) {
		for _, name := range []string{"exp_avg", "exp_avg_sq"} {
			if t := st.Tensors[strconv.Itoa(i)+"."+name]; t != nil {
				_ = amp.WriteRaw(h, t)
			}
		}
	}
	fmt.Fprintln(h, st.Steps, *r.scaler.State(), r.root.Random().State())
	return fmt.Sprintf("%d %x", *r.steps, h.Sum(nil)[:8])
}

func init() {
	// gpu DEVICE N: N steps; it prints where the tensors are and the digest.
	cells["gpu"] = func(args []string) {
		n, _ := strconv.Atoi(args[1])
		r := takeGPU(args[0])
		defer r.root.Close()
		for s := range r.root.Steps(n) {
			r.step(s)
		}
		fmt.Println(r.net.Parameters()[0].Device(), r.sum())
	}
	// gpustates N: what a run is after each of N steps.
	cells["gpustates"] = func(args []string) {
		n, _ := strconv.Atoi(args[0])
		r := takeGPU("cuda:0")
		fmt.Println(r.sum())
		for s := range r.root.Steps(n) {
			r.step(s)
			fmt.Println(r.sum())
		}
	}
	// gpuendless N: it says what it finds and trains up to step N, until it is killed.
	cells["gpuendless"] = func(args []string) {
		n, _ := strconv.Atoi(args[0])
		r := takeGPU("cuda:0")
		fmt.Println(r.sum())
		for s := range r.root.Steps(max(n-*r.steps, 0)) {
			r.step(s)
		}
		fmt.Println("end")
		time.Sleep(time.Minute)
	}
	// gpucaptured eager|captured N: N steps, of which a replay is every one but the first.
	cells["gpucaptured"] = func(args []string) {
		n, _ := strconv.Atoi(args[1])
		r := takeGPU("cuda:0")
		defer r.root.Close()
		x := amp.Full(r.root, amp.Float32, 0, 8, 16)
		one := func(s *amp.Scope) { r.learn(s, x) }
		var g *amp.Graph
		for s := range r.root.Steps(n) {
			amp.Assign(x, amp.Randn(s, amp.Float32, 0, 1, 8, 16))
			switch {
			case args[0] == "eager":
				one(s)
			case g == nil:
				g = r.root.Capture(one)
				defer g.Close()
			default:
				g.Replay()
			}
			*r.steps++
		}
		fmt.Println(r.sum())
	}
	// gpufill NAME MB …: tensors of so many megabytes.
	cells["gpufill"] = func(args []string) {
		root := session.NewScope(amp.On("cuda:0"))
		defer root.Close()
		for ; len(args) > 0; args = args[2:] {
			mb, _ := strconv.Atoi(args[1])
			say(func() {
				session.Tensor(args[0], func(s *amp.Scope) *amp.Tensor { return amp.Full(s, amp.Float32, 7, mb, 1<<18) })
			})
		}
	}
	cells["gpudrop"] = func(args []string) { session.Drop(args...) }
}

// TestOnTheGPU: tensors stay in the device's memory from cell to cell, no copy of them on the host, and the run is the one that no cell
// boundary had divided; a cell on the CPU finds them, too, and one on the GPU what that left.
func TestOnTheGPU(t *testing.T) {
	whole, n := onGPU(t), onGPU(t)
	want := whole.run("gpu", "cuda:0", 14)
	for _, steps := range []int{5, 0, 3} {
		n.run("gpu", "cuda:0", steps)
	}
	if n.vault.Len() < 2 {
		t.Errorf("the kernel keeps %d allocations", n.vault.Len())
	}
	got := n.run("gpu", "cuda:0", 6)
	if got != want || !strings.HasPrefix(got, gpuName+" 14 ") {
		t.Errorf("in cells %s, at once %s", got, want)
	}
	onCPU := n.run("gpu", "cpu", 0)
	if w := strings.Replace(want, gpuName, "cpu", 1); onCPU != w {
		t.Errorf("on the CPU %s, want %s", onCPU, w)
	}
	if k := n.vault.Len(); k != 0 {
		t.Errorf("the kernel keeps %d allocations of a session on the host", k)
	}
	if got := n.run("gpu", "cuda:0", 0); got != want {
		t.Errorf("back on the GPU %s, want %s", got, want)
	}
}

// TestKilledOnTheGPU kills cells with SIGKILL while they attach, train and commit, the device at work behind them. What the next one
// finds is bit for bit what an uninterrupted run is after some step, and never an earlier one than was found before; and the kernel
// keeps nothing that no commit refers to.
func TestKilledOnTheGPU(t *testing.T) { killOnTheGPU(t, 50) }

func killOnTheGPU(t *testing.T, kills int) {
	const steps = 250
	states := strings.Split(strings.TrimSpace(onGPU(t).run("gpustates", steps)), "\n")
	if len(states) != steps+1 {
		t.Fatalf("%d states", len(states))
	}
	r := rand.New(rand.NewPCG(5, 6))
	n := onGPU(t)
	found, moved, last := 0, 0, 0
	const quiet = 300 * time.Millisecond
	span := quiet // within which a cell is killed
	for range kills {
		cmd := n.command("gpuendless", steps)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		var said strings.Builder
		cmd.Stderr = &said
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		line := ""
		if r.IntN(4) > 0 { // three in four are let begin
			line, _ = bufio.NewReader(out).ReadString('\n')
		}
		time.Sleep(time.Duration(r.Int64N(int64(span))))
		_ = cmd.Process.Kill()
		if line == "" {
			line, _ = bufio.NewReader(out).ReadString('\n')
		}
		_ = cmd.Wait()
		if line == "" {
			if s := said.String(); s != "" && !strings.HasPrefix(s, "session: the last cell") {
				t.Fatal(s)
			}
			continue
		}
		found++
		var k int
		if _, err := fmt.Sscan(line, &k); err != nil || k < last || k > steps || strings.TrimSpace(line) != states[k] {
			t.Fatalf("found %q after step %d; the run has %q then: %v\n%s", strings.TrimSpace(line), last, states[min(k, steps)], err, &said)
		}
		if k > last {
			moved++
			span = max(span*3/4, quiet)
		} else {
			span = min(span*5/4, 2*time.Second) // a busy machine takes its steps later
		}
		if last = k; k > steps-100 {
			n = onGPU(t)
			last = 0
		}
	}
	t.Logf("%d cells killed, %d had found a state, %d of them a later one", kills, found, moved)
	if found < kills/2 || moved == 0 {
		t.Errorf("of %d killed cells %d had found a state, %d a later one: the instants are not random", kills, found, moved)
	}
	if _, said, err := n.try("gpudrop", "opt", "net"); err != nil {
		t.Fatal(err, said)
	}
	deadline := time.Now().Add(time.Minute)
	for n.vault.Len() > 0 && time.Now().Before(deadline) {
		time.Sleep(10 * time.Millisecond)
	}
	if k := n.vault.Len(); k > 0 {
		t.Errorf("%d allocations are left of a session without tensors", k)
	}
}

// TestCapturedInASession: captured steps change what the session keeps, in one cell after another, as eager ones do.
func TestCapturedInASession(t *testing.T) {
	whole, n := onGPU(t), onGPU(t)
	want := whole.run("gpucaptured", "eager", 12)
	n.run("gpucaptured", "captured", 5)
	n.run("gpucaptured", "eager", 2)
	if got := n.run("gpucaptured", "captured", 5); got != want {
		t.Errorf("captured in cells %s, eager %s", got, want)
	}
}

// TestGPUIsFull: what does not fit is refused with what there is, and what was kept stays.
func TestGPUIsFull(t *testing.T) {
	n := onGPU(t, "memory=100M") // what a process has not mapped the emulated device does not count
	out := n.run("gpufill", "a", 8, "b", 20)
	for _, want := range []string{"ok\n", "no space in the session", "on cuda:0 (emulated)", "of 100.0 MiB left", "session.Drop"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is not in %q", want, out)
		}
	}
	if out := n.run("gpufill", "a", 8); out != "ok\n" {
		t.Error(out)
	}
	n.run("gpudrop", "a")
	if out := n.run("gpufill", "b", 20); out != "ok\n" {
		t.Error(out)
	}
}
