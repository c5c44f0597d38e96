package cudart

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/cudart/driver"
)

// A parameter is one of a kernel's, as its source declares it.
type parameter struct {
	text     string // "const float *x"
	kind     string // "float", "long long" …, of what a pointer points to; "" if the source's own name for a type
	pointer  bool
	readOnly bool // a pointer to const
}

// The types that parameters are checked against, by their names in CUDA C++.
var kindOf = map[string]string{
	"float": "float", "double": "double", "bool": "bool",
	"char": "byte", "signed char": "byte", "unsigned char": "byte", "int8_t": "byte", "uint8_t": "byte",
	"short": "short", "unsigned short": "short", "int16_t": "short", "uint16_t": "short",
	"int": "int", "signed": "int", "signed int": "int", "int32_t": "int",
	"unsigned": "unsigned", "unsigned int": "unsigned", "uint32_t": "unsigned",
	"long": "long long", "long int": "long long", "long long": "long long", "long long int": "long long", "int64_t": "long long", "ptrdiff_t": "long long",
	"unsigned long": "unsigned long long", "unsigned long long": "unsigned long long", "uint64_t": "unsigned long long", "size_t": "unsigned long long",
	"half": "half", "__half": "half", "_Float16": "half", "__nv_bfloat16": "bfloat16", "nv_bfloat16": "bfloat16", "__bf16": "bfloat16", "void": "void",
}

// elementKinds are the kinds of pointers that a tensor of a dtype goes with: halves may be taken for their bits.
var elementKinds = map[amp.DType][]string{
	amp.Float16: {"half", "short"}, amp.BFloat16: {"bfloat16", "short"}, amp.Float32: {"float"}, amp.Float64: {"double"},
	amp.Int64: {"long long", "unsigned long long"}, amp.Bool: {"bool", "byte"},
}

// The source is read by hand: package regexp would be linked into every cell that may use a GPU.

func isWord(c byte) bool {
	return 'a' <= c|0x20 && c|0x20 <= 'z' || c == '_' || '0' <= c && c <= '9'
}

// withoutComments puts a space in the place of each.
func withoutComments(src string) string {
	var b strings.Builder
	for src != "" {
		i := strings.IndexByte(src, '/')
		if i < 0 || i+1 == len(src) {
			break
		}
		end := i + 1
		switch src[i+1] {
		case '/':
			if end = strings.IndexByte(src[i:], '\n'); end < 0 {
				end = len(src) - i
			}
			end += i
		case '*':
			if end = strings.Index(src[i+2:], "*/"); end < 0 {
				b.WriteString(src)
				return b.String()
			}
			end += i + 4
		default:
			b.WriteString(src[:end])
			src = src[end:]
			continue
		}
		b.WriteString(src[:i] + " ")
		src = src[end:]
	}
	b.WriteString(src)
	return b.String()
}

// afterHead returns where the parameters of a kernel begin: behind __global__, its name and a parenthesis; -1 if it is nowhere declared.
func afterHead(src, name string) int {
	const global = "__global__"
	for at := 0; ; {
		i := strings.Index(src[at:], global)
		if i < 0 {
			return -1
		}
		at += i + len(global)
		head := src[at:]
		if end := strings.IndexAny(head, ";{}"); end >= 0 {
			head = head[:end]
		}
		for from := 0; ; {
			i := strings.Index(head[from:], name)
			if i < 0 {
				break
			}
			i += from
			from = i + 1
			if i > 0 && isWord(head[i-1]) {
				continue
			}
			rest := head[i+len(name):]
			if open := strings.TrimLeft(rest, " \t\r\n"); strings.HasPrefix(open, "(") {
				return at + len(head) - len(open) + 1
			}
		}
	}
}

// kernelNames lists the kernels that a source declares in plain sight, in its order: the word before the parenthesis behind __global__.
func kernelNames(src string) (names []string) {
	_, rest, found := strings.Cut(withoutDirectives(withoutComments(src)), "__global__")
	for found {
		var head string
		head, rest, found = strings.Cut(rest, "__global__")
		if end := strings.IndexAny(head, ";{}"); end >= 0 {
			head = head[:end]
		}
		if _, bounds, ok := strings.Cut(head, "__launch_bounds__"); ok { // which has a parenthesis of its own
			_, head, _ = strings.Cut(bounds, ")")
		}
		before, _, ok := strings.Cut(head, "(")
		if list := words(before); ok && len(list) > 0 && !slices.Contains(names, list[len(list)-1]) {
			names = append(names, list[len(list)-1])
		}
	}
	return names
}

// withoutDirectives leaves out #define and the like, with the lines they go on to.
func withoutDirectives(src string) string {
	var b strings.Builder
	on := false
	for line := range strings.Lines(src) {
		on = on || strings.HasPrefix(strings.TrimSpace(line), "#")
		if !on {
			b.WriteString(line)
		}
		on = on && strings.HasSuffix(strings.TrimRight(line, "\r\n"), "\\")
	}
	return b.String()
}

// words lists the names of a declaration, without "std::".
func words(text string) (list []string) {
	text = strings.ReplaceAll(text, "std::", " ")
	for i := 0; i < len(text); {
		start := i
		for i < len(text) && isWord(text[i]) {
			i++
		}
		if i == start {
			i++
			continue
		}
		list = append(list, text[start:i])
	}
	return list
}

