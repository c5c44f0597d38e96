package widgets

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// Schema names the JSON form of a [Figure]; readers refuse what they do not know.
const Schema = "halftone.figure/1"

// MIME is the media type under which notebooks store a figure's JSON.
const MIME = "application/vnd.halftone.figure.v1+json"

// The kinds of figures.
const (
	KindDecisions    = "decisions"
	KindScaleHistory = "scale_history"
	KindCompare      = "compare"
	KindLive         = "live"
	KindExponents    = "exponents"
	KindGradientFlow = "gradient_flow"
	KindRounding     = "rounding"
	KindBits         = "bits"
	KindPolicy       = "policy"
	KindCustom       = "custom"
)

// MaxJSON is the size in bytes that the JSON of a figure never exceeds, one with a user's own faces aside (MaxOwnText …) and the op
// table ([MaxPolicyJSON]): figures are stored in notebooks, which people keep under version control. What does not fit is left out and
// counted in the figure.
const MaxJSON = 40 << 10

// MaxParse bounds what Parse reads, in bytes: figures are at most MaxJSON long, but another writer may have indented its JSON.
const MaxParse = 1 << 20

// A Figure is one picture as plain data. Exactly one of Decisions to Custom is set, as Kind says.
type Figure struct {
	Schema string // Schema
	Kind   string // one of the Kind constants
	Title  string // a few words
	Alt    string // the finding in one or two sentences, with its numbers: for screen readers, and where no image is shown

	Decisions *DecisionsData // set when Kind is KindDecisions
	Scale     *ScaleData     // set when Kind is KindScaleHistory
	Runs      *CompareData   // set when Kind is KindCompare
	Live      *LiveData      // set when Kind is KindLive
	Exponents *ExponentsData // set when Kind is KindExponents
	Flow      *FlowData      // set when Kind is KindGradientFlow
	Rounding  *RoundingData  // set when Kind is KindRounding
	Bits      *BitsData      // set when Kind is KindBits
	Policy    *PolicyData    // set when Kind is KindPolicy
	Custom    *CustomData    // set when Kind is KindCustom

	// Volatile holds what was measured and so differs from run to run; nil when nothing was. A figure without it
	// (see Stable) is the same bytes for the same computation.
	Volatile *Volatile
}

// Volatile holds a figure's measurements.
type Volatile struct {
	WallNS     int64 `json:"wall_ns,omitempty"`     // time from the recorder's start to the snapshot
	OverheadNS int64 `json:"overhead_ns,omitempty"` // of it spent recording
	// NS holds mean durations in nanoseconds: of one call for each of DecisionsData.Sites, of one step (the median)
	// for each of CompareData.Runs; 0 where nothing was measured.
	NS []int64 `json:"ns,omitempty"`
	// Peaks holds the most tensor memory in use, in bytes, of each of CompareData.Runs; 0 where it is not known.
	Peaks []int64 `json:"peaks,omitempty"`

	// Of a live figure:
	Rate      Number `json:"rate,omitempty"`       // steps per second
	LeftNS    int64  `json:"left_ns,omitempty"`    // time that the steps left will take at that rate
	Bytes     int64  `json:"bytes,omitempty"`      // tensor memory in use
	PeakBytes int64  `json:"peak_bytes,omitempty"` // most that was in use
}

// kinds lists the kinds of figures.
var kinds = []string{KindDecisions, KindScaleHistory, KindCompare, KindLive, KindExponents, KindGradientFlow, KindRounding, KindBits, KindPolicy, KindCustom}

// part is the data of a figure of a kind, nil for a kind that is not known.
func (f *Figure) part(kind string) any {
	switch kind {
	case KindDecisions:
		return f.Decisions
	case KindScaleHistory:
		return f.Scale
	case KindCompare:
		return f.Runs
	case KindLive:
		return f.Live
	case KindExponents:
		return f.Exponents
	case KindGradientFlow:
		return f.Flow
	case KindRounding:
		return f.Rounding
	case KindBits:
		return f.Bits
	case KindPolicy:
		return f.Policy
	case KindCustom:
		return f.Custom
	}
	return nil
}

// make gives a figure empty data of a kind to read into, nil for a kind that is not known.
func (f *Figure) make(kind string) any {
	switch kind {
	case KindDecisions:
		f.Decisions = new(DecisionsData)
	case KindScaleHistory:
		f.Scale = new(ScaleData)
	case KindCompare:
		f.Runs = new(CompareData)
	case KindLive:
		f.Live = new(LiveData)
	case KindExponents:
		f.Exponents = new(ExponentsData)
	case KindGradientFlow:
		f.Flow = new(FlowData)
	case KindRounding:
		f.Rounding = new(RoundingData)
	case KindBits:
		f.Bits = new(BitsData)
	case KindPolicy:
		f.Policy = new(PolicyData)
	case KindCustom:
		f.Custom = new(CustomData)
	}
	return f.part(kind)
}

