package bench

import "maps"

// A machine that others share stops for a while: then time passes in which a process that wants to compute does not. Such a round
// says nothing about the contenders, so that it is measured again, whoever was stopped and whatever the ratio was.

const (
	tooIdle   = 1.15 // times the wall time per processor time that a contender needs where nothing disturbs it
	mostAgain = 1    // times the rounds of a case: how many may be measured in addition
)

// A round has the times of the contenders that took part in it, by name.
type round map[string]timing

// idleness is how much time passes for each that a process computes on all its threads; 0 where that is unknown.
func (t timing) idleness(threads int) float64 {
	if t.CPU <= 0 || t.Wall <= 0 {
		return 0
	}
	return t.Wall * float64(threads) / t.CPU
}

// A calm knows how idle the contenders of a case are where nothing disturbs them: as little as in their best round. One that computes on a
// single thread is idle on the others in every round.
type calm struct {
	threads int
	least   map[string]float64
}

func newCalm(threads int) *calm { return &calm{threads, map[string]float64{}} }

// add takes a round into account; those that are measured again stay so.
func (c *calm) add(r round) {
	for name, t := range r {
		if i := t.idleness(c.threads); i > 0 && (c.least[name] == 0 || i < c.least[name]) {
			c.least[name] = i
		}
	}
}

// disturbance is how many times as idle as it can be the most disturbed contender of a round is.
func (c *calm) disturbance(r round) float64 {
	most := 1.0
	for name, t := range r {
		if i := t.idleness(c.threads); i > 0 {
			most = max(most, i/max(c.least[name], 1))
		}
	}
	return most
}

// worst returns the most disturbed round, -1 if there is none, and how many there are.
func (c *calm) worst(rounds []round) (at, disturbed int) {
	at, most := -1, tooIdle
	for i, r := range rounds {
		d := c.disturbance(r)
		if d > tooIdle {
			disturbed++
		}
		if d > most {
			at, most = i, d
		}
	}
	return at, disturbed
}

// settle measures disturbed rounds again, the worst first, as often as it may, and returns how often that was and how many disturbed ones are
// left. What is measured last counts, better or not; those that take no part any more keep their times.
func (c *calm) settle(rounds []round, again func(i int) (round, error)) (repeated, left int, err error) {
	for _, r := range rounds {
		c.add(r)
	}
	for {
		at, disturbed := c.worst(rounds)
		if at < 0 || repeated == mostAgain*len(rounds) {
			return repeated, disturbed, nil
		}
		r, err := again(at)
		if err != nil {
			return repeated, disturbed, err
		}
		repeated++
		c.add(r)
		whole := maps.Clone(rounds[at])
		maps.Copy(whole, r)
		rounds[at] = whole
	}
}
