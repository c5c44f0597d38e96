package widgets

import (
	"cmp"
	"math"
	"slices"

	"github.com/halftone-ml/halftone/amp"
)

// Lower is the dtype whose cost the figure is about where nothing was computed in 16 bits: float16 where the trace has it, else bfloat16.
// It is NoDType of a pass that was in 16 bits itself, and where the trace has neither.
func (d *RoundingData) Lower() amp.DType {
	if len(d.Halves) > 0 {
		return amp.NoDType
	}
	for _, dt := range []amp.DType{amp.Float16, amp.BFloat16} {
		if _, ok := findIf(d.If, dt); ok {
			return dt
		}
	}
	return amp.NoDType
}

// findIf returns what would be in a dtype.
func findIf(all []RoundingIf, dt amp.DType) (RoundingIf, bool) {
	for _, o := range all {
		if o.DType == dt {
			return o, true
		}
	}
	return RoundingIf{DType: dt}, false
}

// In returns what the row would do in a dtype; false where that is not known, as of casts.
func (r *RoundingRow) In(dt amp.DType) (RoundingIf, bool) { return findIf(r.If, dt) }

// In returns what every op in a dtype would do together.
func (d *RoundingData) In(dt amp.DType) (RoundingIf, bool) { return findIf(d.If, dt) }

// weight is the size of what the row does to the loss, or would do in a dtype.
func (r *RoundingRow) weight(dt amp.DType) float64 {
	if dt == amp.NoDType {
		return float64(r.Spread)
	}
	o, _ := r.In(dt)
	return float64(o.Spread)
}

// breaks says that results of the row are not finite, or would not be.
func (r *RoundingRow) breaks(dt amp.DType) bool {
	o, _ := r.In(dt)
	return r.Bad > 0 || dt != amp.NoDType && o.Over > 0
}

// all is the size of what all rows do together, those left out too; of a dtype that nothing ran in, of what they would do.
func (d *RoundingData) all(dt amp.DType) float64 {
	if dt != amp.NoDType {
		o, _ := d.In(dt)
		return float64(o.Spread)
	}
	all := float64(d.MoreSpread)
	for i := range d.Rows {
		all = math.Hypot(all, float64(d.Rows[i].Spread))
	}
	return all
}

// part is a share of a size that others add up to: as variances add.
func part(v, all float64) float64 {
	if !(v > 0) || !(all > 0) {
		return 0
	}
	return min((v/all)*(v/all), 1)
}

// Part is the row's part, from 0 to 1, of what rounding can do to the loss; of a program in float32, of what it would do in Lower.
func (d *RoundingData) Part(r *RoundingRow) float64 {
	return part(r.weight(d.Lower()), d.all(d.Lower()))
}

// Parts are the parts of all rows.
func (d *RoundingData) Parts() []float64 {
	dt := d.Lower()
	out, all := make([]float64, len(d.Rows)), d.all(dt)
	for i := range d.Rows {
		out[i] = part(d.Rows[i].weight(dt), all)
	}
	return out
}

// A roundingPlace is an op with the casts for it.
type roundingPlace struct {
	lead  int   // its row; the first cast where the op itself has none
	rows  []int // all
	casts bool
}

// places are the ops with the casts for them, in the program's order.
func (d *RoundingData) places() []roundingPlace {
	type key struct{ op, module, where string }
	at := map[key]int{}
	var out []roundingPlace
	for i := range d.Rows {
		r := &d.Rows[i]
		op := r.Op
		if r.For != "" {
			op = r.For
		}
		k, ok := at[key{op, r.Module, r.Where}]
		if !ok {
			k = len(out)
			at[key{op, r.Module, r.Where}] = k
			out = append(out, roundingPlace{lead: i})
		}
		p := &out[k]
		if r.For == "" && d.Rows[p.lead].For != "" {
			p.lead = i
		}
		p.rows, p.casts = append(p.rows, i), p.casts || r.For != ""
	}
	return out
}

// With is the size of the loss's error to be expected with the given rows in another dtype, and all others as they were. A cast stands for
// the op that it is for, and goes where that runs in the dtype of what is cast.
func (d *RoundingData) With(dt amp.DType, rows ...int) float64 {
	chosen := make([]bool, len(d.Rows))
	for _, p := range d.places() {
		if slices.ContainsFunc(p.rows, func(i int) bool { return slices.Contains(rows, i) }) {
			for _, i := range p.rows {
				chosen[i] = true
			}
		}
	}
	all := float64(d.MoreSpread)
	for i := range d.Rows {
		r := &d.Rows[i]
		v := float64(r.Spread)
		if o, ok := r.In(dt); chosen[i] && r.For != "" {
			v = 0
		} else if chosen[i] && ok {
			v = float64(o.Spread)
		}
		all = math.Hypot(all, v)
	}
	return all
}

// leaders are the places that together make two thirds of what rounding does to the loss, the largest first, five at most, with their rows,
// their part, and how many places there are that do anything.
func (d *RoundingData) leaders() (first []roundingPlace, rows []int, sum float64, of int) {
	parts, all := d.Parts(), d.places()
	part := func(p roundingPlace) (sum float64) {
		for _, i := range p.rows {
			sum += parts[i]
		}
		return sum
	}
	all = slices.DeleteFunc(all, func(p roundingPlace) bool { return part(p) == 0 })
	slices.SortStableFunc(all, func(a, b roundingPlace) int { return cmp.Compare(part(b), part(a)) })
	for _, p := range all {
		if len(first) == 5 || sum >= 2.0/3 {
			break
		}
		first, rows, sum = append(first, p), append(rows, p.rows...), sum+part(p)
	}
	return first, rows, min(sum, 1), len(all)
}

// without is the size of what is left of a dtype's cost without some rows.
func (d *RoundingData) without(dt amp.DType, rows []int) float64 {
	left := 1.0
	for _, i := range rows {
		left -= part(d.Rows[i].weight(dt), d.all(dt))
	}
	return d.all(dt) * math.Sqrt(max(left, 0))
}
