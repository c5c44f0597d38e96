package main

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/halftone-ml/halftone/kernelext/internal/testenv"
	"github.com/halftone-ml/halftone/kernelext/train"
)

// TestTrain: the table on standard output, progress where there is no terminal, results as JSON, a run that is saved and resumed.
func TestTrain(t *testing.T) {
	l, _ := testenv.Installed(t)
	small := []string{"train", "gpt", "--width", "32", "--batch", "2", "--steps", "4"}
	r := halftone(t, l, small...)
	for _, want := range []string{"step 4 of 4: ", "float32", "float16", "nats per byte", "peak memory", "float16 writes:"} {
		if r.code != 0 || !strings.Contains(r.stdout, want) {
			t.Errorf("%q is missing, exit code %d:\n%s%s", want, r.code, r.stdout, r.stderr)
		}
	}
	file := filepath.Join(t.TempDir(), "run.safetensors")
	r = halftone(t, l, append(small, "--json", "--precision", "fp16", "--save", file)...)
	var results map[string]train.Result
	if err := json.Unmarshal([]byte(r.stdout), &results); err != nil || results["float16"].Steps != 4 {
		t.Errorf("%v\n%s%s", err, r.stdout, r.stderr)
	}
	before := results["float16"].Loss
	r = halftone(t, l, append(small, "--json", "--precision", "fp16", "--resume", file)...) // nothing is left to train
	if err := json.Unmarshal([]byte(r.stdout), &results); err != nil || results["float16"].Steps != 4 || results["float16"].Loss != before {
		t.Errorf("%v\n%s%s", err, r.stdout, r.stderr)
	}
	for want, args := range map[string][]string{
		"begun for 4 steps": {"train", "gpt", "--width", "32", "--batch", "2", "--steps", "6", "--precision", "fp16", "--resume", file},
		"cifar-10-binary":   {"train", "resnet18", "--data", t.TempDir()},
	} {
		if r := halftone(t, l, args...); r.code == 0 || !strings.Contains(r.stderr, want) {
			t.Errorf("%v: exit code %d, %q is missing in %q", args, r.code, want, r.stderr)
		}
	}
}
