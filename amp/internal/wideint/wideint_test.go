package wideint

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// bigOf is x as a big.Int: in two's complement if signed.
func bigOf(x []uint64, signed bool) *big.Int {
	v := new(big.Int)
	for i := len(x) - 1; i >= 0; i-- {
		v.Lsh(v, 64).Or(v, new(big.Int).SetUint64(x[i]))
	}
	if signed && int64(x[len(x)-1]) < 0 {
		v.Sub(v, new(big.Int).Lsh(big.NewInt(1), uint(64*len(x))))
	}
	return v
}

// draw draws n words: of random bits, and of runs of zeros and ones, where carries go far and roundings tie.
func draw(r *rand.Rand, n int) []uint64 {
	x := make([]uint64, n)
	for i := range x {
		switch r.IntN(5) {
		case 0:
			x[i] = r.Uint64()
		case 1:
			x[i] = math.MaxUint64
		case 2:
			x[i] = math.MaxUint64 << r.IntN(64)
		case 3:
			x[i] = 1 << r.IntN(64)
		}
	}
	return x
}

func TestMul(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 20000 {
		x, y := draw(r, 1+r.IntN(5)), draw(r, 1+r.IntN(5))
		z := draw(r, 1+r.IntN(11))
		Mul(z, x, y)
		want := new(big.Int).Mul(bigOf(x, false), bigOf(y, false))
		want.And(want, new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), uint(64*len(z))), big.NewInt(1)))
		if bigOf(z, false).Cmp(want) != 0 {
			t.Fatalf("%x · %x: %x, want %x", x, y, z, want)
		}
	}
}

// same tells whether a and b are the same bits.
func same(a, b float64) bool { return math.Float64bits(a) == math.Float64bits(b) }

func TestFloat64(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	check := func(x []uint64, exp int) {
		t.Helper()
		v := new(big.Float).SetInt(bigOf(x, true)) // as precise as x is long
		want, _ := v.SetMantExp(v, exp).Float64()
		if got := Float64(x, exp); !same(got, want) {
			t.Fatalf("%x·2^%d: %x, want %x", x, exp, got, want)
		}
	}
	for range 50000 {
		check(draw(r, 1+r.IntN(5)), r.IntN(2200)-1074)
	}
	// Ties, what is just beside them, and carries into a next power of two.
	for shift := range 64 * 3 {
		for _, top := range []uint64{1, 1<<53 - 1, 1<<53 - 2, 1<<53 + 1, 1<<54 - 1, 1<<54 - 3, 1<<54 + 2} {
			for beside := int64(-1); beside <= 1; beside++ {
				v := new(big.Int).Lsh(new(big.Int).SetUint64(top), uint(shift))
				v.Add(v, big.NewInt(beside))
				x := make([]uint64, 5)
				for i := range x {
					x[i] = new(big.Int).Rsh(v, uint(64*i)).Uint64()
				}
				check(x, -1074)
				check(x, 900)
			}
		}
	}
}
