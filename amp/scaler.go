package amp

import (
	"fmt"
	"sync"

	"github.com/halftone-ml/halftone/internal/absent"
	"github.com/halftone-ml/halftone/internal/optional"
)

// A GradScaler keeps float16 gradients from vanishing: it multiplies the loss by a scale, divides the gradients by it before the
// optimizer sees them, skips a step whose gradients overflowed, and moves the scale: down after an overflow, up after
// GrowthInterval clean updates. The arithmetic is that of torch.amp.GradScaler, bit for bit. Methods are safe across
// goroutines; misuse panics with ErrScaler.
//
//	scaler.Scale(s, loss).Backward()
//	scaler.Unscale(opt) // optional, to clip or read true gradients
//	scaler.Step(opt)
//	scaler.Update()
type GradScaler struct {
	mu       sync.Mutex
	enabled  bool
	init     float64 // until the first Scale
	growth   float64
	backoff  float64
	interval int
	floor    float64                              // 0: none
	note     string                               // what was set outside the program
	given    struct{ init, interval, floor bool } // by options

	scale   *Tensor // float32, 0-dimensional; nil until the first Scale
	tracker int
	inverse *Tensor // what a fused step reads: 1/scale, and 1 if a gradient was not finite
	found   *Tensor
	far     *farScaler // of a device that works behind the host's back; nil else
	opts    map[Optimizer]*optimizerState
	names   map[Optimizer]string
	history scaleHistory
}

// An Optimizer is what a GradScaler steps.
type Optimizer interface {
	Parameters() []*Tensor // in a fixed order
	Step()
	ZeroGrad()
}

// stage is how far an optimizer has come since the last Update.
type stage uint8

const (
	ready stage = iota
	unscaled
	stepped
)

type optimizerState struct {
	stage   stage
	checked bool // some gradient was looked at
	found   bool // one was not finite
	culprit string
	value   string
}

// NewGradScaler returns a scaler. What the options leave open of first scale, growth interval and smallest scale is taken from the
// settings of a notebook's %amp, where there are some (see [Defaults]); the history then says so. It panics with ErrScaler for a
// growth factor of 1 or less, a backoff factor of 1 or more, and for what would stop training or turn it round: a scale
// that is not above 0, a backoff factor or interval below 0, what is not finite. A disabled scaler takes anything.
func NewGradScaler(opts ...ScalerOption) *GradScaler {
	g := &GradScaler{enabled: true, growth: 2, backoff: 0.5, opts: map[Optimizer]*optimizerState{}, names: map[Optimizer]string{}}
	optional.Apply("NewGradScaler", opts, g, misused)
	settings("NewGradScaler").completeScaler(g)
	if g.enabled {
		g.plausible()
	}
	return g
}

// Scale returns loss · scale, differentiable; loss itself if the scaler is disabled. A 0-dimensional float16 loss becomes
// float32. The product is recorded under "scaler". It panics with ErrDType for an integer loss.
func (g *GradScaler) Scale(s *Scope, loss *Tensor) *Tensor {
	g.known("Scale")
	s.alive("GradScaler.Scale")
	s.root.scaledBy(g)
	if !g.enabled {
		return loss
	}
	loss.live("GradScaler.Scale")
	if !loss.dt.IsFloat() {
		fail("GradScaler.Scale", ErrDType, "compute a float loss, for example with amp.CrossEntropy", "loss is %v of shape %v; an integer has no gradient", loss.dt, loss.shape)
	}
	g.begin(s.root.dev)
	return Mul(s.In("scaler"), loss, g.scale)
}

// begin makes what a scaler keeps on a device, once. Where that fails, for lack of memory, nothing is kept.
func (g *GradScaler) begin(dev Device) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.scale != nil {
		return
	}
	whole := false
	g.scale = alloc("GradScaler.Scale", dev, Float32, nil)
	defer func() {
		if !whole {
			g.scale.release()
			g.far.free()
			g.scale, g.far = nil, nil
		}
	}()
	g.scale.name = lossScaleName
	if !g.scale.IsCPU() {
		g.beFar(dev)
	}
	g.setScale(float32(g.init))
	whole = true
}

// ScaleAll scales several losses by the same scale.
func (g *GradScaler) ScaleAll(s *Scope, losses ...*Tensor) []*Tensor {
	g.known("ScaleAll")
	out := make([]*Tensor, len(losses))
	for i, l := range losses {
		out[i] = g.Scale(s, l)
	}
	return out
}

