package cudart

import "github.com/halftone-ml/halftone/amp"

// Rows whose tensors have two dtypes that no kernel takes together: they are converted in scratch memory, on the device.

func init() {
	register(launchAddInto, "add_")
	for _, name := range []string{"logical_and", "logical_or", "logical_xor"} {
		register(func(l *launcher) bool { return launchLogical(l, name) }, name)
	}
}

// converted returns v in a dtype: itself, or a cast into scratch memory that is queued.
func (l *launcher) converted(v *view, dt amp.DType) (view, bool) {
	if v.dt == dt {
		return *v, true
	}
	to := l.scratch(v, dt)
	return to, l.err == nil && (to.len() == 0 || l.cast(&to, v))
}

// through runs a launch with all inputs converted to dt and a result of dt, which is cast last: f must give it without gaps.
func (l *launcher) through(dt amp.DType, f launching) bool {
	out := l.out
	for i := range l.c.In {
		if !l.given(i) {
			continue
		}
		v, ok := l.converted(&l.in[i], dt)
		if !ok {
			return false
		}
		l.in[i] = v
	}
	if out.dt == dt {
		return f(l)
	}
	l.out = l.scratch(&out, dt)
	return l.err == nil && f(l) && l.cast(&out, &l.out)
}

// launchLogical makes bools of inputs of two dtypes first.
func launchLogical(l *launcher, name string) bool {
	if l.in[0].dt == l.in[1].dt {
		return l.elementwise(name, l.in[0].dt, nil, &l.out, &l.in[0], &l.in[1])
	}
	return l.through(amp.Bool, func(l *launcher) bool {
		return l.elementwise(name, amp.Bool, nil, &l.out, &l.in[0], &l.in[1])
	})
}

// launchAddInto adds in the arithmetic of the tensor that changes, as on the CPU: float32 for halves, int64 for bools, of which a sum is
// whether one is set.
func launchAddInto(l *launcher) bool {
	dst, x := l.in[0].dt, l.in[1].dt
	if dst == x && dst != amp.Bool {
		return l.elementwise("add", dst, nil, &l.out, &l.in[0], &l.in[1])
	}
	if f := l.kernel("accumulate", dst, x); f != 0 {
		if !l.mapArgs.lay(&l.out, &l.in[0], &l.in[1]) {
			return l.inPieces(f, nil, &l.out, &l.in[0], &l.in[1])
		}
		l.apply(f, &l.out, &l.in[0], &l.in[1])
		return true
	}
	wide := dst
	switch {
	case dst.IsHalf():
		wide = amp.Float32
	case dst == amp.Bool:
		wide = amp.Int64
	}
	return l.through(wide, func(l *launcher) bool {
		return l.elementwise("add", wide, nil, &l.out, &l.in[0], &l.in[1])
	})
}
