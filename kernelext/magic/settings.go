package magic

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/internal/wholefile"
)

// Settings are what %amp has set in a notebook: what cells take where their program says nothing. They live as long as the
// kernel.
type Settings struct{ amp.Defaults }

// Write puts the settings where cells read them, in one step: a cell's program may be reading them.
func (s Settings) Write(file string) error {
	s.Source = LineMagic
	b, err := s.MarshalText()
	if err != nil {
		return err
	}
	return wholefile.Replace(file, b, 0o600)
}

// clone is a copy that can be changed.
func (s Settings) clone() Settings {
	s.Force = maps.Clone(s.Force)
	return s
}

// The settings in words, with what holds where nothing is set.

func (s Settings) device() (text string, set bool) {
	if s.Device == "" {
		return "cpu", false
	}
	return s.Device, true
}

func (s Settings) trace() (text string, set bool) {
	switch {
	case s.Trace == "":
		return "off; decisions in %%amp cells", false
	case s.Trace == "health" && s.Every > 1:
		return fmt.Sprintf("health, every %d steps", s.Every), true
	}
	return s.Trace, true
}

func (s Settings) forced() (text string, set bool) {
	if len(s.Force) == 0 {
		return "none", false
	}
	var parts []string
	for _, op := range slices.Sorted(maps.Keys(s.Force)) {
		parts = append(parts, op+" = "+s.Force[op])
	}
	return strings.Join(parts, ", "), true
}

func (s Settings) scale() (text string, set bool) {
	first := 65536.0
	if s.Scale > 0 {
		first = s.Scale
	}
	text = "first " + number(first)
	interval := 2000
	if s.Interval > 0 {
		interval = s.Interval
	}
	text += fmt.Sprintf(", ×2 after %s clean steps, ×½ after an overflow", number(float64(interval)))
	if s.MinScale > 0 {
		text += ", never below " + number(s.MinScale)
	}
	return text, s.Scale > 0 || s.Interval > 0 || s.MinScale > 0
}
