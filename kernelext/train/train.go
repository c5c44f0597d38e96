// Package train runs the two experiments that stand for real work: ResNet-18 on small images and a GPT on source text, in float32 or
// under autocast, from data that every machine has.
package train

import (
	"context"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/amp/dataset"
	"github.com/halftone-ml/halftone/amp/nn"
	"github.com/halftone-ml/halftone/amp/optim"
)

// A Config says what to train. Zero values stand for the experiment's defaults, which Complete fills in.
type Config struct {
	Model     string    // "resnet18" or "gpt"
	Precision amp.DType // Float32 trains without autocast; Float16 with a gradient scaler
	FP8       string    // "tensor", "row" or "block": linear layers read 8 bits with such scales under autocast (amp.FP8); "": they do not
	FP4       string    // "nv" or "mx": they read 4 bits, NVFP4 or MXFP4 (amp.FP4); "": they do not
	Device    string
	Data      string // "" for the data that is drawn or found here, else a folder of CIFAR-10 or a text file
	Steps     int
	Batch     int
	Width     int // channels of ResNet's first stage, features of the GPT
	LR        float64
	Seed      uint64
	Save      string // checkpoint written at the end, and at an interrupt
	Resume    string // checkpoint to go on from

	drawn, held int // sizes of the drawn set, or samples of text that are tested on
}

// A Progress is where a run stands after a step.
type Progress struct {
	Step, Steps int
	Loss        float64 // of the step, smoothed
	Scale       float64 // loss scale, 1 without a scaler
	Skipped     int
	StepTime    time.Duration // of the last step
	Left        time.Duration
}

// A Result is what came of a run.
type Result struct {
	Config     Config           `json:"-"`
	Parameters int              `json:"parameters"`
	Steps      int              `json:"steps"` // taken in all, those before a checkpoint included
	Skipped    int              `json:"skipped"`
	Loss       float64          `json:"loss"`   // on data that was not trained on
	Metric     string           `json:"metric"` // "accuracy" or "nats per byte"
	Value      float64          `json:"value"`  // in percent for an accuracy
	Scale      float64          `json:"scale"`
	StepTime   time.Duration    `json:"step_ns"`    // median
	Peak       int64            `json:"peak_bytes"` // of tensors while training, the model's among them
	History    amp.ScaleHistory `json:"scale_history"`
	Sample     string           `json:"sample,omitempty"` // text that the GPT wrote
}

// An experiment is what the two have of their own.
type experiment interface {
	model() nn.Module
	optimizer(lr float64) optim.Optimizer
	loader() *dataset.Loader
	// loss returns the training loss of a batch in scope s, which may be under autocast.
	loss(s *amp.Scope, b dataset.Batch) *amp.Tensor
	// clip is the largest norm of the gradients, 0 for any.
	clip() float64
	// test fills in what the data held back says. s is for evaluation.
	test(s *amp.Scope, r *Result)
}

// defaults are the settings an experiment was tuned for.
var defaults = map[string]Config{
	"resnet18": {Steps: 700, Batch: 64, Width: 16, LR: 2e-3, drawn: 40000, held: 4000},
	"gpt":      {Steps: 1800, Batch: 16, Width: 128, LR: 3e-3, held: 256},
}

// Complete fills in defaults and refuses what can't be run.
func (c Config) Complete() (Config, error) {
	d, ok := defaults[c.Model]
	if !ok {
		return c, fmt.Errorf("there is no model %q; train resnet18 or gpt", c.Model)
	}
	fill := func(v *int, d int) {
		if *v == 0 {
			*v = d
		}
	}
	fill(&c.Steps, d.Steps)
	fill(&c.Batch, d.Batch)
	fill(&c.Width, d.Width)
	fill(&c.drawn, d.drawn)
	fill(&c.held, d.held)
	if c.LR == 0 {
		c.LR = d.LR
	}
	if c.Device == "" {
		c.Device = "cpu"
	}
	if c.Precision == amp.NoDType {
		c.Precision = amp.Float32
	}
	if c.Steps < 1 || c.Batch < 1 || c.Width < 8 || c.LR <= 0 {
		return c, fmt.Errorf("%d steps of %d samples, width %d, learning rate %v; use at least 1 step, 1 sample, a width of 8 and a rate above 0", c.Steps, c.Batch, c.Width, c.LR)
	}
	if !slices.Contains([]amp.DType{amp.Float32, amp.Float16, amp.BFloat16}, c.Precision) {
		return c, fmt.Errorf("can't train in %v; use float32, float16 or bfloat16", c.Precision)
	}
	return c, c.fitsShort()
}

