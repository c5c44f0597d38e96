package cpu

import "math"

// ShortArgs returns the arguments of LineShort for a format of fewer bits than float32 in both fields: bits of its mantissa, its smallest number with
// full precision and its largest, 2^margin times which is to fit, and the largest number of the dtype that the results are in.
func ShortArgs(mantissa int, normal, top float64, margin int, most float64) [8]float64 {
	m, e := math.Frexp(top) // top is 2m·2^(e-1)
	tiny := math.Nextafter32(float32(math.Ldexp(top, -margin-127)), math.MaxFloat32)
	return [8]float64{
		float64(math.Float32frombits(uint32(254+e-1-margin) << 23)), 2 * m, float64(max(tiny, 0x1p-126)), top,
		normal, math.Ldexp(1.5, 23-mantissa), math.Ldexp(1, -mantissa-1), most,
	}
}
