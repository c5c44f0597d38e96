package amp

import (
	"fmt"
	"math"
	"strings"
)

// A Format is a binary floating-point format: those of tensors, and others to ask "what if" about.
type Format uint8

// The formats. TF32 is what tensor cores read of a float32; the float8 formats and the 4-bit one, E2M1, are those of the Open Compute Project.
const (
	FormatFP16 Format = iota
	FormatBF16
	FormatTF32
	FormatE5M2
	FormatE4M3
	FormatFP32
	FormatE2M1
)

// A formatInfo is what is known of a format.
type formatInfo struct {
	name     string
	exponent int // bits
	mantissa int
	bias     int
	max      float64
	noInf    bool // e4m3 gives its infinities' codes to numbers and overflows to NaN
	noNaN    bool // e2m1 gives those of NaN to numbers, too, and saturates
}

// formats holds what is known of each format, once.
var formats = [...]formatInfo{
	FormatFP16: {"fp16", 5, 10, 15, 65504, false, false},
	FormatBF16: {"bf16", 8, 7, 127, 0x1.fep127, false, false},
	FormatTF32: {"tf32", 8, 10, 127, 0x1.ffcp127, false, false},
	FormatE5M2: {"e5m2", 5, 2, 15, 57344, false, false},
	FormatE4M3: {"e4m3", 4, 3, 7, 448, true, false},
	FormatFP32: {"fp32", 8, 23, 127, 0x1.fffffep127, false, false},
	FormatE2M1: {"e2m1", 2, 1, 1, 6, true, true},
}

// Formats lists all formats.
func Formats() []Format {
	return []Format{FormatFP32, FormatTF32, FormatBF16, FormatFP16, FormatE5M2, FormatE4M3, FormatE2M1}
}

// String returns "fp16", "bf16", "tf32", "e5m2", "e4m3", "fp32" or "e2m1".
func (f Format) String() string {
	if int(f) >= len(formats) {
		return fmt.Sprintf("format(%d)", uint8(f))
	}
	return formats[f].name
}

// info panics with ErrArgument for a number that is no format.
func (f Format) info() *formatInfo {
	if int(f) >= len(formats) {
		fail("Format", ErrArgument, "use one that amp.Formats lists, such as amp.FormatFP16", "there is no format number %d", uint8(f))
	}
	return &formats[f]
}

// Bits returns the number of bits: sign, exponent and mantissa. A tf32 has 19, stored in 32.
func (f Format) Bits() int { return 1 + f.info().exponent + f.info().mantissa }

// Fields returns the number of exponent and of stored mantissa bits.
func (f Format) Fields() (exponent, mantissa int) {
	return f.info().exponent, f.info().mantissa
}

// Max returns the largest finite number.
func (f Format) Max() float64 { return f.info().max }

// MinNormal returns the smallest positive number with full precision; below it digits are lost.
func (f Format) MinNormal() float64 { return math.Ldexp(1, 1-f.info().bias) }

// MinSubnormal returns the smallest positive number. Half of it and less rounds to zero.
func (f Format) MinSubnormal() float64 {
	return math.Ldexp(1, 1-f.info().bias-f.info().mantissa)
}

// Epsilon returns the gap between 1 and the next number.
func (f Format) Epsilon() float64 { return math.Ldexp(1, -f.info().mantissa) }

// FormatOf returns the format of a tensor's dtype, and false for one without: float64, integers and bool.
func FormatOf(dt DType) (Format, bool) {
	switch dt {
	case Float16:
		return FormatFP16, true
	case BFloat16:
		return FormatBF16, true
	case Float32:
		return FormatFP32, true
	}
	return 0, false
}

// spacing returns the gap between the format's numbers around |v|.
func (f Format) spacing(v float64) float64 {
	if v == 0 {
		return f.MinSubnormal()
	}
	_, e := math.Frexp(v)
	return math.Ldexp(1, max(e-1, 1-f.info().bias)-f.info().mantissa)
}

// Round returns the format's number nearest to v, ties to even, with gradual underflow. Beyond the largest number it is
// infinite, NaN in e4m3, and the largest number in e2m1. NaN stays NaN, in e2m1 too, which has none: a tensor in the lower dtype keeps it.
func (f Format) Round(v float64) float64 {
	return f.settle(v, math.RoundToEven)
}

// RoundStochastic returns one of the two numbers around v, the upper one with the probability of v's place between them: the mean of
// many roundings is v. u is uniform in [0,1).
func (f Format) RoundStochastic(v, u float64) float64 {
	return f.settle(v, func(q float64) float64 {
		low := math.Floor(q)
		if q-low > u {
			low++
		}
		return low
	})
}

// settle rounds |v| in units of its spacing.
func (f Format) settle(v float64, round func(float64) float64) float64 {
	if v == 0 || v != v || math.IsInf(v, 0) && !f.info().noInf {
		return v
	}
	unit := f.spacing(v)
	r := round(math.Abs(v)/unit) * unit
	if r > f.info().max {
		switch i := f.info(); {
		case i.noNaN:
			r = i.max
		case i.noInf:
			r = math.NaN()
		default:
			r = math.Inf(1)
		}
	}
	return math.Copysign(r, v)
}

