package session_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/halftone-ml/halftone/kernelext/session"
)

// A node leads to others, and perhaps to itself.
type node struct {
	N    int
	Next *node
	Any  any
}

type tree []tree

// shapes are cells that keep a value under one name, whose type has one name and fields that were edited from cell to cell.
var shapes = map[string]func(){
	"loss": func() {
		type best struct{ Epoch int }
		type stats struct {
			Loss  []float64
			Best  best
			Since time.Time
			Scale func() float64
			mu    sync.Mutex
		}
		v := session.Value("v", stats{Scale: func() float64 { return 7 }})
		v.mu.Lock()
		defer v.mu.Unlock()
		v.Loss = append(v.Loss, 1)
		fmt.Println("loss", len(v.Loss), v.Scale())
	},
	"other names of types": func() {
		type most struct{ Epoch int }
		type stats struct {
			Since time.Time
			Best  most
			Loss  []float64
		}
		fmt.Println("loss", len(session.Value("v", stats{}).Loss))
	},
	"renamed": func() {
		type best struct{ Epoch int }
		type stats struct {
			Losses []float64
			Best   best
			Since  time.Time
		}
		session.Value("v", stats{})
	},
	"deep": func() {
		type best struct{ Step int }
		type stats struct {
			Loss  []float64
			Best  best
			Since time.Time
		}
		session.Value("v", stats{})
	},
	"kind": func() {
		type best struct{ Epoch int }
		type stats struct {
			Loss  []float32
			Best  best
			Since time.Time
		}
		session.Value("v", stats{})
	},
	"private": func() {
		type stats struct {
			N     int
			count int
		}
		session.Value("other", []stats{{1, 2}})
	},
	"code of elements": func() {
		type stats struct{ F func() }
		session.Value("other", []stats{{}})
	},
	"circle": func() {
		n := &node{N: 1}
		n.Next = &node{N: 2, Next: n}
		session.Value("other", n)
	},
	"slice of itself": func() {
		t := tree{nil}
		t[0] = t
		session.Value("other", t)
	},
	"long": func() {
		var n *node
		for i := range 200_000 {
			n = &node{N: i, Next: n}
		}
		session.Value("other", n)
	},
	"not circular": func() {
		shared := &node{N: 3}
		fmt.Println(session.Value("list", []*node{{Next: shared}, {Next: shared}}))
	},
	"circle later": func() {
		v := session.Value("later", &node{N: 1})
		(*v).Next = *v
		fmt.Println(session.Commit())
		(*v).Next, (*v).N = nil, 5
		fmt.Println(session.Commit())
	},
}

func init() {
	cells["shape"] = func(args []string) {
		root := session.NewScope()
		defer root.Close()
		say(shapes[args[0]])
	}
}

// TestValueOfEditedType: gob matches fields by name, and would leave those empty that it does not find.
func TestValueOfEditedType(t *testing.T) {
	n := newNotebook(t)
	for _, c := range []struct{ cell, want string }{
		{"loss", "loss 1 7\nok"},
		{"loss", "loss 2 7\nok"},
		{"other names of types", "loss 2\nok"},
		{"renamed", "field Loss ([]float64) is kept, and not here; field Losses ([]float64) is new; fix: keep both by using another name, or build \"v\" anew"},
		{"deep", "field Best.Epoch (int) is kept, and not here; field Best.Step (int) is new"},
		{"kind", "field Loss is []float64 in the session, []float32 here"},
		{"private", "its field [].count is not exported, so the next cell would not find it; fix: export the field"},
		{"code of elements", "its field [].F is a function"},
		{"circle", "can't be kept: it leads back to itself at Next.Next; fix: keep it as a slice whose elements name each other by index"},
		{"slice of itself", "it leads back to itself at [0]"},
		{"long", "it is nested more than 100000 deep"},
		{"not circular", "ok"},
		{"circle later", "it leads back to itself at Next"},
		{"loss", "loss 3 7\nok"},
	} {
		if out := n.run("shape", c.cell); !strings.Contains(out, c.want) {
			t.Errorf("%s: %s\nwant %s", c.cell, out, c.want)
		}
	}
}
