package widgets

import (
	"fmt"
	"math"
	"slices"

	"github.com/halftone-ml/halftone/amp"
)

// in names the dtypes of 16 bits that the pass was in, or the loss's own.
func (d *RoundingData) in() string {
	switch len(d.Halves) {
	case 0:
		if d.DType == amp.NoDType {
			return amp.Float32.String()
		}
		return d.DType.String()
	case 1:
		return d.Halves[0].String()
	}
	return d.Halves[0].String() + " and " + d.Halves[1].String()
}

// finding is the figure in two or three sentences. The losses are the trace's own, which have more digits than the figure's.
func (d *RoundingData) finding(t *amp.RoundingTrace) string {
	at := "The loss"
	if d.Step >= 0 {
		at = fmt.Sprintf("In step %s the loss", Count(d.Step))
	}
	if d.Bad {
		return at + d.broken()
	}
	loss, exact := apart(t.Loss, t.Exact)
	s := fmt.Sprintf("%s is %s in %s and %s in float64: rounding moved it by %s.", at, loss, d.in(), exact, d.relative(math.Abs(float64(d.Error))))
	if d.Error == 0 {
		s = fmt.Sprintf("%s is %s in %s as in float64.", at, loss, d.in())
	}
	if len(d.Halves) == 0 {
		return s + d.lowered()
	}
	first, rows, sum, of := d.leaders()
	if len(first) == 0 {
		return s + " No op's rounding reaches it."
	}
	s += fmt.Sprintf(" %s of what rounding can do to it enters at %s of %s, %s", capital(share01(sum)), Count(len(first)), plural(of, "place"), d.most(first, "at"))
	if now, then := d.all(amp.NoDType), d.With(amp.Float32, rows...); d.raises(rows) && then < now {
		s += fmt.Sprintf("; with %s in float32 an error of about %s is to be expected, now %s", those(first), ErrorText(then), ErrorText(now))
	}
	return s + "."
}

// raises says that some of the rows are in 16 bits, and what float32 would do is known.
func (d *RoundingData) raises(rows []int) bool {
	_, ok := d.In(amp.Float32)
	return ok && slices.ContainsFunc(rows, func(i int) bool { return d.Rows[i].DType.IsHalf() || d.Rows[i].Compute.IsHalf() })
}

func those(first []roundingPlace) string {
	if len(first) == 1 {
		return "that op"
	}
	return "those"
}

// most names the first of the places: "most at [3]:12 softmax".
func (d *RoundingData) most(first []roundingPlace, at string) string {
	most := d.Rows[first[0].lead].Place()
	if first[0].casts && d.Rows[first[0].lead].For == "" {
		most += " and its casts"
	}
	if len(first) > 1 {
		most = "most " + at + " " + most
	}
	return most
}

// broken says where a loss broke that is not finite.
func (d *RoundingData) broken() string {
	s := fmt.Sprintf(" is not finite in %s; in float64 it is %s.", d.in(), lossText(d.Exact))
	if d.Broke == "" {
		return s + " Each op that was compared gave finite results for finite operands."
	}
	for i := range d.Rows {
		r := &d.Rows[i]
		if r.Bad == 0 || r.Place() != d.Broke {
			continue
		}
		s += fmt.Sprintf(" The first to break is %s, %v: %s of %s are not finite, and their operands are", d.Broke, r.DType, Count(r.Bad), plural(r.N, "result"))
		if o, ok := r.In(amp.Float32); ok && o.Over == 0 {
			s += "; in float32 none would overflow"
		}
		return s + "."
	}
	return s + " The first to break is " + d.Broke + "."
}

// lowered says what a program in float32 would lose in 16 bits.
func (d *RoundingData) lowered() string {
	dt := d.Lower()
	if dt == amp.NoDType {
		return " Nothing was computed in 16 bits."
	}
	o, _ := d.In(dt)
	over, lost := d.misfits(dt)
	s := fmt.Sprintf(" With every op in %v about", dt)
	if len(over) > 0 {
		s = fmt.Sprintf(" In %v %s", dt, over[0])
		if n := len(over) - 1; n > 0 {
			s += fmt.Sprintf(" and %s overflow; with all other ops in it about", plural(n, "more place"))
		} else {
			s += " overflows; with all other ops in it about"
		}
	}
	s += fmt.Sprintf(" %s is to be expected", d.relative(float64(o.Spread)))
	if first, rows, sum, of := d.leaders(); len(first) > 0 {
		s += fmt.Sprintf(", %s of that from %s of %s, %s", share01(sum), Count(len(first)), plural(of, "place"), d.most(first, "from"))
		if left := d.without(dt, rows); left > 0 {
			s += fmt.Sprintf(", and %s without %s", ErrorText(left), those(first))
		}
	}
	if b, ok := d.In(amp.BFloat16); ok && dt != amp.BFloat16 {
		s += fmt.Sprintf("; in bfloat16 about %s", ErrorText(float64(b.Spread)))
	}
	s += "."
	if len(lost) > 0 {
		s += fmt.Sprintf(" In %v %s would be zero.", dt, lost[0])
	}
	return s
}

// misfits names the ops that a dtype cannot hold, and those that lose to zero what matters, in the program's order.
func (d *RoundingData) misfits(dt amp.DType) (over, lost []string) {
	for i := range d.Rows {
		r := &d.Rows[i]
		switch o, _ := r.In(dt); {
		case o.Over > 0:
			over = append(over, r.Place())
		case r.loses(dt) && part(float64(o.Spread), d.all(dt)) >= 0.01:
			lost = append(lost, fmt.Sprintf("%s of the results of %s", percent(o.Lost, r.N), r.Place()))
		}
	}
	return over, lost
}

// loses says that a dtype rounds a hundredth of the row's results to zero, or more.
func (r *RoundingRow) loses(dt amp.DType) bool {
	o, _ := r.In(dt)
	return o.Lost > 0 && 100*o.Lost >= r.N
}
