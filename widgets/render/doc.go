// Package render draws figures: SVG and PNG by gonum/plot, HTML that survives JupyterLab's sanitizer, and the interactive
// layer that a trusted notebook puts on top.
//
// [Bundle] gives all faces of a figure at once, keyed by MIME type, as the notebook format stores them. Halftone's kernel
// calls it for every figure that a cell emits; in any other GoNB kernel a cell gets the same by importing the package:
//
//	import _ "github.com/halftone-ml/halftone/widgets/render"
//
// What is drawn depends on nothing but the figure, so the same figure always has the same faces.
package render
