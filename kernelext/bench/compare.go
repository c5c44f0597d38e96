package bench

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"time"
)

// A Compare times the CPU backend and its peers in turns, each in its own process, so that what slows the machine down for a while
// slows down all of them.
type Compare struct {
	Go, Python, Checkout string
	Rounds               int
	Budget               int   // milliseconds per case, contender and round
	Threads              []int // of every process; 0 is all processors
	Cases                []CPUCase
	Report               func(done, all int)
}

// A CPUCase is a line of the table.
type CPUCase struct {
	Name  string  // what worker and peers.py take
	Bar   float64 // the ratio it should reach
	Flops float64 // of a call, or 0
	Bytes float64 // moved by a call, or 0
	Moves string  // how: "read", "in place", or "" for a copy
	Env   string  // a variable of our process, NAME=value, that makes this a case of its own
	Most  float64 // ns that ours may take, a bar without a peer; or 0
	Limit string  // what is known to limit the ratio, said where the bar is missed
}

// title is the name of the case in the table.
func (c CPUCase) title() string {
	if c.Env == "" {
		return c.Name
	}
	return c.Name + " " + c.Env
}

// A CPURow is a case with a number of threads, measured.
type CPURow struct {
	CPUCase
	Threads int
	Ours    float64            // median over the rounds, ns
	Peers   map[string]float64 // the same of those that can do it
	Ratio   float64            // median over the rounds of: the fastest peer's time divided by ours
	CPU     float64            // as Ratio, of processor time
	RSS     float64            // MiB at most resident in our process during the case
	PeerRSS map[string]float64 // the same of the peers
	Ceilings
	Held float64 // MiB of activations of a training step

	Rounds, Again, Disturbed int // rounds; how often one of them was measured again; how many are disturbed all the same
}

// Run measures all cases. The second result says of every peer which version it is, or that it is not installed.
func (c *Compare) Run(ctx context.Context) ([]CPURow, map[string]string, error) {
	dir, err := os.MkdirTemp("", "halftone-bench")
	if err != nil {
		return nil, nil, err
	}
	defer os.RemoveAll(dir)
	build := exec.CommandContext(ctx, c.Go, "build", "-o", dir+string(filepath.Separator), "./kernelext/bench/worker", ceilingsProgram)
	build.Dir = c.Checkout
	if out, err := build.CombinedOutput(); err != nil {
		return nil, nil, fmt.Errorf("building the benchmark: %w\n%s", err, out)
	}
	tools := built{c: compileC(ctx, dir), noGo: c.buildGoPeers(ctx, dir)}
	versions := map[string]string{}
	var rows []CPURow
	for i, threads := range c.Threads {
		more, err := c.threads(ctx, dir, tools, threads, versions, i)
		if err != nil {
			return nil, nil, err
		}
		rows = append(rows, more...)
	}
	return rows, versions, nil
}

// threads measures all cases with one number of threads.
func (c *Compare) threads(ctx context.Context, dir string, tools built, threads int, versions map[string]string, pass int) ([]CPURow, error) {
	budget := strconv.Itoa(c.Budget)
	ours := map[string]*contender{}
	for _, k := range c.Cases {
		if ours[k.Env] != nil {
			continue
		}
		p, err := begin(ctx, threads, k.Env, filepath.Join(dir, "worker"), budget)
		if err != nil {
			return nil, err
		}
		defer p.stop()
		ours[k.Env] = p
	}
	peers := map[string]*contender{}
	for _, peer := range Peers {
		p, why := c.beginPeer(ctx, dir, tools, peer, threads)
		versions[peer.Name] = why
		if p != nil {
			defer p.stop()
			peers[peer.Name] = p
		}
	}
	top, err := ceilings(ctx, dir, threads)
	if err != nil {
		return nil, err
	}
	var rows []CPURow
	for i, k := range c.Cases {
		r, err := c.measure(k, threads, ours[k.Env], peers)
		if err != nil {
			return nil, err
		}
		rows = append(rows, r)
		if c.Report != nil {
			c.Report(pass*len(c.Cases)+i+1, len(c.Threads)*len(c.Cases))
		}
	}
	after, err := ceilings(ctx, dir, threads) // a second time: nothing of a run should look faster than its ceiling because something disturbed this
	for i := range rows {
		rows[i].Ceilings = top.best(after)
	}
	return rows, err
}

