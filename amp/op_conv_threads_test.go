package amp

import (
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// TestConvThreads runs convolutions, batch norm and pools forward and backward in processes with 1, 2 and 7 workers and compares every
// bit, for sizes that are cut into many boxes.
func TestConvThreads(t *testing.T) {
	if os.Getenv("HALFTONE_TEST_CONV") != "" {
		fmt.Println("digest", convDigest())
		return
	}
	var first string
	for _, threads := range []string{"1", "2", "7"} {
		cmd := exec.Command(os.Args[0], "-test.run=^TestConvThreads$")
		cmd.Env = append(os.Environ(), "HALFTONE_TEST_CONV=1", "HALFTONE_THREADS="+threads)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		line, _, _ := strings.Cut(string(out), "\n")
		if !strings.HasPrefix(line, "digest ") {
			t.Fatalf("%s", out)
		}
		if first == "" {
			first = line
		}
		if line != first {
			t.Errorf("%s threads: %s, one thread: %s", threads, line, first)
		}
	}
}

func convDigest() string {
	root := NewScope(Seed(3))
	defer root.Close()
	h := sha256.New()
	for _, dt := range []DType{NoDType, Float16} {
		s := root
		if dt != NoDType {
			s = root.Autocast(dt)
		}
		x := Randn(root, Float32, 0, 1, 6, 12, 23, 21).RequireGrad()
		w, d := Randn(root, Float32, 0, 0.1, 40, 12, 3, 3).RequireGrad(), Randn(root, Float32, 0, 0.3, 40, 1, 3, 3).RequireGrad()
		g, b := Rand(root, Float32, 0.5, 1.5, 40).RequireGrad(), Randn(root, Float32, 0, 1, 40).RequireGrad()
		y := BatchNorm(s, Conv2d(s, x, w, nil, Padding(1)), g, b, BatchNormState{Eps: 1e-5})
		y = Conv2d(s, MaxPool2d(s, ReLU(s, y), 3, Stride(2), Padding(1)), d, nil, Stride(2), Groups(40))
		loss := Sum(s, Mul(s, y, y))
		loss.Backward()
		fmt.Fprintln(h, loss.Item())
		for _, p := range []*Tensor{x, w, d, g, b} {
			fmt.Fprintln(h, p.Grad().Float64s())
		}
	}
	return fmt.Sprintf("%x", h.Sum(nil))
}
