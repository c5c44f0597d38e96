package widgets

import (
	"cmp"
	"slices"
	"strings"

	"github.com/halftone-ml/halftone/amp"
)

// FlowData says where one backward pass lost gradients to its precision: what [GradientFlow] shows. A gradient counts as wanted where the
// same pass in float64, over the same values of the forward pass, gives a finite number that is not zero; the zeros of a ReLU's mask, of
// dropout or of padding are none.
type FlowData struct {
	Missing  string `json:"missing,omitempty"` // why there is nothing to show
	Sentence string `json:"sentence"`          // the finding in words
	Note     string `json:"note,omitempty"`    // what a reader must know
	Device   string `json:"device,omitempty"`
	Step     int    `json:"step"`  // training step, -1 outside Scope.Steps
	Scale    Number `json:"scale"` // loss scale of the pass; 1 without one

	// Of the gradients that the leaves got, the parameters above all:
	Wanted int `json:"wanted"`
	Zeros  int `json:"zeros,omitempty"` // of those zero
	Bad    int `json:"bad,omitempty"`   // of those infinite or NaN
	Born   int `json:"born,omitempty"`  // not finite in float64 either
	Later  int `json:"later,omitempty"` // later steps that were skipped, since gradients were not finite

	Here int       `json:"here"`               // gradients lost at any op, each at the op that lost it
	Fit  LossScale `json:"fit"`                // loss scales for every op
	Rows []FlowRow `json:"rows"`               // from the loss on; casts and views that lost nothing are left out
	More int       `json:"more,omitempty"`     // rows that lost less, left out
	Ends []FlowEnd `json:"ends,omitempty"`     // the leaves that lost most first
	Rest int       `json:"rest,omitempty"`     // leaves left out
	Skip int       `json:"skip,omitempty"`     // gradients that were not compared
	Why  string    `json:"skip_why,omitempty"` // why the first of them was not
}

// A LossScale is the range of loss scales that suits gradients in their precision. All are the present one times a power of two.
type LossScale struct {
	Keep Number `json:"keep,omitempty"` // smallest at which FlowKeep of the wanted gradients are not rounded to zero; 0 where there is nothing to keep
	Safe Number `json:"safe,omitempty"` // largest at which none overflows
	Kept Number `json:"kept,omitempty"` // part of the gradients that Safe keeps, where it is below Keep
}

// FlowKeep is the part of the gradients that a loss scale is to keep.
const FlowKeep = 0.999

// A FlowRow is the gradient of one input of a call, or of several calls in the same place.
type FlowRow struct {
	Op     string    `json:"op"`
	For    string    `json:"for,omitempty"` // of casts: the op whose gradient is cast
	Of     string    `json:"of"`            // the input
	Module string    `json:"module,omitempty"`
	Where  string    `json:"where,omitempty"` // line of the program: "[3]:12" in a notebook, "mlp.go:12"
	DType  amp.DType `json:"dtype"`
	Calls  int       `json:"calls"`

	Wanted    int       `json:"wanted"`
	Zeros     int       `json:"zeros,omitempty"`     // made zero here
	Gone      int       `json:"gone,omitempty"`      // zero by what was lost before
	Subnormal int       `json:"subnormal,omitempty"` // kept as a subnormal, with fewer digits
	Infs      int       `json:"infs,omitempty"`      // made infinite here
	NaNs      int       `json:"nans,omitempty"`      // made NaN here
	Spread    int       `json:"spread,omitempty"`    // not finite by what came before
	Born      int       `json:"born,omitempty"`      // not finite in float64 either
	Amax      Number    `json:"amax"`
	Amin      Number    `json:"amin"`
	Fit       LossScale `json:"fit"`
}

// A FlowEnd is the gradient that a parameter got.
type FlowEnd struct {
	Name   string `json:"name"`
	Wanted int    `json:"wanted"`
	Zeros  int    `json:"zeros,omitempty"`
	Bad    int    `json:"bad,omitempty"`
	Error  Number `json:"error"`           // ‖g - reference‖ / ‖reference‖
	First  string `json:"first,omitempty"` // the op nearest to the loss on its way that lost gradients
}

const (
	maxFlowRows = 48
	maxFlowEnds = 32
)

// GradientFlow shows where the gradients of one backward pass went: from the loss back to each parameter, at which op, on which line, they
// first became zero, infinite or NaN by the precision that they had there, and which loss scales would have kept them. It reads what
// amp.TraceGradients noted:
//
//	var trace amp.GradientTrace
//	scaler.Scale(s, loss).Backward(amp.TraceGradients(&trace))
//	widgets.Show(widgets.GradientFlow(&trace))
//
// [Exponents] counts the gradients of many steps as they were stored, so that what was lost is among its zeros; GradientFlow compares one
// step with float64, number by number, and so knows which zeros are losses. Given the histories of the scalers, it also says what it was not
// there to see: that later steps overflowed.
func GradientFlow(t *amp.GradientTrace, scalers ...amp.ScaleHistory) *Figure {
	d := &FlowData{Scale: 1, Step: -1, Rows: []FlowRow{}}
	f := &Figure{Schema: Schema, Kind: KindGradientFlow, Title: "Where did my gradients go?", Flow: d}
	if t == nil || len(t.Events) == 0 {
		d.Missing = "No backward pass was traced: pass amp.TraceGradients(&trace) to Backward, and the trace to widgets.GradientFlow."
		d.Sentence = d.Missing
	} else {
		d.fill(t)
		d.Sentence = strings.TrimSpace(d.finding() + " " + d.others(t.Update, scalers))
	}
	f.Alt = clip(strings.Join(append([]string{d.Sentence}, d.Lines(1)...), " "), maxAlt)
	f.normalize()
	for n := 32; n >= 4; n /= 2 { // long names
		if b, err := f.MarshalJSON(); err != nil || len(b) <= MaxJSON {
			break
		}
		d.cut(n, n)
	}
	return f
}

