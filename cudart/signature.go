package cudart

import (
	"fmt"
	"math"
	"regexp"
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

var (
	comments = regexp.MustCompile(`(?s)//[^\n]*|/\*.*?\*/`)
	noise    = regexp.MustCompile(`\b(__restrict__|__restrict|restrict|volatile|__grid_constant__|std::|const)\b|std::`)
	spaces   = regexp.MustCompile(`\s+`)
	lastName = regexp.MustCompile(`^(.*[\s*&])([A-Za-z_]\w*)\s*(\[\s*\])?$`)
)

// signature returns the parameters of a kernel in a source; ok is false if it is not declared in plain sight, as where a macro makes it.
func signature(src, name string) (params []parameter, ok bool) {
	src = comments.ReplaceAllString(src, " ")
	at := regexp.MustCompile(`__global__[^;{}]*?\b` + regexp.QuoteMeta(name) + `\s*\(`).FindStringIndex(src)
	if at == nil {
		return nil, false
	}
	depth, start := 0, at[1]
	for i := at[1]; i < len(src); i++ {
		switch c := src[i]; {
		case c == '(' || c == '<' || c == '[':
			depth++
		case depth > 0 && (c == ')' || c == '>' || c == ']'):
			depth--
		case depth == 0 && (c == ',' || c == ')'):
			if text := strings.TrimSpace(spaces.ReplaceAllString(src[start:i], " ")); text != "" && text != "void" {
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
	p.readOnly = p.pointer && regexp.MustCompile(`\bconst\b`).MatchString(before)
	t := text
	if m := lastName.FindStringSubmatch(text); m != nil && kindOf[strings.TrimSpace(text)] == "" {
		t = m[1]
	}
	t = noise.ReplaceAllString(strings.NewReplacer("*", " ", "&", " ").Replace(t), " ")
	p.kind = kindOf[strings.TrimSpace(spaces.ReplaceAllString(t, " "))]
	if strings.Count(text, "*") > 1 {
		p.kind = "" // a pointer to pointers
	}
	return p
}

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
