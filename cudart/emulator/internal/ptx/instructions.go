package ptx

import (
	"fmt"
	"strings"
)

// A plain is an instruction that computes one value from others: d = function<T>(a, b, …), or for some types an operator of C++.
type plain struct {
	mnemonic string // the opcode without its type
	function string // of ptx.h
	operands string // their types in order, T for the instruction's; "TT"; u for u32, p for a predicate
	operator operator
}

// plains are those there are; a guard, literals and registers of any kind go with all of them. C++'s whole numbers of 16 bits become int
// when they are added, so they have no operator; those with a sign are added as without, for they wrap around.
var plains = []plain{
	{"mov", "mov", "T", operator{"%s", "pred b16 u16 b32 u32 s32 b64 u64 s64 f32 f64"}},
	{"add", "add", "TT", operator{"%s + %s", wide}}, {"add.rn", "add", "TT", operator{"%s + %s", "f32 f64"}},
	{"sub", "sub", "TT", operator{"%s - %s", wide}}, {"sub.rn", "sub", "TT", operator{"%s - %s", "f32 f64"}},
	{"mul.lo", "mul", "TT", operator{"%s * %s", "u32 s32 u64 s64"}}, {"mul.rn", "mul", "TT", operator{"%s * %s", "f32 f64"}},
	{"mul.hi", "mul_hi", "TT", none}, {"mul.wide", "mul_wide", "TT", none},
	{"mad.lo", "mad", "TTT", operator{"%s * %s + %s", "u32 s32 u64 s64"}}, {"fma.rn", "fma", "TTT", operator{"__builtin_fma$(%s, %s, %s)", "f32 f64"}},
	{"div", "div", "TT", none}, {"div.rn", "div", "TT", operator{"%s / %s", "f32 f64"}}, {"rem", "rem", "TT", none},
	{"neg", "neg", "T", operator{"-%s", "f32 f64"}}, {"abs", "abs", "T", operator{"__builtin_fabs$(%s)", "f32 f64"}},
	{"min", "min", "TT", none}, {"max", "max", "TT", none},
	{"and", "and_", "TT", operator{"%s & %s", "pred b32 b64"}}, {"or", "or_", "TT", operator{"%s | %s", "pred b32 b64"}},
	{"xor", "xor_", "TT", operator{"%s ^ %s", "pred b32 b64"}}, {"not", "not_", "T", operator{"~%s", "b32 b64"}},
	{"shl", "shl", "Tu", operator{"%s << %s", wholes}}, {"shr", "shr", "Tu", operator{"%s >> %s", wholes}},
	{"bfe", "bfe", "Tuu", none}, {"bfi", "bfi", "TTuu", none}, {"popc", "popc", "T", none},
	{"sqrt.rn", "sqrt_rn", "T", none}, {"rcp.rn", "rcp_rn", "T", none}, {"rcp.approx.ftz", "rcp_ftz", "T", none},
	{"ex2.approx", "ex2", "T", none}, {"ex2.approx.ftz", "ex2_ftz", "T", none}, {"lg2.approx.ftz", "lg2_ftz", "T", none},
	{"selp", "selp", "TTp", operator{"%[3]s ? %[1]s : %[2]s", wholes + " f32 f64"}},
}

var plainBy = func() map[string]plain {
	by := map[string]plain{}
	for _, p := range plains {
		by[p.mnemonic] = p
	}
	return by
}()

// others are the instructions that do more, by the first part of their opcode; each writes its statement.
var others map[string]func(*writer, statement, []string) (string, error)

func init() {
	others = map[string]func(*writer, statement, []string) (string, error){
		"mov": packed, "ld": load, "st": store, "setp": compare, "cvt": convert, "cvta": convertAddress, "add": carry, "addc": carry,
		"shfl": shuffle, "vote": vote, "bar": barrier, "atom": atomic, "mma": product, "ldmatrix": matrix, "cp": copyAsync,
		"wgmma": warpgroup, "fence": proxyFence,
		"bra": branch, "ret": leave, "call": call,
	}
}

// types are those an instruction may be of.
var types = map[string]int{
	"b8": 1, "u8": 1, "s8": 1, "b16": 2, "u16": 2, "s16": 2, "f16": 2, "b32": 4, "u32": 4, "s32": 4, "f32": 4, "b64": 8, "u64": 8, "s64": 8, "f64": 8, "pred": 1,
}

// instruction returns the C++ of one.
func (w *writer) instruction(s statement) (string, error) {
	text, err := w.unguarded(s)
	if err != nil {
		return "", fmt.Errorf("%s %s: %w", s.opcode, strings.Join(s.operands, ", "), err)
	}
	if s.guard == "" {
		return text, nil
	}
	not, name := "", s.guard
	if strings.HasPrefix(name, "!") {
		not, name = "!", name[1:]
	}
	return fmt.Sprintf("if (%s%s) { %s }", not, register(name), text), nil
}

func (w *writer) unguarded(s statement) (string, error) {
	parts := strings.Split(s.opcode, ".")
	kind := parts[len(parts)-1]
	p, ok := plainBy[strings.TrimSuffix(s.opcode, "."+kind)]
	if ok && types[kind] > 0 && !vectors(s) {
		return w.plain(p, kind, s)
	}
	if f := others[parts[0]]; f != nil {
		return f(w, s, parts[1:])
	}
	return "", fmt.Errorf("an instruction that is not known here: give it a row in instructions.go")
}

