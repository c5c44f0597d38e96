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

func init() {
	cells["forms"] = func([]string) {
		root := session.NewScope()
		defer root.Close()
		six := func(s *amp.Scope) *amp.Tensor {
			return amp.FromFloat64s(amp.Float32, []float64{1, 2, 3, 4, 5, 6}, 2, 3)
		}
		for name, build := range map[string]func(s *amp.Scope) *amp.Tensor{
			"transpose": func(s *amp.Scope) *amp.Tensor { return amp.Transpose(s, six(s), 0, 1) },
			"slice":     func(s *amp.Scope) *amp.Tensor { return amp.Slice(s, six(s), 0, 1, 2, 1) },
			"detached": func(s *amp.Scope) *amp.Tensor {
				return amp.Detach(s, amp.Add(s, amp.Scalar(float32(1)).RequireGrad(), amp.Scalar(float32(1))))
			},
		} {
			say(func() { fmt.Println(name, session.Tensor(name, build).Float64s()) })
		}
		var x *amp.Tensor
		session.Tensor("one", func(s *amp.Scope) *amp.Tensor { x = six(s); return x })
		say(func() { session.Tensor("two", func(*amp.Scope) *amp.Tensor { return x }) })
		say(func() { session.Tensor("none", func(*amp.Scope) *amp.Tensor { return nil }) })
		net := session.Model("net", mlp(nn.ReLU, 3, 4))
		say(func() { session.Model("twin", func(*amp.Scope) *nn.Sequential { return net }) })
		say(func() {
			session.Model("views", func(s *amp.Scope) *nn.Linear {
				l := nn.NewLinear(s, 2, 2)
				l.Weight = amp.Transpose(s, amp.Zeros(s, amp.Float32, 2, 2), 0, 1).SetName("w").RequireGrad()
				return l
			})
		})
		session.Drop("one")
		say(func() { session.Tensor("three", func(*amp.Scope) *amp.Tensor { return x }) })
		fmt.Print("kept")
		for _, e := range session.List() {
			if !strings.HasPrefix(e.Name, "random") {
				fmt.Print(" ", e.Name)
			}
		}
	}
}

// TestTensorsOfEveryForm: a view is kept as a copy, and what is refused leaves nothing under its name.
func TestTensorsOfEveryForm(t *testing.T) {
	n := newNotebook(t)
	for i := range 2 {
		got := n.run("forms")
		for _, want := range []string{
			"transpose [1 4 2 5 3 6]\nok\n", "slice [4 5 6]\nok\n", "detached [2]\nok\n",
			`"two" would keep a tensor that the session keeps in "one" already; fix: use "one" for both`,
			`build of "none" has returned nil`, `"twin" would keep a tensor that the session keeps in "net" already`,
			`tensor "w" of "views" is a view`,
		} {
			if !strings.Contains(got, want) && i == 0 {
				t.Errorf("%s\nwant %q", got, want)
			}
		}
		if kept := got[strings.Index(got, "kept"):]; strings.Contains(kept, "two") || strings.Contains(kept, "none") || strings.Contains(kept, "twin") || strings.Contains(kept, "views") {
			t.Error(kept)
		}
	}
}
