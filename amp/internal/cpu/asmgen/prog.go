package main

import "math"

// A prog is a function as a straight line of operations, from which come the Go function and its two vector forms: what is
// written once gives the same bits three times, as every operation is rounded alike everywhere.
type prog struct {
	also   val // a second result, or 0
	ins    []ins
	single bool // in float32, else in float64
	tables [][tableSize]float32
}

// A val is the result of an operation: its place in the line.
type val int

type opcode int

const (
	opInput opcode = iota // n is 1 for the second of two
	opConst
	opAdd
	opSub
	opMul
	opDiv
	opSqrt // of a
	opFMA  // a·b + c
	opFNMA // -a·b + c
	opMin  // a if a < b, else b
	opMax  // a if a > b, else b
	opAnd  // of the bits, as are the next
	opOr
	opPlus
	opMinus
	opShl // by n
	opShr // by n, logical
	opLess
	opEqual
	opSelect // b if mask a, else c
	opScale  // a·2^b for a whole b, rounded once; float32 alone
	opTable  // element of table n whose number the low bits of a are; float32 alone
	opRare   // where mask a is set in no element, what follows up to its opJoin is left out
	opJoin   // b where the mask of opRare a is set, else c
	opLine   // element of line n, as the next of lines alone
	opArg
)

type ins struct {
	op      opcode
	a, b, c val
	n       int
	bits    uint64 // of a constant; of a float32 one, twice
}

func (p *prog) emit(i ins) val {
	p.ins = append(p.ins, i)
	return val(len(p.ins) - 1)
}

// arguments returns the values that an operation reads.
func (i ins) arguments() []val {
	switch i.op {
	case opInput, opConst, opLine, opArg:
		return nil
	case opShl, opShr, opSqrt, opTable, opRare:
		return []val{i.a}
	case opFMA, opFNMA, opSelect, opJoin:
		return []val{i.a, i.b, i.c}
	}
	return []val{i.a, i.b}
}

func (p *prog) input() val         { return p.emit(ins{op: opInput}) }
func (p *prog) add(a, b val) val   { return p.emit(ins{op: opAdd, a: a, b: b}) }
func (p *prog) sub(a, b val) val   { return p.emit(ins{op: opSub, a: a, b: b}) }
func (p *prog) mul(a, b val) val   { return p.emit(ins{op: opMul, a: a, b: b}) }
func (p *prog) div(a, b val) val   { return p.emit(ins{op: opDiv, a: a, b: b}) }
func (p *prog) sqrt(a val) val     { return p.emit(ins{op: opSqrt, a: a}) }
func (p *prog) min(a, b val) val   { return p.emit(ins{op: opMin, a: a, b: b}) }
func (p *prog) max(a, b val) val   { return p.emit(ins{op: opMax, a: a, b: b}) }
func (p *prog) and(a, b val) val   { return p.emit(ins{op: opAnd, a: a, b: b}) }
func (p *prog) or(a, b val) val    { return p.emit(ins{op: opOr, a: a, b: b}) }
func (p *prog) plus(a, b val) val  { return p.emit(ins{op: opPlus, a: a, b: b}) }
func (p *prog) minus(a, b val) val { return p.emit(ins{op: opMinus, a: a, b: b}) }
func (p *prog) less(a, b val) val  { return p.emit(ins{op: opLess, a: a, b: b}) }
func (p *prog) equal(a, b val) val { return p.emit(ins{op: opEqual, a: a, b: b}) }

func (p *prog) shl(a val, n int) val { return p.emit(ins{op: opShl, a: a, n: n}) }
func (p *prog) shr(a val, n int) val { return p.emit(ins{op: opShr, a: a, n: n}) }

func (p *prog) fma(a, b, c val) val  { return p.emit(ins{op: opFMA, a: a, b: b, c: c}) }
func (p *prog) fnma(a, b, c val) val { return p.emit(ins{op: opFNMA, a: a, b: b, c: c}) }

func (p *prog) choose(mask, yes, no val) val {
	return p.emit(ins{op: opSelect, a: mask, b: yes, c: no})
}

// rare returns slow's value where the mask is set, else fast. Where no element of a vector needs it, slow takes no time; it may read
// values from before, and what it makes is its own.
func (p *prog) rare(mask, fast val, slow func() val) val {
	m := p.emit(ins{op: opRare, a: mask})
	return p.emit(ins{op: opJoin, a: m, b: slow(), c: fast})
}

// join returns where the opRare at v ends.
func (p *prog) join(v val) val {
	for at := int(v) + 1; ; at++ {
		if i := p.ins[at]; i.op == opJoin && i.a == v {
			return val(at)
		}
	}
}

// inputs counts what the program is a function of.
func (p *prog) inputs() int {
	n := 0
	for _, i := range p.ins {
		if i.op == opInput {
			n++
		}
	}
	return n
}

// c returns a constant, rounded to the program's type.
func (p *prog) c(x float64) val {
	if p.single {
		return p.bits(uint64(math.Float32bits(float32(x))))
	}
	return p.bits(math.Float64bits(x))
}

// scale returns y·2^k for a whole k between -200 and 200.
func (p *prog) scale(y, k val) val { return p.emit(ins{op: opScale, a: y, b: k}) }

// bits returns a constant by its bits; equal constants are one.
func (p *prog) bits(u uint64) val {
	if p.single {
		u |= u << 32
	}
	for v, i := range p.ins {
		if i.op == opConst && i.bits == u {
			return val(v)
		}
	}
	return p.emit(ins{op: opConst, bits: u})
}

func (p *prog) abs(x val) val  { return p.and(x, p.bits(p.signBit()-1)) }
func (p *prog) sign(x val) val { return p.and(x, p.bits(p.signBit())) }
func (p *prog) neg(x val) val  { return p.sub(p.bits(p.signBit()), x) }

func (p *prog) signBit() uint64 {
	if p.single {
		return 1 << 31
	}
	return 1 << 63
}

// poly is Horner's rule, coefficients from the constant one on.
func (p *prog) poly(x val, coef ...float64) val {
	s := p.c(coef[len(coef)-1])
	for i := len(coef) - 2; i >= 0; i-- {
		s = p.fma(s, x, p.c(coef[i]))
	}
	return s
}

// lastUse returns where each value is read last.
func (p *prog) lastUse() []int {
	last := make([]int, len(p.ins))
	for at, i := range p.ins {
		for _, v := range i.arguments() {
			last[v] = at
		}
	}
	last[len(last)-1] = len(p.ins)
	return last
}

// needed returns the program without the operations that do not lead to its result, the last one.
func (p *prog) needed() *prog {
	live := make([]bool, len(p.ins))
	live[len(live)-1] = true
	for at := len(p.ins) - 1; at >= 0; at-- {
		if live[at] {
			for _, v := range p.ins[at].arguments() {
				live[v] = true
			}
		}
	}
	q, place := &prog{single: p.single, tables: p.tables}, make([]val, len(p.ins))
	for at, i := range p.ins {
		if live[at] {
			i.a, i.b, i.c = place[i.a], place[i.b], place[i.c]
			place[at] = q.emit(i)
		}
	}
	return q
}
