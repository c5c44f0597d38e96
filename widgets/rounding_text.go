package widgets

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/halftone-ml/halftone/amp"
)

// ErrorText writes an error with two digits: "8.1e-4", "0.013", "2.5"; "0" for none.
func ErrorText(v float64) string {
	a := math.Abs(v)
	if v == 0 || a >= 0.01 || math.IsNaN(v) {
		return decimal(v, 2)
	}
	mantissa, exponent, _ := strings.Cut(strconv.FormatFloat(v, 'e', 1, 64), "e")
	e, _ := strconv.Atoi(exponent)
	return trimZeros(mantissa) + "e" + strconv.Itoa(e)
}

// signed writes an error with its sign.
func signed(v float64) string {
	if v > 0 {
		return "+" + ErrorText(v)
	}
	return ErrorText(v)
}

// apart writes two losses with as many digits as show how far they are apart.
func apart(a, b float64) (string, string) {
	n := 4
	if d := math.Abs(a - b); d > 0 && b != 0 {
		n = min(max(int(math.Ceil(math.Log10(math.Abs(b)/d)))+2, 4), 10)
	}
	return decimal(a, n), decimal(b, n)
}

// lossText writes a loss with six digits.
func lossText(v Number) string { return decimal(float64(v), 6) }

// share01 writes a part between 0 and 1.
func share01(v float64) string { return percent(int(math.Ceil(v*1e6)), 1e6) }

// RoundingLeast is the part of a row from which on it is drawn.
const RoundingLeast = 0.001

// PartText writes a part for a column of them: nothing for what is under RoundingLeast.
func PartText(v float64) string {
	if v < RoundingLeast {
		return ""
	}
	return share01(v)
}

// relative writes a size beside what it is relative to the loss; of a loss of zero, the size alone.
func (d *RoundingData) relative(v float64) string {
	if d.Exact == 0 || v == 0 {
		return ErrorText(v)
	}
	return fmt.Sprintf("%s (%s of it)", ErrorText(v), ErrorText(math.Abs(v/float64(d.Exact))))
}

// OpText is the op, of a cast with the op that it is for: "cast for softmax".
func (r *RoundingRow) OpText() string {
	if r.For != "" {
		return r.Op + " for " + r.For
	}
	return r.Op
}

// Beside is where the op stands and, of a cast, what it casts.
func (r *RoundingRow) Beside() string {
	var parts []string
	for _, s := range []string{r.Of, r.Module, r.Where} {
		if s != "" {
			parts = append(parts, s)
		}
	}
	return strings.Join(parts, " · ")
}

// Place names the row: "[3]:12 softmax in net/0".
func (r *RoundingRow) Place() string {
	op := r.OpText()
	if r.Of != "" {
		op = r.Op + " of " + r.Of
		if r.For != "" {
			op += " for " + r.For
		}
	}
	return place(r.Where, op, r.Module)
}

// Precision writes the dtypes that it computes in and gives: "fp16", "fp16 → fp32".
func (r *RoundingRow) Precision() string {
	if r.Compute == r.DType || r.Compute == amp.NoDType {
		return r.DType.Short()
	}
	return r.Compute.Short() + " → " + r.DType.Short()
}

// OwnText and TotalText write what the op changed by rounding, and what it and all before it did, relative to the size of the results.
func (r *RoundingRow) OwnText() string   { return relativeText(r.Own, r.Size) }
func (r *RoundingRow) TotalText() string { return relativeText(r.Total, r.Size) }

func relativeText(v, size Number) string {
	switch {
	case v == 0:
		return "0"
	case !(size > 0):
		return "–"
	}
	return ErrorText(float64(v) / float64(size))
}

// ShareText writes the part of the loss's error with its sign.
func (r *RoundingRow) ShareText() string { return signed(float64(r.Share)) }

// Text writes the size of what would be, and what would break: "8.1e-4", "overflows", "8.1e-4, 3% zero".
func (o RoundingIf) Text(n int) string {
	switch {
	case o.Over > 0:
		return "overflows"
	case o.Lost > 0 && 100*o.Lost >= n:
		return fmt.Sprintf("%s, %s zero", ErrorText(float64(o.Spread)), percent(o.Lost, n))
	}
	return ErrorText(float64(o.Spread))
}

