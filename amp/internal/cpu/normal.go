package cpu

import (
	"math"
	"sync"
)

// normalPairs is how many pairs of normally distributed numbers are made at a time: all that lies between stays in the L1 cache.
const normalPairs = 256

// normalScratch holds what lies between the steps.
type normalScratch struct {
	numbers          [4 * normalPairs]uint32
	radius, sin, cos [normalPairs]float64
}

var normals = sync.Pool{New: func() any { return new(normalScratch) }}

// Uniform returns a number in [0,1] of 53 bits from 64: both halves are exact, so that their sum is rounded once.
func Uniform(hi, lo uint32) float64 {
	return float64(float64(hi)*0x1p-32) + float64(float64(lo)*0x1p-64)
}

// Normal fills dst with normally distributed numbers, two of each block of Philox by the method of Box and Muller: r·cos and r·sin of an
// angle, of which the last may be missing.
func Normal(dst []float64, seed, block uint64, mean, std float64) {
	s := normals.Get().(*normalScratch)
	for len(dst) > 0 {
		n := min((len(dst)+1)/2, normalPairs)
		numbers, radius, sin, cos := s.numbers[:4*n], s.radius[:n], s.sin[:n], s.cos[:n]
		Philox(numbers, seed, block)
		for i := polarVec(radius, sin, numbers); i < n; i++ {
			b := numbers[4*i : 4*i+4]
			radius[i], sin[i] = -Uniform(b[0], b[1]), float64(2*math.Pi*Uniform(b[2], b[3]))
		}
		Log1p.small(radius, radius)
		sinCos(sin, cos, sin)
		whole := min(n, len(dst)/2)
		i := planeVec(dst[:2*whole], radius, sin, cos, mean, std)
		for ; i < n; i++ {
			x := math.Sqrt(-2 * radius[i])
			dst[2*i] = mean + float64(std*float64(x*cos[i]))
			if i < whole {
				dst[2*i+1] = mean + float64(std*float64(x*sin[i]))
			}
		}
		dst, block = dst[min(2*n, len(dst)):], block+uint64(n)
	}
	normals.Put(s)
}

// sinCos sets sin and cos to those of angles that are known to be small. sin may be angle.
func sinCos(sin, cos, angle []float64) {
	done := sinCosVec(sin, cos, angle)
	Cos.small(cos[done:], angle[done:])
	Sin.small(sin[done:], angle[done:])
}
