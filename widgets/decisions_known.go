package widgets

import (
	"slices"

	"github.com/halftone-ml/halftone/amp"
)

// A trace may come from anywhere: what it names and amp does not have is left out of the figure.

// strange says whether an event names a dtype that amp does not have, or a format that no cast rounds to.
func strange(e *amp.Event) bool {
	odd := func(d amp.DType) bool { return knownDType(d) != d }
	return odd(e.Compute) || odd(e.Autocast) || odd(e.Out.DType) || slices.ContainsFunc(e.In, func(a amp.Arg) bool { return odd(a.DType) }) ||
		e.Cast != nil && (odd(e.Cast.From) || odd(e.Cast.To) || e.Cast.Format != knownFormat(e.Cast.Format))
}

// known returns a copy of the event in which those are none.
func known(e amp.Event) *amp.Event {
	e.Compute, e.Autocast, e.Out.DType = knownDType(e.Compute), knownDType(e.Autocast), knownDType(e.Out.DType)
	e.In = slices.Clone(e.In)
	for i := range e.In {
		e.In[i].DType = knownDType(e.In[i].DType)
	}
	if e.Cast != nil {
		c := *e.Cast
		c.From, c.To, c.Format = knownDType(c.From), knownDType(c.To), knownFormat(c.Format)
		e.Cast = &c
	}
	return &e
}

func knownDType(d amp.DType) amp.DType {
	if int(d) >= len(dtypeNames) {
		return amp.NoDType
	}
	return d
}

// knownFormat returns the name of a format that casts round to within a dtype; "" for another.
func knownFormat(name string) string {
	for _, f := range []amp.Format{amp.FormatE4M3, amp.FormatE5M2, amp.FormatE2M1} {
		if name == f.String() {
			return name
		}
	}
	return ""
}

// dtypeNames are all dtypes that amp has, and none.
var dtypeNames = func() []string {
	names := make([]string, slices.Max(amp.AllDTypes())+1)
	for i := range names {
		names[i] = amp.DType(i).String()
	}
	return names
}()
