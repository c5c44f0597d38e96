package optim

import (
	"fmt"
	"slices"

	"github.com/halftone-ml/halftone/amp"
)

// LBFGS is the limited-memory method of Broyden, Fletcher, Goldfarb and Shanno (Nocedal and Wright, Numerical Optimization, 2006,
// algorithm 7.4), as torch.optim.LBFGS. It evaluates a model several times in a step, and is for problems small enough to take all data at once:
//
//	opt := optim.NewLBFGS(net.Parameters(), optim.StrongWolfe())
//	for s := range root.Steps(15) {
//		loss := opt.Step(s, func(s *amp.Scope) *amp.Tensor {
//			opt.ZeroGrad()
//			loss := nn.MSELoss(s, net.Forward(s, x), y)
//			loss.Backward()
//			return loss
//		})
//	}
//
// It is no Optimizer: neither a GradScaler nor a schedule knows its closure (torch's scaler refuses it too), and a session keeps none. Under
// autocast in bfloat16 it needs no scaler; SetLR changes the rate. State and LoadState make it a part of a checkpoint.
type LBFGS struct {
	set    lbfgsSettings
	params []*amp.Tensor
	size   int // numbers of all parameters
	lbfgsMemory
	grad, start *amp.Tensor // scratch: the present gradient, and the parameters before a line search
}

// lbfgsMemory is what goes on from step to step. Vectors hold all parameters one after another.
type lbfgsMemory struct {
	iterations, evaluations int
	t, diagonal             float64       // the last step's length; the scale of the first guess of the inverse Hessian
	direction, before       *amp.Tensor   // of the last step; the gradient before it
	dirs, steps             []*amp.Tensor // differences of gradients and of parameters, the oldest first
	rho                     []float64     // 1/(dirs·steps)
}

type lbfgsSettings struct {
	lr, gradTolerance, changeTolerance float64
	maxIter, maxEval, history          int
	wolfe, maximize                    bool
}

// MaxIter sets, for LBFGS, the most iterations of one Step; the default is 20.
func MaxIter(n int) Option { return option("MaxIter", func(s *settings) { s.lbfgs.maxIter = n }) }

// MaxEval sets, for LBFGS, after how many evaluations of the closure a Step ends; the default is 5/4 of MaxIter.
func MaxEval(n int) Option { return option("MaxEval", func(s *settings) { s.lbfgs.maxEval = n }) }

// HistorySize sets of how many steps LBFGS remembers how the gradient changed: two vectors as long as all parameters for each; the default is 100.
func HistorySize(n int) Option {
	return option("HistorySize", func(s *settings) { s.lbfgs.history = n })
}

// ToleranceGrad ends a Step of LBFGS at a gradient whose elements are all at most v; the default is 1e-7.
func ToleranceGrad(v float64) Option {
	return option("ToleranceGrad", func(s *settings) { s.lbfgs.gradTolerance = v })
}

// ToleranceChange ends a Step of LBFGS in which the loss changes by less than v, or no parameter by more; the default is 1e-9.
func ToleranceChange(v float64) Option {
	return option("ToleranceChange", func(s *settings) { s.lbfgs.changeTolerance = v })
}

// StrongWolfe makes LBFGS search along each direction for a point that meets the strong Wolfe conditions, torch's line_search_fn="strong_wolfe";
// without it, it goes by the learning rate.
func StrongWolfe() Option { return option("StrongWolfe", func(s *settings) { s.lbfgs.wolfe = true }) }

// lbfgsKind has what the options of all optimizers go by; LBFGS has no row.
var lbfgsKind = &kind{
	name: "LBFGS", options: []string{"MaxIter", "MaxEval", "HistorySize", "ToleranceGrad", "ToleranceChange", "StrongWolfe"},
	lacks:    []string{"WeightDecay", "Fused"},
	defaults: settings{Update: amp.Update{LR: 1}, lbfgs: lbfgsSettings{gradTolerance: 1e-7, changeTolerance: 1e-9, maxIter: 20, history: 100}},
}

