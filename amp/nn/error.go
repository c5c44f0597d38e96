package nn

import (
	"fmt"

	"github.com/halftone-ml/halftone/amp"
)

// misused panics with amp.ErrArgument: what is wrong with a call of op, and one way to mend it.
func misused(op, fix, format string, args ...any) {
	panic(&amp.Error{Op: op, Kind: amp.ErrArgument, Detail: fmt.Sprintf(format, args...), Fix: fix})
}

// misshapen is misused for a tensor of the wrong shape: it panics with amp.ErrShape.
func misshapen(op, fix, format string, args ...any) {
	panic(&amp.Error{Op: op, Kind: amp.ErrShape, Detail: fmt.Sprintf(format, args...), Fix: fix})
}
