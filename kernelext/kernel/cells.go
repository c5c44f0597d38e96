package kernel

import (
	"github.com/halftone-ml/halftone/internal/cellsource"
	"github.com/halftone-ml/halftone/internal/wholefile"
)

// A cellMap is the list of cells that this kernel has run, in a file that every cell's program can read. GoNB compiles a
// main.go of its own making; with the cells' text a trace can say which line of which cell an op came from. The counts go
// on when a GoNB dies: a number means one cell in the life of a kernel.
type cellMap struct {
	file  string
	cells []cell
	next  int  // GoNB's next execution count
	extra bool // the last cell is one that is not kept
}

type cell = cellsource.Cell

const (
	maxCells     = 200
	maxCellBytes = 2 << 20
)

func newCellMap(file string) *cellMap {
	m := &cellMap{file: file, next: 1}
	_ = m.write()
	return m
}

// add appends the cell that runs next and writes the file. GoNB does not count a cell that is not kept in the history;
// such a cell is in the map only while it is the last.
func (m *cellMap) add(code string, keep bool) error {
	if m.extra {
		m.cells = m.cells[:len(m.cells)-1]
	}
	count := m.next
	if keep {
		m.next++
	} else {
		count--
	}
	m.extra = !keep
	m.cells = append(m.cells, cell{Count: count, Code: code})
	size := 0
	for i := len(m.cells) - 1; i >= 0; i-- {
		size += len(m.cells[i].Code)
		if last := len(m.cells) - 1; last-i >= maxCells || size > maxCellBytes && i < last {
			m.cells = append([]cell(nil), m.cells[i+1:]...)
			break
		}
	}
	return m.write()
}

// counted sets the count that GoNB gave the last cell, should it differ from what was expected.
func (m *cellMap) counted(n int) {
	if m.next == n+1 {
		return
	}
	m.next = n + 1
	if last := len(m.cells) - 1; last >= 0 && !m.extra {
		m.cells[last].Count = n
		_ = m.write()
	}
}

// write replaces the file in one step: a cell's program may be reading it.
func (m *cellMap) write() error {
	return wholefile.Replace(m.file, cellsource.Encode(m.cells), 0o600)
}
