package magic

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"
)

var scaleCommand = &command{
	name: "scale", args: "[VALUE] [interval N] [min VALUE] | default", short: "where loss scales start, when they grow, how low they go",
	long: []string{
		"What `amp.NewGradScaler` takes where the program does not say `amp.InitScale`, `amp.GrowthInterval` or `amp.MinScale`. A value is a number or a power of two such as `2^10`. `default` forgets all three: 65,536, 2,000 steps, no floor.",
		"A scaler that a session keeps goes on with the scale it has.",
	},
	examples: []string{"%amp scale 1024", "%amp scale 2^10 interval 200 min 1", "%amp scale default"},
	run:      (*Engine).scale,
	complete: func(_ *Engine, before []string) []Choice {
		if n := len(before); n > 0 && (before[n-1] == "interval" || before[n-1] == "min") {
			return nil
		}
		out := []Choice{{"interval", "clean steps before the scale grows"}, {"min", "the smallest scale"}}
		if len(before) == 0 {
			out = append(out, Choice{"default", "forget the settings"})
		}
		return out
	},
}

// parseScale reads a scale: a positive number that float32 holds, also as a power of two.
func parseScale(word string) (float64, *Error) {
	v, err := strconv.ParseFloat(strings.ReplaceAll(word, ",", ""), 64)
	if base, exp, ok := strings.Cut(word, "^"); ok && base == "2" {
		var e int
		if e, err = strconv.Atoi(exp); err == nil {
			v = math.Ldexp(1, e)
		}
	}
	switch {
	case err != nil:
		return 0, wrong(word, "scale", []string{"interval", "min", "default"})
	case v > 0 && v <= math.MaxFloat32 && v >= math.SmallestNonzeroFloat32:
		return v, nil
	}
	return 0, &Error{Word: word, Detail: fmt.Sprintf("%q is no scale: it must be positive and fit into float32", word), Fix: "use a power of two between 1 and 2^24"}
}

func (e *Engine) scale(_ context.Context, args []string) (Answer, error) {
	title := func(beside string) Answer {
		now, _ := e.Settings().scale()
		return Answer{Title: "Loss scale: " + now, Beside: beside}
	}
	if len(args) == 0 {
		if _, set := e.Settings().scale(); set {
			return title("set by %amp scale"), nil
		}
		return title("the default"), nil
	}
	if args[0] == "default" {
		if err := tooMany("scale", args, 1); err != nil {
			return Answer{}, err
		}
		if err := e.set(func(s *Settings) { s.Scale, s.Interval, s.MinScale = 0, 0, 0 }); err != nil {
			return Answer{}, err
		}
		return title("the default"), nil
	}
	next := e.Settings()
	if err := next.readScale(args); err != nil {
		return Answer{}, err
	}
	if next.MinScale > 0 && next.Scale > 0 && next.MinScale > next.Scale {
		return Answer{}, &Error{Detail: fmt.Sprintf("the smallest scale, %s, is above the first, %s", number(next.MinScale), number(next.Scale)), Fix: "use a smaller min"}
	}
	if err := e.set(func(s *Settings) { s.Scale, s.Interval, s.MinScale = next.Scale, next.Interval, next.MinScale }); err != nil {
		return Answer{}, err
	}
	a := title("from the next scaler on")
	a.text("Options of `amp.NewGradScaler` in the program win; histories say that `%amp` set it.")
	return a, nil
}

// readScale sets what the words say.
func (s *Settings) readScale(args []string) error {
	first := false
	for i := 0; i < len(args); i++ {
		word := args[i]
		if word == "interval" || word == "min" {
			if i++; i == len(args) {
				return &Error{Word: word, Detail: word + " needs a number", Fix: "write " + usage("scale")}
			}
		}
		if word == "interval" {
			n, err := strconv.Atoi(args[i])
			if err != nil || n < 1 {
				return &Error{Word: args[i], Detail: fmt.Sprintf("%q is no number of steps", args[i]), Fix: "write interval 200"}
			}
			s.Interval = n
			continue
		}
		v, err := parseScale(args[i])
		switch {
		case err != nil:
			return err
		case word == "min":
			s.MinScale = v
		case first:
			return &Error{Word: word, Detail: "a scaler has one first scale, and " + quote(word) + " is a second", Fix: "write " + usage("scale")}
		default:
			s.Scale, first = v, true
		}
	}
	return nil
}
