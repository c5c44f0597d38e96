package render

import (
	"strconv"

	"github.com/halftone-ml/halftone/widgets"
)

// group writes an integer with a comma between thousands.
func group(n int64) string { return widgets.Count(n) }

// short writes a number with as few digits as it needs.
func short(v float64) string { return strconv.FormatFloat(v, 'g', 4, 64) }

// itoa writes an integer.
func itoa(n int) string { return strconv.Itoa(n) }
