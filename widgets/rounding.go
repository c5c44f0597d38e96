package widgets

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/halftone-ml/halftone/amp"
)

// RoundingData says how far the loss of one forward pass is from the same program's in float64, and which ops put that there by rounding:
// what [Rounding] shows. All spreads and shares are in units of the loss.
type RoundingData struct {
	Missing  string      `json:"missing,omitempty"` // why there is nothing to show
	Sentence string      `json:"sentence"`          // the finding in words
	Note     string      `json:"note,omitempty"`    // what a reader must know
	Device   string      `json:"device,omitempty"`
	Step     int         `json:"step"`             // training step, -1 outside Scope.Steps
	DType    amp.DType   `json:"dtype"`            // of the loss
	Halves   []amp.DType `json:"halves,omitempty"` // dtypes of 16 bits that ops computed in; none of a program in float32

	Loss   Number `json:"loss"`
	Exact  Number `json:"exact"`           // in float64
	Error  Number `json:"error"`           // Loss - Exact
	First  Number `json:"first"`           // what first order explains of it: the sum of all shares
	Spread Number `json:"spread"`          // the size to be expected of it, without the luck of signs that cancel
	Bad    bool   `json:"bad,omitempty"`   // the loss is not finite
	Broke  string `json:"broke,omitempty"` // of such a loss, the first place whose results were not finite without cause

	If         []RoundingIf     `json:"if,omitempty"`          // what running every op in another dtype would do
	Recipes    []RoundingRecipe `json:"recipes,omitempty"`     // what reading shorter numbers would do, of all products together
	Shorter    string           `json:"shorter,omitempty"`     // the same in words, and which product is most of it
	Rows       []RoundingRow    `json:"rows"`                  // in the order of the program; casts that round nothing are left out
	More       int              `json:"more,omitempty"`        // rows whose rounding matters least, left out
	MoreSpread Number           `json:"more_spread,omitempty"` // theirs together
	Skip       int              `json:"skip,omitempty"`        // results that were not compared
	Why        string           `json:"skip_why,omitempty"`    // why the first of them was not
}

// A RoundingIf is what rounding would do to the loss if an op, or every op, ran in a dtype.
type RoundingIf struct {
	DType  amp.DType `json:"dtype"`
	Spread Number    `json:"spread"`
	Lost   int       `json:"lost,omitempty"` // results that would be zero and are not
	Over   int       `json:"over,omitempty"` // results and operands that would be infinite
}

// A RoundingRow is one op, or one cast, in one place of the program: of all its calls there.
type RoundingRow struct {
	Op      string    `json:"op"`
	For     string    `json:"for,omitempty"` // of casts: the op that asked
	Of      string    `json:"of,omitempty"`  // of casts: the tensor's name
	Module  string    `json:"module,omitempty"`
	Where   string    `json:"where,omitempty"` // line of the program: "[3]:12" in a notebook, "mlp.go:12"
	Compute amp.DType `json:"compute"`         // of the operands; of a cast the one that it is from
	DType   amp.DType `json:"dtype"`           // of the result
	Calls   int       `json:"calls"`

	N       int              `json:"n"`      // numbers
	Size    Number           `json:"size"`   // root mean square of the exact results
	Own     Number           `json:"own"`    // of what the op changed by rounding
	Total   Number           `json:"total"`  // of what it and all before it changed
	Share   Number           `json:"share"`  // Own's part of the loss's error, with its sign
	Spread  Number           `json:"spread"` // its size without the luck of signs
	Bad     int              `json:"bad,omitempty"`
	If      []RoundingIf     `json:"if,omitempty"`
	Recipes []RoundingRecipe `json:"recipes,omitempty"` // of a product
}

const (
	maxRoundingRows = 48
	maxRoundingIfs  = 4
)

// Rounding shows where the rounding of one forward pass enters its loss: how far the loss is from float64's, which ops' rounding is
// responsible, weighted by what the loss's derivative makes of it, and what it would do to run this op or that in float32. Of a program
// in float32 it shows what each op would cost in 16 bits. It reads what amp.TraceRounding noted:
//
//	loss, trace := amp.TraceRounding(s, func(s *amp.Scope) *amp.Tensor { … })
//	widgets.Show(widgets.Rounding(trace))
//
// [Compare] tells how far the results of two runs are apart, op by op; Rounding tells which of these differences matter to the loss.
func Rounding(t *amp.RoundingTrace) *Figure {
	d := &RoundingData{Step: -1, Rows: []RoundingRow{}}
	f := &Figure{Schema: Schema, Kind: KindRounding, Title: "Where does rounding enter the loss?", Rounding: d}
	switch {
	case t != nil && (t.Born || !Number(t.Exact).finite()):
		d.Missing = "The loss is not finite in float64 either: no rounding is to blame, and there is nothing to compare with."
		d.Sentence = d.Missing
	case t == nil || len(t.Events) == 0:
		d.Missing = "No forward pass was traced: widgets.Rounding draws the trace of loss, trace := amp.TraceRounding(s, func(s *amp.Scope) *amp.Tensor { … })."
		d.Sentence = d.Missing
	default:
		d.fill(t)
		d.Sentence, d.Shorter = d.finding(t), d.shorter()
		d.cut(maxRoundingRows)
	}
	f.Alt = clip(strings.Join(append([]string{d.Sentence}, d.Lines(1)...), " "), maxAlt)
	f.normalize()
	for n := 40; n >= 4; n -= 6 { // long names
		if b, err := f.MarshalJSON(); err != nil || len(b) <= MaxJSON {
			break
		}
		d.cut(n)
	}
	return f
}

