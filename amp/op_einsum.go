package amp

import (
	"slices"
	"strings"
)

// einsum: sums of products by Einstein's convention. The equation is read here and carried out in op_einsum_run.go.

var opEinsum *Op

func init() {
	opEinsum = define(Op{
		Name: "einsum", Doc: "sum of products of elements, named by subscripts", Args: []string{"first", "second", "third"}, Class: Lower, Why: whyGEMM, CUDA: "gemm",
		Composite: []string{"diagonal", "sum", "transpose", "reshape", "mul", "bmm"}, Parts: Apart,
	})
}

// A label names a dimension: letters 'A' … 'z' by their code, and the dimensions of an ellipsis by ellipsis + their place from the
// last, so that those of several operands meet as in broadcasting.
type label int

const ellipsis label = 1000

func (l label) String() string {
	if l >= ellipsis {
		return "..."
	}
	return string(rune(l))
}

// An equation is one that has been read: the labels of each operand and of the result.
type equation struct {
	in   [][]label
	out  []label
	size map[label]int // the larger of the sizes met, since 1 is broadcast
}

// readEquation reads subscripts for operands of these shapes.
func readEquation(text string, operands []*Tensor) *equation {
	bad := func(kind error, fix, format string, args ...any) {
		fail("einsum", kind, fix, "%q: "+format, append([]any{text}, args...)...)
	}
	left, right, explicit := strings.Cut(strings.ReplaceAll(text, " ", ""), "->")
	terms := strings.Split(left, ",")
	if len(terms) != len(operands) {
		bad(ErrArgument, `name each operand's dimensions, with a comma between operands: "ij,jk->ik"`, "%d terms for %d operands", len(terms), len(operands))
	}
	e := &equation{size: map[label]int{}}
	times, widest := map[label]int{}, 0
	for i, term := range terms {
		labels, dots := readTerm(term, bad)
		rank := len(operands[i].shape)
		extra := rank - len(labels)
		if dots < 0 && extra != 0 || extra < 0 {
			bad(ErrShape, `give one letter per dimension, or "..." for those without`, "term %q has %d letters, operand %d is %v", term, len(labels), i, operands[i].shape)
		}
		if dots >= 0 {
			labels = slices.Insert(labels, dots, ellipsisLabels(extra)...)
			widest = max(widest, extra)
		}
		e.measure(labels, operands[i].shape, i, bad)
		for _, l := range labels {
			times[l]++
		}
		e.in = append(e.in, labels)
	}
	if !explicit {
		e.out = append(ellipsisLabels(widest), once(times)...)
		return e
	}
	out, dots := readTerm(right, bad)
	for i, l := range out {
		switch {
		case times[l] == 0:
			bad(ErrArgument, "use letters of the operands in the result", "the result has %v, no operand does", l)
		case slices.Contains(out[:i], l):
			bad(ErrArgument, "use each letter once in the result", "the result has %v twice", l)
		}
	}
	if dots >= 0 {
		out = slices.Insert(out, dots, ellipsisLabels(widest)...)
	}
	e.out = out
	return e
}

// readTerm reads letters and where among them an ellipsis stands, -1 without one.
func readTerm(term string, bad func(kind error, fix, format string, args ...any)) (labels []label, dots int) {
	dots = -1
	for rest := term; rest != ""; {
		c := rest[0]
		switch {
		case c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z':
			labels = append(labels, label(c))
			rest = rest[1:]
		case strings.HasPrefix(rest, "...") && dots < 0:
			dots = len(labels)
			rest = rest[3:]
		default:
			bad(ErrArgument, `use letters, and "..." at most once per term`, "unexpected %q in %q", c, term)
		}
	}
	return labels, dots
}

func ellipsisLabels(n int) []label {
	out := make([]label, n)
	for i := range out {
		out[i] = ellipsis + label(n-1-i)
	}
	return out
}

// once returns the letters that were met one time, in alphabetical order, capitals first.
func once(times map[label]int) []label {
	var out []label
	for l, n := range times {
		if n == 1 && l < ellipsis {
			out = append(out, l)
		}
	}
	slices.Sort(out)
	return out
}

// measure notes the sizes of an operand's dimensions.
func (e *equation) measure(labels []label, shape []int, operand int, bad func(kind error, fix, format string, args ...any)) {
	own := map[label]int{}
	for d, l := range labels {
		n := shape[d]
		if m, ok := own[l]; ok && m != n {
			bad(ErrShape, "a letter used twice in a term takes a diagonal: make the sizes equal", "%v stands for %d and %d in operand %d", l, m, n, operand)
		}
		own[l] = n
		switch m, ok := e.size[l]; {
		case !ok || m == 1:
			e.size[l] = n
		case n != m && n != 1:
			bad(ErrShape, "make the sizes equal, or 1 where one is to be repeated", "%v is %d before and %d in operand %d", l, m, n, operand)
		}
	}
}

// Einsum returns the sum of products that an equation describes: "ij,jk->ik" is a matrix product. Each operand has a term with a letter
// per dimension; letters that the result lacks are summed over. A letter twice in a term takes the diagonal; "..." stands for any
// dimensions, which are broadcast; without "->" the result has the ellipsis and the letters that occur once, in alphabetical order.
// Operands are taken in order, from the left. In the lower dtype under autocast. It panics with ErrArgument for an equation that can't
// be read and with ErrShape for operands that do not fit it.
func Einsum(s *Scope, equation string, operands ...*Tensor) *Tensor {
	if len(operands) == 0 {
		fail("einsum", ErrArgument, "pass the tensors after the equation", "%q: no operand", equation)
	}
	for i, t := range operands {
		if t == nil {
			fail("einsum", ErrArgument, "pass tensors", "operand %d is nil", i)
		}
		t.live("einsum")
	}
	e := readEquation(equation, operands)
	s, in := s.enter(opEinsum, operands...)
	return e.run(s, in)
}

// labeled is a tensor with the names of its dimensions.
type labeled struct {
	t      *Tensor
	labels []label
}
