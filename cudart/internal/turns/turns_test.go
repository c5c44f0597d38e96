package turns

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

const (
	playEnv = "TURNS_TEST_PLAY" // names to measure, "!" to end there
	logEnv  = "TURNS_TEST_LOG"
)

func TestMain(m *testing.M) {
	if names, ok := os.LookupEnv(playEnv); ok {
		play(strings.Fields(names))
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// play measures names and notes each of its rounds.
func play(names []string) {
	log, err := os.OpenFile(os.Getenv(logEnv), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		panic(err)
	}
	who := names[0]
	t := Begin()
	fmt.Fprintln(log, who, "begins")
	for _, name := range names[1:] {
		if name == "!" {
			os.Exit(1)
		}
		n := 0
		t.Rounds(strings.TrimSuffix(name, "!"), 2, func() float64 {
			if n++; n == 2 && strings.HasSuffix(name, "!") {
				os.Exit(1)
			}
			fmt.Fprintln(log, who, name)
			return float64(len(who)) + float64(n)/8
		})
	}
}

// match runs programs and returns what was measured in turn and what they noted.
func match(t *testing.T, rounds int, peer string, ours ...string) (pairs, log []string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "log")
	start := func(names string) (*Player, func()) {
		p, err := NewPlayer()
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), playEnv+"="+names, logEnv+"="+file)
		cmd.Stderr = os.Stderr
		p.Join(cmd)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		p.Started()
		return p, func() { _ = cmd.Wait() }
	}
	var players []*Player
	for _, names := range ours {
		p, wait := start(names)
		defer wait()
		players = append(players, p)
	}
	var other *Player
	if peer != "" {
		p, wait := start(peer)
		defer wait()
		other = p
	}
	Referee(players, other, rounds, func(name string, which int, a, b []float64) {
		pairs = append(pairs, fmt.Sprint(name, " of ", which, ": ", a, " ", b))
	})
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return pairs, strings.Split(strings.TrimSpace(string(text)), "\n")
}

func TestReferee(t *testing.T) {
	for _, c := range []struct {
		what       string
		peer       string
		ours       []string
		pairs, log []string
	}{
		{"the same names", "pp x y", []string{"a x y"},
			[]string{"x of 0: [1.125 1.25] [2.125 2.25]", "y of 0: [1.125 1.25] [2.125 2.25]"},
			[]string{"pp begins", "a begins", "a x", "pp x", "pp x", "a x", "a y", "pp y", "pp y", "a y"}},
		{"names that one lacks, and several of ours", "pp y z q", []string{"a x y", "bbb w z"},
			[]string{"y of 0: [1.125 1.25] [2.125 2.25]", "z of 1: [3.125 3.25] [2.125 2.25]"},
			[]string{"pp begins", "a begins", "a x", "a x", "a y", "pp y", "pp y", "a y", "bbb begins", "bbb w", "bbb w", "bbb z", "pp z", "pp z", "bbb z", "pp q", "pp q"}},
		{"no peer", "", []string{"a x", "a y"}, nil, []string{"a begins", "a x", "a x", "a begins", "a y", "a y"}},
		{"a peer alone", "pp x", nil, nil, []string{"pp begins", "pp x", "pp x"}},
		{"one ends before it waits", "pp x y", []string{"a !", "bbb y"}, nil, []string{"pp begins", "a begins", "bbb begins", "bbb y", "bbb y", "pp x", "pp x", "pp y", "pp y"}},
		{"one ends in its turn", "pp x y", []string{"a x!", "bbb y"}, []string{"y of 1: [3.125 3.25] [2.125 2.25]"},
			[]string{"pp begins", "a begins", "a x!", "pp x", "pp x", "bbb begins", "bbb y", "pp y", "pp y", "bbb y"}},
		{"the peer ends in its turn", "pp x! y", []string{"a x", "bbb y"}, nil,
			[]string{"pp begins", "a begins", "a x", "pp x!", "a x", "bbb begins", "bbb y", "bbb y"}},
	} {
		pairs, log := match(t, 2, c.peer, c.ours...)
		if !reflect.DeepEqual(pairs, c.pairs) || !reflect.DeepEqual(log, c.log) {
			t.Errorf("%s: %q\n%q", c.what, pairs, log)
		}
	}
}

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
	Referee(players[:1], players[1], 2, func(name string, _ int, a, b []float64) { pairs = append(pairs, fmt.Sprint(name, a, b)) })
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

// A program that nobody lets run measures when it likes.
func TestAlone(t *testing.T) {
	t.Setenv(Env, "")
	n := 0.0
	if got := Begin().Rounds("x", 3, func() float64 { n++; return n }); !reflect.DeepEqual(got, []float64{1, 2, 3}) {
		t.Error(got)
	}
}