// roundingKey names events that belong to one row.
type roundingKey struct {
	op, forOp, of, module, where string
	compute, dt                  amp.DType
}

func (d *RoundingData) fill(t *amp.RoundingTrace) {
	d.Device, d.Step, d.DType, d.Bad = t.Device, t.Step, knownDType(t.DType), t.Bad || !Number(t.Loss).finite()
	d.Loss, d.Exact, d.First = number(t.Loss), number(t.Exact), digits(t.First, 4)
	if t.Err != "" {
		d.Note = "Some shares are missing: " + strings.TrimSuffix(t.Err, ".") + "."
	}
	if !d.Bad {
		d.Error = digits(t.Loss-t.Exact, 4)
	}
	at, folds, all := map[roundingKey]int{}, []*roundingFold{}, &roundingFold{}
	for i := range t.Events {
		e := &t.Events[i]
		if e.Err != "" {
			if d.Skip++; d.Why == "" {
				d.Why = e.Op + ": " + e.Err
			}
			continue
		}
		r := RoundingRow{Op: e.Op, For: e.For, Of: e.Of, Module: e.Module, Compute: knownDType(e.Compute), DType: knownDType(e.DType),
			Where: where(&amp.Event{File: e.File, Line: e.Line, Cell: e.Cell, CellLine: e.CellLine})}
		for _, dt := range []amp.DType{r.Compute, r.DType} {
			if dt.IsHalf() && !slices.Contains(d.Halves, dt) && (e.Op != "cast" || dt == r.DType) {
				d.Halves = append(d.Halves, dt)
			}
		}
		if e.Bad > 0 && d.Broke == "" && d.Bad {
			d.Broke = place(r.Where, r.OpText(), r.Module)
		}
		all.add(e)
		if e.Op == "cast" && e.Own == 0 && e.Spread == 0 && e.Bad == 0 {
			continue
		}
		key := roundingKey{r.Op, r.For, r.Of, r.Module, r.Where, r.Compute, r.DType}
		k, ok := at[key]
		if !ok {
			k = len(d.Rows)
			at[key] = k
			d.Rows, folds = append(d.Rows, r), append(folds, &roundingFold{})
		}
		folds[k].add(e)
	}
	for k := range d.Rows {
		folds[k].into(&d.Rows[k])
	}
	d.Spread, d.If = digits(all.spread, 4), all.ifs()
	d.Recipes = all.told()
}

// A roundingFold adds up the events of a row. Root mean squares are kept as the roots of sums, which float64 holds where it holds each.
type roundingFold struct {
	calls, n, bad            int
	size, own, total, spread float64
	share                    float64
	dtypes                   []amp.DType
	other                    map[amp.DType]*RoundingIf
	recipes                  []RoundingRecipe
}

// size2 is a size that can be added up.
func size2(v float64) float64 {
	if v = math.Abs(v); v <= math.MaxFloat64 {
		return v
	}
	return 0
}

func (r *roundingFold) add(e *amp.RoundingEvent) {
	r.calls++
	r.n += max(e.N, 0)
	r.bad += max(e.Bad, 0)
	root := math.Sqrt(float64(max(e.N, 0)))
	r.size = math.Hypot(r.size, root*size2(e.Size))
	r.own = math.Hypot(r.own, root*size2(e.Own))
	r.total = math.Hypot(r.total, root*size2(e.Total))
	r.spread = math.Hypot(r.spread, size2(e.Spread))
	if !math.IsNaN(e.Share) && !math.IsInf(e.Share, 0) {
		r.share += e.Share
	}
	for _, x := range e.If {
		if r.other == nil {
			r.other = map[amp.DType]*RoundingIf{}
		}
		dt := knownDType(x.DType)
		o := r.other[dt]
		if o == nil {
			o = &RoundingIf{DType: dt}
			r.other[dt] = o
			r.dtypes = append(r.dtypes, dt)
		}
		o.Spread = Number(math.Hypot(float64(o.Spread), size2(x.Spread)))
		o.Lost += max(x.Lost, 0)
		o.Over += max(x.Over, 0)
	}
	r.addRecipes(e.Recipes)
}

