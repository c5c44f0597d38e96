package amp_test

import (
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/amp/internal/cpu"
	"github.com/halftone-ml/halftone/amp/internal/remote"
	"github.com/halftone-ml/halftone/amp/nn"
	"github.com/halftone-ml/halftone/amp/optim"
)

// TestReproducibleTraining trains the same network in processes with every variant of the kernels that this machine has, and
// compares every loss and every bit of the weights. Without "reproducible" the generic kernels give others on amd64, where
// plain Go does not fuse, so the comparison could fail.
func TestReproducibleTraining(t *testing.T) {
	if seed, err := strconv.ParseUint(os.Getenv("HALFTONE_TEST_TRAIN"), 10, 64); err == nil {
		fmt.Println("digest", trainingDigest(seed))
		return
	}
	if name := amp.NewScope().Device(); strings.HasPrefix(name, "cuda") {
		t.Skip("it compares the CPU's kernels, and the tests run on " + name)
	}
	first := trainWith(t, "reproducible,generic")
	for _, v := range cpu.Variants() {
		if got := trainWith(t, "reproducible,"+v.String()); got != first {
			t.Errorf("%v: %s, generic: %s", v, got, first)
		}
	}
	if got := trainWith(t, "reproducible"); got != first {
		t.Errorf("the variant chosen by itself: %s, generic: %s", got, first)
	}
	if remote.Home() != "cpu" { // the device computes: as often as it likes, in whatever order it takes blocks and streams
		for _, how := range []string{"seed=1", "seed=2,order=reversed", "seed=3,order=shuffled,threads=1"} {
			if got := trainWith(t, "reproducible", "HALFTONE_EMULATOR="+how); got != first {
				t.Errorf("%s: %s, before: %s", how, got, first)
			}
		}
		if got := trainWith(t, "reproducible", "HALFTONE_TEST_TRAIN=5"); got == first {
			t.Error("another seed gives the same: nothing was compared")
		}
		return
	}
	if got := trainWith(t, "generic"); runtime.GOARCH == "amd64" && got == first {
		t.Error("the plain generic kernels give the same: nothing was compared")
	}
}

func trainWith(t *testing.T, mode string, env ...string) string {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^TestReproducibleTraining$")
	cmd.Env = append(append(os.Environ(), "HALFTONE_TEST_TRAIN=4", "HALFTONE_CPU="+mode), env...)
	out, err := cmd.CombinedOutput()
	line, _, _ := strings.Cut(string(out), "\n")
	if err != nil || !strings.HasPrefix(line, "digest ") {
		t.Fatalf("%s: %v\n%s", mode, err, out)
	}
	return line
}

// trainingDigest is a hash of the losses and final weights of short runs in float64, float32, float16 and bfloat16.
func trainingDigest(seed uint64) string {
	h := sha256.New()
	for _, dt := range []amp.DType{amp.Float64, amp.Float32, amp.Float16, amp.BFloat16} {
		root := amp.NewScope(amp.Seed(seed))
		wide := amp.Float32
		if dt == amp.Float64 {
			wide = dt
		}
		x, y := amp.Randn(root, wide, 0, 1, 37, 19), make([]int64, 37)
		for i := range y {
			y[i] = int64(i % 5)
		}
		labels := amp.From(y)
		net := nn.NewSequential(nn.NewLinear(root, 19, 33, nn.DType(wide)), nn.GELU, nn.NewLinear(root, 33, 21, nn.DType(wide)), nn.Tanh,
			nn.NewLinear(root, 21, 21, nn.DType(wide)), nn.SiLU, nn.NewLinear(root, 21, 5, nn.DType(wide)))
		opt, scaler := optim.NewAdamW(net.Parameters(), optim.LR(0.01)), amp.NewGradScaler()
		for s := range root.Steps(8) {
			half := s
			if wide != dt {
				half = s.Autocast(dt)
			}
			loss := amp.CrossEntropy(half, net.Forward(half, x), labels)
			opt.ZeroGrad()
			scaler.Scale(s, loss).Backward()
			scaler.Step(opt)
			scaler.Update()
			fmt.Fprintf(h, "%x\n", loss.Item())
		}
		for _, p := range net.Parameters() {
			fmt.Fprintf(h, "%x\n", p.Float64s())
		}
		root.Close()
	}
	return fmt.Sprintf("%x", h.Sum(nil))
}
