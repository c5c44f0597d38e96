package session_test

import (
	"bufio"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/cudart"
	"github.com/halftone-ml/halftone/cudart/driver"
	"github.com/halftone-ml/halftone/cudart/emulator"
)

// A watched driver counts the calls in which the host waits for the device, and copies within it.
type watched struct {
	driver.Driver
	waits, copies atomic.Int64
	ctx           driver.Context
	streams       []driver.Stream
}

func (w *watched) RetainContext(d driver.Device) (c driver.Context, err error) {
	w.ctx, err = w.Driver.RetainContext(d)
	return w.ctx, err
}

func (w *watched) NewStream() (driver.Stream, error) {
	s, err := w.Driver.NewStream()
	w.streams = append(w.streams, s)
	return s, err
}

// work makes the device do what is queued on its first stream for as long as the cell lives, as a real one does by itself: the emulated one
// works where somebody waits.
func (w *watched) work() {
	go func() {
		for range time.Tick(time.Millisecond) {
			_ = driver.Do(w.Driver, w.ctx, func() error { return w.Driver.SyncStream(w.streams[0]) })
		}
	}()
}

func (w *watched) SyncStream(s driver.Stream) error { w.waits.Add(1); return w.Driver.SyncStream(s) }
func (w *watched) SyncEvent(e driver.Event) error   { w.waits.Add(1); return w.Driver.SyncEvent(e) }
func (w *watched) Sync() error                      { w.waits.Add(1); return w.Driver.Sync() }
func (w *watched) Free(p driver.DevicePtr) error    { w.waits.Add(1); return w.Driver.Free(p) }
func (w *watched) CopyDtoH(dst []byte, src driver.DevicePtr) error {
	w.waits.Add(1)
	return w.Driver.CopyDtoH(dst, src)
}
func (w *watched) CopyHtoD(dst driver.DevicePtr, src []byte) error {
	w.waits.Add(1)
	return w.Driver.CopyHtoD(dst, src)
}
func (w *watched) CopyDtoD(dst, src driver.DevicePtr, n uint64, s driver.Stream) error {
	w.copies.Add(1)
	return w.Driver.CopyDtoD(dst, src, n, s)
}

// watch makes the cell's device count.
func watch() *watched {
	w := &watched{}
	cudart.UseDriver(func() (driver.Driver, error) {
		path := ""
		if os.Getenv(cudart.ModeEnv) == cudart.ModeEmulator {
			var err error
			if path, err = emulator.Library(); err != nil {
				return nil, err
			}
		}
		d, err := driver.Open(path)
		w.Driver = d
		return w, err
	})
	return w
}

// unattended is a training step without anything that the host waits for.
func (r *gpuRun) unattended(s *amp.Scope) {
	r.learn(s, amp.Randn(s, amp.Float32, 0, 1, 8, 16))
	*r.steps++
}

func init() {
	// gpusteady eager|captured N: N steps, and on until the device has made two copies, which it does the seldomer the longer they take; it says
	// how often the host waited in those after the first 12, how many copies they made, and in the end the digest.
	cells["gpusteady"] = func(args []string) {
		n, _ := strconv.Atoi(args[1])
		w := watch()
		r := takeGPU("cuda:0")
		defer r.root.Close()
		x := amp.Full(r.root, amp.Float32, 0, 8, 16)
		one := func(s *amp.Scope) { r.learn(s, x) }
		var g *amp.Graph
		var waits, copies int64
		begun := *r.steps
		const most = 5000
		for s := range r.root.Steps(most) {
			i := *r.steps - begun
			if i == 12 {
				w.work()
				time.Sleep(50 * time.Millisecond)
				waits, copies = w.waits.Load(), w.copies.Load()
			}
			if args[0] == "captured" {
				amp.Assign(x, amp.Randn(s, amp.Float32, 0, 1, 8, 16))
				if g == nil {
					g = r.root.Capture(one)
					defer g.Close()
				} else {
					g.Replay()
				}
				*r.steps++
			} else {
				r.unattended(s)
			}
			time.Sleep(2 * time.Millisecond)
			if i >= n-1 && (w.copies.Load()-copies >= 2 || i == most-1) {
				waits, copies = w.waits.Load()-waits, w.copies.Load()-copies
				break
			}
		}
		fmt.Println(waits, copies, r.sum())
	}
	// gpubroken: a step whose index is out of range, and others behind it, none of which waits.
	cells["gpubroken"] = func([]string) {
		r := takeGPU("cuda:0")
		broken := -1
		for s := range r.root.Steps(400) {
			if err := amp.Maybe(func() { r.unattended(s) }); err != nil {
				fmt.Println(err)
			}
			if *r.steps == 40 {
				fmt.Println(r.sum())
				amp.Embedding(s.NoGrad(), r.net.Parameters()[0], amp.From([]int64{77}).To(s))
				broken = *r.steps
			}
			if broken > 0 {
				time.Sleep(time.Millisecond)
			}
		}
	}
	// gpuahead N: it says what it finds, and then queues N steps that nobody waits for, says so, and works on at nothing.
	cells["gpuahead"] = func(args []string) {
		n, _ := strconv.Atoi(args[0])
		r := takeGPU("cuda:0")
		fmt.Println(r.sum())
		left := r.root.Steps(n)
		for s := range left {
			r.unattended(s)
			if *r.steps%n == 0 {
				fmt.Println("queued")
				time.Sleep(time.Minute)
			}
		}
	}
}

