// Command gen64 writes math64.h: the CPU rows' elementary functions, which are straight lines of float64 operations in Go, in C++. Run it in
// cudart/kernels, by go generate.
package main

import (
	"fmt"
	"log"
	"os"
	"regexp"
	"strings"
)

const (
	source = "../../amp/internal/cpu/math_scalar.go"
	result = "math64.h"
	header = `// Code generated from amp/internal/cpu/math_scalar.go by gen64; DO NOT EDIT.

// The elementary functions of the CPU rows in float64, operation by operation, so that both devices give the same bits. Compile without
// contraction of products and sums.
#pragma once
`
)

var (
	function = regexp.MustCompile(`^func (\w+)\((v0(?:, v1)?) float64\) float64 \{`)
	compare  = regexp.MustCompile(` (<|>|==|<=|>=|!=) `)
	token    = regexp.MustCompile(`(?:<<|>>) \d+|[A-Za-z_][\w.]*\(?|0x[0-9a-f]+|\d[\d.]*(?:e[+-]?\d+)?`)
	whole    = regexp.MustCompile(`^\d+$`)
	names    = strings.NewReplacer("math.FMA(", "ht_fma(", "math.Float64frombits(", "ht_double(", "math.Float64bits(", "ht_bits(", "math.Sqrt(", "ht_sqrt(", "math.Abs(", "ht_abs(", "float64(", "(")
)

// expression turns an expression of Go's into C++: numbers are doubles, those in hexadecimal 64 bits.
func expression(e string) string {
	return token.ReplaceAllStringFunc(names.Replace(e), func(t string) string {
		switch {
		case strings.HasPrefix(t, "0x"):
			return t + "ull"
		case whole.MatchString(t):
			return t + ".0"
		}
		return t
	})
}

func main() {
	log.SetFlags(0)
	src, err := os.ReadFile(source)
	if err != nil {
		log.Fatal("gen64: ", err)
	}
	text, err := header64(string(src))
	if err == nil {
		err = os.WriteFile(result, []byte(text), 0o644)
	}
	if err != nil {
		log.Fatal("gen64: ", err)
	}
}

// header64 is the header of the functions in a Go source.
func header64(src string) (string, error) {
	var out strings.Builder
	fmt.Fprint(&out, header, "\n")
	comment := ""
	for line := range strings.Lines(src) {
		line = strings.TrimRight(line, "\n")
		text := strings.TrimSpace(line)
		indent := strings.Repeat("  ", len(line)-len(strings.TrimLeft(line, "\t")))
		name, value, _ := strings.Cut(text, " := ")
		switch {
		case text == "" || strings.HasPrefix(text, "package ") || strings.HasPrefix(text, "import ") || strings.HasPrefix(text, "// Code"):
		case strings.HasPrefix(text, "// "):
			comment = line
		case function.MatchString(line):
			f := function.FindStringSubmatch(line)
			fmt.Fprintf(&out, "%s\nHT_MATH double %s(double %s) {\n", comment, f[1], strings.ReplaceAll(f[2], ", ", ", double "))
		case text == "}":
			fmt.Fprintln(&out, indent+"}")
		case strings.HasPrefix(text, "if "):
			fmt.Fprintf(&out, "%sif (%s) {\n", indent, expression(strings.TrimSuffix(text[3:], " {")))
		case strings.HasPrefix(text, "return "):
			fmt.Fprintf(&out, "%sreturn %s;\n", indent, expression(text[7:]))
		case value != "":
			kind := "double"
			if compare.MatchString(value) && !strings.Contains(value, "<<") && !strings.Contains(value, ">>") {
				kind = "bool"
			}
			fmt.Fprintf(&out, "%s%s %s = %s;\n", indent, kind, name, expression(value))
		default:
			name, value, ok := strings.Cut(text, " = ")
			if !ok {
				return "", fmt.Errorf("%s: what is %q?", source, line)
			}
			fmt.Fprintf(&out, "%s%s = %s;\n", indent, name, expression(value))
		}
	}
	return out.String(), nil
}
