package nn

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/halftone-ml/halftone/amp"
)

// ModelSummary says what a model is made of and what a forward pass costs; see Summary.
type ModelSummary struct {
	Rows       []SummaryRow
	Autocast   amp.DType // the scope's lower dtype, NoDType where autocast was off
	Parameters int       // trainable numbers, shared ones once
	Buffers    int       // numbers in buffers
	StateBytes int64     // memory of parameters and buffers
	FLOPs      int64     // of a forward pass
	Bytes      int64     // results of a forward pass
}

// A SummaryRow is one module: what it does itself, without the modules below it.
type SummaryRow struct {
	Module     string    // path, such as "h.0/self_attn"; "" for the model itself
	Depth      int       // modules above it
	Ops        []string  // ops it calls, each once, views left out
	Out        amp.Arg   // its last result, after those of the modules below it
	Compute    amp.DType // dtype its arithmetic ran in: that of the op with the most FLOPs
	Parameters int       // numbers in its parameters
	FLOPs      int64     // of its ops
	Bytes      int64     // results of its ops and casts of its inputs, without views and cached casts of weights
}

// Summary runs a model on an input as scope s says, with autocast if it is on there, and returns a table of its modules: dtype and
// shape of their results, parameters, FLOPs and the memory that results take, all of which training keeps at most until backward.
// It runs in evaluation mode without a graph and on a copy of the random stream, so that nothing is changed. It panics with
// amp.ErrArgument for a nil model.
//
// FLOPs are worked out from shapes: 2 per multiply-add of linear layers, matrix products, convolutions and attention (masked parts
// included), 5 per score for attention's softmax, 5 per element for softmax, 8 for norms, 1 per element of the larger side for other
// arithmetic and reductions, 0 for what only moves numbers.
func Summary(s *amp.Scope, model Module, input *amp.Tensor) *ModelSummary {
	need("Summary", model)
	trace := s.Observe(func(s *amp.Scope) { model.Forward(s.NoGrad().Eval(), input) })
	m := &ModelSummary{}
	if dt, on := s.AutocastDType(); on {
		m.Autocast = dt
	}
	root := &branch{row: &SummaryRow{}, most: -1}
	for _, e := range trace.Events {
		root.find(e.Module, e).record(e)
	}
	root.collect(m, 0, "")
	for _, t := range model.Parameters() {
		m.owner(t.Name()).Parameters += t.Len()
		m.Parameters += t.Len()
		m.StateBytes += t.Bytes()
	}
	for _, t := range Buffers(model) {
		m.Buffers += t.Len()
		m.StateBytes += t.Bytes()
	}
	return m
}

// A branch is a module in the tree of paths, in the order of first use.
type branch struct {
	name string
	row  *SummaryRow
	subs []*branch
	most int64   // FLOPs of the op that gave Compute
	last amp.Arg // the last result of its own or below it
}

// find returns the module that caused an event, and tells those above it of its result.
func (b *branch) find(path string, e amp.Event) *branch {
	if e.Cast == nil {
		b.last = e.Out
	}
	if path == "" {
		return b
	}
	name, rest, _ := strings.Cut(path, "/")
	for _, sub := range b.subs {
		if sub.name == name {
			return sub.find(rest, e)
		}
	}
	sub := &branch{name: name, row: &SummaryRow{}, most: -1}
	b.subs = append(b.subs, sub)
	return sub.find(rest, e)
}

// record adds one event to the module that caused it.
func (b *branch) record(e amp.Event) {
	r := b.row
	if e.Cast != nil {
		if !e.Cast.Hit && !e.Cast.Cached {
			r.Bytes += e.Bytes
		}
		return
	}
	r.Out = e.Out
	if row, ok := amp.LookupOp(e.Op); ok && row.View != nil {
		return
	}
	if !slices.Contains(r.Ops, e.Op) {
		r.Ops = append(r.Ops, e.Op)
	}
	n := flops(e)
	if n > b.most {
		b.most, r.Compute = n, e.Compute
	}
	r.FLOPs += n
	r.Bytes += e.Bytes
}

// collect lists the tree from the root down.
func (b *branch) collect(m *ModelSummary, depth int, path string) {
	b.row.Module, b.row.Depth = path, depth
	if b.row.Out.Shape == nil { // it only passes on what those below give
		b.row.Out = b.last
	}
	m.Rows = append(m.Rows, *b.row)
	m.FLOPs += b.row.FLOPs
	m.Bytes += b.row.Bytes
	for _, sub := range b.subs {
		below := sub.name
		if path != "" {
			below = path + "/" + sub.name
		}
		sub.collect(m, depth+1, below)
	}
}

// owner finds the module whose path begins a parameter's name: "h.0/linear1" for "h.0.linear1.weight".
func (m *ModelSummary) owner(name string) *SummaryRow {
	best := &m.Rows[0]
	for i := range m.Rows {
		r := &m.Rows[i]
		if prefix := strings.ReplaceAll(r.Module, "/", "."); len(r.Module) >= len(best.Module) && (prefix == "" || strings.HasPrefix(name, prefix+".")) {
			best = r
		}
	}
	return best
}

func size(shape []int) int64 {
	n := int64(1)
	for _, d := range shape {
		n *= int64(d)
	}
	return n
}

