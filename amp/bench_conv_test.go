package amp

import "testing"

// BenchmarkConvKinds is forward and backward of convolutions whose products are small: depthwise, pointwise, and one with stride.
func BenchmarkConvKinds(b *testing.B) {
	for _, c := range []struct {
		name string
		x, w []int
		flop float64 // of the forward pass
		opts []WindowOption
	}{
		{"depthwise", []int{8, 64, 56, 56}, []int{64, 1, 3, 3}, 8 * 64 * 56 * 56 * 9 * 2, options(Groups(64), Padding(1))},
		{"pointwise", []int{8, 64, 56, 56}, []int{256, 64, 1, 1}, 8 * 64 * 56 * 56 * 256 * 2, nil},
		{"strided", []int{8, 64, 56, 56}, []int{128, 64, 3, 3}, 8 * 64 * 28 * 28 * 128 * 9 * 2, options(Stride(2), Padding(1))},
		{"shortcut", []int{8, 64, 56, 56}, []int{128, 64, 1, 1}, 8 * 64 * 28 * 28 * 128 * 2, options(Stride(2))},
		{"sequence", []int{8, 64, 3136}, []int{64, 64, 5}, 8 * 64 * 3136 * 64 * 5 * 2, options(Padding(2))},
	} {
		b.Run(c.name, func(b *testing.B) {
			root := NewScope()
			defer root.Close()
			x, w := Randn(root, Float32, 0, 1, c.x...).RequireGrad(), Randn(root, Float32, 0, 1, c.w...).RequireGrad()
			f := convs[len(c.x)-3]
			dy := Randn(root, Float32, 0, 1, f(root, x, w, nil, c.opts...).shape...)
			for b.Loop() {
				s := root.Child()
				f(s, x, w, nil, c.opts...).Backward(GradOutputs(dy))
				s.Close()
			}
			b.ReportMetric(3*c.flop*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
		})
	}
}
