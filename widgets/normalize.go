package widgets

// A figure may come from anywhere: from a notebook that someone sent, or from a history that a program made up. What draws it
// relies on what normalize puts right: texts bounded, indexes within range, steps in order, counts not negative. Figures made
// from what amp records pass unchanged.

// maxCount is larger than any count of steps, calls or bytes that is meant, and small enough to add up.
const maxCount = 1 << 50

// clamp brings a count within bounds.
func clamp[T int | int64](n *T, low T) { *n = min(max(*n, low), maxCount) }

// normalize makes a figure safe to draw.
func (f *Figure) normalize() {
	f.Title, f.Alt = clip(f.Title, maxTitle), clip(f.Alt, maxAlt)
	switch {
	case f.Decisions != nil:
		f.Decisions.normalize()
	case f.Scale != nil:
		f.Scale.normalize()
	case f.Runs != nil:
		f.Runs.normalize()
	case f.Live != nil:
		f.Live.normalize()
	case f.Exponents != nil:
		f.Exponents.normalize()
	case f.Flow != nil:
		f.Flow.normalize()
	case f.Rounding != nil:
		f.Rounding.normalize()
	case f.Bits != nil:
		f.Bits.normalize(f)
	case f.Policy != nil:
		f.Policy.normalize()
	case f.Custom != nil:
		f.Custom.normalize(f)
	}
	if v := f.Volatile; v != nil {
		clamp(&v.WallNS, 0)
		clamp(&v.OverheadNS, 0)
		clamp(&v.LeftNS, 0)
		clamp(&v.Bytes, 0)
		clamp(&v.PeakBytes, 0)
		if !(v.Rate >= 0 && v.Rate <= 1e12) {
			v.Rate = 0
		}
		v.NS = v.NS[:min(len(v.NS), maxSites)]
		for i := range v.NS {
			clamp(&v.NS[i], 0)
		}
		v.Peaks = v.Peaks[:min(len(v.Peaks), maxRuns)]
		for i := range v.Peaks {
			clamp(&v.Peaks[i], 0)
		}
	}
}

func (d *DecisionsData) normalize() {
	d.Device, d.Note, d.Missing = clip(d.Device, maxName), clip(d.Note, maxRule), clip(d.Missing, maxRule)
	d.Format = clip(d.Format, 10)
	for _, n := range []*int{&d.Steps, &d.Events, &d.Dropped, &d.More} {
		clamp(n, 0)
	}
	d.Autocast = d.Autocast[:min(len(d.Autocast), len(dtypeNames))]
	d.Summary.normalize()
	if len(d.Sites) > maxSites {
		d.More += len(d.Sites) - maxSites
		d.Sites = d.Sites[:maxSites]
	}
	d.Rules = d.Rules[:min(len(d.Rules), maxSites)]
	for i := range d.Rules {
		d.Rules[i] = clip(d.Rules[i], maxRule)
	}
	for i := range d.Sites {
		s := &d.Sites[i]
		s.normalize()
		if s.Of < 0 || s.Of > i { // a gradient stands behind its forward site
			s.Of = 0
		}
	}
}

func (u *Summary) normalize() {
	for _, n := range []*int{&u.Calls, &u.Changed, &u.Casts, &u.CastHits, &u.TensorOps, &u.TensorOK, &u.Sites} {
		clamp(n, 0)
	}
	for _, n := range []*int64{&u.CastBytes, &u.Bytes, &u.BytesFP32} {
		clamp(n, 0)
	}
	u.Ops = u.Ops[:min(len(u.Ops), len(dtypeNames))]
	u.Calls = 0
	for i := range u.Ops {
		clamp(&u.Ops[i].Calls, 0)
		clamp(&u.Ops[i].Sites, 0)
		u.Calls += u.Ops[i].Calls
	}
}

