package widgets

import (
	"fmt"

	"github.com/halftone-ml/halftone/amp"
)

// others notes that a pass is one of many, and says of later steps what scalers know: a step that lost nothing must not reassure about a run
// that collapsed after it.
func (d *FlowData) others(scalers []amp.ScaleHistory) string {
	if d.Step < 0 {
		return ""
	}
	steps, first := 0, -1
	for _, h := range scalers {
		steps = max(steps, h.Nominal)
		skipped := 0
		for _, s := range h.Steps {
			if s.Applied || s.Step <= d.Step {
				continue
			}
			skipped++
			if first < 0 || s.Step < first {
				first = s.Step
			}
		}
		d.Later = max(d.Later, skipped)
	}
	if steps > 1 {
		d.Note = fmt.Sprintf("Of the %s of the run the figure is about step %s alone.", plural(steps, "step"), Count(d.Step))
	}
	if d.Later == 0 {
		return ""
	}
	were := "were"
	if d.Later == 1 {
		were = "was"
	}
	return fmt.Sprintf("But of the %s after it %s %s skipped, since gradients were not finite, first step %s: look at that one.", plural(steps-1-d.Step, "step"), Count(d.Later), were, Count(first))
}
