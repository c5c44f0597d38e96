package magic

import (
	"context"
	"fmt"
	"slices"
	"strconv"
)

var traceCommand = &command{
	name: "trace", args: "[off|decisions|health [every N]|default]", short: "how much scopes record",
	long: []string{
		"What `amp.NewScope` takes where the program does not say `amp.Record(…)`. `decisions` records what ran where, in which precision and why, and reads nothing from tensors. `health` also counts what the results hold (magnitudes, zeros, overflows, exponents) and reads every result; `every N` looks at every N-th training step alone.",
		"`default` forgets the setting: scopes record nothing, and `%%amp` cells record decisions.",
	},
	examples: []string{"%amp trace decisions", "%amp trace health every 10", "%amp trace default"},
	run:      (*Engine).trace,
	complete: func(_ *Engine, before []string) []Choice {
		switch {
		case len(before) == 0:
			return []Choice{{"off", "record nothing"}, {"decisions", "what ran where and why"}, {"health", "also what the results hold"}, {"default", "forget the setting"}}
		case len(before) == 1 && before[0] == "health":
			return choices("every")
		}
		return nil
	},
}

func (e *Engine) trace(_ context.Context, args []string) (Answer, error) {
	if len(args) == 0 {
		now, set := e.Settings().trace()
		a := Answer{Title: "Trace: " + now, Beside: "the default"}
		if set {
			a.Beside = "set by %amp trace"
		}
		return a, nil
	}
	level, every := args[0], 0
	if known := append(slices.Clone(levels), "default"); !slices.Contains(known, level) {
		return Answer{}, wrong(level, "trace level", known)
	}
	rest := args[1:]
	if len(rest) > 0 && level == "health" {
		switch {
		case rest[0] != "every":
			return Answer{}, wrong(rest[0], "word after health", []string{"every"})
		case len(rest) == 1:
			return Answer{}, &Error{Detail: "every how many steps?", Fix: "write %amp trace health every 10"}
		}
		n, err := strconv.Atoi(rest[1])
		if err != nil || n < 1 {
			return Answer{}, &Error{Word: rest[1], Detail: fmt.Sprintf("%q is no number of steps", rest[1]), Fix: "write %amp trace health every 10"}
		}
		every, rest = n, rest[2:]
	}
	if len(rest) > 0 && rest[0] == "every" {
		return Answer{}, &Error{Word: "every", Detail: "only health is sampled; " + level + " looks at no tensor", Fix: "write %amp trace health every N"}
	}
	if err := tooMany("trace", rest, 0); err != nil {
		return Answer{}, err
	}
	if level == "default" {
		level = ""
	}
	if err := e.set(func(s *Settings) { s.Trace, s.Every = level, every }); err != nil {
		return Answer{}, err
	}
	now, _ := e.Settings().trace()
	a := Answer{Title: "Trace: " + now, Beside: "from the next scope on"}
	switch level {
	case "health":
		a.text("Every result is read once more: expect training to be slower. `widgets.Show(widgets.Decisions(s.Trace()))` draws what was recorded.")
	case "decisions":
		a.text("`widgets.Show(widgets.Decisions(s.Trace()))` draws what was recorded.")
	}
	return a, nil
}
