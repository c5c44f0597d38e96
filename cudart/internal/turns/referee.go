package turns

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
)

// A Player is a program that the referee lets run. A nil one is of a program that takes no turns.
type Player struct {
	tell   *os.File
	answer *os.File
	heard  *bufio.Reader // its lines
	theirs []*os.File    // the program's ends, ours until it has started
	at     string        // the name that it waits with
	begun  bool
	over   bool
}

// NewPlayer makes the place of a program.
func NewPlayer() (*Player, error) {
	theirIn, tell, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	answers, theirOut, err := os.Pipe()
	if err != nil {
		theirIn.Close()
		tell.Close()
		return nil, err
	}
	return &Player{tell: tell, answer: answers, heard: bufio.NewReader(answers), theirs: []*os.File{theirIn, theirOut}}, nil
}

// Join has a command that was not started yet take part.
func (p *Player) Join(cmd *exec.Cmd) {
	if p == nil {
		return
	}
	cmd.ExtraFiles = p.theirs
	cmd.Env = append(cmd.Environ(), Env+"=1")
}

// Started is called when the command has started, or can't: the program's end is seen from then on.
func (p *Player) Started() {
	if p == nil {
		return
	}
	for _, f := range p.theirs {
		f.Close()
	}
}

// Close ends a program's part, as its end does: of one that was killed and does not end nobody waits for an answer.
func (p *Player) Close() {
	if p == nil {
		return
	}
	p.tell.Close()
	p.answer.Close()
}

// tells says something and waits for the answer; false for a program that has ended.
func (p *Player) tells(what string) (answer string, ok bool) {
	if _, err := fmt.Fprintln(p.tell, what); err == nil {
		var line string
		if line, err = p.heard.ReadString('\n'); err == nil {
			return strings.TrimSuffix(line, "\n"), true
		}
	}
	p.over, p.at = true, ""
	return "", false
}

// goOn has a program run until it waits with its next name, or ends.
func (p *Player) goOn() {
	what := end
	if !p.begun {
		p.begun, what = true, begin
	}
	if answer, ok := p.tells(what); ok {
		p.at = strings.TrimPrefix(answer, at+" ")
	}
}

// turn has a program measure one round.
func (p *Player) turn() (seconds float64, ok bool) {
	answer, ok := p.tells(round)
	if !ok {
		return 0, false
	}
	seconds, err := strconv.ParseFloat(strings.TrimPrefix(answer, took+" "), 64)
	return seconds, err == nil
}

// Referee lets programs run until all have ended: those of ours one behind the other, and the peer, which may be nil. What both wait for
// with the same name they measure in turn, as often as there are rounds, each of them first in every other one; pair is then told both
// sides' seconds and which of ours it was. What only one has is measured as often, alone.
func Referee(ours []*Player, peer *Player, rounds int, pair func(name string, which int, ours, peer []float64)) {
	if peer == nil {
		peer = &Player{over: true}
	} else {
		peer.goOn()
	}
	for i, p := range ours {
		for p.goOn(); !p.over; p.goOn() {
			if p.at != peer.at {
				alone(p, rounds)
				continue
			}
			name := p.at
			if a, b := inTurn(p, peer, rounds); len(a) == rounds && len(b) == rounds {
				pair(name, i, a, b)
			}
			if !peer.over {
				peer.goOn()
			}
		}
	}
	for ; !peer.over; peer.goOn() {
		alone(peer, rounds)
	}
}

func alone(p *Player, rounds int) {
	for range rounds {
		if _, ok := p.turn(); !ok {
			return
		}
	}
}

// inTurn returns the seconds of both, fewer than asked for of one that has ended in between.
func inTurn(a, b *Player, rounds int) (of, by []float64) {
	for r := range rounds {
		for k := range 2 {
			p, to := a, &of
			if (r+k)%2 == 1 {
				p, to = b, &by
			}
			if s, ok := p.turn(); ok {
				*to = append(*to, s)
			}
		}
	}
	return of, by
}
