package widgets

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/halftone-ml/halftone/amp"
)

// BitsData looks at numbers bit by bit: what [Bits] shows.
type BitsData struct {
	Missing  string      `json:"missing,omitempty"` // why there is nothing to show
	Sentence string      `json:"sentence"`          // the finding in words
	Values   []BitsValue `json:"values"`
	More     int         `json:"more,omitempty"` // numbers left out
}

// A BitsValue is one number and what each format makes of it.
type BitsValue struct {
	Value Exact     `json:"value"` // the number asked about
	Rows  []BitsRow `json:"rows"`  // fp32, fp16, bf16, e4m3 and e5m2
}

// A BitsRow is a number in one format, rounded to nearest, ties to even.
type BitsRow struct {
	Format   string `json:"format"`
	Bits     uint32 `json:"bits"`      // sign, exponent and fraction, from the top
	Exponent int    `json:"exponent"`  // bits of the exponent field
	Fraction int    `json:"fraction"`  // bits of the fraction field
	Kind     string `json:"kind"`      // "zero", "subnormal", "normal", "infinite" or "nan"
	Value    Exact  `json:"value"`     // the format's number
	Below    Exact  `json:"below"`     // the format's next smaller number
	Above    Exact  `json:"above"`     // the next larger
	ULP      Exact  `json:"ulp"`       // gap between the format's numbers there
	Error    Exact  `json:"error"`     // Value - the number asked about
	ErrorULP Number `json:"error_ulp"` // the same in ulp, to three digits; NaN where there is none
	Relative Number `json:"relative"`  // |Error| / |number|, to three digits; NaN where there is none
	Becomes  string `json:"becomes"`   // what becomes of the number, in words
}

// An Exact is a float64 whose JSON form keeps every bit but a NaN's; "NaN", "+Inf" and "-Inf" are strings.
type Exact float64

// MarshalJSON writes the shortest form that reads back as the same number.
func (x Exact) MarshalJSON() ([]byte, error) {
	if v := float64(x); !math.IsNaN(v) && !math.IsInf(v, 0) {
		return strconv.AppendFloat(nil, v, 'g', -1, 64), nil
	}
	return Number(x).MarshalJSON()
}

// UnmarshalJSON reads a number or one of the three strings.
func (x *Exact) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] == '"' {
		var n Number
		err := n.UnmarshalJSON(b)
		*x = Exact(n)
		return err
	}
	return json.Unmarshal(b, (*float64)(x))
}

// BitsFormats are the formats of a BitsValue's rows: float8 in the two formats of the Open Compute Project.
var BitsFormats = [...]amp.Format{amp.FormatFP32, amp.FormatFP16, amp.FormatBF16, amp.FormatE4M3, amp.FormatE5M2}

// maxBits is the number of numbers that a figure looks at.
const maxBits = 8

// Bits looks at numbers bit by bit in float32, float16, bfloat16 and the two float8 formats: sign, exponent and fraction, what the
// number becomes, how far it was rounded, and its neighbors. Numbers are rounded once, from the float64 given.
func Bits(v ...float64) *Figure {
	d := &BitsData{Values: []BitsValue{}, More: max(len(v)-maxBits, 0)}
	for _, x := range v[:min(len(v), maxBits)] {
		d.Values = append(d.Values, BitsValue{Value: Exact(x)})
	}
	f := &Figure{Schema: Schema, Kind: KindBits, Bits: d}
	f.normalize()
	return f
}

// normalize works everything out from the numbers asked about: what else was stored is theirs or wrong.
func (d *BitsData) normalize(f *Figure) {
	clamp(&d.More, 0)
	if len(d.Values) > maxBits {
		d.More += len(d.Values) - maxBits
		d.Values = d.Values[:maxBits]
	}
	if d.Values == nil {
		d.Values = []BitsValue{}
	}
	for i := range d.Values {
		b := &d.Values[i]
		b.Rows = make([]BitsRow, len(BitsFormats))
		for k, format := range BitsFormats {
			b.Rows[k] = bitsRow(format, float64(b.Value))
		}
	}
	d.Missing = ""
	switch len(d.Values) {
	case 0:
		f.Title, d.Missing = "Bits", "No number to look at: give widgets.Bits one, as in widgets.Bits(0.1)."
	case 1:
		f.Title = "Bits of " + DecimalText(float64(d.Values[0].Value))
	default:
		f.Title = fmt.Sprintf("Bits of %d numbers", len(d.Values)+d.More)
	}
	d.Sentence = d.finding()
	f.Alt = clip(d.Sentence, maxAlt)
}

// bitsRow is a number in a format.
func bitsRow(format amp.Format, v float64) BitsRow {
	n := format.Inspect(v)
	e, m := format.Fields()
	r := BitsRow{
		Format: format.String(), Bits: n.Bits, Exponent: e, Fraction: m, Kind: n.Kind, Value: Exact(n.Value), Below: Exact(n.Below),
		Above: Exact(n.Above), ULP: Exact(n.ULP), Error: Exact(n.Error), ErrorULP: Number(math.NaN()), Relative: Number(math.NaN()),
	}
	if !math.IsInf(n.Error, 0) && n.Error == n.Error && !math.IsInf(n.ULP, 0) {
		r.ErrorULP, r.Relative = digits(away(n.Error/n.ULP), 3), digits(n.Relative, 6) // which is shown with two, and rounded once
	}
	r.Becomes = becomes(format, n)
	return r
}

