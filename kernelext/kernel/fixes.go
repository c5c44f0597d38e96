package kernel

import (
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"

	"github.com/halftone-ml/halftone/internal/cellsource"
)

// Faults of the compiler that people who are new to Go or to its notebooks meet first, and what to do.
var (
	outsideMain = regexp.MustCompile(`^cell (\d+), line (\d+): expected declaration, found (\S+)`)
	unknownName = regexp.MustCompile(`^cell (\d+), line (\d+): undefined: (\pL[\pL\pN_]*)$`)
	// undefined: amp.Relu; x.Half undefined (type *amp.Tensor has no field or method Half …)
	missingName   = regexp.MustCompile(`: undefined: (amp|nn|optim|session|widgets)\.(\pL[\pL\pN_]*)$`)
	missingMember = regexp.MustCompile(` undefined \(type \*?([\pL\pN_.]+) has no field or method (\pL[\pL\pN_]*)`)
	otherCase     = regexp.MustCompile(` undefined \(type .* has no field or method \pL[\pL\pN_]*, but does have method (\pL[\pL\pN_]*)\)`)
	fewArguments  = regexp.MustCompile(`: not enough arguments in call to `)
	typeCalled    = regexp.MustCompile(`cannot convert .* to type (?:amp|nn|optim)\.(GradScaler|Linear|SGD|Adam|Sequential|Conv2d|LayerNorm|Dropout|Embedding)\b`)
	unusedName    = regexp.MustCompile(`: declared and not used: (\S+)$`)
)

// fixFor says how to repair the first error of a report, "" where that is not known. file has the cells, root the module that they import.
func fixFor(report []string, file, root string) string {
	for i, line := range report {
		if fix := fixPlace(line, file); fix != "" {
			return fix
		}
		if m := outsideMain.FindStringSubmatch(line); m != nil {
			at, _ := strconv.Atoi(m[2])
			if fix := fixPython(line, file); fix != "" {
				return fix
			}
			if above(cellCode(file, m[1]), at) {
				return ""
			}
			return "put a line %% above it: statements run in main, whose body begins at %%"
		}
		if m := unknownName.FindStringSubmatch(line); m != nil {
			return fixUnknown(m[3], m[1], file)
		}
		if m := missingName.FindStringSubmatch(line); m != nil {
			if fix := fixMissing(m[1], m[2], ""); fix != "" {
				return fix
			}
		}
		if m := otherCase.FindStringSubmatch(line); m != nil {
			return "in Go upper and lower case differ, and a method is called with (): " + m[1] + "()"
		}
		if fewArguments.MatchString(line) && wantsScope(report[i+1:]) {
			return scopeFirst
		}
		if m := missingMember.FindStringSubmatch(line); m != nil {
			if fix := fixMissing("", m[2], m[1]); fix != "" {
				return fix
			}
		}
		if fix := fixSpelling(line, root); fix != "" {
			return fix
		}
		if m := typeCalled.FindStringSubmatch(line); m != nil {
			return "New" + m[1] + " makes one"
		}
		if fix := fixPython(line, file); fix != "" {
			return fix
		}
		if m := unusedName.FindStringSubmatch(line); m != nil && i == 0 { // else there is another reason above
			return fmt.Sprintf("use it, take it out, or write _ = %s", m[1])
		}
		if fix := fixOlder(line, file); fix != "" {
			return fix
		}
		if fix := fixGo(line); fix != "" {
			return fix
		}
	}
	return ""
}

// wantsScope reports whether the lines below a call's error say that its first argument is a scope, and that the call has another.
func wantsScope(below []string) bool {
	return len(below) >= 2 && strings.HasPrefix(strings.TrimSpace(below[1]), "want (*amp.Scope") && !strings.HasPrefix(strings.TrimSpace(below[0]), "have (*amp.Scope")
}

// fixUnknown looks for a name in the bodies of earlier cells, where people who know other notebooks expect it to live on.
func fixUnknown(name, cell, file string) string {
	declared := regexp.MustCompile(`(?m)(^|[\s,;(])` + regexp.QuoteMeta(name) + `(\s*,[\s\pL\pN_,]*)?\s*:=|\bvar\s+` + regexp.QuoteMeta(name) + `\b`)
	cells := readCells(file)
	for i := len(cells) - 1; i >= 0; i-- {
		if strconv.Itoa(cells[i].Count) == cell || !declared.MatchString(body(cells[i].Code)) {
			continue
		}
		return fmt.Sprintf("%s lived in the body of cell %d, a program that has ended; declare it here with :=, or above %%%% (var %s = …), or keep it with session.Value", name, cells[i].Count, name)
	}
	code := cellCode(file, cell)
	if name == "torch" {
		return "cells are Go: " + bothSides
	}
	if standardNames[name] {
		return fmt.Sprintf("look at the spelling of %s: a package is imported by itself only where it has every name that is used", strings.Join(membersUsed(name, code), ", "))
	}
	if regexp.MustCompile(`\b` + regexp.QuoteMeta(name) + `\.\pL`).MatchString(code) {
		return fmt.Sprintf("if %s is a package, import it by its path; if it is a variable, declare it", name)
	}
	return fixNotRun(name, cell, file)
}

// body is what follows %% in a cell.
func body(code string) string {
	rest := strings.Split(code, "\n")
	for i, line := range rest {
		if startsBody(line) {
			return strings.Join(rest[i+1:], "\n")
		}
	}
	return ""
}

// above reports whether a cell's body begins above a line.
func above(code string, line int) bool {
	for i, text := range strings.Split(code, "\n") {
		if i+1 < line && startsBody(text) {
			return true
		}
	}
	return false
}

func startsBody(line string) bool {
	f := strings.Fields(strings.TrimPrefix(strings.TrimSpace(line), "//gonb:"))
	return len(f) > 0 && (f[0] == "%%" || f[0] == "%main" || f[0] == "%%amp")
}

func cellCode(file, count string) string {
	cells := readCells(file)
	for i := len(cells) - 1; i >= 0; i-- {
		if strconv.Itoa(cells[i].Count) == count {
			return cells[i].Code
		}
	}
	return ""
}

func readCells(file string) []cell {
	b, _ := os.ReadFile(file)
	cells, _ := cellsource.Decode(b)
	return cells
}
