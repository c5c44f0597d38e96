package kernel

import (
	"go/scanner"
	"go/token"
	"slices"
	"strings"
)

// indentation is of spaces, because consoles show a tab as ^I.
const indentation = "    "

// isComplete is the content of is_complete_reply: whether a console should run code or ask for another line. As after a cell magic of
// IPython, an empty line ends the body of a cell: a body may always go on, and typed line by line none would get a second one.
func isComplete(code string) map[string]any {
	depth, unfinished, wrong := openBrackets(code)
	switch {
	case isHelp(code):
		return map[string]any{"status": "complete"}
	case wrong:
		return map[string]any{"status": "invalid"}
	case depth <= 0 && !unfinished && !inBody(code):
		return map[string]any{"status": "complete"}
	}
	return map[string]any{"status": "incomplete", "indent": strings.Repeat(indentation, max(depth, 0))}
}

// inBody reports whether code ends inside the body of main, not in an empty line that ends it.
func inBody(code string) bool {
	lines := strings.Split(code, "\n")
	return strings.TrimSpace(lines[len(lines)-1]) != "" && slices.ContainsFunc(lines, startsBody)
}

// openBrackets scans Go and counts the brackets left open; unfinished tells of a line that cannot be the last: one in a
// raw string or comment, or one that ends in an operator; wrong of what no further line can put right.
func openBrackets(code string) (depth int, unfinished, wrong bool) {
	lines := strings.Split(code, "\n")
	if len(lines) > 0 && strings.HasPrefix(lines[0], "%%") && !isMagicCell(lines[0]) && strings.Trim(lines[0], "% \t") != "" && !strings.HasPrefix(lines[0], "%% ") {
		return 0, strings.TrimSpace(lines[len(lines)-1]) != "", false // the body is in another language: it ends with an empty line
	}
	goesOn := false
	for i, line := range lines { // commands to GoNB are not Go
		if goesOn || strings.HasPrefix(line, "%") || strings.HasPrefix(line, "!") {
			lines[i], goesOn = "", strings.HasSuffix(line, "\\")
		}
	}
	unfinished = goesOn
	src := []byte(strings.Join(lines, "\n"))
	var s scanner.Scanner
	fset := token.NewFileSet()
	s.Init(fset.AddFile("", fset.Base(), len(src)), src, func(_ token.Position, msg string) {
		switch {
		case strings.HasPrefix(msg, "raw string"), strings.HasPrefix(msg, "comment"):
			unfinished = true
		case strings.HasPrefix(msg, "string"), strings.HasPrefix(msg, "rune"), strings.HasPrefix(msg, "illegal"):
			wrong = true // these end with their line
		}
	}, 0)
	closes := map[token.Token]token.Token{token.RPAREN: token.LPAREN, token.RBRACE: token.LBRACE, token.RBRACK: token.LBRACK}
	var open []token.Token
	last := token.SEMICOLON
	for {
		_, tok, lit := s.Scan()
		switch tok {
		case token.LPAREN, token.LBRACE, token.LBRACK:
			open = append(open, tok)
		case token.RPAREN, token.RBRACE, token.RBRACK:
			if len(open) == 0 || open[len(open)-1] != closes[tok] {
				return 0, false, true
			}
			open = open[:len(open)-1]
		case token.EOF:
			return len(open), unfinished || last.IsOperator() && last != token.SEMICOLON && last != token.RPAREN &&
				last != token.RBRACE && last != token.RBRACK && last != token.INC && last != token.DEC, wrong
		}
		if tok != token.SEMICOLON || lit == ";" {
			last = tok
		} else {
			last = token.SEMICOLON
		}
	}
}
