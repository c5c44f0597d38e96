package cpu

import (
	"sync"

	"golang.org/x/sys/cpu"
)

var best = sync.OnceValue(func() Variant {
	_, _, c, _ := cpuid(1, 0)
	const f16c = 1 << 29
	x := &cpu.X86
	switch {
	case !x.HasAVX2 || !x.HasFMA || c&f16c == 0:
		return Generic
	case !x.HasAVX512F || !x.HasAVX512BW || !x.HasAVX512DQ || !x.HasAVX512VL:
		return AVX2
	}
	return AVX512
})

// The functions below do a whole number of vectors and return how many elements that were; the caller does the rest.

func widenF16Vec(dst []float32, src []uint16) int {
	n := len(src)
	switch v := variant(); {
	case v == AVX512 && n >= 16:
		widenF16Z(n/16, &src[0], &dst[:n][0])
		return n &^ 15
	case v != Generic && n >= 8:
		widenF16Y(n/8, &src[0], &dst[:n][0])
		return n &^ 7
	}
	return 0
}

func narrowF16Vec(dst []uint16, src []float32) int {
	n := len(src)
	switch v := variant(); {
	case v == AVX512 && n >= 16:
		narrowF16Z(n/16, &src[0], &dst[:n][0])
		return n &^ 15
	case v != Generic && n >= 8:
		narrowF16Y(n/8, &src[0], &dst[:n][0])
		return n &^ 7
	}
	return 0
}

func widenBF16Vec(dst []float32, src []uint16) int {
	n := len(src)
	switch v := variant(); {
	case v == AVX512 && n >= 16:
		widenBF16Z(n/16, &src[0], &dst[:n][0])
		return n &^ 15
	case v != Generic && n >= 8:
		widenBF16Y(n/8, &src[0], &dst[:n][0])
		return n &^ 7
	}
	return 0
}

func narrowBF16Vec(dst []uint16, src []float32) int {
	n := len(src)
	switch v := variant(); {
	case v == AVX512 && n >= 16:
		narrowBF16Z(n/16, &src[0], &dst[:n][0])
		return n &^ 15
	case v != Generic && n >= 8:
		narrowBF16Y(n/8, &src[0], &dst[:n][0])
		return n &^ 7
	}
	return 0
}

func addWideVec(dst []float64, src []float32) int {
	n := len(src)
	switch v := variant(); {
	case v == AVX512 && n >= 16:
		addWideZ(n/16, &src[0], &dst[:n][0])
		return n &^ 15
	case v != Generic && n >= 8:
		addWideY(n/8, &src[0], &dst[:n][0])
		return n &^ 7
	}
	return 0
}

func mulWideVec(dst []float64, src []float32) int {
	n := len(src)
	switch v := variant(); {
	case v == AVX512 && n >= 16:
		mulWideZ(n/16, &src[0], &dst[:n][0])
		return n &^ 15
	case v != Generic && n >= 8:
		mulWideY(n/8, &src[0], &dst[:n][0])
		return n &^ 7
	}
	return 0
}

func widenF64Vec(dst []float64, src []float32) int {
	n := len(src)
	switch v := variant(); {
	case v == AVX512 && n >= 16:
		widenF64Z(n/16, &src[0], &dst[:n][0])
		return n &^ 15
	case v != Generic && n >= 8:
		widenF64Y(n/8, &src[0], &dst[:n][0])
		return n &^ 7
	}
	return 0
}
