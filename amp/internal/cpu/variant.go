package cpu

import (
	"fmt"
	"os"
	"strings"
	"sync/atomic"
)

//go:generate go run ./asmgen .

// A Variant is a set of kernels for one kind of processor.
type Variant int32

// The variants. Generic is plain Go and runs everywhere.
const (
	Generic Variant = iota
	AVX2
	AVX512
)

func (v Variant) String() string { return [...]string{"generic", "avx2", "avx512"}[v] }

// A Mode is what HALFTONE_CPU chooses.
type Mode struct {
	Variant Variant
	// Reproducible: the same bits on every variant and machine. The assembly always gives them; the generic variant then pays
	// for fused multiply-adds where the processor has none for the type.
	Reproducible bool
}

var mode atomic.Int32 // Variant, and reproducibleBit

const reproducibleBit = 1 << 8

func init() {
	m, err := parseMode(os.Getenv("HALFTONE_CPU"), best())
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	SetMode(m)
}

// parseMode reads HALFTONE_CPU: a variant, "reproducible", or both with a comma. What is unknown, or not to be had on this
// machine, is reported and has no effect.
func parseMode(s string, have Variant) (Mode, error) {
	m := Mode{Variant: have}
	var err error
	for _, word := range strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return r == ',' || r == ' ' }) {
		v := Generic
		switch word {
		case "reproducible":
			m.Reproducible = true
			continue
		case "generic":
		case "avx2":
			v = AVX2
		case "avx512":
			v = AVX512
		default:
			err = fmt.Errorf("halftone: HALFTONE_CPU=%s: unknown word %q ignored; use avx512, avx2, generic, reproducible or two of them with a comma", s, word)
			continue
		}
		if v > have {
			err = fmt.Errorf("halftone: HALFTONE_CPU=%s: this processor lacks %v, using %v", s, v, have)
			continue
		}
		m.Variant = v
	}
	return m, err
}

// Current returns the kernels in use.
func Current() Mode {
	v := mode.Load()
	return Mode{Variant(v &^ reproducibleBit), v&reproducibleBit != 0}
}

// SetMode chooses the kernels; a variant that the machine lacks becomes the best it has. It is for tests: kernels that run
// meanwhile may use either.
func SetMode(m Mode) {
	v := int32(min(m.Variant, best()))
	if m.Reproducible {
		v |= reproducibleBit
	}
	mode.Store(v)
}

func variant() Variant   { return Variant(mode.Load() &^ reproducibleBit) }
func reproducible() bool { return mode.Load()&reproducibleBit != 0 }

// Variants returns those that this machine has.
func Variants() []Variant {
	var all []Variant
	for v := Generic; v <= best(); v++ {
		all = append(all, v)
	}
	return all
}
