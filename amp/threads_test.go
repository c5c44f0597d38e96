package amp

import (
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// sameOnAnyThreads runs digest in processes with 1, 2 and 7 workers and compares what they print, every bit of it: work is divided by
// shapes alone. On another device than the CPU, where the host's workers are no matter, what digest itself checks is checked once.
func sameOnAnyThreads(t *testing.T, digest func() string) {
	t.Helper()
	if os.Getenv("HALFTONE_TEST_DIGEST") == t.Name() {
		fmt.Println("digest", digest())
		return
	}
	if home() != "cpu" {
		digest()
		return
	}
	var first string
	for _, threads := range []string{"1", "2", "7"} {
		cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
		cmd.Env = append(os.Environ(), "HALFTONE_TEST_DIGEST="+t.Name(), "HALFTONE_THREADS="+threads)
		out, err := cmd.CombinedOutput()
		line, _, _ := strings.Cut(string(out), "\n")
		if err != nil || !strings.HasPrefix(line, "digest ") {
			t.Fatalf("%v\n%s", err, out)
		}
		if first == "" {
			first = line
		}
		if line != first {
			t.Errorf("%s threads: %s, one thread: %s", threads, line, first)
		}
	}
}

// TestThreadsDoNotChangeResults is about products, activations and losses.
func TestThreadsDoNotChangeResults(t *testing.T) { sameOnAnyThreads(t, digest) }

// digest is a hash of the loss and the gradients of a step large enough for every kernel to be divided.
func digest() string {
	root := NewScope(Seed(3))
	defer root.Close()
	h := sha256.New()
	for _, dt := range []DType{NoDType, Float16, BFloat16} {
		s := root
		if dt != NoDType {
			s = root.Autocast(dt)
		}
		x, y := Randn(root, Float32, 0, 1, 700, 130), From(make([]int64, 700))
		w, b := Randn(root, Float32, 0, 0.1, 90, 130).RequireGrad(), Randn(root, Float32, 0, 1, 90).RequireGrad()
		loss := CrossEntropy(s, ReLU(s, Linear(s, x, w, b)), y)
		loss.Backward()
		fmt.Fprintln(h, loss.Item(), w.Grad().Float64s(), b.Grad().Float64s())
	}
	return fmt.Sprintf("%x", h.Sum(nil))
}
