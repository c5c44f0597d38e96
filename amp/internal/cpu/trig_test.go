package cpu

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// pi is π·2^1500, by Machin's formula.
var pi = func() *big.Int {
	arctan := func(inverse int64) *big.Int { // of 1/inverse, times 2^1500
		sum, power, square := new(big.Int), new(big.Int).Lsh(big.NewInt(1), 1500), big.NewInt(inverse*inverse)
		power.Quo(power, big.NewInt(inverse))
		for n := int64(1); power.Sign() != 0; n += 2 {
			term := new(big.Int).Quo(power, big.NewInt(n))
			if n&2 != 0 {
				term.Neg(term)
			}
			sum.Add(sum, term)
			power.Quo(power, square)
		}
		return sum
	}
	sum := new(big.Int).Mul(big.NewInt(16), arctan(5))
	return sum.Sub(sum, new(big.Int).Mul(big.NewInt(4), arctan(239)))
}()

var (
	bigTwoOverPi = func() *big.Int { // times 2^1280
		x := new(big.Int).Lsh(big.NewInt(1), 1500+1+1280)
		return x.Quo(x, pi)
	}()
	bigHalfPi = func() *big.Float {
		x := new(big.Float).SetPrec(160).SetInt(pi)
		return x.SetMantExp(x, -1501)
	}()
)

// bigQuadrant is largeQuadrant in math/big: with all bits of the product, and 160 of the distance.
func bigQuadrant(x float64) (k int, r, c float64) {
	if math.IsInf(x, 0) || x != x {
		return 0, math.NaN(), 0
	}
	frac, exp := math.Frexp(math.Abs(x)) // x = frac·2^53 · 2^(exp-53), exp > 20
	p := new(big.Int).Mul(big.NewInt(int64(frac*(1<<53))), bigTwoOverPi)
	bits := uint(1280 + 53 - exp) // of the fraction of p, which is x·2/π
	p.Add(p, new(big.Int).Lsh(big.NewInt(1), bits-1))
	whole := new(big.Int).Rsh(p, bits)
	k = int(whole.Uint64() & 3)
	p.Sub(p, whole.Lsh(whole, bits))
	p.Sub(p, new(big.Int).Lsh(big.NewInt(1), bits-1))
	f := new(big.Float).SetPrec(160).SetInt(p)
	f.SetMantExp(f, -int(bits))
	f.Mul(f, bigHalfPi)
	r, _ = f.Float64()
	c, _ = f.Sub(f, new(big.Float).SetFloat64(r)).Float64()
	if x < 0 {
		return -k & 3, -r, -c
	}
	return k, r, c
}

// TestLargeQuadrant: the same bits as in math/big, for numbers of every exponent, those around multiples of π/2 and the float64 nearest to
// one (Muller, Elementary Functions, 2016, §11.2).
func TestLargeQuadrant(t *testing.T) {
	check := func(x float64) {
		t.Helper()
		k, r, c := largeQuadrant(x)
		wantK, wantR, wantC := bigQuadrant(x)
		same := func(a, b float64) bool { return math.Float64bits(a) == math.Float64bits(b) || a != a && b != b }
		if k != wantK || !same(r, wantR) || !same(c, wantC) {
			t.Fatalf("%x: %d %x %x, want %d %x %x", x, k, r, c, wantK, wantR, wantC)
		}
	}
	random := rand.New(rand.NewPCG(3, 5))
	for exp := 20; exp < 1024; exp++ {
		power := math.Ldexp(1, exp)
		for _, x := range []float64{math.Nextafter(power, math.Inf(1)), math.Ldexp(2-0x1p-52, exp), power * 1.5} {
			check(x)
			check(-x)
		}
		for range 20 {
			check(math.Ldexp(1+random.Float64(), exp))
			check(-math.Ldexp(1+random.Float64(), exp))
			multiple := math.Ldexp(math.Floor(math.Ldexp(1+random.Float64(), min(exp, 52))), max(exp-52, 0)) * (math.Pi / 2)
			if multiple < math.MaxFloat64 {
				check(multiple)
				check(math.Nextafter(multiple, 0))
			}
		}
	}
	check(6381956970095103 * 0x1p797)
	check(math.MaxFloat64)
	check(math.NaN())
	check(math.Inf(1))
	check(math.Inf(-1))
}

func BenchmarkLargeQuadrant(b *testing.B) {
	for _, version := range []struct {
		name string
		f    func(float64) (int, float64, float64)
	}{{"words", largeQuadrant}, {"big", bigQuadrant}} {
		b.Run(version.name, func(b *testing.B) {
			b.ReportAllocs()
			for i := range b.N {
				version.f(0x1.23456789abcdep500 + float64(i)*0x1p450)
			}
		})
	}
}
