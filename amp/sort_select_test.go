package amp

import (
	"crypto/sha256"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestSelection compares orders and the places of medians, of the k-th and of the first k with those of a stable sort of all of a line: of lines that are multiples of
// nothing, in order, in the opposite one, of few values, with zeros of both signs, infinities and NaN, along either dimension.
func TestSelection(t *testing.T) {
	computesOnCPU(t)
	sameOnAnyThreads(t, selectionDigest)
}

func selectionDigest() string {
	h := sha256.New()
	r := rand.New(rand.NewPCG(5, 8))
	s := NewScope(On("cpu"))
	defer s.Close()
	special := []float64{0, math.Copysign(0, -1), math.NaN(), math.Inf(1), math.Inf(-1), math.Copysign(math.NaN(), -1), 1e-45, -1e-45, 3e38}
	for _, n := range []int{1, 2, 3, 24, 25, 26, 27, 100, 255, 257, 1023, 1025, 4099, radixLong + 7} {
		for kind := range 6 {
			rows := 35
			if n > 300 { // a worker takes a few of these
				rows = 9
			}
			if n > radixLong {
				rows = 2
			}
			all := make([]float64, rows*n)
			for i := range all {
				switch kind {
				case 0:
					all[i] = r.NormFloat64()
				case 1:
					all[i] = float64(i % n)
				case 2:
					all[i] = -float64(i % n)
				case 3:
					all[i] = float64(r.IntN(3))
				case 4:
					all[i] = 7
				case 5:
					if all[i] = math.Round(8 * r.NormFloat64()); r.IntN(20) == 0 {
						all[i] = special[r.IntN(len(special))]
					}
				}
			}
			for _, dt := range []DType{Float16, BFloat16, Float32, Float64, Int64} {
				if n > 300 && dt != Float32 && kind%2 == 0 || dt == Int64 && kind == 5 {
					continue
				}
				x := fromFloat64s(dt, all, []int{rows, n}).To(s)
				checkSelection(s, x, 1)
				if dt == Float32 {
					turned := Contiguous(s, Transpose(s, x, 0, 1))
					checkSelection(s, turned, 0)
					checkSelection(s, Transpose(s, turned, 0, 1), 1)
				}
				_, at := Median(s, x, 1)
				_, top := Topk(s, x, (n+1)/3, 1, kind%2 == 0)
				fmt.Fprintln(h, at.Float64s(), top.Float64s())
			}
		}
	}
	return fmt.Sprintf("%x", h.Sum(nil))
}

// checkSelection panics unless medians and first ones of x along dimension d are those of sorted lines.
func checkSelection(s *Scope, x *Tensor, d int) {
	n := x.shape[d]
	rows := Contiguous(s, Transpose(s, x, d, 1)).Float64s()
	orders := func(down bool) [][]int {
		var all [][]int
		for at := 0; at < len(rows); at += n {
			line, order := rows[at:at+n], make([]int, n)
			for i := range order {
				order[i] = i
			}
			slices.SortStableFunc(order, func(i, j int) int {
				o := inOrder(line[i], line[j])
				if down {
					return -o
				}
				return o
			})
			all = append(all, order)
		}
		return all
	}
	up, down := orders(false), orders(true)
	values, places := Median(s, x, d)
	v, p := values.Float64s(), places.Float64s()
	for i, order := range up {
		line := rows[i*n : (i+1)*n]
		want := order[(n-1)/2]
		if k := slices.IndexFunc(line, math.IsNaN); k >= 0 {
			want = k
		}
		if p[i] != float64(want) || distance(v[i], line[want]) != 0 {
			panic(fmt.Sprintf("%v %v along %d: median of line %d is %v at %v, want place %d", x.dt, x.shape, d, i, v[i], p[i], want))
		}
	}
	lines := func(t *Tensor) []float64 {
		if d == 0 {
			t = Contiguous(s, Transpose(s, t, 0, 1))
		}
		return t.Float64s()
	}
	for down, orders := range map[bool][][]int{false: up, true: down} {
		p := lines(Argsort(s, x, d, down))
		for i, order := range orders {
			for j, want := range order {
				if p[i*n+j] != float64(want) {
					panic(fmt.Sprintf("%v %v along %d: order of line %d, descending %v: place %d has %v, want %d", x.dt, x.shape, d, i, down, j, p[i*n+j], want))
				}
			}
		}
	}
	for _, k := range slices.Compact([]int{1, min(5, n), min(17, n), (n + 1) / 2, n}) {
		_, kth := Kthvalue(s, x, k, d)
		for i, p := range kth.Float64s() {
			if p != float64(up[i][k-1]) {
				panic(fmt.Sprintf("%v %v along %d: place %d of line %d is %v, want %d", x.dt, x.shape, d, k, i, p, up[i][k-1]))
			}
		}
		for largest, orders := range map[bool][][]int{false: up, true: down} {
			_, places := Topk(s, x, k, d, largest)
			p := lines(places)
			for i, order := range orders {
				for j, want := range order[:k] {
					if p[i*k+j] != float64(want) {
						panic(fmt.Sprintf("%v %v along %d: first %d of line %d, largest %v: place %d has %v, want %d", x.dt, x.shape, d, k, i, largest, j, p[i*k+j], want))
					}
				}
			}
		}
	}
}

// TestSelectionOfAnyKeys asks for every place of keys that repeat, as those of float64 and int64 do, up to the largest.
func TestSelectionOfAnyKeys(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 8))
	for _, n := range []int{1, 25, 67, 201} {
		for _, kinds := range []int{1, 2, 7, 1000} {
			keys := make([]uint64, n)
			for i := range keys {
				keys[i] = math.MaxUint64 - uint64(r.IntN(kinds))
			}
			want := slices.Sorted(slices.Values(keys))
			for k := range n {
				got := slices.Clone(keys)
				nth(got, k)
				if got[k] != want[k] || slices.Max(got[:k+1]) != want[k] || slices.Min(got[k:]) != want[k] {
					t.Fatalf("place %d of %d keys of %d kinds: %d, want %d", k, n, kinds, got[k], want[k])
				}
				slices.Sort(got)
				if !slices.Equal(got, want) {
					t.Fatalf("keys were lost")
				}
			}
		}
	}
}

// inOrder compares two numbers, NaN after all others.
func inOrder(a, b float64) int {
	switch {
	case a < b || a == a && b != b:
		return -1
	case a > b || a != a && b == b:
		return 1
	}
	return 0
}
