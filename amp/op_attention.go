package amp

import (
	"fmt"
	"math"
	"slices"
)

// scaled_dot_product_attention and its gradient. Scores are computed a block at a time and never kept: backward computes them
// again (Dao et al., FlashAttention, 2022).

var opAttention, opAttentionBackward *Op

func init() {
	opAttention = define(Op{
		Name: "scaled_dot_product_attention", Doc: "softmax(q·kᵀ·scale + mask)·v over the last two dimensions, the softmax in float32",
		Args: []string{"q", "k", "v", "mask"}, Class: Lower, CPUList: Lower, Why: whyGEMM + "; its softmax runs in float32 inside", CUDA: "attention",
		Saves: SaveIn0 | SaveIn1 | SaveIn2 | SaveIn3,
		Check: checkAttention, Order: attentionOrder, CPU: attentionCPU, Backward: attentionBackward,
	})
	opAttentionBackward = define(Op{
		Name: "attention_backward", Doc: "gradients of q, k, v and an additive mask in one vector, from scores computed again",
		Args: []string{"dy", "q", "k", "v", "mask"}, Why: "runs in the dtype its forward ran in", CUDA: "attention_backward",
		Saves: SaveIn0 | SaveIn1 | SaveIn2 | SaveIn3 | SaveIn4,
		Check: func(c *Call) []int {
			n := newAttention(c.In[1:], &c.Attrs).sizes()
			return []int{n[0] + n[1] + n[2] + n[3]}
		},
		CPU: attentionBackwardCPU, Backward: attentionSecond,
	})
}

// Attention holds the settings of ScaledDotProductAttention; the zero value is PyTorch's default.
type Attention struct {
	Causal  bool    // position i sees keys 0 … i alone
	Scale   float64 // factor of the scores; 0 stands for 1/√features
	Dropout float64 // probability of dropping one of the weights that values are averaged with, from 0 to 1; none in an Eval scope
	Grouped bool    // q may have a multiple of the heads (third dimension from the end) of k and v, which groups of them share
}

// ScaledDotProductAttention returns softmax(q·kᵀ·scale + mask)·v for q [… T d], k [… S d] and v [… S e]: [… T e]. What comes before
// the last two dimensions, batches and heads, is broadcast. mask is nil or broadcast to [… T S]: true or false for keys that take
// part or do not, or floats of q's dtype that are added to the scores. A position that sees no key gets zeros. In the lower dtype
// under autocast; scores, softmax and sums are float32 inside (float64 for float64) and the result is rounded once. Where the CPU
// multiplies halves in tile registers (HALFTONE_DOT) those take a weight, and the gradient of a score, as a sum of two halves: of 16 bits
// or more; so do a GPU's tensor cores, where PyTorch's kernels round them to one half. The result's dimensions lie in memory in the order of
// q's, so that turning heads back copies nothing. It panics with ErrShape or ErrDType for inputs that do not fit, and with ErrArgument for a
// mask together with Causal.
// (PyTorch: torch.nn.functional.scaled_dot_product_attention.)
func ScaledDotProductAttention(s *Scope, q, k, v, mask *Tensor, opts Attention) *Tensor {
	const op = "scaled_dot_product_attention"
	s.alive(op)
	for i, t := range []*Tensor{q, k, v} {
		t.live(op)
		if len(t.shape) < 2 {
			fail(op, ErrShape, "use [… positions features]; amp.Reshape adds dimensions", "%s is %v", opAttention.Args[i], t.shape)
		}
	}
	if opts.Causal && mask != nil {
		fail(op, ErrArgument, "give one of them: put the causal pattern into the mask", "a mask and Causal")
	}
	if opts.Scale == 0 {
		opts.Scale = 1 / math.Sqrt(float64(max(1, q.shape[len(q.shape)-1])))
	}
	if !(opts.Dropout >= 0 && opts.Dropout <= 1) {
		fail(op, ErrArgument, "use a probability from 0 to 1", "dropout is %v", opts.Dropout)
	}
	if s.eval {
		opts.Dropout = 0
	}
	if !opts.Grouped || len(q.shape) < 3 || len(k.shape) != len(q.shape) || len(v.shape) != len(q.shape) {
		opts.Grouped = false
		return s.attend(&opts, q, k, v, mask)
	}
	opts.Grouped = false
	h := len(q.shape) - 3
	heads, shared := q.shape[h], k.shape[h]
	if shared == 0 || heads%shared != 0 || v.shape[h] != shared {
		fail(op, ErrShape, "k and v have as many heads as each other, and q a multiple of that", "heads of q %d, k %d, v %d", heads, shared, v.shape[h])
	}
	if mask == nil && !opts.Causal && opts.Dropout == 0 { // the queries of a group are like more queries of one head
		shape := slices.Clone(q.shape)
		shape[h], shape[h+1] = shared, heads/shared*shape[h+1]
		y := s.attend(&opts, Reshape(s, q, shape...), k, v, nil)
		return Reshape(s, y, append(slices.Clone(q.shape[:h+2]), y.shape[len(y.shape)-1])...)
	}
	if mask != nil && len(mask.shape) > 2 {
		at := len(mask.shape) - 3
		mask = splitDim(s, mask, at, min(mask.shape[at], shared))
	}
	y := s.attend(&opts, splitDim(s, q, h, shared), splitDim(s, k, h, shared), splitDim(s, v, h, shared), mask)
	return Reshape(s, y, append(slices.Clone(q.shape[:h+2]), y.shape[len(y.shape)-1])...)
}

