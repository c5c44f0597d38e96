package session_test

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/amp/nn"
	"github.com/halftone-ml/halftone/internal/stretch"
	"github.com/halftone-ml/halftone/kernelext/session"
)

func init() {
	// huge builds a model of three quarters of the machine's memory.
	cells["huge"] = func([]string) {
		var info syscall.Sysinfo_t
		if err := syscall.Sysinfo(&info); err != nil {
			panic(err)
		}
		root := session.NewScope()
		defer root.Close()
		rows := int(uint64(info.Totalram) / 8 / 4 / 4096)
		say(func() {
			session.Model("huge", func(s *amp.Scope) *nn.Sequential {
				var layers []nn.Module
				for range 6 {
					layers = append(layers, nn.NewLinear(s, 4096, rows))
				}
				return nn.NewSequential(layers...)
			})
		})
		say(func() { session.Model("net", mlp(nn.ReLU, 200, 200)) })
		fmt.Println(len(session.List()))
	}
}

// TestHugeModel: what does not fit is refused before any of it is made, and nothing is left of it.
func TestHugeModel(t *testing.T) {
	n := newNotebook(t)
	start := time.Now()
	out := n.run("huge")
	lines := strings.Split(out, "\n")
	if !strings.Contains(lines[0], "no space in the session") || lines[1] != "ok" || lines[2] != "2" {
		t.Errorf("%s", out)
	}
	if d := time.Since(start); stretch.Over(d, 5*time.Second) {
		t.Errorf("it takes %v to refuse", d)
	}
	t.Log(lines[0])
}
