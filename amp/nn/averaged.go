package nn

import (
	"fmt"
	"slices"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/internal/optional"
)

// AveragedModel holds running averages of a model's parameters in a second module of the same build, and runs as that. It is
// torch.optim.swa_utils.AveragedModel; its state has the names of that, "module.0.weight" and "n_averaged", and is saved as any
// module's: in a checkpoint as Parts{…, More: map[string]checkpoint.Parts{"ema": {Model: ema}}}.
//
//	ema := nn.NewAveragedModel(build(root), net, nn.EMA(0.999))
//	…
//	if scaler.Step(opt).Applied() { // weights that a skipped step left alone are not counted again
//		ema.Update(s)
//	}
//	…
//	y := ema.Forward(root.NoGrad().Eval(), x)
type AveragedModel struct {
	Module Module // with the averages
	of     Module
	count  *amp.Tensor // int64, n_averaged
	n      int         // what count was at that version: a device is not asked each time
	at     uint32
	opts   averageOptions
}

type averageOptions struct {
	ema     bool
	decay   float64
	buffers bool
}

// An AverageOption configures NewAveragedModel.
type AverageOption func(*averageOptions)

// EMA keeps of the average a share of decay at each update, an exponential moving average; the default is the mean of all models (stochastic
// weight averaging: Izmailov et al., Averaging Weights Leads to Wider Optima and Better Generalization, 2018). (PyTorch:
// get_ema_multi_avg_fn.)
func EMA(decay float64) AverageOption {
	return func(o *averageOptions) { o.ema, o.decay = true, decay }
}

// AverageBuffers averages float buffers as well; unless it is given they are copied, as whole numbers always are, whose averages PyTorch
// rounds down. (PyTorch: use_buffers.)
func AverageBuffers() AverageOption { return func(o *averageOptions) { o.buffers = true } }

// NewAveragedModel returns averages of a model's parameters, to be kept in the module into, which was built as the model was. Its
// parameters and buffers take the model's values, get the prefix "module." before their names, and are frozen. They may have another float
// dtype than the model's but not a half one, in which averages stop moving: build into with float32 parameters for a model in halves. It
// panics with amp.ErrArgument for modules that do not fit and a decay outside 0 … 1.
func NewAveragedModel(into, of Module, opts ...AverageOption) *AveragedModel {
	const op = "NewAveragedModel"
	a := &AveragedModel{Module: into, of: of, count: amp.Scalar[int64](0).SetName("n_averaged")}
	optional.Apply(op, opts, &a.opts, misused)
	if !(a.opts.decay >= 0 && a.opts.decay <= 1) {
		misused(op, "use a decay from 0 to 1, such as 0.999", "decay %v", a.opts.decay)
	}
	if missing(into) || missing(of) {
		misused(op, "pass two modules of the same build", "a module is nil")
	}
	own, theirs := tensorsOf(into), tensorsOf(of)
	if len(own) != len(theirs) {
		misused(op, "build both alike", "%d parameters and buffers, the model has %d", len(own), len(theirs))
	}
	for i, t := range own {
		p := theirs[i]
		switch {
		case t == p:
			misused(op, "build a second module for the averages", "both modules have %s", p.Name())
		case t.Name() != p.Name() || !slices.Equal(t.Shape(), p.Shape()) || t.DType().IsFloat() != p.DType().IsFloat():
			misused(op, "build both alike", "%q %v %v, the model has %q %v %v", t.Name(), t.DType(), t.Shape(), p.Name(), p.DType(), p.Shape())
		case t.DType().IsHalf():
			misused(op, "build the module for the averages in float32", "%s is %v, which small steps of an average do not change", t.Name(), t.DType())
		}
	}
	for i, t := range own {
		amp.Assign(t.Freeze(), theirs[i])
	}
	NameChildren(a)
	a.at = a.count.Version()
	return a
}

// tensorsOf returns parameters and buffers of a module.
func tensorsOf(m Module) []*amp.Tensor { return append(slices.Clone(m.Parameters()), Buffers(m)...) }

