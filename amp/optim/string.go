package optim

import (
	"fmt"
	"slices"
	"strings"
)

// String lists the parameter groups with their settings, as torch prints an optimizer, and how much each group holds. It shows what the
// host knows and waits for no device.
func (o *base) String() string {
	if o.kind == nil {
		return "an empty optimizer"
	}
	var b strings.Builder
	b.WriteString(o.kind.name + " (\n")
	for i, g := range o.groups {
		fmt.Fprintf(&b, "Parameter Group %d", i)
		if g.Name != "" {
			fmt.Fprintf(&b, " %q", g.Name)
		}
		b.WriteString("\n")
		for _, line := range o.settingLines(g) {
			b.WriteString("    " + line + "\n")
		}
	}
	return b.String() + ")"
}

// settingLines are the settings of a group in the order of their names, and its parameters.
func (o *base) settingLines(g *Group) []string {
	var out []string
	for _, n := range numbers {
		if o.kind.takes(n.option) {
			out = append(out, fmt.Sprintf("%s: %v", n.key, *n.of(&g.set)))
		}
	}
	if g.initial != nil {
		out = append(out, fmt.Sprintf("%s: %v", initialLR, *g.initial))
	}
	for _, f := range flags {
		if o.kind.takes(f.option) {
			out = append(out, fmt.Sprintf("%s: %v", f.key, f.of(&g.set)))
		}
	}
	out = append(out, fmt.Sprintf("fused: %v", o.Fused()))
	slices.Sort(out)
	size := 0
	for _, p := range g.Params {
		size += p.Len()
	}
	return append(out, fmt.Sprintf("params: %d (%d numbers)", len(g.Params), size))
}

// String is one line: the group's name, its learning rate, and how much it holds.
func (g *Group) String() string {
	if g == nil {
		return "Group(nil)"
	}
	name, numbers := "", 0
	if g.Name != "" {
		name = fmt.Sprintf("%q, ", g.Name)
	}
	for _, p := range g.Params {
		if p != nil {
			numbers += p.Len()
		}
	}
	return fmt.Sprintf("Group(%slr=%v, params: %d (%d numbers))", name, g.set.LR, len(g.Params), numbers)
}
