// Command ceilings measures what this machine can do at most, for package bench to hold the rows of its table against: operations per
// nanosecond of products in registers, bytes per nanosecond of a copy, of reading and of writing in place, and what a parallel loop over nothing takes. It uses the kernels
// and threads that HALFTONE_CPU, HALFTONE_DOT and HALFTONE_THREADS choose, and prints one line of JSON. With the argument yardstick it answers
// every line of its input with what a fixed loop takes at that moment, which tells a disturbed machine from a quiet one.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/halftone-ml/halftone/amp/internal/cpu"
)

const (
	copied = 16 << 20 // bytes, as many as 4096 rows of 1024 numbers
	piece  = 256 << 10
	rounds = 15
)

func main() {
	if len(os.Args) > 1 && os.Args[1] == "yardstick" {
		yardstick()
		return
	}
	src, dst := make([]byte, copied), make([]byte, copied)
	for i := range src {
		src[i] = byte(i)
	}
	out := map[string]any{
		"dot":  cpu.CurrentDot().String(),
		"fma":  peak(func(n int) float64 { return cpu.Peak(n) }),
		"bf16": peak(func(n int) float64 { return cpu.PeakDot(n, cpu.BF16) }),
		"f16":  peak(func(n int) float64 { return cpu.PeakDot(n, cpu.F16) }),
		"copy": 2 * copied / fastest(func() {
			cpu.Parallel(copied/piece, 1, func(lo, hi int) { copy(dst[lo*piece:hi*piece], src[lo*piece:hi*piece]) })
		}),
		"region": region(),
	}
	if cpu.ReadAll(src[:piece]) {
		out["read"] = copied / fastest(func() {
			cpu.Parallel(copied/piece, 1, func(lo, hi int) { cpu.ReadAll(src[lo*piece : hi*piece]) })
		})
		out["rewrite"] = 2 * copied / fastest(func() {
			cpu.Parallel(copied/piece, 1, func(lo, hi int) { cpu.Rewrite(dst[lo*piece : hi*piece]) })
		})
	}
	if err := json.NewEncoder(os.Stdout).Encode(out); err != nil {
		fmt.Fprintln(os.Stderr, "ceilings:", err)
		os.Exit(1)
	}
}

// yardstick answers lines with the time in ns that every thread needs for as many multiply-adds: that of the slowest one, and the least of a
// few such times, since a moment without a processor says nothing. Where there are no vector kernels it says so.
func yardstick() {
	const n, times = 4_000_000, 3
	out := json.NewEncoder(os.Stdout)
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		if cpu.Peak(1) == 0 {
			_ = out.Encode(map[string]string{"error": "no vector kernels"})
			continue
		}
		var all []time.Duration
		for range times {
			began := time.Now()
			cpu.Parallel(cpu.Threads(), 1, func(lo, hi int) {
				for range hi - lo {
					cpu.Peak(n)
				}
			})
			all = append(all, time.Since(began))
		}
		if out.Encode(map[string]float64{"median": float64(slices.Min(all))}) != nil {
			return
		}
	}
}

// fastest returns the least time in ns of several.
func fastest(f func()) float64 {
	f()
	var all []time.Duration
	for range rounds {
		began := time.Now()
		f()
		all = append(all, time.Since(began))
	}
	return float64(slices.Min(all))
}

// peak returns the operations per ns of all threads together.
func peak(loop func(n int) float64) float64 {
	const n = 200_000
	per := loop(n)
	parts := 8 * cpu.Threads()
	return per * float64(parts) / fastest(func() {
		cpu.Parallel(parts, 1, func(lo, hi int) {
			for range hi - lo {
				loop(n)
			}
		})
	})
}

// region is the median time in ns of a parallel loop that has a range for every thread and does nothing in it.
func region() float64 {
	const calls = 100
	var all []float64
	for range 10 * rounds {
		began := time.Now()
		for range calls {
			cpu.Parallel(cpu.Threads(), 1, func(int, int) {})
		}
		all = append(all, float64(time.Since(began))/calls)
	}
	slices.Sort(all)
	return all[len(all)/2]
}
