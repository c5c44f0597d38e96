package amp

// Padding, products, sorting, scattering and resampling.
func init() {
	addTorch(map[string]torchCall{
		"pad": torchOne(func(s *Scope, a torchArgs, x []*Tensor) *Tensor {
			return Pad(s, x[0], a.ints("pad"), a.string("mode"), a.or("value", 0))
		}),
		"prod": torchOne(func(s *Scope, a torchArgs, x []*Tensor) *Tensor {
			if a.has("dim") {
				return ProdDim(s, x[0], a.int("dim"))
			}
			return Prod(s, x[0])
		}),
		"cumprod": torchOne(func(s *Scope, a torchArgs, x []*Tensor) *Tensor { return Cumprod(s, x[0], a.int("dim")) }),
		"amax":    torchReduction(Amax),
		"amin":    torchReduction(Amin),
		"any":     torchOne(func(s *Scope, a torchArgs, x []*Tensor) *Tensor { return Any(s, x[0], a.ints("dim")...) }),
		"all":     torchOne(func(s *Scope, a torchArgs, x []*Tensor) *Tensor { return All(s, x[0], a.ints("dim")...) }),
		"cummax":  torchPair(func(s *Scope, a torchArgs, x []*Tensor) (*Tensor, *Tensor) { return Cummax(s, x[0], a.int("dim")) }),
		"cummin":  torchPair(func(s *Scope, a torchArgs, x []*Tensor) (*Tensor, *Tensor) { return Cummin(s, x[0], a.int("dim")) }),
		"median":  torchPair(func(s *Scope, a torchArgs, x []*Tensor) (*Tensor, *Tensor) { return Median(s, x[0], a.int("dim")) }),
		"sort": torchPair(func(s *Scope, a torchArgs, x []*Tensor) (*Tensor, *Tensor) {
			return Sort(s, x[0], a.int("dim"), a.bool("descending"))
		}),
		"argsort": torchOne(func(s *Scope, a torchArgs, x []*Tensor) *Tensor { return Argsort(s, x[0], a.int("dim"), false) }),
		"topk": torchPair(func(s *Scope, a torchArgs, x []*Tensor) (*Tensor, *Tensor) {
			return Topk(s, x[0], a.int("k"), a.int("dim"), a.bool("largest"))
		}),
		"kthvalue": torchPair(func(s *Scope, a torchArgs, x []*Tensor) (*Tensor, *Tensor) {
			return Kthvalue(s, x[0], a.int("k"), a.int("dim"))
		}),
		"take_along_dim": torchOne(func(s *Scope, a torchArgs, x []*Tensor) *Tensor { return TakeAlongDim(s, x[0], x[1], a.int("dim")) }),
		"scatter":        torchOne(func(s *Scope, a torchArgs, x []*Tensor) *Tensor { return Scatter(s, x[0], a.int("dim"), x[1], x[2]) }),
		"scatter_add":    torchOne(func(s *Scope, a torchArgs, x []*Tensor) *Tensor { return ScatterAdd(s, x[0], a.int("dim"), x[1], x[2]) }),
		"index_add": torchOne(func(s *Scope, a torchArgs, x []*Tensor) *Tensor {
			return IndexAdd(s, x[0], a.int("dim"), x[1], x[2], 1)
		}),
		"index_copy": torchOne(func(s *Scope, a torchArgs, x []*Tensor) *Tensor { return IndexCopy(s, x[0], a.int("dim"), x[1], x[2]) }),
		"index_fill": torchOne(func(s *Scope, a torchArgs, x []*Tensor) *Tensor {
			return IndexFill(s, x[0], a.int("dim"), x[1], a.float("value"))
		}),
		"index_put": torchOne(func(s *Scope, a torchArgs, x []*Tensor) *Tensor {
			return IndexPut(s, x[0], x[2:], x[1], a.has("accumulate") && a.bool("accumulate"))
		}),
		"grid_sample": torchOne(func(s *Scope, a torchArgs, x []*Tensor) *Tensor {
			return GridSample(s, x[0], x[1], GridSampling{Mode: a.string("mode"), Padding: a.string("padding_mode"), AlignCorners: a.bool("align_corners")})
		}),
		"affine_grid": torchOne(func(s *Scope, a torchArgs, x []*Tensor) *Tensor {
			return AffineGrid(s, x[0], a.ints("size"), a.bool("align_corners"))
		}),
		"interpolate": torchOne(func(s *Scope, a torchArgs, x []*Tensor) *Tensor {
			o := Interpolation{Size: a.ints("size"), Mode: a.string("mode"), AlignCorners: a.has("align_corners") && a.bool("align_corners"), Antialias: a.has("antialias") && a.bool("antialias")}
			if a.has("scale_factor") {
				o.Scale = []float64{a.float("scale_factor")}
			}
			return Interpolate(s, x[0], o)
		}),
	})
}
