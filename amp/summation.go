package amp

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/halftone-ml/halftone/amp/internal/wideint"
)

// A SumResult is one way of adding numbers up, and what came of it.
type SumResult struct {
	Order string  // "first to last", "pairwise" …
	Sum   float64 // as the accumulator had it
	Error float64 // Sum less the exact sum
}

// A SumExperiment adds the same numbers in several orders.
type SumExperiment struct {
	Format  Format // of the numbers and, but for "in float32", of the accumulator
	N       int
	Exact   float64 // sum of the rounded numbers, correctly rounded
	Results []SumResult
}

// ExperimentSums rounds the values to format f and adds them up in several orders, rounding to f after each addition: why kernels
// add in float32, and in what order they had better do it. It panics with ErrArgument for values that are not finite in f.
func ExperimentSums(values []float64, f Format) SumExperiment {
	x := make([]float64, len(values))
	var exact wideint.Sum
	for i, v := range values {
		if x[i] = f.Round(v); !finite(x[i]) {
			fail("ExperimentSums", ErrArgument, "use values within the format's range", "value %d is %v, in %v %v", i, v, f, x[i])
		}
		exact.Add(x[i])
	}
	e := SumExperiment{Format: f, N: len(x), Exact: exact.Float64()}
	add := func(order string, sum float64) {
		e.Results = append(e.Results, SumResult{order, sum, sum - e.Exact})
	}
	reversed := slices.Clone(x)
	slices.Reverse(reversed)
	rising := slices.Clone(x)
	slices.SortStableFunc(rising, func(a, b float64) int { return cmp.Compare(math.Abs(a), math.Abs(b)) })
	falling := slices.Clone(rising)
	slices.Reverse(falling)
	add("first to last", f.running(x))
	add("last to first", f.running(reversed))
	add("smallest first", f.running(rising))
	add("largest first", f.running(falling))
	add("blocks of 32", f.blocks(x, 32))
	add("pairwise", f.pairwise(x))
	add("compensated (Kahan)", f.kahan(x))
	add("in float32", f.Round(FormatFP32.running(x)))
	return e
}

// running adds one number after another.
func (f Format) running(x []float64) float64 {
	sum := 0.0
	for _, v := range x {
		sum = f.Round(sum + v)
	}
	return sum
}

// blocks adds blocks by themselves, then their sums.
func (f Format) blocks(x []float64, n int) float64 {
	var sums []float64
	for part := range slices.Chunk(x, n) {
		sums = append(sums, f.running(part))
	}
	return f.running(sums)
}

// pairwise halves the numbers and adds the sums of the halves.
func (f Format) pairwise(x []float64) float64 {
	if len(x) <= 2 {
		return f.running(x)
	}
	return f.Round(f.pairwise(x[:len(x)/2]) + f.pairwise(x[len(x)/2:]))
}

// kahan carries what each addition lost on to the next (Kahan, 1965).
func (f Format) kahan(x []float64) float64 {
	sum, lost := 0.0, 0.0
	for _, v := range x {
		y := f.Round(v - lost)
		t := f.Round(sum + y)
		lost = f.Round(f.Round(t-sum) - y)
		sum = t
	}
	return sum
}

// String returns a table, one order a line.
func (e SumExperiment) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d numbers in %v, exact sum %.8g\n", e.N, e.Format, e.Exact)
	for _, r := range e.Results {
		fmt.Fprintf(&b, "%-20s %14.8g   error %.3g\n", r.Order, r.Sum, r.Error)
	}
	return b.String()
}
