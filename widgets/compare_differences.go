package widgets

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// manyTimes is the relative difference from which on people count in multiples: as many times as much, and not so many percent more.
const manyTimes = 10

// RelativeText writes a relative difference with three digits: "-0.120%", "+673%", "-0.00580%", "+81,100%", "–" for none.
func RelativeText(n Number) string {
	v := 100 * float64(n)
	switch {
	case math.IsNaN(v), math.IsInf(v, 0):
		return "–"
	case v == 0:
		return "0"
	case math.Abs(v) < 1e-4, math.Abs(v) >= 1e6:
		return fmt.Sprintf("%+.1e%%", v)
	case math.Abs(v) < 999.5:
		return strings.TrimSuffix(fmt.Sprintf("%+#.3g", v), ".") + "%" // # keeps zeros, and the point behind three digits
	case v < 0:
		return Count(int64(digits(v, 3))) + "%"
	}
	return "+" + Count(int64(digits(v, 3))) + "%"
}

// EndText writes how far run i ends from the reference, by the same means as the answer; by the last common step where there are none.
// All runs are written alike: as percentages, or as multiples of the reference where one of them ends at many times it.
func (d *CompareData) EndText(i int) string { return d.difference(d.Runs[i].ends()) }

// WorstText writes how far run i is from the reference where it is furthest, in the form of EndText.
func (d *CompareData) WorstText(i int) string { return d.difference(d.Runs[i].Worst) }

// ends is the difference at the end; at the last common step where the means at the end have none.
func (r *RunRow) ends() Number {
	if r.End.finite() {
		return r.End
	}
	return r.Relative
}

// difference writes a relative difference in the form of the whole table.
func (d *CompareData) difference(v Number) string {
	if v.finite() && d.multiples() {
		return "×" + timesText(float64(v)+1)
	}
	return RelativeText(v)
}

// multiples says whether a run ends so far above the reference that people count in multiples of it.
func (d *CompareData) multiples() bool {
	return d.positive() && slices.ContainsFunc(d.Runs[1:], func(r RunRow) bool { return r.ends().finite() && r.ends() >= manyTimes })
}

// positive says whether every loss of the reference is above zero: nothing is so many times a negative number.
func (d *CompareData) positive() bool {
	return !slices.ContainsFunc(d.Runs[0].Loss, func(v Number) bool { return v.finite() && v <= 0 })
}

// timesText writes how many times as much something is, with three digits; with a fourth just above one, which would be lost.
func timesText(v float64) string {
	n := 3
	if math.Abs(v) >= 1 && math.Abs(v) < 2 {
		n = 4
	}
	v = float64(digits(v, n))
	if math.Abs(v) < 1000 || math.Abs(v) >= 1e6 {
		return fmt.Sprintf("%.4g", v)
	}
	return Count(int64(v))
}
