package turns

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestLost: what one side lacks, or loses, costs that name alone, and each figure has all its rounds or its own error.
func TestLost(t *testing.T) {
	for _, c := range []struct {
		what  string
		peer  string
		ours  []string
		pairs string // their names
		log   []string
	}{
		{"ours has no room for one", "pp w x y", []string{"a w? x y"}, "x y",
			[]string{"a w has no room", "pp w", "pp w"}},
		{"the peer has no room for one", "pp w? x y", []string{"a w x y"}, "x y",
			[]string{"pp w has no room", "a w", "a w"}},
		{"ours fails in a round", "pp w x y", []string{"a w x% y"}, "w y",
			[]string{"a x", "a x fails", "pp x", "pp x"}},
		{"the peer fails in a round", "pp w x% y", []string{"a w x y"}, "w y",
			[]string{"pp x", "pp x fails", "a x", "a x"}},
		{"one fails where it is alone", "pp y", []string{"a x% y"}, "y",
			[]string{"a x", "a x fails"}},
		{"one fails and does not say so", "pp w x y", []string{"a w^ x y"}, "x y", []string{"pp w", "pp w"}},
		{"one fails alone and does not say so", "pp x y", []string{"a w^ x y"}, "x y", nil},
		{"the peer fails and does not say so", "pp w^ x y", []string{"a w x y"}, "x y", []string{"a w", "a w"}},
		{"ours ends before its name", "pp a b c d", []string{"a a0 b", "b c d"}, "c d", []string{"pp a", "pp a", "pp b", "pp b"}},
		{"ours ends in its turn", "pp a b c d", []string{"a a b!", "b c d"}, "a c d", []string{"a b", "pp b", "pp b"}},
		{"the peer ends in its turn", "pp x! y", []string{"a x", "b y"}, "", []string{"pp x", "a x", "a x", "b y", "b y"}},
		{"ours was cut off before, and the peer begins anew", "pp w x y z", []string{"b y z"}, "y z", []string{"pp w", "pp w", "pp x", "pp x"}},
		{"names in another order", "pp y x", []string{"a x y"}, "x", []string{"pp y", "pp y", "a y", "a y"}},
	} {
		checkMatch(t, c.what, time.Minute, c.peer, c.ours, c.pairs, c.log)
	}
}

// TestFailureWaits: what a program does with its failure it does when the other has measured.
func TestFailureWaits(t *testing.T) {
	defer func() { rounds = 2 }()
	rounds = 4
	_, log := match(t, time.Minute, "pp x y", "a x% y")
	fails, last := slices.Index(log, "a x fails"), len(log)-1-slices.Index(reversed(log), "pp x")
	if fails < last {
		t.Errorf("%q", log)
	}
}

func reversed(lines []string) []string {
	lines = slices.Clone(lines)
	slices.Reverse(lines)
	return lines
}

// TestHangs: one that does not answer is sent off, and keeps nobody from the rest.
func TestHangs(t *testing.T) {
	const most = 500 * time.Millisecond
	checkMatch(t, "ours hangs", most, "pp x y z", []string{"a x# y", "b z"}, "z", []string{"a x", "pp x", "pp x", "pp y", "pp y"})
	checkMatch(t, "the peer hangs", most, "pp x# y", []string{"a x y", "b z"}, "", []string{"pp x", "a x", "a x", "a y", "a y", "b z", "b z"})
}

// checkMatch compares the names that were measured in turn, and asks for lines of the log that are there as often as given.
func checkMatch(t *testing.T, what string, most time.Duration, peer string, ours []string, names string, lines []string) {
	t.Helper()
	began := time.Now()
	pairs, log := match(t, most, peer, ours...)
	var got []string
	for _, p := range pairs {
		name, _, _ := strings.Cut(p, " ")
		got = append(got, name)
	}
	if strings.Join(got, " ") != names {
		t.Errorf("%s: in turn were %q, not %q", what, pairs, names)
	}
	count := func(of []string, line string) (n int) {
		for _, l := range of {
			if l == line {
				n++
			}
		}
		return n
	}
	for _, l := range slices.Compact(slices.Sorted(slices.Values(lines))) {
		if count(log, l) != count(lines, l) {
			t.Errorf("%s: %q is there %d times, not %d:\n%q", what, l, count(log, l), count(lines, l), log)
		}
	}
	if took := time.Since(began); took > mostDying {
		t.Errorf("%s: it took %v", what, took)
	}
}

// TestSaysNonsense: what says neither a name nor a time has no more turns, and says why.
func TestSaysNonsense(t *testing.T) {
	for said, why := range map[string]string{"hello\n": `said "hello", which is no name`, "at x\ntook long\n": `said "took long", which is no time`} {
		p, err := NewPlayer()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.theirs[1].WriteString(said); err != nil {
			t.Fatal(err)
		}
		if p.theirs[1].Close(); p.Why() != nil {
			t.Error(p.Why())
		}
		(&Match{Ours: []*Player{p}, Rounds: 2, First: time.Minute, Most: time.Minute}).Referee()
		if err := p.Why(); err == nil || !reflect.DeepEqual(err.Error(), why) {
			t.Errorf("%v, want %s", err, why)
		}
		p.theirs[0].Close()
		p.Close()
	}
}
