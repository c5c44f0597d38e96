package main

import (
	"fmt"
	"math"
	"slices"
)

// Tables and rare parts of the vector forms, and the constants they read.

// tableSize is how many float32 a table has: a register of AVX-512, two of AVX2.
const tableSize = 16

// table returns the element of t whose number the low four bits of index are.
func (p *prog) table(index val, t [tableSize]float32) val {
	k := slices.Index(p.tables, t)
	if k < 0 {
		k = len(p.tables)
		p.tables = append(p.tables, t)
	}
	return p.emit(ins{op: opTable, a: index, n: k})
}

// piecewise evaluates the polynomial at d whose coefficients, from the constant one on, are the elements of the tables by index.
func (p *prog) piecewise(index, d val, tables [][tableSize]float32) val {
	s := p.table(index, tables[len(tables)-1])
	for i := len(tables) - 2; i >= 0; i-- {
		s = p.fma(s, d, p.table(index, tables[i]))
	}
	return s
}

// loadTables finds a place for the tables: in registers on Z, which has so many.
func (l *lanes) loadTables() {
	for _, t := range l.p.tables {
		var bits [tableSize / 2]uint64
		for i := range bits {
			bits[i] = uint64(math.Float32bits(t[2*i])) | uint64(math.Float32bits(t[2*i+1]))<<32
		}
		from := at(32*l.consts.placeTable([4]uint64(bits[:4]), [4]uint64(bits[4:])), "R8")
		if l.reg == "Z" {
			r := l.take()
			l.f.op("VMOVUPS", from, r)
			from = r
		}
		l.tables = append(l.tables, from)
	}
}

func (l *lanes) lookUp(v val, i ins) {
	index, table := l.where[i.a], l.tables[i.n]
	if l.reg == "Z" {
		r := l.take()
		l.f.op("VPERMPS", table, index, r)
		l.where[v] = r
		return
	}
	high := l.high[i.a]
	if high == "" {
		if l.high == nil {
			l.high = map[val]string{}
		}
		high = l.take()
		l.f.op("VPSLLD", "$28", index, high)
		l.high[i.a] = high
	}
	low, r := l.take(), l.take()
	var off int
	fmt.Sscanf(table, "%d", &off)
	for half, to := range []string{low, r} { // Zen 3 takes half as long for the instruction from a register as from memory
		l.f.op("VMOVUPS", at(off+32*half, "R8"), to)
		l.f.op("VPERMPS", to, index, to)
	}
	l.f.op("VBLENDVPS", high, r, low, r)
	l.free = append(l.free, low)
	if l.last[i.a] == int(v) {
		l.free = append(l.free, high)
		delete(l.high, i.a)
	}
	l.where[v] = r
}

// skip begins a rare part. The mask is read again at its end.
func (l *lanes) skip(v val, i ins) {
	m := l.where[i.a]
	if l.last[i.a] > int(v) {
		panic("asmgen: mask of a rare part is used otherwise")
	}
	l.where[i.a], l.where[v] = "", m
	if l.reg == "Z" {
		l.f.op("KTESTW", m, m)
	} else {
		l.f.op("VTESTPS", m, m)
	}
	l.f.op("JZ", l.joinLabel(int(l.p.join(v))))
}

// join ends a rare part: its result goes to the register of the usual one.
func (l *lanes) join(v val, i ins) {
	mask, slow, fast := l.where[i.a], l.inReg(i.b), l.where[i.c]
	if l.isConst(i.c) || l.last[i.c] > int(v) {
		panic("asmgen: the usual result of a rare part is used otherwise")
	}
	if l.reg == "Z" {
		l.f.op("VBLENDM"+l.p.packed(), slow, fast, mask, fast)
	} else {
		l.f.op("VBLENDV"+l.p.packed(), mask, slow, fast, fast)
	}
	l.f.label(l.joinLabel(int(v)))
	l.where[i.c], l.where[v] = "", fast
}

// joinLabel names the end of a rare part; a program may stand in a function several times.
func (l *lanes) joinLabel(join int) string { return fmt.Sprintf("join%d_%d", join, l.group) }

// A pool holds the constants of a file, of four uint64 each.
type pool [][4]uint64

func (c *pool) place(u [4]uint64) int {
	k := slices.Index(*c, u)
	if k < 0 {
		k = len(*c)
		*c = append(*c, u)
	}
	return k
}

// placeTable returns where two entries lie one behind the other.
func (c *pool) placeTable(a, b [4]uint64) int {
	for k := range len(*c) - 1 {
		if (*c)[k] == a && (*c)[k+1] == b {
			return k
		}
	}
	*c = append(*c, a, b)
	return len(*c) - 2
}

// constants writes what the programs read; a constant has four copies, so that 256-bit instructions can read it too.
func (f *asmFile) constants(consts pool) {
	f.b.WriteByte('\n')
	for k, entry := range consts {
		for i, u := range entry {
			fmt.Fprintf(&f.b, "DATA mathConsts<>+%d(SB)/8, $%#016x\n", 32*k+8*i, u)
		}
	}
	fmt.Fprintf(&f.b, "GLOBL mathConsts<>(SB), RODATA|NOPTR, $%d\n", 32*len(consts))
	for i := range 4 {
		fmt.Fprintf(&f.b, "DATA exponents<>+%d(SB)/8, $%#016x\n", 8*i, twice(magicF+2*127))
	}
	f.b.WriteString("GLOBL exponents<>(SB), RODATA|NOPTR, $32\n")
}
