package main

import (
	"fmt"
	"slices"
	"strings"
)

// A line is a program over the elements of several lines at once: one pass of a softmax or a norm. Lines are float32 or float64 in
// memory; the arithmetic is float64. Sums have lineLanes lanes, element i going to lane i mod lineLanes, on every processor, so that
// the two vector forms and the Go form give the same bits.
type line struct {
	name, doc string
	build     func(l *lineProg)
}

const lineLanes = 16

// A lineProg is a prog and what becomes of its values.
type lineProg struct {
	prog
	outs []lineOut
}

type outKind int

const (
	outF32 outKind = iota // rounded, into a float32 line
	outF64                // into a float64 line
	outAdd                // added to a float64 line
	outSum                // added to a lane
	outMax                // the lane's, if larger than it
)

type lineOut struct {
	v    val
	kind outKind
	k    int // number of the line or of the sum
}

func (l *lineProg) x32(k int) val               { return l.emit(ins{op: opLine32, n: k}) }
func (l *lineProg) x64(k int) val               { return l.emit(ins{op: opLine64, n: k}) }
func (l *lineProg) arg(k int) val               { return l.emit(ins{op: opArg, n: k}) }
func (l *lineProg) put(v val, o outKind, k int) { l.outs = append(l.outs, lineOut{v, o, k}) }

// The layout of cpu.Line.
const (
	lines32, lines64, lineArgs, lineSums = 6, 3, 4, 2

	at64  = 24 * lines32
	atArg = at64 + 24*lines64
	atSum = atArg + 8*lineArgs
)

var linePointers = []string{"SI", "DI", "R9", "R10", "R11", "R12", "BX", "DX", "R13"} // float32 lines, then float64 ones

func (o lineOut) pointer() string {
	if o.kind == outF32 {
		return linePointers[o.k]
	}
	return linePointers[lines32+o.k]
}

// pointersUsed returns which lines a program touches, by their place in linePointers.
func (l *lineProg) pointersUsed() []int {
	var used []int
	for _, i := range l.ins {
		switch i.op {
		case opLine32:
			used = append(used, i.n)
		case opLine64:
			used = append(used, lines32+i.n)
		}
	}
	for _, o := range l.outs {
		switch o.kind {
		case outF32:
			used = append(used, o.k)
		case outF64, outAdd:
			used = append(used, lines32+o.k)
		}
	}
	slices.Sort(used)
	return slices.Compact(used)
}

func (l *lineProg) sums() int {
	n := 0
	for _, o := range l.outs {
		if o.kind == outSum || o.kind == outMax {
			n = max(n, o.k+1)
		}
	}
	return n
}

// lineVectors writes the vector forms of all lines.
func lineVectors(f *asmFile) {
	var consts []uint64
	for _, ln := range lines {
		for _, reg := range []string{"Z", "Y"} {
			f.lineFunc(ln, reg, &consts)
		}
	}
	f.constants(consts)
}

// A lineWriter writes one vector form.
type lineWriter struct {
	lanes
	l     *lineProg
	count int // elements of a register
	sums  [lineSums][]string
	args  map[int]string
}

func (f *asmFile) lineFunc(ln line, reg string, consts *[]uint64) {
	l := &lineProg{}
	ln.build(l)
	w := &lineWriter{l: l, count: 8, args: map[int]string{}}
	w.lanes = lanes{f: f, p: &l.prog, reg: reg, consts: consts}
	regs := 32
	if reg == "Y" {
		regs, w.count = 16, 4
	}
	for i := range regs {
		w.free = append(w.free, vec(reg, i))
	}
	f.fn(ln.name+reg, "does blocks of 16 elements of "+ln.name+".", param{"blocks", "int", "CX"}, param{"io", "*Line", "AX"})
	f.op("LEAQ", "mathConsts<>(SB)", "R8")
	used := l.pointersUsed()
	for _, k := range used {
		f.op("MOVQ", at(24*k, "AX"), linePointers[k])
	}
	w.open()
	f.op("PCALIGN", "$32")
	f.label("loop")
	for g := range lineLanes / w.count {
		w.group(g)
	}
	for _, k := range used {
		elem := 4
		if k >= lines32 {
			elem = 8
		}
		f.op("ADDQ", imm(elem*lineLanes), linePointers[k])
	}
	f.op("DECQ", "CX")
	f.op("JNZ", "loop")
	for k := range l.sums() {
		for g, r := range w.sums[k] {
			f.op("VMOVUPD", r, at(w.sumAt(k, g), "AX"))
		}
	}
	f.ret()
}

func (w *lineWriter) sumAt(k, g int) int { return atSum + 8*lineLanes*k + 8*w.count*g }

// open brings arguments and sums into registers that stay theirs.
func (w *lineWriter) open() {
	for _, i := range w.l.ins {
		if i.op == opArg && w.args[i.n] == "" {
			w.args[i.n] = w.take()
			w.f.op("VBROADCASTSD", at(atArg+8*i.n, "AX"), w.args[i.n])
		}
	}
	for k := range w.l.sums() {
		for g := range lineLanes / w.count {
			r := w.take()
			w.f.op("VMOVUPD", at(w.sumAt(k, g), "AX"), r)
			w.sums[k] = append(w.sums[k], r)
		}
	}
}

