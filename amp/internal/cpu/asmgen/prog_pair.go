package main

import (
	"slices"
	"strings"
)

// Pairs: a long program is one chain of operations that wait for each other, and the processor's list of what waits holds little more than
// one of them. Two blocks, written instruction by instruction in turns, keep its units busy.

// together returns write's instructions for count blocks as they keep the processor busy, "" where they cannot but follow each other.
func (l *lanes) together(count int, write func(l *lanes, k int)) string {
	if l.reg == "Y" {
		return l.inTurns(count, write)
	}
	return l.paired(write)
}

// paired returns write's instructions for two blocks in turns, each with half of the registers; "" where those are too few, or where a
// part may be left out.
func (l *lanes) paired(write func(l *lanes, k int)) (both string) {
	if slices.ContainsFunc(l.p.ins, func(i ins) bool { return i.op == opRare }) {
		return ""
	}
	defer func() {
		if r := recover(); r == tooMany {
			both = ""
		} else if r != nil {
			panic(r)
		}
	}()
	var parts [2][]string
	half := len(l.free) / 2
	for k := range parts {
		own := *l
		own.f = &asmFile{}
		own.free = slices.Clone(l.free[k*half : (k+1)*half])
		own.masks = [][]string{maskRegisters(3, 1), maskRegisters(7, 4)}[k]
		write(&own, k)
		parts[k] = strings.SplitAfter(own.f.b.String(), "\n")
	}
	var b strings.Builder
	for i, line := range parts[0] {
		b.WriteString(line + parts[1][i])
	}
	return b.String()
}

// tooMany is what a writer without a free register panics with.
const tooMany = "asmgen: more values at once than registers"

// maskRegisters returns the registers from K(hi) down to K(lo).
func maskRegisters(hi, lo int) []string {
	var m []string
	for i := hi; i >= lo; i-- {
		m = append(m, vec("K", i))
	}
	return m
}