func (s *Site) normalize() {
	s.Phase, s.Module, s.Op, s.Class = clip(s.Phase, 20), clip(s.Module, maxName), clip(s.Op, maxName), clip(s.Class, 20)
	s.Shape, s.Where, s.Force = clip(s.Shape, maxName), clip(s.Where, maxName), clip(s.Force, 2*maxName)
	clamp(&s.Modules, 0)
	clamp(&s.Calls, 0)
	clamp(&s.Bytes, 0)
	clamp(&s.Saved, 0)
	s.By = clip(s.By, 20)
	s.Health.normalize()
	s.In = s.In[:min(len(s.In), maxInputs)]
	s.Casts = s.Casts[:min(len(s.Casts), maxCasts)]
	for i := range s.Casts {
		c := &s.Casts[i]
		c.Name = clip(c.Name, maxName)
		clamp(&c.Operand, 0)
		clamp(&c.Count, 0)
		clamp(&c.Hits, 0)
		c.Hits = min(c.Hits, c.Count)
		clamp(&c.Bytes, 0)
		clamp(&c.Each, 0)
		clamp(&c.Lost, 0)
		clamp(&c.Over, 0)
	}
}

func (h *Health) normalize() {
	if h == nil {
		return
	}
	for _, n := range []*int{&h.Looked, &h.N, &h.Zeros, &h.Infs, &h.NaNs} {
		clamp(n, 0)
	}
	h.Mid = min(max(h.Mid, -1200), 1100)
	h.Bins = h.Bins[:min(len(h.Bins), maxBins)]
	normalizeCounts(&h.Low, &h.Bins)
	h.Fate.normalize()
}

func (d *ScaleData) normalize() {
	d.Verdict, d.Sentence, d.Note = clip(d.Verdict, 20), clip(d.Sentence, maxAlt), clip(d.Note, maxRule)
	for _, n := range []*int{&d.GrowthInterval, &d.Nominal, &d.Skipped, &d.Effective, &d.NextGrowth, &d.Since} {
		clamp(n, 0)
	}
	clamp(&d.Settled, -1)
	d.Points = ordered(d.Points[:min(len(d.Points), maxPoints)], func(p *ScalePoint) (int, int) { return p.Step, p.Step })
	d.Skips = ordered(d.Skips[:min(len(d.Skips), maxSkips)], func(r *SkipRun) (int, int) { return r.First, r.Last })
	d.Culprits = d.Culprits[:min(len(d.Culprits), maxCulprits)]
	d.Warnings = d.Warnings[:min(len(d.Warnings), 3)]
	d.Fixes = d.Fixes[:min(len(d.Fixes), 5)]
	for i := range d.Fixes {
		x := &d.Fixes[i]
		x.Do, x.Why, x.Code = clip(x.Do, maxRule), clip(x.Why, maxRule), clip(x.Code, maxRule)
	}
	for i := range d.Warnings {
		d.Warnings[i] = clip(d.Warnings[i], maxRule)
	}
	for i := range d.Skips {
		s := &d.Skips[i]
		clamp(&s.Count, 1)
		s.Culprit, s.Value = clip(s.Culprit, maxName), clip(s.Value, 8)
	}
	for i := range d.Culprits {
		clamp(&d.Culprits[i].Count, 0)
		d.Culprits[i].Name = clip(d.Culprits[i].Name, maxName)
	}
}

// ordered drops what does not begin behind the end of the one before it.
func ordered[T any](in []T, span func(*T) (first, last int)) []T {
	out, end := in[:0], -1
	for i := range in {
		first, last := span(&in[i])
		if first > end && last >= first && last <= maxCount {
			out = append(out, in[i])
			end = last
		}
	}
	return out
}

