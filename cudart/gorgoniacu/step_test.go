//go:build gorgonia_cu

package gorgoniacu

import (
	"math"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/amp/nn"
	"github.com/halftone-ml/halftone/amp/optim"
	"github.com/halftone-ml/halftone/cudart"
	"github.com/halftone-ml/halftone/cudart/driver"
)

// TestStep: training steps in float16 give the same bits as on the default driver.
func TestStep(t *testing.T) {
	if os.Getenv(cudart.ModeEnv) != cudart.ModeEmulator {
		t.Skip("compares two drivers on the emulator's library; run by TestTagged")
	}
	const mark = "weights: "
	if os.Getenv("GORGONIACU_DEFAULT") != "" {
		cudart.UseDriver(func() (driver.Driver, error) { return driver.Open("libcuda.so.1") })
		t.Log(mark + train(t))
		return
	}
	got := train(t)
	cmd := exec.Command(os.Args[0], "-test.run=^TestStep$", "-test.v")
	cmd.Env = append(os.Environ(), "GORGONIACU_DEFAULT=1")
	out, err := cmd.CombinedOutput()
	_, want, ok := strings.Cut(string(out), mark)
	want, _, _ = strings.Cut(want, "\n")
	if err != nil || !ok || got != want {
		t.Fatalf("%v\nhere    %.200s\ndefault %.200s\n%s", err, got, want, out)
	}
}

// train runs five steps of a small net under autocast with a scaler and returns the weights' bits.
func train(t *testing.T) string {
	t.Helper()
	root := amp.NewScope(amp.On("cuda:0"), amp.Seed(7))
	defer root.Close()
	if !strings.Contains(root.Device(), "emulated") {
		t.Fatalf("this is %s", root.Device())
	}
	net := nn.NewSequential(nn.NewLinear(root, 8, 16), nn.ReLU, nn.NewLinear(root, 16, 1))
	opt := optim.NewAdamW(net.Parameters(), optim.LR(0.01))
	scaler := amp.NewGradScaler()
	x, y := amp.Randn(root, amp.Float32, 0, 1, 32, 8), amp.Randn(root, amp.Float32, 0, 1, 32, 1)
	for s := range root.Steps(5) {
		half := s.Autocast(amp.Float16)
		loss := nn.MSELoss(half, net.Forward(half, x), y)
		opt.ZeroGrad()
		scaler.Scale(s, loss).Backward()
		scaler.Step(opt)
		scaler.Update()
	}
	var b strings.Builder
	for _, p := range net.Parameters() {
		for _, v := range p.Float64s() {
			b.WriteString(hex(v))
		}
	}
	return b.String()
}

func hex(v float64) string { return strconv.FormatUint(math.Float64bits(v), 16) + " " }
