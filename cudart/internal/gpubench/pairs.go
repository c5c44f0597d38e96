package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/halftone-ml/halftone/cudart/internal/turns"
)

// What one of several programs may take until it first waits for a turn, where PyTorch is imported and kernels are loaded, and from then on
// for a round or the way to its next name.
var mostFirst, mostTurn = 90 * time.Second, 30 * time.Second

// mostGroup is the limit of all that take turns with each other: one of them may hang at its start and another in its turn, and the others
// still have theirs.
const mostGroup = 4 * time.Minute

// referee has the stages of a group that take turns do so: it gives each its seat. The function returned waits for the referee, and says
// what could not be kept.
func (st *state) referee(group []stage, entries []*entry) (wait func() error, err error) {
	if len(group) == 0 || group[0].turns == "" {
		return func() error { return nil }, nil
	}
	var of []*entry // of ours
	over := make(chan struct{})
	m := &turns.Match{Rounds: size(turns.Usual, 1), First: mostFirst, Most: mostTurn}
	for i := range group {
		s := &group[i]
		if s.lacks != "" {
			continue
		}
		if s.seat, err = newSeat(over); err != nil {
			return nil, err
		}
		if s.side == peer {
			m.Peer = s.seat.player
			continue
		}
		m.Ours, of = append(m.Ours, s.seat.player), append(of, entries[i])
	}
	var lost []error
	m.Pair = func(name string, which int, a, b []float64) {
		if err := st.pair(of[which], name, a, b); err != nil {
			lost = append(lost, fmt.Errorf("no ratio of %s is kept: %w", name, err))
		}
	}
	go func() {
		defer close(over)
		m.Referee()
	}()
	return func() error { <-over; return errors.Join(lost...) }, nil
}

// pair keeps how much faster ours was than the peer's: the median over rounds that followed each other.
func (st *state) pair(e *entry, name string, ours, theirs []float64) error {
	ratios := make([]float64, len(ours))
	for i := range ours {
		ratios[i] = theirs[i] / ours[i]
	}
	ratio := middle(ratios)
	if !(ratio > 0) || math.IsInf(ratio, 0) {
		return fmt.Errorf("the seconds of ours were %v, PyTorch's %v", ours, theirs)
	}
	f, err := st.appendFigures()
	if err != nil {
		return err
	}
	defer f.Close()
	line, err := json.Marshal(figureOf{e.Stage, paired, e.Number, figure{name, ratio, "×", ""}})
	if err != nil {
		return err
	}
	_, err = f.Write(append(line, '\n'))
	return err
}

// unchecked drops ratios of what has no figure of ours: it was measured, and failed when its result was looked at.
func unchecked(figures []figureOf) []figureOf {
	type measured struct {
		stage, name string
		attempt     int
	}
	have := map[measured]bool{}
	for _, f := range figures {
		if f.Side == ours {
			have[measured{f.Stage, f.Name, f.Attempt}] = true
		}
	}
	return slices.DeleteFunc(figures, func(f figureOf) bool { return f.Side == paired && !have[measured{f.Stage, f.Name, f.Attempt}] })
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
