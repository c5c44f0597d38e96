package train

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/halftone-ml/halftone/amp"
)

// small is a config that trains in a second.
func small(model string, dt amp.DType, steps int) Config {
	c := Config{Model: model, Precision: dt, Steps: steps, Seed: 3, held: 20}
	if model == "resnet18" {
		c.drawn = 16 // one batch again and again, which is learned at once
		c.Batch, c.Width = 16, 8
	} else {
		c.Batch, c.Width = 4, 32
	}
	return c
}

func losses(t *testing.T, c Config) (out []float64, r Result) {
	t.Helper()
	r, err := Run(context.Background(), c, func(p Progress) { out = append(out, p.Loss) })
	if err != nil {
		t.Fatal(err)
	}
	return out, r
}

// TestRunsOfShortNumbersDiffer: each precision has a name of its own and losses of its own, and all of them learn.
func TestRunsOfShortNumbersDiffer(t *testing.T) {
	seen := map[float64]string{}
	for want, short := range map[string][2]string{
		"bfloat16": {}, "fp8": {"tensor"}, "fp8-row": {"row"}, "fp8-block": {"block"}, "nvfp4": {"", "nv"}, "mxfp4": {"", "mx"},
	} {
		c := small("gpt", amp.BFloat16, 20)
		c.FP8, c.FP4 = short[0], short[1]
		l, r := losses(t, c)
		if r.Config.Name() != want || !(l[19] < l[0]) || seen[l[19]] != "" {
			t.Errorf("%s, %s: losses %v, as %s", want, r.Config.Name(), l, seen[l[19]])
		}
		seen[l[19]] = want
	}
}

// TestPeakIsTheRunsOwn: a run takes no more memory for having had another before it.
func TestPeakIsTheRunsOwn(t *testing.T) {
	c := small("gpt", amp.Float32, 3)
	_, first := losses(t, c)
	_, second := losses(t, c)
	if first.Peak != second.Peak {
		t.Errorf("peaks of %d and %d bytes", first.Peak, second.Peak)
	}
}

// TestRunLearns: a few steps of each model in each precision bring the loss down, and the report is whole.
func TestRunLearns(t *testing.T) {
	for _, model := range []string{"resnet18", "gpt"} {
		for _, dt := range []amp.DType{amp.Float32, amp.Float16, amp.BFloat16} {
			t.Run(model+" "+dt.String(), func(t *testing.T) {
				c := small(model, dt, 20)
				l, r := losses(t, c)
				if len(l) != c.Steps || !(l[c.Steps-1] < l[0]) {
					t.Errorf("losses %v", l)
				}
				if r.Steps != c.Steps || r.Parameters == 0 || r.Peak == 0 || r.StepTime == 0 || r.Metric == "" || (r.Scale == 1) != (dt != amp.Float16) {
					t.Errorf("%+v", r)
				}
			})
		}
	}
}

// TestResume: a run that is saved, ended and resumed is the same run, bit for bit.
func TestResume(t *testing.T) {
	for _, model := range []string{"resnet18", "gpt"} {
		c := small(model, amp.Float16, 8)
		_, whole := losses(t, c)
		file := filepath.Join(t.TempDir(), "run.safetensors")
		ctx, cancel := context.WithCancel(context.Background())
		first := c
		first.Save = file
		_, err := Run(ctx, first, func(p Progress) {
			if p.Step == 3 { // as an interrupt does: the step is finished, the checkpoint written
				cancel()
			}
		})
		if !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		rest := c
		rest.Resume = file
		l, again := losses(t, rest)
		if len(l) != 5 || again.Steps != 8 || again.Loss != whole.Loss || again.Value != whole.Value {
			t.Errorf("%s: resumed after %d steps, loss %v, without a break %v", model, 8-len(l), again.Loss, whole.Loss)
		}
	}
}

// TestThreadsDoNotMatter: a seed gives the same run, bit for bit, whatever the number of workers.
func TestThreadsDoNotMatter(t *testing.T) {
	if os.Getenv("HALFTONE_TEST_RUN") != "" {
		for _, model := range []string{"resnet18", "gpt"} {
			l, r := losses(t, small(model, amp.Float16, 3))
			fmt.Printf("run %s %x %x %q\n", model, l, r.Loss, r.Sample)
		}
		return
	}
	first := ""
	for _, threads := range []string{"1", "2", "5"} {
		cmd := exec.Command(os.Args[0], "-test.run=^TestThreadsDoNotMatter$")
		cmd.Env = append(os.Environ(), "HALFTONE_TEST_RUN=1", "HALFTONE_THREADS="+threads)
		out, err := cmd.CombinedOutput()
		runs, _, ended := strings.Cut(string(out), "PASS")
		if err != nil || !ended || strings.Count(runs, "run ") < 2 {
			t.Fatalf("%v\n%s", err, out)
		}
		if first == "" {
			first = runs
		}
		if runs != first {
			t.Errorf("with %s workers:\n%s, with one:\n%s", threads, runs, first)
		}
	}
}

func TestRefusals(t *testing.T) {
	empty := filepath.Join(t.TempDir(), "empty.txt")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for want, c := range map[string]Config{
		"resnet18 or gpt":  {Model: "bert"},
		"granularity":      {Model: "gpt", Precision: amp.BFloat16, FP8: "column"},
		"at least 1 step":  {Model: "gpt", Steps: -1},
		"float32, float16": {Model: "gpt", Precision: amp.Float64},
		"for layers under": {Model: "gpt", FP8: "row"},
		"for 4 bits":       {Model: "gpt", Precision: amp.BFloat16, FP8: "block16"},
		"both FP8 and FP4": {Model: "gpt", Precision: amp.BFloat16, FP8: "row", FP4: "nv"},
		"4 bits \"int\"":   {Model: "gpt", Precision: amp.BFloat16, FP4: "int"},
		"4 bits are for":   {Model: "gpt", FP4: "nv"},
		"gpt in nvfp4":     {Model: "resnet18", Precision: amp.BFloat16, FP4: "nv"},
		"train gpt in fp8": {Model: "resnet18", Precision: amp.BFloat16, FP8: "row"},
		"no such file":     {Model: "resnet18", Data: "/no/such/folder"},
		"no such file ":    {Model: "gpt", Data: "/no/such/text"},
		"amp":              {Model: "gpt", Data: empty},
		"resuming":         {Model: "gpt", Steps: 1, Width: 32, Resume: "/no/such/checkpoint"},
		"no device kind":   {Model: "gpt", Device: "abacus"},
	} {
		_, err := Run(context.Background(), c, nil)
		if err == nil || !strings.Contains(err.Error(), strings.TrimSpace(want)) {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

// TestConfigDefaults: what is left out is the experiment's.
func TestConfigDefaults(t *testing.T) {
	for name, d := range defaults {
		c, err := Config{Model: name}.Complete()
		if err != nil || c.Steps != d.Steps || c.Precision != amp.Float32 || c.Device != "cpu" {
			t.Errorf("%+v, %v", c, err)
		}
		kept, _ := Config{Model: name, Steps: 7, Precision: amp.BFloat16}.Complete()
		if kept.Steps != 7 || kept.Precision != amp.BFloat16 {
			t.Errorf("%+v", kept)
		}
	}
}
