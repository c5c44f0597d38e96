package widgets

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/halftone-ml/halftone/amp"
)

// DecisionsData says in which precision every op of a program ran, and why: what [Decisions] shows.
type DecisionsData struct {
	Device   string      `json:"device"`            // where it ran, e.g. "cpu"
	Note     string      `json:"note,omitempty"`    // what the recorder wants a reader to know
	Missing  string      `json:"missing,omitempty"` // why there is nothing to show
	Autocast []amp.DType `json:"autocast"`          // dtypes of the autocast scopes seen; empty: autocast was off throughout
	Format   string      `json:"format,omitempty"`  // what Health.Fate asks about: "fp16", or "bf16" where autocast ran in bfloat16; "" without health
	Steps    int         `json:"steps"`             // training steps seen; 0 outside Scope.Steps
	Events   int         `json:"events"`            // events the figure was made from
	Dropped  int         `json:"dropped,omitempty"` // events that the bounded recorder had dropped before
	Summary  Summary     `json:"summary"`           // over all events, also of sites that are left out below
	Rules    []string    `json:"rules"`             // reasons, each once; Site.Rule is an index
	Sites    []Site      `json:"sites"`             // forward sites in execution order, each followed by its backward sites
	More     int         `json:"more,omitempty"`    // rows left out to keep the figure small: sites without those that follow as their backward
}

// Summary counts what happened in all events of a trace.
type Summary struct {
	Ops       []DTypeCount `json:"ops"`                  // op calls by the dtype they computed in, without casts
	Calls     int          `json:"calls"`                // sum of Ops
	Changed   int          `json:"changed"`              // calls whose precision autocast changed
	Casts     int          `json:"casts"`                // casts asked for, cache hits among them
	CastHits  int          `json:"cast_hits"`            // casts served from the cache
	CastBytes int64        `json:"cast_bytes"`           // bytes that casts read and wrote
	Bytes     int64        `json:"bytes"`                // bytes of forward results
	BytesFP32 int64        `json:"bytes_fp32"`           // what the floats among them would have been in float32
	TensorOps int          `json:"tensor_ops,omitempty"` // matrix products in 16 bits
	TensorOK  int          `json:"tensor_ok,omitempty"`  // of them with all dimensions multiples of 8
	Sites     int          `json:"sites"`                // sites in all
}

// A DTypeCount counts op calls of one dtype.
type DTypeCount struct {
	DType amp.DType `json:"dtype"`
	Calls int       `json:"calls"`
	Sites int       `json:"sites"`
}

// A Site is one place in the program where an op runs: the calls that agree in phase, module, op, source line and dtypes.
type Site struct {
	Phase   string      `json:"phase"`
	Module  string      `json:"module,omitempty"`
	Modules int         `json:"modules,omitempty"` // > 1: so many modules whose paths differ in numbers share this row; Module has * for those
	Op      string      `json:"op"`
	Class   string      `json:"class,omitempty"`
	Rule    int         `json:"rule"`              // index in DecisionsData.Rules
	By      string      `json:"by,omitempty"`      // what decided the precision: one of the By constants
	In      []amp.DType `json:"in,omitempty"`      // dtypes the caller gave
	Compute amp.DType   `json:"compute"`           // dtype the kernel ran in
	Out     amp.DType   `json:"out"`               // dtype of the result
	Shape   string      `json:"shape,omitempty"`   // of the first call, e.g. "512×8 · 16×8 → 512×16"
	Where   string      `json:"where,omitempty"`   // "[3]:12" is cell 3 line 12, "main.go:12" a file
	Calls   int         `json:"calls"`             // in all steps
	Bytes   int64       `json:"bytes,omitempty"`   // written in all steps
	Saved   int64       `json:"saved,omitempty"`   // that results in float32 would have taken more
	Changed bool        `json:"changed,omitempty"` // autocast changed the precision
	Of      int         `json:"of,omitempty"`      // backward: 1 + index of the forward site whose gradient this is part of; 0: not known
	Dims    *Dims       `json:"dims,omitempty"`    // matrix products
	Casts   []CastSite  `json:"casts,omitempty"`   // casts that autocast put in front of the op
	Force   string      `json:"force,omitempty"`   // option of Scope.Autocast that would decide otherwise, ready to paste
	Health  *Health     `json:"health,omitempty"`  // what the results held, at level health
}

// Dims are the sizes of a matrix product: rows × inner × columns. NVIDIA's tensor cores run a 16-bit product at full rate
// when all three are multiples of 8.
type Dims struct {
	M int `json:"m"`
	K int `json:"k"`
	N int `json:"n"`
}

