package amp

func init() {
	cases := map[string][]opCase{}
	for name, c := range map[string]struct {
		in  []int // spatial sizes
		out [][]int
		o   Interpolation
	}{
		"upsample_nearest1d":        {[]int{3}, [][]int{{5}, {2}}, Interpolation{}},
		"upsample_nearest2d":        {[]int{2, 3}, [][]int{{4, 2}}, Interpolation{}},
		"upsample_nearest3d":        {[]int{2, 1, 2}, [][]int{{3, 2, 1}}, Interpolation{}},
		"_upsample_nearest_exact1d": {[]int{3}, [][]int{{5}, {2}}, Interpolation{Mode: "nearest-exact"}},
		"_upsample_nearest_exact2d": {[]int{2, 3}, [][]int{{4, 2}}, Interpolation{Mode: "nearest-exact"}},
		"_upsample_nearest_exact3d": {[]int{2, 1, 2}, [][]int{{3, 2, 1}}, Interpolation{Mode: "nearest-exact"}},
		"upsample_linear1d":         {[]int{3}, [][]int{{5}, {2}}, Interpolation{Mode: "linear"}},
		"upsample_bilinear2d":       {[]int{2, 3}, [][]int{{4, 2}, {3, 3}}, Interpolation{Mode: "bilinear", AlignCorners: true}},
		"upsample_trilinear3d":      {[]int{2, 1, 2}, [][]int{{3, 2, 1}}, Interpolation{Mode: "trilinear"}},
		"upsample_bicubic2d":        {[]int{2, 3}, [][]int{{4, 2}}, Interpolation{Mode: "bicubic"}},
		"_upsample_bilinear2d_aa":   {[]int{4, 3}, [][]int{{2, 5}}, Interpolation{Mode: "bilinear", Antialias: true}},
		"_upsample_bicubic2d_aa":    {[]int{4, 3}, [][]int{{2, 5}}, Interpolation{Mode: "bicubic", Antialias: true}},
	} {
		shape := append([]int{2, 1}, c.in...)
		for i, size := range c.out {
			o := c.o
			o.Size = size
			variant := ""
			if i > 0 {
				variant = "smaller"
			}
			lines := linearCase(variant, func(s *Scope, x *Tensor) *Tensor { return Interpolate(s, x, o) }, shape...)
			lines.terms = 16 // neighbors of a place, with weights of both signs
			cases[name] = append(cases[name], lines)
		}
		a := Attrs{Shape: c.out[0], Scales: make([]float64, len(c.in)), Dims: shape}
		if c.o.AlignCorners {
			a.Mode = alignCorners
		}
		back := name + "_backward"
		cases[back] = append(cases[back], linearCase("", func(s *Scope, dy *Tensor) *Tensor { return s.apply(byName[back], a, dy) }, append([]int{2, 1}, c.out[0]...)...))
	}
	addCases(cases)
}
