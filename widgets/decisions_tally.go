package widgets

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/halftone-ml/halftone/amp"
)

// Bounds of one site.
const (
	maxInputs = 8
	maxCasts  = 8
)

// A tally sums the events of a trace by site.
type tally struct {
	trace   *amp.Trace
	sum     Summary
	byDType map[amp.DType]*DTypeCount
	casts   []amp.DType // autocast dtypes seen
	rules   map[string]int
	rule    []string
	sites   []*siteTally
	index   map[siteKey]*siteTally
	quick   map[eventKey]*siteTally // the same by what events hold as it is: most are of a site that is known
	pending []*amp.Event            // casts whose op comes next
}

// siteKey is what makes two calls the same site. The source line of a backward call is its forward op's or none at all, and
// several calls of one gradient (two products for one linear) read better as one row, so it is left out there.
type siteKey struct {
	phase, module, op, where, in string
	compute, out                 amp.DType
	rule                         int
}

// eventKey is what two events of one site usually agree in, without making anything of it.
type eventKey struct {
	phase, module, op, rule, file string
	cell, cellLine, line          int
	compute, out                  amp.DType
	in                            [4]amp.DType
	inputs                        int
}

type siteTally struct {
	Site
	key  siteKey
	rank int // order of first run
	ns   int64
	at   string // source line, also where the key has none

	health spread // of the results that were looked at
}

func newTally(t *amp.Trace) *tally {
	b := &tally{trace: t, casts: []amp.DType{}, rule: []string{}, byDType: map[amp.DType]*DTypeCount{}, rules: map[string]int{}, index: map[siteKey]*siteTally{}, quick: map[eventKey]*siteTally{}}
	if t == nil {
		return b
	}
	for i := range t.Events {
		e := &t.Events[i]
		if strange(e) {
			e = known(*e)
		}
		if e.Autocast != amp.NoDType && !slices.Contains(b.casts, e.Autocast) {
			b.casts = append(b.casts, e.Autocast)
		}
		if e.Cast != nil && e.Cast.By != "" {
			b.cast(e)
			continue
		}
		b.op(e)
	}
	b.flush(nil)
	return b
}

// cast counts a cast that autocast or promotion made and keeps it for the op that asked.
func (b *tally) cast(e *amp.Event) {
	b.sum.Casts++
	b.sum.CastBytes += e.Cast.Bytes
	if e.Cast.Hit {
		b.sum.CastHits++
	}
	b.pending = append(b.pending, e)
}

// op counts a call and gives it the casts in front of it.
func (b *tally) op(e *amp.Event) {
	if e.Cast != nil && e.Cast.Format != "" { // the dtypes do not say what it does
		named := *e
		named.Op += " to " + e.Cast.Format
		e = &named
	}
	s := b.site(e)
	s.Calls++
	s.Bytes += e.Bytes
	s.ns += e.NS
	if e.Health != nil {
		s.health.add(e.Health, 0)
	}
	if e.Cast != nil { // one that the program or a gradient asked for: a row of its own, but counted with the casts
		b.sum.Casts++
		b.sum.CastBytes += e.Cast.Bytes
		b.flush(nil)
		return
	}
	if e.Phase == amp.PhaseOptimizer {
		return // a skipped step has fewer of them, and no autocast decided theirs: they have their rows, and no part in the shares
	}
	s.Saved += max(inFloat32(e)-e.Bytes, 0)
	b.sum.Calls++
	c := b.byDType[e.Compute]
	if c == nil {
		c = &DTypeCount{DType: e.Compute}
		b.byDType[e.Compute] = c
	}
	c.Calls++
	if s.Calls == 1 {
		c.Sites++
	}
	if e.Changed {
		b.sum.Changed++
		s.Changed = true
	}
	if e.Phase == amp.PhaseForward {
		b.sum.Bytes += e.Bytes
		b.sum.BytesFP32 += inFloat32(e)
	}
	if d := dims(e); d != nil {
		s.Dims = cmp.Or(s.Dims, d)
		b.sum.TensorOps++
		if d.OK() {
			b.sum.TensorOK++
		}
	}
	b.flush(&e.Op)
	b.attach(s)
}

// flush forgets casts that were recorded for another op; by is the op that runs now.
func (b *tally) flush(by *string) {
	b.pending = slices.DeleteFunc(b.pending, func(e *amp.Event) bool { return by == nil || e.Cast.By != *by })
}

