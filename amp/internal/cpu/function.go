package cpu

// A Function is a function of one number, for single values and for slices. It is computed in float64, for float32 slices
// too, which are rounded at the end, and by the same operations on every variant and machine: its bits are the same
// everywhere, and no further from the truth than package math's (whose own bits differ between processors). Some are computed
// to fewer digits for float32, still to more than it has.
type Function struct {
	of    func(float64) float64
	of32  func(float64) float64 // for float32; nil stands for of
	f32   vectors[float32]
	f64   vectors[float64]
	limit float64 // of the size of arguments for the vector forms; 0 for none
}

// vectors holds the assembly of the variants that have some: it does whole blocks of 8 (AVX-512) or 4 numbers.
type vectors[T float32 | float64] [AVX512 + 1]func(blocks int, src, dst *T)

// Of returns the function of x.
func (f *Function) Of(x float64) float64 { return f.of(x) }

// F64 sets dst to the function of every element of x; dst may be x.
func (f *Function) F64(dst, x []float64) { apply(f, f.of, &f.f64, dst, x) }

// F32 sets dst to the function of every element of x; dst may be x.
func (f *Function) F32(dst, x []float32) {
	if f.of32 != nil {
		apply(f, f.of32, &f.f32, dst, x)
		return
	}
	apply(f, f.of, &f.f32, dst, x)
}

func apply[T float32 | float64](f *Function, of func(float64) float64, v *vectors[T], dst, x []T) {
	dst = dst[:len(x)]
	i, kind := 0, variant()
	if run := v[kind]; run != nil && within(x, f.limit) {
		lanes := 4 * int(kind)
		if n := len(x) / lanes; n > 0 {
			run(n, &x[0], &dst[0])
			i = n * lanes
		}
	}
	var wide [32]float64 // converted first: the conversion would wait for the result before it (its instruction keeps half a register)
	for i < len(x) {
		part := wide[:min(len(wide), len(x)-i)]
		for j := range part {
			part[j] = float64(x[i+j])
		}
		for j, v := range part {
			dst[i+j] = T(of(v))
		}
		i += len(part)
	}
}

// within says whether no element is larger than limit, or NaN; limit 0 stands for none.
func within[T float32 | float64](x []T, limit float64) bool {
	if limit == 0 {
		return true
	}
	most := T(limit)
	for _, v := range x {
		if !(v <= most && v >= -most) {
			return false
		}
	}
	return true
}

// The functions that models use most, with vector forms.
var (
	Exp      = &Function{of: exp64, of32: exp32}
	Expm1    = &Function{of: expm164}
	Log      = &Function{of: log64}
	Log1p    = &Function{of: log1p64}
	Tanh     = &Function{of: tanh64, of32: tanh32}
	Sigmoid  = &Function{of: sigmoid64, of32: sigmoid32}
	Silu     = &Function{of: silu64, of32: silu32}
	Softplus = &Function{of: softplus64}
	Erf      = &Function{of: erf64}
	Erfc     = &Function{of: erfc64}
	Gelu     = &Function{of: gelu64, of32: gelu32}
	GeluTanh = &Function{of: geluTanh64, of32: geluTanh32}

	GeluSlope     = &Function{of: geluSlope64}
	GeluTanhSlope = &Function{of: geluTanhSlope64}
	SiluSlope     = &Function{of: siluSlope64}

	Sin = &Function{of: sinOf, limit: quadrantLimit}
	Cos = &Function{of: cosOf, limit: quadrantLimit}
)

// The others.
var (
	Exp2  = &Function{of: exp264}
	Log2  = &Function{of: log264}
	Log10 = &Function{of: log1064}
	Sinh  = &Function{of: sinh64}
	Cosh  = &Function{of: cosh64}
	Tan   = &Function{of: tanOf}
	Asin  = &Function{of: asin64}
	Acos  = &Function{of: acos64}
	Atan  = &Function{of: atan64}
	Asinh = &Function{of: asinh64}
	Acosh = &Function{of: acosh64}
	Atanh = &Function{of: atanh64}

	Erfinv = &Function{of: erfinv}
)
