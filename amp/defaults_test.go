package amp

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// withDefaults makes d the process's defaults for one test, in which no program has chosen a device.
func withDefaults(t *testing.T, read func() (Defaults, error)) {
	t.Helper()
	old, oldDevice, oldStandard := defaults, chosen, standard.Swap(nil)
	defaults, chosen = read, func() (Device, string) {
		d, _ := read()
		if d.Device == "" {
			d.Device = "cpu"
		}
		return mustOpen("test", d.Device)
	}
	t.Cleanup(func() {
		defaults, chosen = old, oldDevice
		standard.Store(oldStandard)
	})
}

// TestDefaultsFillInWhatOptionsLeaveOpen checks each setting alone, and that an option in the program wins over it.
func TestDefaultsFillInWhatOptionsLeaveOpen(t *testing.T) {
	withDefaults(t, func() (Defaults, error) {
		return Defaults{
			Source: "%amp", Device: "auto", Trace: "health", Every: 10,
			Force: map[string]string{"exp": "lower"}, Scale: 1024, Interval: 7, MinScale: 2,
		}, nil
	})
	s := NewScope()
	defer s.Close()
	tr := s.Trace()
	if tr.Level != "health" || s.root.rec.every != 10 {
		t.Errorf("level %s every %d", tr.Level, s.root.rec.every)
	}
	// What auto finds depends on the machine: the tests link package cudart.
	if home() != "cpu" { // SetDefaultDevice wins
		return
	}
	if want := "; set by %amp: device auto, trace health every 10 steps, exp forced to lower"; !strings.HasPrefix(tr.Note, "auto: ") || !strings.HasSuffix(tr.Note, want) {
		t.Errorf("note %q, want auto: …%q", tr.Note, want)
	}
	if e := Explain(s.Autocast(Float16), "exp", Float32); e.Output != Float16 || !strings.HasPrefix(e.Rule, "forced to lower") {
		t.Errorf("exp: %v", e)
	}
	if e := Explain(s.Autocast(Float16, Force("exp", FP32)), "exp", Float16); e.Output != Float32 {
		t.Errorf("exp forced in code: %v", e)
	}
	own := NewScope(On("cpu"), Record(Health), HealthEvery(3))
	defer own.Close()
	if note := own.Trace().Note; own.root.rec.every != 3 || note != "set by %amp: exp forced to lower" {
		t.Errorf("every %d, note %q", own.root.rec.every, note)
	}
	off := NewScope(On("cpu"), Record(Off))
	defer off.Close()
	if off.Trace().Level != "off" {
		t.Errorf("Record(Off) in code gave level %s", off.Trace().Level)
	}
	h := NewGradScaler().History()
	if h.InitScale != 1024 || h.GrowthInterval != 7 || h.MinScale != 2 || h.Note != "set by %amp: first scale 1024, smallest scale 2, growth interval 7" {
		t.Errorf("scaler: %+v", h)
	}
	h = NewGradScaler(InitScale(8), GrowthInterval(5), MinScale(0)).History()
	if h.InitScale != 8 || h.GrowthInterval != 5 || h.MinScale != 0 || h.Note != "" {
		t.Errorf("scaler with options: %+v", h)
	}
}

// TestReadDefaultsNamesFileAndField checks what a file that cannot be used says, and where.
func TestReadDefaultsNamesFileAndField(t *testing.T) {
	file := filepath.Join(t.TempDir(), "defaults.json")
	if d, err := ReadDefaults(file); err != nil || d.Device != "" {
		t.Errorf("no file: %+v, %v", d, err)
	}
	all := Defaults{"%amp", "cuda:1", "health", 3, map[string]string{"gelu": "fp32", "exp": "lower"}, 0.125, 9, 1e-3}
	b, err := all.MarshalText()
	if err == nil {
		err = os.WriteFile(file, b, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	if d, err := ReadDefaults(file); err != nil || !reflect.DeepEqual(d, all) {
		t.Errorf("%+v, %v, want %+v", d, err, all)
	}
	for text, want := range map[string]string{
		"":                                         "line 1: the schema is \"\"",
		"halftone.other/1":                         "line 1: the schema is \"halftone.other/1\"",
		"halftone.defaults/1\ndevise cpu\n":        "line 2: field devise: not known",
		"halftone.defaults/1\ntrace heath\n":       `field trace: amp: unknown trace level "heath"`,
		"halftone.defaults/1\n\nevery 3":           "line 2: field : not known",
		"halftone.defaults/1\nevery -1":            "every",
		"halftone.defaults/1\nevery ten":           "line 2: field every:",
		"halftone.defaults/1\nscale 1e300":         "scale",
		"halftone.defaults/1\nforce gelu fp33":     `field force: gelu: amp: unknown class "fp33"`,
		"halftone.defaults/1\nforce gleu fp32":     `no op "gleu"`,
		"halftone.defaults/1\nsource x\nscale 1,5": "line 3: field scale:",
	} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := ReadDefaults(file)
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), file) {
			t.Errorf("%s: %v, want %q", text, err, want)
			continue
		}
		withDefaults(t, func() (Defaults, error) { return ReadDefaults(file) })
		for _, f := range []func(){func() { NewScope() }, func() { NewGradScaler() }} {
			if err := Maybe(f); !errors.Is(err, ErrArgument) || !strings.Contains(err.Error(), file) {
				t.Errorf("%s: a program says %v", text, err)
			}
		}
	}
}

// TestScalersOfAScope checks that a root knows the scalers that scaled losses in it, in order, each once.
func TestScalersOfAScope(t *testing.T) {
	s, other := NewScope(), NewScope()
	defer s.Close()
	defer other.Close()
	a, b := NewGradScaler(), NewGradScaler(ScalerEnabled(false))
	for step := range s.Steps(2) {
		x := From([]float32{1}, 1)
		a.Scale(step.Autocast(Float16), x)
		b.Scale(step.In("net"), x)
	}
	if got := s.Scalers(); len(got) != 2 || got[0] != a || got[1] != b {
		t.Errorf("scalers %v", got)
	}
	if got := other.Scalers(); len(got) != 0 {
		t.Errorf("another root has %v", got)
	}
}