// still are the ops that only move or choose numbers.
var still = []string{"contiguous", "cat", "embedding", "gather", "where", "cast", "flip", "roll", "repeat", "repeat_interleave", "index_select", "one_hot", "masked_fill",
	"constant_pad_nd", "reflection_pad", "replication_pad", "circular_pad", "tril", "triu", "argmax", "argmin", "eq", "ne", "lt", "le", "gt", "ge", "copy_"}

// flops counts one event; see Summary.
func flops(e amp.Event) int64 {
	out := size(e.Out.Shape)
	dim := func(i, back int) int64 {
		if s := e.In[i].Shape; len(s) >= back {
			return int64(s[len(s)-back])
		}
		return 1
	}
	switch {
	case slices.Contains(still, e.Op) || len(e.In) == 0:
		return 0
	case e.Op == "linear" || e.Op == "matmul":
		n := 2 * out * dim(0, 1)
		if len(e.In) > 2 {
			n += out
		}
		return n
	case e.Op == "addmm" || e.Op == "baddbmm":
		return out * (2*dim(1, 1) + 2)
	case e.Op == "scaled_dot_product_attention":
		rows, keys := out/max(1, dim(2, 1)), dim(1, 2)
		return rows * keys * (2*dim(0, 1) + 2*dim(2, 1) + 5)
	case strings.HasPrefix(e.Op, "conv_transpose"):
		return 2 * size(e.In[0].Shape) * size(e.In[1].Shape[1:])
	case strings.HasPrefix(e.Op, "conv"):
		return 2 * out * size(e.In[1].Shape[1:])
	case e.Op == "softmax" || e.Op == "log_softmax":
		return 5 * out
	case strings.HasSuffix(e.Op, "_norm"):
		return 8 * out
	}
	return max(out, size(e.In[0].Shape))
}

// String returns the table as aligned text.
func (m *ModelSummary) String() string {
	lines := [][]string{{"Module", "Ops", "Output", "Runs in", "Parameters", "FLOPs", "Memory"}}
	for _, r := range m.Rows {
		name := strings.Repeat("  ", r.Depth) + r.Module[strings.LastIndexByte(r.Module, '/')+1:]
		if r.Depth == 0 {
			name = "(model)"
		}
		line := []string{name, strings.Join(r.Ops, " "), "", "", "", "", ""}
		if len(r.Ops) > 3 {
			line[1] = fmt.Sprintf("%s +%d", strings.Join(r.Ops[:3], " "), len(r.Ops)-3)
		}
		if r.Out.Shape != nil {
			line[2] = fmt.Sprint(r.Out.DType, " ", r.Out.Shape)
		}
		if len(r.Ops) > 0 {
			line[3], line[5], line[6] = r.Compute.String(), short(r.FLOPs, 1000, ""), short(r.Bytes, 1024, "B")
		}
		if r.Parameters > 0 {
			line[4] = grouped(r.Parameters)
		}
		lines = append(lines, line)
	}
	var b strings.Builder
	align(&b, lines, 4)
	where := "off"
	if m.Autocast != amp.NoDType {
		where = m.Autocast.String()
	}
	fmt.Fprintf(&b, "%s parameters", grouped(m.Parameters))
	if m.Buffers > 0 {
		fmt.Fprintf(&b, " and %s in buffers", grouped(m.Buffers))
	}
	fmt.Fprintf(&b, " (%s), %s FLOPs forward (2 per multiply-add), %s of results, autocast %s\n",
		short(m.StateBytes, 1024, "B"), short(m.FLOPs, 1000, ""), short(m.Bytes, 1024, "B"), where)
	return b.String()
}

// align writes columns of equal width, those from right on to the right, and a rule below the first line.
func align(b *strings.Builder, lines [][]string, right int) {
	width := make([]int, len(lines[0]))
	for _, line := range lines {
		for i, cell := range line {
			width[i] = max(width[i], utf8.RuneCountInString(cell))
		}
	}
	total := 2 * (len(width) - 1)
	for _, w := range width {
		total += w
	}
	rule := strings.Repeat("─", total) + "\n"
	for n, line := range lines {
		text := ""
		for i, cell := range line {
			pad := strings.Repeat(" ", width[i]-utf8.RuneCountInString(cell))
			if i > 0 {
				text += "  "
			}
			if i >= right {
				text += pad + cell
			} else {
				text += cell + pad
			}
		}
		b.WriteString(strings.TrimRight(text, " ") + "\n")
		if n == 0 || n == len(lines)-1 {
			b.WriteString(rule)
		}
	}
}

// grouped writes a number with commas between thousands.
func grouped(n int) string {
	text := fmt.Sprint(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

// short writes a number with a prefix: "1.57 M", "96.0 KiB".
func short(n, base int64, unit string) string {
	prefixes := []string{"", "K", "M", "G", "T", "P"}
	v, i := float64(n), 0
	for v >= float64(base) && i < len(prefixes)-1 {
		v /= float64(base)
		i++
	}
	prefix := prefixes[i]
	if base == 1024 && prefix != "" {
		prefix += "i"
	}
	switch {
	case i == 0:
		return strings.TrimRight(fmt.Sprintf("%d %s", n, unit), " ")
	case v < 10:
		return fmt.Sprintf("%.2f %s%s", v, prefix, unit)
	}
	return fmt.Sprintf("%.1f %s%s", v, prefix, unit)
}
