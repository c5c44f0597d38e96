package wideint

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// bigSum is the sum in math/big, of as many bits as any sum here takes.
func bigSum(x []float64) float64 {
	sum := new(big.Float).SetPrec(2200)
	for _, v := range x {
		sum.Add(sum, big.NewFloat(v))
	}
	exact, _ := sum.Float64()
	return exact
}

func sum(x []float64) float64 {
	var s Sum
	for _, v := range x {
		s.Add(v)
	}
	return s.Float64()
}

func TestSum(t *testing.T) {
	least, most, negativeZero := math.SmallestNonzeroFloat64, math.MaxFloat64, math.Copysign(0, -1)
	for _, x := range [][]float64{
		nil,
		{negativeZero},
		{negativeZero, negativeZero},
		{1, -1},
		{-1, negativeZero, 1},
		{least},
		{-least},
		{least, -least},
		{most},
		{most, least, -most},
		{-most, least, -least, most, -least},
		{most, most},                    // beyond float64
		{-most, -most, most, most, -1},  // and back
		{most, 0x1p969},                 // less than half a unit more
		{most, 0x1p970},                 // half a unit more: to the even one, which is infinity
		{most, 0x1p970, -least},         // just less than that
		{-most, -0x1p970},               // the same below
		{1, 0x1p-53},                    // ties
		{1, 0x1p-53, least},             //
		{1, 0x1p-52, 0x1p-53},           //
		{1, 0x1p-52, 0x1p-53, -least},   //
		{-1, -0x1p-53, -least},          //
		{0x1p-1022, -least},             // the largest subnormal number
		{0x1p-1022, 0x1p-1022, -least},  //
		{math.Pi, 0x1p1000, -0x1p1000},  // what float64 forgets
		{0x1p1000, -least, -0x1p1000},   // carries over all words
		{-0x1p1000, least, 0x1p1000, 1}, //
	} {
		if got, want := sum(x), bigSum(x); !same(got, want) {
			t.Errorf("%x: %x, want %x", x, got, want)
		}
	}
}

// TestSumRandom: of any bits, of like sizes, of ones that cancel but for the last, in any order.
func TestSumRandom(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 3000 {
		x := make([]float64, r.IntN(60))
		kind := r.IntN(3)
		for i := range x {
			switch {
			case kind == 0 || kind == 2 && i%2 == 0:
				for x[i] = math.Inf(1); math.IsInf(x[i], 0) || x[i] != x[i]; {
					x[i] = math.Float64frombits(r.Uint64())
				}
			case kind == 1:
				x[i] = math.Ldexp(r.Float64()-0.5, r.IntN(60)-1060)
			default:
				x[i] = -x[i-1]
			}
		}
		r.Shuffle(len(x), func(i, j int) { x[i], x[j] = x[j], x[i] })
		if got, want := sum(x), bigSum(x); !same(got, want) {
			t.Fatalf("%x: %x, want %x", x, got, want)
		}
	}
}

func BenchmarkSum(b *testing.B) {
	r := rand.New(rand.NewPCG(7, 8))
	x := make([]float64, 1000)
	for i := range x {
		x[i] = r.NormFloat64()
	}
	for _, version := range []struct {
		name string
		f    func([]float64) float64
	}{{"words", sum}, {"big", bigSum}} {
		b.Run(version.name, func(b *testing.B) {
			b.ReportAllocs()
			for range b.N {
				version.f(x)
			}
		})
	}
}
