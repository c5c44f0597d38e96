package magic

import (
	"context"
	"fmt"
	"regexp"
	"strings"
)

var deviceCommand = &command{
	name: "device", args: "[auto|cpu|cuda|cuda:N|default]", short: "list the devices, or choose the one that scopes are made on",
	long: []string{
		"What `amp.NewScope` takes where the program does not say `amp.On(…)`. `auto` is the best device that opens, and the trace says which; `default` forgets the setting.",
	},
	examples: []string{"%amp device", "%amp device auto"},
	run:      (*Engine).device,
	complete: func(e *Engine, before []string) []Choice {
		if len(before) > 0 {
			return nil
		}
		out := []Choice{{"auto", "the best that opens"}}
		for _, d := range e.devices() {
			out = append(out, Choice{d.Name, d.Detail})
		}
		return append(out, Choice{"default", "forget the setting"})
	},
}

func (e *Engine) devices() []Device {
	if e.Devices == nil {
		return []Device{{Name: "cpu"}}
	}
	return e.Devices()
}

var deviceForm = regexp.MustCompile(`^(auto|cpu|cuda(:[0-9]{1,3})?)$`)

func (e *Engine) device(_ context.Context, args []string) (Answer, error) {
	if err := tooMany("device", args, 1); err != nil {
		return Answer{}, err
	}
	if len(args) == 0 {
		return e.deviceList(), nil
	}
	name := args[0]
	if name == "default" {
		if err := e.set(func(s *Settings) { s.Device = "" }); err != nil {
			return Answer{}, err
		}
		a := Answer{Title: "Device: cpu", Beside: "the default"}
		a.text("Scopes are made on the CPU unless the program says `amp.On(…)`.")
		return a, nil
	}
	if !deviceForm.MatchString(name) {
		err := wrong(name, "device", []string{"auto", "cpu", "cuda", "cuda:0", "default"})
		if strings.HasPrefix(strings.ToLower(name), "gpu") || strings.EqualFold(name, "nvidia") {
			err.Near = "cuda"
		}
		return Answer{}, err
	}
	if strings.HasPrefix(name, "cuda") {
		for _, d := range e.devices() {
			if strings.HasPrefix(d.Name, "cuda") && d.Err != "" {
				return Answer{}, &Error{Word: name, Detail: fmt.Sprintf("%s cannot be used here: %s", name, d.Err), Fix: "use auto, which falls back to the CPU and says so"}
			}
		}
	}
	if err := e.set(func(s *Settings) { s.Device = name }); err != nil {
		return Answer{}, err
	}
	a := Answer{Title: "Device: " + name, Beside: "from the next scope on"}
	a.text("Scopes are made on it unless the program says `amp.On(…)`; traces say that `%amp` set it.")
	return a, nil
}

func (e *Engine) deviceList() Answer {
	now, set := e.Settings().device()
	a := Answer{Title: "Device: " + now, Beside: "set by %amp device"}
	if !set {
		a.Beside = "the default; choose another with %amp device NAME"
	}
	t := a.table("", "name", "")
	for _, d := range e.devices() {
		if d.Err != "" {
			t.row(Field{Text: d.Name, Status: "bad"}, d.Err)
			continue
		}
		t.row(Field{Text: d.Name, Status: "ok"}, d.Detail)
	}
	return a
}
