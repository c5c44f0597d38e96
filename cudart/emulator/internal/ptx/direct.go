package ptx

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Most instructions are an operator of C++ on variables of the instruction's own type, and are written as that: compilers take twice as long
// for the functions of ptx.h, which go from any type to any. Those remain for all else.

// operators are the instructions of which that is true, by mnemonic: what is written, with $ for the f of float functions, and the types.
// C++'s whole numbers of 16 bits become int when they are added, so they are not among them; those with a sign are added as without, for
// they wrap around.
var operators = map[string]struct{ text, kinds string }{
	"mov": {"%s", "pred b16 u16 b32 u32 s32 b64 u64 s64 f32 f64"},
	"add": {"%s + %s", "u32 s32 u64 s64 f32 f64"}, "add.rn": {"%s + %s", "f32 f64"},
	"sub": {"%s - %s", "u32 s32 u64 s64 f32 f64"}, "sub.rn": {"%s - %s", "f32 f64"},
	"mul.lo": {"%s * %s", "u32 s32 u64 s64"}, "mul.rn": {"%s * %s", "f32 f64"}, "div.rn": {"%s / %s", "f32 f64"},
	"mad.lo": {"%s * %s + %s", "u32 s32 u64 s64"}, "fma.rn": {"__builtin_fma$(%s, %s, %s)", "f32 f64"},
	"neg": {"-%s", "f32 f64"}, "abs": {"__builtin_fabs$(%s)", "f32 f64"},
	"and": {"%s & %s", "pred b32 b64"}, "or": {"%s | %s", "pred b32 b64"}, "xor": {"%s ^ %s", "pred b32 b64"}, "not": {"~%s", "b32 b64"},
	"selp": {"%[3]s ? %[1]s : %[2]s", "b32 u32 s32 b64 u64 s64 f32 f64"},
}

// comparisons are setp's that are an operator; ne of rounded numbers is none, for NaN is not unequal to anything there.
var comparisons = map[string]struct{ text, kinds string }{
	"eq": {"%s == %s", "b32 u32 s32 b64 u64 s64 f32 f64"}, "ne": {"%s != %s", "b32 u32 s32 b64 u64 s64"}, "neu": {"%s != %s", "f32 f64"},
	"lt": {"%s < %s", "u32 s32 u64 s64 f32 f64"}, "le": {"%s <= %s", "u32 s32 u64 s64 f32 f64"},
	"gt": {"%s > %s", "u32 s32 u64 s64 f32 f64"}, "ge": {"%s >= %s", "u32 s32 u64 s64 f32 f64"},
	"ltu": {"!(%s >= %s)", "f32 f64"}, "leu": {"!(%s > %s)", "f32 f64"}, "gtu": {"!(%s <= %s)", "f32 f64"}, "geu": {"!(%s < %s)", "f32 f64"},
}

// unsigned are the types of whole numbers as registers have them.
var unsigned = map[string]string{"b16": "u16", "s16": "u16", "b32": "u32", "s32": "u32", "b64": "u64", "s64": "u64"}

// cname is the type of the register that a value of a type fills.
func cname(kind string) string {
	if u := unsigned[kind]; u != "" {
		return u
	}
	return kind
}

// direct returns the statement of an instruction that is an operator, or "" if it is none.
func (w *writer) direct(mnemonic, kind string, s statement) string {
	o := operators[mnemonic]
	if mnemonic == "shl" || mnemonic == "shr" {
		o = w.shift(mnemonic, kind, s)
	}
	if !strings.Contains(" "+o.kinds+" ", " "+kind+" ") || !w.fills(s.operands[0], kind) {
		return ""
	}
	as := cname(kind)
	if mnemonic == "shr" {
		as = kind // with copies of the sign
	}
	text, ok := w.operate(o.text, as, s.operands[1:])
	if !ok {
		return ""
	}
	return register(s.operands[0]) + " = " + text + ";"
}

// shift is an operator if it is by a number that is known, and less than there are bits.
func (w *writer) shift(mnemonic, kind string, s statement) (o struct{ text, kinds string }) {
	if len(s.operands) != 3 {
		return o
	}
	n, err := strconv.ParseUint(s.operands[2], 0, 8)
	if err != nil || int(n) >= 8*types[kind] || types[kind] < 4 {
		return o
	}
	o.text, o.kinds = map[string]string{"shl": "%s << %s", "shr": "%s >> %s"}[mnemonic], kind
	return o
}

// operate fills in operands; selp's last one is a predicate.
func (w *writer) operate(text, kind string, operands []string) (string, bool) {
	if strings.Count(text, "%") != len(operands) {
		return "", false
	}
	suffix := map[string]string{"f32": "f"}[kind]
	args := make([]any, len(operands))
	for i, o := range operands {
		as := kind
		if w.kinds[o] == "pred" {
			as = "pred"
		} else if strings.Contains(text, "<<") || strings.Contains(text, ">>") {
			as = map[int]string{0: kind, 1: "u32"}[i]
		}
		v, err := w.value(o, as)
		if err != nil {
			return "", false // the function's statement says what is wrong
		}
		args[i] = v
	}
	return fmt.Sprintf(strings.ReplaceAll(text, "$", suffix), args...), true
}

// fills says whether a register is as wide as a type, and of its kind.
func (w *writer) fills(name, kind string) bool { return ctypes[w.kinds[name]] == cname(kind) }

// read is a register as a type.
func (w *writer) read(name, kind string) string {
	has := ctypes[w.kinds[name]]
	switch {
	case has == kind || has != "" && has == unsigned[kind] && kind[0] == 'b':
		return register(name)
	case has != "" && has == unsigned[kind]:
		return kind + "(" + register(name) + ")"
	}
	return fmt.Sprintf("get<%s>(%s)", kind, register(name))
}

// assign writes a value of a type to a register.
func (w *writer) assign(name, kind, value string) string {
	if w.fills(name, kind) {
		return register(name) + " = " + value + ";"
	}
	return "put(" + register(name) + ", " + value + ");"
}

// literal is a number as a type, or "" if C++ has no short way to write it.
func literal(operand, kind string) string {
	switch {
	case strings.HasPrefix(operand, "0f") && kind == "f32":
		if b, err := strconv.ParseUint(operand[2:], 16, 32); err == nil {
			if v := math.Float32frombits(uint32(b)); !math.IsNaN(float64(v)) && !math.IsInf(float64(v), 0) {
				return strconv.FormatFloat(float64(v), 'x', -1, 32) + "f"
			}
		}
	case strings.HasPrefix(operand, "0d") && kind == "f64":
		if b, err := strconv.ParseUint(operand[2:], 16, 64); err == nil {
			if v := math.Float64frombits(b); !math.IsNaN(v) && !math.IsInf(v, 0) {
				return strconv.FormatFloat(v, 'x', -1, 64)
			}
		}
	case kind == "u32" || kind == "b32":
		if n, err := strconv.ParseInt(operand, 0, 64); err == nil && n >= 0 && n <= math.MaxUint32 {
			return strconv.FormatInt(n, 10) + "u"
		}
	case kind == "u64" || kind == "b64":
		if n, err := strconv.ParseInt(operand, 0, 64); err == nil && n >= 0 {
			return strconv.FormatInt(n, 10) + "ull"
		}
	}
	return ""
}
