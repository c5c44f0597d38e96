package main

import (
	"fmt"
	"slices"
	"strings"
)

// A line is a program over the elements of several float32 lines at once: one pass of a softmax or a norm, computed in float32. Sums have
// lineLanes lanes, element i going to lane i mod lineLanes, and are added up in float64 after lineSegment elements, on every processor,
// so that the two vector forms and the Go form give the same bits.
type line struct {
	name, doc string
	pads      map[int]string // what a last, incomplete block has behind each of its lines, so that sums don't show it: Go expressions; 0 unless given
	build     func(l *lineProg)
}

const (
	lineLanes   = 32
	lineSegment = 2048
	lineWide    = 8 // float64 lanes
)

// A lineProg is a prog and what becomes of its values.
type lineProg struct {
	prog
	outs []lineOut
}

type outKind int

const (
	outSet outKind = iota // into a line
	outAdd                // added to a line
	outSum                // added to a lane
	outMax                // the lane's, if larger than it
)

type lineOut struct {
	v    val
	kind outKind
	k    int // number of the line or of the sum
}

func (l *lineProg) line(k int) val              { return l.emit(ins{op: opLine, n: k}) }
func (l *lineProg) arg(k int) val               { return l.emit(ins{op: opArg, n: k}) }
func (l *lineProg) put(v val, o outKind, k int) { l.outs = append(l.outs, lineOut{v, o, k}) }

func (ln line) program() *lineProg {
	l := &lineProg{prog: prog{single: true}}
	ln.build(l)
	return l
}

// The layout of cpu.Line.
const (
	lineCount, lineArgs, lineSums = 7, 8, 2

	atArg   = 24 * lineCount
	atSum   = atArg + 4*lineArgs
	atAhead = atSum + 8*lineWide*lineSums
	atHalf  = atAhead + 8
)

var linePointers = []string{"SI", "DI", "R9", "R10", "R11", "R12", "R13"}

// used returns which lines a program touches, and which of them it writes.
func (l *lineProg) used() (all, written []int) {
	for _, i := range l.ins {
		if i.op == opLine {
			all = append(all, i.n)
		}
	}
	for _, o := range l.outs {
		if o.kind == outSet || o.kind == outAdd {
			all, written = append(all, o.k), append(written, o.k)
		}
	}
	slices.Sort(all)
	slices.Sort(written)
	return slices.Compact(all), slices.Compact(written)
}

// sums returns the kind of each sum.
func (l *lineProg) sums() []outKind {
	var kinds []outKind
	for _, o := range l.outs {
		if o.kind == outSum || o.kind == outMax {
			for len(kinds) <= o.k {
				kinds = append(kinds, 0)
			}
			kinds[o.k] = o.kind
		}
	}
	return kinds
}

// lineVectors writes the vector forms of all lines.
func lineVectors(f *asmFile) {
	var consts pool
	for _, ln := range lines {
		for _, reg := range []string{"Z", "Y"} {
			f.lineFunc(ln, reg, floats, &consts)
			if halfLines[ln.name] {
				f.lineFunc(ln, reg, float16s, &consts)
				f.lineFunc(ln, reg, bfloat16s, &consts)
			}
		}
	}
	f.constants(consts)
}

// A lineWriter writes one vector form.
type lineWriter struct {
	lanes
	kind  lineKind
	l     *lineProg
	ahead []int // lines that are fetched ahead
	count int   // elements of a register
	sums  [lineSums][]string
	args  map[int]string
}

func (f *asmFile) lineFunc(ln line, reg string, kind lineKind, consts *pool) {
	l := ln.program()
	w := &lineWriter{l: l, kind: kind, count: 16, args: map[int]string{}}
	from := atHalf
	if kind == floats {
		w.ahead, from = linesAhead[ln.name], 0
	}
	w.lanes = lanes{f: f, p: &l.prog, reg: reg, consts: consts}
	regs := 32
	if reg == "Y" {
		regs, w.count = 16, 8
	}
	for i := range regs {
		w.free = append(w.free, vec(reg, i))
	}
	w.masks = maskRegisters(7, 1)
	f.fn(ln.name+kind.suffix()+reg, fmt.Sprintf("does blocks of %d elements of %s%s.", lineLanes, ln.name, kind.doc()), param{"blocks", "int", "CX"}, param{"io", "*Line", "AX"})
	f.op("LEAQ", "mathConsts<>(SB)", "R8")
	used, _ := l.used()
	for _, k := range used {
		f.op("MOVQ", at(from+24*k, "AX"), linePointers[k])
	}
	if len(w.ahead) > 0 {
		f.op("MOVQ", at(atAhead, "AX"), "DX")
	}
	for _, i := range l.ins {
		if i.op == opArg && w.args[i.n] == "" && reg == "Z" {
			w.args[i.n] = w.take()
			f.op("VBROADCASTSS", at(atArg+4*i.n, "AX"), w.args[i.n])
		}
	}
	w.loadTables()
	if len(l.sums()) > 0 {
		w.segments()
	} else {
		w.loop("CX")
	}
	f.ret()
}

