package amp

import "math"

// Rows that optimizers and the scaler run on parameters and gradients, in place.

// An Update holds the settings of an in-place optimizer op, and what it found.
type Update struct {
	LR, Momentum, Dampening, WeightDecay float64
	Nesterov, Maximize                   bool
	First                                bool // the momentum buffer holds nothing yet
	Beta1, Beta2, Eps                    float64
	Decoupled                            bool // weight decay shrinks the parameter instead of entering the gradient
	Step                                 int  // of Adam, from 1
	NonFinite                            bool // unscale_: an element was infinite or NaN before the multiplication
	Value                                float64
}

var opSGD, opUnscale *Op

func init() {
	opSGD = define(Op{
		Name: "sgd_", Doc: "one step of stochastic gradient descent with momentum and weight decay", Args: []string{"param", "grad", "momentum"},
		Why: "master weights stay in their own dtype", InPlace: true, CUDA: "sgd",
		Check: checkUpdate, CPU: func(c *Call) {
			if c.In[0].dt == Float64 {
				sgdOn[float64](c)
				return
			}
			sgdOn[float32](c)
		},
	})
	opUnscale = define(Op{
		Name: "unscale_", Doc: "grad · 1/scale, with a test for infinity and NaN before the product", Args: []string{"grad"},
		Why: "gradients are unscaled in the dtype of their parameter", InPlace: true, CUDA: "unscale",
		Check: checkUpdate, CPU: unscaleCPU,
	})
}

func checkUpdate(c *Call) []int {
	p := c.In[0]
	for i, t := range c.In[1:] {
		if t == nil {
			continue
		}
		if t.dt != p.dt {
			fail(c.Op.Name, ErrDType, "gradients and state have their parameter's dtype", "%s", c.shapes())
		}
		if !t.contiguous() || t.Len() != p.Len() {
			fail(c.Op.Name, ErrShape, "gradients and state have their parameter's shape", "%s: %s", c.shapes(), c.Op.argName(i+1))
		}
	}
	if !p.contiguous() {
		fail(c.Op.Name, ErrShape, "use a contiguous tensor", "%s", c.shapes())
	}
	return p.shape
}

// UpdateSGD takes one SGD step on parameter p from its Grad; buf is the momentum buffer, nil without momentum. It is recorded in
// the scope in which Backward computed the gradient. With g = grad + WeightDecay·p:
//
//	buf = g on the first step, Momentum·buf + (1-Dampening)·g after it
//	p  -= LR·buf, or LR·(g + Momentum·buf) with Nesterov
func UpdateSGD(p, buf *Tensor, u Update) {
	p.live("sgd_")
	if p.grad == nil {
		fail("sgd_", ErrGrad, "call Backward before the step", "parameter %sof shape %v has no gradient", quoted(p.name), p.shape)
	}
	p.grad.live("sgd_")
	in := []*Tensor{p, p.grad}
	if buf != nil {
		in = append(in, buf)
		buf.st.version.Add(1)
	}
	optimizerScope(p).apply(opSGD, Attrs{Update: &u}, in...)
}

// detached serves optimizers whose gradients were made outside any scope that is still open.
var detached = NewScope()

// optimizerScope is where an op on p's gradient is recorded: the scope that Backward ran in, in the optimizer phase.
func optimizerScope(p *Tensor) *Scope {
	s := p.grad.scope
	if s == nil || s.arena.gen.Load() != s.gen {
		s = detached
	}
	s = s.derive()
	s.phase, s.noGrad, s.auto, s.path = optimizerPhase, true, autocast{}, ""
	return s
}

func sgdOn[T float32 | float64](c *Call) {
	u := c.Update
	p, g := c.In[0], c.In[1]
	w := newRowWalk(p, p, g)
	var buf *Tensor
	if len(c.In) > 2 {
		buf = c.In[2]
		w = newRowWalk(p, p, g, buf)
	}
	lr, mom, damp, decay := T(u.LR), T(u.Momentum), T(1-u.Dampening), T(u.WeightDecay)
	pool := scratches[T]()
	w.run(func(off [4]int, n int) {
		s := pool.Get().(*scratch[T])
		defer pool.Put(s)
		x := fetch(&s.buf[0], p, off[1], 1, n)
		d := s.buf[3][:n]
		copy(d, fetch(&s.buf[1], g, off[2], 1, n))
		for i := range d {
			if u.Maximize {
				d[i] = -d[i]
			}
			if decay != 0 {
				d[i] += decay * x[i]
			}
		}
		if buf != nil {
			b := fetch(&s.buf[2], buf, off[3], 1, n)
			for i, v := range d {
				if u.First {
					b[i] = v
				} else {
					b[i] = mom*b[i] + damp*v
				}
				if u.Nesterov {
					d[i] = v + mom*b[i]
				} else {
					d[i] = b[i]
				}
			}
			store(buf, off[3], b)
		}
		for i, v := range d {
			x[i] -= lr * v
		}
		store(p, off[0], x)
	})
}

// unscaleCPU looks at every element before multiplying it, as the reference does, and remembers the first that is not finite.
func unscaleCPU(c *Call) {
	g, u := c.In[0], c.Update
	if g.dt == Float64 {
		unscaleOn[float64](g, c.Scalar, u)
		return
	}
	unscaleOn[float32](g, c.Scalar, u)
}

func unscaleOn[T float32 | float64](g *Tensor, inv float64, u *Update) {
	k := T(inv)
	w := newRowWalk(g)
	pool := scratches[T]()
	w.sequential(func(off [4]int, n int) {
		s := pool.Get().(*scratch[T])
		x := fetch(&s.buf[0], g, off[0], 1, n)
		for i, v := range x {
			if v-v != 0 && !u.NonFinite {
				u.NonFinite, u.Value = true, float64(v)
			}
			if k != 1 {
				x[i] = v * k
			}
		}
		if k != 1 {
			store(g, off[0], x)
		}
		pool.Put(s)
	})
}

func finite(v float64) bool { return !math.IsInf(v, 0) && v == v }
