package widgets

import (
	"fmt"

	"github.com/halftone-ml/halftone/amp"
)

// others notes that a pass is one of many, and says of later steps what scalers know: a step that lost nothing must not reassure about a run
// that collapsed after it. update is the scaler's, from 1, 0 without one: where several passes go into one update, or a loop has other steps
// before it, those are counted instead of the loop's steps, which scalers do not know.
func (d *FlowData) others(update int, scalers []amp.ScaleHistory) string {
	at, unit := d.Step, "step"
	if update > 0 && update-1 != at {
		at, unit = update-1, "update"
	}
	if at < 0 {
		return ""
	}
	total, first := 0, -1
	for _, h := range scalers {
		if unit == "step" || h.Schema != "" { // a history without a name has a loop's number of steps alone
			total = max(total, h.Nominal)
		}
		skipped, last := 0, -1
		for _, s := range h.Steps {
			if s.Applied || s.Step <= at || s.Step == last { // several optimizers may skip in one
				continue
			}
			skipped, last = skipped+1, s.Step
			if first < 0 || s.Step < first {
				first = s.Step
			}
		}
		d.Later = max(d.Later, skipped)
	}
	if total > max(1, at) {
		d.Note = fmt.Sprintf("Of the %s of the run the figure is about %s %s alone.", plural(total, unit), unit, Count(at))
	}
	if d.Later == 0 {
		return ""
	}
	were := "were"
	if d.Later == 1 {
		were = "was"
	}
	return fmt.Sprintf("But of the %s after it %s %s skipped, since gradients were not finite, first %s %s: look at that one.", plural(total-1-at, unit), Count(d.Later), were, unit, Count(first))
}
