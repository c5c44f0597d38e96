package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestTrainRefusesBeforeTheFirstStep: wrong calls are exit code 2, what the machine refuses is 1, and no phase is begun for either.
func TestTrainRefusesBeforeTheFirstStep(t *testing.T) {
	dir := t.TempDir()
	small := func(more ...string) []string {
		return append([]string{"train", "gpt", "--width", "32", "--batch", "2", "--steps", "1", "--precision", "float32"}, more...)
	}
	for _, c := range []struct {
		code int
		want string
		args []string
	}{
		{2, "name one model", []string{"train"}},
		{2, "train resnet18 or gpt", []string{"train", "bogus"}},
		{2, `no precision "int8"`, []string{"train", "gpt", "--precision", "int8"}},
		{2, "train gpt in fp8", []string{"train", "resnet18", "--precision", "float32,fp8"}},
		{2, "belongs to one precision", []string{"train", "gpt", "--save", filepath.Join(dir, "x")}},
		{2, "at least 1 step", []string{"train", "gpt", "--steps", "-3"}},
		{2, "--steps 0", []string{"train", "gpt", "--steps", "0"}},
		{2, "--batch 0", []string{"train", "gpt", "--batch", "0"}},
		{2, "--width 0", []string{"train", "gpt", "--width", "0"}},
		{2, "--lr 0", []string{"train", "gpt", "--lr", "0"}},
		{2, "not defined", []string{"train", "gpt", "--stepps", "3"}},
		{1, "the checkpoint cannot be written", small("--save", filepath.Join(dir, "none", "x"))},
		{1, "is a folder", small("--save", dir)},
	} {
		r := dispatched(t, c.args...)
		if r.code != c.code || !strings.Contains(r.stderr, c.want) || strings.Contains(r.stdout, "step 1 of 1") || c.code == 2 && r.stdout != "" {
			t.Errorf("halftone %q: exit code %d, want %d and %q\n%s%s", c.args, r.code, c.code, c.want, r.stdout, r.stderr)
		}
	}
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("%v are left behind", left)
	}
}

// TestTrainIn8Bits: the precisions stand side by side by their names.
func TestTrainIn8Bits(t *testing.T) {
	r := dispatched(t, "train", "gpt", "--width", "32", "--batch", "2", "--steps", "1", "--precision", "bf16, fp8-block")
	if r.code != 0 || !strings.Contains(r.stdout, "bfloat16   fp8-block\n") {
		t.Errorf("exit code %d\n%s%s", r.code, r.stdout, r.stderr)
	}
}

// TestTrainOnAGPU: the command has the devices that its help offers; where there is no driver it says so and what to do.
func TestTrainOnAGPU(t *testing.T) {
	t.Setenv("HALFTONE_CUDA_PATH", t.TempDir())
	r := dispatched(t, "train", "gpt", "--device", "cuda:0", "--width", "32", "--batch", "2", "--steps", "1", "--precision", "float32")
	if r.code != 0 && (!strings.Contains(r.stderr, "--device cuda:0: no CUDA device") || !strings.Contains(r.stderr, "--device cpu")) {
		t.Errorf("exit code %d\n%s%s", r.code, r.stdout, r.stderr)
	}
}

// TestInterruptedTrainingSaysHowToGoOn: an interrupted run names its checkpoint and the command that finishes it, which does.
func TestInterruptedTrainingSaysHowToGoOn(t *testing.T) {
	file := filepath.Join(t.TempDir(), "it's mine.safetensors")
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	args := []string{"gpt", "--width", "32", "--batch", "2", "--steps", "2", "--precision", "float32", "--json"}
	r := dispatchedWith(ctx, t, append([]string{"train"}, append(args, "--save", file)...)...)
	quoted := "'" + strings.ReplaceAll(file, "'", `'\''`) + "'"
	for _, want := range []string{"step 0 of 2 is saved in " + file, "--width 32", "--precision float32", "--json", "--resume " + quoted + " --save " + quoted} {
		if r.code != 130 || !strings.Contains(r.stderr, want) {
			t.Errorf("exit code %d, %q is missing in\n%s", r.code, want, r.stderr)
		}
	}
	if r := dispatched(t, append([]string{"train"}, append(args, "--resume", file)...)...); r.code != 0 {
		t.Errorf("going on: exit code %d\n%s", r.code, r.stderr)
	}
	args[8] = "float16"
	if r := dispatched(t, append([]string{"train"}, append(args, "--resume", file)...)...); r.code != 1 || !strings.Contains(r.stderr, "was made with --precision float32") {
		t.Errorf("in another precision: exit code %d\n%s", r.code, r.stderr)
	}
}
