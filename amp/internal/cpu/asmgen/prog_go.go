package main

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// goFunc writes the program as a Go function. Conversions keep the compiler from fusing a product into a sum.
func (p *prog) goFunc(name, doc string) string {
	var b strings.Builder
	params := "v0" // inputs come first
	if p.inputs() == 2 {
		params = "v0, v1"
	}
	fmt.Fprintf(&b, "\n// %s %s\nfunc %s(%s %[5]s) %[5]s {\n", name, doc, name, params, p.goType())
	p.goBody(&b, "\t", func(int) {})
	fmt.Fprintf(&b, "\treturn v%d\n}\n", len(p.ins)-1)
	return b.String()
}

func (p *prog) goType() string { return p.named("float32", "float64") }

// goArg names a value.
func (p *prog) goArg(v val) string {
	switch i := p.ins[v]; i.op {
	case opConst:
		if p.single {
			return goConst32(uint32(i.bits))
		}
		return goConst(i.bits)
	case opArg:
		return fmt.Sprintf("a%d", i.n)
	}
	return fmt.Sprintf("v%d", v)
}

// goBody writes one statement for each operation, and calls then after it.
func (p *prog) goBody(b *strings.Builder, tab string, then func(at int)) {
	for at, i := range p.ins {
		switch i.op {
		case opInput, opConst, opArg:
			continue
		case opLine:
			fmt.Fprintf(b, "%sv%d := x%d[i]\n", tab, at, i.n)
		case opMin, opMax, opSelect:
			cond, yes, no := p.goArg(i.a), p.goArg(i.b), p.goArg(i.c)
			if i.op != opSelect {
				cmp := map[opcode]string{opMin: "<", opMax: ">"}[i.op]
				cond, yes, no = p.goArg(i.a)+" "+cmp+" "+p.goArg(i.b), p.goArg(i.a), p.goArg(i.b)
			}
			fmt.Fprintf(b, "%sv%d := %s\n%sif %s {\n%s\tv%d = %s\n%s}\n", tab, at, p.typed(no), tab, cond, tab, at, yes, tab)
		case opRare:
			fmt.Fprintf(b, "%sv%d := %s\n%sif %s {\n", tab, p.join(val(at)), p.goArg(p.ins[p.join(val(at))].c), tab, p.goArg(i.a))
			tab += "\t"
		case opJoin:
			fmt.Fprintf(b, "%sv%d = %s\n", tab, at, p.goArg(i.b))
			tab = tab[1:]
			fmt.Fprintf(b, "%s}\n", tab)
		default:
			fmt.Fprintf(b, "%sv%d := %s\n", tab, at, p.goExpr(i))
		}
		then(at)
	}
}

// typed gives a constant that a variable is set from the program's type.
func (p *prog) typed(s string) string {
	if strings.HasPrefix(s, "v") {
		return s
	}
	return p.goType() + "(" + s + ")"
}

func (p *prog) goExpr(i ins) string {
	arg, typ := p.goArg, p.goType()
	toBits, fromBits := "math.F"+typ[1:]+"bits", "math.F"+typ[1:]+"frombits"
	bits := func(v val) string { return toBits + "(" + arg(v) + ")" }
	binary := func(op string) string { return fmt.Sprintf("%s(%s %s %s)", typ, arg(i.a), op, arg(i.b)) }
	whole := func(op string) string { return fmt.Sprintf("%s(%s %s %s)", fromBits, bits(i.a), op, bits(i.b)) }
	fma := p.named("FMA32", "math.FMA")
	switch i.op {
	case opAdd:
		return binary("+")
	case opSub:
		return binary("-")
	case opMul:
		return binary("*")
	case opDiv:
		return binary("/")
	case opSqrt:
		if p.single {
			return "float32(math.Sqrt(float64(" + arg(i.a) + ")))" // as if rounded once
		}
		return "math.Sqrt(" + arg(i.a) + ")"
	case opFMA:
		return fmt.Sprintf("%s(%s, %s, %s)", fma, arg(i.a), arg(i.b), arg(i.c))
	case opFNMA:
		return fmt.Sprintf("%s(-%s, %s, %s)", fma, arg(i.a), arg(i.b), arg(i.c))
	case opTable:
		return fmt.Sprintf("%s[%s%%%d]", goTable(p.tables[i.n]), bits(i.a), tableSize)
	case opScale:
		return fmt.Sprintf("scale32(%s, %s)", arg(i.a), arg(i.b))
	case opAnd:
		return whole("&")
	case opOr:
		return whole("|")
	case opPlus:
		return whole("+")
	case opMinus:
		return whole("-")
	case opShl:
		return fmt.Sprintf("%s(%s << %d)", fromBits, bits(i.a), i.n)
	case opShr:
		return fmt.Sprintf("%s(%s >> %d)", fromBits, bits(i.a), i.n)
	case opLess:
		return fmt.Sprintf("%s < %s", arg(i.a), arg(i.b))
	case opEqual:
		return fmt.Sprintf("%s == %s", arg(i.a), arg(i.b))
	}
	panic("no such operation")
}

// goConst writes a constant: as a number where that gives the bits.
func goConst(u uint64) string {
	f := math.Float64frombits(u)
	if f != f || math.IsInf(f, 0) || u == 1<<63 || f != 0 && math.Abs(f) < 1e-300 {
		return fmt.Sprintf("math.Float64frombits(%#x)", u)
	}
	return strconv.FormatFloat(f, 'g', -1, 64)
}

func goConst32(u uint32) string {
	f := float64(math.Float32frombits(u))
	if f != f || math.IsInf(f, 0) || u == 1<<31 || f != 0 && math.Abs(f) < 1e-37 || math.Abs(f) > 1e37 {
		return fmt.Sprintf("math.Float32frombits(%#x)", u)
	}
	return strconv.FormatFloat(f, 'g', -1, 32)
}

// goTable names a table by its first elements.
func goTable(t [tableSize]float32) string {
	return fmt.Sprintf("table%08x%08x", math.Float32bits(t[0]), math.Float32bits(t[1]))
}

// goTables declares tables, each once.
func goTables(all [][tableSize]float32) string {
	var b strings.Builder
	seen := map[string]bool{}
	for _, t := range all {
		name := goTable(t)
		if seen[name] {
			continue
		}
		seen[name] = true
		fmt.Fprintf(&b, "\nvar %s = [%d]float32{", name, tableSize)
		for i, v := range t {
			if i > 0 {
				b.WriteString(", ")
			}
			b.WriteString(goConst32(math.Float32bits(v)))
		}
		b.WriteString("}\n")
	}
	return b.String()
}
