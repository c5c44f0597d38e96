// Package cellsource finds the notebook cell that a line of a compiled program comes from. GoNB compiles a main.go of its own
// making out of a cell and of what earlier cells declared, so a line is looked up by its text and its neighbors'.
package cellsource

import "strings"

// A Cell is a cell that has been run: its execution count and its text as the user wrote it.
type Cell struct {
	Count int
	Code  string
}

// Squeeze splits a text into lines without any white space, since gofmt rewrites it.
func Squeeze(text string) []string {
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		lines[i] = strings.Join(strings.Fields(l), "")
	}
	return lines
}

// Find returns the count of the cell, and the line in it from 1, that line number line (from 1) of the squeezed program is. It
// looks through the newest cells first; among equal lines it takes the one whose neighbors agree the furthest. It returns zeros
// when there is none.
func Find(program []string, line int, cells []Cell) (count, cellLine int) {
	if line < 1 || line > len(program) || program[line-1] == "" {
		return 0, 0
	}
	best := 0
	for i := len(cells) - 1; i >= 0; i-- {
		text := Squeeze(cells[i].Code)
		for j, l := range text {
			if l != program[line-1] {
				continue
			}
			if n := agreement(program, line-1, text, j); n > best {
				best, count, cellLine = n, cells[i].Count, j+1
			}
		}
	}
	return count, cellLine
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
