package amp

import "slices"

// Hooks on gradients, as PyTorch's Tensor.register_hook and retain_grad: looking at the gradient of one tensor, or replacing it, on its way.

// tensorHooks are what a backward pass does with the gradient of one tensor; nil in most.
type tensorHooks struct {
	list   []*func(g *Tensor) *Tensor // in the order of registration
	retain bool
}

// RegisterHook calls hook with the gradient of t in each backward pass, once all that is added to it is there, and before it is passed on to
// what t was made of or, for a leaf, added to Grad. What hook returns replaces it, nil leaves it. Several hooks run in the order of their
// registration, each on what the one before left. It returns a function that takes the hook away again.
//
// The gradient is as Backward computes it: in t's dtype and still multiplied by the scale of a GradScaler. It lives until the pass is over, so
// that Clone keeps it, and is not to be changed in place, since other tensors may share it; hook computes another in a scope of the
// program's, under NoGrad unless CreateGraph is given. Grad runs hooks too: what it returns has gone through them, but for the result of
// an op from which another of its inputs lies further up, as in PyTorch. It is not for use beside passes of other goroutines. RegisterHook
// panics with ErrGrad unless t wants a gradient, and the pass with ErrShape, ErrDType or ErrDevice for a replacement that is not like t.
func (t *Tensor) RegisterHook(hook func(g *Tensor) *Tensor) (remove func()) {
	t.wantsGrad("RegisterHook")
	if hook == nil {
		fail("RegisterHook", ErrArgument, "pass a function", "the hook is nil")
	}
	if t.hooks == nil {
		t.hooks = &tensorHooks{}
	}
	h, one := t.hooks, &hook
	h.list = append(slices.Clip(h.list), one) // a pass may be running over the old list
	return func() {
		h.list = slices.DeleteFunc(slices.Clone(h.list), func(f *func(g *Tensor) *Tensor) bool { return f == one })
	}
}

// RetainGrad makes Backward leave the gradient of t, the result of an op, in Grad, as it does for leaves, and returns t: after t's hooks, and
// added to that of passes before. Its memory goes with t's scope. For a leaf there is nothing to do. It panics with ErrGrad unless t wants a
// gradient.
func (t *Tensor) RetainGrad() *Tensor {
	t.wantsGrad("RetainGrad")
	if t.node == nil {
		return t
	}
	if t.hooks == nil {
		t.hooks = &tensorHooks{}
	}
	t.hooks.retain = true
	return t
}

func (t *Tensor) wantsGrad(op string) {
	if t.live(op); !t.needs {
		fail(op, ErrGrad, "call RequireGrad on it, or compute it from what wants one, outside NoGrad", "tensor %sof shape %v wants none", quoted(t.name), t.shape)
	}
}

// hooked returns what t's hooks make of its gradient.
func (e *engine) hooked(t, g *Tensor) *Tensor {
	if t.hooks == nil {
		return g
	}
	for _, hook := range t.hooks.list {
		if other := (*hook)(g); other != nil && other != g {
			t.checkHook(other)
			g = other
			if e.tracer != nil {
				e.tracer.replaced(t, g)
			}
		}
	}
	if t.hooks.retain && e.want == nil {
		t.retainGrad(e.on(g), g)
	}
	return g
}

// checkHook refuses a gradient that is none of t.
func (t *Tensor) checkHook(g *Tensor) {
	g.live("hook")
	switch what := quoted(t.name); {
	case !slices.Equal(g.shape, t.shape):
		fail("hook", ErrShape, "return a gradient of the tensor's shape, or nil", "a hook of the tensor %sof shape %v returned one of shape %v", what, t.shape, g.shape)
	case g.dt != t.dt:
		fail("hook", ErrDType, "return a gradient of the tensor's dtype, or nil", "a hook of the %v tensor %sreturned a %v one", t.dt, what, g.dt)
	case !sameDevice(g.st.dev, t.st.dev):
		fail("hook", ErrDevice, "return a gradient on the tensor's device, or nil", "a hook of a tensor %son %s returned one on %s", what, t.st.dev.Name(), g.st.dev.Name())
	}
}

// retainGrad adds g, a temporary of the backward scope bs, to the Grad of the result of an op.
func (t *Tensor) retainGrad(bs *Scope, g *Tensor) {
	if t.joins(bs, g) {
		return
	}
	c, whole := alloc("RetainGrad", g.st.dev, g.dt, g.shape), false
	defer c.giveUp(&whole)
	CopyInPlace(bs, c, g)
	c.name, c.scope, whole = t.name, t.scope, true
	t.scope.arena.own(c)
	t.grad = c
}

// passed returns what the hooks make of the gradient of a node's result before it is passed on. Grad returns that too where nothing else that
// it was asked about lies further up, and else what was there before, as PyTorch's engine does.
func (e *engine) passed(n *node, g *Tensor) *Tensor {
	now := e.hooked(n.out, g)
	if i, asked := e.want[n.out]; asked && now != g && !e.asksAbove(n, map[*node]bool{}) {
		e.drop(e.got[i])
		e.got[i] = now
		e.held[now]++
	}
	return now
}

// asksAbove says whether Grad was asked about a tensor that n's result was made from.
func (e *engine) asksAbove(n *node, seen map[*node]bool) bool {
	seen[n] = true
	for _, in := range n.in {
		if in == nil {
			continue
		}
		if _, asked := e.want[in]; asked || in.node != nil && !seen[in.node] && e.asksAbove(in.node, seen) {
			return true
		}
	}
	return false
}

// replaced takes what a hook returned as its own reference.
func (f *gradientTracer) replaced(t, g *Tensor) {
	if t.node != nil {
		f.pending[t.node] = &arrival{ref: g.wide64(), from: -1}
	}
}
