package main

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/halftone-ml/halftone/cudart/internal/turns"
)

// referee has the stages of a group that take turns do so: it gives each its player. The function returned waits for the referee.
func (st *state) referee(group []stage, entries []*entry) (wait func() error, err error) {
	if len(group) == 0 || group[0].turns == "" {
		return func() error { return nil }, nil
	}
	var mine []*turns.Player
	var of []*entry // these
	var theirs *turns.Player
	for i := range group {
		s := &group[i]
		if s.lacks != "" {
			continue
		}
		if s.player, err = turns.NewPlayer(); err != nil {
			return nil, err
		}
		if s.side == peer {
			theirs = s.player
			continue
		}
		mine, of = append(mine, s.player), append(of, entries[i])
	}
	done := make(chan error, 1)
	go func() {
		var failed error
		turns.Referee(mine, theirs, size(turns.Usual, 1), func(name string, which int, a, b []float64) {
			if err := st.pair(of[which], name, a, b); err != nil {
				failed = err
			}
		})
		done <- failed
	}()
	return func() error { return <-done }, nil
}

// pair keeps how much faster ours was than the peer's: the median over rounds that followed each other.
func (st *state) pair(e *entry, name string, ours, theirs []float64) error {
	ratios := make([]float64, len(ours))
	for i := range ours {
		ratios[i] = theirs[i] / ours[i]
	}
	f, err := st.appendFigures()
	if err != nil {
		return err
	}
	defer f.Close()
	line, err := json.Marshal(figureOf{e.Stage, paired, e.Attempts, figure{name, middle(ratios), "×", ""}})
	if err != nil {
		return err
	}
	_, err = f.Write(append(line, '\n'))
	return err
}

// apart says what both sides have of stages that take turns, and did not measure in turn: names in another order, or a side that was begun
// again. What takes nanoseconds of the host is measured without.
func (st *state) apart() []string {
	inTurn := func(name string) bool {
		return slices.ContainsFunc(st.planned, func(s stage) bool { return s.name == name && s.turns != "" })
	}
	whose := map[string][]side{}
	var names []string
	for _, f := range st.figures {
		if !inTurn(f.Stage) || f.Unit == "ns" {
			continue
		}
		if whose[f.Name] == nil {
			names = append(names, f.Name)
		}
		whose[f.Name] = append(whose[f.Name], f.Side)
	}
	names = slices.DeleteFunc(names, func(n string) bool {
		return slices.Contains(whose[n], paired) || !slices.Contains(whose[n], ours) || !slices.Contains(whose[n], peer)
	})
	if len(names) == 0 {
		return nil
	}
	return []string{"not in turn, though both have it: " + strings.Join(names, ", ")}
}
