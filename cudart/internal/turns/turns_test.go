package turns

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
)

const (
	playEnv = "TURNS_TEST_PLAY" // a name of its own, and names to measure
	logEnv  = "TURNS_TEST_LOG"
)

func TestMain(m *testing.M) {
	if names, ok := os.LookupEnv(playEnv); ok {
		play(strings.Fields(names))
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// play measures names and notes each of its rounds. What a name ends with is done in its second round, or instead of the first: see the cases.
func play(names []string) {
	log, err := os.OpenFile(os.Getenv(logEnv), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		panic(err)
	}
	who := names[0]
	t := Begin()
	fmt.Fprintln(log, who, "begins")
	if who == "pp" {
		for _, name := range names[1:] {
			t.say("%s %s", has, strings.TrimRight(name, special))
		}
	}
	for _, name := range names[1:] {
		func() {
			defer func() {
				if r := recover(); r != nil {
					fmt.Fprintln(log, who, r)
				}
			}()
			plays(t, log, who, name)
		}()
	}
}

// special are ends of names: it ends before the name, ends, hangs, fails before the name, fails, fails and does not say so.
const special = "0!#?%^"

func plays(t *Taker, log io.Writer, who, name string) {
	bare, n := strings.TrimRight(name, special), 0
	switch end := strings.TrimPrefix(name, bare); end {
	case "0":
		os.Exit(1)
	case "?":
		panic(bare + " has no room")
	case "^":
		t.say("%s %s", at, bare)
		t.hear()
		return
	}
	t.Rounds(bare, 2, func() float64 {
		if n++; n == 2 {
			switch {
			case strings.HasSuffix(name, "!"):
				os.Exit(1)
			case strings.HasSuffix(name, "#"):
				time.Sleep(time.Minute)
			case strings.HasSuffix(name, "%"):
				panic(bare + " fails")
			}
		}
		fmt.Fprintln(log, who, bare)
		return float64(len(who)) + float64(n)/8
	})
}

// rounds is how many match has of each name.
var rounds = 2

// match runs programs and returns what was measured in turn and what they noted. The peer is the one named pp.
func match(t *testing.T, most time.Duration, peer string, ours ...string) (pairs, log []string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "log")
	start := func(names string) *Player {
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
		ended := make(chan struct{})
		go func() {
			select {
			case <-p.SentOff():
				_ = cmd.Process.Kill()
			case <-ended:
			}
		}()
		t.Cleanup(func() {
			_ = cmd.Wait()
			close(ended)
		})
		return p
	}
	m := Match{Rounds: rounds, First: time.Minute, Most: most, Pair: func(name string, which int, a, b []float64) {
		pairs = append(pairs, fmt.Sprint(name, " of ", which, ": ", a, " ", b))
	}}
	for _, names := range ours {
		m.Ours = append(m.Ours, start(names))
	}
	if peer != "" {
		m.Peer = start(peer)
	}
	m.Referee()
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
	} {
		pairs, log := match(t, time.Minute, c.peer, c.ours...)
		if !reflect.DeepEqual(pairs, c.pairs) || !reflect.DeepEqual(log, c.log) {
			t.Errorf("%s: %q\n%q", c.what, pairs, log)
		}
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
