package widgets

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/halftone-ml/halftone/amp"
)

// errorText writes an error with two digits: "8.1e-4", "0.013", "2.5"; "0" for none.
func errorText(v float64) string {
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
		return "+" + errorText(v)
	}
	return errorText(v)
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

// PartText writes a part for a column of them: nothing for what is under a thousandth.
func PartText(v float64) string {
	if v < 0.001 {
		return ""
	}
	return share01(v)
}

// relative writes a size beside what it is relative to the loss; of a loss of zero, the size alone.
func (d *RoundingData) relative(v float64) string {
	if d.Exact == 0 || v == 0 {
		return errorText(v)
	}
	return fmt.Sprintf("%s (%s of it)", errorText(v), errorText(math.Abs(v/float64(d.Exact))))
}

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
	rows, sum := d.leaders()
	if len(rows) == 0 {
		return s + " No op's rounding reaches it."
	}
	s += fmt.Sprintf(" %s of what rounding can do to it enters at %s of %s, %s", share01(sum), Count(len(rows)), plural(d.places(), "place"), d.most(rows, "at"))
	if now, then := d.all(amp.NoDType), d.With(amp.Float32, rows...); d.raises(rows) && then < now {
		s += fmt.Sprintf("; with %s in float32 an error of about %s is to be expected, now %s", those(rows), errorText(then), errorText(now))
	}
	return s + "."
}

// raises says that rows can be run in float32 and were not.
func (d *RoundingData) raises(rows []int) bool {
	for _, i := range rows {
		if r := &d.Rows[i]; !r.DType.IsHalf() && !r.Compute.IsHalf() {
			return false
		}
	}
	_, ok := d.In(amp.Float32)
	return ok
}

func those(rows []int) string {
	if len(rows) == 1 {
		return "that op"
	}
	return "those"
}

// most names the first of the rows: "most at [3]:12 softmax".
func (d *RoundingData) most(rows []int, at string) string {
	most := "most " + at + " "
	if len(rows) == 1 {
		most = ""
	}
	return most + d.Rows[rows[0]].Place()
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
	s := fmt.Sprintf(" With every op in %v about %s is to be expected", dt, d.relative(float64(o.Spread)))
	if rows, sum := d.leaders(); len(rows) > 0 {
		s += fmt.Sprintf(", %s of that from %s of %s, %s", share01(sum), Count(len(rows)), plural(d.places(), "place"), d.most(rows, "from"))
		if left := d.without(dt, rows); left > 0 {
			s += fmt.Sprintf(", and %s without %s", errorText(left), those(rows))
		}
	}
	if b, ok := d.In(amp.BFloat16); ok && dt != amp.BFloat16 {
		s += fmt.Sprintf("; in bfloat16 about %s", errorText(float64(b.Spread)))
	}
	return s + "." + d.overflows(dt)
}

// overflows names the first ops that a dtype cannot hold, and those that lose what matters to zero.
func (d *RoundingData) overflows(dt amp.DType) string {
	var over, lost []string
	for _, k := range d.Ranked() {
		r := &d.Rows[k]
		switch o, _ := r.In(dt); {
		case o.Over > 0:
			over = append(over, r.Place())
		case r.loses(dt) && part(float64(o.Spread), d.all(dt)) >= 0.01:
			lost = append(lost, fmt.Sprintf("%s of the results of %s", percent(o.Lost, r.N), r.Place()))
		}
	}
	s := ""
	if len(over) > 0 {
		s += fmt.Sprintf(" In %v %s", dt, over[0])
		if n := len(over) - 1; n > 0 {
			s += fmt.Sprintf(" and %s overflow.", plural(n, "other place"))
		} else {
			s += " overflows."
		}
	}
	if len(lost) > 0 {
		s += fmt.Sprintf(" In %v %s would be zero.", dt, lost[0])
	}
	return s
}

