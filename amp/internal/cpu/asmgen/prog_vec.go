package main

import (
	"fmt"
	"math"
	"slices"
)

// A lanes is one vector form of a program.
type lanes struct {
	f      *asmFile
	p      *prog
	reg    string // Z or Y
	consts *pool
	where  []string       // register of each live value
	tables []string       // registers of the tables, or where they lie
	high   map[val]string // of a table's index on Y: its fourth bit as a mask
	group  int            // of elements, where a loop has several
	free   []string
	masks  []string // free mask registers of Z
	last   []int
	off    int // of the block in bytes
}

// vecFunc writes a function that applies the program to whole blocks of elements; single says they are float32 in memory, which a
// program in float64 widens and rounds at the end.
func (f *asmFile) vecFunc(p *prog, name, reg string, single bool, consts *pool) {
	l := &lanes{f: f, p: p, reg: reg, consts: consts}
	regs, count, elem, ptr := 32, 8, 8, "*float64"
	if reg == "Y" {
		regs, count = 16, 4
	}
	if single {
		elem, ptr = 4, "*float32"
	}
	if p.single {
		count *= 2
	}
	for i := range regs {
		l.free = append(l.free, vec(reg, i))
	}
	l.masks = maskRegisters(7, 1)
	two := p.inputs() == 2
	switch {
	case p.also != 0:
		f.fn(name, fmt.Sprintf("computes blocks of %d elements of two results.", count), param{"blocks", "int", "CX"}, param{"src", ptr, "SI"}, param{"dst", ptr, "DI"}, param{"also", ptr, "DX"})
	case two:
		f.fn(name, fmt.Sprintf("computes blocks of %d elements from those of two lines.", count), param{"blocks", "int", "CX"}, param{"src", ptr, "SI"}, param{"second", ptr, "DX"}, param{"dst", ptr, "DI"})
	default:
		f.fn(name, fmt.Sprintf("computes blocks of %d elements.", count), param{"blocks", "int", "CX"}, param{"src", ptr, "SI"}, param{"dst", ptr, "DI"})
	}
	f.op("LEAQ", "mathConsts<>(SB)", "R8")
	l.loadTables()
	bytes := elem * count
	advance := func(blocks int) {
		f.op("ADDQ", imm(blocks*bytes), "SI")
		f.op("ADDQ", imm(blocks*bytes), "DI")
		if two || p.also != 0 {
			f.op("ADDQ", imm(blocks*bytes), "DX")
		}
	}
	if both := l.together(2, func(l *lanes, k int) { l.block(single, k*bytes) }); both != "" {
		f.op("SUBQ", "$2", "CX")
		f.op("JLT", "odd")
		f.op("PCALIGN", "$32")
		f.label("pair")
		f.b.WriteString(both)
		advance(2)
		f.op("SUBQ", "$2", "CX")
		f.op("JGE", "pair")
		f.label("odd")
		f.op("ADDQ", "$2", "CX")
		f.op("JZ", "done")
	}
	f.op("PCALIGN", "$32")
	f.label("loop")
	l.block(single, 0)
	advance(1)
	f.op("DECQ", "CX")
	f.op("JNZ", "loop")
	f.label("done")
	f.ret()
}

// inputAhead is how far ahead of what it reads a function of float32 numbers brings memory into the cache, in bytes.
const inputAhead = 2048

// block writes the program for the block of elements that lies off bytes on.
func (l *lanes) block(single bool, off int) {
	f, p := l.f, l.p
	l.where, l.last, l.off = make([]string, len(p.ins)), p.lastUse(), off
	if p.also != 0 {
		l.last[p.also] = len(p.ins)
	}
	for at := range p.ins {
		l.instruction(val(at), single)
	}
	if p.also != 0 {
		f.op("VMOVU"+p.packed(), l.where[p.also], at(off, "DX"))
	}
	result, to := l.where[len(p.ins)-1], at(off, "DI")
	switch {
	case p.single:
		f.op("VMOVUPS", result, to)
	case single:
		half := map[string]string{"Z": "Y", "Y": "X"}[l.reg] + result[1:]
		convert := map[string]string{"Z": "VCVTPD2PS", "Y": "VCVTPD2PSY"}[l.reg]
		f.op(convert, result, half)
		f.op("VMOVUPS", half, to)
	default:
		f.op("VMOVUPD", result, to)
	}
}

// take returns a free register.
func (l *lanes) take() string {
	if len(l.free) == 0 {
		panic(tooMany)
	}
	r := l.free[0]
	l.free = l.free[1:]
	return r
}

