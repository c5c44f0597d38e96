package cpu

import "testing"

// BenchmarkGemmSmall times the products of a training step of a small network, 512 rows and layers of 8, 16 and 16 features, in every format.
func BenchmarkGemmSmall(b *testing.B) {
	defer SetPoison(SetPoison(-1))
	const most = 512 * 16
	f32, half := make([]float32, most), make([]uint16, most)
	for i := range f32 {
		f32[i] = float32(i%7) - 3
	}
	out, dst := make([]float32, most), make([]uint16, most)
	for _, c := range []struct {
		name       string
		m, n, k    int
		aRow, aCol int
		bRow, bCol int
		bias       bool
	}{
		{"y1", 512, 16, 8, 8, 1, 1, 8, true},
		{"y2", 512, 16, 16, 16, 1, 1, 16, true},
		{"y3", 512, 1, 16, 16, 1, 1, 16, true},
		{"dx3", 512, 16, 1, 1, 1, 16, 1, false},
		{"dw3", 1, 16, 512, 1, 1, 16, 1, false},
		{"dx2", 512, 16, 16, 16, 1, 16, 1, false},
		{"dw2", 16, 16, 512, 1, 16, 16, 1, false},
		{"dw1", 16, 8, 512, 1, 16, 8, 1, false},
	} {
		for _, f := range []struct {
			name   string
			format Format
		}{{"float32", NoHalf}, {"bfloat16", BF16}, {"float16", F16}} {
			x, y := Matrix[float32]{Row: c.aRow, Col: c.aCol}, Matrix[float32]{Row: c.bRow, Col: c.bCol}
			to := Result[float32]{Row: c.n}
			switch f.format {
			case F16:
				NarrowF16(half, f32)
				x.F16, y.F16, to.F16 = half, half, dst
			case BF16:
				NarrowBF16(half, f32)
				x.BF16, y.BF16, to.BF16 = half, half, dst
			default:
				x.Elems, y.Elems, to.Elems = f32, f32, out
			}
			if c.bias {
				to.Bias = f32[:c.n]
			}
			b.Run(c.name+"/"+f.name, func(b *testing.B) {
				for b.Loop() {
					GemmTo(c.m, c.n, c.k, x, y, to)
				}
			})
		}
	}
}
