package cpu

import (
	"math"
	"testing"
)

// TestPhilox: known answers of Random123, and every variant against one block at a time, at odd lengths, unaligned starts and where the
// counter carries.
func TestPhilox(t *testing.T) {
	for _, k := range []struct {
		seed, block uint64
		want        [4]uint32
	}{{0, 0, [4]uint32{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}}} {
		if got := PhiloxBlock(k.seed, k.block); got != k.want {
			t.Errorf("block %d of seed %d: %x, want %x", k.block, k.seed, got, k.want)
		}
	}
	defer SetMode(Current())
	buf := make([]uint32, 1024)
	for _, v := range Variants() {
		SetMode(Mode{Variant: v})
		for _, seed := range []uint64{0, 1, 0x9E3779B97F4A7C15, math.MaxUint64} {
			for _, first := range []uint64{0, 7, 1<<32 - 9, 1<<32 - 1, math.MaxUint64 - 20} {
				for _, n := range []int{0, 1, 3, 4, 5, 31, 32, 33, 63, 64, 65, 127, 128, 129, 200, 515} {
					for off := range 3 {
						dst := buf[off : off+n : off+n]
						clear(buf)
						Philox(dst, seed, first)
						for i, got := range dst {
							if want := PhiloxBlock(seed, first+uint64(i/4))[i%4]; got != want {
								t.Fatalf("%v: %d numbers from block %d of seed %d: number %d is %x, want %x", v, n, first, seed, i, got, want)
							}
						}
						for i, x := range buf[off+n:] {
							if x != 0 {
								t.Fatalf("%v: %d numbers: number %d is written", v, n, n+i)
							}
						}
					}
				}
			}
		}
	}
}

// TestDrop holds the variants to the formula, with numbers at the bound, infinities, NaN and subnormals.
func TestDrop(t *testing.T) {
	defer SetMode(Current())
	special := []float32{0, float32(math.Copysign(0, -1)), 1, -2.5, float32(math.Inf(1)), float32(math.Inf(-1)), float32(math.NaN()), 1e-42, -1e-45, math.MaxFloat32}
	for _, v := range Variants() {
		SetMode(Mode{Variant: v})
		for _, bound := range []uint64{1, 1 << 29, 1 << 31, 1<<32 - 1, 1 << 32} {
			for _, n := range []int{1, 7, 8, 9, 15, 16, 17, 33, 100} {
				for off := range 3 {
					d := Dropping{Bound: bound, Factor: [2]float32{0, 1.25}, Summand: [2]float32{-0.5, 0.75}}
					if off == 1 {
						d.Summand = [2]float32{}
					}
					src, dst, numbers := make([]float32, n+off)[off:], make([]float32, n+off)[off:], make([]uint32, n+off)[off:]
					for i := range src {
						src[i] = special[(i+n)%len(special)]
						numbers[i] = []uint32{0, uint32(bound - 1), uint32(bound), 1 << 31, math.MaxUint32, 1<<31 - 1}[i%6]
					}
					Drop(dst, src, numbers, &d)
					for i, got := range dst {
						k := 0
						if uint64(numbers[i]) >= bound {
							k = 1
						}
						want := float32(src[i]*d.Factor[k]) + d.Summand[k]
						if math.Float32bits(got) != math.Float32bits(want) && !(got != got && want != want) {
							t.Fatalf("%v: %v with number %d and bound %d became %v, want %v", v, src[i], numbers[i], bound, got, want)
						}
					}
				}
			}
		}
	}
}

func BenchmarkPhilox(b *testing.B) {
	dst := make([]uint32, 4096)
	b.SetBytes(int64(4 * len(dst)))
	for b.Loop() {
		Philox(dst, 1, 2)
	}
}
