package session_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/amp/nn"
	"github.com/halftone-ml/halftone/kernelext/session"
)

func init() {
	cells["misuse"] = func([]string) {
		build := mlp(nn.ReLU, 3, 4)
		say(func() { session.Model("net", build) })
		root := session.NewScope()
		for s := range root.Steps(1) {
			say(func() { session.Join(s) })
		}
		say(func() { session.Model("", build) })
		say(func() { session.Value("lr", 0.1, nil) })
		say(func() {
			session.Tensor("x", func(s *amp.Scope) *amp.Tensor { return amp.Zeros(s, amp.Float32, 2) }, session.Rebuild(), nil)
		})
		say(func() {
			session.Model("same", func(s *amp.Scope) *nn.Linear {
				l := nn.NewLinear(s, 2, 2)
				l.Bias.SetName("weight")
				return l
			})
		})
		n := 0
		say(func() {
			session.Model("other", func(s *amp.Scope) *nn.Sequential { n++; return mlp(nn.ReLU, n, 4)(s) })
		})
		say(func() {
			session.Tensor("op", func(s *amp.Scope) *amp.Tensor {
				return amp.Add(s, amp.Scalar(float32(1)).RequireGrad(), amp.Scalar(float32(1)))
			})
		})
		net := session.Model("net", build)
		say(func() { session.Value("net", 1) })
		fmt.Println(session.Model("net", build) == net)
	}
}

// TestMisuse: each mistake is named with what to do, and leaves the session as it was.
func TestMisuse(t *testing.T) {
	n := newNotebook(t)
	got := strings.Split(n.run("misuse"), "\n")
	for i, want := range []string{
		"there is no scope to build in; fix: call root := session.NewScope()",
		"it is the scope of training step 0",
		"the name is empty",
		"session.Value: bad argument: the option is nil; fix: leave it out",
		"session.Tensor: bad argument: option 2 of 2 is nil; fix: leave it out",
		`name "weight" is empty or used twice`,
		"build made two different models: 0.weight is float32 [4 1] in the session, float32 [4 2] here",
		"is the result of an op that wants a gradient",
		`"net" is *nn.Sequential in this cell`,
		"true",
	} {
		if !strings.Contains(got[i], want) {
			t.Errorf("%q, want %q", got[i], want)
		}
	}
}
