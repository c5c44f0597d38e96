package kernel

import (
	"fmt"
	"go/scanner"
	"go/token"
	"strings"
)

// A bracket too many in the body of a cell closes the function that GoNB makes of it, and what the compiler then says is about GoNB's own
// file. So brackets are counted before: a body whose brackets do not match is no Go, whatever else is in it.

// unbalanced returns the line of a cell in whose body a bracket matches none, and what is wrong with it, "" where all do.
func unbalanced(code string) (line int, fault string) {
	rows := strings.Split(code, "\n")
	for i, row := range rows {
		if !startsBody(row) {
			continue
		}
		// Rows that look like commands may be part of a raw string: they count for neither reading.
		line, fault = firstUnmatched(rows[i+1:], true)
		if other, same := firstUnmatched(rows[i+1:], false); fault == "" || other != line || same != fault {
			return 0, ""
		}
		return i + 1 + line, fault
	}
	return 0, ""
}

// firstUnmatched counts the brackets of rows, without those that are commands if these are to be left out.
func firstUnmatched(rows []string, commands bool) (line int, fault string) {
	kept := make([]string, len(rows))
	goesOn := false
	for i, row := range rows {
		if commands && (goesOn || strings.HasPrefix(row, "%") || strings.HasPrefix(row, "!")) {
			goesOn = strings.HasSuffix(row, "\\")
		} else {
			kept[i] = row
		}
	}
	src := []byte(strings.Join(kept, "\n"))
	broken := false
	file := token.NewFileSet().AddFile("", -1, len(src))
	var s scanner.Scanner
	s.Init(file, src, func(token.Position, string) { broken = true }, 0)
	type bracket struct {
		tok  token.Token
		line int
	}
	closes := map[token.Token]token.Token{token.RPAREN: token.LPAREN, token.RBRACE: token.LBRACE, token.RBRACK: token.LBRACK}
	var open []bracket
	for {
		pos, tok, _ := s.Scan()
		at := file.Line(pos)
		switch {
		case broken:
			return 0, "" // the compiler says what is wrong with the text
		case tok == token.LPAREN || tok == token.LBRACE || tok == token.LBRACK:
			open = append(open, bracket{tok, at})
		case closes[tok] != 0 && len(open) == 0:
			return at, fmt.Sprintf("syntax error: unexpected %v, which closes nothing; fix: remove it, or open what it is to close", tok)
		case closes[tok] != 0 && open[len(open)-1].tok != closes[tok]:
			o := open[len(open)-1]
			return at, fmt.Sprintf("syntax error: unexpected %v, where the %v of line %d is open; fix: close that first", tok, o.tok, o.line)
		case closes[tok] != 0:
			open = open[:len(open)-1]
		case tok == token.EOF:
			return 0, "" // what is not closed the compiler names where the cell ends
		}
	}
}
