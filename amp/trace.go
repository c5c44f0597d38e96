package amp

// TraceSchema names the JSON form of a Trace; readers refuse what they do not know.
const TraceSchema = "halftone.trace/1"

// Phases of a training step, in the order they run.
const (
	PhaseForward   = "forward"
	PhaseBackward  = "backward"
	PhaseOptimizer = "optimizer"
)

// A Trace is what a scope recorded: one Event per op call and per cast, in the order they ran. It is plain data with no
// link to live tensors, so that a saved trace can be drawn again anywhere.
type Trace struct {
	Schema string `json:"schema"` // TraceSchema
	Level  string `json:"level"`  // "off", "decisions" or "health"
	Device string `json:"device"` // device the scope ran on, e.g. "cpu"
	Note   string `json:"note,omitempty"`
	// Note says what a reader must know, e.g. that "auto" fell back to the CPU.

	Steps      int     `json:"steps"`             // training steps seen (0 when Scope.Steps was not used)
	Dropped    int     `json:"dropped,omitempty"` // oldest events dropped because the recorder is bounded
	WallNS     int64   `json:"wall_ns"`           // volatile: time from the recorder's start to this snapshot
	OverheadNS int64   `json:"overhead_ns"`       // volatile: time spent recording, estimated
	Events     []Event `json:"events"`
}

// An Event is one op call, or one cast that autocast or type promotion put in front of an op.
type Event struct {
	Seq      int    `json:"seq"`                // order of execution, from 0
	Step     int    `json:"step"`               // training step, from 0; -1 outside Scope.Steps
	Phase    string `json:"phase"`              // PhaseForward, PhaseBackward, PhaseOptimizer
	Op       string `json:"op"`                 // row of the op table; "cast" for casts
	Module   string `json:"module"`             // path such as "net/0"; "" at the top
	Class    string `json:"class"`              // autocast class of the row: lower, fp32, fp32_output, fp32_append, promote, banned, unlisted
	Rule     string `json:"rule"`               // why it ran in this precision, one sentence
	In       []Arg  `json:"in,omitempty"`       // inputs as the caller gave them, before autocast's casts
	Out      Arg    `json:"out"`                // result
	Compute  DType  `json:"compute"`            // dtype the kernel was given after the casts
	Autocast DType  `json:"autocast,omitempty"` // the scope's lower dtype; NoDType where autocast was off
	Cast     *Cast  `json:"cast,omitempty"`     // set for casts
	Changed  bool   `json:"changed,omitempty"`  // autocast changed this op's precision against its inputs

	Func     string `json:"func,omitempty"`      // function that called the op, e.g. "main.main"
	File     string `json:"file,omitempty"`      // its file
	Line     int    `json:"line,omitempty"`      // its line in that file
	Cell     int    `json:"cell,omitempty"`      // notebook cell's execution count, 0 outside a notebook
	CellLine int    `json:"cell_line,omitempty"` // line within the cell, from 1

	Health   *Exponents `json:"health,omitempty"`   // what the result held, at level health
	Gradient bool       `json:"gradient,omitempty"` // the result is a gradient of an input of the forward op, at level health; backward makes other numbers too

	Bytes int64 `json:"bytes"` // bytes written: size of the result
	NS    int64 `json:"ns"`    // volatile: duration in nanoseconds
}

// An Arg is the dtype and shape of one input or output.
type Arg struct {
	DType DType `json:"dtype"`
	Shape []int `json:"shape"`
}

// A Cast says what a cast event moved, whether the cache served it, and which op asked.
type Cast struct {
	From    DType  `json:"from"`
	To      DType  `json:"to"`
	Format  string `json:"format,omitempty"` // format it rounded to within To, e.g. "e4m3": of operands of products in 8 bits
	Bytes   int64  `json:"bytes"`            // bytes read plus written; 0 on a cache hit
	Hit     bool   `json:"hit,omitempty"`    // served from the weight-cast cache
	Cached  bool   `json:"cached,omitempty"` // stored in the weight-cast cache
	By      string `json:"by,omitempty"`     // op that asked; "" for a cast the user wrote
	Operand int    `json:"operand"`          // index of that op's input
	Name    string `json:"name,omitempty"`   // name of the tensor, e.g. "0.weight"
	Lost    int    `json:"lost,omitempty"`   // numbers that it rounded to zero, at level health
	Over    int    `json:"over,omitempty"`   // numbers that it rounded to an infinity, at level health
}
