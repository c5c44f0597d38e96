package amp

import (
	"context"
	"slices"
	"sync"

	"github.com/halftone-ml/halftone/amp/internal/cpu"
)

// What the rows of the optimizers share: their settings, their checks, and the walk over a parameter, its gradient and its state.
// The inputs of such a row are param, grad, up to three tensors of state, and four that a step may read on its device.

// An Update holds the settings of an in-place optimizer op, and what it found.
type Update struct {
	LR, Momentum, Dampening, WeightDecay float64
	Nesterov, Maximize                   bool
	First                                bool // the momentum buffer holds nothing yet
	Beta1, Beta2, Eps                    float64
	Decoupled                            bool       // weight decay shrinks the parameter instead of entering the gradient
	Alpha                                float64    // share of RMSprop's and Adadelta's average of squares that is kept; the power of ASGD's decay
	LRDecay                              float64    // of Adagrad
	MomentumDecay                        float64    // of NAdam
	Lambda, T0                           float64    // of ASGD: the decay, and the step at which averaging begins
	EtaMinus, EtaPlus, StepMin, StepMax  float64    // of Rprop: a step's factors and bounds
	Beta2Decay, ClipThreshold, Eps2      float64    // of Adafactor: the power of a step's share in the averages, the longest direction, the least length
	NS                                   [3]float64 // of Muon: the iteration's coefficients
	NSSteps                              float64    // of Muon: its steps, a whole number
	AdjustLR                             AdjustLR   // of Muon: what its rate is multiplied by
	Step                                 int        // of this parameter, from 1; with Steps, what is added to it
	FirstAt                              int        // with Steps: the step at which First holds; 0 for none
	// InvScale and FoundInf, 0-dimensional float32, make the step a fused one: the gradient is multiplied by InvScale on the way
	// and written back so, and nothing at all changes if FoundInf is not 0. Each may be nil. A device may leave the writing until
	// somebody looks at the gradient.
	InvScale, FoundInf *Tensor
	// Steps, 0-dimensional int64, counts the steps that were applied before this one where the host does not know; Rate,
	// 0-dimensional float64, is the learning rate in place of LR. Each may be nil.
	Steps, Rate *Tensor
	NonFinite   bool // unscale_ without found: an element was infinite or NaN before the multiplication
	Value       float64
}

// told is the number of inputs at the end of an optimizer row that tell it what the host may not know.
const told = 4

// maxState is the largest number of state tensors an optimizer keeps per parameter.
const maxState = 3

// update runs an optimizer row on p and its gradient.
func update(o *Op, p *Tensor, u Update, state ...*Tensor) {
	in := append([]*Tensor{p, gradientOf(o.Name, p)}, state...)
	in = append(in, u.InvScale, u.FoundInf, u.Steps, u.Rate)
	for _, st := range state {
		if st != nil {
			st.st.changing()
		}
	}
	optimizerScope(p).apply(o, Attrs{Update: &u}, in...)
}

// gradientOf returns the gradient of a parameter that a step is to move.
func gradientOf(op string, p *Tensor) *Tensor {
	p.live(op)
	if p.grad == nil {
		fail(op, ErrGrad, "call Backward before the step", "parameter %sof shape %v has no gradient", quoted(p.name), p.shape)
	}
	p.grad.live(op)
	return p.grad
}

// detached serves, by device, optimizers whose gradients were made outside any scope that is still open.
var detached sync.Map

func detachedOn(dev Device) *Scope {
	if s, ok := detached.Load(dev); ok {
		return s.(*Scope)
	}
	s, _ := detached.LoadOrStore(dev, newScope(&root{ctx: context.Background(), dev: dev}, 0))
	return s.(*Scope)
}

// optimizerScope is where an op on p's gradient is recorded: the scope that Backward ran in, in the optimizer phase.
func optimizerScope(p *Tensor) *Scope {
	var one optimizerScopes
	return one.of(p)
}

// optimizerScopes finds the optimizerScope of one parameter after the other: most have the same.
type optimizerScopes struct{ from, scope *Scope }

