package amp

import (
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// CellsEnv names the variable by which a notebook kernel tells the cell's process where it keeps the source of the cells. The
// kernel compiles a main.go made of the cell and of earlier declarations, so a line of main.go is looked up by its text.
const CellsEnv = "HALFTONE_CELLS"

// cellFile is the JSON form of that file.
type cellFile struct {
	Version int `json:"version"`
	Cells   []struct {
		Count int    `json:"count"`
		Code  string `json:"code"`
	} `json:"cells"`
}

// sources resolves program counters once each.
type sources struct {
	frames map[uintptr]place
	cells  cellFile
	files  map[string][]string
}

type place struct {
	fn, file             string
	line, cell, cellLine int
}

func newSources() *sources {
	s := &sources{frames: map[uintptr]place{}, files: map[string][]string{}}
	if name := os.Getenv(CellsEnv); name != "" {
		if b, err := os.ReadFile(name); err == nil {
			// A file that can't be read only costs the cell numbers.
			if json.Unmarshal(b, &s.cells) != nil || s.cells.Version != 1 {
				s.cells = cellFile{}
			}
		}
	}
	return s
}

// place fills in where an event's call stands in the program.
func (s *sources) place(e *Event, pc uintptr) {
	if pc == 0 {
		return
	}
	p, ok := s.frames[pc]
	if !ok {
		f, _ := runtime.CallersFrames([]uintptr{pc}).Next()
		p = place{fn: f.Function, file: filepath.Base(f.File), line: f.Line}
		if strings.HasPrefix(f.Function, "main.") {
			p.cell, p.cellLine = s.cellOf(f.File, f.Line)
		}
		s.frames[pc] = p
	}
	e.Func, e.File, e.Line, e.Cell, e.CellLine = p.fn, p.file, p.line, p.cell, p.cellLine
}

// cellOf finds the cell, newest first, whose text has the compiled line; among equal lines the one whose neighbors agree
// the furthest. It returns zeros when there is none.
func (s *sources) cellOf(file string, line int) (cell, cellLine int) {
	if len(s.cells.Cells) == 0 {
		return 0, 0
	}
	main, ok := s.files[file]
	if !ok {
		b, _ := os.ReadFile(file)
		main = squeeze(string(b))
		s.files[file] = main
	}
	if line < 1 || line > len(main) || main[line-1] == "" {
		return 0, 0
	}
	best := 0
	for i := len(s.cells.Cells) - 1; i >= 0; i-- {
		c := s.cells.Cells[i]
		text := squeeze(c.Code)
		for j, l := range text {
			if l != main[line-1] {
				continue
			}
			if n := agreement(main, line-1, text, j); n > best {
				best, cell, cellLine = n, c.Count, j+1
			}
		}
	}
	return cell, cellLine
}

// squeeze splits into lines without any white space, since gofmt rewrites it.
func squeeze(text string) []string {
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		lines[i] = strings.Join(strings.Fields(l), "")
	}
	return lines
}

// agreement counts the equal lines around a[i] and b[j], up to eight in each direction.
func agreement(a []string, i int, b []string, j int) int {
	n := 1
	for _, step := range [2]int{-1, 1} {
		for k := 1; k <= 8; k++ {
			x, y := i+step*k, j+step*k
			if x < 0 || y < 0 || x >= len(a) || y >= len(b) || a[x] != b[y] {
				break
			}
			n++
		}
	}
	return n
}
