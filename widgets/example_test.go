package widgets_test

import (
	"encoding/json"
	"fmt"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/widgets"
)

func ExampleDecisions() {
	root := amp.NewScope(amp.On("cpu"), amp.Seed(1), amp.Record(amp.Decisions))
	defer root.Close()
	a, b := amp.Randn(root, amp.Float32, 0, 1, 8, 16), amp.Randn(root, amp.Float32, 0, 1, 16, 8)
	half := root.Autocast(amp.Float16)
	amp.Exp(half, amp.MatMul(half, a, b))

	f := widgets.Decisions(root.Trace())
	for _, s := range f.Decisions.Sites {
		fmt.Printf("%-7s %s\n", s.Op, s.Precision())
	}
	// Output:
	// matmul  fp32 → fp16 ▮
	// exp     fp16 → fp32 ■
}

func ExampleScaleHistory() {
	scaler := amp.NewGradScaler(amp.InitScale(1024))
	f := widgets.ScaleHistory(scaler.History())
	fmt.Println(f.Alt)
	// Output: No optimizer step yet: the scale starts at 1,024.
}

// A gradient of 2^-26 is too small for float16, and a loss scale saves it.
func ExampleGradientFlow() {
	root := amp.NewScope(amp.On("cpu"))
	defer root.Close()
	x := amp.From([]float32{1, 1, 1, 1}, 4).RequireGrad().SetName("x")
	small := amp.FromFloat64s(amp.Float16, []float64{1, 0x1p-13, 0x1p-13, 0}, 4)
	loss := amp.Sum(root, amp.Mul(root, amp.Mul(root, amp.To(root, x, amp.Float16), small), small))

	var trace amp.GradientTrace
	loss.Backward(amp.TraceGradients(&trace))
	f := widgets.GradientFlow(&trace)
	fmt.Println(f.Flow.Sentence)
	fmt.Println(f.Flow.Lines(1)[0])
	// Output:
	// Of the gradients that reach 1 parameter, 67% are zero without a loss scale and should not be. Loss scales from 2^2 to 2^15 would keep 99.9% at every op.
	// mul, float16: 67% of dL/dx flushed to zero here; loss scales from 2^2 to 2^15 would keep 99.9% of them.
}

// Two ops of a pass in float16: the second one's rounding is most of what moved the loss. amp.TraceRounding makes such traces.
func ExampleRounding() {
	trace := &amp.RoundingTrace{Schema: amp.RoundingSchema, Step: -1, DType: amp.Float32, Loss: 2.30412, Exact: 2.30331, First: 7.9e-4, Spread: 8.6e-4, Events: []amp.RoundingEvent{
		{Op: "linear", Module: "net/0", Compute: amp.Float16, DType: amp.Float16, N: 640, Size: 0.5, Own: 1e-4, Total: 1e-4, Share: 9e-5, Spread: 1.6e-4,
			If: []amp.RoundingIf{{DType: amp.Float32, Spread: 2e-8}}},
		{Op: "softmax", Module: "net/1", Compute: amp.Float16, DType: amp.Float16, N: 640, Size: 0.1, Own: 2e-5, Total: 4e-5, Share: 7e-4, Spread: 8.4e-4,
			If: []amp.RoundingIf{{DType: amp.Float32, Spread: 1e-7}}},
	}}
	f := widgets.Rounding(trace)
	fmt.Println(f.Rounding.Sentence)
	fmt.Println(f.Rounding.Lines(1)[0])
	// Output:
	// The loss is 2.30412 in float16 and 2.30331 in float64: rounding moved it by 8.1e-4 (3.5e-4 of it). 96% of what rounding can do to it enters at 1 of 2 places, softmax in net/1; with that op in float32 an error of about 1.6e-4 is to be expected, now 8.6e-4.
	// softmax in net/1, fp16: 96% of what rounding can do; it moved the loss by +7e-4, and its results are off by 2e-4 of their size, 4e-4 with all before it; in float32 1e-7, now 8.4e-4.
}

func ExampleCompare() {
	f := widgets.Compare(
		widgets.Run{Name: "float32", DType: amp.Float32, Loss: []float64{1, 0.5, 0.25}},
		widgets.Run{Name: "float16", DType: amp.Float16, Loss: []float64{1, 0.5, 0.251}, Skipped: 1},
	)
	fmt.Println(f.Alt)
	// Output: No: float16 ends within 0.4% of float32. Mean loss at the end of 3 steps: float32 0.25, float16 0.251 with 1 step skipped.
}

// A figure is read back from a notebook's output.
func ExampleParse() {
	stored, err := json.Marshal(widgets.Compare(widgets.Run{Name: "float32", Loss: []float64{1, 0.5}}))
	if err != nil {
		fmt.Println(err)
		return
	}
	f, err := widgets.Parse(stored)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(f.Kind, f.Runs.Runs[0].Final)
	// Output: compare 0.5
}

// In a notebook Show makes an output of the cell; elsewhere it prints the text.
func ExampleShow() {
	widgets.Show(widgets.ScaleHistory(amp.ScaleHistory{}))
	// Output:
	// Loss scale · disabled
	//   No scaling needed: the scaler is disabled, as it should be for bfloat16 and float32, whose exponents
	//   reach as far as gradients do.
}

// A number of float32 that float16 cannot hold is flushed to zero; bfloat16 keeps it, with fewer digits.
func ExampleBits() {
	fmt.Println(widgets.Bits(1e-8).Alt)
	// Output: 1e-8 is flushed to zero in fp16, 1.001e-8 in bf16 (off by 0.12%). Neither fp8 format can hold it.
}
