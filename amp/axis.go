package amp

import "fmt"

// Dimensions by number. A tensor without dimensions is taken for one of a single element along dimension 0, or -1, as PyTorch takes it.

// axis turns a dimension that may be negative into an index.
func (t *Tensor) axis(op string, d int) int {
	n := len(t.shape)
	if n == 0 {
		fail(op, ErrShape, "give it one with amp.Unsqueeze(s, t, 0)", "dimension %d of a tensor without dimensions", d)
	}
	if d < -n || d >= n {
		fail(op, ErrShape, fmt.Sprintf("use a dimension from %d to %d", -n, n-1), "dimension %d of a tensor of shape %v", d, t.shape)
	}
	if d < 0 {
		d += n
	}
	return d
}

// axisOr0 is axis for what a tensor without dimensions may have, too: 0 stands for 0 and -1 then.
func (t *Tensor) axisOr0(op string, d int) int {
	if len(t.shape) > 0 {
		return t.axis(op, d)
	}
	if d != 0 && d != -1 {
		fail(op, ErrShape, "use dimension 0 or -1, which stand for its single element, or none", "dimension %d of a tensor without dimensions", d)
	}
	return 0
}

// lone says whether t has no dimensions; it may be nil, of which others tell.
func (t *Tensor) lone() bool { return t != nil && len(t.shape) == 0 }

// axis is Tensor.axis for the op that goes along dimension d of x, and axisOr0 where its row takes a tensor without dimensions.
func (o *Op) axis(x *Tensor, d int) int {
	x.live(o.Name)
	if o.Line == NoLine {
		return x.axis(o.Name, d)
	}
	return x.axisOr0(o.Name, d)
}

// line returns x, as a line of one element where it has no dimensions.
func line(s *Scope, x *Tensor) *Tensor {
	if x.lone() {
		return Reshape(s, x, 1)
	}
	return x
}

// onLines is apply with lines of one element for the inputs that have no dimensions.
func (s *Scope) onLines(o *Op, at Attrs, in []*Tensor) *Tensor {
	lines := make([]*Tensor, len(in))
	for i, x := range in {
		lines[i] = line(s, x)
	}
	y := s.apply(o, at, lines...)
	if !y.lone() && in[o.Line-LikeFirst].lone() {
		y = Reshape(s, y)
	}
	return y
}
