package widgets

import (
	"fmt"
	"math"
	"strings"

	"github.com/halftone-ml/halftone/amp"
)

// finding says what becomes of the numbers, what is lost first.
func (d *BitsData) finding() string {
	switch {
	case d.Missing != "":
		return d.Missing
	case len(d.Values) == 1:
		return d.Values[0].finding()
	}
	var parts []string
	for k := range d.Values[0].Rows {
		lost := 0
		for i := range d.Values {
			if d.Values[i].Rows[k].Lost() {
				lost++
			}
		}
		label, n := d.Values[0].Rows[k].Label(), fmt.Sprint(lost)
		switch {
		case k == 0 && lost == 0: // float32 holds what people ask about
			continue
		case lost == 0:
			n = "none"
		case lost == len(d.Values):
			n = "all"
		}
		if parts == nil {
			of := "the"
			if d.More > 0 {
				of = "the first"
			}
			n += fmt.Sprintf(" of %s %d numbers to zero or overflow", of, len(d.Values))
			label += " loses"
		}
		parts = append(parts, label+" "+n)
	}
	return strings.Join(parts, ", ") + "."
}

// finding says what becomes of one number: in float16 first, which is what a loss scale is for.
func (b *BitsValue) finding() string {
	v := float64(b.Value)
	name := DecimalText(v)
	switch {
	case math.IsNaN(v):
		return "NaN is NaN in every format."
	case math.IsInf(v, 0):
		return name + " is infinite in every format but e4m3, which has no infinity and makes it NaN."
	case v == 0:
		return "0 is exact in every format; its neighbors are the smallest numbers that each has."
	}
	half, brain := b.row(amp.FormatFP16), b.row(amp.FormatBF16)
	s := name + " " + half.phrase() + ", " + strings.Replace(brain.phrase(), "is ", "", 1) + "."
	var lost []string
	for _, f := range []amp.Format{amp.FormatE4M3, amp.FormatE5M2} {
		if r := b.row(f); r.Lost() {
			lost = append(lost, r.Label())
		}
	}
	switch len(lost) {
	case 1:
		s += " " + lost[0] + " cannot hold it."
	case 2:
		s += " Neither fp8 format can hold it."
	}
	return s
}

// phrase says what a format makes of a number.
func (r *BitsRow) phrase() string {
	switch {
	case strings.HasPrefix(r.Becomes, "flushed"):
		return "is flushed to zero in " + r.Format
	case strings.HasPrefix(r.Becomes, "overflows"):
		return "overflows to infinity in " + r.Format
	case r.Error == 0:
		return "is exact in " + r.Format
	}
	s := fmt.Sprintf("is %s in %s (off by %s", r.Text(r.Value), r.Format, r.RelativeError())
	if r.Kind == "subnormal" {
		s += ", subnormal"
	}
	return s + ")"
}

// bitsText draws the figure for a terminal: a row for each format, its bits in three fields, and below it what is unusual.
func (f *Figure) bitsText() string {
	d := f.Bits
	var b strings.Builder
	b.WriteString(f.Title + "\n")
	for _, l := range wrap(d.Sentence, 100) {
		b.WriteString("  " + l + "\n")
	}
	label := 10
	for i := range d.Values {
		if len(d.Values) > 1 {
			label = max(label, width(DecimalText(float64(d.Values[i].Value)))+2)
		}
	}
	for i := range d.Values {
		v := &d.Values[i]
		head := ""
		if len(d.Values) > 1 {
			head = DecimalText(float64(v.Value))
		}
		b.WriteString("\n")
		line(&b, pad(head, label)+pad("VALUE", 16)+"S "+padLeft("EXPONENT", 8)+" "+pad("FRACTION", 25)+padLeft("ERROR", 13)+padLeft("RELATIVE", 10)+"  "+pad("NEIGHBORS", 34))
		for k := range v.Rows {
			r := &v.Rows[k]
			sign, exponent, fraction := r.Fields()
			line(&b, pad(r.Label(), label)+pad(r.Text(r.Value), 16)+sign+" "+padLeft(exponent, 8)+" "+pad(fraction, 25)+
				padLeft(r.ErrorText(), 13)+padLeft(r.RelativeError(), 10)+"  "+r.Neighbors())
			if note := r.Note(); note != "" {
				line(&b, pad("", label)+note)
			}
		}
	}
	if d.More > 0 {
		fmt.Fprintf(&b, "  … and %s\n", plural(d.More, "more number"))
	}
	return b.String()
}

// line writes a line without spaces at its end.
func line(b *strings.Builder, s string) { b.WriteString("  " + strings.TrimRight(s, " ") + "\n") }

// Neighbors writes the two neighbors; "–" where there are none.
func (r *BitsRow) Neighbors() string {
	if r.Kind == "nan" {
		return "–"
	}
	return r.Text(r.Below) + " · " + r.Text(r.Above)
}
