package cpu

// A Function is a function of one number, for single values and for slices, by the same operations on every variant and machine: its
// bits are the same everywhere. In float64 it is no further from the truth than package math's (whose own bits differ between
// processors). For float32 slices it is computed in float64 and rounded at the end, or, where models need it most, in float32 to within
// a few ulps, as asmgen/functions_float32.go states.
type Function struct {
	of    func(float64) float64
	of32  func(float32) float32 // in float32; nil stands for of
	f32   vectors[float32]
	f64   vectors[float64]
	limit float64 // of the size of arguments for the vector forms in float64; 0 for none
	far   bool    // the vector form in float32 gives NaN where of32 may have a number
}

// vectors holds the assembly of the variants that have some. It does whole blocks of a register full: 8 numbers (AVX-512) or 4 where the
// function is computed in float64, and twice that where in float32.
type vectors[T float32 | float64] [AVX512 + 1]func(blocks int, src, dst *T)

// Of returns the function of x.
func (f *Function) Of(x float64) float64 { return f.of(x) }

// F64 sets dst to the function of every element of x; dst may be x.
func (f *Function) F64(dst, x []float64) { apply(f.of, f.limit, &f.f64, dst, x) }

// small is F64 for arguments that are known to be below the function's limit.
func (f *Function) small(dst, x []float64) { apply(f.of, 0, &f.f64, dst, x) }

// F32 sets dst to the function of every element of x; dst may be x.
func (f *Function) F32(dst, x []float32) {
	if f.of32 == nil {
		apply(f.of, f.limit, &f.f32, dst, x)
		return
	}
	dst = dst[:len(x)]
	kind := variant()
	run := f.f32[kind]
	if run == nil {
		for i, v := range x {
			dst[i] = f.of32(v)
		}
		return
	}
	if f.far {
		f.piecesF32(run, 8*int(kind), dst, x)
		return
	}
	f.wholeF32(run, 8*int(kind), dst, x)
}

// piecesF32 does some elements at a time and then those that the vector form could not do.
func (f *Function) piecesF32(run func(blocks int, src, dst *float32), lanes int, dst, x []float32) {
	var own [1024]float32
	same := len(x) > 0 && &dst[0] == &x[0]
	for len(x) > 0 {
		n := min(len(own), len(x))
		from := x[:n]
		if same {
			copy(own[:], from)
			from = own[:n]
		}
		f.wholeF32(run, lanes, dst[:n], from)
		for at := 0; at < n; at++ {
			bad := Unscale(dst[at:n], 1)
			if bad < 0 {
				break
			}
			at += bad
			dst[at] = f.of32(from[at])
		}
		x, dst = x[n:], dst[n:]
	}
}

// wholeF32 does all elements by the vector form.
func (f *Function) wholeF32(run func(blocks int, src, dst *float32), lanes int, dst, x []float32) {
	if n := len(x) / lanes; n > 0 {
		run(n, &x[0], &dst[0])
		x, dst = x[n*lanes:], dst[n*lanes:]
	}
	if len(x) > 0 {
		var last [16]float32
		copy(last[:], x)
		run(1, &last[0], &last[0])
		copy(dst, last[:])
	}
}

// apply is for what is computed in float64; the vector form is for arguments within limit.
func apply[T float32 | float64](of func(float64) float64, limit float64, v *vectors[T], dst, x []T) {
	dst = dst[:len(x)]
	i, kind := 0, variant()
	if run := v[kind]; run != nil && within(x, limit) {
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
	Exp      = &Function{of: exp64, of32: expF32}
	Expm1    = &Function{of: expm164}
	Log      = &Function{of: log64, of32: logF32}
	Log1p    = &Function{of: log1p64}
	Tanh     = &Function{of: tanh64, of32: tanhF32}
	Sigmoid  = &Function{of: sigmoid64, of32: sigmoidF32}
	Silu     = &Function{of: silu64, of32: siluF32}
	Softplus = &Function{of: softplus64}
	Erf      = &Function{of: erf64}
	Erfc     = &Function{of: erfc64}
	Gelu     = &Function{of: gelu64, of32: geluF32}
	GeluTanh = &Function{of: geluTanh64, of32: geluTanhF32}

	GeluSlope     = &Function{of: geluSlope64, of32: geluSlopeF32}
	GeluTanhSlope = &Function{of: geluTanhSlope64, of32: geluTanhSlopeF32}
	SiluSlope     = &Function{of: siluSlope64, of32: siluSlopeF32}

	Sin = &Function{of: sinOf, of32: sinOf32, limit: quadrantLimit, far: true}
	Cos = &Function{of: cosOf, of32: cosOf32, limit: quadrantLimit, far: true}
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

	Erfinv  = &Function{of: erfinv}
	Lgamma  = &Function{of: lgamma}
	Digamma = &Function{of: func(x float64) float64 { return Polygamma(0, x) }}
)
