package cellsource

import (
	"fmt"
	"strconv"
	"strings"
)

// header is the first line of a file of cells. A file of another form gets another number.
const header = "cells 1\n"

// Encode writes the cells as a kernel keeps them for the programs it runs: one a line, its count and its text quoted as in Go. Were it
// JSON, what reads JSON would be 130 KB of each of these programs.
func Encode(cells []Cell) []byte {
	b := []byte(header)
	for _, c := range cells {
		b = strconv.AppendInt(b, int64(c.Count), 10)
		b = append(b, ' ')
		b = strconv.AppendQuote(b, c.Code)
		b = append(b, '\n')
	}
	return b
}

// Decode reads what Encode wrote. With an error come no cells.
func Decode(file []byte) ([]Cell, error) {
	text, ok := strings.CutPrefix(string(file), header)
	if !ok {
		return nil, fmt.Errorf("a file of cells begins with %q", header)
	}
	var cells []Cell
	for line := range strings.Lines(text) {
		count, quoted, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		n, err := strconv.Atoi(count)
		if err != nil {
			return nil, fmt.Errorf("count of cell %d: %w", len(cells)+1, err)
		}
		code, err := strconv.Unquote(quoted)
		if err != nil {
			return nil, fmt.Errorf("text of cell %d: %w", len(cells)+1, err)
		}
		cells = append(cells, Cell{Count: n, Code: code})
	}
	return cells, nil
}
