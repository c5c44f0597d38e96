package amp

import (
	"sync"

	"github.com/halftone-ml/halftone/amp/internal/cpu"
)

// The CPU's kernels of the gradient of ctc_loss, and of what it changes by along a direction v of logp: the same recursions, each with its
// derivative beside it.

// ctcWork is memory of [steps states]: gamma and what alpha changes by.
type ctcWork struct{ gamma, along []float64 }

var ctcWorks = sync.Pool{New: func() any { return new(ctcWork) }}

func ctcSlopeCPU(c *Call) {
	newCTC(c, c.In[1], c.In[2], c.In[3]).slopes(nil, c.In[0], c.In[4])
}

func ctcCurvatureCPU(c *Call) {
	newCTC(c, c.In[2], c.In[3], c.In[4]).slopes(c.In[0], c.In[1], c.In[5])
}

// slopes computes the gradient, or what it changes by along v. First, for each item, the log-probability of all paths that are at a state at
// a step, and with v what it changes by. Then, for each step of each item, its classes.
func (k *ctcCall) slopes(v, dy, alpha *Tensor) {
	w := ctcWorks.Get().(*ctcWork)
	defer ctcWorks.Put(w)
	steps, n, classes := k.logp.shape[0], len(k.items), k.logp.shape[2]
	w.gamma = resize(w.gamma, steps*k.width)
	if v != nil {
		w.along = resize(w.along, steps*k.width)
	}
	losses := make([]float64, n)
	all := elements[float64](alpha)[alpha.off:]
	cpu.Parallel(n, 1, func(lo, hi int) {
		p := newCTCPass(k, w, all, v)
		for i := lo; i < hi; i++ {
			losses[i] = k.lossOf(&k.items[i], alpha)
			p.run(i, losses[i])
		}
	})
	cpu.Parallel(steps*n, grainOf(8*classes), func(lo, hi int) {
		lp, to, shares, one := make([]float64, classes), make([]float64, classes), []float64(nil), make([]float64, 1)
		for r := lo; r < hi; r++ {
			t, i := r/n, r%n
			item := &k.items[i]
			if t >= item.steps || k.zeroed(losses[i]) {
				clear(to)
				store(k.Out, k.Out.off+r*classes, to)
				continue
			}
			load(one, dy, dy.off+offset(i, dy.shape, dy.strides), 1)
			k.row(lp, k.logp, t, i)
			k.slope(to, lp, losses[i])
			shares = resize(shares, item.states())
			k.shares(shares, w.gamma[t*k.width+item.at:], item, lp, losses[i])
			if v != nil {
				k.row(lp, v, t, i)
				multiply(to, lp)
				multiplyNonzero(shares, w.along[t*k.width+item.at:])
			}
			k.spread(to, shares, item)
			f := one[0] * k.share(item)
			for c := range to {
				to[c] *= f
			}
			store(k.Out, k.Out.off+r*classes, to)
		}
	})
}

// slope sets the part of the gradient that is e^logp, and to NaN the classes that PyTorch's formula, e^logp - e^(log Σ e^(alpha+beta) + loss -
// logp), makes NaN even where the sum is 0.
func (k *ctcCall) slope(to, lp []float64, loss float64) {
	cpu.Exp.F64(to, lp)
	none := noPath + loss
	for c, x := range lp {
		if d := none - x; d != d {
			to[c] = d
		}
	}
}

// shares sets the share of all paths that are at each state, from the logarithm of their probability.
func (k *ctcCall) shares(to, gamma []float64, item *ctcItem, lp []float64, loss float64) {
	gamma = gamma[:len(to)]
	blank := loss - lp[k.Ignore]
	for s, g := range gamma {
		less := blank
		if s%2 == 1 {
			less = loss - lp[item.labels[s/2]]
		}
		to[s] = noPath
		if g != noPath { // NaN, too
			to[s] = g + less
		}
	}
	cpu.Exp.F64(to, to)
}

// spread takes the shares of an item's states from their classes.
func (k *ctcCall) spread(to, shares []float64, item *ctcItem) {
	blank := to[k.Ignore]
	for j, c := range item.labels {
		blank -= shares[2*j]
		to[c] -= shares[2*j+1]
	}
	to[k.Ignore] = blank - shares[2*len(item.labels)]
}

func multiply(x, y []float64) {
	for i, v := range y {
		x[i] *= v
	}
}

// multiplyNonzero leaves what is 0, also where y is NaN.
func multiplyNonzero(x, y []float64) {
	for i, v := range y[:len(x)] {
		if x[i] != 0 {
			x[i] *= v
		}
	}
}

// A ctcPass goes through items for slopes, with memory of its own for one step.
type ctcPass struct {
	*ctcCall
	work                        *ctcWork
	alpha                       []float64
	v                           *Tensor
	paths                       ctcPaths
	lp, d                       []float64 // rows of logp and v
	now, after, change, changed []float64
}

func newCTCPass(k *ctcCall, w *ctcWork, alpha []float64, v *Tensor) *ctcPass {
	classes := k.logp.shape[2]
	return &ctcPass{ctcCall: k, work: w, alpha: alpha, v: v, lp: make([]float64, classes), d: make([]float64, classes)}
}

// run goes back through the steps of item i, with beta, the log-probability of the ends of paths from a state on, in reverse.
func (p *ctcPass) run(i int, loss float64) {
	item := &p.items[i]
	states, more := item.states(), 0.0
	if p.v != nil {
		more = p.forward(i, loss)
	}
	p.paths.along(item.labels, p.Ignore, true)
	p.now, p.after, p.change, p.changed = resize(p.now, states), resize(p.after, states), resize(p.change, states), resize(p.changed, states)
	var after []float64
	for t := item.steps - 1; t >= 0; t-- {
		p.row(p.lp, p.logp, t, i)
		p.paths.step(p.now, after, p.lp)
		at := t*p.width + item.at
		alpha, gamma := p.alpha[at:][:states], p.work.gamma[at:][:states]
		for s, a := range alpha {
			gamma[s] = a + p.now[states-1-s]
		}
		if after == nil && states > 2 {
			fill(gamma[:states-2], noPath) // whatever alpha is
		}
		if p.v != nil {
			p.row(p.d, p.v, t, i)
			p.paths.change(p.change, p.now, after, p.changed, p.lp, p.d)
			along := p.work.along[at:][:states]
			for s := range along {
				along[s] += p.change[states-1-s] + more - p.d[p.paths.of(states-1-s)]
			}
		}
		after = p.now
		p.now, p.after = p.after, p.now
		p.change, p.changed = p.changed, p.change
	}
}

// forward sets what alpha of item i changes by along v, and returns what the loss changes by.
func (p *ctcPass) forward(i int, loss float64) float64 {
	item := &p.items[i]
	states := item.states()
	p.paths.along(item.labels, p.Ignore, false)
	var before, past, now, along []float64
	for t := range item.steps {
		p.row(p.lp, p.logp, t, i)
		p.row(p.d, p.v, t, i)
		at := t*p.width + item.at
		now, along = p.alpha[at:][:states], p.work.along[at:][:states]
		p.paths.change(along, now, before, past, p.lp, p.d)
		before, past = now, along
	}
	more := 0.0
	for s := max(0, states-2); s < len(now); s++ {
		if q := portion(now[s], loss); q != 0 {
			more -= float64(q * along[s])
		}
	}
	return more
}