// fitsShort says what does not go with FP8 and FP4.
func (c Config) fitsShort() error {
	switch {
	case c.FP8 == "" && c.FP4 == "":
		return nil
	case c.FP8 != "" && c.FP4 != "":
		return fmt.Errorf("both FP8 and FP4; use one of them")
	case c.FP4 != "" && c.FP4 != "nv" && c.FP4 != "mx":
		return fmt.Errorf("unknown format of 4 bits %q; use nv or mx", c.FP4)
	}
	bits, name := 4, c.Name()
	if c.FP4 == "" {
		if _, err := amp.ParseGranularity(c.FP8); err != nil {
			return err
		}
		if misuse := amp.Maybe(func() { amp.FP8(c.fp8()) }); misuse != nil {
			return misuse
		}
		bits, name = 8, "fp8"
	}
	switch {
	case c.Precision == amp.Float32:
		return fmt.Errorf("%d bits are for layers under autocast; use bfloat16 or float16 with FP%[1]d", bits)
	case c.Model != "gpt":
		return fmt.Errorf("%s convolves, and %d-bit products are those of linear layers; train gpt in %s", c.Model, bits, name)
	}
	return nil
}

// fp4 is the recipe of 4 bits.
func (c Config) fp4() *amp.FP4Recipe { return &amp.FP4Recipe{MX: c.FP4 == "mx"} }

// fp8 is the recipe of FP8, which names a granularity.
func (c Config) fp8() *amp.FP8Recipe {
	g, _ := amp.ParseGranularity(c.FP8)
	return &amp.FP8Recipe{Granularity: g}
}

// Name is what a run's precision is called: "float32", "float16", "bfloat16", or, with layers that read 8 or 4 bits, "fp8", "fp8-row", "fp8-block",
// "nvfp4", "mxfp4".
func (c Config) Name() string {
	switch {
	case c.FP4 != "":
		return c.fp4().Name()
	case c.FP8 != "":
		return c.fp8().Name()
	}
	return c.Precision.String()
}

// Run trains and tests. It calls report after every step. When ctx ends, the step that runs is finished, the checkpoint saved, and the
// context's error returned with the result so far.
func Run(ctx context.Context, c Config, report func(Progress)) (r Result, err error) {
	if c, err = c.Complete(); err != nil {
		return r, err
	}
	if err = writable(c.Save); err != nil {
		return r, err
	}
	misuse := amp.Maybe(func() { r, err = run(ctx, c, report) })
	if misuse != nil {
		err = misuse
	}
	return r, err
}

