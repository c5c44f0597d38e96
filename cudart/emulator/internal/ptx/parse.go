package ptx

import (
	"fmt"
	"strconv"
	"strings"
)

// A module is the text of a module in its parts.
type module struct {
	functions []*function
	variables []variable // of the module: static shared memory and constants
}

// A function is a kernel, or a function that kernels call.
type function struct {
	name      string
	entry     bool
	threads   int        // at most in a block, as .maxntid says; 0 if nothing does
	returns   string     // the name of what it returns, "" for nothing
	params    []variable // sizes in bytes
	registers []registers
	locals    []variable
	body      []statement // nil of one that is only declared
}

// A variable is an array in some space.
type variable struct {
	space string // "shared", "global", "local", "param"
	name  string
	bytes int      // 0 of what the launch gives
	align int      // in bytes
	width int      // of an element, in bytes
	init  []string // elements, nil for none
}

// registers are n of them with names that count up, or a single one when n is 0.
type registers struct {
	name, kind string
	n          int
}

// A statement is an instruction, a label, a declaration within braces, or a brace.
type statement struct {
	guard    string // "%p1", "!%p1", or ""
	opcode   string // "add.s32"; "{" and "}"; "label"
	operands []string
	declared any // registers or variable, of a declaration
}

// parse reads a module as clang writes it, without comments.
func parse(text string) (*module, error) {
	m := &module{}
	rest := text
	for {
		rest = strings.TrimLeft(rest, " \t\n")
		if rest == "" {
			return m, nil
		}
		head := rest[:strings.IndexAny(rest+"\n", "\n")]
		switch {
		case strings.HasPrefix(head, ".version"), strings.HasPrefix(head, ".target"), strings.HasPrefix(head, ".address_size"):
			rest = rest[len(head):]
		case strings.Contains(head, ".entry"), strings.Contains(head, ".func"):
			end := strings.IndexAny(rest, "{;")
			if end < 0 {
				return nil, fmt.Errorf("ptx: %q has no end", head)
			}
			f, err := parseHead(rest[:end])
			if err != nil {
				return nil, err
			}
			if rest[end] == '{' {
				stop := strings.Index(rest, "\n}")
				if stop < 0 {
					return nil, fmt.Errorf("ptx: the body of %s has no end", f.name)
				}
				if err := f.parseBody(rest[end+1 : stop]); err != nil {
					return nil, fmt.Errorf("ptx: %s: %w", f.name, err)
				}
				end = stop + 1
			}
			m.functions = append(m.functions, f)
			rest = rest[end+1:]
		default:
			end := strings.IndexByte(rest, ';')
			if end < 0 {
				return nil, fmt.Errorf("ptx: %q has no end", head)
			}
			v, err := parseVariable(rest[:end])
			if err != nil {
				return nil, err
			}
			m.variables = append(m.variables, v)
			rest = rest[end+1:]
		}
	}
}

// parseHead reads ".visible .entry name(.param .align 8 .b8 p[96]) .maxntid 128, 1, 1" and what stands before a function's body.
func parseHead(head string) (*function, error) {
	f := &function{entry: strings.Contains(head, ".entry")}
	_, rest, _ := strings.Cut(strings.Replace(head, ".entry", ".func", 1), ".func")
	rest = strings.TrimSpace(rest)
	if strings.HasPrefix(rest, "(") {
		var what string
		what, rest, _ = strings.Cut(rest[1:], ")")
		v, err := parseVariable(what)
		if err != nil {
			return nil, err
		}
		f.returns = v.name
	}
	name, params, ok := strings.Cut(rest, "(")
	if f.name = strings.TrimSpace(name); f.name == "" || !ok {
		return nil, fmt.Errorf("ptx: no name and parameters in %q", head)
	}
	params, after, _ := strings.Cut(params, ")")
	for p := range strings.SplitSeq(params, ",") {
		if strings.TrimSpace(p) == "" {
			continue
		}
		v, err := parseVariable(p)
		if err != nil {
			return nil, err
		}
		f.params = append(f.params, v)
	}
	if _, sizes, ok := strings.Cut(after, ".maxntid"); ok {
		line, _, _ := strings.Cut(strings.TrimSpace(sizes), "\n")
		f.threads = 1
		for n := range strings.SplitSeq(line, ",") {
			v, err := strconv.Atoi(strings.TrimSpace(n))
			if err != nil {
				return nil, fmt.Errorf("ptx: %s: .maxntid %s: %w", f.name, line, err)
			}
			f.threads *= v
		}
	}
	return f, nil
}

