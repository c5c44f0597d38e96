package optim

import (
	"encoding/json"
	"fmt"
	"strings"
)

// What schedules print: their name in torch, their settings by torch's names, and where they stand.

// String is one line, such as StepLR(step_size=10, gamma=0.5; step 0, lr 0.1).
func (s *Schedule) String() string {
	if s == nil || s.opt == nil {
		return "an empty Schedule"
	}
	return line(s.rule.kind(), s.rule, s.epoch, s.last)
}

// String is one line; see Schedule.String.
func (p *Plateau) String() string {
	if p == nil || p.opt == nil {
		return "an empty Plateau"
	}
	shown := p.set.finite()
	text := line("ReduceLROnPlateau", shown, -1, p.LastLR())
	if shown.Best != p.set.Best { // an infinite one, which JSON can't say
		text = strings.Replace(text, fmt.Sprintf("best=%s", encode(*shown.Best)), fmt.Sprintf("best=%v", *p.set.Best), 1)
	}
	return text
}

// String lists the parts.
func (q *Sequence) String() string {
	if q == nil || len(q.parts) == 0 {
		return "an empty Sequence"
	}
	return fmt.Sprintf("SequentialLR(milestones=%v; step %d, lr %s)", q.milestones, q.epoch, shownRates(q.last)) + listed(q.parts)
}

// String lists the parts.
func (c *Chain) String() string {
	if c == nil || len(c.parts) == 0 {
		return "an empty Chain"
	}
	return fmt.Sprintf("ChainedScheduler(lr %s)", shownRates(c.LastLR())) + listed(c.parts)
}

// String is that of the scheduler it moves.
func (a *Applied) String() string {
	if a == nil || a.Scheduler == nil {
		return "an empty Applied"
	}
	return fmt.Sprintf("CountApplied(%v)", a.Scheduler)
}

// line is a schedule of one rule; settings are what its state says, in the order of its fields.
func line(kind string, settings any, step int, last []float64) string {
	var parts []string
	d := json.NewDecoder(strings.NewReader(string(encode(settings))))
	if _, err := d.Token(); err == nil { // the opening brace
		for d.More() {
			key, err := d.Token()
			var value json.RawMessage
			if err != nil || d.Decode(&value) != nil {
				break
			}
			parts = append(parts, fmt.Sprintf("%v=%s", key, value))
		}
	}
	at := "lr " + shownRates(last)
	if step >= 0 {
		at = fmt.Sprintf("step %d, %s", step, at)
	}
	if len(parts) == 0 {
		return kind + "(" + at + ")"
	}
	return kind + "(" + strings.Join(parts, ", ") + "; " + at + ")"
}

// shownRates are a number for one group, a list for several.
func shownRates(lr []float64) string {
	if len(lr) == 1 {
		return fmt.Sprint(lr[0])
	}
	return fmt.Sprint(lr)
}

// listed are the parts of a schedule of several, a line each.
func listed(parts []Scheduler) string {
	var b strings.Builder
	for i, p := range parts {
		b.WriteString("\n  (" + fmt.Sprint(i) + "): " + strings.ReplaceAll(fmt.Sprint(p), "\n", "\n  "))
	}
	return b.String()
}
