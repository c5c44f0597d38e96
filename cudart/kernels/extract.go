package kernels

import (
	"fmt"
	"regexp"
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

	ptxName = regexp.MustCompile(`[A-Za-z_$][\w$]*`)
	ptxHead = regexp.MustCompile(`\.(?:entry|func)\s+(?:\([^)]*\)\s*)?([A-Za-z_$][\w$]*)|^\.(?:extern |visible )?\.?(?:shared|global|const)\b[^;=]*?([A-Za-z_$][\w$]*)\s*(?:\[[^;]*)?(?:=|;)`)
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
	m := ptxHead.FindStringSubmatch(head)
	if m == nil {
		return fmt.Errorf("no name in %q", head[:min(len(head), 80)])
	}
	name := m[1] + m[2]
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
			for _, other := range ptxName.FindAllString(t.parts[i], -1) {
				if other != name {
					visit(other)
				}
			}
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
