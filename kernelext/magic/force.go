package magic

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/widgets"
)

var forceCommand = &command{
	name: "force", args: "[OP=DTYPE… | clear [OP…]]", short: "run an op in another precision than its class asks for",
	long: []string{
		"As `amp.Force` in every autocast scope: `float32` (or `fp32`) casts the op's inputs to float32, `lower` (or `float16`, `bfloat16`) to the dtype of the autocast scope. The names of classes work too: `promote`, `fp32_output`, `unlisted`. An `amp.Force` in the program wins.",
		"`%amp force` alone lists what is forced; `%amp force clear` forgets all of it.",
	},
	examples: []string{"%amp force gelu=fp32 softmax=lower", "%amp force", "%amp force clear gelu"},
	run:      (*Engine).force,
	complete: completeForce,
}

// forcible are the words that can follow the = and the classes they stand for.
var forcible = []struct {
	word  string
	class amp.Class
}{
	{"float32", amp.FP32}, {"fp32", amp.FP32}, {"lower", amp.Lower}, {"float16", amp.Lower}, {"bfloat16", amp.Lower},
	{"promote", amp.Promote}, {"fp32_output", amp.FP32Output}, {"unlisted", amp.Unlisted},
}

// noForce are words by which people mean clear.
var noForce = []string{"off", "none", "no", "reset", "default", "false"}

func forcibleWords() []string {
	var words []string
	for _, f := range forcible {
		words = append(words, f.word)
	}
	return words
}

func completeForce(e *Engine, before []string) []Choice {
	if len(before) > 0 && before[0] == "clear" {
		return choices(slices.Sorted(maps.Keys(e.Settings().Force))...)
	}
	out := []Choice{}
	for _, c := range opChoices() {
		out = append(out, Choice{c.Text + "=", c.What})
	}
	if len(before) == 0 {
		out = append(out, Choice{"clear", "forget what is forced"})
	}
	return out
}

func (e *Engine) force(_ context.Context, args []string) (Answer, error) {
	if len(args) == 0 {
		return e.forceList("as set by %amp force"), nil
	}
	if args[0] == "clear" {
		return e.forceClear(args[1:])
	}
	add := map[string]string{}
	lower := ""
	for _, arg := range args {
		name, dtype, ok := strings.Cut(arg, "=")
		if slices.Contains(noForce, arg) {
			return Answer{}, &Error{Word: arg, Detail: fmt.Sprintf("%q is no op", arg), Near: "clear"}
		}
		if !ok {
			if _, err := op(arg); err != nil {
				return Answer{}, err
			}
			return Answer{}, &Error{Word: arg, Detail: fmt.Sprintf("%q does not say which dtype", arg), Fix: "write " + arg + "=float32, or %amp force clear"}
		}
		o, err := op(name)
		if err != nil {
			return Answer{}, err
		}
		word := strings.ToLower(dtype)
		if d, err := amp.ParseDType(word); err == nil {
			word = d.String() // fp16, half …
		}
		i := slices.Index(forcibleWords(), word)
		if i < 0 {
			return Answer{}, wrong(dtype, "dtype or class that an op can be forced to", forcibleWords())
		}
		class := forcible[i].class
		if err := amp.Maybe(func() { amp.Force(o.Name, class) }); err != nil {
			return Answer{}, refusal(arg, err)
		}
		if class == amp.Lower && forcible[i].word != "lower" {
			lower = forcible[i].word
		}
		add[o.Name] = class.String()
	}
	err := e.set(func(s *Settings) {
		if s.Force == nil {
			s.Force = map[string]string{}
		}
		maps.Copy(s.Force, add)
	})
	if err != nil {
		return Answer{}, err
	}
	a := e.forceList("from the next scope on")
	if lower != "" {
		a.text(fmt.Sprintf("`%s` stands for the lower dtype of the autocast scope: bfloat16 where that is bfloat16.", lower))
	}
	return a, nil
}

// refusal words what amp says against an override.
func refusal(word string, err error) *Error {
	x := &Error{Word: word, Detail: err.Error()}
	if e, ok := err.(*amp.Error); ok {
		x.Detail, x.Fix = e.Detail, e.Fix
	}
	return x
}

func (e *Engine) forceClear(names []string) (Answer, error) {
	now := e.Settings().Force
	for _, n := range names {
		if now[n] == "" {
			err := wrong(n, "op that is forced", slices.Sorted(maps.Keys(now)))
			if len(now) == 0 {
				err.Fix = "none is"
			}
			return Answer{}, err
		}
	}
	err := e.set(func(s *Settings) {
		if len(names) == 0 {
			s.Force = nil
		}
		for _, n := range names {
			delete(s.Force, n)
		}
	})
	if err != nil {
		return Answer{}, err
	}
	return e.forceList("from the next scope on"), nil
}

func (e *Engine) forceList(beside string) Answer {
	s := e.Settings()
	a := Answer{Title: "Forced ops", Beside: beside}
	if len(s.Force) == 0 {
		a.Beside = ""
		a.text("None: every op runs in the precision of its class. `%amp force gelu=float32` forces one.")
		return a
	}
	t := a.table("", "op", "class", "forced to", "that is")
	for _, name := range slices.Sorted(maps.Keys(s.Force)) {
		was := ""
		if o, ok := amp.LookupOp(name); ok {
			was = o.Class.String()
		}
		t.row("`"+name+"`", was, s.Force[name], widgets.ClassMeaning(mustClass(s.Force[name])))
	}
	return a
}