// becomes says in words what a format makes of a number.
func becomes(format amp.Format, n amp.Number) string {
	_, fraction := format.Fields()
	switch {
	case n.Asked != n.Asked:
		return "not a number"
	case n.Kind == "nan":
		return "NaN: there is no infinity, the largest is " + decimal(format.Max(), 6)
	case n.Kind == "infinite" && math.IsInf(n.Asked, 0):
		return "infinite"
	case n.Kind == "infinite":
		return "overflows to infinity: the largest is " + decimal(format.Max(), 6)
	case n.Kind == "zero" && n.Asked != 0:
		return "flushed to zero: the smallest is " + decimal(format.MinSubnormal(), 3)
	case n.Kind == "subnormal":
		return fmt.Sprintf("subnormal: %d of %d digits left", bitLength(n.Mantissa), fraction+1)
	case n.Error == 0:
		return "exact"
	}
	return "rounded"
}

// bitLength is the number of binary digits of x.
func bitLength(x uint32) (n int) {
	for ; x > 0; x >>= 1 {
		n++
	}
	return n
}

// Lost says whether the number is gone in the format: flushed to zero, infinite, or NaN where it was a number.
func (r *BitsRow) Lost() bool {
	return strings.HasPrefix(r.Becomes, "flushed") || strings.HasPrefix(r.Becomes, "overflows") || strings.HasPrefix(r.Becomes, "NaN:")
}

// Fields returns the bits of the sign, the exponent and the fraction as digits.
func (r *BitsRow) Fields() (sign, exponent, fraction string) {
	all := strconv.FormatUint(uint64(r.Bits), 2)
	all = strings.Repeat("0", max(1+r.Exponent+r.Fraction-len(all), 0)) + all
	return all[:1], all[1 : 1+r.Exponent], all[1+r.Exponent:]
}

// Label is the format's name for people: "fp16", "fp8 e4m3".
func (r *BitsRow) Label() string {
	if strings.HasPrefix(r.Format, "e") {
		return "fp8 " + r.Format
	}
	return r.Format
}

// ErrorText writes the rounding error in ulp: "+0.2 ulp", "0", "–" where there is none.
func (r *BitsRow) ErrorText() string {
	switch {
	case !r.ErrorULP.finite():
		return "–"
	case r.ErrorULP == 0:
		return "0"
	}
	s := decimal(float64(r.ErrorULP), 3) + " ulp"
	if r.ErrorULP > 0 {
		s = "+" + s
	}
	return s
}

// RelativeError writes the relative error: "0.024%", "1.49e-8", "–" where there is none.
func (r *BitsRow) RelativeError() string {
	v := float64(r.Relative)
	switch {
	case !r.Relative.finite():
		return "–"
	case v == 0:
		return "0"
	case v < 1e-4:
		return decimal(v, 2)
	}
	return decimal(100*v, 2) + "%"
}

// DecimalText writes a number with up to nine significant digits, which tell any two numbers of float32 and below apart.
func DecimalText(v float64) string { return decimal(v, 9) }

// decimal writes a number with up to n significant digits: with an exponent below 1e-4 and from 1e9 on.
func decimal(v float64, n int) string {
	a := math.Abs(v)
	switch {
	case math.IsNaN(v):
		return "NaN"
	case math.IsInf(v, 1):
		return "∞"
	case math.IsInf(v, -1):
		return "-∞"
	case v == 0:
		return strconv.FormatFloat(v, 'f', 0, 64) // "-0" is a number too
	}
	v = away(v)
	mantissa, exponent, _ := strings.Cut(strconv.FormatFloat(v, 'e', n-1, 64), "e")
	e, _ := strconv.Atoi(exponent)
	if a < 1e-4 || e >= 9 {
		return trimZeros(mantissa) + "e" + strconv.Itoa(e)
	}
	if e >= n { // digits that are not meant stay, so that 65504 is never 65500
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	return trimZeros(strconv.FormatFloat(v, 'f', n-1-e, 64))
}

// away is the next number further from zero, so that a tie of decimal digits is rounded as browsers round it.
func away(v float64) float64 {
	if v == 0 {
		return v
	}
	return math.Nextafter(v, math.Copysign(math.Inf(1), v))
}

// Text writes a number of the format: whole where seven digits hold it, else with as many digits as tell it from its neighbors.
func (r *BitsRow) Text(x Exact) string {
	v := float64(x)
	if s := decimal(v, 7); s != "" {
		if back, err := strconv.ParseFloat(s, 64); err == nil && back == v {
			return s
		}
	}
	return decimal(v, 1+int(math.Ceil(float64(r.Fraction+1)*math.Log10(2))))
}

// trimZeros leaves out the zeros behind the last digit of a fraction.
func trimZeros(s string) string {
	if !strings.Contains(s, ".") {
		return s
	}
	return strings.TrimSuffix(strings.TrimRight(s, "0"), ".")
}

// row returns the row of a format.
func (b *BitsValue) row(f amp.Format) *BitsRow {
	for i := range b.Rows {
		if b.Rows[i].Format == f.String() {
			return &b.Rows[i]
		}
	}
	return &BitsRow{}
}

// Note is what is unusual about the number in the format, in words; "" for one that is exact or just rounded.
func (r *BitsRow) Note() string {
	if r.Becomes == "exact" || r.Becomes == "rounded" {
		return ""
	}
	return r.Becomes
}
