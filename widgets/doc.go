// Package widgets turns what amp recorded into figures: which precision every op ran in and why ([Decisions]), how the loss
// scale moved ([ScaleHistory]), what float16 makes of the gradients ([Exponents]), at which op of a step they were
// lost ([GradientFlow]), which ops' rounding moved the loss ([Rounding]), whether autocast changed a result ([Compare]), and how
// a training loop goes while it runs ([Live]); and it shows what there is to know before: a number bit by bit in every format ([Bits]),
// and what autocast does with every op ([Policy]). [Own] shows a figure that the user's program draws itself.
//
// A [Figure] is plain data. It reads values (amp.Trace, amp.ScaleHistory), never live tensors, so that it can be stored,
// sent and drawn again anywhere; its JSON form is what a notebook keeps under the MIME type [MIME]. [Show] displays
// figures: in a GoNB notebook as an output of the cell, elsewhere as text. [Load] reads them back from a saved notebook. JSON
// Schemas in the folder schema describe the JSON form: figure.v1.json, and one for the data of each kind.
//
// The package draws text only. Every notebook cell is a program that is linked anew, so the plotting packages stay out of it:
// Halftone's kernel draws HTML, SVG and PNG on the way to the front end, and in any other GoNB the cell itself does when it
// imports the renderer:
//
//	import _ "github.com/halftone-ml/halftone/widgets/render"
package widgets
