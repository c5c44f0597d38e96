package optim_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/amp/optim"
)

// Printing an optimizer shows its groups and their settings.
func ExampleOptimizer_string() {
	matrix := amp.From([]float32{1, 2, 3, 4, 5, 6}, 2, 3).RequireGrad()
	bias := amp.From([]float32{1, 2}).RequireGrad()
	opt := optim.NewAdamW([]*amp.Tensor{matrix}, optim.LR(3e-4), optim.WeightDecay(0.1))
	opt.AddGroup(optim.Group{Name: "biases", Params: []*amp.Tensor{bias}, Options: []optim.Option{optim.WeightDecay(0)}})
	fmt.Println(opt)
	// Output:
	// AdamW (
	// Parameter Group 0
	//     amsgrad: false
	//     beta1: 0.9
	//     beta2: 0.999
	//     eps: 1e-08
	//     fused: false
	//     lr: 0.0003
	//     maximize: false
	//     weight_decay: 0.1
	//     params: 1 (6 numbers)
	// Parameter Group 1 "biases"
	//     amsgrad: false
	//     beta1: 0.9
	//     beta2: 0.999
	//     eps: 1e-08
	//     fused: false
	//     lr: 0.0003
	//     maximize: false
	//     weight_decay: 0
	//     params: 1 (2 numbers)
	// )
}

// Every kind prints its name and what a group was last set to, and prints all numbers that its state holds.
func TestString(t *testing.T) {
	for _, make := range []func(p []*amp.Tensor) optim.Optimizer{
		func(p []*amp.Tensor) optim.Optimizer { return optim.NewSGD(p) },
		func(p []*amp.Tensor) optim.Optimizer { return optim.NewAdam(p) },
		func(p []*amp.Tensor) optim.Optimizer { return optim.NewAdamW(p) },
		func(p []*amp.Tensor) optim.Optimizer { return optim.NewRMSprop(p) },
		func(p []*amp.Tensor) optim.Optimizer { return optim.NewAdagrad(p) },
		func(p []*amp.Tensor) optim.Optimizer { return optim.NewNAdam(p) },
		func(p []*amp.Tensor) optim.Optimizer { return optim.NewRAdam(p, optim.DecoupledWeightDecay()) },
		func(p []*amp.Tensor) optim.Optimizer { return optim.NewAdamax(p) },
		func(p []*amp.Tensor) optim.Optimizer { return optim.NewAdadelta(p) },
		func(p []*amp.Tensor) optim.Optimizer { return optim.NewRprop(p) },
		func(p []*amp.Tensor) optim.Optimizer { return optim.NewASGD(p) },
	} {
		opt := make([]*amp.Tensor{amp.From([]float32{1}).RequireGrad()})
		opt.SetLR(0.125)
		optim.NewStepLR(opt, 2, 0.5)
		st, text := opt.State(), fmt.Sprint(opt)
		if !strings.HasPrefix(text, st.Kind+" (\nParameter Group 0\n") || !strings.Contains(text, "    initial_lr: 0.125\n") {
			t.Errorf("%s", text)
		}
		for key, v := range st.Groups[0].Numbers {
			if line := fmt.Sprintf("    %s: %v\n", key, v); !strings.Contains(text, line) {
				t.Errorf("%s: no line %q in %s", st.Kind, line, text)
			}
		}
		for key, v := range st.Groups[0].Flags {
			if line := fmt.Sprintf("    %s: %v\n", key, v); !strings.Contains(text, line) {
				t.Errorf("%s: no line %q in %s", st.Kind, line, text)
			}
		}
	}
}

// Printing a group shows its learning rate.
func ExampleGroup_String() {
	w, b := amp.From([]float32{1, 2, 3}).RequireGrad(), amp.From([]float32{1}).RequireGrad()
	opt := optim.NewSGD([]*amp.Tensor{w}, optim.LR(0.1))
	fmt.Println(opt.AddGroup(optim.Group{Name: "biases", Params: []*amp.Tensor{b}, Options: []optim.Option{optim.LR(0.2)}}))
	fmt.Println(opt.Groups()[0])
	// Output:
	// Group("biases", lr=0.2, params: 1 (1 numbers))
	// Group(lr=0.1, params: 1 (3 numbers))
}
