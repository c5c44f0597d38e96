package widgets

import "github.com/halftone-ml/halftone/amp"

// A CastSite is one cast in front of an op, over all calls.
type CastSite struct {
	Name    string    `json:"name,omitempty"` // tensor's name, e.g. "0.weight"
	Operand int       `json:"operand"`        // index of the op's input
	From    amp.DType `json:"from"`
	To      amp.DType `json:"to"`
	Format  string    `json:"format,omitempty"` // format within To that it rounded to, e.g. "e4m3": of products in 8 or 4 bits
	Count   int       `json:"count"`            // how often it was asked for
	Hits    int       `json:"hits,omitempty"`   // of them served from the cache
	Bytes   int64     `json:"bytes"`            // read and written by all of them
	Each    int64     `json:"each"`             // by one that was not a hit
	Cached  bool      `json:"cached,omitempty"` // results are kept in the weight-cast cache
	Lost    int       `json:"lost,omitempty"`   // numbers rounded to zero, at level health
	Over    int       `json:"over,omitempty"`   // numbers rounded to an infinity, at level health
}

// ToText returns the dtype or the format that a cast is to: "fp16", "e4m3".
func (c CastSite) ToText() string {
	if c.Format != "" {
		return c.Format
	}
	return c.To.Short()
}

// CastText says what a cast cost, and what it lost where that was looked at: "once, 4.19 MB, then cached ×49", "once a step,
// 768 B, then cached ×3; 12 numbers became zero".
func (d *DecisionsData) CastText(c CastSite) string {
	text := d.castCost(c)
	if c.Lost > 0 {
		text += "; " + plural(c.Lost, "number") + " became zero"
	}
	if c.Over > 0 {
		text += "; " + plural(c.Over, "number") + " overflowed"
	}
	return text
}

func (d *DecisionsData) castCost(c CastSite) string {
	done := c.Count - c.Hits
	var text string
	switch {
	case done == 0:
		return "from the cache" + times(Count(c.Hits))
	case done == 1:
		text = "once, " + Bytes(c.Each)
	case done == d.Steps && c.Hits%d.Steps == 0:
		text = "once a step, " + Bytes(c.Each)
		if c.Hits > 0 {
			return text + ", then cached" + times(Count(c.Hits/d.Steps))
		}
	case d.Steps > 1:
		text = d.PerStepText(done) + " a step, " + Bytes(c.Each) + " each"
	default:
		text = Count(done) + " times, " + Bytes(c.Each) + " each"
	}
	if c.Hits > 0 {
		text += ", then cached" + times(Count(c.Hits))
	}
	return text
}

// times writes a count behind a word: " ×3".
func times(n string) string { return " ×" + n }