// IfText writes what the row would do to the loss in a dtype; "" where that is not known.
func (r *RoundingRow) IfText(dt amp.DType) string {
	if o, ok := r.In(dt); ok {
		return o.Text(r.N)
	}
	return ""
}

// Lines say of the rows that matter most, n at most, what their rounding does and what another dtype would.
func (d *RoundingData) Lines(n int) []string {
	var out []string
	dt, parts := d.Lower(), d.Parts()
	for _, k := range d.Ranked() {
		if r := &d.Rows[k]; len(out) < n && (parts[k] >= RoundingLeast || r.breaks(dt)) {
			out = append(out, d.line(r, parts[k]))
		}
	}
	return out
}

func (d *RoundingData) line(r *RoundingRow, part float64) string {
	dt := d.Lower()
	s := fmt.Sprintf("%s, %s: ", r.Place(), r.Precision())
	var says []string
	if r.Bad > 0 {
		says = append(says, fmt.Sprintf("%s of %s not finite", Count(r.Bad), plural(r.N, "result")))
	}
	if dt != amp.NoDType {
		says = append(says, fmt.Sprintf("in %v %s", dt, d.would(r, dt, part)))
		if o, ok := r.In(amp.BFloat16); ok && dt != amp.BFloat16 {
			says = append(says, "in bfloat16 "+o.Text(r.N))
		}
		return s + strings.Join(says, "; ") + "."
	}
	if part > 0 {
		says = append(says, fmt.Sprintf("%s of what rounding can do; it moved the loss by %s, and its results are off by %s of their size", share01(part), r.ShareText(), r.OwnText()))
		if r.Total > r.Own {
			says[len(says)-1] += fmt.Sprintf(", %s with all before it", r.TotalText())
		}
	}
	switch o, ok := r.In(amp.Float32); {
	case !ok || !r.DType.IsHalf():
	case r.Bad > 0 && o.Over == 0:
		says = append(says, "in float32 none would overflow")
	default:
		says = append(says, fmt.Sprintf("in float32 %s, now %s", o.Text(r.N), ErrorText(float64(r.Spread))))
	}
	return s + strings.Join(says, "; ") + "."
}

// would says what a row does in a lower dtype.
func (d *RoundingData) would(r *RoundingRow, dt amp.DType, part float64) string {
	o, _ := r.In(dt)
	if o.Over > 0 {
		return fmt.Sprintf("%s would be infinite", plural(o.Over, "number"))
	}
	s := fmt.Sprintf("%s, %s of what all ops would do", ErrorText(float64(o.Spread)), share01(part))
	if o.Lost > 0 {
		s += fmt.Sprintf(", %s of its results zero", percent(o.Lost, r.N))
	}
	return s
}

// Order says how well first order explains the error, on which all shares rest, and whether signs cancelled.
func (d *RoundingData) Order() string {
	if d.Missing != "" || d.Bad || d.Error == 0 {
		return ""
	}
	s := fmt.Sprintf("To first order, the rounding of all ops adds up to %s; the difference is %s", signed(float64(d.First)), signed(float64(d.Error)))
	if math.Abs(float64(d.First-d.Error)) > max(math.Abs(float64(d.Error)), float64(d.Spread))/2 {
		s += ": too far from it for the shares to be an account; what is of higher order, or a choice that fell otherwise, did the rest"
	}
	s += "."
	switch e, all := math.Abs(float64(d.Error)), float64(d.Spread); {
	case e < all/3:
		s += fmt.Sprintf(" Errors of both signs cancelled: %s was to be expected.", ErrorText(all))
	case e > 3*all && all > 0:
		s += fmt.Sprintf(" Errors of one sign added up: %s was to be expected of errors at random.", ErrorText(all))
	}
	return s
}

// Notes are what a reader must know.
func (d *RoundingData) Notes() []string {
	var out []string
	for _, s := range []string{d.Order(), d.Shorter, d.Note} {
		if s != "" {
			out = append(out, s)
		}
	}
	if d.Skip > 0 {
		out = append(out, fmt.Sprintf("%s could not be compared: %s.", plural(d.Skip, "result"), strings.TrimSuffix(d.Why, ".")))
	}
	return out
}