// OK says whether all three dimensions are multiples of 8.
func (d Dims) OK() bool { return d.M%8 == 0 && d.K%8 == 0 && d.N%8 == 0 }

// Text says "✓ ÷8", or names the dimensions that are not multiples of 8.
func (d Dims) Text() string {
	if d.OK() {
		return "✓ ÷8"
	}
	var bad []string
	for _, v := range []struct {
		name string
		size int
	}{{"M", d.M}, {"K", d.K}, {"N", d.N}} {
		if v.size%8 != 0 {
			bad = append(bad, fmt.Sprintf("%s=%d", v.name, v.size))
		}
	}
	return "✗ " + strings.Join(bad, " ")
}

// Decisions shows in which precision every op ran and why: a row for each place in the program, with the casts in front of
// it and its backward pass, summed over the training steps. A nil or empty trace gives a figure that says what is missing.
func Decisions(t *amp.Trace) *Figure {
	b := newTally(t)
	f := &Figure{Schema: Schema, Kind: KindDecisions, Title: "Precision decisions", Decisions: b.data()}
	if t != nil && (t.WallNS > 0 || b.measured()) {
		f.Volatile = &Volatile{WallNS: t.WallNS, OverheadNS: t.OverheadNS, NS: b.meanNS()}
	}
	fitDecisions(f)
	f.normalize()
	return f
}

// maxSites bounds the rows of the figure; fitDecisions lowers it further when their texts are long.
const maxSites = 160

// fitDecisions drops sites from the end until the figure's JSON is at most MaxJSON.
func fitDecisions(f *Figure) {
	d := f.Decisions
	keep := min(len(d.Sites), maxSites)
	for {
		truncateSites(f, max(keep, 0))
		f.Alt = clip(d.finding(), maxAlt)
		b, err := f.MarshalJSON()
		if err != nil || len(b) <= MaxJSON || len(d.Sites) == 0 {
			return
		}
		if d.coarsen() { // a row says more than a fine histogram of the one before
			continue
		}
		// Aim a little under what the measured size says, so that two or three rounds are enough.
		keep = min(len(d.Sites)-1, len(d.Sites)*MaxJSON/len(b))
	}
}

// coarsen drops the histograms of the backward sites, then those of all; false when there are none left.
func (d *DecisionsData) coarsen() bool {
	for _, all := range []bool{false, true} {
		dropped := false
		for i := range d.Sites {
			if s := &d.Sites[i]; s.Health != nil && s.Health.Bins != nil && (all || s.Phase == amp.PhaseBackward) {
				s.Health.Bins, dropped = nil, true
			}
		}
		if dropped {
			return true
		}
	}
	return false
}

// truncateSites keeps the rows that fit in the first n sites, and the rules they use.
func truncateSites(f *Figure, n int) {
	d := f.Decisions
	for n > 0 && n < len(d.Sites) && d.Sites[n].Of > 0 { // a row goes with all its backward sites
		n--
	}
	for _, s := range d.Sites[n:] {
		if s.Of == 0 {
			d.More++
		}
	}
	d.Sites = d.Sites[:n]
	if f.Volatile != nil {
		f.Volatile.NS = f.Volatile.NS[:min(n, len(f.Volatile.NS))]
	}
	index := map[int]int{}
	rules := []string{}
	for i := range d.Sites {
		old := d.Sites[i].Rule
		k, ok := index[old]
		if !ok {
			k = len(rules)
			index[old] = k
			rules = append(rules, d.Rules[old])
		}
		d.Sites[i].Rule = k
	}
	d.Rules = rules
}

// Rule returns the reason of a site.
func (d *DecisionsData) Rule(s *Site) string {
	if s.Rule < 0 || s.Rule >= len(d.Rules) {
		return ""
	}
	return d.Rules[s.Rule]
}

// PerStep divides a count over all steps; without steps it is the count itself.
func (d *DecisionsData) PerStep(n int) float64 {
	if d.Steps == 0 {
		return float64(n)
	}
	return float64(n) / float64(d.Steps)
}

// PerStepText writes a count per step with at most three significant digits: "3", "2.5", "0.02".
func (d *DecisionsData) PerStepText(n int) string {
	v := d.PerStep(n)
	switch {
	case v == float64(int64(v)):
		return Count(int64(v))
	case v >= 100:
		return Count(int64(v + .5))
	}
	return strconv.FormatFloat(v, 'g', 3, 64)
}

