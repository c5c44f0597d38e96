package cheatsheet

import (
	"fmt"
	"math"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/amp/nn"
	"github.com/halftone-ml/halftone/amp/optim"
)

// classifier is a model of one's own: see nn.Parent.
type classifier struct {
	conv *nn.Conv
	norm *nn.BatchNorm
	head *nn.Linear
}

func (m *classifier) Children() []nn.Named {
	return []nn.Named{{Name: "conv", Module: m.conv}, {Name: "norm", Module: m.norm}, {Name: "head", Module: m.head}}
}

func (m *classifier) Parameters() []*amp.Tensor { return nn.ChildParameters(m) }

func (m *classifier) Forward(s *amp.Scope, x *amp.Tensor) *amp.Tensor {
	h := amp.ReLU(s, m.norm.Forward(s, m.conv.Forward(s, x)))
	return m.head.Forward(s, amp.Mean(s, h, 2, 3))
}

func Example_models() {
	root := amp.NewScope(amp.Seed(1))
	defer root.Close()
	s := root

	// torch: class Classifier(nn.Module):  # layers in __init__, ops in forward
	// torch: net = Classifier()
	net := &classifier{nn.NewConv2d(root, 3, 8, 3), nn.NewBatchNorm2d(root, 8), nn.NewLinear(root, 8, 10)} // Children, Parameters, Forward: go doc nn.Parent
	nn.NameChildren(net)
	fmt.Println(net.Parameters()[0].Name(), len(nn.StateDict(net)), net.Forward(root, amp.Ones(root, amp.Float32, 2, 3, 8, 8)).Shape())

	// torch: def forward(self, a, b): …  # of a model with nn.Bilinear
	// torch: model.state_dict()
	mix := nn.NewBilinear(root, 3, 4, 1) // a model of your own too: go doc nn.NoForward
	between := mix.Forward(s, amp.Ones(s, amp.Float32, 5, 3), amp.Ones(s, amp.Float32, 5, 4))
	state := nn.StateDict(nn.NoForward{Of: mix})
	fmt.Println(between.Shape(), len(state))

	// torch: nn.init.normal_(w, 0, 0.02), nn.init.zeros_(b), nn.init.kaiming_normal_(w, nonlinearity="relu")
	w, b := net.head.Weight, net.head.Bias
	nn.Normal(root, w, 0, 0.02)
	nn.Constant(root, b, 0)
	nn.KaimingNormal(root, w, nn.FanIn, math.Sqrt2)
	fmt.Println(b.Float64s()[0])

	decayed, others := []*amp.Tensor{w}, []*amp.Tensor{b}
	// torch: opt = optim.AdamW([{"params": decayed}, {"params": others, "weight_decay": 0}], lr=3e-4)
	opt := optim.NewAdamW(decayed, optim.LR(3e-4))
	opt.AddGroup(optim.Group{Params: others, Options: []optim.Option{optim.WeightDecay(0)}})
	fmt.Println(len(opt.Groups()), opt.Groups()[1].WeightDecay())

	// torch: for g in opt.param_groups: g["lr"] = 1e-4
	opt.SetLR(1e-4)
	fmt.Println(opt.Groups()[1].LR())

	x := amp.From([]float32{1, 2, 3, 4}, 2, 2)
	// torch: 1 - x, x.size(0), x.dim()
	rest, rows, dims := amp.ScalarSub(s, 1, x), x.Shape()[0], len(x.Shape())
	fmt.Println(rest.Float64s(), rows, dims)

	// torch: x[:, None], x[:, :-1], x[:, -1]
	column, begin, last := amp.Unsqueeze(s, x, 1), amp.Slice(s, x, 1, 0, -1, 1), amp.Select(s, x, 1, -1)
	fmt.Println(column.Shape(), begin.Float64s(), last.Float64s())

	// Truncated backpropagation through time: tensors made once carry the state, so that memory stays as it is.
	lstm := nn.NewLSTM(root, 4, 8, nn.RecurrentOptions{})
	h, c := amp.Zeros(root, amp.Float32, 1, 2, 8), amp.Zeros(root, amp.Float32, 1, 2, 8)
	for s := range root.Steps(2) {
		x := amp.Ones(s, amp.Float32, 5, 2, 4)
		// torch: y, (h, c) = lstm(x, (h.detach(), c.detach()))
		// torch: y.sum().backward()
		y, state := lstm.Run(s, x, nn.RecurrentState{H: h, C: c})
		amp.Sum(s, y).Backward()
		amp.Assign(h, state.H) // h and c were made in root before the loop: no gradient goes on to the step before
		amp.Assign(c, state.C)
		fmt.Println(y.Shape(), h.RequiresGrad())
	}

	// Output:
	// conv.weight 9 [2 10]
	// [5 1] 2
	// 0
	// 2 0
	// 0.0001
	// [0 -1 -2 -3] 2 2
	// [2 1 2] [1 3] [2 4]
	// [5 2 8] false
	// [5 2 8] false
}