// envelope is the JSON form of a Figure.
type envelope struct {
	Schema   string          `json:"schema"`
	Kind     string          `json:"kind"`
	Title    string          `json:"title"`
	Alt      string          `json:"alt"`
	Data     json.RawMessage `json:"data"`
	Volatile *Volatile       `json:"volatile,omitempty"`
}

// MarshalJSON writes the form that widgets/schema/figure.v1.json describes.
func (f Figure) MarshalJSON() ([]byte, error) {
	p := f.part(f.Kind)
	if p == nil {
		return nil, fmt.Errorf("widgets: a figure of kind %q cannot be written; kinds are %s", clip(f.Kind, 40), strings.Join(kinds, ", "))
	}
	raw, err := json.Marshal(p)
	if err != nil {
		return nil, fmt.Errorf("widgets: %s: %w", f.Kind, err)
	}
	return json.Marshal(envelope{Schema, f.Kind, f.Title, f.Alt, raw, f.Volatile})
}

// UnmarshalJSON reads what MarshalJSON wrote and refuses other schemas and kinds.
func (f *Figure) UnmarshalJSON(b []byte) error {
	var e envelope
	if err := json.Unmarshal(b, &e); err != nil {
		return err
	}
	if e.Schema != Schema {
		return fmt.Errorf("widgets: this is a figure of schema %q, and only %q is known here: update Halftone to read it",
			clip(e.Schema, 60), Schema)
	}
	g := Figure{Schema: e.Schema, Kind: e.Kind, Title: e.Title, Alt: e.Alt, Volatile: e.Volatile}
	into := g.make(e.Kind)
	if into == nil {
		return fmt.Errorf("widgets: a figure of kind %q is not known here: update Halftone to read it", clip(e.Kind, 60))
	}
	if len(e.Data) == 0 || string(e.Data) == "null" {
		return fmt.Errorf("widgets: this %s figure has no data", e.Kind)
	}
	if err := json.Unmarshal(e.Data, into); err != nil {
		return fmt.Errorf("widgets: the data of this %s figure: %w", e.Kind, err)
	}
	g.normalize()
	*f = g
	return nil
}

// ErrTooLarge is returned by Parse for input larger than any figure.
var ErrTooLarge = errors.New("widgets: too large for a figure")

// Parse reads a figure from its JSON. It refuses input over 1 MiB, unknown schemas and unknown kinds, and repairs indexes
// that point nowhere, so that a figure from anywhere can be drawn.
func Parse(b []byte) (*Figure, error) {
	if len(b) > MaxParse {
		return nil, fmt.Errorf("%w: %d bytes, at most %d", ErrTooLarge, len(b), MaxParse)
	}
	f := new(Figure)
	if err := json.Unmarshal(b, f); err != nil {
		return nil, err
	}
	return f, nil
}

// Stable returns a copy of the figure without its measurements, so that the same computation gives the same bytes.
func (f *Figure) Stable() *Figure {
	if f == nil {
		return nil
	}
	g := *f
	g.Volatile = nil
	return &g
}

// Text returns the figure for a terminal: a table or a sparkline, without escape codes, ending in a newline. It is never empty.
func (f *Figure) Text() string {
	switch {
	case f == nil:
		return "No figure.\n"
	case f.Decisions != nil:
		return f.decisionsText()
	case f.Scale != nil:
		return f.scaleText()
	case f.Runs != nil:
		return f.compareText()
	case f.Live != nil:
		return f.liveText()
	case f.Exponents != nil:
		return f.exponentsText()
	case f.Flow != nil:
		return f.flowText()
	case f.Rounding != nil:
		return f.roundingText()
	case f.Bits != nil:
		return f.bitsText()
	case f.Policy != nil:
		return f.policyText()
	case f.Custom != nil:
		return f.customText()
	}
	return f.Title + "\n" + f.Alt + "\n"
}

// Measured returns the i-th mean duration, 0 when there is none.
func (f *Figure) Measured(i int) int64 {
	if f.Volatile == nil || i < 0 || i >= len(f.Volatile.NS) {
		return 0
	}
	return f.Volatile.NS[i]
}
