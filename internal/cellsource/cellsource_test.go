package cellsource

import "testing"

func TestFind(t *testing.T) {
	program := Squeeze("package main\n\nfunc f() {\n\tg()\n}\n\nfunc main() {\n\tflag.Parse()\n\tg()\n\th( 1 )\n}\n")
	cells := []Cell{{1, "func f() {\n  g()\n}"}, {2, "%%\ng()\nh(1)"}, {3, "other"}}
	for line, want := range map[int][2]int{4: {1, 2}, 9: {2, 2}, 10: {2, 3}, 2: {0, 0}, 0: {0, 0}, 99: {0, 0}, 8: {0, 0}} {
		if count, at := Find(program, line, cells); [2]int{count, at} != want {
			t.Errorf("line %d is in cell %d, line %d; want %v", line, count, at, want)
		}
	}
	if count, _ := Find(program, 9, append(cells, Cell{4, "%%\ng()\nh(1)"})); count != 4 {
		t.Errorf("of two equal cells %d was taken, not the newest that agrees more or as much", count)
	}
}
