package kernel

import (
	"go/scanner"
	"go/token"
	"strings"
)

// isComplete is the content of is_complete_reply: whether a console should run code or ask for another line.
func isComplete(code string) map[string]any {
	depth, unfinished := openBrackets(code)
	if depth <= 0 && !unfinished {
		return map[string]any{"status": "complete"}
	}
	return map[string]any{"status": "incomplete", "indent": strings.Repeat("\t", max(depth, 0))}
}

// openBrackets scans Go and counts the brackets left open; unfinished tells of a line that cannot be the last: one in a
// raw string or comment, or one that ends in an operator.
func openBrackets(code string) (depth int, unfinished bool) {
	lines := strings.Split(code, "\n")
	if len(lines) > 0 && strings.HasPrefix(lines[0], "%%") && !isMagicCell(lines[0]) && strings.Trim(lines[0], "% \t") != "" && !strings.HasPrefix(lines[0], "%% ") {
		return 0, strings.TrimSpace(lines[len(lines)-1]) != "" // the body is in another language: it ends with an empty line
	}
	for i, line := range lines { // commands to GoNB are not Go
		if strings.HasPrefix(line, "%") || strings.HasPrefix(line, "!") {
			lines[i] = ""
		}
	}
	src := []byte(strings.Join(lines, "\n"))
	var s scanner.Scanner
	fset := token.NewFileSet()
	s.Init(fset.AddFile("", fset.Base(), len(src)), src, func(_ token.Position, msg string) {
		unfinished = unfinished || strings.Contains(msg, "not terminated") && !strings.Contains(msg, "string literal not terminated") ||
			strings.Contains(msg, "raw string literal not terminated")
	}, 0)
	last := token.SEMICOLON
	for {
		_, tok, lit := s.Scan()
		switch tok {
		case token.LPAREN, token.LBRACE, token.LBRACK:
			depth++
		case token.RPAREN, token.RBRACE, token.RBRACK:
			depth--
		case token.EOF:
			return depth, unfinished || last.IsOperator() && last != token.SEMICOLON && last != token.RPAREN &&
				last != token.RBRACE && last != token.RBRACK && last != token.INC && last != token.DEC
		}
		if tok != token.SEMICOLON || lit == ";" {
			last = tok
		} else {
			last = token.SEMICOLON
		}
	}
}
