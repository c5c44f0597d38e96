package amp

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestFastRows: cumsum, logsumexp, the gradient of embedding, and sums and products of rows with one number each, by the kernels for tensors without
// gaps, agree with plain loops in float64 at sizes that are multiples of nothing.
func TestFastRows(t *testing.T) { sameOnAnyThreads(t, checkFastRows) }

func checkFastRows() string {
	r := rand.New(rand.NewPCG(3, 3))
	s := NewScope(Seed(4))
	defer s.Close()
	inf := math.Inf(1)
	must := func(ok bool, format string, a ...any) {
		if !ok {
			panic(fmt.Sprintf(format, a...))
		}
	}
	same := func(a, b float64) bool { return a == b || a != a && b != b }
	for _, shape := range [][2]int{{1, 1}, {3, 24}, {4, 37}, {7, 100}, {129, 1031}, {1030, 65}, {6, 9001}} {
		rows, n := shape[0], shape[1]
		values := make([]float32, rows*n)
		for i := range values {
			values[i] = float32(r.NormFloat64() * 3)
		}
		for i, v := range []float64{inf, -inf, math.NaN(), 1e-45, 3e38} { // in rows of their own
			if i+1 < rows {
				values[(i+1)*n+r.IntN(n)] = float32(v)
			}
		}
		if rows > 6 { // nothing but -Inf, and both infinities
			for k := range n {
				values[6*n+k] = float32(-inf)
			}
			values[r.IntN(n)] = float32(inf)
			values[n-1] = float32(-inf)
		}
		x := s.Own(From(values, rows, n))
		row := func(i int) []float32 { return values[i*n : (i+1)*n] }
		sums, turned := Values[float32](Cumsum(s, x, 1)), Values[float32](Contiguous(s, Transpose(s, Cumsum(s, Contiguous(s, Transpose(s, x, 0, 1)), 0), 0, 1)))
		most := Values[float32](LogSumExp(s, x, 1))
		columns := make([]float32, rows)
		for i := range columns {
			columns[i] = float32(r.NormFloat64())
		}
		column := s.Own(From(columns, rows, 1))
		product, total := Values[float32](Mul(s, x, column)), Values[float32](Add(s, column, x))
		for i := range rows {
			sum, all := 0.0, 0.0
			largest := float64(slices.Max(row(i)))
			for k, v := range row(i) {
				sum += float64(v)
				at := i*n + k
				must(same(float64(sums[at]), float64(float32(sum))) && same(float64(turned[at]), float64(float32(sum))), "cumsum %v: element %d of row %d is %v and %v, want %v", shape, k, i, sums[at], turned[at], sum)
				must(same(float64(product[at]), float64(v*columns[i])), "mul %v: element %d of row %d is %v, want %v", shape, k, i, product[at], v*columns[i])
				must(same(float64(total[at]), float64(v+columns[i])), "add %v: element %d of row %d is %v, want %v", shape, k, i, total[at], v+columns[i])
				all += math.Exp(float64(v) - largest)
			}
			want := largest + math.Log(all)
			if math.IsInf(largest, 0) {
				want = largest
			}
			must(same(float64(most[i]), want) || math.Abs(float64(most[i])-want) <= 3e-7*max(1, math.Abs(want)), "logsumexp %v: row %d is %v, want %v", shape, i, most[i], want)
		}
		for _, dt := range []DType{Float32, BFloat16, Float16} {
			const classes = 5
			index, finite := make([]int64, rows), make([]float32, rows*n)
			for i := range index {
				index[i] = int64(r.IntN(classes))
			}
			for i := range finite {
				finite[i] = float32(r.NormFloat64())
			}
			dy := To(s, s.Own(From(finite, rows, n)), dt)
			table := To(s, Randn(s, Float32, 0, 1, classes, n), dt).RequireGrad()
			at := s.Own(From(index))
			got := Grad(s, []*Tensor{Embedding(s, table, at)}, []*Tensor{table}, GradOutputs(dy))[0].Float64s()
			want := make([]float64, classes*n)
			for i, v := range dy.Float64s() {
				want[int(index[i/n])*n+i%n] += v
			}
			rounded := To(s, s.Own(From(want, classes, n)), dt).Float64s()
			must(slices.Equal(got, rounded), "embedding's gradient %v %v differs", dt, shape)
		}
	}
	return "right"
}

// TestGatherWords: gather from and to lines that are neighbors in memory, for every dtype, from parts of tensors and at any length; and the largest
// and smallest of columns, at numbers of columns around what is read together.
func TestGatherWords(t *testing.T) { sameOnAnyThreads(t, checkGatherWords) }

func checkGatherWords() string {
	r := rand.New(rand.NewPCG(9, 9))
	s := NewScope(Seed(4))
	defer s.Close()
	for _, shape := range [][3]int{{1, 1, 1}, {5, 7, 9}, {33, 100, 41}, {40, 1000, 1501}, {7, 12345, 3}} {
		rows, n, k := shape[0], shape[1], shape[2]
		picks := make([]int64, rows*k)
		for i := range picks {
			picks[i] = int64(r.IntN(n))
		}
		index := s.Own(From(picks, rows, k))
		for _, dt := range []DType{Bool, BFloat16, Float16, Float32, Float64, Int64} {
			whole := To(s, RandInt(s, 0, 2, rows+1, n+5), dt)
			if dt != Bool {
				whole = To(s, RandInt(s, 0, 200, rows+1, n+5), dt)
			}
			x := Narrow(s, Narrow(s, whole, 1, 3, n), 0, 1, rows)
			in, got := x.Float64s(), Gather(s, x, 1, index).Float64s()
			for i, p := range picks {
				if want := in[i/k*n+int(p)]; got[i] != want {
					panic(fmt.Sprintf("gather %v %v: element %d is %v, want %v", dt, shape, i, got[i], want))
				}
			}
		}
	}
	for _, columns := range []int{24, 63, 65, 257, 511, 1030, 2051, 3000} {
		x := Randn(s, Float32, 0, 1, 29, columns)
		values := Values[float32](x)
		values[r.IntN(len(values))] = float32(math.NaN())
		x = s.Own(From(values, 29, columns))
		most, least := Values[float32](Amax(s, x, 0)), Values[float32](Amin(s, x, 0))
		for k := range columns {
			high, low := values[k], values[k]
			for i := k; i < len(values); i += columns {
				high, low = max(high, values[i]), min(low, values[i])
			}
			if high != most[k] && high == high || low != least[k] && low == low || (high != high) != (most[k] != most[k]) {
				panic(fmt.Sprintf("amax and amin of %d columns: column %d is %v and %v, want %v and %v", columns, k, most[k], least[k], high, low))
			}
		}
	}
	return "right"
}