// attach adds the pending casts to a site.
func (b *tally) attach(s *siteTally) {
	for _, e := range b.pending {
		c := e.Cast
		name := clip(c.Name, maxName)
		k := slices.IndexFunc(s.Casts, func(x CastSite) bool {
			return x.Name == name && x.Operand == c.Operand && x.From == c.From && x.To == c.To && x.Format == c.Format
		})
		if k < 0 {
			if len(s.Casts) == maxCasts {
				continue
			}
			k = len(s.Casts)
			s.Casts = append(s.Casts, CastSite{Name: name, Operand: c.Operand, From: c.From, To: c.To, Format: c.Format})
		}
		x := &s.Casts[k]
		x.Count++
		x.Bytes += c.Bytes
		x.Lost += max(c.Lost, 0)
		x.Over += max(c.Over, 0)
		x.Each = max(x.Each, c.Bytes)
		x.Cached = x.Cached || c.Cached || c.Hit
		if c.Hit {
			x.Hits++
		}
	}
	b.pending = b.pending[:0]
}

// site finds or makes the site of a call.
func (b *tally) site(e *amp.Event) *siteTally {
	key := eventKey{phase: e.Phase, module: e.Module, op: e.Op, rule: e.Rule, file: e.File, cell: e.Cell, cellLine: e.CellLine, line: e.Line,
		compute: e.Compute, out: e.Out.DType, inputs: len(e.In)}
	if len(e.In) > len(key.in) {
		return b.slowSite(e)
	}
	for i, a := range e.In {
		key.in[i] = a.DType
	}
	s := b.quick[key]
	if s == nil {
		s = b.slowSite(e)
		b.quick[key] = s
	}
	return s
}

// slowSite is site by the texts that the figure shows.
func (b *tally) slowSite(e *amp.Event) *siteTally {
	rule := clip(e.Rule, maxRule)
	r, ok := b.rules[rule]
	if !ok {
		r = len(b.rule)
		b.rules[rule] = r
		b.rule = append(b.rule, rule)
	}
	var in strings.Builder
	for _, a := range e.In {
		in.WriteByte(byte(a.DType))
	}
	at := where(e)
	key := siteKey{e.Phase, clip(e.Module, maxName), clip(e.Op, maxName), at, in.String(), e.Compute, e.Out.DType, r}
	if e.Phase == amp.PhaseBackward {
		key.where = ""
	}
	s := b.index[key]
	if s != nil {
		return s
	}
	s = &siteTally{key: key, rank: len(b.sites), at: at, Site: Site{
		Phase: e.Phase, Module: key.module, Op: key.op, Class: clip(e.Class, 20), Rule: r, By: decidedBy(rule),
		Compute: e.Compute, Out: e.Out.DType, Shape: shapes(e), Where: key.where, Force: force(e),
	}}
	for _, a := range e.In[:min(len(e.In), maxInputs)] {
		s.In = append(s.In, a.DType)
	}
	b.index[key] = s
	b.sites = append(b.sites, s)
	return s
}

// data orders the sites and pairs backward with forward.
func (b *tally) data() *DecisionsData {
	d := &DecisionsData{Autocast: b.casts, Summary: b.sum, Rules: b.rule, Sites: []Site{}}
	d.Summary.Ops = []DTypeCount{}
	if t := b.trace; t != nil {
		d.Device, d.Note = clip(t.Device, maxName), clip(t.Note, maxRule)
		d.Steps, d.Events, d.Dropped = max(t.Steps, 0), len(t.Events), t.Dropped
	}
	d.Missing = b.missing()
	for i := range dtypeNames { // in their order
		if c := b.byDType[amp.DType(i)]; c != nil {
			d.Summary.Ops = append(d.Summary.Ops, *c)
		}
	}
	d.Summary.Sites = len(b.sites)
	b.fold()
	b.sort()
	format := b.format()
	for _, s := range b.sites {
		if s.Health = s.health.of(format); s.Health != nil {
			d.Format = format.String()
		}
		d.Sites = append(d.Sites, s.Site)
	}
	return d
}

// format is what health asks about: what autocast would store in, float16 where it was off.
func (b *tally) format() amp.Format {
	if len(b.casts) > 0 && b.casts[0] == amp.BFloat16 {
		return amp.FormatBF16
	}
	return amp.FormatFP16
}

