package optim

// Receivers that no constructor has made: empty structs, and nil pointers to schedules.

// made refuses an empty optimizer. (A nil *SGD or *Adam is Go's own nil dereference: its methods are those of a struct within it.)
func (o *base) made(method string) *base {
	if o.kind == nil {
		misused(method, "make it with optim.NewSGD, optim.NewAdam and so on", "the optimizer is empty")
	}
	return o
}

func (o *LBFGS) made(method string) {
	if o == nil || len(o.params) == 0 {
		misused("LBFGS."+method, "make it with optim.NewLBFGS", "the optimizer is nil or empty")
	}
}

// made refuses a schedule that is nil or empty, as there says of a part that all have.
func made(kind, method string, there bool) {
	if !there {
		misused(kind+"."+method, "make it with its constructor, such as optim.NewStepLR", "the schedule is nil or empty")
	}
}

func (s *Schedule) made(method string) { made("Schedule", method, s != nil && s.opt != nil) }
func (q *Sequence) made(method string) { made("Sequence", method, q != nil && len(q.parts) > 0) }
func (c *Chain) made(method string)    { made("Chain", method, c != nil && len(c.parts) > 0) }
func (a *Applied) made(method string)  { made("Applied", method, a != nil && a.Scheduler != nil) }
func (p *Plateau) made(method string)  { made("Plateau", method, p != nil && p.opt != nil) }
