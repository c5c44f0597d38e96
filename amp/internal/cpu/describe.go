package cpu

import "runtime"

// Describe names the kernels in use, so that equal names give equal bits: "reproducible", or the processor's architecture, its
// variant, and how halves are multiplied.
func Describe() string {
	m := Current()
	if m.Reproducible {
		return "reproducible"
	}
	name := runtime.GOARCH + "/" + m.Variant.String()
	if d := CurrentDot(); d != Strict {
		name += "+" + d.String()
		if d == Tiles && hasTilesF16() {
			name += "-f16"
		}
	}
	return name
}