// Unscale divides the gradients of opt by the scale, so that they can be clipped or read, and checks them: a step with a non-finite
// one will be skipped. At most once between updates and before Step, else it panics with ErrScaler; and with ErrDType
// for a float16 gradient, before any is changed.
func (g *GradScaler) Unscale(opt Optimizer) {
	g.known("Unscale")
	if !g.enabled {
		return
	}
	needOptimizer("Unscale", opt)
	g.mu.Lock()
	defer g.mu.Unlock()
	g.needScale("Unscale")
	st := g.state(opt)
	switch st.stage {
	case unscaled:
		fail("GradScaler.Unscale", ErrScaler, "call it once, then Step and Update", "Unscale has already been called on this optimizer since the last Update")
	case stepped:
		fail("GradScaler.Unscale", ErrScaler, "call it before Step", "Unscale is being called after Step")
	}
	g.warnMarks("Unscale", opt, false)
	g.unscale("Unscale", opt, st, Attrs{})
	st.stage = unscaled
}

func needOptimizer(method string, opt Optimizer) {
	if absent.Is(opt) {
		fail("GradScaler."+method, ErrArgument, "pass the optimizer", "the optimizer is nil")
	}
}

// unscale is one pass over all gradients: the finite test is on the value before the product. far says how, on a device that works behind
// the host's back.
func (g *GradScaler) unscale(method string, opt Optimizer, st *optimizerState, far Attrs) {
	refuseHalf(method, opt.Parameters())
	markDivided(opt)
	if g.far != nil {
		g.far.check(opt, st, far)
		return
	}
	g.check(opt, st, g.inv())
}

// inv is the inverse of the scale, worked out in float64 and rounded once.
func (g *GradScaler) inv() float64 { return float64(invert(g.current())) }

// refuseHalf panics before any gradient is changed.
func refuseHalf(method string, params []*Tensor) {
	for i, p := range params {
		if p.grad != nil && p.grad.dt == Float16 {
			fail("GradScaler."+method, ErrDType, "keep parameters in float32 and let Autocast cast them, or use no scaler",
				"attempting to unscale a float16 gradient of %s", paramName(p, i))
		}
	}
}

// check tests all gradients and multiplies them by inv; with 1 it only reads.
func (g *GradScaler) check(opt Optimizer, st *optimizerState, inv float64) {
	home := g.scale.st.dev
	if g.spread(opt) {
		if code, looked := checkElsewhere(opt, home, float32(inv)); looked {
			st.checked = true
			if i, v := firstValue(code); code != firstNone && i < len(opt.Parameters()) {
				st.found, st.culprit, st.value = true, paramName(opt.Parameters()[i], i), fmt.Sprint(v)
			}
		}
	}
	var scopes optimizerScopes
	u := &Update{}
	for i, p := range opt.Parameters() {
		if p.grad == nil || !sameDevice(p.grad.st.dev, home) {
			continue
		}
		st.checked = true
		*u = Update{}
		scopes.of(p).apply(opUnscale, Attrs{Scalar: inv, Update: u}, p.grad)
		if u.NonFinite && !st.found {
			st.found, st.culprit, st.value = true, paramName(p, i), fmt.Sprint(u.Value)
		}
	}
	// The reference multiplies by an infinite inverse after its test and destroys the weights; here such a step is skipped.
	if st.checked && !finite(g.inv()) && !st.found {
		st.found, st.culprit, st.value = true, "loss scale", fmt.Sprint(g.current())
	}
}

func paramName(p *Tensor, i int) string {
	if p.name != "" {
		return p.name
	}
	return fmt.Sprintf("parameter %d", i)
}

// A SkipObserver is an optimizer that wants to know of steps that a GradScaler skips. A device that skips behind the host's back does
// not tell.
type SkipObserver interface{ StepSkipped() }

