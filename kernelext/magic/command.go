package magic

import (
	"context"
	"strings"
)

// A command is one word that can follow %amp.
type command struct {
	name     string
	args     string   // what follows it, for usage lines
	short    string   // one line
	long     []string // paragraphs of its help
	examples []string // lines that can be typed
	run      func(e *Engine, ctx context.Context, args []string) (Answer, error)
	// complete lists what can stand after the given arguments; nil: nothing.
	complete func(e *Engine, before []string) []Choice
}

// A Choice is one way to complete a word.
type Choice struct{ Text, What string }

// commands in the order of help. They are assigned in init: help names them again.
var commands []*command

func init() {
	commands = []*command{
		helpCommand, statusCommand, deviceCommand, policyCommand, forceCommand, traceCommand, opsCommand, scaleCommand,
		sessionCommand, doctorCommand, versionCommand,
	}
}

func lookup(name string) *command {
	for _, c := range commands {
		if c.name == name {
			return c
		}
	}
	return nil
}

func commandNames() []string {
	var names []string
	for _, c := range commands {
		names = append(names, c.name)
	}
	return names
}

// usage is the command as it is typed.
func (c *command) usage() string { return strings.TrimRight(LineMagic+" "+c.name+" "+c.args, " ") }

// tooMany returns an error over the first argument beyond n.
func tooMany(name string, args []string, n int) error {
	if len(args) <= n {
		return nil
	}
	return &Error{Word: args[n], Detail: "nothing can follow here, and " + quote(args[n]) + " does", Fix: "write " + usage(name)}
}

// usage is how the command of a name is typed.
func usage(name string) string { return lookup(name).usage() }

func quote(s string) string { return `"` + s + `"` }

func choices(words ...string) []Choice {
	out := make([]Choice, len(words))
	for i, w := range words {
		out[i] = Choice{Text: w}
	}
	return out
}