// NewLBFGS returns an optimizer of params; frozen ones (amp.Tensor.Freeze) stay where they are. It panics with
// amp.ErrArgument for settings out of range, no parameters, one that is no leaf, none that wants a gradient, and for others than float32
// or float64 of one dtype on one device.
func NewLBFGS(params []*amp.Tensor, opts ...Option) *LBFGS {
	const op = "NewLBFGS"
	set := lbfgsKind.defaults
	set.apply(op, lbfgsKind, opts)
	o := &LBFGS{set: set.lbfgs}
	o.set.lr, o.set.maximize = set.LR, set.Maximize
	if !slices.Contains(set.given, "MaxEval") {
		o.set.maxEval = o.set.maxIter * 5 / 4
	}
	if s := o.set; s.maxIter < 1 || s.maxEval < 1 || s.history < 1 || !(s.gradTolerance >= 0) || !(s.changeTolerance >= 0) {
		misused(op, "use counts of 1 and above, and tolerances of 0 and above", "MaxIter %d, MaxEval %d, HistorySize %d, ToleranceGrad %v, ToleranceChange %v",
			s.maxIter, s.maxEval, s.history, s.gradTolerance, s.changeTolerance)
	}
	if len(params) == 0 {
		misused(op, "pass net.Parameters()", "no parameters")
	}
	if !slices.ContainsFunc(params, func(p *amp.Tensor) bool { return p == nil || !p.IsLeaf() || p.RequiresGrad() }) {
		misused(op, "call RequireGrad on those to train", "no parameter wants a gradient")
	}
	seen := map[*amp.Tensor]bool{}
	for i, p := range params {
		if p == nil || !p.IsLeaf() {
			misused(op, "pass leaves made with RequireGrad, such as net.Parameters()", "%s is no leaf", paramName(p, i))
		}
		if dt := p.DType(); dt != amp.Float32 && dt != amp.Float64 || dt != params[0].DType() || p.Device() != params[0].Device() {
			misused(op, "keep all parameters in float32, or all in float64, on one device; autocast lowers them op by op", "%s is %v on %s, parameter 0 %v on %s",
				paramName(p, i), dt, p.Device(), params[0].DType(), params[0].Device())
		}
		if !seen[p] { // shared by two layers
			o.params = append(o.params, p)
			o.size += p.Len()
		}
		seen[p] = true
	}
	return o
}

// Parameters returns the optimized tensors.
func (o *LBFGS) Parameters() []*amp.Tensor {
	o.made("Parameters")
	return o.params
}

// ZeroGrad removes the gradients of all parameters: what a closure does first.
func (o *LBFGS) ZeroGrad() {
	o.made("ZeroGrad")
	for _, p := range o.params {
		p.ZeroGrad()
	}
}

// LearningRate returns the learning rate.
func (o *LBFGS) LearningRate() float64 {
	o.made("LearningRate")
	return o.set.lr
}

// SetLR changes the learning rate. It panics with amp.ErrArgument for one below 0, an infinite one or NaN.
func (o *LBFGS) SetLR(lr float64) {
	o.made("SetLR")
	needRate("LBFGS.SetLR", lr)
	o.set.lr = lr
}

// Iterations returns the number of iterations of all steps, torch's n_iter.
func (o *LBFGS) Iterations() int {
	o.made("Iterations")
	return o.iterations
}

// Evaluations returns how often closures were called, torch's func_evals.
func (o *LBFGS) Evaluations() int {
	o.made("Evaluations")
	return o.evaluations
}

// String lists the settings, as torch prints an optimizer, and how far it is.
func (o *LBFGS) String() string {
	if o == nil || len(o.params) == 0 {
		return "an empty LBFGS"
	}
	return fmt.Sprintf("LBFGS(lr=%v, max_iter=%d, max_eval=%d, history_size=%d, tolerance_grad=%v, tolerance_change=%v, strong_wolfe=%v, maximize=%v; params: %d (%d numbers), %d iterations, %d evaluations)",
		o.set.lr, o.set.maxIter, o.set.maxEval, o.set.history, o.set.gradTolerance, o.set.changeTolerance, o.set.wolfe, o.set.maximize, len(o.params), o.size, o.iterations, o.evaluations)
}

// Step minimizes the loss that closure computes, or maximizes it, by up to MaxIter iterations, and returns the loss before them. closure gets a scope of its own
// for each evaluation, freed after it; in that it calls ZeroGrad, runs the model and Backward, and returns the loss, of one element. What
// it draws or drops out it must draw the same way each time. Sums of vectors and their products are made in the
// parameters' dtype, whatever the autocast state of s, and are read: a device is waited for. Step panics with amp.ErrGrad if closure left no
// gradient. (torch: opt.step(closure).)
func (o *LBFGS) Step(s *amp.Scope, closure func(s *amp.Scope) *amp.Tensor) float64 {
	if o.made("Step"); closure == nil {
		misused("LBFGS.Step", "pass the function that computes the loss", "the closure is nil")
	}
	w := &lbfgsRun{LBFGS: o, closure: closure, eval: s.EnableGrad(), s: s.NoGrad().Autocast(amp.NoDType, amp.Enabled(false)).In("lbfgs")}
	if o.grad == nil {
		o.grad = o.vector()
	}
	first := w.evaluate(o.grad)
	if !(w.largest(o.grad) <= o.set.gradTolerance) { // NaN goes on, as in torch
		w.iterate(first)
	}
	return w.sign(first)
}

// vector returns one that lives until Free.
func (o *LBFGS) vector() *amp.Tensor { return amp.ZerosOn(o.params[0], o.params[0].DType(), o.size) }
