package magic

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/halftone-ml/halftone/widgets"
)

var statusCommand = &command{
	name: "status", short: "what is set, what lives between cells, which versions",
	run: func(e *Engine, _ context.Context, args []string) (Answer, error) {
		if err := tooMany("status", args, 0); err != nil {
			return Answer{}, err
		}
		return e.status(), nil
	},
}

func (e *Engine) status() Answer {
	s := e.Settings()
	a := Answer{Title: "Halftone", Beside: "what cells take where their program says nothing"}
	t := a.table("", "", "now", "set by")
	for _, row := range []struct {
		name string
		get  func() (string, bool)
		how  string
	}{
		{"device", s.device, "%amp device"},
		{"trace", s.trace, "%amp trace"},
		{"forced ops", s.forced, "%amp force"},
		{"loss scale", s.scale, "%amp scale"},
	} {
		text, set := row.get()
		by := "default"
		if set {
			by = "`" + row.how + "`"
		}
		t.row(row.name, text, by)
	}
	t.row("autocast", "as each cell says: `%%amp float16`, or `s.Autocast(amp.Float16)` in its code", "")
	if text := e.usageText(); text != "" {
		t.row("last %%amp cell", text, "")
	}
	t.row("session", e.sessionText(), "")
	var versions []string
	for _, v := range e.Versions {
		versions = append(versions, strings.TrimSpace(v[0]+" "+v[1]))
	}
	if len(versions) > 0 {
		t.row("versions", strings.Join(versions, ", "), "")
	}
	return a
}

// usageText says what the last %%amp cell used, "" when none has run.
func (e *Engine) usageText() string {
	if e.Usage == nil {
		return ""
	}
	u, ok := e.Usage()
	if !ok {
		return ""
	}
	var parts []string
	for _, d := range slices.Sorted(maps.Keys(u.Peak)) {
		parts = append(parts, fmt.Sprintf("%s in tensors on %s at most", widgets.Bytes(u.Peak[d]), d))
	}
	if u.Steps > 0 {
		parts = append(parts, plural(u.Steps, "step"))
	}
	if os.Getenv(widgets.StableEnv) == "" { // a notebook that is executed again is to say the same
		parts = append(parts, widgets.Duration(int64(u.Seconds*1e9)))
	}
	return strings.Join(parts, ", ")
}

// sessionText counts what lives between cells.
func (e *Engine) sessionText() string {
	if e.Sessions == nil {
		return "no store in this kernel"
	}
	list, err := e.Sessions.List()
	if err != nil {
		return "cannot be read: " + err.Error()
	}
	if len(list) == 0 {
		return "nothing lives between cells yet"
	}
	bytes := int64(0)
	for _, o := range list {
		bytes += o.Bytes
	}
	return fmt.Sprintf("%s, %s; `%%amp session` lists them", plural(len(list), "object"), widgets.Bytes(bytes))
}

func plural(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return widgets.Count(n) + " " + one + "s"
}

var versionCommand = &command{
	name: "version", short: "versions of Halftone, GoNB, Go and the formats",
	run: func(e *Engine, _ context.Context, args []string) (Answer, error) {
		if err := tooMany("version", args, 0); err != nil {
			return Answer{}, err
		}
		a := Answer{Title: "Versions"}
		t := a.table("", "", "")
		for _, v := range e.Versions {
			t.row(v[0], v[1])
		}
		return a, nil
	},
}

var doctorCommand = &command{
	name: "doctor", short: "look at every part of the installation",
	long: []string{"The same as `halftone doctor` in a terminal. It builds a small program to see whether cells compile, which takes some seconds."},
	run: func(e *Engine, ctx context.Context, args []string) (Answer, error) {
		if err := tooMany("doctor", args, 0); err != nil {
			return Answer{}, err
		}
		if e.Doctor == nil {
			return Answer{}, &Error{Word: "doctor", Detail: "this kernel was started without an installation to look at", Fix: "run `halftone doctor` in a terminal"}
		}
		checks, err := e.Doctor(ctx)
		if err != nil {
			return Answer{}, err
		}
		return doctorAnswer(checks), nil
	},
}

func doctorAnswer(checks []Check) Answer {
	a := Answer{Title: "Installation", Beside: "all is well"}
	bad, warn := 0, 0
	t := a.table("", "part", "version", "where, and what to do")
	for _, c := range checks {
		switch c.Status {
		case "bad":
			bad++
		case "warn":
			warn++
		}
		text := c.Path
		for _, more := range []string{c.Detail, c.Fix} {
			if more != "" {
				text = strings.TrimPrefix(text+"; "+more, "; ")
			}
		}
		t.row(Field{Text: c.Name, Status: c.Status}, c.Version, text)
	}
	switch {
	case bad > 0:
		a.Beside = plural(bad, "part") + " missing or broken"
	case warn > 0:
		a.Beside = "cells run; " + plural(warn, "part") + " to look at"
	}
	return a
}
