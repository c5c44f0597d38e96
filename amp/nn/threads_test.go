package nn_test

import (
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/amp/nn"
)

// TestThreadsDoNotChangeModels compares every bit of loss and gradients of a GPT, a ViT and an LSTM with dropout between processes
// with one worker and with several.
func TestThreadsDoNotChangeModels(t *testing.T) {
	if os.Getenv("HALFTONE_TEST_MODELS") != "" {
		fmt.Println("digest", modelDigest())
		return
	}
	sameDigests(t, "HALFTONE_THREADS=1", "HALFTONE_THREADS=5")
}

// sameDigests runs modelDigest in processes that differ in one variable of the environment.
func sameDigests(t *testing.T, settings ...string) {
	t.Helper()
	var first string
	for _, setting := range settings {
		cmd := exec.Command(os.Args[0], "-test.run=^TestThreadsDoNotChangeModels$")
		cmd.Env = append(os.Environ(), "HALFTONE_TEST_MODELS=1", setting)
		out, err := cmd.Output()
		line, _, _ := strings.Cut(string(out), "\n")
		if err != nil || !strings.HasPrefix(line, "digest ") {
			t.Fatalf("%v\n%s", err, out)
		}
		if first == "" {
			first = line
		}
		if line != first {
			t.Errorf("%s: %s, %s: %s", setting, line, settings[0], first)
		}
	}
}

func modelDigest() string {
	root := amp.NewScope(amp.Seed(9))
	defer root.Close()
	h := sha256.New()
	g := nn.NewGPT(root, nn.GPTConfig{Context: 80, Features: 64, Layers: 1, Heads: 4, Dropout: 0.1, Tied: true})
	v := nn.NewViT(root, nn.ViTConfig{Image: 32, Patch: 4, Features: 64, Layers: 1, Heads: 4, Classes: 10, Dropout: 0.1})
	l := nn.NewLSTM(root, 32, 64, nn.RecurrentOptions{Layers: 2, Dropout: 0.1})
	tokens, next := windows("every worker adds up in the same order; ", 16, 80)
	images, labels := amp.Randn(root, amp.Float32, 0, 1, 16, 3, 32, 32), amp.From(make([]int64, 16))
	sequence := amp.Randn(root, amp.Float32, 0, 1, 6, 40, 32)
	for _, dt := range []amp.DType{amp.Float32, amp.Float16, amp.BFloat16} {
		s := root.Autocast(dt)
		losses := []*amp.Tensor{g.Loss(s, tokens, next), nn.CrossEntropyLoss(s, v.Forward(s, images), labels), amp.Mean(s, l.Forward(s, sequence))}
		for i, m := range []nn.Module{g, v, l} {
			losses[i].Backward()
			fmt.Fprintln(h, losses[i].Item())
			for _, p := range m.Parameters() {
				fmt.Fprintln(h, p.Grad().Float64s())
				p.ZeroGrad()
			}
		}
	}
	return fmt.Sprintf("%x", h.Sum(nil))
}
