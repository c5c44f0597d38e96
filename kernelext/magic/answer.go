package magic

import (
	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/widgets"
)

// An Answer is what a %amp line has to say, as plain data: Text and HTML draw it.
type Answer struct {
	Title  string
	Beside string // a few words after the title
	Parts  []Part
	Figure *widgets.Figure // what there is to see, in the place of the title; nil for none
}

// A Part is one piece of an answer: a paragraph, a table or lines of code. In paragraphs and cells `…` marks what is typed.
type Part struct {
	Text  string
	Table *Table
	Code  string
}

// A Table has a caption, one head for each column, and rows of cells.
type Table struct {
	Caption string
	Head    []string
	Numbers []int // columns that hold numbers, which stand right
	Rows    [][]Field
}

// A Field is one cell of a table.
type Field struct {
	Text   string
	DType  amp.DType // shown as a chip in front of the text, with its mark
	To     amp.DType // a second one, behind an arrow
	Status string    // "ok", "warn" or "bad": a mark in front of the text
}

func (a *Answer) text(paragraphs ...string) {
	for _, p := range paragraphs {
		a.Parts = append(a.Parts, Part{Text: p})
	}
}

func (a *Answer) code(lines string) { a.Parts = append(a.Parts, Part{Code: lines}) }

func (a *Answer) table(caption string, head ...string) *Table {
	t := &Table{Caption: caption, Head: head}
	a.Parts = append(a.Parts, Part{Table: t})
	return t
}

// row appends a row; fields are strings, Fields or dtypes.
func (t *Table) row(fields ...any) {
	var r []Field
	for _, f := range fields {
		switch f := f.(type) {
		case string:
			r = append(r, Field{Text: f})
		case amp.DType:
			r = append(r, Field{DType: f})
		case Field:
			r = append(r, f)
		}
	}
	t.Rows = append(t.Rows, r)
}
