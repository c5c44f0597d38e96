package bench

import (
	"context"
	"path/filepath"
	"slices"
	"strconv"
)

// The table is walked several times, a few rounds of every case at a time and with all processes started anew, so that neither a bad minute of
// the machine nor where a process happens to lie in memory decides a case. What was disturbed is measured again in further walks.

// perPass is how many rounds of a case follow each other: one in which our side begins, and one in which the others do.
const perPass = 2

// A trial is a case with a number of threads on its way.
type trial struct {
	CPUCase
	threads          int
	want             int // rounds
	rounds           []round
	out              map[string]bool // peers that are asked no more
	again, disturbed int
}

// trials are the lines of the table in their order.
func (c *Compare) trials() (all []*trial) {
	for _, threads := range c.Threads {
		for _, k := range c.Cases {
			t := &trial{CPUCase: k, threads: threads, want: c.Rounds, out: map[string]bool{}}
			if !t.decided() {
				t.want = (c.Rounds + 1) / 2
			}
			all = append(all, t)
		}
	}
	return all
}

// decided says that the case has a bar.
func (t *trial) decided() bool {
	return t.Bar != 0 || t.Most != 0 || ownBar(CPURow{CPUCase: t.CPUCase}) != 0
}

// visit takes the rounds of one pass.
func (t *trial) visit(l *lineup) error {
	n := perPass
	if !t.decided() {
		n = perPass / 2
	}
	for ; n > 0 && len(t.rounds) < t.want; n-- {
		i := len(t.rounds)
		r, err := l.round(i, t)
		if err != nil {
			return err
		}
		t.rounds = append(t.rounds, r)
		for name, got := range r.times {
			t.out[name] = t.out[name] || i == 0 && name != "" && got.Median > hopeless*r.fastestPeer().Median
		}
	}
	return nil
}

// row is the trial as a line of the table.
func (t *trial) row() CPURow {
	row := CPURow{CPUCase: t.CPUCase, Threads: t.threads, Rounds: len(t.rounds), Again: t.again, Disturbed: t.disturbed}
	row.take(t.rounds)
	return row
}

// A lineup is one start of all contenders.
type lineup struct {
	ours  map[string]*contender      // by CPUCase.Env
	peers map[string]*contender      // by name
	begin func(peer Peer) *contender // or nil
	yard  *contender                 // or nil
}

// replace starts a peer anew that ended or hung, for the cases to come.
func (l *lineup) replace(name string) {
	l.peers[name].stop()
	delete(l.peers, name)
	i := slices.IndexFunc(Peers, func(p Peer) bool { return p.Name == name })
	if p := l.begin(Peers[i]); p != nil {
		l.peers[name] = p
	}
}

func (l *lineup) stop() {
	for _, p := range l.ours {
		p.stop()
	}
	for _, p := range l.peers {
		p.stop()
	}
	if l.yard != nil {
		l.yard.stop()
	}
}

// yardstick is how long a loop of nothing but multiply-adds takes on the slowest of the processors now, in ns; 0 where that is unknown.
func (l *lineup) yardstick() float64 {
	if l.yard == nil {
		return 0
	}
	t, err := l.yard.ask("")
	if err != nil || t.Error != "" {
		l.yard.stop()
		l.yard = nil
		return 0
	}
	return t.Median
}

// A walker goes through the table.
type walker struct {
	*Compare
	dir      string
	tools    built
	versions map[string]string // of the peers
	tops     map[int]Ceilings  // by threads: the best that any walk saw, so that nothing looks faster than its ceiling because this was disturbed
}

// passes takes all rounds of all trials, and then those again that something disturbed.
func (w *walker) passes(ctx context.Context, trials []*trial) error {
	n := (w.Rounds + perPass - 1) / perPass
	done, all := 0, n*len(trials)
	for range n {
		err := w.walk(ctx, trials, func(l *lineup, t *trial) error {
			if done++; w.Report != nil {
				defer w.Report(done, all)
			}
			return t.visit(l)
		})
		if err != nil {
			return err
		}
	}
	usual := usualYard(trials)
	for range mostAgain {
		left := slices.DeleteFunc(slices.Clone(trials), func(t *trial) bool { return len(t.restless(usual)) == 0 })
		err := w.walk(ctx, left, func(l *lineup, t *trial) error {
			return t.settle(usual, func(i int) (round, error) { return l.round(i, t) })
		})
		if err != nil {
			return err
		}
	}
	for _, t := range trials {
		t.disturbed = len(t.restless(usual))
	}
	return nil
}

// walk visits trials in their order, with contenders that it starts and ends.
func (w *walker) walk(ctx context.Context, trials []*trial, visit func(l *lineup, t *trial) error) error {
	for len(trials) > 0 {
		threads := trials[0].threads
		n := 1
		for n < len(trials) && trials[n].threads == threads {
			n++
		}
		if err := w.part(ctx, threads, trials[:n], visit); err != nil {
			return err
		}
		trials = trials[n:]
	}
	return nil
}

// part is a walk with one number of threads.
func (w *walker) part(ctx context.Context, threads int, trials []*trial, visit func(l *lineup, t *trial) error) error {
	l, err := w.lineup(ctx, threads, trials)
	defer l.stop()
	if err != nil {
		return err
	}
	if err := w.measureTop(ctx, threads); err != nil {
		return err
	}
	for _, t := range trials {
		if err := visit(l, t); err != nil {
			return err
		}
	}
	return w.measureTop(ctx, threads)
}

func (w *walker) measureTop(ctx context.Context, threads int) error {
	top, err := ceilings(ctx, w.dir, threads)
	if before, ok := w.tops[threads]; ok {
		top = top.best(before)
	}
	w.tops[threads] = top
	return err
}

// lineup starts those that the trials need.
func (w *walker) lineup(ctx context.Context, threads int, trials []*trial) (*lineup, error) {
	l := &lineup{ours: map[string]*contender{}, peers: map[string]*contender{}}
	for _, t := range trials {
		if l.ours[t.Env] != nil {
			continue
		}
		p, err := begin(ctx, threads, t.Env, filepath.Join(w.dir, "worker"), strconv.Itoa(w.Budget))
		if err != nil {
			return l, err
		}
		l.ours[t.Env] = p
	}
	l.begin = func(peer Peer) *contender {
		p, why := w.beginPeer(ctx, w.dir, w.tools, peer, threads)
		if p != nil || w.versions[peer.Name] == "" {
			w.versions[peer.Name] = why
		}
		return p
	}
	for _, peer := range Peers {
		if p := l.begin(peer); p != nil {
			l.peers[peer.Name] = p
		}
	}
	if p, err := beginYard(ctx, w.dir); err == nil {
		l.yard = p
	}
	return l, nil
}