// attend applies the row; random numbers are reserved for every weight.
func (s *Scope) attend(opts *Attention, in ...*Tensor) *Tensor {
	at := Attrs{Attention: opts}
	if opts.Dropout > 0 {
		a := newAttention(in, &at)
		at.Draw = s.draw((length(a.batch)*a.T*a.S + 3) / 4)
	}
	return s.apply(opAttention, at, in...)
}

// splitDim reshapes dimension d into [n, rest].
func splitDim(s *Scope, x *Tensor, d, n int) *Tensor {
	shape := slices.Insert(slices.Clone(x.shape), d, n)
	shape[d+1] /= max(1, n)
	return Reshape(s, x, shape...)
}

// attention is the geometry of a call: batches of T queries and S keys of d features, values of e features.
type attention struct {
	q, k, v, mask *Tensor
	batch         []int
	T, S, d, e    int
	scale         float64
	causal        bool
	drop          *mask      // nil without dropout
	grads         [3]*Tensor // of attention_backward: see gradients
}

// newAttention takes q, k, v and mask.
func newAttention(in []*Tensor, at *Attrs) *attention {
	q, k, v := in[0], in[1], in[2]
	r := len(q.shape)
	a := &attention{q: q, k: k, v: v, T: q.shape[r-2], d: q.shape[r-1], S: k.shape[len(k.shape)-2], e: v.shape[len(v.shape)-1],
		scale: at.Attention.Scale, causal: at.Attention.Causal}
	if len(in) > 3 {
		a.mask = in[3]
	}
	if p := at.Attention.Dropout; p > 0 {
		a.drop = dropMask(at.Draw, p)
	}
	for _, t := range in {
		if t == nil {
			continue
		}
		lead := t.shape[:max(0, len(t.shape)-2)]
		a.batch = widened(a.batch, lead)
	}
	return a
}

// widened broadcasts shapes that are known to fit.
func widened(a, b []int) []int {
	if len(a) < len(b) {
		a, b = b, a
	}
	out := slices.Clone(a)
	for i, n := range b {
		if d := len(a) - len(b) + i; out[d] == 1 {
			out[d] = n
		}
	}
	return out
}

// sizes returns the elements of the gradients of q, k, v and mask over the whole batch; the last is 0 without an additive mask.
func (a *attention) sizes() [4]int {
	n := length(a.batch)
	out := [4]int{n * a.T * a.d, n * a.S * a.d, n * a.S * a.e, 0}
	if a.additive() {
		out[3] = n * a.T * a.S
	}
	return out
}

func (a *attention) additive() bool { return a.mask != nil && a.mask.dt != Bool }

// at returns where matrix i of the batch starts in t.
func (a *attention) at(t *Tensor, i int) int {
	off := t.off
	for d := len(a.batch) - 1; d >= 0; d-- {
		off += batchOffset(t, d-(len(a.batch)+2-len(t.shape)), i%a.batch[d])
		i /= a.batch[d]
	}
	return off
}

func checkAttention(c *Call) []int {
	q, k, v, mask := c.In[0], c.In[1], c.In[2], c.In[3]
	for i, t := range c.In[:3] {
		if !t.dt.IsFloat() {
			fail(c.Op.Name, ErrDType, "convert it with amp.To(s, t, amp.Float32)", "%s is %v, need a float dtype", c.Op.argName(i), t.dt)
		}
		c.sameDType(i)
	}
	n := func(t *Tensor, back int) int { return t.shape[len(t.shape)-back] }
	if n(q, 1) != n(k, 1) || n(k, 2) != n(v, 2) {
		fail(c.Op.Name, ErrShape, "q and k have as many features as each other, k and v as many positions", "%s: need q [… T d], k [… S d], v [… S e]", c.shapes())
	}
	batch := []int{}
	for i, t := range c.In {
		if t == nil {
			continue
		}
		lead := t.shape[:max(0, len(t.shape)-2)]
		if !joinable(batch, lead) {
			fail(c.Op.Name, ErrShape, "make the sizes before the last two equal, or 1 where one is to be repeated", "%s: %s does not fit the others", c.shapes(), c.Op.argName(i))
		}
		batch = widened(batch, lead)
	}
	if mask != nil {
		if mask.dt != Bool && mask.dt != q.dt {
			fail(c.Op.Name, ErrDType, fmt.Sprintf("use a bool mask, or one of %v to be added", q.dt), "%s", c.shapes())
		}
		if want := []int{n(q, 2), n(k, 2)}; !joinable(want, mask.shape[max(0, len(mask.shape)-2):]) || !slices.Equal(widened(want, mask.shape[max(0, len(mask.shape)-2):]), want) {
			fail(c.Op.Name, ErrShape, fmt.Sprintf("a mask is broadcast to [… %d %d]", want[0], want[1]), "%s", c.shapes())
		}
	}
	return append(batch, n(q, 2), n(v, 1))
}

// joinable says whether two shapes can be broadcast together.
func joinable(a, b []int) bool {
	for i, j := len(a)-1, len(b)-1; i >= 0 && j >= 0; i, j = i-1, j-1 {
		if a[i] != b[j] && a[i] != 1 && b[j] != 1 {
			return false
		}
	}
	return true
}

// attentionBackward asks for all gradients at once, since they share the scores, and cuts the vector apart.
func attentionBackward(b *Back) {
	in := []*Tensor{b.In(0), b.In(1), b.In(2), nil}
	if b.n.in[3] != nil {
		in[3] = b.In(3)
	}
	a := newAttention(in, b.n.attrs)
	at := b.Attrs()
	at.Dims = a.sideBySide()
	all := b.S.apply(opAttentionBackward, at, append([]*Tensor{b.DY}, in...)...)
	for i, g := range a.split(b.S, all, at.Dims) {
		if g != nil && b.Needs(i) {
			b.Set(i, b.sumTo(i, g))
		}
	}
}