// Modules returns the indexes of the sites of each module, in the order in which modules first ran; the optimizer comes last.
func (d *DecisionsData) Modules() []ModuleSites {
	var out []ModuleSites
	at := map[string]int{}
	for i := range d.Sites {
		s := &d.Sites[i]
		optimizer := s.Phase == amp.PhaseOptimizer
		key := s.Module
		if optimizer {
			key = "\x00optimizer"
		}
		k, ok := at[key]
		if !ok {
			k = len(out)
			at[key] = k
			out = append(out, ModuleSites{Module: s.Module, Optimizer: optimizer, Modules: s.Modules})
		}
		m := &out[k]
		switch {
		case s.Phase == amp.PhaseBackward && s.Of == 0:
			m.Backward = append(m.Backward, i)
		case s.Phase == amp.PhaseBackward:
			if r := slices.IndexFunc(m.Rows, func(r SiteRow) bool { return r.Forward == s.Of-1 }); r >= 0 {
				m.Rows[r].Backward = append(m.Rows[r].Backward, i)
			} else {
				m.Backward = append(m.Backward, i)
			}
		default:
			m.Rows = append(m.Rows, SiteRow{Forward: i})
		}
	}
	var models, optimizers []ModuleSites
	for _, m := range out {
		if m.Optimizer {
			optimizers = append(optimizers, m)
		} else {
			models = append(models, m)
		}
	}
	return append(models, optimizers...)
}

// ModuleSites are the sites of one module: its forward rows, and the backward sites that belong to no single one of them.
type ModuleSites struct {
	Module    string
	Optimizer bool
	Modules   int // > 1: so many modules share these rows
	Rows      []SiteRow
	Backward  []int
}

// Name is the heading of the module.
func (m ModuleSites) Name() string {
	switch {
	case m.Optimizer:
		return "optimizer"
	case m.Module == "":
		return "(top level)"
	case m.Modules > 1:
		return fmt.Sprintf("%s (%s modules)", m.Module, Count(m.Modules))
	}
	return m.Module
}

// A SiteRow is a forward site with the backward sites that are its gradient; all are indexes in DecisionsData.Sites.
type SiteRow struct {
	Forward  int
	Backward []int
}

// finding is the figure in a sentence or two.
func (d *DecisionsData) finding() string {
	if d.Missing != "" {
		return d.Missing
	}
	u := d.Summary
	var b strings.Builder
	b.WriteString(d.heading() + ": ")
	b.WriteString(d.CallsTitle())
	if d.Steps > 0 {
		b.WriteString(" over " + plural(d.Steps, "step"))
	}
	for i, c := range u.Ops {
		b.WriteString([]string{", ", ": "}[b2i(i == 0)] + d.PerStepText(c.Calls) + " in " + c.DType.String())
	}
	b.WriteString(".")
	if u.Casts > 0 {
		fmt.Fprintf(&b, " %s of %s casts came from the cache; casts moved %s.", Count(u.CastHits), Count(u.Casts), Bytes(u.CastBytes))
	}
	if len(d.Autocast) > 0 && u.BytesFP32 > u.Bytes {
		fmt.Fprintf(&b, " Forward results take %s where float32 would take %s.", Bytes(d.StepBytes(u.Bytes)), Bytes(d.StepBytes(u.BytesFP32)))
	}
	if d.More > 0 {
		fmt.Fprintf(&b, " %s not shown.", plural(d.More, "more row"))
	}
	return b.String()
}

// heading names the autocast dtypes: "Autocast float16", "Autocast off".
func (d *DecisionsData) heading() string {
	if len(d.Autocast) == 0 {
		return "Autocast off"
	}
	var names []string
	for _, t := range d.Autocast {
		names = append(names, t.String())
	}
	return "Autocast " + strings.Join(names, " and ")
}

// StepBytes divides bytes over all steps.
func (d *DecisionsData) StepBytes(n int64) int64 {
	if d.Steps == 0 {
		return n
	}
	return n / int64(d.Steps)
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// where writes the place of an event.
func where(e *amp.Event) string {
	switch {
	case e.Cell > 0 && e.CellLine > 0:
		return fmt.Sprintf("[%d]:%d", e.Cell, e.CellLine)
	case e.Cell > 0:
		return fmt.Sprintf("[%d]", e.Cell)
	case e.File != "" && e.Line > 0:
		return clip(path.Base(strings.ReplaceAll(e.File, `\`, "/")), 40) + fmt.Sprintf(":%d", e.Line)
	}
	return ""
}
