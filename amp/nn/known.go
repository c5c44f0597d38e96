package nn

import (
	"strings"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/internal/absent"
)

// Modules that are not there: nil, a nil pointer in a Module, and an empty struct that no constructor has filled.

// missing says whether a module is nil, holds a nil pointer or function, or is a Named or a NoForward of such a one.
func missing(m Module) bool {
	return absent.Is(held(m))
}

// need refuses a module that is missing.
func need(op string, m Module) {
	if missing(m) {
		misused(op, "pass a module", "the module is nil")
	}
}

// built refuses to run a layer that no constructor has made: nil, or an empty struct, by a part that all have. The constructor is NewX for a
// kind X; where several make the kind they are named.
func built(kind string, there bool, constructors ...string) {
	if there {
		return
	}
	by := "nn.New" + kind
	if len(constructors) > 0 {
		by = strings.Join(constructors, " or ")
	}
	panic(&amp.Error{Op: kind, Kind: amp.ErrArgument, Detail: "the layer is nil or empty", Fix: "make it with " + by})
}
