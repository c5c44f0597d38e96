package widgets

import (
	"math"

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

// With is the size of the loss's error to be expected with the given rows in another dtype, and all others as they were. A cast stands for
// the op that it is for, and goes where that runs in the dtype of what is cast.
func (d *RoundingData) With(dt amp.DType, rows ...int) float64 {
	type key struct{ op, module, where string }
	chosen := map[key]bool{}
	for _, i := range rows {
		r := &d.Rows[i]
		op := r.Op
		if r.For != "" {
			op = r.For
		}
		chosen[key{op, r.Module, r.Where}] = true
	}
	all := float64(d.MoreSpread)
	for i := range d.Rows {
		r := &d.Rows[i]
		v := float64(r.Spread)
		switch {
		case r.For != "" && chosen[key{r.For, r.Module, r.Where}]:
			v = 0
		case chosen[key{r.Op, r.Module, r.Where}]:
			if o, ok := r.In(dt); ok {
				v = float64(o.Spread)
			}
		}
		all = math.Hypot(all, v)
	}
	return all
}

// without is the size of what is left of a dtype's cost without some rows.
func (d *RoundingData) without(dt amp.DType, rows []int) float64 {
	left := 1.0
	for _, i := range rows {
		left -= part(d.Rows[i].weight(dt), d.all(dt))
	}
	return d.all(dt) * math.Sqrt(max(left, 0))
}

// leaders are the rows that together make two thirds of what rounding does to the loss, the largest first, five at most, and their part.
func (d *RoundingData) leaders() (rows []int, sum float64) {
	parts := d.Parts()
	order := d.Ranked()
	for len(rows) < 5 && sum < 2.0/3 {
		best := -1
		for _, k := range order {
			if parts[k] > 0 && (best < 0 || parts[k] > parts[best]) {
				best = k
			}
		}
		if best < 0 {
			break
		}
		rows, sum = append(rows, best), sum+parts[best]
		parts[best] = 0
	}
	return rows, min(sum, 1)
}

// places counts the rows that change the loss, or would.
func (d *RoundingData) places() int {
	n, dt := d.More, d.Lower()
	for i := range d.Rows {
		n += b2i(d.Rows[i].weight(dt) > 0)
	}
	return n
}