// group writes the program for the g-th register full of a block.
func (w *lineWriter) group(g int) {
	p := w.p
	w.where, w.last, w.masks = make([]string, len(p.ins)), p.lastUse(), nil
	w.last[len(p.ins)-1] = 0
	for i := 7; i > 0; i-- {
		w.masks = append(w.masks, vec("K", i))
	}
	free := slices.Clone(w.free)
	for v, i := range p.ins {
		switch i.op {
		case opArg:
			w.where[v], w.last[v] = w.args[i.n], len(p.ins)
			continue
		case opLine32:
			w.where[v] = w.take()
			w.f.op("VCVTPS2PD", at(4*w.count*g, linePointers[i.n]), w.where[v])
		case opLine64:
			w.where[v] = w.take()
			w.f.op("VMOVUPD", at(8*w.count*g, linePointers[lines32+i.n]), w.where[v])
		case opConst:
			continue
		default:
			w.instruction(val(v), false)
		}
		for _, o := range w.l.outs {
			if o.v == val(v) {
				w.output(o, g)
			}
		}
		w.release(v, []val{val(v)})
	}
	w.free = free
}

func (w *lineWriter) output(o lineOut, g int) {
	r := w.where[o.v]
	switch o.kind {
	case outF32:
		half := map[string]string{"Z": "Y", "Y": "X"}[w.reg]
		t := w.take()
		w.f.op(map[string]string{"Z": "VCVTPD2PS", "Y": "VCVTPD2PSY"}[w.reg], r, half+t[1:])
		w.f.op("VMOVUPS", half+t[1:], at(4*w.count*g, o.pointer()))
		w.free = append(w.free, t)
	case outF64:
		w.f.op("VMOVUPD", r, at(8*w.count*g, o.pointer()))
	case outAdd:
		t := w.take()
		w.f.op("VADDPD", at(8*w.count*g, o.pointer()), r, t)
		w.f.op("VMOVUPD", t, at(8*w.count*g, o.pointer()))
		w.free = append(w.free, t)
	case outSum:
		s := w.sums[o.k][g]
		w.f.op("VADDPD", r, s, s)
	case outMax:
		s := w.sums[o.k][g]
		w.f.op("VMAXPD", s, r, s) // the lane where neither is larger or one is NaN
	}
}

// goLine writes the line as a Go function that does elements from lo to n.
func goLine(ln line) string {
	l := &lineProg{}
	ln.build(l)
	var b strings.Builder
	fmt.Fprintf(&b, "\n// %sGo %s It does elements lo to n.\nfunc %sGo(lo, n int, io *Line) {\n", ln.name, ln.doc, ln.name)
	for _, k := range l.pointersUsed() {
		if k < lines32 {
			fmt.Fprintf(&b, "\tx%d := io.F32[%d][:n]\n", k, k)
		} else {
			fmt.Fprintf(&b, "\ty%d := io.F64[%d][:n]\n", k-lines32, k-lines32)
		}
	}
	seen := map[int]bool{}
	for _, i := range l.ins {
		if i.op == opArg && !seen[i.n] {
			seen[i.n] = true
			fmt.Fprintf(&b, "\ta%d := io.Arg[%d]\n", i.n, i.n)
		}
	}
	b.WriteString("\tfor i := lo; i < n; i++ {\n")
	l.goBody(&b, "\t\t", func(at int) {
		for _, o := range l.outs {
			if int(o.v) == at {
				b.WriteString("\t\t" + o.goText(l.goArg(o.v)) + "\n")
			}
		}
	})
	b.WriteString("\t}\n}\n")
	return b.String()
}

func (o lineOut) goText(v string) string {
	lane := fmt.Sprintf("io.Acc[%d][i%%%d]", o.k, lineLanes)
	switch o.kind {
	case outF32:
		return fmt.Sprintf("x%d[i] = float32(%s)", o.k, v)
	case outF64:
		return fmt.Sprintf("y%d[i] = %s", o.k, v)
	case outAdd:
		return fmt.Sprintf("y%d[i] += %s", o.k, v)
	case outSum:
		return lane + " += " + v
	}
	return fmt.Sprintf("if %s > %s {\n\t\t\t%s = %s\n\t\t}", v, lane, lane, v)
}

// lineTable declares the kernels.
func lineTable() string {
	var b strings.Builder
	b.WriteString(header + "package cpu\n\nfunc init() {\n")
	for _, ln := range lines {
		fmt.Fprintf(&b, "\t%s.vec = [AVX512 + 1]func(blocks int, io *Line){AVX2: %sY, AVX512: %sZ}\n", strings.ToUpper(ln.name[:1])+ln.name[1:], ln.name, ln.name)
	}
	b.WriteString("}\n")
	return b.String()
}

// lineScalars is the Go form of all lines.
func lineScalars() string {
	var b strings.Builder
	b.WriteString(header + "package cpu\n\nimport \"math\"\n\n// The kernels.\nvar (\n")
	for _, ln := range lines {
		fmt.Fprintf(&b, "\t// %s %s\n\t%s = LineKernel{plain: %sGo}\n", strings.ToUpper(ln.name[:1])+ln.name[1:], ln.doc, strings.ToUpper(ln.name[:1])+ln.name[1:], ln.name)
	}
	b.WriteString(")\n")
	for _, ln := range lines {
		b.WriteString(goLine(ln))
	}
	return b.String()
}
