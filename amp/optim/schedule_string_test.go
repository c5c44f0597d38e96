package optim_test

import (
	"fmt"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/amp/optim"
)

// Printing a schedule shows its settings and where it stands.
func ExampleSchedule_String() {
	opt := optim.NewSGD([]*amp.Tensor{amp.From([]float32{1}).RequireGrad()}, optim.LR(0.5))
	steps := optim.NewStepLR(opt, 1, 0.5)
	steps.Step()
	fmt.Println(steps)
	fmt.Println(optim.NewLambdaLR(opt, func(int) float64 { return 1 }))
	fmt.Println(optim.CountApplied(optim.NewCosineAnnealingLR(opt, 100, 0)))
	fmt.Println(optim.NewReduceLROnPlateau(opt))
	fmt.Println(optim.NewSequentialLR([]int{5}, optim.NewLinearWarmup(opt, 0.5, 5), optim.NewExponentialLR(opt, 0.5)))
	// Output:
	// StepLR(step_size=1, gamma=0.5; step 1, lr 0.25)
	// LambdaLR(step 0, lr 0.5)
	// CountApplied(CosineAnnealingLR(T_max=100, eta_min=0; step 0, lr 0.5))
	// ReduceLROnPlateau(max=false, factor=0.1, patience=10, threshold=0.0001, absolute=false, cooldown=0, min_lrs=[0], eps=1e-8, best=null, num_bad_epochs=0, cooldown_counter=0; lr 0.5)
	// SequentialLR(milestones=[5]; step 0, lr 0.25)
	//   (0): LinearLR(start_factor=0.5, end_factor=1, total_iters=5; step 0, lr 0.25)
	//   (1): ExponentialLR(gamma=0.5; lr 0.25)
}
