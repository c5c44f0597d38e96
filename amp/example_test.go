package amp_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/amp/nn"
	"github.com/halftone-ml/halftone/amp/optim"
)

func Example() {
	root := amp.NewScope(amp.Seed(1), amp.Record(amp.Decisions))
	defer root.Close()
	x, y := amp.Randn(root, amp.Float32, 0, 1, 64, 8), amp.Randn(root, amp.Float32, 0, 1, 64, 1)
	net := nn.NewSequential(nn.NewLinear(root, 8, 16), nn.ReLU, nn.NewLinear(root, 16, 1))
	opt := optim.NewSGD(net.Parameters(), optim.LR(0.1))
	scaler := amp.NewGradScaler()
	for s := range root.Steps(20) {
		half := s.Autocast(amp.Float16) // each op in the precision that suits it
		loss := nn.MSELoss(half, net.Forward(half, x), y)
		opt.ZeroGrad()
		scaler.Scale(s, loss).Backward()
		scaler.Step(opt) // skips the step if a gradient overflowed, and says whose
		scaler.Update()
	}
	fmt.Println(scaler.History().Skipped, "of 20 steps skipped; scale", scaler.CurrentScale())
	// Output: 0 of 20 steps skipped; scale 65536
}

// TestReadmeShowsTheExample keeps the README's snippet the one that is run here.
func TestReadmeShowsTheExample(t *testing.T) {
	readme, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile("example_test.go")
	if err != nil {
		t.Fatal(err)
	}
	_, body, _ := strings.Cut(string(source), "func Example() {\n")
	body, _, _ = strings.Cut(body, "\tfmt.Println(scaler.History()")
	lines := strings.Split(strings.TrimRight(body, "\n"), "\n")
	for i, l := range lines {
		lines[i] = strings.TrimPrefix(l, "\t")
	}
	if !strings.Contains(string(readme), "```go\n"+strings.Join(lines, "\n")+"\n") {
		t.Error("the README's snippet is not the body of Example")
	}
}

func ExampleScope_Autocast() {
	s := amp.NewScope()
	defer s.Close()
	half := s.Autocast(amp.Float16)
	a, b := amp.From([]float32{1, 2}, 1, 2), amp.From([]float32{3, 4}, 2, 1)
	y := amp.MatMul(half, a, b)
	fmt.Println(y.DType(), amp.Exp(half, y).DType(), amp.MatMul(half.Autocast(amp.Float32), a, b).DType())
	// Output: float16 float32 float32
}

func ExampleExplain() {
	s := amp.NewScope()
	defer s.Close()
	fmt.Println(amp.Explain(s.Autocast(amp.Float16), "exp", amp.Float16))
	// Output: exp(float16) runs in (float32) and gives float32 — fp32: overflows float16 above 11.09
}

func ExampleGrad() {
	s := amp.NewScope()
	defer s.Close()
	x := amp.From([]float64{3}).RequireGrad()
	cube := amp.Sum(s, amp.PowScalar(s, x, 3))
	first := amp.Grad(s, []*amp.Tensor{cube}, []*amp.Tensor{x}, amp.CreateGraph())
	second := amp.Grad(s, []*amp.Tensor{amp.Sum(s, first[0])}, []*amp.Tensor{x})
	fmt.Println(first[0].Item(), second[0].Item())
	// Output: 27 18
}

func ExampleMaybe() {
	s := amp.NewScope()
	defer s.Close()
	err := amp.Maybe(func() {
		amp.MatMul(s.In("net"), amp.From([]float32{1, 2}, 1, 2), amp.From([]float32{1, 2, 3}, 3, 1))
	})
	fmt.Println(err)
	// Output: amp: matmul (in net): shape mismatch: a float32 [1 2], b float32 [3 1]: 2 against 3; fix: the last size of a must be the second last of b; amp.Transpose swaps them
}

func ExampleGradScaler_Step() {
	s := amp.NewScope()
	defer s.Close()
	w := amp.From([]float32{1}).SetName("w").RequireGrad()
	opt := optim.NewSGD([]*amp.Tensor{w}, optim.LR(1))
	scaler := amp.NewGradScaler()
	half := amp.To(s, w, amp.Float16)
	scaler.Scale(s, amp.Sum(s, amp.MulScalar(s, half, 2))).Backward() // 2 · 65536 is beyond float16
	fmt.Println(scaler.Step(opt))
	scaler.Update()
	fmt.Println(scaler.CurrentScale())
	// Output:
	// step 0 skipped at scale 65536: gradient of w is +Inf
	// 32768
}