func (o *optimizerScopes) of(p *Tensor) *Scope {
	s := p.grad.scope
	if s == nil || s.arena.gen.Load() != s.gen || !sameDevice(s.root.dev, p.grad.st.dev) {
		s = detachedOn(p.grad.st.dev)
	}
	if s == o.from {
		return o.scope
	}
	o.from, o.scope = s, s.derive()
	o.scope.phase, o.scope.noGrad, o.scope.auto, o.scope.path = optimizerPhase, true, autocast{}, ""
	return o.scope
}

// stepScope is where a step on p that is made of several ops is recorded; its Close frees what they leave.
func stepScope(p *Tensor) *Scope {
	s := optimizerScope(p).Child()
	s.part = opSGD // which ends such a step
	return s
}

// checkUpdate is the shape rule: gradient and state are as the parameter, without gaps.
func checkUpdate(c *Call) []int {
	p, tail := c.In[0], c.In[len(c.In)-told:]
	for i, t := range c.In[:len(c.In)-told] {
		if t == nil {
			continue
		}
		if t.dt != p.dt {
			fail(c.Op.Name, ErrDType, "gradients and state have their parameter's dtype", "%s", c.shapes())
		}
		if !t.contiguous() {
			fail(c.Op.Name, ErrShape, "use a contiguous tensor", "%s: %s", c.shapes(), c.Op.argName(i))
		}
		if !slices.Equal(t.shape, p.shape) {
			fail(c.Op.Name, ErrShape, "gradients and state have their parameter's shape", "%s: %s", c.shapes(), c.Op.argName(i))
		}
	}
	for i, t := range tail {
		if dt := [told]DType{Float32, Float32, Int64, Float64}[i]; t != nil && (t.dt != dt || len(t.shape) != 0) {
			fail(c.Op.Name, ErrShape, "give a 0-dimensional "+dt.String()+" tensor", "%s: %s", c.shapes(), c.Op.argName(len(c.In)-told+i))
		}
	}
	return p.shape
}

// updateRow fills in what the rows of all optimizers have in common.
func updateRow(name, doc, cuda string, state []string, f32 updateKernel[float32], f64 updateKernel[float64], halves updatePass) *Op {
	args := append([]string{"param", "grad"}, state...)
	return define(Op{
		Name: name, Doc: doc, Args: append(args, "inv_scale", "found_inf", "steps", "rate"), CUDA: cuda,
		Why: "master weights stay in their own dtype", InPlace: true, Changes: len(args), Check: checkUpdate,
		CPU: floatKernel(func(c *Call) { updateOn(c, f32, halves) }, func(c *Call) { updateOn(c, f64, nil) }),
	})
}

// An updateKernel returns the function that moves one piece of a parameter; what depends on the settings alone it works out once.
type updateKernel[T float32 | float64] func(u *Update) func(p *piece[T])

// A piece is a run of elements of a parameter x, its gradient d and its state, widened to T. The kernel may change all of them, d after own
// alone; the gradient is not written back after it. State that the settings do not ask for is nil.
type piece[T float32 | float64] struct {
	x, d  []T
	state [maxState][]T
	buf   [2 + maxState][chunk]T
	spare []T      // of own
	line  cpu.Line // for passes in float32

	shared bool // d is the gradient itself
}

// pass runs a pass over these lines.
func (k *piece[T]) pass(kernel *cpu.LineKernel, lines ...[]float32) {
	copy(k.line.F32[:], lines)
	kernel.Run(len(k.x), &k.line)
	clear(k.line.F32[:])
}

var (
	pieces32 = sync.Pool{New: func() any { return new(piece[float32]) }}
	pieces64 = sync.Pool{New: func() any { return new(piece[float64]) }}
)

func pieces[T float32 | float64]() *sync.Pool {
	var z T
	if _, ok := any(z).(float32); ok {
		return &pieces32
	}
	return &pieces64
}

