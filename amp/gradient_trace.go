package amp

// GradientSchema names the JSON form of a GradientTrace.
const GradientSchema = "halftone.gradients/1"

// A GradientTrace is one backward pass looked at number by number: what each op's gradients are in float64, and what became of them in
// the precision that the pass ran in. It is plain data with no link to live tensors.
type GradientTrace struct {
	Schema string          `json:"schema"`           // GradientSchema
	Device string          `json:"device"`           // where the pass ran; what is compared was read back, and the reference is the CPU's
	Step   int             `json:"step"`             // training step, from 0; -1 outside Scope.Steps
	Scale  float64         `json:"scale"`            // loss scale of the pass; 1 without one
	Update int             `json:"update,omitempty"` // the Update of its scaler that the pass is before, counted from 1 (ScaleStep.Step counts from 0); 0 without one
	Events []GradientEvent `json:"events"`           // from the loss on, in the order in which backward ran
	Leaves []GradientLeaf  `json:"leaves"`           // where the gradients ended: parameters and other leaves, or what Grad was asked for
}

// A GradientEvent is one gradient that one op's backward gave: that of one input of a call in the forward pass. Each of its N numbers is
// held against two others, both worked out in float64 from the values that the forward pass saved: the reference, which is the same
// backward pass in float64 from the loss on, and the unrounded result, this op's backward from the gradient that really arrived. Zero where
// the reference is zero (a ReLU's mask, dropout, padding, sums whose terms cancel to less than 2^-20 of them) is no loss and counted nowhere.
type GradientEvent struct {
	Op     string `json:"op"`             // row of the op table; "cast" for casts, "sum of gradients" where those of several uses were added
	For    string `json:"for,omitempty"`  // of casts: the op that gave the gradient that is cast
	Of     string `json:"of"`             // the input that this is the gradient of: the tensor's name, else that of the argument
	Module string `json:"module"`         // path such as "net/0"
	From   int    `json:"from"`           // index of the event that the gradient came from; of several the one that lost most; -1 for the loss
	DType  DType  `json:"dtype"`          // of the gradient
	Shape  []int  `json:"shape"`          //
	Err    string `json:"err,omitempty"`  // why nothing was compared here: an op of the program's own that does not run in float64
	Func   string `json:"func,omitempty"` // the forward call, as in Event; recorded where the scope has a recorder
	File   string `json:"file,omitempty"`
	Line   int    `json:"line,omitempty"`

	Cell     int `json:"cell,omitempty"`
	CellLine int `json:"cell_line,omitempty"`

	N          int `json:"n"`                    // numbers
	Wanted     int `json:"wanted"`               // of them finite and not zero in the reference
	Zeros      int `json:"zeros,omitempty"`      // of those made zero here: the unrounded result is not zero
	Gone       int `json:"gone,omitempty"`       // of those zero because of what was lost before: the unrounded result is zero too
	Subnormals int `json:"subnormals,omitempty"` // of those stored as a subnormal, with fewer digits than the reference
	Infs       int `json:"infs,omitempty"`       // of those made infinite here: the unrounded result is finite
	NaNs       int `json:"nans,omitempty"`       // of those made NaN here
	Spread     int `json:"spread,omitempty"`     // of those not finite because of what arrived
	Born       int `json:"born,omitempty"`       // not finite in the reference either: the forward pass saved such values, or the derivative is so

	Amax   float64 `json:"amax"`             // largest wanted magnitude in the reference, with the loss scale
	Amin   float64 `json:"amin"`             // smallest
	Low    int     `json:"low"`              // exponent of Counts[0]
	Counts []int   `json:"counts,omitempty"` // wanted numbers with 2^(Low+i) < |g| ≤ 2^(Low+i+1): a format that rounds half of its smallest number to zero loses whole counts
}

// Here is the number of wanted gradients that this op made zero, infinite or NaN.
func (e *GradientEvent) Here() int { return e.Zeros + e.Infs + e.NaNs }

// A GradientLeaf is the gradient that the pass gave a parameter or another leaf, without what its Grad held before.
type GradientLeaf struct {
	Name   string  `json:"name"`
	DType  DType   `json:"dtype"`
	Shape  []int   `json:"shape"`
	From   int     `json:"from"`           // index of the event that gave it, as in GradientEvent
	N      int     `json:"n"`              // numbers
	Wanted int     `json:"wanted"`         // of them finite and not zero in the reference
	Zeros  int     `json:"zeros"`          // of those zero
	Bad    int     `json:"bad,omitempty"`  // of those infinite or NaN
	Born   int     `json:"born,omitempty"` // not finite in the reference either
	Error  float64 `json:"error"`          // ‖g - reference‖ / ‖reference‖ over the numbers that are finite in both; 0 where the reference is 0
}

// TraceGradients makes a backward pass note in t, whose contents are replaced, at which op its gradients became zero, infinite or NaN by
// the precision that it ran in: what [widgets.GradientFlow] shows. For that each op's backward runs once or twice more (and once again
// where sums cancel), on the CPU and in float64, from the values that the forward pass saved; with a GPU these are read back. It is meant
// for single steps: the backward pass of a perceptron of three layers of 256 took 16 ms instead of 0.27 ms on two cores. Without it
// backward asks one pointer whether it is nil. The gradients themselves are those of a pass without it, bit for bit. Lines of the program
// are known where the scope was made with Record(Decisions) or Record(Health). Backward panics with ErrCapture in a captured step, where
// nothing can be read back.
//
// [widgets.GradientFlow]: https://pkg.go.dev/github.com/halftone-ml/halftone/widgets#GradientFlow
func TraceGradients(t *GradientTrace) BackwardOption {
	return func(c *backwardConfig) { c.trace = t }
}