func run(ctx context.Context, c Config, report func(Progress)) (Result, error) {
	r := Result{Config: c}
	root := amp.NewScope(amp.On(c.Device), amp.Seed(c.Seed), amp.WithContext(ctx))
	defer root.Close()
	before := amp.MemStats()[root.Device()].Bytes // of earlier runs: models live on
	e, err := start(root, c)
	if err != nil {
		return r, err
	}
	t := &trainer{
		e: e, c: c, planned: c.Steps, root: root, opt: e.optimizer(c.LR),
		scaler: amp.NewGradScaler(amp.GrowthInterval(200), amp.ScalerEnabled(c.Precision == amp.Float16)),
	}
	t.schedule = optim.CountApplied(optim.NewOneCycleLR(t.opt, c.LR, c.Steps+1))
	for _, p := range e.model().Parameters() {
		r.Parameters += p.Len()
	}
	if c.Resume != "" {
		if err := t.resume(); err != nil {
			return r, fmt.Errorf("resuming: %w", err)
		}
	}
	amp.ResetPeakMemory()
	t.train(report)
	r.Peak = amp.MemStats()[root.Device()].Peak - before
	r.Steps, r.StepTime, r.History = t.done, t.median(), t.scaler.History()
	r.Skipped, r.Scale = r.History.Skipped, t.scaler.CurrentScale()
	if c.Save != "" {
		if err := t.save(); err != nil {
			return r, fmt.Errorf("saving: %w", err)
		}
	}
	if ctx.Err() != nil {
		return r, ctx.Err()
	}
	e.test(t.precision(root.Eval().NoGrad()), &r)
	return r, nil
}

// start makes the data and the model.
func start(root *amp.Scope, c Config) (experiment, error) {
	if c.Data != "" {
		if _, err := os.Stat(c.Data); err != nil {
			return nil, fmt.Errorf("data: %w", err)
		}
	}
	if c.Model == "gpt" {
		return newText(root, c)
	}
	return newImages(root, c)
}

// A trainer is a run under way.
type trainer struct {
	e        experiment
	c        Config
	root     *amp.Scope
	opt      optim.Optimizer
	scaler   *amp.GradScaler
	schedule *optim.Applied
	done     int
	planned  int // steps the learning rates are made for
	smooth   float64
	times    []time.Duration
}

// brought returns a batch on the scope's device: loaders make theirs on the CPU.
func brought(s *amp.Scope, b dataset.Batch) dataset.Batch {
	b.X, b.Y = b.X.To(s), b.Y.To(s)
	return b
}

// precision returns the scope that forward runs in.
func (t *trainer) precision(s *amp.Scope) *amp.Scope {
	switch {
	case t.c.Precision == amp.Float32:
		return s
	case t.c.FP4 != "":
		return s.Autocast(t.c.Precision, amp.FP4(t.c.fp4()))
	case t.c.FP8 != "":
		return s.Autocast(t.c.Precision, amp.FP8(t.c.fp8()))
	}
	return s.Autocast(t.c.Precision)
}

func (t *trainer) train(report func(Progress)) {
	params := t.e.model().Parameters()
	for s := range t.root.Steps(max(0, t.c.Steps-t.done)) {
		begin := time.Now()
		b := brought(s, t.e.loader().Next(s))
		loss := t.e.loss(t.precision(s), b)
		t.opt.ZeroGrad()
		t.scaler.Scale(s, loss).Backward()
		if limit := t.e.clip(); limit > 0 {
			t.scaler.Unscale(t.opt)
			optim.ClipGradNorm(params, limit)
		}
		t.scaler.Step(t.opt)
		t.scaler.Update()
		t.schedule.Step()
		t.done++
		t.times = append(t.times, time.Since(begin))
		t.note(loss.Item(), report)
	}
}

// note smooths the loss, which jumps from batch to batch, and reports.
func (t *trainer) note(loss float64, report func(Progress)) {
	if len(t.times) == 1 {
		t.smooth = loss
	}
	t.smooth += (loss - t.smooth) * max(0.05, 1/float64(len(t.times)))
	if report == nil {
		return
	}
	last := t.times[len(t.times)-1]
	report(Progress{
		Step: t.done, Steps: t.c.Steps, Loss: t.smooth, Scale: t.scaler.CurrentScale(), Skipped: t.scaler.History().Skipped,
		StepTime: last, Left: time.Duration(t.c.Steps-t.done) * t.median(),
	})
}

func (t *trainer) median() time.Duration {
	if len(t.times) == 0 {
		return 0
	}
	sorted := slices.Clone(t.times)
	slices.Sort(sorted)
	return sorted[len(sorted)/2]
}