func vectors(s statement) bool {
	for _, o := range s.operands {
		if o[0] == '{' {
			return true
		}
	}
	return false
}

func (w *writer) plain(p plain, kind string, s statement) (string, error) {
	if len(s.operands) != len(p.operands)+1 {
		return "", errOperands
	}
	if text := w.direct(p, kind, s); text != "" {
		return text, nil
	}
	var args []string
	for i, t := range p.operands {
		v, err := w.value(s.operands[i+1], map[rune]string{'T': kind, 'u': "u32", 'p': "pred"}[t])
		if err != nil {
			return "", err
		}
		args = append(args, v)
	}
	value := fmt.Sprintf("%s<%s>(%s)", p.function, kind, strings.Join(args, ", "))
	if p.mnemonic == "mul.wide" {
		kind = wider[kind]
	}
	return w.assign(s.operands[0], kind, value), nil
}

// wider are the types of mul.wide's products.
var wider = map[string]string{"u16": "u32", "s16": "s32", "u32": "u64", "s32": "s64"}

var errOperands = fmt.Errorf("its operands are not those of the instruction")

// packed is mov between a register and a vector of narrower ones.
func packed(w *writer, s statement, parts []string) (string, error) {
	if len(s.operands) != 2 || len(parts) != 1 {
		return "", errOperands
	}
	whole := parts[0]
	if d, ok := vector(s.operands[0]); ok {
		v, err := w.value(s.operands[1], whole)
		part := types[whole] / len(d)
		text := fmt.Sprintf("{ const %s whole = %s; ", whole, v)
		for i, r := range d {
			text += w.assign(r, fmt.Sprintf("b%d", 8*part), fmt.Sprintf("b%d(whole >> %d)", 8*part, 8*part*i)) + " "
		}
		return text + "}", err
	}
	a, ok := vector(s.operands[1])
	if !ok {
		return "", errOperands
	}
	part := types[whole] / len(a)
	var sum []string
	for i, r := range a {
		v, err := w.value(r, fmt.Sprintf("b%d", 8*part))
		if err != nil {
			return "", err
		}
		sum = append(sum, fmt.Sprintf("%s(%s) << %d", whole, v, 8*part*i))
	}
	return w.assign(s.operands[0], whole, whole+"("+strings.Join(sum, " | ")+")"), nil
}

// compare is setp.lt.f32 p, a, b.
func compare(w *writer, s statement, parts []string) (string, error) {
	if len(s.operands) != 3 || len(parts) != 2 {
		return "", errOperands
	}
	if o := comparisons[parts[0]]; o.takes(parts[1]) {
		if text, ok := w.operate(o.text, parts[1], s.operands[1:]); ok {
			return register(s.operands[0]) + " = " + text + ";", nil
		}
	}
	a, err := w.value(s.operands[1], parts[1])
	if err != nil {
		return "", err
	}
	b, err := w.value(s.operands[2], parts[1])
	return fmt.Sprintf("%s = ptx::%s<%s>(%s, %s);", register(s.operands[0]), parts[0], parts[1], a, b), err
}

// convert is cvt.rn.f16.f32 d, a, and that of two at once.
func convert(w *writer, s statement, parts []string) (string, error) {
	n := len(parts)
	if n < 2 {
		return "", errOperands
	}
	mode, to, from := strings.Join(parts[:n-2], "."), parts[n-2], parts[n-1]
	var args []string
	for _, o := range s.operands[1:] {
		v, err := w.value(o, from)
		if err != nil {
			return "", err
		}
		args = append(args, v)
	}
	d := register(s.operands[0])
	switch {
	case to == "f16x2" && mode == "rn" && len(args) == 2, to == "bf16x2" && mode == "rn" && len(args) == 2:
		return fmt.Sprintf("put(%s, pair_%s(%s));", d, strings.TrimSuffix(to, "x2"), strings.Join(args, ", ")), nil
	case types[to] == 0 || types[from] == 0 || len(args) != 1:
		return "", errOperands
	case w.fills(s.operands[0], to) && (mode == "" || mode == "rn") && casts(to, from):
		return fmt.Sprintf("%s = %s(%s);", d, to, args[0]), nil
	case mode == "" || mode == "rn":
		return fmt.Sprintf("put(%s, cvt<%s, %s>(%s));", d, to, from, args[0]), nil
	case mode == "rzi" || mode == "rni" || mode == "rmi" || mode == "rpi":
		return fmt.Sprintf("put(%s, cvt<%s, %s>(%s<%s>(%s)));", d, to, from, mode, from, args[0]), nil
	}
	return "", fmt.Errorf("a rounding that is not known here")
}

// casts says whether a conversion is C++'s: all but those of halves, and of rounded numbers to whole ones.
func casts(to, from string) bool {
	return to != "f16" && from != "f16" && (to[0] == 'f' || from[0] != 'f')
}

// carry is add.cc and addc.cc, which keep the carry.
func carry(w *writer, s statement, parts []string) (string, error) {
	if len(s.operands) != 3 || len(parts) != 2 || parts[0] != "cc" {
		return "", errOperands
	}
	kind, in := parts[1], "false"
	if strings.HasPrefix(s.opcode, "addc") {
		in = "carried"
	}
	a, err := w.value(s.operands[1], kind)
	if err != nil {
		return "", err
	}
	b, err := w.value(s.operands[2], kind)
	return fmt.Sprintf("put(%s, add_cc<%s>(%s, %s, %s, &carried));", register(s.operands[0]), kind, a, b, in), err
}