// signature returns the parameters of a kernel in a source; ok is false if it is not declared in plain sight, as where a macro makes it.
func signature(src, name string) (params []parameter, ok bool) {
	src = withoutComments(src)
	begin := afterHead(src, name)
	if begin < 0 {
		return nil, false
	}
	depth, start := 0, begin
	for i := begin; i < len(src); i++ {
		switch c := src[i]; {
		case c == '(' || c == '<' || c == '[':
			depth++
		case depth > 0 && (c == ')' || c == '>' || c == ']'):
			depth--
		case depth == 0 && (c == ',' || c == ')'):
			if text := strings.Join(strings.Fields(src[start:i]), " "); text != "" && text != "void" {
				params = append(params, newParameter(text))
			}
			if start = i + 1; c == ')' {
				return params, true
			}
		}
	}
	return nil, false
}

func newParameter(text string) parameter {
	p := parameter{text: text, pointer: strings.ContainsAny(text, "*[")}
	before, _, _ := strings.Cut(text, "*")
	p.readOnly = p.pointer && slices.Contains(words(before), "const")
	if !strings.ContainsAny(strings.ReplaceAll(text, "std::", ""), "<>:") { // a template's or a namespace's type is the source's own
		p.kind = kindOfWords(words(text))
	}
	if strings.Count(text, "*") > 1 {
		p.kind = "" // a pointer to pointers
	}
	return p
}

// kindOfWords returns the kind of a type of these words, of which the last may be the parameter's name.
func kindOfWords(list []string) string {
	list = slices.DeleteFunc(list, func(w string) bool { return slices.Contains(qualifiers, w) })
	if kind := kindOf[strings.Join(list, " ")]; kind != "" || len(list) == 0 {
		return kind
	}
	return kindOf[strings.Join(list[:len(list)-1], " ")]
}

// qualifiers say nothing of a type's size.
var qualifiers = []string{"__restrict__", "__restrict", "restrict", "volatile", "__grid_constant__", "const"}

// tensor says why a tensor does not go with the parameter; nil if it does or that can't be known.
func (p parameter) tensor(t *amp.Tensor) error {
	switch {
	case !p.pointer && p.kind != "":
		return fmt.Errorf("the kernel takes a number there; pass one, such as t.Item()")
	case p.kind == "" || p.kind == "void":
		return nil
	}
	for _, k := range elementKinds[t.DType()] {
		if k == p.kind {
			return nil
		}
	}
	return fmt.Errorf("a tensor of %v; cast it, or declare the parameter for %v", t.DType(), t.DType())
}

// number adds a Go number to a launch's parameters as the C type that the kernel declares. For a type of the source's own the Go type's
// size is taken, and int, which has none in C, is refused.
func (p parameter) number(a *driver.Args, v any) error {
	if p.pointer {
		return fmt.Errorf("the kernel takes a pointer there; pass a tensor")
	}
	f, i, whole, ok := numberOf(v)
	if !ok {
		return fmt.Errorf("a %T can't be passed; pass a tensor or a number", v)
	}
	inexact := func() error { return fmt.Errorf("%v does not fit %s", v, p.kind) }
	switch p.kind {
	case "float":
		a.Float32(float32(f))
	case "double":
		a.Float64(f)
	case "int":
		if !whole || int64(int32(i)) != i {
			return inexact()
		}
		a.Int32(int32(i))
	case "unsigned":
		if !whole || int64(uint32(i)) != i {
			return inexact()
		}
		a.Int32(int32(uint32(i)))
	case "bool":
		return addBool(a, v)
	case "long long":
		if !whole {
			return inexact()
		}
		a.Int64(i)
	case "unsigned long long":
		if !whole || i < 0 {
			return inexact()
		}
		a.Int64(i)
	case "":
		return addAs(a, v)
	default:
		return fmt.Errorf("a parameter of %s is not supported; declare it as int or float", p.kind)
	}
	return nil
}

// numberOf returns a number as float64 and as int64; whole says that the second is exact.
func numberOf(v any) (f float64, i int64, whole, ok bool) {
	switch v := v.(type) {
	case int:
		return float64(v), int64(v), true, true
	case int32:
		return float64(v), int64(v), true, true
	case int64:
		return float64(v), v, true, true
	case uint32:
		return float64(v), int64(v), true, true
	case uint64:
		return float64(v), int64(v), v <= math.MaxInt64, true
	case float32:
		return float64(v), int64(v), float32(int64(v)) == v, true
	case float64:
		return v, int64(v), float64(int64(v)) == v, true
	case bool:
		if v {
			return 1, 1, true, true
		}
		return 0, 0, true, true
	}
	return 0, 0, false, false
}

func addBool(a *driver.Args, v any) error {
	b, ok := v.(bool)
	if !ok {
		return fmt.Errorf("%v is not a bool", v)
	}
	a.Int32(0) // a byte in a word of zeros
	if b {
		*(*byte)(a.Param(a.Len() - 1)) = 1
	}
	return nil
}

// addAs adds a number as its Go type.
func addAs(a *driver.Args, v any) error {
	switch v := v.(type) {
	case int32:
		a.Int32(v)
	case uint32:
		a.Int32(int32(v))
	case int64:
		a.Int64(v)
	case uint64:
		a.Uint64(v)
	case float32:
		a.Float32(v)
	case float64:
		a.Float64(v)
	case bool:
		return addBool(a, v)
	default:
		return fmt.Errorf("the size of a Go %T in C is not known; pass int32(…) or int64(…)", v)
	}
	return nil
}
