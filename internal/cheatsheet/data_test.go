package cheatsheet

import (
	"errors"
	"fmt"
	"math"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/amp/dataset"
	"github.com/halftone-ml/halftone/amp/nn"
	"github.com/halftone-ml/halftone/amp/optim"
)

func Example_data() {
	root := amp.NewScope(amp.Seed(1))
	defer root.Close()
	_, x, y := problem(root)

	// torch: data = TensorDataset(x, y)  # floats in y are targets of a regression
	data := dataset.NewTensors(x, y)
	fmt.Println(data.Len())

	// torch: train, test = random_split(data, [24, 8], generator=torch.Generator().manual_seed(1))
	parts := dataset.RandomSplit(data, 1, 24, 8)
	train, test := parts[0], parts[1]
	fmt.Println(train.Len(), test.Len())

	// torch: Subset(data, [3, 1, 4])
	some := dataset.NewSubset(data, 3, 1, 4)
	fmt.Println(some.Len())

	// torch: ConcatDataset([some, test])
	joined := dataset.NewConcat(some, test)
	fmt.Println(joined.Len())

	// torch: loader = DataLoader(train, 8, shuffle=True, drop_last=True)
	// torch: for x, y in loader:
	loader := dataset.NewLoader(train, 8, dataset.Shuffle(1), dataset.DropLast())
	for _, b := range loader.Epoch(root) {
		x, y = b.X, b.Y
	}
	fmt.Println(loader.Len(), loader.State().Epoch)

	weights := make([]float64, 24)
	weights[5] = 1
	// torch: DataLoader(train, 8, sampler=WeightedRandomSampler(weights, 16))
	drawn := dataset.NewLoader(train, 8, dataset.DrawWeighted(weights, 16, 1))
	fmt.Println(drawn.Next(root).Index)

	weights[7] = 3
	// torch: WeightedRandomSampler(weights, 2, replacement=False)
	picked := dataset.NewLoader(train, 2, dataset.PickWeighted(weights, 2, 1))
	fmt.Println(picked.Next(root).Len())

	// torch: sd = loader.state_dict(); loader.load_state_dict(sd)  # torchdata's StatefulDataLoader
	saved := loader.State()
	fmt.Println(loader.Load(saved))
	// Output:
	// 32
	// 24 8
	// 3
	// 11
	// 3 1
	// [5 5 5 5 5 5 5 5]
	// 2
	// <nil>
}

