package kernel

import (
	"encoding/json"
	"time"
)

// An inputState is what a cell has asked the user.
type inputState struct {
	allowed bool        // the front end that runs the cell answers questions
	asked   *message    // the question that is with the user
	reader  stdinReader // whom the answer is for, where the kernel asks for a program that reads
	since   time.Time   // when it was asked
	waiting []*message  // questions behind it
	gap     bool        // an answer is on its way: the next question waits
	refused bool
	heard   time.Time // when the newest question came
	stops   bool      // an interrupt waits until GoNB has read what is behind the questions
}

// inputGap is the time from a question to its answer, at least, and from an answer to the next question. GoNB asks first and
// gets ready for the answer then: one that is there at once, as a program's is, would be lost. It writes each answer to the
// program on its own: two at once can arrive the other way around. A cell that has just asked is stopped after as long: behind a
// question there often is a gonbui.Sync, and GoNB dies ("send on closed channel") when it comes to one of a program that has ended.
const inputGap = 100 * time.Millisecond

// onInputRequest passes on a question that the running cell asks, one at a time. A front end that cannot ask its user would
// leave the cell waiting for ever: the cell is stopped, and told why. A question that comes after its cell has ended is
// dropped: the front end would show a box for input to nothing.
func (k *kernel) onInputRequest(parent string, m *message) {
	r := k.current
	if m.kind != "input_request" || r == nil || r.m.id != parent {
		k.logf("dropped a late %s", m.kind)
		return
	}
	r.input.heard = time.Now()
	switch {
	case !r.input.allowed && r.input.refused:
	case !r.input.allowed:
		r.input.refused = true
		r.verdict = newError("StdinNotAllowed", "the cell asks for input")
		if !r.silent {
			k.stream("stderr", "The cell asks for input, which who runs it does not allow (allow_stdin is false): it is stopped.\n", r.m.header)
		}
		k.interrupt()
	case r.input.asked != nil || r.input.gap:
		r.input.waiting = append(r.input.waiting, m)
	default:
		k.ask(r, m)
	}
}

// askedJustNow puts off the first interrupt of a cell that has just asked, and says whether it did: until inputGap after the
// newest question, and no longer if the cell goes on asking.
func (k *kernel) askedJustNow(r *request) bool {
	wait := inputGap - time.Since(r.input.heard)
	if r.input.stops || r.signaled != nil || wait <= 0 {
		return r.input.stops
	}
	r.input.stops = true
	k.later(r, wait, func() {
		r.input.stops, r.input.heard = false, time.Time{}
		k.interrupt()
	})
	return true
}

// onStdin takes an answer. GoNB stops on one without a text, and keeps the reader of a cell that has ended.
func (k *kernel) onStdin(m *message) {
	r := k.current
	if m.kind != "input_reply" || k.state != ready || r == nil || r.input.asked == nil ||
		m.parentID() != "" && m.parentID() != r.input.asked.id { // many clients leave the parent out
		k.logf("dropped an answer that nobody waits for: %s", jsonText(m.kind))
		return
	}
	r.input.asked = nil
	var c struct {
		Value *string `json:"value"`
	}
	if json.Unmarshal(m.content, &c) != nil || c.Value == nil {
		c.Value = new(string)
		m = m.withContent([]byte(`{"status":"ok","value":""}`), k.key)
	}
	r.input.gap = true
	if r.input.reader != (stdinReader{}) {
		k.typed(r, *c.Value)
		return
	}
	k.later(r, inputGap-time.Since(r.input.since), func() {
		k.toChild(k.child.stdin, m)
		k.later(r, inputGap, func() { k.askNext(r) })
	})
}

// askNext asks what has waited for the answer to the question before.
func (k *kernel) askNext(r *request) {
	r.input.gap = false
	if len(r.input.waiting) > 0 {
		next := r.input.waiting[0]
		r.input.waiting = r.input.waiting[1:]
		k.ask(r, next)
	}
}

// later calls f in the loop after d if the cell still runs.
func (k *kernel) later(r *request, d time.Duration, f func()) {
	time.AfterFunc(d, func() {
		k.do(func() {
			if k.current == r && k.state == ready {
				f()
			}
		})
	})
}

func (k *kernel) ask(r *request, m *message) {
	r.input.asked, r.input.since = m, time.Now()
	k.front.stdin.send(m)
}
