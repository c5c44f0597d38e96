package checkpoint_test

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/amp/checkpoint"
	"github.com/halftone-ml/halftone/amp/dataset"
	"github.com/halftone-ml/halftone/amp/nn"
	"github.com/halftone-ml/halftone/amp/optim"
	"github.com/halftone-ml/halftone/amp/safetensors"
)

// stripes returns images of two classes: bright rows or bright columns.
func stripes() *dataset.Images {
	m := &dataset.Images{Shape: [3]int{1, 4, 4}, Classes: []string{"rows", "columns"}}
	for i := range 22 {
		px := make([]byte, 16)
		for k := range 4 {
			if i%2 == 0 {
				px[i%4*4+k] = byte(100 + 5*i)
			} else {
				px[k*4+i%4] = byte(100 + 5*i)
			}
		}
		m.Data, m.Labels = append(m.Data, px...), append(m.Labels, uint8(i%2))
	}
	return m
}

// A training is a run with everything in it that a checkpoint keeps.
type training struct {
	root     *amp.Scope
	net      *nn.Sequential
	opt      optim.Optimizer
	schedule *optim.Applied
	scaler   *amp.GradScaler
	loader   *dataset.Loader
	steps    int
	average  *amp.Tensor
	losses   []uint64
	skipped  int
}

func newTraining(t *testing.T, seed uint64, opts ...optim.Option) *training {
	r := &training{root: amp.NewScope(amp.Seed(seed)), average: amp.From([]float64{0})}
	t.Cleanup(r.root.Close)
	r.net = nn.NewSequential(nn.NewLinear(r.root, 16, 12), nn.NewBatchNorm1d(r.root, 12), nn.ReLU, nn.NewLinear(r.root, 12, 2))
	p := r.net.Parameters()
	o := optim.NewAdamW(p[:2], append(opts, optim.LR(0.02))...)
	o.AddGroup(optim.Group{Params: p[2:], Options: []optim.Option{optim.WeightDecay(0), optim.LR(0.01)}})
	r.opt = o
	r.schedule = optim.CountApplied(optim.NewWarmupCosine(o, 3, 12, 0.1, 1e-4))
	// A scale far too high, that grows at once: many steps overflow.
	r.scaler = amp.NewGradScaler(amp.InitScale(1<<19), amp.GrowthInterval(2))
	r.loader = dataset.NewLoader(stripes(), 4, dataset.Shuffle(seed))
	return r
}

func (r *training) parts() checkpoint.Parts {
	return checkpoint.Parts{
		Model: r.net, Optimizer: r.opt, Scheduler: r.schedule, Scaler: r.scaler, Random: r.root.Random(), Loader: r.loader,
		Tensors: map[string]*amp.Tensor{"average": r.average}, Values: map[string]any{"steps": &r.steps},
	}
}

// train takes n steps in float16 with noise on the input.
func (r *training) train(n int) {
	for s := range r.root.Steps(n) {
		b := r.loader.Next(s)
		half := s.Autocast(amp.Float16)
		x := amp.Reshape(s, b.X, b.X.Dim(0), 16)
		x = amp.Add(s, x, amp.Randn(s, amp.Float32, 0, 0.1, x.Shape()...))
		loss := amp.CrossEntropy(half, r.net.Forward(half, x), b.Y)
		r.opt.ZeroGrad()
		r.scaler.Scale(s, loss).Backward()
		r.scaler.Unscale(r.opt)
		optim.ClipGradNorm(r.opt.Parameters(), 1)
		if !r.scaler.Step(r.opt).Applied() {
			r.skipped++
		}
		r.scaler.Update()
		r.schedule.Step()
		r.steps++
		amp.SetValues(r.average, []float64{0.9*r.average.Item() + 0.1*loss.Item()})
		r.losses = append(r.losses, math.Float64bits(loss.Item()))
	}
}

// bits returns everything that must be equal.
func (r *training) bits(t *testing.T) string {
	t.Helper()
	var b bytes.Buffer
	for _, p := range append(r.net.Parameters(), r.net.Buffers()...) {
		if err := amp.WriteRaw(&b, p); err != nil {
			t.Fatal(err)
		}
	}
	return fmt.Sprintf("%x %v %v %v %v %v %v %v", sha256.Sum256(b.Bytes()), r.scaler.CurrentScale(), r.scaler.GrowthTracker(), r.opt.Groups()[1].LR(),
		r.opt.Steps(), r.root.Random().State(), r.loader.State(), r.average.Item())
}