// segments writes the loop of a program with sums.
func (w *lineWriter) segments() {
	f := w.f
	f.label("segment")
	f.op("MOVQ", imm(lineSegment/lineLanes), "BX")
	f.op("CMPQ", "CX", "BX")
	f.op("CMOVQLT", "CX", "BX")
	f.op("SUBQ", "BX", "CX")
	for k, kind := range w.l.sums() {
		w.sums[k] = nil
		for range lineLanes / w.count {
			r := w.take()
			if kind == outMax {
				m, _ := w.constant(0xff800000ff800000)
				f.op("VBROADCASTSS", m, r)
			} else {
				f.op("VXORPS", r, r, r)
			}
			w.sums[k] = append(w.sums[k], r)
		}
	}
	w.loop("BX")
	for k, kind := range w.l.sums() {
		w.fold(k, kind)
	}
	f.op("TESTQ", "CX", "CX")
	f.op("JNZ", "segment")
}

func (w *lineWriter) loop(counter string) {
	f := w.f
	f.op("PCALIGN", "$32")
	f.label("loop")
	all := w.together(lineLanes/w.count, func(l *lanes, g int) {
		own := *w
		own.lanes = *l
		own.group(g)
	})
	f.b.WriteString(all)
	if all == "" {
		for g := range lineLanes / w.count {
			w.group(g)
		}
	}
	for _, k := range w.ahead {
		for line := range 4 * lineLanes / 64 {
			f.op("PREFETCHT0", at(64*line, linePointers[k])+"(DX*1)")
		}
	}
	used, _ := w.l.used()
	for _, k := range used {
		f.op("ADDQ", imm(w.kind.size()*lineLanes), linePointers[k])
	}
	f.op("DECQ", counter)
	f.op("JNZ", "loop")
}

// fold adds the lanes of a sum, lane i to float64 lane i mod lineWide: the first two eights of lanes, the last two, then these.
func (w *lineWriter) fold(k int, kind outKind) {
	f := w.f
	op := map[outKind]string{outSum: "VADDPD", outMax: "VMAXPD"}[kind]
	half := map[string]string{"Z": "Y", "Y": "X"}[w.reg]
	extract := map[string]string{"Z": "VEXTRACTF64X4", "Y": "VEXTRACTF128"}[w.reg]
	// wide widens the h-th half of register r into t.
	wide := func(r string, h int, t string) {
		from := half + r[1:]
		if h == 1 {
			from = half + t[1:]
			f.op(extract, "$1", r, from)
		}
		f.op("VCVTPS2PD", from, t)
	}
	s := w.sums[k]
	a, b, c := w.take(), w.take(), w.take()
	for part := range lineWide / (w.count / 2) {
		for i, sum := range []string{a, b} {
			if w.reg == "Z" { // eights lie in halves of two registers
				wide(s[i], 0, sum)
				wide(s[i], 1, c)
			} else { // in four registers, of which this is one half
				wide(s[2*i], part, sum)
				wide(s[2*i+1], part, c)
			}
			f.op(op, c, sum, sum)
		}
		f.op(op, b, a, a)
		to := at(atSum+8*lineWide*k+4*w.count*part, "AX")
		f.op(op, to, a, a)
		f.op("VMOVUPD", a, to)
	}
	w.free = append(append(w.free, a, b, c), s...)
}

// group writes the program for the g-th register full of a block.
func (w *lineWriter) group(g int) {
	p := w.p
	w.lanes.group = g
	w.where, w.last = make([]string, len(p.ins)), p.lastUse()
	w.last[len(p.ins)-1] = 0
	for _, o := range w.l.outs {
		w.last[o.v] = max(w.last[o.v], int(o.v))
	}
	free, masks := slices.Clone(w.free), slices.Clone(w.masks)
	for v, i := range p.ins {
		switch i.op {
		case opArg:
			if r := w.args[i.n]; r != "" {
				w.where[v], w.last[v] = r, len(p.ins)
				continue
			}
			w.where[v] = w.take()
			w.f.op("VBROADCASTSS", at(atArg+4*i.n, "AX"), w.where[v])
		case opLine:
			w.where[v] = w.take()
			w.read(at(w.kind.size()*w.count*g, linePointers[i.n]), w.where[v])
		case opConst:
			continue
		default:
			w.instruction(val(v), true)
		}
		for _, o := range w.l.outs {
			if o.v == val(v) {
				w.output(o, g)
			}
		}
		w.release(v, []val{val(v)})
	}
	w.free, w.masks = free, masks
}