// Averaged returns the number of updates.
func (a *AveragedModel) Averaged() int {
	if v := a.count.Version(); v != a.at { // a state was loaded
		a.n, a.at = int(amp.Values[int64](a.count)[0]), v
	}
	return a.n
}

// Update takes the model's present parameters into the averages, in place: the first ones as they are, then with a weight of 1 - decay, or
// of one among all updates. Buffers are copied unless AverageBuffers says otherwise. Call it after a step that was applied: see
// AveragedModel. It takes no memory but for casts of a model in halves, one at a time. A step that Scope.Capture records may have that of an
// EMA, which each replay counts; the first update of one, and a mean, whose weight is another each time, are amp.ErrCapture there.
func (a *AveragedModel) Update(s *amp.Scope) {
	built("AveragedModel", a != nil && a.count != nil)
	n := a.Averaged()
	weight := 1 / float64(n+1)
	if a.opts.ema {
		weight = 1 - a.opts.decay
	}
	if n == 0 {
		weight = 1
	}
	step := s.Child()
	defer step.Close()
	own, theirs, parameters := tensorsOf(a.Module), tensorsOf(a.of), len(a.Module.Parameters())
	graph := recording(own)
	if graph != nil && (n == 0 || !a.opts.ema) {
		panic(&amp.Error{Op: "AveragedModel.Update", Kind: amp.ErrCapture, Detail: fmt.Sprintf("this update has the weight %g, and the same in every replay", weight),
			Fix: "call it after each Replay, or average by nn.EMA in every run of the step"})
	}
	for i, t := range own {
		if p := theirs[i]; weight == 1 || i >= parameters && !(a.opts.buffers && t.DType().IsFloat()) {
			amp.Assign(t, p)
		} else {
			approach(step.NoGrad(), t, p, weight)
		}
	}
	if graph != nil {
		graph.After(a.counted)
	} else {
		a.counted()
	}
}

// counted counts an update.
func (a *AveragedModel) counted() {
	n := a.Averaged() + 1
	amp.SetValues(a.count, []int64{int64(n)})
	a.n, a.at = n, a.count.Version()
}

// recording returns the graph that records what is queued on a module's device, nil if there is none.
func recording(tensors []*amp.Tensor) *amp.Graph {
	for _, t := range tensors {
		if g := amp.CapturingOn(t); g != nil && g.Recording() {
			return g
		}
	}
	return nil
}

// approach moves an average by a share of its way to a parameter: average -= weight·(average - parameter). That is a step of gradient
// descent with the parameter, taken from the average by weight decay, as gradient, which needs no memory of its own.
func approach(s *amp.Scope, average, parameter *amp.Tensor, weight float64) {
	to := amp.Detach(s, parameter)
	if to.DType() != average.DType() {
		to = amp.To(s, to, average.DType())
	}
	average.SetGrad(to)
	defer average.SetGrad(nil)
	amp.UpdateSGD(average, nil, amp.Update{LR: weight, WeightDecay: 1, Maximize: true})
}

// Forward runs the module with the averages.
func (a *AveragedModel) Forward(s *amp.Scope, x *amp.Tensor) *amp.Tensor {
	built("AveragedModel", a != nil && !missing(a.Module))
	return a.Module.Forward(s.In("module"), x)
}

// Children returns the module with the averages.
func (a *AveragedModel) Children() []Named { return []Named{{"module", a.Module}} }

// Parameters returns the averages.
func (a *AveragedModel) Parameters() []*amp.Tensor { return a.Module.Parameters() }

// Buffers returns n_averaged and the module's buffers.
func (a *AveragedModel) Buffers() []*amp.Tensor {
	return append([]*amp.Tensor{a.count}, Buffers(a.Module)...)
}

// String shows the module, and how it averages.
func (a *AveragedModel) String() string {
	rule := "mean"
	if a.opts.ema {
		rule = fmt.Sprintf("ema, decay=%g", a.opts.decay)
	}
	return tree(a, "AveragedModel", rule, where(a.opts.buffers, "buffers"))
}
