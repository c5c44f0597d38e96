package widgets

import (
	"fmt"
	"slices"
	"strings"
)

// policyText draws the op table for a terminal: the names by class, what is forced, and what the other lists have otherwise.
func (f *Figure) policyText() string {
	d := f.Policy
	var b strings.Builder
	fmt.Fprintf(&b, "%s · %s\n", f.Title, ListsName(d.Lists))
	for _, l := range wrap(d.Sentence, 100) {
		line(&b, l)
	}
	if d.Missing != "" {
		return b.String()
	}
	for _, x := range d.Forced {
		line(&b, fmt.Sprintf("! %s is forced: %s → %s", x.Op, x.From, x.To))
	}
	for _, c := range d.Classes {
		b.WriteString("\n")
		line(&b, fmt.Sprintf("%s · %s · %s", c.Class, plural(c.Ops, "op"), c.Means))
		names(&b, d.Ops, func(o *PolicyOp) bool { return !o.Part && o.On(d.Lists) == c.Class })
	}
	for _, lists := range []string{"cuda", "cpu", "apex"} {
		if lists != d.Lists {
			d.otherwise(&b, lists)
		}
	}
	if n := d.parts(); n > 0 {
		b.WriteString("\n")
		line(&b, fmt.Sprintf("and %s that ops, gradients and updates are made of", plural(n, "row")))
	}
	if d.More > 0 {
		line(&b, "… and "+plural(d.More, "more op"))
	}
	return b.String()
}

// parts is the number of rows that programs do not call.
func (d *PolicyData) parts() (n int) {
	for _, o := range d.Ops {
		if o.Part {
			n++
		}
	}
	return n
}

// otherwise lists the ops whose class is another on other lists.
func (d *PolicyData) otherwise(b *strings.Builder, lists string) {
	type move struct{ from, to string }
	var moves []move
	of := func(o *PolicyOp) move { return move{o.On(d.Lists), o.On(lists)} }
	for i := range d.Ops {
		if m := of(&d.Ops[i]); !d.Ops[i].Part && m.from != m.to && !slices.Contains(moves, m) {
			moves = append(moves, m)
		}
	}
	if len(moves) > 0 {
		b.WriteString("\n")
		line(b, "otherwise on "+ListsName(lists))
	}
	for _, m := range moves {
		line(b, "  "+m.from+" → "+m.to)
		names(b, d.Ops, func(o *PolicyOp) bool { return !o.Part && of(o) == m })
	}
}

// names writes the names of ops in lines of a terminal's width.
func names(b *strings.Builder, ops []PolicyOp, take func(o *PolicyOp) bool) {
	var list []string
	for i := range ops {
		if take(&ops[i]) {
			list = append(list, ops[i].Name)
		}
	}
	for _, l := range wrap(strings.Join(list, ", "), 96) {
		line(b, "    "+l)
	}
}
