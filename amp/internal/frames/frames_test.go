package frames

import (
	"runtime"
	"strings"
	"testing"
)

// library says whether a function is one of those that play the library here.
func library(pc uintptr) bool {
	f, _ := runtime.CallersFrames([]uintptr{pc}).Next()
	return strings.Contains(f.Function, "lib") || strings.Contains(f.Function, ".(*Cache)")
}

//go:noinline
func libInner(c *Cache) (uintptr, bool) {
	pc, known := c.Program()
	if !known {
		pc = c.Learn()
	}
	return pc, known
}

func libInlined(c *Cache) (uintptr, bool) { return libInner(c) }

//go:noinline
func libDeep(c *Cache, n int) (uintptr, bool) {
	if n > 0 {
		pc, known := libDeep(c, n-1)
		return pc, known
	}
	return libInlined(c)
}

func line(pc uintptr) int {
	f, _ := runtime.CallersFrames([]uintptr{pc}).Next()
	return f.Line
}

func here() int {
	_, _, line, _ := runtime.Caller(1)
	return line
}

// programInlined is inlined into its callers: its line must be found, not theirs.
func programInlined(c *Cache) (pc uintptr, known bool, want int) {
	pc, known = libInlined(c)
	return pc, known, here() - 1
}

// TestProgram asks for the same lines several times: from symbols the first time, from what was learned later.
func TestProgram(t *testing.T) {
	c := &Cache{Own: library}
	for round := range 3 {
		calls := map[string]func() (uintptr, bool, int){
			"direct":  func() (uintptr, bool, int) { pc, k := libInner(c); return pc, k, here() },
			"inlined": func() (uintptr, bool, int) { pc, k := libInlined(c); return pc, k, here() },
			"deep":    func() (uintptr, bool, int) { pc, k := libDeep(c, 20); return pc, k, here() },
			"deeper":  func() (uintptr, bool, int) { pc, k := libDeep(c, 4); return pc, k, here() },
			"two on a line": func() (uintptr, bool, int) {
				libInner(c)
				pc, k := libInlined(c)
				return pc, k, here() - 1
			},
			"program inlined": func() (uintptr, bool, int) { return programInlined(c) },
		}
		for name, call := range calls {
			pc, known, want := call()
			if got := line(pc); got != want {
				t.Errorf("round %d, %s: line %d, want %d", round, name, got, want)
			}
			if round > 0 && !known && runtime.GOARCH == "amd64" {
				t.Errorf("round %d, %s: symbols were asked again", round, name)
			}
		}
	}
}

// TestNoProgram asks from a goroutine on whose stack there is nothing but the library.
func TestNoProgram(t *testing.T) {
	c := &Cache{Own: func(uintptr) bool { return true }}
	for range 2 {
		if pc, _ := libDeep(c, 80); pc != 0 {
			t.Errorf("found line %d where all is the library's", line(pc))
		}
	}
}

// TestStackMoves asks while stacks grow and shrink and memory is collected.
func TestStackMoves(t *testing.T) {
	c := &Cache{Own: library}
	done := make(chan string)
	for range 8 {
		go func() {
			for i := range 300 {
				pc, _ := grow(c, i%64)
				if f, _ := runtime.CallersFrames([]uintptr{pc}).Next(); !strings.HasSuffix(f.Function, ".grow") {
					done <- f.Function
					return
				}
				if i%50 == 0 {
					runtime.GC()
				}
			}
			done <- ""
		}()
	}
	for range 8 {
		if f := <-done; f != "" {
			t.Errorf("found %s", f)
		}
	}
}

//go:noinline
func grow(c *Cache, n int) (uintptr, bool) {
	var pad [1024]byte
	pad[n] = 1
	if n > 0 {
		pc, known := grow(c, n-1)
		runtime.KeepAlive(&pad)
		return pc, known
	}
	pc, known := libInlined(c)
	return pc, known
}

func BenchmarkProgram(b *testing.B) {
	c := &Cache{Own: library}
	for b.Loop() {
		libInner(c)
	}
}
