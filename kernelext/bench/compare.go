package bench

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"
)

// A Compare times the CPU backend and its peers in turns, each in its own process, so that what slows the machine down for a while
// slows down all of them; and walks its table several times, so that the rounds of a case lie minutes apart.
type Compare struct {
	Go, Python, Checkout string
	Rounds               int   // of a case with a bar; others have half as many
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
	w := walker{Compare: c, dir: dir, tools: tools, versions: map[string]string{}, tops: map[int]Ceilings{}}
	trials := c.trials()
	if err := w.passes(ctx, trials); err != nil {
		return nil, nil, err
	}
	var rows []CPURow
	for _, t := range trials {
		row := t.row()
		row.Ceilings = w.tops[t.threads]
		rows = append(rows, row)
	}
	return rows, w.versions, nil
}

// calmDown is a time after which the threads of a peer no longer wait for work on a processor that the next contender needs: OpenBLAS's do so
// for some hundredths of a second.
const calmDown = 100 * time.Millisecond

// round asks all contenders once, and the yardstick before, between and after them. Sides change places from round to round.
func (l *lineup) round(i int, t *trial) (round, error) {
	order := []string{""}
	for _, p := range Peers {
		order = append(order, p.Name)
	}
	if i%2 == 1 {
		slices.Reverse(order)
	}
	r := round{times: map[string]timing{}, yard: l.yardstick()}
	for _, name := range order {
		who := l.ours[t.Env]
		if name != "" {
			who = l.peers[name]
		}
		if who == nil || t.out[name] || name != "" && t.Env != "" { // another form of ours stands beside our usual one only
			continue
		}
		got, err := who.ask(t.Name)
		if name != "" && t.threads > 1 {
			time.Sleep(calmDown)
		}
		switch {
		case err != nil && name != "": // it ended or hung
			l.replace(name)
			t.out[name] = true
		case err != nil:
			return r, fmt.Errorf("%s: %w", t.Name, err)
		case got.Error != "" && name == "":
			return r, fmt.Errorf("%s: our side says %s", t.Name, got.Error)
		case got.Error != "":
			t.out[name] = true
		default:
			r.times[name] = got
		}
		r.yard = max(r.yard, l.yardstick())
	}
	return r, nil
}

// fastestPeer is the time of the fastest one of a round, 0 if there is none.
func (r round) fastestPeer() (best timing) {
	for name, t := range r.times {
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
		mine, best := r.times[""], r.fastestPeer()
		for name, t := range r.times {
			samples[name] = append(samples[name], t.Median)
			if name == "" {
				row.RSS, row.Held = max(row.RSS, t.RSS), t.Held
			} else {
				row.PeerRSS[name] = max(row.PeerRSS[name], t.RSS)
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
