package amp

// Receivers that are not there: a method called on nil, or on a value that no constructor has made, says so instead of faulting within.

// known returns s, which may be closed, unless it is nil or no scope that NewScope made.
func (s *Scope) known(op string) *Scope {
	const fix = "pass a scope: amp.NewScope, or the one that Steps gives"
	switch {
	case s == nil:
		fail(op, ErrArgument, fix, "the scope is nil")
	case s.root == nil:
		fail(op, ErrArgument, fix, "the scope is an empty amp.Scope, which NewScope has not made")
	}
	return s
}

// known returns g unless it is nil, or no scaler that NewGradScaler made.
func (g *GradScaler) known(method string) *GradScaler {
	if g == nil || g.opts == nil {
		fail("GradScaler."+method, ErrArgument, "make it with amp.NewGradScaler; amp.ScalerEnabled(false) makes one that does nothing", "the scaler is nil or empty")
	}
	return g
}