// loses says that a dtype rounds a hundredth of the row's results to zero, or more.
func (r *RoundingRow) loses(dt amp.DType) bool {
	o, _ := r.In(dt)
	return o.Lost > 0 && 100*o.Lost >= r.N
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
	return errorText(float64(v) / float64(size))
}

// ShareText writes the part of the loss's error with its sign.
func (r *RoundingRow) ShareText() string { return signed(float64(r.Share)) }

// Text writes the size of what would be, and what would break: "8.1e-4", "overflows", "8.1e-4, 3% zero".
func (o RoundingIf) Text(n int) string {
	switch {
	case o.Over > 0:
		return "overflows"
	case o.Lost > 0 && 100*o.Lost >= n:
		return fmt.Sprintf("%s, %s zero", errorText(float64(o.Spread)), percent(o.Lost, n))
	}
	return errorText(float64(o.Spread))
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
		if r := &d.Rows[k]; len(out) < n && (parts[k] > 0 || r.breaks(dt)) {
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
		says = append(says, fmt.Sprintf("in float32 %s, now %s", o.Text(r.N), errorText(float64(r.Spread))))
	}
	return s + strings.Join(says, "; ") + "."
}

// would says what a row does in a lower dtype.
func (d *RoundingData) would(r *RoundingRow, dt amp.DType, part float64) string {
	o, _ := r.In(dt)
	if o.Over > 0 {
		return fmt.Sprintf("%s would be infinite", plural(o.Over, "number"))
	}
	s := fmt.Sprintf("%s, %s of what all ops would do", errorText(float64(o.Spread)), share01(part))
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
	s := fmt.Sprintf("To first order, the rounding of all ops explains %s of the difference of %s", signed(float64(d.First)), signed(float64(d.Error)))
	if math.Abs(float64(d.First-d.Error)) > math.Abs(float64(d.Error))/2 {
		s += ": too little for the shares to be an account of it; what is of higher order, or a choice that fell otherwise, did the rest"
	}
	s += "."
	switch e, all := math.Abs(float64(d.Error)), float64(d.Spread); {
	case e < all/3:
		s += fmt.Sprintf(" Errors of both signs cancelled: %s was to be expected.", errorText(all))
	case e > 3*all && all > 0:
		s += fmt.Sprintf(" Errors of one sign added up: %s was to be expected of errors at random.", errorText(all))
	}
	return s
}

// Notes are what a reader must know.
func (d *RoundingData) Notes() []string {
	var out []string
	for _, s := range []string{d.Order(), d.Note} {
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
		moved.Label += ", " + errorText(math.Abs(float64(d.Error/d.Exact))) + " of it"
	}
	var out []Metric
	if dt := d.Lower(); dt != amp.NoDType {
		for _, dt := range []amp.DType{amp.Float16, amp.BFloat16} {
			if o, ok := d.In(dt); ok {
				out = append(out, Metric{errorText(float64(o.Spread)), "to be expected in " + dt.String()})
			}
		}
		return append(out, moved)
	}
	out = append(out, moved, Metric{errorText(float64(d.Spread)), "to be expected, had signs fallen at random"}, Metric{signed(float64(d.First)), "of it that first order explains"})
	if o, ok := d.In(amp.Float32); ok && len(d.Halves) > 0 {
		out = append(out, Metric{errorText(float64(o.Spread)), "to be expected with every op in float32"})
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
	para := func(text, first, rest string) {
		for i, l := range wrap(text, 100) {
			b.WriteString("  " + map[bool]string{true: first, false: rest}[i == 0] + l + "\n")
		}
	}
	para(d.Sentence, "", "")
	if d.Missing != "" {
		return b.String()
	}
	for _, l := range d.Notes() {
		para(l, "", "")
	}
	for _, l := range d.Lines(3) {
		para(l, "- ", "  ")
	}
	if len(d.Rows) > 0 {
		d.rowsText(&b)
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
	for _, l := range wrap(d.Legend(), 100) {
		b.WriteString("  " + l + "\n")
	}
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
	case v >= 0.001:
		return "▏"
	}
	return ""
}
