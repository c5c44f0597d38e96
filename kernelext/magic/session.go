package magic

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/halftone-ml/halftone/widgets"
)

var sessionCommand = &command{
	name: "session", args: "[list | sizes | drop NAME… | save NAME FILE | load NAME FILE]", short: "what lives between cells: list, drop, save, load",
	long: []string{
		"Objects are made in cells, with `session.Model(\"net\", build)` and its like, and live in the kernel until it ends. `save` and `load` write and read safetensors files. The name `*` stands for all objects.",
	},
	examples: []string{"%amp session", "%amp session save net net.safetensors", "%amp session drop net"},
	run:      (*Engine).session,
	complete: completeSession,
}

// everything stands for all objects.
const everything = "*"

var sessionVerbs = []Choice{
	{"list", "what lives between cells, and its size"}, {"drop", "give up objects and their memory"},
	{"save", "write an object to a file"}, {"load", "read an object from a file"}, {"sizes", "the largest first"},
}

func verbs() []string {
	var out []string
	for _, v := range sessionVerbs {
		out = append(out, v.Text)
	}
	return out
}

func completeSession(e *Engine, before []string) []Choice {
	if len(before) == 0 {
		return sessionVerbs
	}
	if e.Sessions == nil || before[0] != "drop" && (len(before) > 1 || before[0] != "save" && before[0] != "load") {
		return nil
	}
	list, err := e.Sessions.List()
	if err != nil {
		return nil
	}
	var out []Choice
	for _, o := range list {
		if !slices.Contains(before[1:], o.Name) {
			out = append(out, Choice{o.Name, o.Kind})
		}
	}
	return out
}

func (e *Engine) session(_ context.Context, args []string) (Answer, error) {
	if e.Sessions == nil {
		return Answer{}, &Error{Word: "session", Detail: "this kernel keeps no objects between cells", Fix: "save them to files with package amp/checkpoint"}
	}
	verb := "list"
	if len(args) > 0 {
		verb, args = args[0], args[1:]
	}
	switch verb {
	case "list", "sizes":
		if err := tooMany("session", args, 0); err != nil {
			return Answer{}, err
		}
		return e.objects(verb == "sizes")
	case "drop":
		return e.drop(args)
	case "save", "load":
		if len(args) != 2 {
			return Answer{}, &Error{Detail: fmt.Sprintf("%s needs a name and a file", verb), Fix: fmt.Sprintf("write %%amp session %s NAME FILE.safetensors", verb)}
		}
		return e.transfer(verb, args[0], args[1])
	}
	return Answer{}, wrong(verb, "command of %amp session", verbs())
}

// known returns an error unless an object of the name is there.
func (e *Engine) known(names ...string) error {
	list, err := e.Sessions.List()
	if err != nil {
		return err
	}
	var there []string
	for _, o := range list {
		there = append(there, o.Name)
	}
	for _, n := range names {
		if !slices.Contains(there, n) {
			x := wrong(n, "object of this session", there)
			if len(there) == 0 {
				x.Fix = "nothing lives between cells yet"
			}
			return x
		}
	}
	return nil
}

func (e *Engine) objects(bySize bool) (Answer, error) {
	list, err := e.Sessions.List()
	if err != nil {
		return Answer{}, err
	}
	a := Answer{Title: "Session", Beside: plural(len(list), "object")}
	if len(list) == 0 {
		a.text("Nothing lives between cells yet: `net := session.Model(\"net\", build)` makes a model that does.")
		return a, nil
	}
	if bySize {
		slices.SortStableFunc(list, func(a, b Object) int { return int(min(max(b.Bytes-a.Bytes, -1), 1)) })
	}
	total := int64(0)
	t := a.table("", "name", "kind", "size", "")
	t.Numbers = []int{2}
	for _, o := range list {
		t.row("`"+o.Name+"`", o.Kind, widgets.Bytes(o.Bytes), o.Detail)
		total += o.Bytes
	}
	a.Beside += ", " + widgets.Bytes(total)
	return a, nil
}

func (e *Engine) drop(names []string) (Answer, error) {
	if len(names) == 0 {
		return Answer{}, &Error{Detail: "drop needs the names of objects", Fix: "%amp session lists them"}
	}
	if names[0] != everything {
		if err := e.known(names...); err != nil { // all or none
			return Answer{}, err
		}
	}
	for _, n := range names {
		if err := e.Sessions.Drop(n); err != nil {
			return Answer{}, fmt.Errorf("%s: %w", n, err)
		}
	}
	a, err := e.objects(false)
	a.Title = "Dropped " + strings.Join(names, ", ") + "; left"
	if names[0] == everything {
		a.Title = "Dropped all; left"
	}
	return a, err
}

func (e *Engine) transfer(verb, name, file string) (Answer, error) {
	a := Answer{}
	if verb == "save" {
		if err := e.known(name); name != everything && err != nil {
			return a, err
		}
		if err := e.Sessions.Save(name, file); err != nil {
			return a, err
		}
		a.Title = fmt.Sprintf("Saved %s to %s", name, file)
		return a, nil
	}
	if err := e.Sessions.Load(name, file); err != nil {
		return a, err
	}
	a.Title = fmt.Sprintf("Loaded %s from %s", name, file)
	return a, nil
}
