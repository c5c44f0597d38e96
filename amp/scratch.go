package amp

import (
	"sync"

	"github.com/halftone-ml/halftone/amp/internal/cpu"
)

// Memory that workers use again from call to call.

// A scratch holds the widened chunks of one worker.
type scratch[T number] struct{ buf [4][chunk]T }

var (
	scratch32 = sync.Pool{New: func() any { return new(scratch[float32]) }}
	scratch64 = sync.Pool{New: func() any { return new(scratch[float64]) }}
	scratchI  = sync.Pool{New: func() any { return new(scratch[int64]) }}
)

func scratches[T number]() *sync.Pool {
	var z T
	switch any(z).(type) {
	case float32:
		return &scratch32
	case float64:
		return &scratch64
	}
	return &scratchI
}

// rowPool lends memory for numbers in float64 that fit no scratch: lines, groups and sums.
var rowPool = sync.Pool{New: func() any { return new([]float64) }}

// sized makes room for n numbers; their values are anything.
func sized(p *[]float64, n int) []float64 {
	*p = resize(*p, n)
	return *p
}

// cleared returns n zeros, and what is to be put into rowPool when they are read.
func cleared(n int) (room *[]float64, zeros []float64) {
	room = rowPool.Get().(*[]float64)
	zeros = sized(room, n)
	clear(zeros)
	return room, zeros
}

// resize returns n elements, of b if it has them; their values are anything.
func resize[T any](b []T, n int) []T {
	if cap(b) < n {
		b = make([]T, n)
	}
	b = b[:n]
	cpu.Poison(b)
	return b
}
