package main

import (
	"slices"
	"strings"
)

// mathVectors writes the vector forms of all functions.
func mathVectors(f *asmFile) {
	var consts pool
	for _, fn := range functions {
		if !fn.vector {
			continue
		}
		for _, reg := range []string{"Z", "Y"} {
			f.vecFunc(fn.program(double), fn.name+"F64"+reg, reg, false, &consts)
			f.vecFunc(fn.program(narrow), fn.name+"F32"+reg, reg, true, &consts)
		}
	}
	for _, reg := range []string{"Z", "Y"} {
		f.vecFunc(powers(), "powers"+reg, reg, true, &consts)
	}
	f.vecFunc(sinAndCos(), "sinCosY", "Y", false, &consts)
	f.constants(consts)
}

// mathScalars is the Go form of all functions.
func mathScalars() string {
	var b strings.Builder
	b.WriteString(header + "package cpu\n\nimport \"math\"\n")
	for _, fn := range functions {
		b.WriteString(fn.program(double).goFunc(fn.name+"64", fn.doc))
		if fn.single != nil {
			b.WriteString(fn.program(single).goFunc(fn.name+"32", "is "+fn.name+"64 with the digits of a float32, for such an x."))
		}
	}
	b.WriteString(powers().goFunc("power64", "returns x^y with the digits of a float32, for such numbers, NaN unless x is positive and finite."))
	return b.String()
}

// mathNarrow is the Go form of the functions in float32.
func mathNarrow() string {
	var b strings.Builder
	b.WriteString(header + "package cpu\n\nimport \"math\"\n")
	b.WriteString(goTables(slices.Concat(normalTails, geluSlopes, turnSeries, turnTables)))
	for _, fn := range functions {
		if fn.narrow != nil {
			b.WriteString(fn.program(narrow).goFunc(fn.name+"F32", "is "+fn.name+"64 in float32."))
		}
	}
	return b.String()
}

// mathTable says which vector forms belong to which function.
func mathTable() string {
	var b strings.Builder
	b.WriteString(header + "package cpu\n\nfunc init() {\n")
	for _, fn := range functions {
		if !fn.vector {
			continue
		}
		name := strings.ToUpper(fn.name[:1]) + fn.name[1:]
		for _, t := range []string{"F32", "F64"} {
			b.WriteString("\t" + name + "." + strings.ToLower(t) + " = " + "vectors[float" + t[1:] + "]{AVX2: " + fn.name + t + "Y, AVX512: " + fn.name + t + "Z}\n")
		}
	}
	b.WriteString("}\n")
	return b.String()
}
