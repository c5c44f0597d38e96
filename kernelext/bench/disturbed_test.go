package bench

import (
	"errors"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// made is a round of made-up times, each of a contender's wall and processor time per call; the median is the wall time.
func made(times map[string][2]float64) round {
	r := round{times: map[string]timing{}, yard: 100}
	for name, t := range times {
		r.times[name] = timing{Median: t[0], Wall: t[0], CPU: t[1]}
	}
	return r
}

// yards is a round with another time of the yardstick.
func (r round) yards(ns float64) round { return round{r.times, ns} }

// TestDisturbedRounds: which rounds are measured again, and what then counts.
func TestDisturbedRounds(t *testing.T) {
	calm := made(map[string][2]float64{"": {100, 200}, "torch": {110, 220}})
	slow := made(map[string][2]float64{"": {150, 300}, "torch": {110, 220}}) // slower, but it computed all the time
	oursStood := made(map[string][2]float64{"": {190, 200}, "torch": {110, 220}})
	peerStood := made(map[string][2]float64{"": {100, 200}, "torch": {240, 220}})
	bothStood := made(map[string][2]float64{"": {195, 200}, "torch": {240, 220}})
	serial := made(map[string][2]float64{"": {100, 200}, "torch": {110, 110}}) // it has one thread
	worse := made(map[string][2]float64{"": {130, 260}, "torch": {100, 200}})
	unknown := made(map[string][2]float64{"": {100, 0}, "torch": {900, 0}}).yards(0)
	crowded := slow.yards(150)      // someone else had the cores
	better := oursStood.yards(150)  // and someone else
	lucky := calm.yards(60)         // faster than usual is no disturbance
	quiet := slow.yards(124)        // as good as usual
	worst := oursStood.yards(1000)  // more than all others
	peerLuck := peerStood.yards(90) // it stood still, whatever the yardstick says
	for _, c := range []struct {
		name   string
		rounds []round
		again  []round // what further rounds give
		asked  []int   // the rounds measured again
		left   int
		ours   []float64 // the times of ours that count
	}{
		{"nothing happened", []round{calm, calm, calm}, nil, nil, 0, []float64{100, 100, 100}},
		{"ours was slower", []round{calm, slow, calm}, nil, nil, 0, []float64{100, 150, 100}},
		{"ours stood still", []round{calm, oursStood, calm}, []round{calm}, []int{1}, 0, []float64{100, 100, 100}},
		{"a peer stood still", []round{calm, calm, peerStood}, []round{slow}, []int{2}, 0, []float64{100, 100, 150}},
		{"what is worse for ours counts", []round{oursStood, calm, calm}, []round{worse}, []int{0}, 0, []float64{130, 100, 100}},
		{"the first one", []round{bothStood, calm}, []round{calm}, []int{0}, 0, []float64{100, 100}},
		{"a peer with one thread", []round{serial, serial, serial}, nil, nil, 0, []float64{100, 100, 100}},
		{"again, in the second walk too", []round{calm, oursStood, calm}, []round{oursStood, slow}, []int{1, 1}, 0, []float64{100, 150, 100}},
		{"it goes on", []round{calm, oursStood, calm}, []round{peerStood, bothStood}, []int{1, 1}, 1, []float64{100, 190, 100}},
		{"the worst first", []round{made(map[string][2]float64{"": {130, 200}}), oursStood, calm}, []round{calm, calm}, []int{1, 0}, 0, []float64{100, 100, 100}},
		{"someone in every round", []round{peerStood, oursStood, peerStood}, []round{calm, calm, calm}, []int{0, 2, 1}, 0, []float64{100, 100, 100}},
		{"no processor time, no yardstick", []round{unknown, calm}, nil, nil, 0, []float64{100, 100}},
		{"the cores were taken", []round{calm, crowded, calm}, []round{calm}, []int{1}, 0, []float64{100, 100, 100}},
		{"ours was lucky then", []round{calm, calm.yards(150), calm}, []round{slow}, []int{1}, 0, []float64{100, 150, 100}},
		{"a faster core, a little slower one", []round{lucky, quiet, calm}, nil, nil, 0, []float64{100, 150, 100}},
		{"the worst of both kinds first", []round{better, worst, peerLuck}, []round{calm, calm, calm}, []int{1, 2, 0}, 0, []float64{100, 100, 100}},
	} {
		var asked []int
		k := &trial{CPUCase: CPUCase{Name: c.name}, threads: 2, rounds: slices.Clone(c.rounds)}
		for range mostAgain {
			err := k.settle(100, func(i int) (round, error) {
				if len(asked) == len(c.again) {
					t.Fatalf("%s: round %d again", c.name, i)
				}
				asked = append(asked, i)
				return c.again[len(asked)-1], nil
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		var ours []float64
		for _, r := range k.rounds {
			ours = append(ours, r.times[""].Median)
		}
		if left := len(k.restless(100)); k.again != len(c.asked) || !slices.Equal(asked, c.asked) || left != c.left || !slices.Equal(ours, c.ours) {
			t.Errorf("%s: %d rounds again, %v; %d left, ours %v", c.name, k.again, asked, left, ours)
		}
	}
}

// TestDisturbedKeepsOthers: a peer that is asked in the first round only keeps its time when that round is measured again, and the page says how
// many rounds there were.
func TestDisturbedKeepsOthers(t *testing.T) {
	first := made(map[string][2]float64{"": {190, 200}, "torch": {110, 220}, "gonum": {9000, 18000}})
	calm := made(map[string][2]float64{"": {100, 200}, "torch": {110, 220}})
	k := &trial{CPUCase: CPUCase{Name: "gemm/f32/64"}, threads: 2, rounds: []round{first, calm}}
	err := k.settle(100, func(int) (round, error) { return calm, nil })
	row := k.row()
	if err != nil || row.Peers["gonum"] != 9000 || row.Ours != 100 || row.Ratio != 1.1 || row.CPU != 1.1 {
		t.Errorf("%+v, %v", row, err)
	}
	if got, want := disturbances([]CPURow{row, row}), "of 4 rounds that was done 2 times, and 0 were disturbed"; !strings.Contains(got, want) {
		t.Errorf("%q lacks %q", got, want)
	}
	failure := errors.New("no more")
	k.rounds[0] = first
	if err := k.settle(100, func(int) (round, error) { return round{}, failure }); err != failure {
		t.Errorf("an error of a round: %v", err)
	}
}

// TestUsualYard: the median over all rounds that know it.
func TestUsualYard(t *testing.T) {
	calm := made(map[string][2]float64{"": {1, 1}})
	trials := []*trial{{rounds: []round{calm.yards(1), calm.yards(0)}}, {rounds: []round{calm.yards(7), calm.yards(3)}}}
	if got := usualYard(trials); got != 3 {
		t.Errorf("%v", got)
	}
	if got := usualYard([]*trial{{rounds: []round{calm.yards(0)}}}); got != 0 {
		t.Errorf("where it is unknown: %v", got)
	}
}

// TestTrials: cases with a bar have all rounds, others half as many, for every number of threads, in the order of the page; a pass takes so many
// that all passes together take them all, and each of the two sides begins as often as the other.
func TestTrials(t *testing.T) {
	c := &Compare{Rounds: 6, Threads: []int{1, 2}, Cases: []CPUCase{{Name: "a", Bar: 1}, {Name: "b"}, {Name: "op/tape", Most: 300}, {Name: "gemm/f16/8"}}}
	var got []string
	for _, k := range c.trials() {
		got = append(got, k.Name+strings.Repeat("+", k.want)+strings.Repeat("|", k.threads))
	}
	want := "a++++++| b+++| op/tape++++++| gemm/f16/8++++++| a++++++|| b+++|| op/tape++++++|| gemm/f16/8++++++||"
	if s := strings.Join(got, " "); s != want {
		t.Errorf("%s, want %s", s, want)
	}
	for rounds := 1; rounds <= 7; rounds++ {
		c.Rounds = rounds
		for _, k := range c.trials() {
			l := &lineup{ours: map[string]*contender{"": nil}} // nobody takes part
			for pass := range (rounds + perPass - 1) / perPass {
				before := len(k.rounds)
				if err := k.visit(l); err != nil {
					t.Fatal(err)
				}
				if n := len(k.rounds) - before; n == 0 || n > perPass || !k.decided() && n > 1 {
					t.Errorf("%s of %d rounds: %d in pass %d", k.Name, rounds, n, pass)
				}
			}
			if len(k.rounds) != k.want {
				t.Errorf("%s of %d rounds: %d of %d in all passes", k.Name, rounds, len(k.rounds), k.want)
			}
		}
	}
}

// TestYardstick: one that is not there is no error, and the real one answers as often as it is asked, unless it says that it cannot know.
func TestYardstick(t *testing.T) {
	dir := t.TempDir()
	l := &lineup{}
	if p, err := beginYard(t.Context(), dir); err == nil {
		l.yard = p
	}
	if got := l.yardstick(); got != 0 || l.yard != nil {
		t.Errorf("a program that is not there takes %v", got)
	}
	build := exec.Command("go", "build", "-o", dir+string(filepath.Separator), ceilingsProgram)
	build.Dir = filepath.Join("..", "..")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	p, err := beginYard(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	l.yard = p
	defer l.stop()
	for range 3 {
		if got := l.yardstick(); got < 0 || got == 0 && l.yard != nil || got > 0 && l.yard == nil {
			t.Errorf("it takes %v, and is there: %v", got, l.yard != nil)
		}
	}
}
