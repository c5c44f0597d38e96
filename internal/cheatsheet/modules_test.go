package cheatsheet

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/amp/checkpoint"
	"github.com/halftone-ml/halftone/amp/nn"
	"github.com/halftone-ml/halftone/amp/optim"
	"github.com/halftone-ml/halftone/amp/safetensors"
)

func Example_modules() {
	s := amp.NewScope(amp.Seed(1))
	defer s.Close()

	// torch: nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 1))
	net := nn.NewSequential(nn.NewLinear(s, 8, 16), nn.ReLU, nn.NewLinear(s, 16, 1))
	fmt.Println(len(net.Parameters()))

	// torch: class Double(nn.Module): …
	double := nn.Func(func(s *amp.Scope, x *amp.Tensor) *amp.Tensor { return amp.MulScalar(s, x, 2) })
	fmt.Println(double.Forward(s, amp.Ones(s, amp.Float32, 1)).Item())

	// torch: nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.LayerNorm(8)
	conv, bn, ln := nn.NewConv2d(s, 3, 8, 3, nn.Padding(1)), nn.NewBatchNorm2d(s, 8), nn.NewLayerNorm(s, 8)
	fmt.Println(conv.Forward(s, amp.Zeros(s, amp.Float32, 1, 3, 4, 4)).Shape(), len(bn.Buffers()), len(ln.Parameters()))

	// torch: nn.Embedding(100, 16), nn.MultiheadAttention(16, 4), nn.Dropout(0.1)
	table, attention, drop := nn.NewEmbedding(s, 100, 16), nn.NewMultiheadAttention(s, 16, 4, nn.AttentionOptions{}), nn.NewDropout(0.1)
	fmt.Println(table.Forward(s, amp.RandInt(s, 0, 100, 5)).Shape(), len(attention.Parameters()), len(drop.Parameters()))

	// torch: spectral_norm(nn.Linear(8, 4)), weight_norm(nn.Conv1d(4, 8, 3))  # of torch.nn.utils.parametrizations
	bounded, split := nn.SpectralNorm(s, nn.NewLinear(s, 8, 4)), nn.WeightNorm(s, nn.NewConv1d(s, 4, 8, 3))
	fmt.Println(len(bounded.Buffers()), len(split.Parameters()))

	// torch: torchvision.models.resnet18(num_classes=10)
	resnet := nn.NewResNet18(s, 10)
	fmt.Println(len(resnet.Parameters()))

	// torch: F.cross_entropy(logits, labels), F.mse_loss(x, y)
	ce := nn.CrossEntropyLoss(s, amp.Zeros(s, amp.Float32, 2, 4), amp.From([]int64{0, 3}))
	mse := nn.MSELoss(s, amp.Zeros(s, amp.Float32, 2), amp.Ones(s, amp.Float32, 2))
	fmt.Printf("%.3f %v\n", ce.Item(), mse.Item())

	// torch: optim.SGD(net.parameters(), lr=0.1, momentum=0.9), optim.AdamW(net.parameters())
	opt, adam := optim.NewSGD(net.Parameters(), optim.LR(0.1), optim.Momentum(0.9)), optim.NewAdamW(net.Parameters())
	fmt.Println(len(opt.Parameters()), len(adam.Parameters()))

	// torch: optim.lr_scheduler.CosineAnnealingLR(opt, 100)
	// torch: schedule.step()
	schedule := optim.NewCosineAnnealingLR(opt, 100, 0)
	schedule.Step()
	fmt.Printf("%.5f\n", opt.Groups()[0].LR())

	// torch: # no such thing: a schedule that does not count skipped steps
	counted := optim.CountApplied(optim.NewStepLR(opt, 10, 0.5))
	counted.Step()
	fmt.Println(counted != nil)

	// torch: ema = AveragedModel(net, multi_avg_fn=get_ema_multi_avg_fn(0.999))
	// torch: ema.update_parameters(net)
	ema := nn.NewAveragedModel(nn.NewSequential(nn.NewLinear(s, 8, 16), nn.ReLU, nn.NewLinear(s, 16, 1)), net, nn.EMA(0.999))
	ema.Update(s)
	fmt.Println(ema.Averaged())

	normed := nn.NewSequential(nn.NewLinear(s, 8, 4), nn.NewBatchNorm1d(s, 4))
	batches := slices.Values([]*amp.Tensor{amp.Randn(s, amp.Float32, 0, 1, 6, 8), amp.Randn(s, amp.Float32, 0, 1, 6, 8)})
	// torch: update_bn(loader, swa_model), SWALR(opt, swa_lr=0.05)
	nn.UpdateBN(s, normed, batches)
	swa := optim.NewSWALR(opt, 0.05, 10, false)
	fmt.Println(nn.StateDict(normed)["1.num_batches_tracked"].Item(), swa.Epoch())

	// torch: dict(net.named_modules()), dict(net.named_children())  # and net.apply(f)
	modules, children := maps.Collect(nn.NamedModules(net)), nn.Children(net)
	fmt.Println(len(modules), children[2].Name)

	// torch: [name for name, p in net.named_parameters()]
	first := net.Parameters()[0].Name()
	fmt.Println(first)

	// torch: net.state_dict(), net.load_state_dict(d)
	state := nn.StateDict(net)
	err := nn.LoadStateDict(net, state)
	fmt.Println(len(state), err)

	words, head := nn.NewEmbedding(s, 10, 4), nn.NewLinear(s, 4, 10, nn.NoBias())
	// torch: head.weight = words.weight
	// torch: both = nn.Sequential(words, head).state_dict()  # has both names
	head.Weight = words.Weight
	both := nn.StateDict(nn.NewSequential(words, head), nn.TiedNames())
	fmt.Println(len(both))

	dir, _ := os.MkdirTemp("", "sheet")
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "x.safetensors")
	// torch: safetensors.torch.save_file(net.state_dict(), path)
	// torch: safetensors.torch.load_file(path)
	err = safetensors.Save(path, nn.StateDict(net), nil)
	tensors, _, _ := safetensors.Load(path)
	fmt.Println(err, len(tensors))

	// torch: torch.save({"net": net.state_dict(), "opt": opt.state_dict(), …}, path)
	err = checkpoint.Save(path, checkpoint.Parts{Model: net, Optimizer: opt, Scheduler: schedule, Random: s.Random()})
	fmt.Println(err, checkpoint.Load(path, checkpoint.Parts{Model: net, Optimizer: opt, Scheduler: schedule, Random: s.Random()}))
	// Output:
	// 4
	// 2
	// [1 8 4 4] 3 2
	// [5 16] 4 0
	// 2 3
	// 62
	// 1.386 1
	// 4 4
	// 0.09998
	// true
	// 1
	// 2 0
	// 4 2
	// 0.weight
	// 4 <nil>
	// 2
	// <nil> 4
	// <nil> <nil>
}