// parseVariable reads ".shared .align 8 .b8 name[2048]", ".param .b64 name", ".global .align 4 .b8 name[2] = {1, 2}".
func parseVariable(text string) (variable, error) {
	declared, init, _ := strings.Cut(text, "=")
	v := variable{align: 1}
	words := strings.Fields(declared)
	for i := 0; i < len(words); i++ {
		switch w := words[i]; {
		case w == ".extern", w == ".visible", w == ".weak":
		case w == ".shared", w == ".global", w == ".local", w == ".param":
			v.space = w[1:]
		case w == ".align" && i+1 < len(words):
			i++
			n, err := strconv.Atoi(words[i])
			if err != nil {
				return v, fmt.Errorf("ptx: %q: %w", text, err)
			}
			v.align = n
		case strings.HasPrefix(w, "."):
			bits, err := strconv.Atoi(w[2:])
			if err != nil {
				return v, fmt.Errorf("ptx: no type in %q", text)
			}
			v.width = bits / 8
		default:
			name, count, array := strings.Cut(w, "[")
			v.name, v.bytes = name, v.width
			if array {
				n, _ := strconv.Atoi(strings.TrimSuffix(count, "]"))
				v.bytes *= n
			}
		}
	}
	if v.space == "" || v.name == "" || v.width == 0 {
		return v, fmt.Errorf("ptx: %q is no variable", text)
	}
	v.align = max(v.align, v.width)
	if init = strings.Trim(strings.TrimSpace(init), "{}"); init != "" {
		for e := range strings.SplitSeq(init, ",") {
			v.init = append(v.init, strings.TrimSpace(e))
		}
	}
	return v, nil
}

// parseBody reads what is between a function's braces.
func (f *function) parseBody(text string) error {
	f.body = []statement{}
	depth := 0
	for {
		text = strings.TrimLeft(text, " \t\n")
		if text == "" {
			return nil
		}
		if text[0] == '{' || text[0] == '}' {
			depth += map[byte]int{'{': 1, '}': -1}[text[0]]
			f.body = append(f.body, statement{opcode: text[:1]})
			text = text[1:]
			continue
		}
		end := endOfStatement(text)
		if end < 0 {
			return fmt.Errorf("%q has no end", text)
		}
		one := strings.TrimSpace(text[:end])
		label := text[end] == ':'
		text = text[end+1:]
		switch {
		case label:
			f.body = append(f.body, statement{opcode: "label", operands: []string{one}})
		case strings.HasPrefix(one, ".pragma"):
		case strings.HasPrefix(one, ".reg"):
			r, err := parseRegisters(one)
			if err != nil {
				return err
			}
			if depth > 0 {
				f.body = append(f.body, statement{declared: r})
			} else {
				f.registers = append(f.registers, r)
			}
		case strings.HasPrefix(one, "."):
			v, err := parseVariable(one)
			if err != nil {
				return err
			}
			if v.space == "param" {
				f.body = append(f.body, statement{declared: v})
			} else {
				f.locals = append(f.locals, v)
			}
		default:
			s, err := parseInstruction(one)
			if err != nil {
				return err
			}
			f.body = append(f.body, s)
		}
	}
}

// endOfStatement finds the semicolon, or the colon of a label, that ends what text begins with: "::" is within a name, "shared::cta".
func endOfStatement(text string) int {
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] == ';':
			return i
		case strings.HasPrefix(text[i:], "::"):
			i++
		case text[i] == ':':
			return i
		}
	}
	return -1
}

// parseRegisters reads ".reg .b32 %r<12>" and ".reg .pred p".
func parseRegisters(text string) (registers, error) {
	words := strings.Fields(text)
	if len(words) != 3 {
		return registers{}, fmt.Errorf("%q is no declaration of registers", text)
	}
	r := registers{kind: strings.TrimPrefix(words[1], ".")}
	name, count, many := strings.Cut(words[2], "<")
	r.name = name
	if many {
		n, err := strconv.Atoi(strings.TrimSuffix(count, ">"))
		if err != nil {
			return r, fmt.Errorf("%q: %w", text, err)
		}
		r.n = n
	}
	return r, nil
}

// parseInstruction reads "@%p1 add.s32 %r1, %r2, 3"; operands in braces, brackets or parentheses stay whole.
func parseInstruction(text string) (statement, error) {
	var s statement
	if guard, ok := strings.CutPrefix(text, "@"); ok {
		s.guard, text, ok = strings.Cut(guard, " ")
		if !ok {
			return s, fmt.Errorf("%q is guarded and no instruction", text)
		}
		text = strings.TrimSpace(text)
	}
	end := strings.IndexAny(text+" ", " \t\n")
	s.opcode, text = text[:end], text[min(end, len(text)):]
	depth, from := 0, 0
	add := func(to int) {
		if one := strings.Join(strings.Fields(text[from:to]), " "); one != "" {
			s.operands = append(s.operands, one)
		}
	}
	for i, c := range text {
		switch c {
		case '{', '[', '(':
			depth++
		case '}', ']', ')':
			depth--
		case ',':
			if depth == 0 {
				add(i)
				from = i + 1
			}
		}
	}
	add(len(text))
	if depth != 0 {
		return s, fmt.Errorf("%q: brackets do not close", text)
	}
	return s, nil
}
