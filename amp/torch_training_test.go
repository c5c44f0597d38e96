package amp_test

import (
	"compress/gzip"
	"encoding/base64"
	le "encoding/binary"
	"encoding/json"
	"maps"
	"math"
	"os"
	"slices"
	"testing"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/amp/optim"
)

// Trainings of five steps against PyTorch's, from testdata/torch/trajectories.json.gz (see trajectories.py there): the losses of every
// step and the tensors after the last.
//
//   - float64 agrees to 1e-11 of the largest element of a tensor, as nothing but the order of sums differs.
//   - float32 agrees with PyTorch's float32 to 1e-5, and is no farther from float64 than twice PyTorch is, or 1e-6.
//   - Under autocast to bfloat16 by the CPU lists, where both are rounding noise away from float64, the losses are no farther than twice
//     PyTorch's or one rounding (2^-8), nor are the tensors together, as a root mean square; any single one at most four times as far.

type stored struct {
	Shape []int
	DType amp.DType
	Bits  string
}

func (v stored) values(t *testing.T) []float64 {
	t.Helper()
	b, err := base64.StdEncoding.DecodeString(v.Bits)
	if err != nil {
		t.Fatal(err)
	}
	out := make([]float64, len(b)/v.DType.Size())
	for i := range out {
		switch v.DType {
		case amp.Float32:
			out[i] = float64(math.Float32frombits(le.LittleEndian.Uint32(b[4*i:])))
		case amp.Float64:
			out[i] = math.Float64frombits(le.LittleEndian.Uint64(b[8*i:]))
		case amp.Int64:
			out[i] = float64(int64(le.LittleEndian.Uint64(b[8*i:])))
		}
	}
	return out
}

// tensor returns the values, floats in dtype dt.
func (v stored) tensor(t *testing.T, dt amp.DType) *amp.Tensor {
	if v.DType == amp.Int64 {
		dt = amp.Int64
		if len(v.Shape) == 0 {
			return amp.Scalar(int64(v.values(t)[0]))
		}
	}
	return amp.FromFloat64s(dt, v.values(t), v.Shape...)
}

type trajectory struct {
	Losses []float64
	Final  map[string]stored
}

type torchNet struct {
	Init    map[string]stored
	Buffers []string
	X, Y    stored
	Runs    map[string]trajectory
}

type torchTraining struct {
	MLP struct {
		torchNet
		Optimizers map[string]struct {
			Kind    string
			Options map[string]any
			Runs    map[string]trajectory
		}
	}
	ConvNet, Transformer torchNet
}

func readTraining(t *testing.T) (v torchTraining) {
	t.Helper()
	readGzip(t, "testdata/torch/trajectories.json.gz", &v)
	return v
}

func readGzip(t *testing.T, path string, v any) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.NewDecoder(z).Decode(v); err != nil {
		t.Fatal(err)
	}
}

// A torchModel computes the loss from its tensors by name and the data.
type torchModel func(s *amp.Scope, p map[string]*amp.Tensor, x, y *amp.Tensor) *amp.Tensor

// run trains a model in a dtype, under autocast for bfloat16.
func (n torchNet) run(t *testing.T, dt amp.DType, f torchModel, opt func(params []*amp.Tensor) amp.Optimizer) ([]float64, map[string]*amp.Tensor) {
	lower := dt == amp.BFloat16
	if lower {
		dt = amp.Float32
	}
	p := map[string]*amp.Tensor{}
	var params []*amp.Tensor
	for _, name := range slices.Sorted(maps.Keys(n.Init)) {
		p[name] = n.Init[name].tensor(t, dt).SetName(name)
		if !slices.Contains(n.Buffers, name) {
			params = append(params, p[name].RequireGrad())
		}
	}
	o := opt(params)
	x, y := n.X.tensor(t, dt), n.Y.tensor(t, dt)
	var losses []float64
	for range 5 {
		s := amp.NewScope()
		o.ZeroGrad()
		auto := s
		if lower {
			auto = s.Autocast(amp.BFloat16, amp.UseLists(amp.CPULists))
		}
		loss := f(auto, p, x, y)
		loss.Backward()
		losses = append(losses, loss.Item())
		o.Step()
		s.Close()
	}
	return losses, p
}

