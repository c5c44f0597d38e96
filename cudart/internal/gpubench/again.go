package main

import (
	"slices"
	"strings"
)

// forget has stages run once more, as if they had not been begun.
func (st *state) forget(which func(e *entry) bool) {
	st.Entries = slices.DeleteFunc(st.Entries, which)
}

// reopen has run again what was missing, and what has a part of a name, if there is one. A ratio needs both sides: with a program of ours that
// takes turns, also one that was cut off, PyTorch's runs again, and where PyTorch's is asked for all of ours.
func (st *state) reopen(part string) {
	again := map[string]bool{}
	for _, s := range st.planned {
		asked := part != "" && strings.Contains(s.name, part)
		if asked {
			again[s.name] = true
		}
		for _, o := range st.planned {
			with := s.turns != "" && o.turns == s.turns
			if with && (o.side == peer && (asked || st.wasCut(s)) || s.side == peer && asked) {
				again[o.name] = true
			}
		}
	}
	st.forget(func(e *entry) bool { return e.Status == missing || again[e.Stage] })
}

// wasCut is whether a stage that was cut off has another attempt.
func (st *state) wasCut(s stage) bool { return st.entryOf(s.name) != nil && st.isOpen(s) }
