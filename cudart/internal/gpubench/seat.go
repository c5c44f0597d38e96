package main

import (
	"context"
	"os"

	"github.com/halftone-ml/halftone/cudart/internal/turns"
)

// A seat is a stage's place among those that take turns. Where its program ends before its time another takes it, and goes on behind the name
// that the first one came to: a kernel that loses the device costs its own figure. A nil one is of a stage that takes no turns.
type seat struct {
	player *turns.Player // of the program that runs, or is next
	taken  int           // how often
	want   chan []string // the referee asks for another, behind these names
	next   chan *turns.Player
	ended  chan struct{}   // closed when there is no other
	over   <-chan struct{} // closed when the referee asks no more
}

// mostTaken is how many programs take a seat at most: each that hangs, or starts, takes time of the others.
const mostTaken = 3

func newSeat(over <-chan struct{}) (*seat, error) {
	p, err := turns.NewPlayer()
	if err != nil {
		return nil, err
	}
	s := &seat{player: p, taken: 1, want: make(chan []string), next: make(chan *turns.Player), ended: make(chan struct{}), over: over}
	p.Again = s.again
	return s, nil
}

// again is the referee's question.
func (s *seat) again(behind []string) *turns.Player {
	select {
	case s.want <- behind:
	case <-s.ended:
		return nil
	}
	select {
	case p := <-s.next:
		return p
	case <-s.ended:
		return nil
	}
}

// goesOn is whether another program takes the place of one that has ended so: that was killed, has crashed, or says that it has lost the device.
func (s *seat) goesOn(ctx context.Context, end *os.ProcessState) bool {
	if s == nil || end == nil || s.taken == mostTaken || end.ExitCode() == 0 || end.ExitCode() == 1 { // 1: it has said what it lacks
		return false
	}
	select {
	case behind := <-s.want:
		p, err := turns.Next(behind)
		if err != nil {
			return false
		}
		p.Again = s.again
		s.player.Close()
		s.player = p
		s.taken++
		s.next <- p
		return true
	case <-s.over:
	case <-ctx.Done():
	}
	return false
}

// who is the player, nil without.
func (s *seat) who() *turns.Player {
	if s == nil {
		return nil
	}
	return s.player
}

func (s *seat) close() {
	if s != nil {
		s.player.Close()
		close(s.ended)
	}
}
