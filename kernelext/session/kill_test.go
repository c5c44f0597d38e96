package session_test

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

// knownSteps is how far the uninterrupted run goes.
const knownSteps = 1500

func init() {
	// endless prints what it finds and trains until it is killed, or to the last state that is known, and waits.
	cells["endless"] = func([]string) {
		e := take()
		fmt.Println(e.sum())
		for s := range e.root.Steps(max(knownSteps-len(*e.losses), 0)) {
			e.step(s)
		}
		time.Sleep(time.Minute)
	}
	// states prints what a run is after each of N steps.
	cells["states"] = func(args []string) {
		e := take()
		fmt.Println(e.sum())
		var n int
		_, _ = fmt.Sscan(args[0], &n)
		for s := range e.root.Steps(n) {
			e.step(s)
			fmt.Println(e.sum())
		}
	}
}

// TestKilledAtRandomInstants kills cells with SIGKILL while they attach, train and commit. What the next one finds is bit for bit what
// an uninterrupted run is after some step, and never an earlier one than was found before.
func TestKilledAtRandomInstants(t *testing.T) { killAtRandomInstants(t, 100) }

func killAtRandomInstants(t *testing.T, kills int) {
	const steps = knownSteps
	states := strings.Split(strings.TrimSpace(newNotebook(t).run("states", steps)), "\n")
	if len(states) != steps+1 {
		t.Fatalf("%d states", len(states))
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range kills / 5 {
		killedAtFirst(t, r, states)
	}
	n := newNotebook(t)
	n.run("train", 1)
	found, last, fell := 0, 1, 0
	const quiet = 70 * time.Millisecond
	span := quiet // within which a cell is killed
	for range kills {
		cmd := n.command("endless")
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		var said strings.Builder
		cmd.Stderr = &said
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		d := time.Duration(r.Int64N(int64(span)))
		if r.IntN(20) == 0 {
			d += 400 * time.Millisecond // past the next anchor
		}
		time.Sleep(d)
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		line, _ := bufio.NewReader(out).ReadString('\n')
		_ = cmd.Wait()
		if strings.Contains(said.String(), "ended before it committed") {
			fell++
		}
		if line == "" {
			if s := said.String(); s != "" && !strings.HasPrefix(s, "session: the last cell") {
				t.Fatal(s)
			}
			span = min(span*5/4, 2*time.Second) // a busy machine brings cells on their way later
			continue                            // killed before it had looked
		}
		span = max(span*9/10, quiet)
		found++
		var k int
		if _, err := fmt.Sscan(line, &k); err != nil || k < last || k > steps || strings.TrimSpace(line) != states[k] {
			t.Fatalf("kill %d: found %q after step %d; the run has %q then: %v\n%s", found, strings.TrimSpace(line), last, states[min(k, steps)], err, &said)
		}
		if last = k; k > steps-500 {
			n = newNotebook(t)
			n.run("train", 1)
			last = 1
		}
	}
	t.Logf("%d cells killed, %d of them found a state; %d said that uncommitted work was lost", kills, found, fell)
	if found < kills/4 || fell == 0 {
		t.Errorf("of %d killed cells %d had found a state and %d a loss: the instants are not random", kills, found, fell)
	}
}

// killedAtFirst kills the first cell of a notebook, which makes everything.
func killedAtFirst(t *testing.T, r *rand.Rand, states []string) {
	t.Helper()
	n := newNotebook(t)
	cmd := n.command("endless")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	time.Sleep(time.Duration(r.Int64N(int64(25 * time.Millisecond))))
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	out, said, err := n.try("look")
	var k int
	if _, e := fmt.Sscan(out, &k); e != nil || err != nil || strings.TrimSpace(out) != states[k] {
		t.Fatalf("after the first cell was killed: %v: %q, the run has %q at step %d\n%s", err, out, states[k], k, said)
	}
}
