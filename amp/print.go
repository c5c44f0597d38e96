package amp

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Of tensors with more than printWhole elements, String shows printEdge of each end of every dimension.
const (
	printWhole = 200
	printEdge  = 3
)

// String returns the values with four significant digits, the dtype and the shape, for fmt and notebooks: large tensors are cut to
// the ends of each dimension, and one whose memory was returned says so instead, as does one that a captured step has not computed.
//
//	[[     1,   -2.5],
//	 [0.0625,      0]] float16 [2 2]
func (t *Tensor) String() string {
	switch {
	case t == nil:
		return "nil tensor"
	case t.st == nil:
		return fmt.Sprintf("freed tensor %s%v %v", quoted(t.name), t.dt, t.shape)
	}
	if why := t.unread(); why != "" {
		return fmt.Sprintf("%s %s%v %v", why, quoted(t.name), t.dt, t.shape)
	}
	p := printer{t: t.onHost("String"), edge: math.MaxInt}
	if t.Len() > printWhole || t.rows() > printWhole {
		p.edge = printEdge
	}
	p.walk(0, p.t.off, func(off int) { p.width = max(p.width, len(p.text(off))) })
	p.write(0, p.t.off)
	fmt.Fprintf(&p.out, " %s%v %v", quoted(t.name), t.dt, t.shape)
	if t.RequiresGrad() {
		p.out.WriteString(", wants a gradient")
	}
	return p.out.String()
}

// rows is the number of brackets that the elements would stand between: a tensor without elements may have many. It stops counting where
// they are too many to print.
func (t *Tensor) rows() int {
	n := 1
	for _, d := range t.shape {
		if n > printWhole || d == 0 {
			return n
		}
		n *= min(d, printWhole+1)
	}
	return 0 // there are elements, which decide
}

// A printer writes one tensor.
type printer struct {
	t     *Tensor
	edge  int // elements shown of each end of a dimension
	width int // of the widest element
	out   strings.Builder
}

func (p *printer) text(off int) string {
	switch v := p.t.at(off); {
	case p.t.dt == Bool:
		return strconv.FormatBool(v != 0)
	case p.t.dt == Int64:
		return strconv.FormatInt(elements[int64](p.t)[off], 10)
	default:
		return strconv.FormatFloat(v, 'g', 4, 64)
	}
}

// hidden says whether element i of n is left out.
func (p *printer) hidden(i, n int) bool { return n > 2*p.edge && i >= p.edge && i < n-p.edge }

// walk visits the elements that are shown.
func (p *printer) walk(d, off int, visit func(off int)) {
	if d == len(p.t.shape) {
		visit(off)
		return
	}
	for i, n := 0, p.t.shape[d]; i < n; i++ {
		if p.hidden(i, n) {
			i = n - p.edge
		}
		p.walk(d+1, off+i*p.t.strides[d], visit)
	}
}

// write prints dimension d: the last one in a line, the others line by line.
func (p *printer) write(d, off int) {
	if d == len(p.t.shape) {
		fmt.Fprintf(&p.out, "%*s", p.width, p.text(off))
		return
	}
	between := ", "
	if rank := len(p.t.shape); d < rank-1 {
		between = ",\n" + strings.Repeat("\n", min(1, rank-2-d)) + strings.Repeat(" ", d+1)
	}
	p.out.WriteString("[")
	for i, n := 0, p.t.shape[d]; i < n; i++ {
		if i > 0 {
			p.out.WriteString(between)
		}
		if p.hidden(i, n) {
			p.out.WriteString("…" + between)
			i = n - p.edge
		}
		p.write(d+1, off+i*p.t.strides[d])
	}
	p.out.WriteString("]")
}