// TestResume: ten steps in one go equal five, a checkpoint loaded into objects made with another seed, and five more, bit for bit;
// with steps skipped before and after.
func TestResume(t *testing.T) {
	for name, opts := range map[string][]optim.Option{"plain": nil, "fused": {optim.Fused()}, "amsgrad": {optim.AMSGrad()}} {
		path := filepath.Join(t.TempDir(), "run.safetensors")
		whole := newTraining(t, 1, opts...)
		whole.train(10)
		first := newTraining(t, 1, opts...)
		first.train(5)
		if err := checkpoint.Save(path, first.parts()); err != nil {
			t.Fatal(err)
		}
		before := first.skipped
		second := newTraining(t, 99, opts...)
		second.train(3)
		if err := checkpoint.Load(path, second.parts()); err != nil {
			t.Fatal(err)
		}
		if a, b := first.bits(t), second.bits(t); a != b || second.steps != 5 {
			t.Fatalf("%s: the state itself differs (%d steps):\n%s\n%s", name, second.steps, a, b)
		}
		second.skipped = 0
		second.train(5)
		if !slices.Equal(whole.losses[5:], second.losses[3:]) || !slices.Equal(whole.losses[:5], first.losses) {
			t.Errorf("%s: losses %v in one go, then %v", name, whole.losses[5:], second.losses[3:])
		}
		if a, b := whole.bits(t), second.bits(t); a != b {
			t.Errorf("%s: in one go and restarted differ:\n%s\n%s", name, a, b)
		}
		if before == 0 || second.skipped == 0 || whole.skipped != before+second.skipped || whole.opt.Steps() == 0 {
			t.Errorf("%s: %d steps skipped before, %d after: the test needs both", name, before, second.skipped)
		}
	}
}

// TestRefusals: a file that does not fit names what differs and leaves everything as it was.
func TestRefusals(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run.safetensors")
	saved := newTraining(t, 1)
	saved.train(5)
	if err := checkpoint.Save(path, saved.parts()); err != nil {
		t.Fatal(err)
	}
	r := newTraining(t, 2)
	r.train(4)
	other := nn.NewSequential(nn.NewLinear(r.root, 16, 12), nn.Named{Name: "head", Module: nn.NewLinear(r.root, 12, 2)})
	before := r.bits(t)
	var text string
	for name, c := range map[string]struct {
		change func(p *checkpoint.Parts)
		want   string
	}{
		"model":     {func(p *checkpoint.Parts) { p.Model = other }, "head.bias is missing in it"},
		"optimizer": {func(p *checkpoint.Parts) { p.Optimizer = optim.NewSGD(r.net.Parameters()) }, `saved by "AdamW"`},
		"schedule":  {func(p *checkpoint.Parts) { p.Scheduler = optim.NewStepLR(r.opt, 1, 1) }, `saved by "Applied"`},
		"loader":    {func(p *checkpoint.Parts) { p.Loader = dataset.NewLoader(stripes(), 5) }, "batches of 4"},
		"tensor":    {func(p *checkpoint.Parts) { p.Tensors = map[string]*amp.Tensor{"average": amp.From([]float32{1})} }, "average is float64 [1] in it, here float32 [1]"},
		"value":     {func(p *checkpoint.Parts) { p.Values = map[string]any{"name": &text} }, `no "value.name"`},
		"type":      {func(p *checkpoint.Parts) { p.Values = map[string]any{"steps": &text} }, "value.steps"},
		"more":      {func(p *checkpoint.Parts) { p.More = map[string]checkpoint.Parts{"critic": {Scaler: r.scaler}} }, `no "critic/scaler"`},
		"level": {func(p *checkpoint.Parts) {
			_, p.Level = amp.Initialize(other, optim.NewSGD(other.Parameters()), amp.O1)
		}, `no "level"`},
	} {
		p := r.parts()
		c.change(&p)
		if err := checkpoint.Load(path, p); !errors.Is(err, checkpoint.ErrMismatch) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
		if after := r.bits(t); after != before {
			t.Fatalf("%s: a refused checkpoint changed the run:\n%s\n%s", name, before, after)
		}
	}
	for _, bad := range []map[string]any{{"steps": 3}, {"steps": (*int)(nil)}} {
		p := r.parts()
		p.Values = bad
		if err := checkpoint.Load(path, p); err == nil || !strings.Contains(err.Error(), "pointer") {
			t.Error(err)
		}
	}
	p := r.parts()
	p.Values = map[string]any{"f": func() {}}
	if err := checkpoint.Save(path, p); err == nil || !strings.Contains(err.Error(), "value.f") {
		t.Error(err)
	}
	if err := checkpoint.Save(path, checkpoint.Parts{More: map[string]checkpoint.Parts{"a.b": {}}}); err == nil {
		t.Error("a name with a dot was taken")
	}
	if err := checkpoint.Load(filepath.Join(t.TempDir(), "none"), p); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	plain := filepath.Join(t.TempDir(), "plain.safetensors")
	if err := safetensors.Save(plain, nil, nil); err != nil {
		t.Fatal(err)
	}
	if err := checkpoint.Load(plain, p); !errors.Is(err, checkpoint.ErrMismatch) {
		t.Error(err)
	}
}

