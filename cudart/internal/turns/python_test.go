package turns

import (
	"fmt"
	"os"
	"os/exec"
	"reflect"
	"strings"
	"testing"
	"time"
)

// A program in Python takes part as one in Go does.
func TestPython(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Fatal(err)
	}
	const script = "import turns\nn = 0\ndef m():\n  global n\n  n += 1\n  return n / 4\n" +
		"print(turns.rounds('x', m), turns.rounds('y', m))"
	var said [2]strings.Builder
	var players []*Player
	var wait []func() error
	for i := range said {
		p, err := NewPlayer()
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(python, "-c", script)
		cmd.Env, cmd.Stdout, cmd.Stderr = append(os.Environ(), "PYTHONDONTWRITEBYTECODE=1", "PYTHONPATH=."), &said[i], &said[i]
		p.Join(cmd)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		p.Started()
		players, wait = append(players, p), append(wait, cmd.Wait)
	}
	var pairs []string
	m := Match{Ours: players[:1], Peer: players[1], Rounds: 2, First: time.Minute, Most: time.Minute,
		Pair: func(name string, _ int, a, b []float64) { pairs = append(pairs, fmt.Sprint(name, a, b)) }}
	m.Referee()
	for i := range wait {
		if err := wait[i](); err != nil || said[i].String() != "[0.25, 0.5] [0.75, 1.0]\n" {
			t.Errorf("%v: %s", err, said[i].String())
		}
	}
	if want := []string{"x[0.25 0.5] [0.25 0.5]", "y[0.75 1] [0.75 1]"}; !reflect.DeepEqual(pairs, want) {
		t.Errorf("%q", pairs)
	}
	// Whose referee has gone says so and ends; who has none measures when it likes.
	alone := exec.Command(python, "-c", script)
	alone.Env = append(os.Environ(), "PYTHONDONTWRITEBYTECODE=1", "PYTHONPATH=.", Env+"=")
	if out, err := alone.CombinedOutput(); err != nil || strings.Count(string(out), ",") != 2*(Usual-1) || !strings.HasSuffix(string(out), fmt.Sprint(" ", Usual/2.0, "]\n")) {
		t.Errorf("%v: %s", err, out)
	}
	p, err := NewPlayer()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(python, "-c", script)
	cmd.Env = append(os.Environ(), "PYTHONDONTWRITEBYTECODE=1", "PYTHONPATH=.")
	p.Join(cmd)
	p.Close()
	out, err := cmd.CombinedOutput()
	if p.Started(); err == nil || !strings.Contains(string(out), "the run has ended") {
		t.Errorf("%v: %s", err, out)
	}
}

// TestPythonFails: one that fails in a round goes on with what it says that it has, and with its own error.
func TestPythonFails(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Fatal(err)
	}
	const script = `import turns
turns.has(["w", "x", "y"])
def once():
    once.n += 1
    if once.n == 2:
        raise ValueError("it is full")
    return 1
once.n = 0
for name in "w", "x", "y":
    try:
        print(name, turns.rounds(name, once))
    except ValueError as e:
        print(name, e)
`
	p, err := NewPlayer()
	if err != nil {
		t.Fatal(err)
	}
	var said strings.Builder
	cmd := exec.Command(python, "-c", script)
	cmd.Env, cmd.Stdout, cmd.Stderr = append(os.Environ(), "PYTHONDONTWRITEBYTECODE=1", "PYTHONPATH=."), &said, &said
	p.Join(cmd)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p.Started()
	p.goOn(time.Minute, time.Minute)
	if p.at != "w" || !reflect.DeepEqual(p.names, []string{"x", "y"}) {
		t.Errorf("%q, %q", p.at, p.names)
	}
	(&Match{Peer: p, Rounds: 2, First: time.Minute, Most: time.Minute}).alone(p)
	for p.goOn(time.Minute, time.Minute); !p.over; p.goOn(time.Minute, time.Minute) {
		(&Match{Rounds: 2, Most: time.Minute}).alone(p)
	}
	if err := cmd.Wait(); err != nil || said.String() != "w it is full\nx [1, 1]\ny [1, 1]\n" {
		t.Errorf("%v: %s", err, said.String())
	}
}