func (w *lineWriter) output(o lineOut, g int) {
	r := w.where[o.v]
	switch o.kind {
	case outSet:
		w.write(r, at(w.kind.size()*w.count*g, linePointers[o.k]))
	case outAdd:
		t := w.take()
		w.f.op("VADDPS", at(4*w.count*g, linePointers[o.k]), r, t)
		w.f.op("VMOVUPS", t, at(4*w.count*g, linePointers[o.k]))
		w.free = append(w.free, t)
	case outSum:
		s := w.sums[o.k][g]
		w.f.op("VADDPS", r, s, s)
	case outMax:
		s := w.sums[o.k][g]
		w.f.op("VMAXPS", s, r, s) // the lane where neither is larger or one is NaN
	}
}

// goLine writes the line as a Go function that does elements from lo to n, a segment at most.
func goLine(ln line) string {
	l := ln.program()
	var b strings.Builder
	fmt.Fprintf(&b, "\n// %sGo %s It does elements lo to n.\nfunc %sGo(lo, n int, io *Line) {\n", ln.name, ln.doc, ln.name)
	used, _ := l.used()
	for _, k := range used {
		fmt.Fprintf(&b, "\tx%d := io.F32[%d][:n]\n", k, k)
	}
	seen := map[int]bool{}
	for _, i := range l.ins {
		if i.op == opArg && !seen[i.n] {
			seen[i.n] = true
			fmt.Fprintf(&b, "\ta%d := io.Arg[%d]\n", i.n, i.n)
		}
	}
	for k, kind := range l.sums() {
		start := "lanes32{}"
		if kind == outMax {
			start = "lowest32"
		}
		fmt.Fprintf(&b, "\ts%d := %s\n", k, start)
	}
	b.WriteString("\tfor i := lo; i < n; i++ {\n")
	l.goBody(&b, "\t\t", func(at int) {
		for _, o := range l.outs {
			if int(o.v) == at {
				b.WriteString("\t\t" + o.goText(l.goArg(o.v)) + "\n")
			}
		}
	})
	b.WriteString("\t}\n")
	for k, kind := range l.sums() {
		fmt.Fprintf(&b, "\tio.Acc[%d].%s(&s%d)\n", k, map[outKind]string{outSum: "add", outMax: "most"}[kind], k)
	}
	b.WriteString("}\n")
	return b.String()
}

func (o lineOut) goText(v string) string {
	lane := fmt.Sprintf("s%d[(i-lo)%%%d]", o.k, lineLanes)
	switch o.kind {
	case outSet:
		return fmt.Sprintf("x%d[i] = %s", o.k, v)
	case outAdd:
		return fmt.Sprintf("x%d[i] += %s", o.k, v)
	case outSum:
		return lane + " += " + v
	}
	return fmt.Sprintf("if %s > %s {\n\t\t\t%s = %s\n\t\t}", v, lane, lane, v)
}

func (ln line) goName() string { return strings.ToUpper(ln.name[:1]) + ln.name[1:] }

// lineTable declares the kernels.
func lineTable() string {
	var b strings.Builder
	b.WriteString(header + "package cpu\n\nfunc init() {\n")
	for _, ln := range lines {
		for _, kind := range []lineKind{floats, float16s, bfloat16s} {
			if name := ln.name + kind.suffix(); kind == floats || halfLines[ln.name] {
				fmt.Fprintf(&b, "\t%s.%s = [AVX512 + 1]func(blocks int, io *Line){AVX2: %sY, AVX512: %sZ}\n", ln.goName(), kind.field(), name, name)
			}
		}
	}
	b.WriteString("}\n")
	return b.String()
}

// lineScalars is the Go form of all lines.
func lineScalars() string {
	var b strings.Builder
	b.WriteString(header + "package cpu\n\nimport \"math\"\n\n// The kernels.\nvar (\n")
	for _, ln := range lines {
		all, written := ln.program().used()
		fmt.Fprintf(&b, "\t// %s %s\n\t%s = LineKernel{plain: %sGo, lines: []int{%s}, written: []int{%s}", ln.goName(), ln.doc, ln.goName(), ln.name, list(all), list(written))
		if len(ln.pads) > 0 {
			fmt.Fprintf(&b, ", pad: func(io *Line, k int) float32 {\n\t\tswitch k {\n")
			for _, k := range all {
				if e := ln.pads[k]; e != "" {
					fmt.Fprintf(&b, "\t\tcase %d:\n\t\t\treturn %s\n", k, e)
				}
			}
			b.WriteString("\t\t}\n\t\treturn 0\n\t}")
		}
		b.WriteString("}\n")
	}
	b.WriteString(")\n")
	for _, ln := range lines {
		b.WriteString(goLine(ln))
	}
	return b.String()
}

func list(n []int) string { return strings.Trim(strings.ReplaceAll(fmt.Sprint(n), " ", ", "), "[]") }