// TestNoStepWaits: steps of a session, eager and captured, queue copies of what they have changed now and then, and the host waits in none
// of them.
func TestNoStepWaits(t *testing.T) {
	for _, mode := range []string{"eager", "captured"} {
		n := onGPU(t)
		var waits, copies, steps int
		var sum string
		out := n.run("gpusteady", mode, 60)
		if _, err := fmt.Sscan(out, &waits, &copies, &steps, &sum); err != nil || steps < 60 {
			t.Fatalf("%s: %q: %v", mode, out, err)
		}
		if waits != 0 || copies < 2 {
			t.Errorf("%s: the host waited %d times in %d steps, the device made %d copies", mode, waits, steps-12, copies)
		}
		if again := n.run("gpu", "cuda:0", 0); strings.TrimSpace(again) != fmt.Sprint(gpuName, " ", steps, " ", sum) {
			t.Errorf("%s: the next cell finds %s, it was left with %s", mode, again, out)
		}
	}
}

// TestRefusedStepIsNotKept: what a step with an index out of range has made is not committed, and the error says which op it was.
func TestRefusedStepIsNotKept(t *testing.T) {
	n := onGPU(t)
	out, said, err := n.try("gpubroken")
	if err == nil || !strings.Contains(said, "embedding") || !strings.Contains(said, "index 0 is 77") || !strings.Contains(said, "what was committed before stays") {
		t.Fatalf("%v: %s%s", err, out, said)
	}
	var at, found int
	if _, err := fmt.Sscan(out, &at); err != nil || at != 40 {
		t.Fatalf("%q: %v", out, err)
	}
	after, _, err := n.try("gpu", "cuda:0", 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := fmt.Sscan(strings.TrimPrefix(after, gpuName), &found); err != nil || found == 0 || found >= at {
		t.Errorf("the next cell finds step %d, the index was in step %d: %v", found, at, err)
	}
}

// TestKilledFarBehind kills cells whose device is far behind the host: copies are queued, and some of them made. The next cell finds a step,
// whole, and says that something was lost.
func TestKilledFarBehind(t *testing.T) {
	const steps = 150
	states := strings.Split(strings.TrimSpace(onGPU(t).run("gpustates", steps)), "\n")
	n, last, moved := onGPU(t), 0, 0
	for k := range 12 {
		cmd := n.command("gpuahead", steps)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewReader(out)
		found, err := lines.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		if k%3 == 2 {
			_, _ = lines.ReadString('\n') // all is queued
		}
		time.Sleep(time.Duration(k) * 7 * time.Millisecond)
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		var step int
		if _, err := fmt.Sscan(found, &step); err != nil || step < last || step >= len(states) || strings.TrimSpace(found) != states[step] {
			t.Fatalf("kill %d: found %q after step %d, the run has %q then", k, found, last, states[min(step, steps)])
		}
		if step > last {
			moved++
		}
		if last = step; step >= steps {
			break
		}
	}
	t.Logf("step %d after %d cells that found a later one", last, moved)
	if moved == 0 {
		t.Error("no cell found a later step than the one before")
	}
}