// measure lets all contenders that know a case take turns at it, and repeats rounds that something disturbed.
func (c *Compare) measure(k CPUCase, threads int, ours *contender, peers map[string]*contender) (CPURow, error) {
	row := CPURow{CPUCase: k, Threads: threads, Rounds: c.Rounds}
	if k.Bar == 0 && k.Most == 0 && ownBar(k) == 0 { // nothing is decided by it
		row.Rounds = (c.Rounds + 1) / 2
	}
	out := map[string]bool{} // peers that are asked no more
	rounds := make([]round, row.Rounds)
	for i := range rounds {
		r, err := c.round(i, k, threads, ours, peers, out)
		if err != nil {
			return row, err
		}
		rounds[i] = r
		for name, t := range r {
			out[name] = out[name] || i == 0 && name != "" && t.Median > hopeless*r.fastestPeer().Median
		}
	}
	var err error
	row.Again, row.Disturbed, err = newCalm(threads).settle(rounds, func(i int) (round, error) { return c.round(i, k, threads, ours, peers, out) })
	row.take(rounds)
	return row, err
}

// calmDown is a time after which the threads of a peer no longer wait for work on a processor that the next contender needs: OpenBLAS's do so
// for some hundredths of a second.
const calmDown = 100 * time.Millisecond

// round asks all contenders once. Sides change places from round to round.
func (c *Compare) round(i int, k CPUCase, threads int, ours *contender, peers map[string]*contender, out map[string]bool) (round, error) {
	order := []string{""}
	for _, p := range Peers {
		order = append(order, p.Name)
	}
	if i%2 == 1 {
		slices.Reverse(order)
	}
	times := round{}
	for _, name := range order {
		who := ours
		if name != "" {
			who = peers[name]
		}
		if who == nil || out[name] || name != "" && k.Env != "" { // another form of ours stands beside our usual one only
			continue
		}
		t, err := who.ask(k.Name)
		if name != "" && threads > 1 {
			time.Sleep(calmDown)
		}
		switch {
		case err != nil && name != "": // it ended or hung: the others go on
			who.stop()
			delete(peers, name)
		case err != nil:
			return nil, fmt.Errorf("%s: %w", k.Name, err)
		case t.Error != "" && name == "":
			return nil, fmt.Errorf("%s: our side says %s", k.Name, t.Error)
		case t.Error != "":
			out[name] = true
		default:
			times[name] = t
		}
	}
	return times, nil
}

// fastestPeer is the time of the fastest one of a round, 0 if there is none.
func (r round) fastestPeer() (best timing) {
	for name, t := range r {
		if name != "" && (best.Median == 0 || t.Median < best.Median) {
			best = t
		}
	}
	return best
}

// take sets what the rounds of a case say.
func (row *CPURow) take(rounds []round) {
	row.Peers, row.PeerRSS = map[string]float64{}, map[string]float64{}
	samples, ratios, work := map[string][]float64{}, []float64(nil), []float64(nil)
	for _, r := range rounds {
		mine, best := r[""], r.fastestPeer()
		for name, t := range r {
			samples[name] = append(samples[name], t.Median)
			if name == "" {
				row.RSS, row.Held = t.RSS, t.Held
			} else {
				row.PeerRSS[name] = t.RSS
			}
		}
		if mine.Median > 0 && best.Median > 0 {
			ratios = append(ratios, best.Median/mine.Median)
		}
		if mine.CPU > 0 && best.CPU > 0 {
			work = append(work, best.CPU/mine.CPU)
		}
	}
	row.Ours = middle(samples[""])
	for name, s := range samples {
		if name != "" {
			row.Peers[name] = middle(s)
		}
	}
	row.Ratio, row.CPU = middle(ratios), middle(work)
}

// middle returns the median, 0 of nothing.
func middle(s []float64) float64 {
	if len(s) == 0 {
		return 0
	}
	s = slices.Sorted(slices.Values(s))
	return (s[(len(s)-1)/2] + s[len(s)/2]) / 2
}