// Step unscales the gradients unless Unscale did, and steps opt if they are all finite. The report says whether the weights moved
// and which parameter was the first to overflow. Once per optimizer between updates; a closure is refused, since it
// would compute gradients after the check.
func (g *GradScaler) Step(opt Optimizer, closure ...func() *Tensor) *StepReport {
	g.known("Step")
	needOptimizer("Step", opt)
	if !g.enabled {
		for _, c := range closure {
			c()
		}
		opt.Step()
		return &StepReport{ScaleStep: ScaleStep{Scale: 1, Next: 1, Applied: true}}
	}
	if len(closure) > 0 {
		fail("GradScaler.Step", ErrScaler, "compute the gradients before Step", "a closure is not supported while the scaler is enabled")
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.needScale("Step")
	st := g.state(opt)
	switch st.stage {
	case stepped:
		fail("GradScaler.Step", ErrScaler, "call Update after each Step", "Step has already been called on this optimizer since the last Update")
	case unscaled:
		g.warnMarks("Step", opt, true)
	case ready:
		g.warnMarks("Step", opt, false)
		switch {
		case g.fused(opt) == nil:
			g.unscale("Step", opt, st, Attrs{Mode: UnscaleLater})
		case g.far != nil:
			g.far.check(opt, st, Attrs{Keep: true})
		default:
			g.check(opt, st, 1)
		}
	}
	if !st.checked {
		fail("GradScaler.Step", ErrScaler, "call Scale(s, loss).Backward() first, on a loss that depends on the optimizer's parameters", "no parameter of this optimizer has a gradient, so nothing was checked for overflow")
	}
	if g.far != nil {
		r := g.stepFar(opt, st)
		st.stage = stepped
		return r
	}
	if f := g.fused(opt); f != nil {
		g.stepFused(f, st)
	} else if !st.found {
		opt.Step()
	}
	if o, ok := opt.(SkipObserver); ok && st.found {
		o.StepSkipped()
	}
	st.stage = stepped
	return g.history.step(g, opt, st)
}

// Update moves the scale by what the steps since the last Update found, and makes every optimizer ready again.
func (g *GradScaler) Update() {
	g.known("Update")
	if !g.enabled {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.needScale("Update")
	checked, found := false, false
	for _, st := range g.opts {
		checked = checked || st.checked
		found = found || st.found
	}
	if !checked {
		fail("GradScaler.Update", ErrScaler, "step with scaler.Step(opt), not opt.Step(), before Update", "no gradients were checked since the last Update")
	}
	if g.far != nil {
		g.updateFar()
	} else {
		next, tracker := g.move().next(g.current(), g.tracker, found)
		g.tracker = tracker
		if next != g.current() {
			g.setScale(next)
		}
	}
	g.finish()
}

func (g *GradScaler) move() scaleMove { return scaleMove{g.growth, g.backoff, g.interval, g.floor} }

// UpdateTo sets the scale instead of working it out; the growth tracker stays, what was found is forgotten. It panics with
// ErrArgument for a scale that is not above 0, or beyond float32.
func (g *GradScaler) UpdateTo(scale float64) {
	g.known("UpdateTo")
	if !g.enabled {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.needScale("Update")
	switch {
	case scale > 0 && !finite(float64(float32(scale))):
		fail("GradScaler.UpdateTo", ErrArgument, "use a smaller scale", "%v does not fit into float32", scale)
	case !(float32(scale) > 0):
		fail("GradScaler.UpdateTo", ErrArgument, "use a scale above 0", "the scale %v would turn gradients round or destroy them", scale)
	}
	g.setScale(float32(scale))
	g.history.close()
	g.finish()
}

// finish closes the reports of this round and forgets the flags.
func (g *GradScaler) finish() {
	if g.far == nil {
		g.history.update(g)
	}
	clear(g.opts)
}

func (g *GradScaler) needScale(method string) {
	if g.scale == nil {
		fail("GradScaler."+method, ErrScaler, "call Scale(s, loss).Backward() first", "the scale does not exist before the first Scale")
	}
}

func (g *GradScaler) state(opt Optimizer) *optimizerState {
	st := g.opts[opt]
	if st == nil {
		st = &optimizerState{}
		g.opts[opt] = st
	}
	return st
}

// current is the scale as the next gradients will have it.
func (g *GradScaler) current() float32 {
	switch {
	case g.scale == nil:
		return float32(g.init)
	case g.far != nil:
		g.resolve()
		return g.far.scale
	}
	return elements[float32](g.scale)[0]
}

func (g *GradScaler) setScale(v float32) {
	if g.far != nil {
		g.far.set(g.scale, v)
		return
	}
	SetValues(g.scale, []float32{v})
}
