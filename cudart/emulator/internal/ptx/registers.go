package ptx

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// ctypes are the C++ types of registers.
var ctypes = map[string]string{"pred": "pred", "b16": "u16", "u16": "u16", "b32": "u32", "u32": "u32", "f32": "f32", "b64": "u64", "u64": "u64", "f64": "f64"}

// registers declares them, and those that may be read before they are written with nothing in them.
func (w *writer) registers(r registers) error {
	c := ctypes[r.kind]
	if c == "" {
		return fmt.Errorf("registers %s of a kind that is not known here: %s", r.name, r.kind)
	}
	declared := r.names()
	for i, n := range declared {
		if depth := len(w.outer); depth > 0 {
			w.outer[depth-1][n] = w.kinds[n]
		}
		w.kinds[n] = r.kind
		declared[i] = register(n)
		if w.unwritten[n] {
			declared[i] += fmt.Sprintf(" = nothing<%s>()", c)
		}
	}
	if len(declared) > 0 {
		fmt.Fprintf(&w.b, "%s %s;\n", c, strings.Join(declared, ", "))
	}
	return nil
}

var registerName = regexp.MustCompile(`%[A-Za-z_$][\w$]*|\b[A-Za-z_$][\w$]*\b`)

// names returns the registers, and whatever else looks like one, in operands.
func names(operands ...string) []string {
	return registerName.FindAllString(strings.Join(operands, " "), -1)
}

// A use is what a statement reads and what it writes for certain: its first operand, unless that is an address, or the statement is guarded.
// Registers are numbers here; those that are declared within braces are fresh each time.
type use struct{ fresh, reads, writes []int }

// A stretch of statements is gone through from its top to its end.
type stretch struct {
	uses  []use
	after []int // those that may follow
	known bool  // whether a way leads here
	holds bits  // registers that have been written whichever way it is entered
}

// A flow is how a function may be gone through.
type flow struct {
	numbers   map[string]int // of registers, and of whatever else looks like one
	stretches []*stretch
}

func (f *flow) numbered(operands ...string) []int {
	var list []int
	for _, n := range names(operands...) {
		k, ok := f.numbers[n]
		if !ok {
			k = len(f.numbers)
			f.numbers[n] = k
		}
		list = append(list, k)
	}
	return list
}

func (f *flow) use(s statement, op string) use {
	r, declares := s.declared.(registers)
	switch {
	case declares:
		return use{fresh: f.numbered(r.names()...)}
	case len(s.operands) == 0:
		return use{reads: f.numbered(s.guard)}
	case strings.HasPrefix(s.opcode, "wgmma.mma_async"): // sums are added to
		return use{reads: f.numbered(append(s.operands, s.guard)...), writes: f.numbered(s.operands[0])}
	case s.guard != "" || op == "bar" || strings.ContainsAny(s.operands[0], "[("):
		return use{reads: f.numbered(append(s.operands, s.guard)...)}
	}
	return use{reads: f.numbered(s.operands[1:]...), writes: f.numbered(s.operands[0])}
}

// flowOf takes a function's body apart at labels and jumps.
func flowOf(body []statement) *flow {
	f := &flow{numbers: map[string]int{}, stretches: []*stretch{{}}}
	starts, jumps := map[string]int{}, map[int]statement{}
	for _, s := range body {
		at := len(f.stretches) - 1
		op, _, _ := strings.Cut(s.opcode, ".")
		switch op {
		case "label":
			starts[s.operands[0]] = at + 1
			f.stretches = append(f.stretches, &stretch{})
			continue
		case "bra", "ret", "exit":
			jumps[at] = s
			f.stretches = append(f.stretches, &stretch{})
		}
		f.stretches[at].uses = append(f.stretches[at].uses, f.use(s, op))
	}
	for i, p := range f.stretches {
		s, jumps := jumps[i]
		if strings.HasPrefix(s.opcode, "bra") {
			p.after = append(p.after, starts[s.operands[0]])
		}
		if i+1 < len(f.stretches) && (!jumps || s.guard != "") {
			p.after = append(p.after, i+1)
		}
	}
	return f
}

// follow finds out what holds something at the top of every stretch.
func (f *flow) follow() {
	f.stretches[0].known, f.stretches[0].holds = true, newBits(len(f.numbers))
	for due := []int{0}; len(due) > 0; {
		p := f.stretches[due[len(due)-1]]
		due = due[:len(due)-1]
		out := slices.Clone(p.holds)
		for _, u := range p.uses {
			out.clear(u.fresh)
			out.set(u.writes)
		}
		for _, i := range p.after {
			next := f.stretches[i]
			if !next.known {
				next.known, next.holds = true, slices.Clone(out)
			} else if !next.holds.keep(out) {
				continue
			}
			due = append(due, i)
		}
	}
}

// readUnwritten returns the registers of a function that may be read before they are written, on whichever way. There are some where a compiler
// knows that what was loaded under a condition is used under the same; a C++ compiler takes a fifth of its time for what all others would hold.
func readUnwritten(body []statement) map[string]bool {
	f := flowOf(body)
	f.follow()
	read := newBits(len(f.numbers))
	for _, p := range f.stretches {
		if !p.known {
			continue
		}
		for _, u := range p.uses {
			p.holds.clear(u.fresh)
			for _, r := range u.reads {
				if !p.holds.has(r) {
					read.set([]int{r})
				}
			}
			p.holds.set(u.writes)
		}
	}
	found := map[string]bool{}
	for n, k := range f.numbers {
		if read.has(k) {
			found[n] = true
		}
	}
	return found
}

// bits are a set of small numbers.
type bits []uint64

func newBits(n int) bits { return make(bits, (n+63)/64) }

func (b bits) has(n int) bool { return b[n/64]>>(n%64)&1 != 0 }

func (b bits) set(list []int) {
	for _, n := range list {
		b[n/64] |= 1 << (n % 64)
	}
}

func (b bits) clear(list []int) {
	for _, n := range list {
		b[n/64] &^= 1 << (n % 64)
	}
}

// keep takes away what is not in other, and says whether there was any.
func (b bits) keep(other bits) (fewer bool) {
	for i := range b {
		both := b[i] & other[i]
		fewer = fewer || both != b[i]
		b[i] = both
	}
	return fewer
}

// names are those of the registers that are declared.
func (r registers) names() []string {
	if r.n == 0 {
		return []string{r.name}
	}
	all := make([]string, r.n)
	for i := range all {
		all[i] = r.name + strconv.Itoa(i)
	}
	return all
}
