package amp

import (
	"math"
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

// slopes computes the gradient, or what it changes by along v. First, for each item, gamma: the share of paths that are at a state at a
// step, or what that changes by. Then, for each step of each item, its classes.
func (k *ctcCall) slopes(v, dy, alpha *Tensor) {
	w := ctcWorks.Get().(*ctcWork)
	defer ctcWorks.Put(w)
	steps, n, classes := k.logp.shape[0], len(k.items), k.logp.shape[2]
	w.gamma = resize(w.gamma, steps*k.width)
	if v != nil {
		w.along = resize(w.along, steps*k.width)
	}
	losses := make([]float64, n)
	cpu.Parallel(n, 1, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			losses[i] = k.lossOf(&k.items[i], alpha)
			all := elements[float64](alpha)[alpha.off:]
			change := 0.0
			if v != nil {
				change = k.alphaAlong(w, i, losses[i], all, v)
			}
			k.occupied(w, i, losses[i], change, all, v)
		}
	})
	cpu.Parallel(steps*n, grainOf(8*classes), func(lo, hi int) {
		lp, to, one := make([]float64, classes), make([]float64, classes), make([]float64, 1)
		for r := lo; r < hi; r++ {
			t, i := r/n, r%n
			clear(to)
			if item := &k.items[i]; t < item.steps && !k.zeroed(losses[i]) {
				load(one, dy, dy.off+offset(i, dy.shape, dy.strides), 1)
				k.row(lp, k.logp, t, i)
				k.slope(to, lp, losses[i])
				if v != nil {
					k.row(lp, v, t, i)
					for c := range to {
						to[c] *= lp[c]
					}
				}
				for s, g := range w.gamma[t*k.width+item.at:][:item.states()] {
					to[item.class(s, k.Ignore)] -= g
				}
				f := one[0] * k.share(item)
				for c := range to {
					to[c] *= f
				}
			}
			store(k.Out, k.Out.off+r*classes, to)
		}
	})
}

// slope sets the part of the gradient that is e^logp, and to NaN the classes that PyTorch's formula, e^logp - e^(log Σ e^(alpha+beta) + loss -
// logp), makes NaN even where the sum is 0.
func (k *ctcCall) slope(to, lp []float64, loss float64) {
	for c, x := range lp {
		to[c] = cpu.Exp.Of(x)
		if math.IsNaN(noPath + loss - x) {
			to[c] = math.NaN()
		}
	}
}

// backward sets beta of a step, the log-probability of the ends of paths from a state on, from that of the step after, if there is one.
func (k *ctcCall) backward(item *ctcItem, now, after, lp []float64) {
	for s := range now {
		switch {
		case after != nil:
			now[s] = logSum(item.after(s, after, noPath)) + lp[item.class(s, k.Ignore)]
		case s >= len(now)-2:
			now[s] = lp[item.class(s, k.Ignore)]
		default:
			now[s] = noPath
		}
	}
}

// occupied sets gamma of item i, or with a direction v what it changes by: then along is there, and change is what the loss changes by.
func (k *ctcCall) occupied(w *ctcWork, i int, loss, change float64, alpha []float64, v *Tensor) {
	item := &k.items[i]
	classes, states := k.logp.shape[2], item.states()
	lp, d := make([]float64, classes), make([]float64, classes)
	rows := make([]float64, 4*states)
	now, spare, nowAlong, afterAlong := rows[:states], rows[states:2*states], rows[2*states:3*states], rows[3*states:]
	var after []float64
	for t := item.steps - 1; t >= 0; t-- {
		k.row(lp, k.logp, t, i)
		k.backward(item, now, after, lp)
		if v != nil {
			k.row(d, v, t, i)
			for s := range now {
				c := item.class(s, k.Ignore)
				nowAlong[s] = d[c]
				if after != nil {
					nowAlong[s] += moved(item.after(s, after, noPath), item.after(s, afterAlong, 0), lp[c]-now[s])
				}
			}
		}
		at := t*k.width + item.at
		for s, b := range now {
			c := item.class(s, k.Ignore)
			g := portion(alpha[at+s]+b, loss-lp[c])
			if v != nil && g != 0 {
				g *= w.along[at+s] + nowAlong[s] + change - d[c]
			}
			w.gamma[at+s] = g
		}
		if after == nil {
			after = spare
		}
		now, after = after, now
		nowAlong, afterAlong = afterAlong, nowAlong
	}
}

// alphaAlong sets what alpha of item i changes by along v, and returns what the loss changes by.
func (k *ctcCall) alphaAlong(w *ctcWork, i int, loss float64, alpha []float64, v *Tensor) float64 {
	item := &k.items[i]
	classes, states := k.logp.shape[2], item.states()
	lp, d := make([]float64, classes), make([]float64, classes)
	var before, beforeAlong, now, along []float64
	for t := range item.steps {
		k.row(lp, k.logp, t, i)
		k.row(d, v, t, i)
		at := t*k.width + item.at
		now, along = alpha[at:][:states], w.along[at:][:states]
		for s := range along {
			c := item.class(s, k.Ignore)
			along[s] = d[c]
			if t > 0 {
				along[s] += moved(item.before(s, before, noPath), item.before(s, beforeAlong, 0), lp[c]-now[s])
			}
		}
		before, beforeAlong = now, along
	}
	change := 0.0
	for s := max(0, states-2); s < len(now); s++ {
		if p := portion(now[s], loss); p != 0 {
			change -= float64(p * along[s])
		}
	}
	return change
}

// moved returns what the logarithm of a sum changes by, whose terms are e^p and change by d: less is minus that logarithm.
func moved(p, d [3]float64, less float64) float64 {
	sum := 0.0
	for j := range p {
		if q := portion(p[j], less); q != 0 {
			sum += float64(q * d[j])
		}
	}
	return sum
}

// portion returns e^(p + less), 0 where there are no paths: where less is infinite, too.
func portion(p, less float64) float64 {
	if math.IsInf(p, -1) {
		return 0
	}
	return cpu.Exp.Of(p + less)
}