// check compares one run with PyTorch's and with float64.
func (n torchNet) check(t *testing.T, dt amp.DType, f torchModel, opt func(params []*amp.Tensor) amp.Optimizer) {
	t.Helper()
	theirs, exact := n.Runs[dt.String()], n.Runs["float64"]
	losses, final := n.run(t, dt, f, opt)
	agree(t, dt, "losses", 2, losses, theirs.Losses, exact.Losses)
	if len(theirs.Final) != len(final) {
		t.Fatalf("%d tensors, torch has %d", len(final), len(theirs.Final))
	}
	times := 2.0
	if dt == amp.BFloat16 {
		times = 4
	}
	var ours2, theirs2 float64
	for name, w := range final {
		d, ref := agree(t, dt, name, times, w.Float64s(), theirs.Final[name].values(t), exact.Final[name].values(t))
		ours2, theirs2 = ours2+d*d, theirs2+ref*ref
	}
	if dt == amp.BFloat16 && !(ours2 <= 4*theirs2) {
		t.Errorf("%v: all tensors are off by %.3g, torch's by %.3g", dt, math.Sqrt(ours2), math.Sqrt(theirs2))
	}
}

// agree compares the numbers of one tensor, relative to its largest, and returns how far ours and theirs are from the exact ones.
func agree(t *testing.T, dt amp.DType, name string, times float64, ours, theirs, exact []float64) (distance, allowed float64) {
	t.Helper()
	largest := 0.0
	for _, v := range exact {
		largest = math.Max(largest, math.Abs(v))
	}
	between, distance, allowed := farthest(ours, theirs)/largest, farthest(ours, exact)/largest, farthest(theirs, exact)/largest
	limit, least := math.Inf(1), 0x1p-8
	switch dt {
	case amp.Float64:
		limit, least = 1e-11, 1e-11
	case amp.Float32:
		limit, least = 1e-5, 1e-6
	}
	if !(between <= limit) || !(distance <= max(times*allowed, least)) {
		t.Errorf("%v %s: %.3g from torch's %v, %.3g from float64, torch %.3g", dt, name, between, dt, distance, allowed)
	}
	return distance, allowed
}

// farthest is the largest difference; NaN if there is one.
func farthest(a, b []float64) float64 {
	worst := 0.0
	for i, v := range a {
		if d := math.Abs(v - b[i]); d > worst || d != d {
			worst = d
		}
	}
	return worst
}

// TestTorchOptimizers trains an MLP with each optimizer.
func TestTorchOptimizers(t *testing.T) {
	mlp := readTraining(t).MLP
	f := func(s *amp.Scope, p map[string]*amp.Tensor, x, y *amp.Tensor) *amp.Tensor {
		h := amp.Tanh(s, amp.Linear(s, x, p["w1"], p["b1"]))
		return amp.MSELoss(s, amp.Linear(s, h, p["w2"], p["b2"]), y)
	}
	if len(mlp.Optimizers) < 14 {
		t.Errorf("only %d optimizers", len(mlp.Optimizers))
	}
	for name, o := range mlp.Optimizers {
		t.Run(name, func(t *testing.T) {
			net := mlp.torchNet
			net.Runs = o.Runs
			opt := func(params []*amp.Tensor) amp.Optimizer { return torchOptimizer(t, o.Kind, params, o.Options) }
			net.check(t, amp.Float32, f, opt)
			net.check(t, amp.Float64, f, opt)
		})
	}
}

// torchOptimizer makes an optimizer from PyTorch's names of kinds and options.
func torchOptimizer(t *testing.T, kind string, params []*amp.Tensor, options map[string]any) amp.Optimizer {
	var opts []optim.Option
	number := map[string]func(float64) optim.Option{"lr": optim.LR, "momentum": optim.Momentum, "dampening": optim.Dampening, "weight_decay": optim.WeightDecay,
		"eps": optim.Eps, "alpha": optim.Alpha, "lr_decay": optim.LRDecay, "initial_accumulator_value": optim.InitialAccumulator}
	flag := map[string]func() optim.Option{"nesterov": optim.Nesterov, "maximize": optim.Maximize, "amsgrad": optim.AMSGrad, "centered": optim.Centered}
	for name, v := range options {
		switch v := v.(type) {
		case float64:
			opts = append(opts, number[name](v))
		case bool:
			opts = append(opts, flag[name]())
		case []any:
			opts = append(opts, optim.Betas(v[0].(float64), v[1].(float64)))
		default:
			t.Fatalf("option %s", name)
		}
	}
	switch kind {
	case "SGD":
		return optim.NewSGD(params, opts...)
	case "Adam":
		return optim.NewAdam(params, opts...)
	case "AdamW":
		return optim.NewAdamW(params, opts...)
	case "RMSprop":
		return optim.NewRMSprop(params, opts...)
	case "Adagrad":
		return optim.NewAdagrad(params, opts...)
	}
	t.Fatal(kind)
	return nil
}