// missing says why there is nothing to show.
func (b *tally) missing() string {
	switch {
	case b.trace == nil:
		return "No trace: nothing was recorded. Make the scope with amp.Record(amp.Decisions)."
	case len(b.sites) == 0 && b.trace.Level == "off":
		return "The recorder was off. Make the scope with amp.Record(amp.Decisions)."
	case len(b.sites) == 0:
		return "The trace is empty: no op ran in this scope or below it."
	}
	return ""
}

// sort puts each backward site behind the forward site whose gradient it is part of. A backward call says its module and
// maybe its line; when these leave one candidate it is the one, otherwise the module as a whole has to do.
func (b *tally) sort() {
	type place struct{ module, at string }
	byModule, byLine := map[string][]*siteTally{}, map[place][]*siteTally{}
	var forward []*siteTally
	for _, s := range b.sites {
		if s.Phase != amp.PhaseBackward {
			forward = append(forward, s)
		}
		if s.Phase == amp.PhaseForward {
			byModule[s.Module] = append(byModule[s.Module], s)
			byLine[place{s.Module, s.at}] = append(byLine[place{s.Module, s.at}], s)
		}
	}
	owned := map[*siteTally][]*siteTally{}
	var loose []*siteTally
	for _, s := range b.sites {
		if s.Phase != amp.PhaseBackward {
			continue
		}
		owners := byModule[s.Module]
		if len(owners) != 1 && s.at != "" {
			owners = byLine[place{s.Module, s.at}]
		}
		if len(owners) == 1 {
			owned[owners[0]] = append(owned[owners[0]], s)
		} else {
			loose = append(loose, s)
		}
	}
	sorted := make([]*siteTally, 0, len(b.sites))
	for _, s := range forward {
		sorted = append(sorted, s)
		at := len(sorted)
		for _, g := range owned[s] {
			g.Of = at
			sorted = append(sorted, g)
		}
	}
	b.sites = append(sorted, loose...)
}

// measured says whether any call has a duration.
func (b *tally) measured() bool {
	return slices.ContainsFunc(b.sites, func(s *siteTally) bool { return s.ns > 0 })
}

// meanNS is the mean duration of a call of each site.
func (b *tally) meanNS() []int64 {
	out := make([]int64, len(b.sites))
	for i, s := range b.sites {
		out[i] = s.ns / int64(max(s.Calls, 1))
	}
	return out
}

// inFloat32 is the size of an event's result if its float elements were float32.
func inFloat32(e *amp.Event) int64 {
	if !e.Out.DType.IsFloat() || e.Out.DType.Size() == 0 || e.Out.DType == amp.Float64 {
		return e.Bytes
	}
	return e.Bytes / int64(e.Out.DType.Size()) * 4
}

// dims returns the sizes of a matrix product computed in 16 bits, nil for other events.
func dims(e *amp.Event) *Dims {
	if e.Op != "linear" && e.Op != "matmul" || !e.Compute.IsHalf() || len(e.In) < 2 {
		return nil
	}
	a, out := e.In[0].Shape, e.Out.Shape
	if len(a) < 2 || len(out) < 2 {
		return nil
	}
	d := &Dims{M: out[len(out)-2], K: a[len(a)-1], N: out[len(out)-1]}
	if e.Op == "linear" { // leading dimensions are one batch
		d.M = 1
		for _, n := range out[:len(out)-1] {
			d.M *= n
		}
	}
	return d
}

// shapes writes the shapes of a call: "512×8 · 16×8 → 512×16".
func shapes(e *amp.Event) string {
	var in []string
	for _, a := range e.In[:min(len(e.In), maxInputs)] {
		in = append(in, shape(a.Shape))
	}
	return clip(strings.Join(in, " · ")+" → "+shape(e.Out.Shape), maxName)
}

// shape writes "512×8", "scalar" for no dimension.
func shape(s []int) string {
	if len(s) == 0 {
		return "scalar"
	}
	var b strings.Builder
	for i, n := range s[:min(len(s), maxInputs)] {
		if i > 0 {
			b.WriteString("×")
		}
		b.WriteString(strconv.Itoa(n))
	}
	return b.String()
}

// force returns the option that would take the op out of 16 bits.
func force(e *amp.Event) string {
	if e.Phase != amp.PhaseForward || e.Autocast == amp.NoDType || !e.Compute.IsHalf() {
		return ""
	}
	return fmt.Sprintf("amp.Force(%s, amp.FP32)", strconv.Quote(clip(e.Op, maxName)))
}
