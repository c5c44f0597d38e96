package bench

import (
	"slices"
	"strings"
	"testing"
)

// made is a round of made-up times, each of a contender's wall and processor time per call; the median is the wall time.
func made(times map[string][2]float64) round {
	r := round{}
	for name, t := range times {
		r[name] = timing{Median: t[0], Wall: t[0], CPU: t[1]}
	}
	return r
}

// TestDisturbedRounds: which rounds are measured again, and what then counts.
func TestDisturbedRounds(t *testing.T) {
	calm := made(map[string][2]float64{"": {100, 200}, "torch": {110, 220}})
	slow := made(map[string][2]float64{"": {150, 300}, "torch": {110, 220}}) // slower, but it computed all the time
	oursStood := made(map[string][2]float64{"": {190, 200}, "torch": {110, 220}})
	peerStood := made(map[string][2]float64{"": {100, 200}, "torch": {240, 220}})
	bothStood := made(map[string][2]float64{"": {190, 200}, "torch": {240, 220}})
	serial := made(map[string][2]float64{"": {100, 200}, "torch": {110, 110}}) // it has one thread
	worse := made(map[string][2]float64{"": {130, 260}, "torch": {100, 200}})
	unknown := made(map[string][2]float64{"": {100, 0}, "torch": {900, 0}})
	for _, c := range []struct {
		name   string
		rounds []round
		again  []round // what further rounds give, the last one over and over
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
		{"it goes on", []round{calm, oursStood, calm}, []round{peerStood, bothStood, oursStood}, []int{1, 1, 1}, 1, []float64{100, 190, 100}},
		{"the worst first", []round{made(map[string][2]float64{"": {130, 200}}), oursStood, calm}, []round{calm}, []int{1, 0}, 0, []float64{100, 100, 100}},
		{"someone in every round", []round{peerStood, oursStood, peerStood}, []round{calm}, []int{0, 2, 1}, 0, []float64{100, 100, 100}},
		{"no processor time", []round{unknown, calm}, nil, nil, 0, []float64{100, 100}},
	} {
		var asked []int
		again := slices.Clone(c.again)
		repeated, left, err := newCalm(2).settle(c.rounds, func(i int) (round, error) {
			asked = append(asked, i)
			if len(again) == 0 {
				t.Fatalf("%s: round %d again", c.name, i)
			}
			r := again[0]
			if len(again) > 1 {
				again = again[1:]
			}
			return r, nil
		})
		var ours []float64
		for _, r := range c.rounds {
			ours = append(ours, r[""].Median)
		}
		if err != nil || repeated != len(c.asked) || !slices.Equal(asked, c.asked) || left != c.left || !slices.Equal(ours, c.ours) {
			t.Errorf("%s: %d rounds again, %v; %d left, ours %v, %v", c.name, repeated, asked, left, ours, err)
		}
	}
}

// TestDisturbedKeepsOthers: a peer that is asked in the first round only keeps its time when that round is measured again, and the page says how
// many rounds there were.
func TestDisturbedKeepsOthers(t *testing.T) {
	first := made(map[string][2]float64{"": {190, 200}, "torch": {110, 220}, "gonum": {9000, 18000}})
	calm := made(map[string][2]float64{"": {100, 200}, "torch": {110, 220}})
	rounds := []round{first, calm}
	row := CPURow{CPUCase: CPUCase{Name: "gemm/f32/64"}, Rounds: 2, Threads: 2}
	var err error
	row.Again, row.Disturbed, err = newCalm(2).settle(rounds, func(int) (round, error) { return calm, nil })
	row.take(rounds)
	if err != nil || row.Peers["gonum"] != 9000 || row.Ours != 100 || row.Ratio != 1.1 || row.CPU != 1.1 {
		t.Errorf("%+v, %v", row, err)
	}
	if got, want := disturbances([]CPURow{row, row}), "of 4 rounds that was done 2 times, and 0 were disturbed"; !strings.Contains(got, want) {
		t.Errorf("%q lacks %q", got, want)
	}
}
