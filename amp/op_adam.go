package amp

import "math"

var opAdam *Op

func init() {
	opAdam = define(Op{
		Name: "adam_", Doc: "one step of Adam or AdamW", Args: []string{"param", "grad", "mean", "square"},
		Why: "master weights stay in their own dtype", InPlace: true, CUDA: "adam",
		Check: checkUpdate, CPU: func(c *Call) {
			if c.In[0].dt == Float64 {
				adamOn[float64](c)
				return
			}
			adamOn[float32](c)
		},
	})
}

// UpdateAdam takes one Adam step on parameter p from its Grad; mean and square are the moving averages of the gradient and its
// square, zeros before the first step, and u.Step counts steps from 1. It is recorded in the scope in which Backward
// computed the gradient. With g = grad (plus WeightDecay·p, unless Decoupled: then p shrinks by LR·WeightDecay first):
//
//	mean   = Beta1·mean + (1-Beta1)·g
//	square = Beta2·square + (1-Beta2)·g²
//	p     -= LR/(1-Beta1^Step) · mean / (√(square/(1-Beta2^Step)) + Eps)
func UpdateAdam(p, mean, square *Tensor, u Update) {
	p.live("adam_")
	if p.grad == nil {
		fail("adam_", ErrGrad, "call Backward before the step", "parameter %sof shape %v has no gradient", quoted(p.name), p.shape)
	}
	p.grad.live("adam_")
	if u.Step < 1 {
		fail("adam_", ErrArgument, "count steps from 1", "step %d", u.Step)
	}
	mean.st.version.Add(1)
	square.st.version.Add(1)
	optimizerScope(p).apply(opAdam, Attrs{Update: &u}, p, p.grad, mean, square)
}

func adamOn[T float32 | float64](c *Call) {
	u := c.Update
	p, g, mean, square := c.In[0], c.In[1], c.In[2], c.In[3]
	w := newRowWalk(p, g, mean, square)
	// The corrections are worked out in float64 whatever the parameters' dtype, as PyTorch's scalars are.
	c1, c2 := 1-math.Pow(u.Beta1, float64(u.Step)), 1-math.Pow(u.Beta2, float64(u.Step))
	rate, root, eps := T(u.LR/c1), T(math.Sqrt(c2)), T(u.Eps)
	b1, b2, decay, shrink := T(u.Beta1), T(u.Beta2), T(u.WeightDecay), T(1-u.LR*u.WeightDecay)
	pool := scratches[T]()
	w.run(func(off [4]int, n int) {
		s := pool.Get().(*scratch[T])
		defer pool.Put(s)
		x := fetch(&s.buf[0], p, off[0], 1, n)
		d := fetch(&s.buf[1], g, off[1], 1, n)
		m := fetch(&s.buf[2], mean, off[2], 1, n)
		v := fetch(&s.buf[3], square, off[3], 1, n)
		for i, grad := range d {
			if u.Maximize {
				grad = -grad
			}
			if u.Decoupled {
				x[i] *= shrink
			} else if decay != 0 {
				grad += decay * x[i]
			}
			m[i] = b1*m[i] + (1-b1)*grad
			v[i] = b2*v[i] + (1-b2)*grad*grad
			x[i] -= rate * m[i] / (T(math.Sqrt(float64(v[i])))/root + eps)
		}
		store(mean, off[2], m)
		store(square, off[3], v)
		store(p, off[0], x)
	})
}