// release gives back the registers of values that are not read after at.
func (l *lanes) release(at int, vs []val) {
	slices.Sort(vs)
	for _, v := range slices.Compact(vs) {
		r := l.where[v]
		if r == "" || l.last[v] > at {
			continue
		}
		l.where[v] = ""
		if r[0] == 'K' {
			l.masks = append(l.masks, r)
		} else {
			l.free = append(l.free, r)
		}
	}
}

// memory returns the address of a constant, and how an instruction's name changes for it.
func (l *lanes) memory(v val) (operand, suffix string) { return l.constant(l.p.ins[v].bits) }

func (l *lanes) constant(u uint64) (operand, suffix string) {
	k := l.consts.place([4]uint64{u, u, u, u})
	if l.reg == "Z" {
		suffix = ".BCST"
	}
	return at(32*k, "R8"), suffix
}

func (l *lanes) isConst(v val) bool { return l.p.ins[v].op == opConst }

// inReg returns the register of v; a constant gets one for this instruction.
func (l *lanes) inReg(v val) string {
	if l.where[v] != "" {
		return l.where[v]
	}
	if !l.isConst(v) {
		panic("asmgen: value is gone")
	}
	m, _ := l.memory(v)
	r := l.take()
	l.f.op("VBROADCAST"+l.p.kind(), m, r)
	l.where[v] = r
	return r
}

// dropConst frees the register of a constant: it is broadcast again, or read from memory, when needed.
func (l *lanes) dropConst(at int, vs []val) {
	for _, v := range vs {
		if l.isConst(v) && l.where[v] != "" {
			l.free = append(l.free, l.where[v])
			l.where[v] = ""
		}
	}
}

func (l *lanes) instruction(v val, single bool) {
	i := l.p.ins[v]
	args := i.arguments()
	switch i.op {
	case opConst:
		return
	case opInput:
		if l.p.single && l.reg == "Z" { // the processor does not guess what lies beyond a page
			l.f.op("PREFETCHT0", at(l.off+inputAhead, [2]string{"SI", "DX"}[i.n]))
		}
		r, from := l.take(), [2]string{"SI", "DX"}[i.n]
		if single && !l.p.single {
			l.f.op("VCVTPS2PD", at(l.off, from), r)
		} else {
			l.f.op("VMOVU"+l.p.packed(), at(l.off, from), r)
		}
		l.where[v] = r
		return
	case opFMA, opFNMA:
		l.fused(v, i)
	case opLess, opEqual:
		l.compare(v, i)
	case opSelect:
		l.blend(v, i)
	case opSqrt:
		a := l.inReg(i.a)
		l.release(int(v), args)
		l.where[v] = l.take()
		l.f.op("VSQRT"+l.p.packed(), a, l.where[v])
	case opShl, opShr:
		a := l.inReg(i.a)
		l.release(int(v), args)
		l.where[v] = l.take()
		l.f.op(map[opcode]string{opShl: "VPSLL", opShr: "VPSRL"}[i.op]+l.p.whole(), imm(i.n), a, l.where[v])
	case opScale:
		l.scaled(v, i)
	case opTable:
		l.lookUp(v, i)
	case opRare:
		l.skip(v, i)
		return
	case opJoin:
		l.join(v, i)
	default:
		l.binary(v, i)
	}
	l.dropConst(int(v), args)
	l.release(int(v), args)
}

// kind, packed and whole are how names of instructions end: of one number, of many, and of many as integers.
func (p *prog) kind() string   { return p.named("SS", "SD") }
func (p *prog) packed() string { return p.named("PS", "PD") }
func (p *prog) whole() string  { return p.named("D", "Q") }

func (p *prog) named(single, double string) string {
	if p.single {
		return single
	}
	return double
}

var binaryNames = map[opcode]string{opAdd: "VADD", opSub: "VSUB", opMul: "VMUL", opDiv: "VDIV", opMin: "VMIN", opMax: "VMAX", opAnd: "VAND", opOr: "VOR"}

func (p *prog) binaryName(o opcode) string {
	switch o {
	case opPlus:
		return "VPADD" + p.whole()
	case opMinus:
		return "VPSUB" + p.whole()
	}
	return binaryNames[o] + p.packed()
}

