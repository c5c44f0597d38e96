package kernel

import (
	"fmt"
	"os"
	"regexp"
	"strings"

	"github.com/halftone-ml/halftone/kernelext/wire"
)

var (
	logEscape = regexp.MustCompile("\x1b\\[[0-9;]*m")
	logHead   = regexp.MustCompile(`^([IWEF])\d{4} \S+\s+\d+ \S+\] (?:\[[0-9a-f]+\] ?)?`)
	greeting  = regexp.MustCompile(`^(?:Error|Warning|Info) message$`) // GoNB tries its log with these
)

// maxWords is how many lines of a log are shown.
const maxWords = 6

// lastWords are why GoNB ended, of its log: what it said last as an error, without the colors, the places in its source and the traces of
// its goroutines, and the variable of the environment that is to blame, where one is.
func lastWords(log string) string {
	var said []string
	for line := range strings.Lines(logEscape.ReplaceAllString(log, "")) {
		line = strings.TrimRight(line, "\r\n \t")
		head := logHead.FindStringSubmatch(line)
		switch text := logHead.ReplaceAllString(line, ""); {
		case strings.HasPrefix(line, "goroutine "):
			return worded(said)
		case strings.HasPrefix(line, "\t"): // a place in GoNB's source, below the name of a function
			if n := len(said) - 1; n >= 0 && !strings.Contains(said[n], " ") {
				said = said[:n]
			}
		case head != nil && head[1] != "E" && head[1] != "F", greeting.MatchString(text), text == "":
		default:
			said = append(said, text)
		}
	}
	return worded(said)
}

func worded(said []string) string {
	text := strings.Join(said[max(0, len(said)-maxWords):], "\n")
	if fix := wire.Fault(text, os.Getenv); fix != "" {
		text += "\n" + fix
	}
	return text
}

// end is the error of a GoNB that has ended, with its last words.
func (c *child) end() error {
	if words := lastWords(c.tail.String()); words != "" {
		return fmt.Errorf("GoNB %s: %s", c.reason(), words)
	}
	return fmt.Errorf("GoNB %s", c.reason())
}
