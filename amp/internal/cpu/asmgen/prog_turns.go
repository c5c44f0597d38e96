package main

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Turns: the same as pairs for AVX2, whose 16 registers rarely hold two long programs at the same step. Blocks are written with as many
// registers as they like; then the instructions of the first ones that are not done take turns, and a later block waits while the registers
// that it needs are those that an earlier one is going to need.

// turns are the blocks in work at a time.
const turns = 2

// firstVirtual is the number of the first register that stands for one to be chosen.
const firstVirtual = 100

// inTurns returns write's instructions for count blocks; "" where a part of them may be left out.
func (l *lanes) inTurns(count int, write func(l *lanes, k int)) string {
	if slices.ContainsFunc(l.p.ins, func(i ins) bool { return i.op == opRare }) {
		return ""
	}
	var blocks []*block
	for k := range count {
		own := *l
		own.f, own.free = &asmFile{}, nil
		for i := range 1000 {
			own.free = append(own.free, vec("Y", firstVirtual+i))
		}
		write(&own, k)
		blocks = append(blocks, newBlock(own.f.b.String()))
	}
	free := slices.Clone(l.free)
	var b strings.Builder
	for len(blocks) > 0 {
		for i := 0; i < min(turns, len(blocks)); i++ {
			if at := blocks[i]; len(free)-at.grows() >= reserve(blocks[:i]) {
				free = at.step(&b, free)
			}
		}
		blocks = slices.DeleteFunc(blocks, func(at *block) bool { return at.next == len(at.lines) })
	}
	return b.String()
}

// reserve is how many registers blocks may still need at once, each beside those it has.
func reserve(blocks []*block) int {
	n := 0
	for _, at := range blocks {
		n += max(0, at.most[at.next]-at.live)
	}
	return n
}

// A block is a list of instructions of which those before next are done.
type block struct {
	lines       []string
	names       [][]string // virtual registers of each instruction
	first, last map[string]int
	most        []int // registers that hold something at once, in the instruction or a later one
	next, live  int
	real        map[string]string
}

var virtual = regexp.MustCompile(`\b[XY]([1-9]\d\d+)\b`)

func newBlock(text string) *block {
	b := &block{lines: strings.SplitAfter(strings.TrimSuffix(text, "\n"), "\n"), first: map[string]int{}, last: map[string]int{}, real: map[string]string{}}
	b.lines[len(b.lines)-1] += "\n"
	for i, line := range b.lines {
		var names []string
		for _, m := range virtual.FindAllStringSubmatch(line, -1) {
			if _, known := b.first[m[1]]; !known {
				b.first[m[1]] = i
			}
			names, b.last[m[1]] = append(names, m[1]), i
		}
		slices.Sort(names)
		b.names = append(b.names, slices.Compact(names))
	}
	b.most = make([]int, len(b.lines)+1)
	live := 0
	for i := range b.lines {
		b.next = i
		live += b.grows()
		b.most[i] = live
		live -= b.ends()
	}
	for i := len(b.lines) - 1; i >= 0; i-- {
		b.most[i] = max(b.most[i], b.most[i+1])
	}
	b.next = 0
	return b
}

// grows is how many more registers the next instruction needs: its result may go where something lay that is not read again.
func (b *block) grows() int {
	n := 0
	for _, name := range b.names[b.next] {
		switch i := b.next; {
		case b.first[name] == i:
			n++
		case b.last[name] == i:
			n--
		}
	}
	return n
}

// ends is how many registers only the next instruction uses.
func (b *block) ends() int {
	n := 0
	for _, name := range b.names[b.next] {
		if b.first[name] == b.next && b.last[name] == b.next {
			n++
		}
	}
	return n
}

// step writes the next instruction with registers from free, and returns what is free then.
func (b *block) step(to *strings.Builder, free []string) []string {
	i := b.next
	b.live += b.grows() - b.ends()
	line := b.lines[i]
	put := func(name, reg string) {
		for _, w := range "XY" {
			line = regexp.MustCompile(fmt.Sprintf(`\b%c%s\b`, w, name)).ReplaceAllString(line, fmt.Sprintf("%c%s", w, reg[1:]))
		}
	}
	for _, name := range b.names[i] {
		if b.first[name] < i {
			put(name, b.real[name])
			if b.last[name] == i {
				free = append(free, b.real[name])
			}
		}
	}
	var done []string
	for _, name := range b.names[i] {
		if b.first[name] == i {
			b.real[name], free = free[len(free)-1], free[:len(free)-1]
			put(name, b.real[name])
			if b.last[name] == i {
				done = append(done, b.real[name])
			}
		}
	}
	to.WriteString(line)
	b.next++
	return append(free, done...)
}
