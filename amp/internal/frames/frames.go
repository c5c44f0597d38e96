// Package frames finds, in a few nanoseconds, which line of a program led to a call: the outermost frames of this module's own
// packages are left out.
package frames

import (
	"runtime"
	"sync/atomic"
)

// depth bounds the frames that are looked at.
const depth = 64

// A site is what is known of a return address: the program counter of the program's own call in that frame, 0 if all of the frame is
// the library's. A frame of the stack holds several functions where the compiler inlined, so the two differ.
type site struct{ ret, program uintptr }

// A Cache remembers sites, which the compiler has fixed. It is safe for concurrent use.
type Cache struct {
	Own   func(pc uintptr) bool // whether a program counter lies in the library
	sites [1 << 10]atomic.Pointer[site]
}

func (c *Cache) slot(ret uintptr) *atomic.Pointer[site] {
	return &c.sites[uint32(ret)*2654435769>>22]
}

// Program returns the program counter of the innermost call that is not the library's own, as runtime.Callers would give it, 0 if there
// is none. If it is not known, ask Learn, from the same function: that one, the library's, is not looked at.
func (c *Cache) Program() (pc uintptr, known bool) {
	var rets [depth]uintptr
	// Most calls come from a few frames up.
	for from, to := 1, 7; from < depth; from, to = to, depth {
		n := callers(rets[:to])
		if n == 0 {
			break
		}
		for _, ret := range rets[from:max(n, from)] {
			s := c.slot(ret).Load()
			if s == nil || s.ret != ret {
				return 0, false
			}
			if s.program != 0 {
				return s.program, true
			}
		}
		if n < to {
			return 0, true
		}
	}
	return 0, false
}

// Learn returns what Program does, from the stack's symbols, and remembers it.
func (c *Cache) Learn() (program uintptr) {
	var all, pcs [depth]uintptr
	rets := all[:callers(all[:])]
	logical := pcs[:runtime.Callers(2, pcs[:])] // one for each function, inlined ones too
	for _, pc := range logical {
		if !c.Own(pc) {
			program = pc
			break
		}
	}
	for i, ret := range rets {
		// The functions of a frame follow each other, innermost first, and the innermost has the return address.
		s := &site{ret: ret}
		for k := index(logical, ret); k >= 0 && k < len(logical); k++ {
			if i+1 < len(rets) && logical[k] == rets[i+1] {
				break
			}
			if !c.Own(logical[k]) {
				s.program = logical[k]
				break
			}
		}
		c.slot(ret).Store(s)
		if s.program != 0 {
			break // frames further out are the program's
		}
	}
	return program
}

func index(pcs []uintptr, pc uintptr) int {
	for i, p := range pcs {
		if p == pc {
			return i
		}
	}
	return -1
}