func (d *ExponentsData) normalize() {
	d.Missing, d.Sentence, d.Note = clip(d.Missing, maxRule), clip(d.Sentence, maxAlt), clip(d.Note, maxRule)
	for _, n := range []*int{&d.Steps, &d.Results, &d.N, &d.Zeros, &d.Halves, &d.Infs, &d.NaNs, &d.Now, &d.BadNow, &d.More} {
		clamp(n, 0)
	}
	for _, s := range []*Number{&d.Scale, &d.Best} {
		if !(*s > 0) || !s.finite() {
			*s = 1
		}
	}
	for _, s := range []*Number{&d.Below, &d.Above} {
		if !(*s > 0) || !s.finite() {
			*s = 0
		}
	}
	normalizeCounts(&d.Low, &d.Counts)
	for _, f := range []*Fate{&d.Unscaled, &d.Scaled, &d.BFloat16} {
		f.normalize()
	}
	if len(d.Modules) > maxModules {
		d.More += len(d.Modules) - maxModules
		d.Modules = d.Modules[:maxModules]
	}
	for i := range d.Modules {
		m := &d.Modules[i]
		m.Module = clip(m.Module, maxName)
		clamp(&m.N, 0)
		clamp(&m.Zeros, 0)
		m.Unscaled.normalize()
		m.Scaled.normalize()
		normalizeCounts(&m.Low, &m.Counts)
	}
	d.Formats = d.Formats[:min(len(d.Formats), len(whatIf))]
	for i := range d.Formats {
		r := &d.Formats[i]
		r.Name = clip(r.Name, 20)
		for _, e := range []*int{&r.Zero, &r.Normal, &r.Top} {
			*e = min(max(*e, -1200), 1200)
		}
		if !(r.Best > 0) || !r.Best.finite() {
			r.Best = 1
		}
		r.Plain.normalize()
		r.Scaled.normalize()
	}
	d.Ops = d.Ops[:min(len(d.Ops), maxOps)]
	for i := range d.Ops {
		o := &d.Ops[i]
		o.Module, o.Op = clip(o.Module, maxName), clip(o.Op, maxName)
		clamp(&o.N, 0)
		clamp(&o.Zeros, 0)
		normalizeCounts(&o.Low, &o.Counts)
	}
}

// normalizeCounts bounds a histogram by exponents.
func normalizeCounts(low *int, counts *[]int) {
	*low = min(max(*low, -1200), 1100)
	*counts = (*counts)[:min(len(*counts), maxExponents)]
	for i := range *counts {
		clamp(&(*counts)[i], 0)
	}
}

func (f *Fate) normalize() {
	for _, n := range []*int{&f.Zero, &f.Subnormal, &f.Normal, &f.Overflow} {
		clamp(n, 0)
	}
}

func (d *CompareData) normalize() {
	d.Missing, d.Answer = clip(d.Missing, maxRule), clip(d.Answer, maxAlt)
	clamp(&d.More, 0)
	d.Runs = d.Runs[:min(len(d.Runs), maxRuns)]
	for i := range d.Runs {
		r := &d.Runs[i]
		r.Name = clip(r.Name, maxName)
		for _, n := range []*int{&r.Steps, &r.Skipped, &r.Behind, &r.WorstAt, &r.Common, &r.OpsMore} {
			clamp(n, 0)
		}
		clamp(&r.Diverged, -1)
		r.Verdict, r.OpsNote = clip(r.Verdict, 20), clip(r.OpsNote, maxRule)
		r.Ops = r.Ops[:min(len(r.Ops), maxOpErrors)]
		for k := range r.Ops {
			o := &r.Ops[k]
			o.Phase, o.Module, o.Op = clip(o.Phase, 20), clip(o.Module, maxName), clip(o.Op, maxName)
			o.DType = knownDType(o.DType)
			clamp(&o.Calls, 0)
			o.Error = max(o.Error, 0)
		}
		r.Loss = r.Loss[:min(len(r.Loss), maxLossPoints)]
		if len(r.At) > 0 {
			r.At = ordered(r.At, func(k *int) (int, int) { return *k, *k })
			n := min(len(r.At), len(r.Loss))
			r.At, r.Loss = r.At[:n], r.Loss[:n]
		}
		r.Diff = r.Diff[:min(len(r.Diff), len(r.Loss))]
		r.Steps = max(r.Steps, r.end())
	}
	if len(d.Runs) == 0 && d.Missing == "" {
		d.Missing = "No runs to compare."
	}
}

// end is one more than the last stored step.
func (r *RunRow) end() int {
	if len(r.Loss) == 0 {
		return 0
	}
	return r.Step(len(r.Loss)-1) + 1
}