func (r *roundingFold) into(row *RoundingRow) {
	mean := func(v float64) Number { return digits(v/math.Sqrt(float64(max(r.n, 1))), 3) }
	row.Calls, row.N, row.Bad = r.calls, r.n, r.bad
	row.Size, row.Own, row.Total = mean(r.size), mean(r.own), mean(r.total)
	row.Share, row.Spread, row.If = digits(r.share, 4), digits(r.spread, 4), r.ifs()
	row.Recipes = r.told()
}

// ifs are what the events would do in other dtypes, float16 first.
func (r *roundingFold) ifs() []RoundingIf {
	var out []RoundingIf
	slices.Sort(r.dtypes)
	for _, dt := range r.dtypes[:min(len(r.dtypes), maxRoundingIfs)] {
		o := *r.other[dt]
		o.Spread = digits(float64(o.Spread), 4)
		out = append(out, o)
	}
	return out
}

// cut leaves out the rows whose rounding matters least.
func (d *RoundingData) cut(rows int) {
	if len(d.Rows) <= rows {
		return
	}
	index := d.Ranked()
	more := float64(d.MoreSpread)
	for _, k := range index[rows:] {
		more = math.Hypot(more, size2(float64(d.Rows[k].Spread)))
	}
	index = index[:rows]
	slices.Sort(index)
	kept := make([]RoundingRow, rows)
	for i, k := range index {
		kept[i] = d.Rows[k]
	}
	d.More += len(d.Rows) - rows
	d.MoreSpread = digits(more, 4)
	d.Rows = kept
}

// Ranked lists the rows by what their rounding does to the loss, or would do; results that broke come first.
func (d *RoundingData) Ranked() []int {
	index, weight := make([]int, len(d.Rows)), make([]float64, len(d.Rows))
	dt := d.Lower()
	for i := range index {
		index[i], weight[i] = i, d.Rows[i].weight(dt)
	}
	slices.SortStableFunc(index, func(a, b int) int {
		x, y := &d.Rows[a], &d.Rows[b]
		return cmp.Or(cmp.Compare(b2i(y.breaks(dt)), b2i(x.breaks(dt))), cmp.Compare(weight[b], weight[a]), cmp.Compare(y.Spread, x.Spread))
	})
	return index
}

func (d *RoundingData) normalize() {
	d.Missing, d.Sentence, d.Note, d.Device, d.Why = clip(d.Missing, maxRule), clip(d.Sentence, maxAlt), clip(d.Note, maxRule), clip(d.Device, maxName), clip(d.Why, maxRule)
	d.Broke, d.Shorter, d.DType = clip(d.Broke, maxRule), clip(d.Shorter, maxAlt), knownDType(d.DType)
	clamp(&d.Step, -1)
	clamp(&d.More, 0)
	clamp(&d.Skip, 0)
	d.Halves = slices.DeleteFunc(d.Halves, func(dt amp.DType) bool { return !dt.IsHalf() })
	d.Halves = d.Halves[:min(len(d.Halves), 2)]
	for _, v := range []*Number{&d.Loss, &d.Exact, &d.Error, &d.First} {
		if !v.finite() {
			*v = 0
		}
	}
	normalizeSizes(&d.Spread, &d.MoreSpread)
	normalizeIfs(&d.If)
	normalizeRecipes(&d.Recipes)
	for i := range d.Rows {
		r := &d.Rows[i]
		r.Op, r.For, r.Of, r.Module, r.Where = clip(r.Op, maxName), clip(r.For, maxName), clip(r.Of, maxName), clip(r.Module, maxName), clip(r.Where, maxName)
		r.Compute, r.DType = knownDType(r.Compute), knownDType(r.DType)
		for _, n := range []*int{&r.Calls, &r.N, &r.Bad} {
			clamp(n, 0)
		}
		if !r.Share.finite() {
			r.Share = 0
		}
		normalizeSizes(&r.Size, &r.Own, &r.Total, &r.Spread)
		normalizeIfs(&r.If)
		normalizeRecipes(&r.Recipes)
	}
	d.cut(maxRoundingRows)
}

// normalizeSizes makes zero of what is no size.
func normalizeSizes(all ...*Number) {
	for _, v := range all {
		if !(*v >= 0) || !v.finite() {
			*v = 0
		}
	}
}

func normalizeIfs(all *[]RoundingIf) {
	*all = (*all)[:min(len(*all), maxRoundingIfs)]
	for i := range *all {
		o := &(*all)[i]
		o.DType = knownDType(o.DType)
		normalizeSizes(&o.Spread)
		clamp(&o.Lost, 0)
		clamp(&o.Over, 0)
	}
}
