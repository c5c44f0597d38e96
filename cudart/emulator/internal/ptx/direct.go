package ptx

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Most instructions are an operator of C++ on variables of the instruction's own type, and are written as that: compilers take twice as long
// for the functions of ptx.h, which go from any type to any. Those remain for all else.

// An operator is what is written for an instruction, with $ for the f of float functions, and the types of which that is true.
type operator struct{ text, kinds string }

// none is that of instructions without.
var none operator

const (
	wholes = "b32 u32 s32 b64 u64 s64"
	wide   = "u32 s32 u64 s64 f32 f64" // of 32 bits or more
)

// comparisons are setp's that are an operator; ne of rounded numbers is none, for NaN is not unequal to anything there.
var comparisons = map[string]operator{
	"eq": {"%s == %s", wholes + " f32 f64"}, "ne": {"%s != %s", wholes}, "neu": {"%s != %s", "f32 f64"},
	"lt": {"%s < %s", wide}, "le": {"%s <= %s", wide},
	"gt": {"%s > %s", wide}, "ge": {"%s >= %s", wide},
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
func (w *writer) direct(p plain, kind string, s statement) string {
	if !p.operator.takes(kind) || !w.fills(s.operands[0], kind) {
		return ""
	}
	as := cname(kind)
	switch p.mnemonic {
	case "shr":
		as = kind // with copies of the sign
		fallthrough
	case "shl": // of C++ only by less than there are bits
		if n, err := strconv.ParseUint(s.operands[2], 0, 8); err != nil || int(n) >= 8*types[kind] {
			return ""
		}
	}
	text, ok := w.operate(p.operator.text, as, s.operands[1:])
	if !ok {
		return ""
	}
	return register(s.operands[0]) + " = " + text + ";"
}

// takes says whether it is an operator for a type.
func (o operator) takes(kind string) bool { return slices.Contains(strings.Fields(o.kinds), kind) }

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
