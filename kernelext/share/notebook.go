package share

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"go/scanner"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/halftone-ml/halftone/widgets"
)

// A notebook is what of one matters here: its code.
type notebook struct {
	cells []code
}

// A code cell.
type code struct {
	number int // in the notebook, from 1
	count  int // execution count, 0 for none
	text   string
}

func readNotebook(path string) (*notebook, error) {
	b, err := readFile(path, widgets.MaxNotebook)
	if err != nil {
		return nil, err
	}
	var raw struct {
		Cells []struct {
			Type   string          `json:"cell_type"`
			Source json.RawMessage `json:"source"`
			Count  *int            `json:"execution_count"`
		} `json:"cells"`
	}
	if err := json.Unmarshal(b, &raw); err != nil {
		return nil, fmt.Errorf("%s is no notebook: %w", path, err)
	}
	nb := new(notebook)
	for i, c := range raw.Cells {
		if c.Type != "code" {
			continue
		}
		var text string
		var lines []string
		if json.Unmarshal(c.Source, &text) != nil {
			if err := json.Unmarshal(c.Source, &lines); err != nil {
				return nil, fmt.Errorf("%s: cell %d: %w", path, i+1, err)
			}
			text = strings.Join(lines, "")
		}
		cell := code{number: i + 1, text: text}
		if c.Count != nil {
			cell.count = *c.Count
		}
		nb.cells = append(nb.cells, cell)
	}
	return nb, nil
}

// hash is over the code alone: text may be edited without another result.
func (nb *notebook) hash() string {
	h := sha256.New()
	for _, c := range nb.cells {
		fmt.Fprintf(h, "%d\n%s\x00", len(c.text), c.text)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// A word is a token of Go and its text.
type word struct {
	kind token.Token
	text string
}

// words splits a cell into Go's tokens; comments, and what of GoNB is not Go, are left out.
func words(text string) []word {
	var all []word
	var lines []string
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "%") || strings.HasPrefix(line, "!") {
			line = "\n"
		}
		lines = append(lines, line)
	}
	src := []byte(strings.Join(lines, ""))
	file := token.NewFileSet().AddFile("", -1, len(src))
	var s scanner.Scanner
	s.Init(file, src, func(token.Position, string) {}, 0)
	for {
		_, kind, lit := s.Scan()
		if kind == token.EOF {
			return all
		}
		if lit == "" || kind.IsOperator() {
			lit = kind.String()
		}
		all = append(all, word{kind, lit})
	}
}

// seeders are the functions whose arguments are seeds.
var seeders = []string{"Seed", "NewPCG", "NewChaCha8", "NewSource", "Shuffle"}

// seeds lists the calls that set one.
func (nb *notebook) seeds() []Seed {
	found := []Seed{}
	for _, c := range nb.cells {
		all := words(c.text)
		for i, w := range all {
			if w.kind != token.IDENT || !slices.Contains(seeders, w.text) || i+1 >= len(all) || all[i+1].kind != token.LPAREN {
				continue
			}
			text := w.text
			if i >= 2 && all[i-1].kind == token.PERIOD {
				text = all[i-2].text + "." + text
			}
			depth := 0
			for _, a := range all[i+1:] {
				if a.kind == token.COMMA {
					a.text = ", "
				}
				text += a.text
				if a.kind == token.LPAREN {
					depth++
				} else if a.kind == token.RPAREN {
					if depth--; depth == 0 {
						break
					}
				}
			}
			found = append(found, Seed{c.number, text})
		}
	}
	return found
}

// files lists the files below dir that cells name in a string, each once. Names that lead elsewhere come back as outside.
func (nb *notebook) files(dir string) (inside, outside []string) {
	for _, c := range nb.cells {
		for _, w := range words(c.text) {
			if w.kind != token.STRING {
				continue
			}
			name, err := strconv.Unquote(w.text)
			if err != nil || name == "" || len(name) > 500 || strings.ContainsAny(name, "\n\x00") {
				continue
			}
			full := name
			if !filepath.IsAbs(name) {
				full = filepath.Join(dir, name)
			}
			info, err := os.Stat(full)
			switch {
			case err != nil || !info.Mode().IsRegular():
			case !filepath.IsLocal(name):
				if !slices.Contains(outside, name) {
					outside = append(outside, name)
				}
			case !slices.Contains(inside, filepath.Clean(name)):
				inside = append(inside, filepath.Clean(name))
			}
		}
	}
	return inside, outside
}