func Example_optimizers() {
	root := amp.NewScope(amp.Seed(1))
	defer root.Close()
	net, x, y := problem(root)
	p := net.Parameters()
	opt := optim.NewSGD(p, optim.LR(0.1), optim.Momentum(0.9))
	for _, p := range p {
		p.SetGrad(amp.OnesLike(root, p))
	}

	// torch: optim.NAdam(p), optim.RAdam(p), optim.Adamax(p)
	kin := []optim.Optimizer{optim.NewNAdam(p), optim.NewRAdam(p), optim.NewAdamax(p)}
	fmt.Println(len(kin))

	// torch: optim.Adadelta(p, rho=0.9), optim.Rprop(p, etas=(0.5, 1.2)), optim.ASGD(p, t0=1000)
	others := []optim.Optimizer{optim.NewAdadelta(p, optim.Rho(0.9)), optim.NewRprop(p, optim.Etas(0.5, 1.2)), optim.NewASGD(p, optim.T0(1000))}
	fmt.Println(len(others))

	// torch: optim.Adafactor(p, lr=0.01, beta2_decay=-0.8, eps=(None, 1e-3), d=1.0)
	small := optim.NewAdafactor(p, optim.LR(0.01), optim.Beta2Decay(-0.8), optim.Epsilons(0, 1e-3), optim.ClipThreshold(1))
	fmt.Println(len(small.Parameters()))

	// torch: optim.Muon([net[0].weight], lr=0.02, adjust_lr_fn="match_rms_adamw")
	muon := optim.NewMuon(p[:1], optim.LR(0.02), optim.AdjustLR(amp.AdjustMatchRMSAdamW))
	fmt.Println(muon.Groups()[0].Momentum())

	// torch: lbfgs = optim.LBFGS(p, lr=1, line_search_fn="strong_wolfe")
	// torch: loss = lbfgs.step(closure)
	lbfgs := optim.NewLBFGS(p, optim.StrongWolfe())
	began := lbfgs.Step(root, func(s *amp.Scope) *amp.Tensor {
		lbfgs.ZeroGrad()
		loss := nn.MSELoss(s, net.Forward(s, x), y)
		loss.Backward()
		return loss
	})
	fmt.Println(nn.MSELoss(root, net.Forward(root, x), y).Item() < began/2)

	// torch: opt.param_groups[0]["weight_decay"] = 0.1
	opt.Groups()[0].SetWeightDecay(0.1)
	fmt.Println(opt.Groups()[0].WeightDecay())

	// torch: opt.param_groups[0]["momentum"] = 0.5  # Adam: ["betas"] = (0.8, 0.99), ["eps"] = 1e-6
	opt.Groups()[0].SetMomentum(0.5)
	kin[0].Groups()[0].SetBetas(0.8, 0.99)
	kin[0].Groups()[0].SetEps(1e-6)
	fmt.Println(opt.Groups()[0].Momentum(), kin[0].Groups()[0].Eps())

	p[0].SetGrad(amp.FullLike(root, p[0], math.Inf(1)))
	// torch: clip_grad_norm_(p, 1.0, error_if_nonfinite=True)
	err := amp.Maybe(func() { optim.ClipGradNorm(p, 1, optim.ErrorIfNonfinite()) })
	fmt.Println(errors.Is(err, amp.ErrFinite))

	// torch: lr_scheduler.CyclicLR(opt, 0.01, 0.1, step_size_up=10, mode="triangular2")
	cyclic := optim.NewCyclicLR(opt, 0.01, 0.1, optim.CycleSteps(10, 10), optim.Triangular2())
	fmt.Println(cyclic.LastLR())

	// torch: warm = lr_scheduler.CosineAnnealingWarmRestarts(opt, 10)
	// torch: warm.step(epoch + i / n)
	warm := optim.NewCosineWarmRestarts(opt, 10, 1, 0)
	warm.StepTo(5 + 0.0/32)
	fmt.Printf("%.3f\n", warm.LastLR()[0])

	// torch: swa_utils.SWALR(opt, [0.05])
	swa := optim.NewGroupSWALR(opt, []float64{0.05}, 10, false)
	fmt.Println(len(swa.LastLR()))

	// torch: nn.Embedding(100, 8, padding_idx=0, max_norm=1.0)
	table := nn.NewEmbedding(root, 100, 8, nn.PaddingRow(0), nn.MaxNorm(1))
	fmt.Println(table)

	// torch: nn.EmbeddingBag(100, 8, mode="sum")(words, offsets, per_sample_weights=weights)
	words, offsets, weights := amp.From([]int64{1, 2, 4, 5}), amp.From([]int64{0, 3}), amp.Ones(root, amp.Float32, 4)
	fmt.Println(nn.NewEmbeddingBag(root, 100, 8, nn.SumBag).Run(root, words, offsets, weights).Shape())

	images := amp.Rand(root, amp.Float32, 0, 1, 1, 2, 5, 4)
	// torch: y, i = nn.MaxPool2d(2, return_indices=True)(images)  # F.max_pool2d(images, 2, return_indices=True)
	// torch: nn.MaxUnpool2d(2)(y, i, output_size=images.size())  # F.max_unpool2d(y, i, 2, output_size=…)
	pooled, i := nn.MaxPool2dIndices(2).Forward(root, images) // amp.MaxPool2dIndices(s, images, 2)
	back := nn.MaxUnpool2d(2).Forward(root, pooled, i, images.Shape()...)
	fmt.Println(pooled.Shape(), i.DType(), back.Shape())

	// torch: nn.LSTM(8, 16, proj_size=4)
	lstm := nn.NewLSTM(root, 8, 16, nn.RecurrentOptions{ProjSize: 4})
	fmt.Println(lstm.Forward(root, amp.Zeros(root, amp.Float32, 5, 2, 8)).Shape())

	// torch: nn.TransformerEncoderLayer(8, 2, 16, bias=False)
	layer := nn.NewTransformerEncoderLayer(root, 8, 2, 16, nn.TransformerOptions{NoBias: true, Dropout: 0.1})
	fmt.Println(len(layer.Parameters()))

	// torch: nn.MultiheadAttention(8, 2, add_bias_kv=True, add_zero_attn=True)
	attention := nn.NewMultiheadAttention(root, 8, 2, nn.AttentionOptions{BiasKV: true, ZeroAttn: true})
	fmt.Println(len(attention.Parameters()))

	// torch: nn.InstanceNorm2d(8, affine=True, track_running_stats=True)
	norm := nn.NewInstanceNorm2d(root, 8, nn.Affine(), nn.TrackRunningStats())
	fmt.Println(len(norm.Buffers()))
	// Output:
	// 3
	// 3
	// 4
	// 0.95
	// true
	// 0.1
	// 0.5 1e-06
	// true
	// [0.01]
	// 0.005
	// 1
	// Embedding(weight=[100 8])
	// [2 8]
	// [1 2 2 2] int64 [1 2 5 4]
	// [5 2 4]
	// 6
	// 6
	// 3
}
