package cudart

import (
	"slices"
	"strings"

	"github.com/halftone-ml/halftone/amp"
)

// A parameter is one of a kernel's, as its source declares it.
type parameter struct {
	text     string // "const float *x"
	kind     string // "float", "long long" …, of what a pointer points to; "" if the source's own name for a type
	pointer  bool
	readOnly bool // a pointer to const
	open     bool // whether it is a pointer is not known
	bytes    int  // by the driver; 0 if it does not tell
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

// A declaration is one __global__ in a source.
type declaration struct {
	template bool   // one, or one made of it: no kernel that is found by the name alone
	head     string // from behind __global__ to the body, if not further
	at       int    // where the head begins
}

// declarations lists them, in the source's order.
func declarations(src string) (all []declaration) {
	const global = "__global__"
	for at := 0; ; {
		i := strings.Index(src[at:], global)
		if i < 0 {
			return all
		}
		before := src[:at+i]
		at += i + len(global)
		head := src[at:]
		if end := strings.IndexAny(head, ";{}"); end >= 0 {
			head = head[:end]
		}
		before = before[strings.LastIndexAny(before, ";{}")+1:]
		all = append(all, declaration{slices.Contains(words(before), "template"), head, at})
	}
}

// parameters returns where those of a kernel begin: behind its name and a parenthesis; -1 if it is another's declaration.
func (d declaration) parameters(name string) int {
	for from := 0; ; {
		i := strings.Index(d.head[from:], name)
		if i < 0 {
			return -1
		}
		i += from
		from = i + 1
		if i > 0 && isWord(d.head[i-1]) {
			continue
		}
		rest := d.head[i+len(name):]
		if open := strings.TrimLeft(rest, " \t\r\n"); strings.HasPrefix(open, "(") {
			return d.at + len(d.head) - len(open) + 1
		}
	}
}

// isTemplate says whether a source has a kernel of that name only as a template.
func isTemplate(src, name string) bool {
	src = withoutComments(src)
	return slices.ContainsFunc(declarations(src), func(d declaration) bool { return d.template && d.parameters(name) >= 0 })
}

// kernelNames lists the kernels that a source declares in plain sight, in its order: the word before the parenthesis behind __global__.
func kernelNames(src string) (names []string) {
	for _, d := range declarations(withoutDirectives(withoutComments(src))) {
		head := d.head
		if d.template {
			continue
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

// signature returns the parameters of a kernel in a source; ok is false if it is not declared in plain sight, as where a macro makes it, or
// in several ways, of which the preprocessor takes one. Where these differ in a parameter's type alone, that is left open.
func signature(src, name string) (params []parameter, ok bool) {
	src = withoutComments(src)
	for _, d := range declarations(src) {
		begin := d.parameters(name)
		if begin < 0 || d.template {
			continue
		}
		list, closed := parametersFrom(src[begin:])
		switch {
		case !closed || ok && len(list) != len(params):
			return nil, false
		case !ok:
			params, ok = list, true
			continue
		}
		for i, p := range list {
			params[i].agree(p)
		}
	}
	return params, ok
}

// agree leaves open what another declaration of the parameter says in another way.
func (p *parameter) agree(o parameter) {
	if p.kind != o.kind || p.pointer != o.pointer {
		p.kind, p.pointer, p.open = "", p.pointer && o.pointer, p.open || p.pointer != o.pointer
	}
	p.readOnly = p.readOnly && o.readOnly
}

// parametersFrom reads parameters up to the parenthesis that closes their list.
func parametersFrom(src string) (params []parameter, closed bool) {
	depth, start := 0, 0
	for i := range len(src) {
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