// Encode returns the bits of v rounded to the format: sign, exponent, mantissa from the top. e2m1 has none for NaN, which gives those of -0, as
// ml_dtypes' float4_e2m1fn does.
func (f Format) Encode(v float64) uint32 {
	i := f.info()
	r := f.Round(v)
	var sign uint32
	if math.Signbit(r) {
		sign = 1 << (i.exponent + i.mantissa)
	}
	top := uint32(1)<<i.exponent - 1
	switch {
	case r != r && i.noNaN:
		return 1 << (i.exponent + i.mantissa)
	case r != r && i.noInf:
		return sign | top<<i.mantissa | (1<<i.mantissa - 1)
	case r != r:
		return sign | top<<i.mantissa | 1<<(i.mantissa-1)
	case math.IsInf(r, 0):
		return sign | top<<i.mantissa
	}
	units := uint32(math.Abs(r) / f.spacing(r)) // with the hidden bit where there is one
	_, e := math.Frexp(r)
	if biased := e - 1 + i.bias; r != 0 && biased >= 1 {
		return sign | uint32(biased-1)<<i.mantissa + units
	}
	return sign | units
}

// Decode returns the number of the given bits. It panics with ErrArgument for bits beyond the format's.
func (f Format) Decode(bits uint32) float64 {
	i := f.info()
	if f.Bits() < 32 && bits>>f.Bits() != 0 {
		fail("Decode", ErrArgument, fmt.Sprintf("use the lower %d bits", f.Bits()), "%#x in %v", bits, f)
	}
	sign := 1.0
	if bits>>(i.exponent+i.mantissa)&1 == 1 {
		sign = -1
	}
	top := uint32(1)<<i.exponent - 1
	exponent, mantissa := bits>>i.mantissa&top, bits&(1<<i.mantissa-1)
	switch {
	case exponent == top && !i.noInf:
		if mantissa != 0 {
			return math.NaN()
		}
		return math.Inf(int(sign))
	case exponent == top && mantissa == 1<<i.mantissa-1 && !i.noNaN:
		return math.NaN()
	case exponent == 0:
		return sign * float64(mantissa) * f.MinSubnormal()
	}
	return sign * math.Ldexp(float64(mantissa|1<<i.mantissa), int(exponent)-i.bias-i.mantissa)
}

// A Number is one number looked at closely: what a format makes of it.
type Number struct {
	Format   Format
	Asked    float64 // before rounding
	Value    float64 // the format's number nearest to it
	Bits     uint32
	Sign     int    // 1 for negative
	Exponent int    // power of two of the leading digit; that of the smallest normal for subnormals
	Biased   uint32 // exponent field as stored
	Mantissa uint32 // mantissa field as stored, without the hidden bit
	Kind     string // "zero", "subnormal", "normal", "infinite" or "nan"
	ULP      float64
	Below    float64 // neighbors; at the ends of the range infinite
	Above    float64
	Error    float64 // Value - Asked
	Relative float64 // |Error| / |Asked|, 0 for 0
}

// Half looks at v as a float16.
func Half(v float64) Number { return FormatFP16.Inspect(v) }

// Inspect looks at v in the format.
func (f Format) Inspect(v float64) Number {
	i := f.info()
	bits := f.Encode(v)
	n := Number{Format: f, Asked: v, Value: f.Decode(bits), Bits: bits,
		Sign: int(bits >> (i.exponent + i.mantissa)), Biased: bits >> i.mantissa & (1<<i.exponent - 1), Mantissa: bits & (1<<i.mantissa - 1)}
	if v != v {
		n.Value = v // whatever its bits say in a format without NaN
	}
	n.Kind, n.Exponent = "normal", int(n.Biased)-i.bias
	switch {
	case n.Value != n.Value:
		n.Kind, n.ULP, n.Below, n.Above, n.Error, n.Relative = "nan", math.NaN(), math.NaN(), math.NaN(), math.NaN(), math.NaN()
		return n
	case math.IsInf(n.Value, 0):
		n.Kind, n.ULP = "infinite", math.Inf(1)
		n.Below, n.Above = n.Value, n.Value
		if n.Value > 0 {
			n.Below = i.max
		} else {
			n.Above = -i.max
		}
	default:
		if n.Biased == 0 {
			n.Kind, n.Exponent = "subnormal", 1-i.bias
			if n.Mantissa == 0 {
				n.Kind = "zero"
			}
		}
		n.ULP = f.spacing(n.Value)
		n.Below, n.Above = f.next(n.Value, -1), f.next(n.Value, 1)
	}
	if n.Error = n.Value - v; v != v || math.IsInf(v, 0) {
		n.Error = 0
	} else if v != 0 {
		n.Relative = math.Abs(n.Error / v)
	}
	return n
}

// next returns the neighbor of a finite number of the format.
func (f Format) next(v, direction float64) float64 {
	away := v*direction >= 0 // from zero
	unit := f.spacing(v)
	if !away && math.Abs(v) > f.MinNormal() && math.Abs(v) == math.Ldexp(1, int(math.Log2(math.Abs(v)))) {
		unit /= 2 // below a power of two the numbers are twice as dense
	}
	w := v + float64(direction*unit)
	if math.Abs(w) > f.info().max {
		return math.Inf(int(direction))
	}
	return w
}

// BitString returns the bits in groups: "0 01111 0000000000".
func (n Number) BitString() string {
	e, m := n.Format.Fields()
	all := fmt.Sprintf("%0*b", n.Format.Bits(), n.Bits)
	return all[:1] + " " + all[1:1+e] + " " + all[1+e:1+e+m]
}

// String describes the number in a few lines.
func (n Number) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%v in %v is %v (%s)\n", n.Asked, n.Format, n.Value, n.Kind)
	fmt.Fprintf(&b, "bits        %s\n", n.BitString())
	if n.Kind == "nan" {
		return b.String()
	}
	fmt.Fprintf(&b, "neighbors   %v and %v, a ulp is %v\n", n.Below, n.Above, n.ULP)
	fmt.Fprintf(&b, "error       %v, relative %.3g\n", n.Error, n.Relative)
	return b.String()
}
