package amp

// RoundingSchema names the JSON form of a RoundingTrace.
const RoundingSchema = "halftone.rounding/1"

// A RoundingTrace is one forward pass looked at number by number: how far its loss is from that of the same program in float64, and which
// op's rounding put how much of that there. It is plain data with no link to live tensors.
type RoundingTrace struct {
	Schema string  `json:"schema"`         // RoundingSchema
	Device string  `json:"device"`         // where the pass ran; the reference is the CPU's
	Step   int     `json:"step"`           // training step, from 0; -1 outside Scope.Steps
	DType  DType   `json:"dtype"`          // of the loss
	Loss   float64 `json:"loss"`           // as the pass computed it; 0 with Bad
	Exact  float64 `json:"exact"`          // of the same program in float64, from the same parameters and inputs; 0 with Born
	First  float64 `json:"first"`          // what first order explains of Loss - Exact: the sum of Share over all events
	Spread float64 `json:"spread"`         // size of Loss - Exact to be expected, had the signs of all errors fallen at random: √Σ Spread² of the events
	Bad    bool    `json:"bad,omitempty"`  // the loss is not finite
	Born   bool    `json:"born,omitempty"` // Exact is not finite: no rounding is to blame
	Err    string  `json:"err,omitempty"`  // why the shares of some events are missing: a derivative could not be had

	Events []RoundingEvent `json:"events"` // in the order in which the pass ran; views are left out
}

// A RoundingEvent is the result of one op call, or of one cast that autocast or type promotion put in front of an op. Its numbers are held
// against two others, both in float64: the unrounded result, this op from the operands that it really got, and the exact one, of the
// program in float64 from the start. Own is what the op changed by rounding, Total what it and all before it did. How much that matters is
// a question of the derivative: Share is Own's part of the loss's error, to first order Σ dL/dy · (y - unrounded).
type RoundingEvent struct {
	Op       string `json:"op"`                  // row of the op table; "cast" for casts
	For      string `json:"for,omitempty"`       // of casts: the op that asked
	Of       string `json:"of,omitempty"`        // of casts: name of the tensor, e.g. "0.weight"
	Module   string `json:"module"`              // path such as "net/0"
	Rule     string `json:"rule"`                // why it ran in this precision, as in Event
	Compute  DType  `json:"compute"`             // dtype of its operands after the casts; of a cast the one that it is from
	DType    DType  `json:"dtype"`               // of the result
	Autocast DType  `json:"autocast,omitempty"`  // the scope's lower dtype; NoDType where autocast was off
	Shape    []int  `json:"shape"`               // of the result
	Err      string `json:"err,omitempty"`       // why nothing was compared here: an op of the program's own does not run in float64; the reference goes on from its result
	Func     string `json:"func,omitempty"`      // as in Event
	File     string `json:"file,omitempty"`      //
	Line     int    `json:"line,omitempty"`      //
	Cell     int    `json:"cell,omitempty"`      //
	CellLine int    `json:"cell_line,omitempty"` //

	N      int     `json:"n"`             // numbers
	Size   float64 `json:"size"`          // root mean square of the exact result
	Own    float64 `json:"own"`           // root mean square of result - unrounded
	Total  float64 `json:"total"`         // root mean square of result - exact
	Share  float64 `json:"share"`         // part of Loss - Exact, to first order: Σ dL/dy · (y - unrounded); 0 where the loss does not depend on it
	Spread float64 `json:"spread"`        // √Σ (dL/dy · (y - unrounded))²: the size of Share without the luck of signs that cancel
	Bad    int     `json:"bad,omitempty"` // results that are not finite, of an op that got finite operands and has a finite unrounded result

	If      []RoundingIf     `json:"if,omitempty"`      // what the op would do in other dtypes: float32, bfloat16, float16; none for casts
	Recipes []RoundingRecipe `json:"recipes,omitempty"` // what a product would do if it read 8-bit or 4-bit numbers; of those recipes whose sizes fit
}

// A RoundingIf is what an op would do to the loss if autocast ran it in DType: its operands and its result rounded to it, and all else as it
// was. For a program in float32 it says, before anything is lowered, what lowering would cost.
type RoundingIf struct {
	DType  DType   `json:"dtype"`
	Spread float64 `json:"spread"`         // as in RoundingEvent, of operands and result together
	Lost   int     `json:"lost,omitempty"` // results that it would round to zero
	Over   int     `json:"over,omitempty"` // results, and operands, that it would round to an infinity
}

// A RoundingRecipe is what a product would do to the loss under autocast with a recipe of FP8 or FP4: both operands rounded to its numbers, and
// the result to the scope's lower dtype, bfloat16 where autocast was off. Backward products, which read short numbers too, change no loss of
// this pass.
type RoundingRecipe struct {
	Recipe string  `json:"recipe"`         // its Name: "fp8", "fp8-row", "fp8-block", "nvfp4", "mxfp4"
	Spread float64 `json:"spread"`         // as in RoundingEvent, of operands and result together
	Over   int     `json:"over,omitempty"` // results, and operands, that the lower dtype would round to an infinity
}