// updateOn walks the tensors, which all lie without gaps.
func updateOn[T float32 | float64](c *Call, kernel updateKernel[T], halves updatePass) {
	state, tail := c.In[2:len(c.In)-told], c.In[len(c.In)-told:]
	read := func(t *Tensor, otherwise float64) float64 {
		if t == nil {
			return otherwise
		}
		return t.at(t.off)
	}
	if read(tail[1], 0) != 0 {
		return
	}
	inv, u := T(read(tail[0], 1)), *c.Update
	if tail[2] != nil {
		u.Step += int(read(tail[2], 0))
		u.First = u.Step == u.FirstAt
	}
	u.LR = read(tail[3], u.LR)
	if inv == 1 && halves.run(&u, c.In[:len(c.In)-told]) {
		return
	}
	f, pool, size := kernel(&u), pieces[T](), chunk
	if inv == 1 && !slices.ContainsFunc(c.In[:len(c.In)-told], func(t *Tensor) bool { return t != nil && !elementsAre[T](t) }) {
		size = grain // nothing to widen
	}
	cpu.Parallel(c.In[0].Len(), grain, func(lo, hi int) {
		k := pool.Get().(*piece[T])
		for ; lo < hi; lo += size {
			k.run(c.In[0], c.In[1], state, lo, min(size, hi-lo), inv, f)
		}
		pool.Put(k)
	})
}

// An updatePass returns the pass that takes the whole step under such settings, and its numbers: its lines are the parameter, the gradient and
// the state. It returns nil where there is none.
type updatePass func(u *Update, state []*Tensor) (*cpu.LineKernel, [8]float32)

// run takes the step of halves in one pass, without widened copies; false if it cannot.
func (f updatePass) run(u *Update, ts []*Tensor) bool {
	if f == nil || !ts[0].dt.IsHalf() {
		return false
	}
	k, arg := f(u, ts[2:])
	if k == nil || !k.Halves() {
		return false
	}
	cpu.Parallel(ts[0].Len(), grain, func(lo, hi int) {
		w := lineWorks.Get().(*lineWork)
		w.Arg = arg
		for i, t := range ts {
			if t != nil {
				w.Half[i] = bits16(t)[t.off:][lo:hi]
			}
		}
		k.RunHalf(hi-lo, ts[0].dt == BFloat16, &w.Line)
		w.release()
	})
	return true
}

// run fetches n elements from the lo-th on, moves them and stores them.
func (k *piece[T]) run(p, g *Tensor, state []*Tensor, lo, n int, inv T, f func(*piece[T])) {
	k.x = fetch(&k.buf[0], p, p.off+lo, 1, n)
	if k.d, k.shared = direct[T](g, g.off+lo, 1, n); !k.shared || inv != 1 {
		k.d, k.shared = k.buf[1][:n], false
		load(k.d, g, g.off+lo, 1)
	}
	if inv != 1 {
		for i := range k.d {
			k.d[i] *= inv
		}
		store(g, g.off+lo, k.d)
	}
	for i, t := range state {
		k.state[i] = nil
		if t != nil {
			k.state[i] = fetch(&k.buf[2+i], t, t.off+lo, 1, n)
		}
	}
	f(k)
	for i, t := range state {
		if t != nil && !elementsAre[T](t) {
			store(t, t.off+lo, k.state[i])
		}
	}
	if !elementsAre[T](p) { // else they were changed where they lie, as state is
		store(p, p.off+lo, k.x)
	}
}

// own makes d a copy that the kernel may change.
func (k *piece[T]) own() {
	if k.shared {
		k.spare = resize(k.spare, len(k.d))
		copy(k.spare, k.d)
		k.d, k.shared = k.spare, false
	}
}

// descend gives the gradient the sign and the weight decay that every optimizer has whose decay is not decoupled: d = ±d + decay·x.
func (k *piece[T]) descend(u *Update, decay T) {
	if u.Maximize || decay != 0 {
		k.own()
	}
	if u.Maximize {
		for i, v := range k.d {
			k.d[i] = -v
		}
	}
	if decay != 0 {
		for i, v := range k.x {
			k.d[i] += T(decay * v)
		}
	}
}

// LikeFilled is Like with v in every element.
func LikeFilled(t *Tensor, v float64) *Tensor {
	t.live("LikeFilled")
	return filled("LikeFilled", t.st.dev, t.dt, v, t.shape)
}
