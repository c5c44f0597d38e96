package amp_test

import (
	"fmt"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/amp/nn"
)

// Printing a scope shows how its ops run.
func ExampleScope_String() {
	root := amp.NewScope(amp.On("cpu"))
	fmt.Println(root)
	fmt.Println(root.Autocast(amp.Float16).In("net").In("0"))
	var last *amp.Scope
	for s := range root.Steps(1) {
		last = s.Eval().NoGrad()
		fmt.Println(last)
	}
	root.Close()
	fmt.Println(last)
	// Output:
	// Scope(cpu, autocast off)
	// Scope(cpu, autocast float16, in net/0)
	// Scope(cpu, autocast off, no grad, eval, step 0)
	// Scope(cpu, autocast off, no grad, eval, step 0, closed)
}

// Printing a scaler shows its scale and its settings.
func ExampleGradScaler_String() {
	fmt.Println(amp.NewGradScaler())
	fmt.Println(amp.NewGradScaler(amp.InitScale(1024), amp.GrowthInterval(100), amp.MinScale(1)))
	fmt.Println(amp.NewGradScaler(amp.ScalerEnabled(false)))
	// Output:
	// GradScaler(scale=65536, growth_factor=2, backoff_factor=0.5, growth_interval=2000, growth_tracker=0)
	// GradScaler(scale=1024, growth_factor=2, backoff_factor=0.5, growth_interval=100, growth_tracker=0, min_scale=1)
	// GradScaler(enabled=false)
}

// Printing a graph shows what it is of.
func ExampleGraph_String() {
	root := amp.NewScope(amp.On("cpu"))
	defer root.Close()
	w := amp.Zeros(root, amp.Float32, 3)
	g := root.Capture(func(s *amp.Scope) { amp.AddInPlace(s, w, amp.Ones(s, amp.Float32, 3)) })
	fmt.Println(g)
	g.Close()
	fmt.Println(g)
	// Output:
	// Graph(cpu, captures nothing: a replay runs the step again)
	// Graph(cpu, closed)
}

// Printing memory counts shows them in bytes.
func ExampleMemoryStats_String() {
	m := amp.MemoryStats{Bytes: 160, Peak: 320, ByDType: map[amp.DType]int64{amp.Float16: 32, amp.Float32: 128}, NewBuffers: 2, Reserved: 8192}
	fmt.Println(m)
	m.Limit = 1 << 20
	fmt.Println(map[string]amp.MemoryStats{"cpu": m})
	// Output:
	// Memory(160 bytes in use (float32 128, float16 32), peak 320, reserved 8192 in 2 blocks)
	// map[cpu:Memory(160 bytes in use (float32 128, float16 32), peak 320, reserved 8192 in 2 blocks, limit 1048576)]
}

// Printing a random stream shows what would be saved of it.
func ExampleStream_String() {
	root := amp.NewScope(amp.On("cpu"), amp.Seed(7))
	defer root.Close()
	amp.Rand(root, amp.Float32, 0, 1, 6)
	fmt.Println(root.Random())
	// Output:
	// Stream(seed=7, counter=3)
}

// Printing a model under a policy shows the policy.
func ExamplePolicyModel_String() {
	root := amp.NewScope(amp.On("cpu"))
	defer root.Close()
	fmt.Println(amp.MustPolicy("params=f32,compute=f16,output=f16").Apply(nn.NewLinear(root, 3, 4)))
	// Output:
	// PolicyModel(params=float32,compute=float16,output=float16, parameters: 2 (16 numbers))
}