// TestTorchTransformer trains a block of a language model with AdamW.
func TestTorchTransformer(t *testing.T) {
	net := readTraining(t).Transformer
	opt := func(params []*amp.Tensor) amp.Optimizer {
		return optim.NewAdamW(params, optim.LR(0.01), optim.Eps(1e-3), optim.WeightDecay(0.1))
	}
	for _, dt := range []amp.DType{amp.Float64, amp.Float32, amp.BFloat16} {
		net.check(t, dt, transformerLoss, opt)
	}
}

func transformerLoss(s *amp.Scope, p map[string]*amp.Tensor, x, y *amp.Tensor) *amp.Tensor {
	const batch, steps, heads, width = 2, 6, 2, 8
	norm := func(h *amp.Tensor, name string) *amp.Tensor {
		return amp.LayerNorm(s, h, p[name+".scale"], p[name+".b"], 1e-5)
	}
	split := func(z *amp.Tensor) *amp.Tensor {
		return amp.Transpose(s, amp.Reshape(s, z, batch, steps, heads, width/heads), 1, 2)
	}
	h := amp.Add(s, amp.Embedding(s, p["token"], x), p["position"])
	qkv := amp.Split(s, amp.Linear(s, norm(h, "ln1"), p["qkv.w"], nil), width, -1)
	a := amp.ScaledDotProductAttention(s, split(qkv[0]), split(qkv[1]), split(qkv[2]), nil, amp.Attention{Causal: true})
	a = amp.Reshape(s, amp.Transpose(s, a, 1, 2), batch, steps, width)
	h = amp.Add(s, h, amp.Linear(s, a, p["proj.w"], p["proj.b"]))
	up := amp.GELU(s, amp.Linear(s, norm(h, "ln2"), p["up.w"], p["up.b"]))
	h = amp.Add(s, h, amp.Linear(s, up, p["down.w"], p["down.b"]))
	logits := amp.Linear(s, norm(h, "ln3"), p["head.w"], nil)
	return amp.CrossEntropy(s, amp.Reshape(s, logits, batch*steps, -1), amp.Reshape(s, y, -1))
}

// TestTorchConvNet trains two convolutions with batch norm with SGD.
func TestTorchConvNet(t *testing.T) {
	net := readTraining(t).ConvNet
	opt := func(params []*amp.Tensor) amp.Optimizer {
		return optim.NewSGD(params, optim.LR(0.05), optim.Momentum(0.9), optim.WeightDecay(1e-3))
	}
	for _, dt := range []amp.DType{amp.Float64, amp.Float32, amp.BFloat16} {
		net.check(t, dt, convNetLoss, opt)
	}
}

func convNetLoss(s *amp.Scope, p map[string]*amp.Tensor, x, y *amp.Tensor) *amp.Tensor {
	normed := func(h *amp.Tensor, name string) *amp.Tensor {
		st := amp.BatchNormState{RunningMean: p[name+".mean"], RunningVar: p[name+".var"], Eps: 1e-5, Momentum: 0.1}
		return amp.ReLU(s, amp.BatchNorm(s, h, p[name+".scale"], p[name+".b"], st))
	}
	h := normed(amp.Conv2d(s, x, p["conv1.w"], p["conv1.b"], amp.Padding(1)), "bn1")
	h = normed(amp.Conv2d(s, h, p["conv2.w"], p["conv2.b"], amp.Stride(2), amp.Padding(1)), "bn2")
	h = amp.MaxPool2d(s, h, 2)
	return amp.CrossEntropy(s, amp.Linear(s, amp.Reshape(s, h, 8, -1), p["fc.w"], p["fc.b"]), y)
}