// TestPartOfACheckpoint: the weights alone, for inference, and files that other readers understand.
func TestPartOfACheckpoint(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run.safetensors")
	a := newTraining(t, 1)
	a.train(4)
	if err := checkpoint.Save(path, a.parts()); err != nil {
		t.Fatal(err)
	}
	b := newTraining(t, 2)
	if err := checkpoint.Load(path, checkpoint.Parts{Model: b.net}); err != nil {
		t.Fatal(err)
	}
	for i, p := range a.net.Parameters() {
		if !slices.Equal(p.Float64s(), b.net.Parameters()[i].Float64s()) {
			t.Errorf("%s was not restored", p.Name())
		}
	}
	tensors, metadata, err := safetensors.Load(path)
	if err != nil || tensors["model.0.weight"] == nil || tensors["model.1.running_mean"] == nil || tensors["optimizer.0.exp_avg"] == nil || !strings.Contains(metadata["scaler"], `"_growth_tracker"`) {
		t.Error(err, metadata)
	}
}

// TestSeveralModels keeps two runs in one file.
func TestSeveralModels(t *testing.T) {
	path := filepath.Join(t.TempDir(), "gan.safetensors")
	both := func(a, b *training) checkpoint.Parts {
		return checkpoint.Parts{More: map[string]checkpoint.Parts{"generator": a.parts(), "critic": b.parts()}}
	}
	a, b, c, d := newTraining(t, 1), newTraining(t, 2), newTraining(t, 3), newTraining(t, 4)
	a.train(3)
	b.train(4)
	if err := checkpoint.Save(path, both(a, b)); err != nil {
		t.Fatal(err)
	}
	if err := checkpoint.Load(path, both(c, d)); err != nil {
		t.Fatal(err)
	}
	if a.bits(t) != c.bits(t) || b.bits(t) != d.bits(t) {
		t.Error("the two were not restored")
	}
	// One that fails takes back what another has loaded.
	before := c.bits(t)
	p := both(c, d)
	critic := p.More["critic"]
	critic.Optimizer = optim.NewAdagrad(d.net.Parameters())
	p.More["critic"] = critic
	c.train(2)
	d.train(2)
	moved := c.bits(t) + d.bits(t)
	if err := checkpoint.Load(path, p); err == nil || c.bits(t)+d.bits(t) != moved || before == c.bits(t) {
		t.Errorf("%v: a refused checkpoint changed the run", err)
	}
}

// TestLevelO2 resumes a run with half weights and float32 masters.
func TestLevelO2(t *testing.T) {
	type run struct {
		root *amp.Scope
		m    *amp.LevelModel
		net  *nn.Sequential
		opt  optim.Optimizer
		o    *amp.LevelOptimizer
	}
	build := func(seed uint64) run {
		root := amp.NewScope(amp.Seed(seed))
		t.Cleanup(root.Close)
		net := nn.NewSequential(nn.NewLinear(root, 4, 8), nn.ReLU, nn.NewLinear(root, 8, 1))
		opt := optim.NewAdam(net.Parameters(), optim.LR(0.05))
		m, o := amp.Initialize(net, opt, amp.O2)
		return run{root, m, net, opt, o}
	}
	parts := func(r run) checkpoint.Parts {
		return checkpoint.Parts{Model: r.net, Optimizer: r.opt, Level: r.o, Random: r.root.Random()}
	}
	train := func(r run, n int) (out []uint64) {
		for s := range r.root.Steps(n) {
			x := amp.Randn(s, amp.Float32, 0, 1, 6, 4)
			loss := nn.MSELoss(r.m.Scope(s), r.m.Forward(s, x), amp.SumKeep(s, x, 1))
			r.o.ZeroGrad()
			r.o.ScaleLoss(s, loss, func(scaled *amp.Tensor) { scaled.Backward() })
			r.o.Step()
			out = append(out, math.Float64bits(loss.Item()))
		}
		for _, p := range r.o.Parameters() {
			for _, v := range p.Float64s() {
				out = append(out, math.Float64bits(v))
			}
		}
		return out
	}
	a := build(1)
	train(a, 3)
	path := filepath.Join(t.TempDir(), "o2.safetensors")
	if err := checkpoint.Save(path, parts(a)); err != nil {
		t.Fatal(err)
	}
	want := train(a, 3)
	b := build(2)
	train(b, 1)
	if err := checkpoint.Load(path, parts(b)); err != nil {
		t.Fatal(err)
	}
	if got := train(b, 3); !slices.Equal(got, want) {
		t.Errorf("restarted %v, in one go %v", got, want)
	}
	tensors, _, err := safetensors.Load(path)
	if err != nil || tensors["model.0.weight"].DType() != amp.Float16 || tensors["level.0.0.weight"].DType() != amp.Float32 {
		t.Error(err)
	}
}
