package widgets

import "strings"

// What decided the precision of a site.
const (
	ByClass    = "class"    // the autocast class of the op: lower or fp32
	ByInput    = "input"    // the dtypes of its inputs
	ByOverride = "override" // amp.Force, or lists of the scope's own
	ByRule     = "rule"     // a rule beyond classes: backward, in place, a part of another op
	ByProgram  = "program"  // the program asked for this dtype
)

// deciders tells them by how amp words its rules; the test walks them all.
var deciders = []struct{ prefix, by string }{
	{"lower: ", ByClass}, {"fp32: ", ByClass}, {"fp32 output: ", ByClass},
	{"promote: ", ByInput}, {"unlisted: ", ByInput}, {"inherit: ", ByInput}, {"autocast is off", ByInput}, {"float64 and", ByInput}, {"optimizer: ", ByInput},
	{"forced to ", ByOverride},
	{"backward: ", ByRule}, {"in place: ", ByRule}, {"part of ", ByRule}, {"CastInputs: ", ByRule}, {"no class: ", ByRule}, {"cast for ", ByRule}, {"served from ", ByRule}, {"type promotion", ByRule},
	{"the caller asked", ByProgram}, {"the program asked", ByProgram},
}

// decidedBy says what decided, from the rule's sentence; "" when that is not known.
func decidedBy(rule string) string {
	for _, d := range deciders {
		if strings.HasPrefix(rule, d.prefix) {
			return d.by
		}
	}
	if strings.Contains(rule, " on the scope's lists ") {
		return ByOverride
	}
	return ""
}
