package bench

import (
	"os/exec"
	"testing"
)

// TestPeerThatEnds: a peer that ends in a case has no part in it, and is there again for the next one.
func TestPeerThatEnds(t *testing.T) {
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip(err)
	}
	const answers = `while read name; do echo '{"median": 2}'; done`
	start := func(script string) *contender {
		p, err := begin(t.Context(), 1, "", "sh", "-c", script)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	l := &lineup{ours: map[string]*contender{"": start(answers)}, peers: map[string]*contender{"torch": start("read name")}}
	l.begin = func(p Peer) *contender {
		if p.Name != "torch" {
			t.Errorf("%s is begun, which did not end", p.Name)
		}
		return start(answers)
	}
	defer l.stop()
	for i, want := range []int{1, 2} {
		trial := &trial{CPUCase: CPUCase{Name: "gemm/f32/8"}, threads: 1, want: 1, out: map[string]bool{}}
		if err := trial.visit(l); err != nil {
			t.Fatal(err)
		}
		if got := len(trial.rounds[0].times); got != want {
			t.Errorf("case %d: %d contenders answer, want %d", i, got, want)
		}
	}
}
