package kernel

import (
	"encoding/json"
	"regexp"
	"strings"
)

// A history is what has been run in this kernel, as the user typed it. It outlives a GoNB that dies.
type history struct {
	items []historyItem
	size  int
}

type historyItem struct {
	line int // the execution count
	code string
}

const (
	maxHistory      = 10000
	maxHistoryBytes = 16 << 20

	// session is the number of this kernel's session in history replies; 0 means the current one in a request.
	session = 1
)

func (h *history) add(line int, code string) {
	h.items = append(h.items, historyItem{line, code})
	h.size += len(code)
	for len(h.items) > maxHistory || h.size > maxHistoryBytes && len(h.items) > 1 {
		h.size -= len(h.items[0].code)
		h.items = h.items[1:]
	}
}

// answer is the content of history_reply. Inputs are the same raw or not; a cell of Go has no output value.
func (h *history) answer(request []byte) map[string]any {
	var c struct {
		Output  bool   `json:"output"`
		Access  string `json:"hist_access_type"`
		Session int    `json:"session"`
		Start   int    `json:"start"`
		Stop    *int   `json:"stop"`
		N       *int   `json:"n"`
		Pattern string `json:"pattern"`
		Unique  bool   `json:"unique"`
	}
	if err := json.Unmarshal(request, &c); err != nil {
		return errorReply("BadRequest", "history_request: "+err.Error())
	}
	var found []historyItem
	switch c.Access {
	case "tail":
		found = last(h.items, c.N)
	case "range":
		if c.Session == 0 || c.Session == session {
			found = h.between(c.Start, c.Stop)
		}
	case "search":
		found = last(h.search(c.Pattern, c.Unique), c.N)
	default:
		return errorReply("BadRequest", "history_request: hist_access_type is "+jsonText(c.Access)+": use tail, range or search")
	}
	list := make([][]any, 0, len(found))
	for _, it := range found {
		if c.Output {
			list = append(list, []any{session, it.line, []any{it.code, nil}})
		} else {
			list = append(list, []any{session, it.line, it.code})
		}
	}
	return map[string]any{"status": "ok", "history": list}
}

func last(items []historyItem, n *int) []historyItem {
	if n == nil || *n < 0 || *n >= len(items) {
		return items
	}
	return items[len(items)-*n:]
}

// between returns the lines from start up to but not including stop (nil: to the end). As in IPython, a negative number
// counts from the end.
func (h *history) between(start int, stop *int) (found []historyItem) {
	next := 1
	if n := len(h.items); n > 0 {
		next = h.items[n-1].line + 1
	}
	end := next
	if stop != nil {
		end = *stop
	}
	if start < 0 {
		start += next
	}
	if end < 0 {
		end += next
	}
	for _, it := range h.items {
		if it.line >= start && it.line < end {
			found = append(found, it)
		}
	}
	return found
}

// search returns the cells that match a shell pattern as a whole, oldest first; with unique only the latest of equal ones.
func (h *history) search(pattern string, unique bool) []historyItem {
	if pattern == "" {
		pattern = "*"
	}
	match := glob(pattern)
	seen := map[string]bool{}
	var found []historyItem
	for i := len(h.items) - 1; i >= 0; i-- {
		it := h.items[i]
		if !match.MatchString(it.code) || unique && seen[it.code] {
			continue
		}
		seen[it.code] = true
		found = append(found, it)
	}
	for i, j := 0, len(found)-1; i < j; i, j = i+1, j-1 {
		found[i], found[j] = found[j], found[i]
	}
	return found
}

// glob compiles a pattern of *, ? and [characters], where * also takes line ends: cells have many lines.
func glob(pattern string) *regexp.Regexp {
	var b strings.Builder
	b.WriteString(`(?s)\A`)
	for i := 0; i < len(pattern); i++ {
		switch c := pattern[i]; c {
		case '*':
			b.WriteString(".*")
		case '?':
			b.WriteByte('.')
		case '[':
			end := strings.IndexByte(pattern[min(i+2, len(pattern)):], ']')
			if end < 0 {
				b.WriteString(`\[`)
				continue
			}
			end += i + 2
			set := pattern[i+1 : end]
			b.WriteByte('[')
			if set[0] == '^' || set[0] == '!' {
				b.WriteByte('^')
				set = set[1:]
			}
			b.WriteString(strings.NewReplacer(`\`, `\\`, `[`, `\[`, `]`, `\]`, `^`, `\^`).Replace(set) + "]")
			i = end
		default:
			b.WriteString(regexp.QuoteMeta(pattern[i : i+1]))
		}
	}
	re, err := regexp.Compile(b.String() + `\z`)
	if err != nil { // an odd set, such as [z-a]
		re = regexp.MustCompile(`\A` + regexp.QuoteMeta(pattern) + `\z`)
	}
	return re
}