// flowKey names events that belong to one row.
type flowKey struct {
	op, of, module, where string
	dt                    amp.DType
}

func (d *FlowData) fill(t *amp.GradientTrace) {
	d.Device, d.Step, d.Scale = t.Device, t.Step, number(t.Scale)
	if !(d.Scale > 0) || !d.Scale.finite() {
		d.Scale = 1
	}
	at, folds, all, keep := map[flowKey]int{}, []*scaleFold{}, &scaleFold{}, Number(0)
	for i := range t.Events {
		e := &t.Events[i]
		d.Here += e.Here()
		if e.Err != "" {
			if d.Skip++; d.Why == "" {
				d.Why = e.Op + ": " + e.Err
			}
		}
		if e.Here() == 0 && (e.N == 1 || passes(e.Op) && !(e.Op == "cast" && e.Subnormals > 0)) {
			continue
		}
		r := FlowRow{Op: e.Op, For: e.For, Of: e.Of, Module: e.Module, DType: knownDType(e.DType),
			Where: where(&amp.Event{File: e.File, Line: e.Line, Cell: e.Cell, CellLine: e.CellLine})}
		key := flowKey{r.Op, r.Of, r.Module, r.Where, r.DType}
		k, ok := at[key]
		if !ok {
			k = len(d.Rows)
			at[key] = k
			d.Rows, folds = append(d.Rows, r), append(folds, &scaleFold{})
		}
		d.Rows[k].add(e)
		folds[k].add(e)
		if e.DType.IsHalf() || e.Here() > 0 {
			all.add(e)
		}
	}
	for k := range d.Rows {
		d.Rows[k].Fit = folds[k].fit(float64(d.Scale))
		if r := &d.Rows[k]; r.DType.IsHalf() || r.Here() > 0 {
			keep = max(keep, r.Fit.Keep)
		}
	}
	d.Fit = all.over(float64(d.Scale), keep)
	for _, l := range t.Leaves {
		d.Wanted += l.Wanted
		d.Zeros += l.Zeros
		d.Bad += l.Bad
		d.Born += l.Born
		d.Ends = append(d.Ends, FlowEnd{Name: l.Name, Wanted: l.Wanted, Zeros: l.Zeros, Bad: l.Bad, Error: digits(l.Error, 3), First: firstLoss(t, l.From)})
	}
	slices.SortStableFunc(d.Ends, func(a, b FlowEnd) int {
		return cmp.Or(cmp.Compare(b.lost(), a.lost()), cmp.Compare(b.Error, a.Error))
	})
	d.cut(maxFlowRows, maxFlowEnds)
}

// passes says of an op that it hands gradients on: nothing is to be seen there where it lost none.
func passes(op string) bool {
	o, ok := amp.LookupOp(op)
	return ok && (o.View != nil || op == "cast" || op == "to_device")
}

// add adds an event to its row.
func (r *FlowRow) add(e *amp.GradientEvent) {
	r.Calls++
	r.Wanted += e.Wanted
	r.Zeros += e.Zeros
	r.Gone += e.Gone
	r.Subnormal += e.Subnormals
	r.Infs += e.Infs
	r.NaNs += e.NaNs
	r.Spread += e.Spread
	r.Born += e.Born
	r.Amax = max(r.Amax, number(e.Amax))
	if low := number(e.Amin); low > 0 && (r.Amin == 0 || low < r.Amin) {
		r.Amin = low
	}
}

// Here is the number of wanted gradients that were lost here, to zero or beyond the range.
func (r *FlowRow) Here() int { return r.Zeros + r.Infs + r.NaNs }

// Before is the number of those that arrived lost.
func (r *FlowRow) Before() int { return r.Gone + r.Spread }

// Kept is the number of those that are whole.
func (r *FlowRow) Kept() int { return max(r.Wanted-r.Here()-r.Before()-r.Subnormal, 0) }

func (e *FlowEnd) lost() float64 {
	if e.Wanted == 0 {
		return 0
	}
	return float64(e.Zeros+e.Bad) / float64(e.Wanted)
}

// cut leaves out the rows and leaves that lost least.
func (d *FlowData) cut(rows, ends int) {
	if len(d.Rows) > rows {
		index := make([]int, len(d.Rows))
		for i := range index {
			index[i] = i
		}
		slices.SortStableFunc(index, func(a, b int) int {
			x, y := &d.Rows[a], &d.Rows[b]
			return cmp.Or(cmp.Compare(y.Here(), x.Here()), cmp.Compare(y.Subnormal, x.Subnormal))
		})
		index = index[:rows]
		slices.Sort(index)
		kept := make([]FlowRow, rows)
		for i, k := range index {
			kept[i] = d.Rows[k]
		}
		d.More += len(d.Rows) - rows
		d.Rows = kept
	}
	if len(d.Ends) > ends {
		d.Rest += len(d.Ends) - ends
		d.Ends = d.Ends[:ends]
	}
}

// firstLoss names the event nearest to the loss, on the way to event i, that lost gradients.
func firstLoss(t *amp.GradientTrace, i int) string {
	first := ""
	for hops := 0; i >= 0 && i < len(t.Events) && hops <= len(t.Events); hops++ {
		if e := &t.Events[i]; e.Here() > 0 {
			first = place(where(&amp.Event{File: e.File, Line: e.Line, Cell: e.Cell, CellLine: e.CellLine}), e.Op, e.Module)
		}
		i = t.Events[i].From
	}
	return first
}
