package kernel

import (
	"strings"
	"testing"
)

// TestMagicLines runs each %amp command through a real cell.
func TestMagicLines(t *testing.T) {
	s := startKernel(t, home(t))
	r := s.run("%amp help").ok(t)
	if len(r.displays) != 1 || !strings.Contains(r.displays[0]["text/plain"].(string), "%amp policy") {
		t.Fatalf("%v", r.displays)
	}
	r = s.run("%amp trace decisions\n%amp trase\nfmt.Println(1)")
	t.Log(r.reply, r.errors, r.displays, r.stderr)
	r = s.run("%%amp float16\nlin := nn.NewLinear(s, 4, 2)\ny := lin.Forward(half, amp.Ones(s, 3, 4))\nfmt.Println(y.DType())")
	t.Log(r.reply, r.errors, r.stdout, r.stderr)
	for _, d := range r.displays {
		t.Log(d["text/plain"])
	}
}
