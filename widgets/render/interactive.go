package render

import "github.com/halftone-ml/halftone/widgets"

// interactive returns the script element of a figure.
func interactive(f *widgets.Figure) (string, error) { return "", nil }
