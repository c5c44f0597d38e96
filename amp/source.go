package amp

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/halftone-ml/halftone/internal/cellsource"
)

// CellsEnv names the variable by which a notebook kernel tells the cell's process where it keeps the source of the cells. The
// kernel compiles a main.go made of the cell and of earlier declarations, so a line of main.go is looked up by its text.
const CellsEnv = "HALFTONE_CELLS"

// sources resolves program counters once each.
type sources struct {
	frames map[uintptr]place
	cells  []cellsource.Cell
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
			s.cells, _ = cellsource.Decode(b) // a file that can't be read only costs the cell numbers
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

// cellOf finds the cell, and the line in it, of a line of the program. It returns zeros when there is none.
func (s *sources) cellOf(file string, line int) (cell, cellLine int) {
	if len(s.cells) == 0 {
		return 0, 0
	}
	main, ok := s.files[file]
	if !ok {
		b, _ := os.ReadFile(file)
		main = cellsource.Squeeze(string(b))
		s.files[file] = main
	}
	return cellsource.Find(main, line, s.cells)
}
