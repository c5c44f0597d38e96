package kernel

import (
	"fmt"
	"slices"
	"strings"
)

// A panicText is what a program that panics writes to stderr: the message, and the trace of the goroutine. It is held until the cell
// has ended, because the error that follows says it better: the message once, its fix, and the cells' lines, without the frames of
// Halftone and of the runtime between them. A text that the error cannot stand for is shown as it came.
type panicText struct {
	held    *message // what the text began with; nil: nothing is held
	text    strings.Builder
	refused bool // this cell has written what only looked like a panic
}

// maxPanic bounds what is held of a panic: the trace of one goroutine has at most a hundred frames.
const maxPanic = 64 << 10

// take returns what of m is not held. open says that m continues a line.
func (p *panicText) take(m *message, text string, open bool, key []byte) []*message {
	if p.held != nil {
		p.text.WriteString(text)
		if p.text.Len() > maxPanic || !mayBePanic(p.text.String()) {
			p.refused = true
			return p.flush(key)
		}
		return nil
	}
	at := panicStart(text, open)
	if at < 0 || p.refused || !mayBePanic(text[at:]) {
		return []*message{m}
	}
	p.held = m
	p.text.WriteString(text[at:])
	if at == 0 {
		return nil
	}
	return []*message{m.withContent(mustJSON(streamContent{"stderr", text[:at]}), key)}
}

// flush returns what is held, as it came.
func (p *panicText) flush(key []byte) []*message {
	if p.held == nil {
		return nil
	}
	m := p.held.withContent(mustJSON(streamContent{"stderr", p.text.String()}), key)
	p.drop()
	return []*message{m}
}

func (p *panicText) drop() {
	p.held = nil
	p.text.Reset()
}

// panicWords are what a text begins with that the error stands for: a panic, the end of a program that recurses without end or wants more
// memory than there is, and GoNB's word for a program that has ended itself.
var panicWords = []string{"panic: ", overflowWord, fatalWord, exitWord}

const (
	overflowWord = "runtime: goroutine stack exceeds "
	fatalWord    = "fatal error: "
	exitWord     = "exit status "
)

// fatals are the fatal errors whose trace tells a user nothing that the cells' lines do not tell. That of a deadlock does.
var fatals = []string{"stack overflow\n", "runtime: out of memory", "runtime: cannot allocate memory"}

// panicStart is where a line of text begins with one of panicWords, -1 if none does.
func panicStart(text string, open bool) int {
	start := -1
	for _, word := range panicWords {
		at := -1
		if !open && strings.HasPrefix(text, word) {
			at = 0
		} else if at = strings.Index(text, "\n"+word); at >= 0 {
			at++
		}
		if at >= 0 && (start < 0 || at < start) {
			start = at
		}
	}
	return start
}

// mayBePanic reports whether text can be how the end of a program begins: behind the message comes an empty line, then a goroutine.
func mayBePanic(text string) bool {
	if rest, ok := strings.CutPrefix(text, exitWord); ok {
		return strings.Trim(rest, "0123456789") == "" || strings.Trim(rest, "0123456789") == "\n"
	}
	if rest, ok := strings.CutPrefix(text, fatalWord); ok && !slices.ContainsFunc(fatals, func(f string) bool { return begins(rest, f) }) {
		return false
	}
	_, rest, found := strings.Cut(text, "\n\n")
	return !found || begins(rest, "goroutine ") || !strings.HasPrefix(text, "panic: ") && begins(rest, "runtime stack:")
}

// begins reports whether text begins with word, or is the beginning of it.
func begins(text, word string) bool {
	return strings.HasPrefix(text, word) || strings.HasPrefix(word, text)
}

// isFatal tells the held text of a fatal error.
func (p *panicText) isFatal() bool {
	text := p.text.String()
	return p.held != nil && (strings.HasPrefix(text, overflowWord) || strings.HasPrefix(text, fatalWord))
}

// dropExit lets go of what only says what the error says.
func (p *panicText) dropExit(value string) {
	if p.held != nil && strings.TrimSuffix(p.text.String(), "\n") == value {
		p.drop()
	}
}

// parsePanic takes the text of a panic apart: its message, and the places on the way to it that are not Halftone's, the runtime's or the
// standard library's, the innermost first. ok means that they stand for all of it.
func parsePanic(text string) (message string, frames []string, ok bool) {
	message, trace, found := strings.Cut(text, "\n\n")
	message = strings.TrimPrefix(message, "panic: ")
	message, _, _ = strings.Cut(message, "\n[signal ")
	message = strings.TrimSuffix(message, " [recovered, repanicked]") // amp adds the module's path to a panic on its way
	if !found || strings.Contains(message, "\tpanic: ") || strings.HasSuffix(message, " [recovered]") {
		return message, nil, false
	}
	misuse := strings.HasPrefix(message, "amp: ") // its frames within Halftone tell a user nothing; those of a fault do
	lines := strings.Split(strings.TrimRight(trace, "\n"), "\n")
	cells := false
	for i := 1; i < len(lines); i++ { // the first names the goroutine
		if lines[i] == "" || strings.HasPrefix(lines[i], "exit status ") {
			continue
		}
		if i+1 == len(lines) || !strings.HasPrefix(lines[i+1], "\t") {
			return message, nil, false // another goroutine, or what we do not know
		}
		function, place := lines[i], strings.TrimPrefix(lines[i+1], "\t")
		i++
		inCell := strings.HasPrefix(place, "cell ")
		cells = cells || inCell
		switch {
		case !inCell && isOurs(function) && !misuse:
			return message, nil, false
		case !inCell && (isOurs(function) || isStandard(function)):
		case len(frames) < maxCollected:
			frames = append(frames, frame(function, place))
		}
	}
	return message, shorten(frames), cells
}

// maxFrames is how many lines of cells an error names, maxCollected how many are read to find them: a recursion has thousands.
const (
	maxFrames    = 8
	maxCollected = 200
)

// shorten says of frames that follow each other and are the same how many there are.
func shorten(frames []string) (list []string) {
	for i := 0; i < len(frames) && len(list) < maxFrames; {
		n := 1
		for i+n < len(frames) && frames[i+n] == frames[i] {
			n++
		}
		line := frames[i]
		switch {
		case n >= 50: // of more than a hundred the runtime leaves out the middle
			line += ", over and over"
		case n > 1:
			line += fmt.Sprintf(", %d times", n)
		}
		list = append(list, line)
		i += n
	}
	return list
}

// frame is a line of a traceback.
func frame(function, place string) string {
	place, _, _ = strings.Cut(place, " +0x")
	started := ""
	if made, ok := strings.CutPrefix(function, "created by "); ok {
		function, _, _ = strings.Cut(made, " in goroutine ")
		started = ", which started it"
	} else if at := strings.LastIndexByte(function, '('); at > 0 {
		function = function[:at]
	}
	return "  " + place + ", in " + strings.TrimPrefix(function, "main.") + started
}

func isOurs(function string) bool {
	return strings.HasPrefix(strings.TrimPrefix(function, "created by "), Module+"/")
}

// isStandard reports whether a function is the standard library's or GoNB's part of the program: a path with a dot in its first element
// is a module's.
func isStandard(function string) bool {
	first, _, path := strings.Cut(strings.TrimPrefix(function, "created by "), "/")
	return !path || !strings.Contains(first, ".") || strings.Contains(first, "(")
}
