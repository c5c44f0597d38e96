// Package turns has two programs measure the same things in turn, a round of one and a round of the other: one after the other they
// would meet a GPU of another clock and temperature, and differ by several percent though both only call the same library.
//
// Of all programs that take part one runs at a time. It does so from Begin until it calls Rounds; there it waits for its turns, and goes on
// behind the last. What two programs have is measured in turn; the names that both have must come in the same order. One of the two says
// its names beforehand: the other may lack any of them, or fail there, and both meet again at the next.
package turns

import (
	"bufio"
	"fmt"
	"os"
	"slices"
	"strings"
)

// Env is set for a program that takes part. What it is told comes on its file 3, what it answers goes to its file 4.
const Env = "HALFTONE_TURNS"

// BehindEnv holds names, a line each, that a program need not come to: another has, and ended before its time.
const BehindEnv = "HALFTONE_TURNS_BEHIND"

// Lost is what a program ends with that has lost the device, so that another takes its place: in it all that is behind would fail too.
const Lost = 3

// What is said, a line each. Answers but the last are followed by a space and a name or a number of seconds.
const (
	begin, round, end     = "begin", "round", "end"
	has, at, took, failed = "has", "at", "took", "failed"
)

// Usual is how many rounds a figure is the median of.
const Usual = 9

// A Taker is a program's place among the others. A nil one measures when it likes.
type Taker struct {
	told   *bufio.Reader
	answer *os.File
	behind []string
}

// Begin waits until the program may run. It returns nil for a program that was started alone. A program calls it before it does anything
// that another one's figures could feel.
func Begin() *Taker {
	if os.Getenv(Env) == "" {
		return nil
	}
	t := &Taker{bufio.NewReader(os.NewFile(3, "turns")), os.NewFile(4, "answers"), strings.Split(os.Getenv(BehindEnv), "\n")}
	t.hear()
	return t
}

// Behind is whether a name was measured before, by a program that this one takes the place of.
func (t *Taker) Behind(name string) bool { return t != nil && slices.Contains(t.behind, name) }

// Rounds measures what has a name: the seconds of each round, n of them where nobody else says how many.
func (t *Taker) Rounds(name string, n int, measure func() float64) (seconds []float64) {
	if t == nil {
		for range n {
			seconds = append(seconds, measure())
		}
		return seconds
	}
	t.say("%s %s", at, name)
	for t.hear() == round {
		s := t.one(measure)
		seconds = append(seconds, s)
		t.say("%s %g", took, s)
	}
	return seconds
}

// one measures one round. If that panics the others hear that it has failed, and the panic goes on when this program may: what it is caught
// by, and does then, would be felt.
func (t *Taker) one(measure func() float64) float64 {
	well := false
	defer func() {
		if !well {
			t.say(failed)
			t.hear()
		}
	}()
	s := measure()
	well = true
	return s
}

// hear waits for the next line. Where none can come the run is over, and so is this program: its figures would be of another kind.
func (t *Taker) hear() string {
	line, err := t.told.ReadString('\n')
	if err != nil {
		panic(fmt.Sprintf("turns: the run has ended: %v", err))
	}
	return line[:len(line)-1]
}

func (t *Taker) say(format string, args ...any) {
	if _, err := fmt.Fprintf(t.answer, format+"\n", args...); err != nil {
		panic(fmt.Sprintf("turns: the run has ended: %v", err))
	}
}
