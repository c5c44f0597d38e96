package kernels

import (
	"fmt"
	"strings"
	"sync"
)

// A unit is compiled by the driver as a whole, which takes seconds for the large ones. Programs need a few kernels of each: what is
// loaded is a module of one kernel, cut out of its unit's text.

// A text is the PTX of a unit in its parts: the header, and declarations and definitions in their order.
type text struct {
	header string
	parts  []string
	by     map[string][]int // parts that declare or define a name
}

var (
	textsMu sync.Mutex
	texts   = map[string]*text{} // by unit and capability
)

// Kernel returns a module with the kernel of a symbol alone for a device of a compute capability (70, 86, 90 …), nil if it has none there.
func Kernel(symbol string, capability int) ([]byte, error) {
	unit := Unit(symbol)
	if unit == "" {
		return nil, nil
	}
	textsMu.Lock()
	defer textsMu.Unlock()
	key := fmt.Sprint(unit, " ", capability)
	t := texts[key]
	if t == nil {
		ptx, err := PTX(unit, capability)
		if err != nil {
			return nil, err
		}
		if t, err = parse(string(ptx)); err != nil {
			return nil, fmt.Errorf("kernels: unit %s: %w", unit, err)
		}
		texts[key] = t
	}
	return t.extract(symbol), nil
}

// parse splits PTX as clang writes it: what begins at the margin with a dot ends with a brace at the margin, or with a semicolon.
func parse(ptx string) (*text, error) {
	t := &text{by: map[string][]int{}}
	var part strings.Builder
	body := false
	for line := range strings.Lines(ptx) {
		trimmed := strings.TrimRight(line, " \t\n")
		if part.Len() == 0 {
			if trimmed == "" {
				continue
			}
			if strings.HasPrefix(trimmed, ".version") || strings.HasPrefix(trimmed, ".target") || strings.HasPrefix(trimmed, ".address_size") {
				t.header += line
				continue
			}
		}
		part.WriteString(line)
		body = body || trimmed == "{"
		if trimmed == "}" || !body && strings.HasSuffix(trimmed, ";") {
			if err := t.add(part.String()); err != nil {
				return nil, err
			}
			part.Reset()
			body = false
		}
	}
	if part.Len() > 0 || t.header == "" {
		return nil, fmt.Errorf("PTX ends within a function, or has no header")
	}
	return t, nil
}

func (t *text) add(part string) error {
	head, _, _ := strings.Cut(part, "{")
	name := nameIn(head)
	if name == "" {
		return fmt.Errorf("no name in %q", head[:min(len(head), 80)])
	}
	t.by[name] = append(t.by[name], len(t.parts))
	t.parts = append(t.parts, part)
	return nil
}

// extract returns the kernel and what it refers to, nil without it.
func (t *text) extract(symbol string) []byte {
	if t.by[symbol] == nil {
		return nil
	}
	needed := make([]bool, len(t.parts))
	var visit func(name string)
	visit = func(name string) {
		for _, i := range t.by[name] {
			if needed[i] {
				continue
			}
			needed[i] = true
			eachWord(t.parts[i], func(other string) bool {
				if t.by[other] != nil && other != name {
					visit(other)
				}
				return true
			})
		}
	}
	visit(symbol)
	out := []byte(t.header)
	for i, part := range t.parts {
		if needed[i] {
			out = append(out, part...)
		}
	}
	return out
}

// Words are read by hand: package regexp would be linked into every cell that may use a GPU.

// isLetter says whether c may begin a name, of PTX or C.
func isLetter(c byte) bool {
	return 'a' <= c|0x20 && c|0x20 <= 'z' || c == '_' || c == '$'
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// eachWord calls f with the names in PTX, the parts of dotted ones too, until it returns false.
func eachWord(s string, f func(word string) bool) {
	for i := 0; i < len(s); {
		if !isLetter(s[i]) {
			i++
			continue
		}
		start := i
		for i < len(s) && (isLetter(s[i]) || isDigit(s[i])) {
			i++
		}
		if !f(s[start:i]) {
			return
		}
	}
}

// nameIn returns what the head of a part names: of a function the first name after ".entry" or ".func" and what that returns, of a
// variable the last name before its size or value.
func nameIn(head string) (name string) {
	for _, word := range []string{".entry", ".func"} {
		_, rest, ok := strings.Cut(head, word)
		if !ok {
			continue
		}
		if rest = strings.TrimLeft(rest, " \t\n"); strings.HasPrefix(rest, "(") {
			_, rest, _ = strings.Cut(rest, ")")
		}
		eachWord(rest, func(w string) bool { name = w; return false })
		return name
	}
	if !strings.HasPrefix(head, ".") {
		return ""
	}
	if end := strings.IndexAny(head, "[=;"); end >= 0 {
		head = head[:end]
	}
	eachWord(head, func(w string) bool { name = w; return true })
	return name
}
