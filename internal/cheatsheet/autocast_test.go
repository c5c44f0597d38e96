package cheatsheet

import (
	"fmt"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/amp/nn"
)

func Example_autocast() {
	s := amp.NewScope(amp.Seed(1))
	defer s.Close()
	net := nn.NewSequential(nn.NewLinear(s, 8, 8), nn.ReLU)
	x := amp.Randn(s, amp.Float32, 0, 1, 4, 8)

	// torch: with torch.autocast("cuda", dtype=torch.float16):
	// torch:     y = net(x)
	half := s.Autocast(amp.Float16)
	y := net.Forward(half, x)
	fmt.Println(y.DType())

	// torch: with torch.autocast("cuda", dtype=torch.bfloat16):
	brain := s.Autocast(amp.BFloat16)
	fmt.Println(net.Forward(brain, x).DType())

	// torch: with torch.autocast("cpu"):
	cpu := s.Autocast(amp.BFloat16, amp.UseLists(amp.CPULists))
	fmt.Println(amp.Softmax(cpu, net.Forward(cpu, x), 1).DType())

	// torch: with torch.autocast("cuda", enabled=False):
	off := half.Autocast(amp.NoDType, amp.Enabled(false))
	fmt.Println(net.Forward(off, x).DType())

	// torch: torch.autocast("cuda", cache_enabled=False)
	uncached := s.Autocast(amp.Float16, amp.CacheEnabled(false))
	fmt.Println(net.Forward(uncached, x).DType())

	// torch: torch.clear_autocast_cache()
	half.ClearCastCache()
	fmt.Println(net.Forward(half, x).DType())

	// torch: torch.is_autocast_enabled(), torch.get_autocast_dtype("cuda")
	dtype, enabled := half.AutocastDType()
	fmt.Println(enabled, dtype)

	// torch: # no such thing: which precision would an op run in, and why?
	why := amp.Explain(half, "softmax", amp.Float16)
	fmt.Println(why.Output)

	// torch: # no such thing: one op in another precision (pytorch#117832)
	forced := s.Autocast(amp.Float16, amp.Force("linear", amp.FP32))
	fmt.Println(net.Forward(forced, x).DType())

	// torch: with te.fp8_autocast(fp8_recipe=Float8CurrentScaling()): …  # Transformer Engine; torchao: convert_to_float8_training(net)
	short := s.Autocast(amp.BFloat16, amp.FP8(&amp.FP8Recipe{Leave: func(module string) bool { return module == "net/head" }})) // its numbers, in bfloat16
	fmt.Println(net.Forward(short.In("net"), x).DType())

	// torch: with te.autocast(recipe=NVFP4BlockScaling()): …  # Transformer Engine; torchao: quantize_(net, NVFP4TrainingConfig())
	shorter := s.Autocast(amp.BFloat16, amp.FP4(&amp.FP4Recipe{})) // its numbers, rounding and transforms, in bfloat16
	fmt.Println(net.Forward(shorter, x).DType())

	// torch: torch.amp.custom_fwd(cast_inputs=torch.float32), custom_bwd
	square := amp.Register(amp.Custom{
		Name: "sheet_square", Doc: "x²", Class: amp.FP32, Why: "squares leave the half range",
		Forward: func(c *amp.Context, in []*amp.Tensor) *amp.Tensor { return amp.Mul(c.S, in[0], in[0]) },
	})
	fmt.Println(square(half, amp.Full(s, amp.Float16, 300, 1)).Item())

	// torch: class MyMM(torch.autograd.Function): …  # custom_fwd, custom_bwd: backward in the forward's autocast state
	mm := amp.Register(amp.Custom{
		Name: "sheet_mm", Doc: "a·b", Class: amp.Lower, Args: []string{"a", "b"},
		Forward: func(c *amp.Context, in []*amp.Tensor) *amp.Tensor {
			c.Save(in...)
			return amp.MatMul(c.S, in[0], in[1])
		},
		Backward: func(c *amp.Context, dy *amp.Tensor) []*amp.Tensor {
			a, b := c.Saved(0), c.Saved(1)
			return []*amp.Tensor{amp.MatMul(c.S, dy, amp.Transpose(c.S, b, 0, 1)), amp.MatMul(c.S, amp.Transpose(c.S, a, 0, 1), dy)}
		},
	})
	left := amp.Ones(s, amp.Float32, 2, 2).RequireGrad()
	amp.Sum(half, mm(half, left, amp.Full(s, amp.Float32, 3, 2, 2))).Backward()
	fmt.Println(left.Grad().Float64s())

	// torch: F.binary_cross_entropy(p, y)  # refused under autocast
	// torch: F.binary_cross_entropy_with_logits(z, y)
	z, target := amp.Zeros(s, amp.Float32, 4), amp.Ones(s, amp.Float32, 4)
	refused := amp.Maybe(func() { amp.BCE(half, amp.Sigmoid(half, z), target) })
	loss := amp.BCEWithLogits(half, z, target)
	fmt.Printf("%v %.4f\n", refused != nil, loss.Item())

	// torch: net.half()
	pure := amp.MustPolicy("float16").Apply(net)
	fmt.Println(pure.Forward(s, x).DType(), net.Parameters()[0].DType())
	// Output:
	// float16
	// bfloat16
	// bfloat16
	// float32
	// float16
	// float16
	// true float16
	// float32
	// float32
	// bfloat16
	// bfloat16
	// 90000
	// [6 6 6 6]
	// true 0.6931
	// float16 float16
}