// Metrics are the numbers that a reader wants first.
func (d *RoundingData) Metrics() []Metric {
	if d.Bad {
		return []Metric{{"not finite", "loss"}, {lossText(d.Exact), "in float64"}}
	}
	moved := Metric{signed(float64(d.Error)), "by which rounding moved the loss"}
	if d.Exact != 0 {
		moved.Label += ", " + ErrorText(math.Abs(float64(d.Error/d.Exact))) + " of it"
	}
	var out []Metric
	if dt := d.Lower(); dt != amp.NoDType {
		for _, dt := range []amp.DType{amp.Float16, amp.BFloat16} {
			if o, ok := d.In(dt); ok {
				out = append(out, Metric{ErrorText(float64(o.Spread)), "to be expected in " + dt.String()})
			}
		}
		return append(out, moved)
	}
	out = append(out, moved, Metric{ErrorText(float64(d.Spread)), "to be expected, had signs fallen at random"}, Metric{signed(float64(d.First)), "of it by first order"})
	if o, ok := d.In(amp.Float32); ok && len(d.Halves) > 0 {
		out = append(out, Metric{ErrorText(float64(o.Spread)), "to be expected with every op in float32"})
	}
	return out
}

// roundingBar is the width of the bars in the text.
const roundingBar = 14

// roundingText draws the figure for a terminal: the finding, the places that matter most, and the program's ops in order.
func (f *Figure) roundingText() string {
	d := f.Rounding
	var b strings.Builder
	b.WriteString(f.Title + "\n")
	paragraph(&b, d.Sentence, "", "")
	if d.Missing != "" {
		return b.String()
	}
	for _, l := range d.Notes() {
		paragraph(&b, l, "", "")
	}
	for _, l := range d.Lines(3) {
		paragraph(&b, l, "- ", "  ")
	}
	if len(d.Rows) > 0 {
		d.rowsText(&b)
		d.recipesText(&b)
	}
	return b.String()
}

// Columns names the columns with what another dtype would do: float32 of a pass in 16 bits, and the 16-bit ones of a program in float32.
func (d *RoundingData) Columns() []amp.DType {
	if len(d.Halves) > 0 {
		if _, ok := d.In(amp.Float32); ok {
			return []amp.DType{amp.Float32}
		}
		return nil
	}
	var out []amp.DType
	for _, dt := range []amp.DType{amp.Float16, amp.BFloat16} {
		if _, ok := d.In(dt); ok {
			out = append(out, dt)
		}
	}
	return out
}

func (d *RoundingData) rowsText(b *strings.Builder) {
	head := []string{"IN THE PROGRAM'S ORDER", "DTYPE", "OWN", "TOTAL", "PART", ""}
	moved := d.Lower() == amp.NoDType
	if moved {
		head = append(head, "MOVED IT BY")
	}
	for _, dt := range d.Columns() {
		head = append(head, "IN "+strings.ToUpper(dt.Short()))
	}
	table, parts := [][]string{head}, d.Parts()
	for i := range d.Rows {
		r := &d.Rows[i]
		row := []string{clip(r.Place(), 44), r.Precision(), r.OwnText(), r.TotalText(), PartText(parts[i]), roundingBarText(parts[i])}
		if r.Bad > 0 {
			row[5] = fmt.Sprintf("× %s bad", Count(r.Bad))
		}
		if moved {
			row = append(row, r.ShareText())
		}
		for _, dt := range d.Columns() {
			row = append(row, r.IfText(dt))
		}
		table = append(table, row)
	}
	writeTable(b, table)
	if d.More > 0 {
		fmt.Fprintf(b, "  … and %s\n", d.MoreText())
	}
	paragraph(b, d.Legend(), "", "")
}

// MoreText says what was left out.
func (d *RoundingData) MoreText() string {
	s := plural(d.More, "more row")
	if dt := d.Lower(); dt == amp.NoDType {
		s += ", together " + share01(part(float64(d.MoreSpread), d.all(dt))) + " of what rounding can do"
	}
	return s
}

// Legend says what the columns are.
func (d *RoundingData) Legend() string {
	what := "rounding can do to the loss"
	if dt := d.Lower(); dt != amp.NoDType {
		what = dt.String() + " would do to the loss"
	}
	return "Own and total are errors of the results relative to their size: by this op alone, and with all before it. Part is of what " + what + "; under 0.1% it is left out."
}

func roundingBarText(v float64) string {
	switch n := int(math.Round(v * roundingBar)); {
	case n > 0:
		return strings.Repeat("█", n)
	case v >= RoundingLeast:
		return "▏"
	}
	return ""
}
