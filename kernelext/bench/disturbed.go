package bench

import (
	"cmp"
	"context"
	"maps"
	"path/filepath"
	"runtime"
	"slices"
)

// A machine that others share stops for a while: then time passes in which a process that wants to compute does not. Or someone computes on
// the other half of a core, outside of what this system sees: then processor time passes in which less is computed. Such a round says nothing
// about the contenders, so that it is measured again, whoever was disturbed and whatever the ratio was.

const (
	tooIdle   = 1.15 // times the wall time per processor time that a contender needs where nothing disturbs it
	tooSlow   = 1.25 // times the usual time of the yardstick
	mostAgain = 2    // walks through the table in which every disturbed round is measured again once
)

// A round has the times of the contenders that took part in it, by name.
type round struct {
	times map[string]timing
	yard  float64 // the longest time of the yardstick before, between and after them; or 0
}

// idleness is how much time passes for each that a process computes on all its threads; 0 where that is unknown.
func (t timing) idleness(threads int) float64 {
	if t.CPU <= 0 || t.Wall <= 0 {
		return 0
	}
	return t.Wall * float64(threads) / t.CPU
}

// leastIdle is how idle each contender of a case is where nothing disturbs it: as little as in its best round. One that computes on a single
// thread is idle on the others in every round.
func (t *trial) leastIdle() map[string]float64 {
	least := map[string]float64{}
	for _, r := range t.rounds {
		for name, got := range r.times {
			if i := got.idleness(t.threads); i > 0 && (least[name] == 0 || i < least[name]) {
				least[name] = i
			}
		}
	}
	return least
}

// disturbance is how far a round is from a calm one, in which no contender idles more than it must and the yardstick takes its usual time.
// More than 1 is too far.
func (r round) disturbance(threads int, least map[string]float64, usual float64) float64 {
	most := 0.0
	for name, t := range r.times {
		if i := t.idleness(threads); i > 0 {
			most = max(most, i/max(least[name], 1)/tooIdle)
		}
	}
	if usual > 0 {
		most = max(most, r.yard/usual/tooSlow)
	}
	return most
}

// restless are the disturbed rounds, the worst first.
func (t *trial) restless(usual float64) (at []int) {
	least, far := t.leastIdle(), make([]float64, len(t.rounds))
	for i, r := range t.rounds {
		if far[i] = r.disturbance(t.threads, least, usual); far[i] > 1 {
			at = append(at, i)
		}
	}
	slices.SortStableFunc(at, func(i, j int) int { return cmp.Compare(far[j], far[i]) })
	return at
}

// settle measures every disturbed round again, once. The less disturbed of both counts, better for ours or not; those that take no part any
// more keep their times.
func (t *trial) settle(usual float64, again func(i int) (round, error)) error {
	for _, i := range t.restless(usual) {
		r, err := again(i)
		if err != nil {
			return err
		}
		t.again++
		both := trial{threads: t.threads, rounds: append(slices.Clone(t.rounds), r)}
		if least := both.leastIdle(); r.disturbance(t.threads, least, usual) > t.rounds[i].disturbance(t.threads, least, usual) {
			continue
		}
		whole := maps.Clone(t.rounds[i].times)
		maps.Copy(whole, r.times)
		t.rounds[i] = round{whole, r.yard}
	}
	return nil
}

// usualYard is the median of the yardstick over the rounds of a run; 0 where it is unknown.
func usualYard(trials []*trial) float64 {
	var all []float64
	for _, t := range trials {
		for _, r := range t.rounds {
			if r.yard > 0 {
				all = append(all, r.yard)
			}
		}
	}
	return middle(all)
}

// beginYard starts the yardstick, on all processors: a contender may run on any of them.
func beginYard(ctx context.Context, dir string) (*contender, error) {
	return begin(ctx, runtime.NumCPU(), "", filepath.Join(dir, "ceilings"), "yardstick")
}
