package amp

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"
)

var phaseNames = [...]string{PhaseForward, PhaseBackward, PhaseOptimizer}

// trace turns what was recorded into plain data: program counters become functions, lines and notebook cells.
func (r *root) trace() *Trace {
	t := &Trace{Schema: TraceSchema, Level: Off.String(), Device: r.dev.Name(), Note: r.note, Events: []Event{}}
	r.mu.Lock()
	t.Steps = r.steps
	r.mu.Unlock()
	rec := r.rec
	if rec == nil {
		return t
	}
	rec.mu.Lock()
	defer rec.mu.Unlock()
	t.Level = rec.level.String()
	t.Dropped = rec.dropped
	t.WallNS = int64(time.Since(rec.start))
	t.OverheadNS = rec.spent.Load()
	src := newSources()
	for _, c := range rec.chunks {
		askClocks(c, true)
		for i := range c {
			t.Events = append(t.Events, c[i].export(src))
		}
	}
	return t
}

func (e *rawEvent) export(src *sources) Event {
	x := Event{
		Seq: e.seq, Step: e.step, Phase: phaseNames[e.phase], Op: e.op.Name, Module: e.path, Class: e.op.Class.String(),
		Out: e.out.arg(), Compute: e.compute, Autocast: e.autocast, Changed: e.changed, NS: e.ns, Health: numbers(e.health), Gradient: e.gradient,
	}
	for i := range e.nin {
		x.In = append(x.In, e.in[i].arg())
	}
	x.Bytes = size(x.Out)
	by := ""
	if e.by != nil {
		by = e.by.Name
	}
	if e.cast {
		x.Cast = &Cast{From: e.in[0].dt, To: e.out.dt, By: by, Operand: int(e.operand), Name: e.name, Cached: e.cached}
		if e.rule.casts() {
			x.Cast.Format = e.format.String()
		}
		if before := numbers(e.before); before != nil && x.Health != nil {
			x.Cast.Lost, x.Cast.Over = x.Health.Zeros-before.Zeros, x.Health.Infs-before.Infs
		}
		if e.name == "" && e.by != nil {
			x.Cast.Name = e.by.argName(int(e.operand))
		}
		if e.rule == ruleCastHit {
			x.Cast.Hit, x.Bytes = true, 0
		} else {
			x.Cast.Bytes = size(x.In[0]) + x.Bytes
		}
	}
	dt := e.autocast
	if e.cast {
		dt = e.out.dt
	}
	x.Rule = sentence(e.rule, e.op, dt, by)
	src.place(&x, e.pc)
	return x
}

// numbers returns what was counted, after waiting for it; nil without any.
func numbers(c Counting) *Exponents {
	if c == nil {
		return nil
	}
	return c.Exponents()
}

func size(a Arg) int64 {
	n := int64(a.DType.Size())
	for _, d := range a.Shape {
		n *= int64(d)
	}
	return n
}

// sentence words a rule for one op.
func sentence(r rule, o *Op, dt DType, by string) string {
	if o == opToDevice {
		return "copied to another device as it is: the program asked for it, an op had it beside tensors of that device, or a gradient goes back"
	}
	text := strings.NewReplacer("%w", o.Why, "%b", by, "%t", dt.String()).Replace(rules[r&^(ruleForced|ruleListed)])
	class, _, decided := strings.Cut(text, ":")
	switch {
	case !decided: // whatever the lists say
	case r&ruleForced != 0:
		return fmt.Sprintf("forced to %s by the scope (the table says %s: %s)", class, o.Class, o.Why)
	case r&ruleListed != 0:
		return fmt.Sprintf("%s on the scope's lists (the table says %s: %s)", class, o.Class, o.Why)
	}
	return text
}

// WriteJSON writes the trace in the schema that its Schema field names.
func (t *Trace) WriteJSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return e.Encode(t)
}

// ReadTrace reads what WriteJSON wrote and refuses another schema.
func ReadTrace(r io.Reader) (*Trace, error) {
	var t Trace
	if err := json.NewDecoder(r).Decode(&t); err != nil {
		return nil, fmt.Errorf("amp: reading a trace: %w", err)
	}
	if t.Schema != TraceSchema {
		return nil, fmt.Errorf("amp: this trace has schema %q, this version reads %q; write it again with the same version", t.Schema, TraceSchema)
	}
	return &t, nil
}
