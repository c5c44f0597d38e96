package cpu

import (
	"math"
	"os"
	"testing"
)

func TestMain(m *testing.M) {
	if os.Getenv("HALFTONE_POISON") == "" {
		SetPoison(0xff)
	}
	os.Exit(m.Run())
}

// TestPoison: memory that is lent is filled when it is new and when it comes back, but not what may hold pointers.
func TestPoison(t *testing.T) {
	defer SetPoison(SetPoison(0xff))
	nan := func(what string, list []float32) {
		t.Helper()
		for i, v := range list {
			if v == v {
				t.Fatalf("%s: element %d of %d is %v", what, i, len(list), v)
			}
		}
	}
	b := Grow([]float32(nil), 37)
	nan("new", b)
	clear(b)
	nan("again", Grow(b, 30))
	w := workspaces[float32]().get()
	w.a, w.piece = make([]float32, 100), [3]int{1, 2, 3}
	workspaces[float32]().put(w)
	if again := workspaces[float32]().get(); again != w || again.piece != [3]int{} {
		t.Error("a workspace remembers what it held before it was filled")
	}
	nan("workspace", w.a)
	workspaces[float32]().put(w)
	pointers := []*int{new(int)}
	if Poison(pointers); *pointers[0] != 0 {
		t.Error("pointers are filled")
	}
	if SetPoison(-1) != 0xff {
		t.Error("SetPoison does not return what was")
	}
	if clear(b); b[0] != 0 || Grow(b, 37)[0] != 0 || SetPoison(0x3c) != -1 {
		t.Error("filled without poison")
	}
	if v := Grow([]float64(nil), 3)[2]; math.Float64bits(v) != 0x3c3c3c3c3c3c3c3c {
		t.Errorf("%x", math.Float64bits(v))
	}
}

// TestSetThreads: a loop gives the same ranges however many workers there are, each once, and more workers than processors come when asked for.
func TestSetThreads(t *testing.T) {
	defer SetThreads(0)
	for _, n := range []int{1, 3, 2, 7, 1, 16} {
		if SetThreads(n); Threads() != n {
			t.Fatalf("%d threads, want %d", Threads(), n)
		}
		for _, items := range []int{1, 2, 15, 16, 17, 1000, 4099} {
			for _, grain := range []int{1, 2, 7, 64} {
				seen := make([]int32, items)
				Parallel(items, grain, func(lo, hi int) {
					if lo%grain != 0 || hi-lo > grain {
						t.Errorf("range %d … %d of grain %d", lo, hi, grain)
					}
					for i := lo; i < hi; i++ {
						seen[i]++
					}
				})
				for i, v := range seen {
					if v != 1 {
						t.Fatalf("%d threads, %d items, grain %d: item %d came %d times", n, items, grain, i, v)
					}
				}
			}
		}
	}
}
