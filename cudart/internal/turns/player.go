package turns

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// A Player is a program that the referee lets run. A nil one is of a program that takes no turns.
type Player struct {
	tell   *os.File
	answer *os.File
	heard  *bufio.Reader // its lines
	theirs []*os.File    // the program's ends, ours until it has started
	at     string        // the name that it waits with
	failed bool          // it has no more rounds of that name
	moved  bool          // it came to that name by itself, out of a round of another
	names  []string      // those that it has said to come, and are not behind it
	all    []string      // and all of them
	behind []string      // those that it has come to
	begun  bool
	going  bool // it is on its way
	over   bool
	sent   chan struct{} // closed when it is sent off
	why    error         // set before
	once   sync.Once
	// Again, if there is one, is called when the program has ended. Where that was before its time it returns the place of another, which is to
	// be told (BehindEnv) what it need not come to again; else nil.
	Again func(behind []string) *Player
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
	return &Player{tell: tell, answer: answers, heard: bufio.NewReader(answers), theirs: []*os.File{theirIn, theirOut}, sent: make(chan struct{})}, nil
}

// Join has a command that was not started yet take part.
func (p *Player) Join(cmd *exec.Cmd) {
	if p == nil {
		return
	}
	cmd.ExtraFiles = p.theirs
	cmd.Env = append(cmd.Environ(), Env+"=1", BehindEnv+"="+strings.Join(p.behind, "\n"))
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

// SentOff is closed when the referee has no more turns for a program that has not ended, which is to be killed then: Why says why.
func (p *Player) SentOff() <-chan struct{} {
	if p == nil {
		return nil
	}
	return p.sent
}

// Why is why a program was sent off, nil if it was not.
func (p *Player) Why() error {
	select {
	case <-p.SentOff():
		return p.why
	default:
		return nil
	}
}

// Next makes the place of a program that goes on behind names that others had come to.
func Next(behind []string) (*Player, error) {
	p, err := NewPlayer()
	if err == nil {
		p.behind = slices.Clone(behind)
	}
	return p, err
}

// next is the place of the program that goes on where this one has ended, nil for none. One that ended on its way from a name to the next
// did so at that: the other is not to try it.
func (p *Player) next() *Player {
	if p.going && !p.failed && len(p.names) > 0 { // where it has failed that ended it
		p.behind = append(p.behind, p.names[0])
	}
	if p.Again == nil || len(p.behind) == 0 || len(p.all) > 0 && len(p.names) == 0 { // it came to nothing, or to all
		return nil
	}
	return p.Again(p.behind)
}

// Has is what a program has said that it has.
func (p *Player) Has() []string { return p.all }

// mostDying is how long the next program waits for the end of one that was sent off: what it has the device do would be felt.
const mostDying = 20 * time.Second

func (p *Player) sendOff(why error) {
	p.over, p.at = true, ""
	p.once.Do(func() {
		p.why = why
		close(p.sent)
	})
	_ = p.answer.SetReadDeadline(time.Now().Add(mostDying))
	_, _ = io.Copy(io.Discard, p.answer)
}

// says is the next line of a program, within a time; false for one that has ended, or is sent off.
func (p *Player) says(most time.Duration) (line string, ok bool) {
	_ = p.answer.SetReadDeadline(time.Now().Add(most))
	line, err := p.heard.ReadString('\n')
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		p.sendOff(fmt.Errorf("had its turn for more than %v", most))
	case err != nil:
		p.over, p.at = true, ""
	default:
		return strings.TrimSuffix(line, "\n"), true
	}
	return "", false
}

// tells says something and waits for the answer.
func (p *Player) tells(what string, most time.Duration) (answer string, ok bool) {
	if _, err := fmt.Fprintln(p.tell, what); err != nil {
		p.over, p.at = true, ""
		return "", false
	}
	return p.says(most)
}

// goOn has a program run until it waits with its next name, or ends. The first time it may take longer.
func (p *Player) goOn(first, most time.Duration) {
	if p.moved { // it is there
		p.moved = false
		return
	}
	what := end
	if !p.begun {
		p.begun, what, most = true, begin, first
	}
	p.going = true
	for answer, ok := p.tells(what, most); ok; answer, ok = p.says(most) {
		said, name, _ := strings.Cut(answer, " ")
		switch said {
		case has:
			p.names, p.all = append(p.names, name), append(p.all, name)
			continue
		case at:
			p.comesTo(name)
		default:
			p.sendOff(fmt.Errorf("said %q, which is no name", answer))
		}
		return
	}
}

// comesTo notes the name that a program waits with: those before it are behind it.
func (p *Player) comesTo(name string) {
	p.at, p.failed, p.going = name, false, false
	p.behind = append(p.behind, name)
	p.names = p.names[slices.Index(p.names, name)+1:]
}

// comesYet is whether a name is still before a program.
func (p *Player) comesYet(name string) bool {
	return !p.over && (p.at == name || slices.Contains(p.names, name))
}

// turn has a program measure one round of its name. False means that it has no more of them.
func (p *Player) turn(most time.Duration) (seconds float64, ok bool) {
	if p.over || p.failed || p.moved {
		return 0, false
	}
	answer, ok := p.tells(round, most)
	if !ok {
		return 0, false
	}
	said, rest, _ := strings.Cut(answer, " ")
	switch said {
	case took:
		if seconds, err := strconv.ParseFloat(rest, 64); err == nil {
			return seconds, true
		}
	case failed:
		p.failed = true
		return 0, false
	case at: // it has not said that it failed, and is elsewhere
		p.comesTo(rest)
		p.moved = true
		return 0, false
	}
	p.sendOff(fmt.Errorf("said %q, which is no time", answer))
	return 0, false
}