// scaled multiplies by a power of 2: AVX-512 has an instruction for it, AVX2 does two steps, so that the result may be subnormal.
func (l *lanes) scaled(v val, i ins) {
	y, k := l.inReg(i.a), l.inReg(i.b)
	r := l.take()
	l.where[v] = r
	if l.reg == "Z" {
		l.f.op("VSCALEFPS", k, y, r)
		return
	}
	// In the sum with exponents the last bits are k + 254: halves of that, rounded down and up, are exponents with their bias, and their powers
	// of 2 are normal. The bits above leave at the shift.
	for _, c := range []float32{0.5, magicF, 1} { // keeps the places of what the programs for AVX-512 read
		l.constant(twice(c))
	}
	t := l.take()
	l.f.op("VADDPS", "exponents<>(SB)", k, t)
	l.f.op("VPSRAD", "$1", t, r)
	l.f.op("VPSUBD", r, t, t)
	for _, x := range []string{r, t} {
		l.f.op("VPSLLD", "$23", x, x)
	}
	l.f.op("VMULPS", y, r, r)
	l.f.op("VMULPS", t, r, r)
	l.free = append(l.free, t)
}

func (l *lanes) binary(v val, i ins) {
	a, b := i.a, i.b
	switch i.op {
	case opAdd, opMul, opAnd, opOr, opPlus: // the constant second, where memory may be read
		if l.isConst(a) {
			a, b = b, a
		}
	}
	name := l.p.binaryName(i.op)
	ra := l.inReg(a)
	second := ""
	if l.isConst(b) && l.where[b] == "" {
		m, suffix := l.memory(b)
		second, name = m, name+suffix
	} else {
		second = l.inReg(b)
	}
	l.dropConst(int(v), []val{a, b})
	l.release(int(v), []val{a, b})
	l.where[v] = l.take()
	l.f.op(name, second, ra, l.where[v])
}

// fused chooses the form that overwrites a value that is not needed any more.
func (l *lanes) fused(v val, i ins) {
	name := "VFMADD"
	if i.op == opFNMA {
		name = "VFNMADD"
	}
	a, b, c := i.a, i.b, i.c
	if l.isConst(a) {
		a, b = b, a
	}
	dies := func(x val) bool { return l.last[x] == int(v) && !l.isConst(x) }
	if dies(c) && c != a && c != b { // c += a·b
		second, suffix := l.operand(b)
		rc := l.inReg(c)
		l.f.op(name+"231"+l.p.packed()+suffix, second, l.inReg(a), rc)
		l.where[c] = ""
		l.where[v] = rc
		return
	}
	if !l.isConst(b) && dies(b) && !dies(a) {
		a, b = b, a
	}
	ra := l.inReg(a)
	if !dies(a) || a == b || a == c {
		r := l.take()
		l.f.op("VMOVA"+l.p.packed(), ra, r)
		ra = r
	} else {
		l.where[a] = ""
	}
	if l.isConst(b) || !l.isConst(c) && l.where[c] == "" { // a = a·b + c with b from memory
		second, suffix := l.operand(b)
		l.f.op(name+"132"+l.p.packed()+suffix, second, l.inReg(c), ra)
	} else {
		second, suffix := l.operand(c)
		l.f.op(name+"213"+l.p.packed()+suffix, second, l.inReg(b), ra)
	}
	l.where[v] = ra
}

// operand returns v as an operand that may lie in memory.
func (l *lanes) operand(v val) (operand, suffix string) {
	if l.isConst(v) && l.where[v] == "" {
		return l.memory(v)
	}
	return l.inReg(v), ""
}

func (l *lanes) compare(v val, i ins) {
	ra := l.inReg(i.a)
	second, suffix := l.operand(i.b)
	code := map[opcode]string{opLess: "$1", opEqual: "$0"}[i.op]
	var r string
	if l.reg == "Z" {
		if len(l.masks) == 0 {
			panic(tooMany)
		}
		r = l.masks[len(l.masks)-1]
		l.masks = l.masks[:len(l.masks)-1]
	} else {
		r = l.take()
	}
	l.f.op("VCMP"+l.p.packed()+suffix, code, second, ra, r)
	l.where[v] = r
}

func (l *lanes) blend(v val, i ins) {
	yes, suffix := l.operand(i.b)
	no, mask := l.inReg(i.c), l.where[i.a]
	r := l.take()
	if l.reg == "Z" {
		l.f.op("VBLENDM"+l.p.packed()+suffix, yes, no, mask, r)
	} else {
		l.f.op("VBLENDV"+l.p.packed(), mask, yes, no, r)
	}
	l.where[v] = r
}

// twice returns the bits of a float32 constant as the table has them.
func twice(x float32) uint64 {
	u := uint64(math.Float32bits(x))
	return u | u<<32
}
