package install

import (
	"encoding/json"
	"fmt"
	"io"
	"unicode/utf8"
)

var marks = map[string]string{OK: "✓", Missing: "✗", Broken: "✗", Stale: "!"}

// PrintParts writes the report as a table; below each row that is not ok stands what is wrong and what to do.
func PrintParts(w io.Writer, parts []Part) {
	name, ver := 0, 0
	for _, p := range parts {
		name, ver = max(name, utf8.RuneCountInString(p.Name)), max(ver, min(utf8.RuneCountInString(p.Version), 28))
	}
	for _, p := range parts {
		fmt.Fprintf(w, "%s %-*s  %-7s  %-*s  %s\n", marks[p.Status], name, p.Name, p.Status, ver, p.Version, p.Path)
		if p.Detail != "" {
			fmt.Fprintf(w, "  %-*s  %s\n", name, "", p.Detail)
		}
		if p.Fix != "" {
			fmt.Fprintf(w, "  %-*s  → %s\n", name, "", p.Fix)
		}
	}
}

// PrintPartsJSON writes the report for programs.
func PrintPartsJSON(w io.Writer, parts []Part) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(struct {
		Healthy bool   `json:"healthy"`
		Parts   []Part `json:"parts"`
	}{Healthy(parts), parts})
}
