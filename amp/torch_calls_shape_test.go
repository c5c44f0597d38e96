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
		"slice": torchOne(func(s *Scope, a torchArgs, x []*Tensor) *Tensor {
			return Slice(s, x[0], a.int("dim"), a.int("start"), a.int("end"), a.int("step"))
		}),
		"select":    torchOne(func(s *Scope, a torchArgs, x []*Tensor) *Tensor { return Select(s, x[0], a.int("dim"), a.int("index")) }),
		"squeeze":   torchOne(func(s *Scope, a torchArgs, x []*Tensor) *Tensor { return Squeeze(s, x[0], a.int("dim")) }),
		"unsqueeze": torchOne(func(s *Scope, a torchArgs, x []*Tensor) *Tensor { return Unsqueeze(s, x[0], a.int("dim")) }),
		"flatten":   torchOne(func(s *Scope, a torchArgs, x []*Tensor) *Tensor { return Flatten(s, x[0], a.int("start_dim"), -1) }),
		"rot90": torchOne(func(s *Scope, a torchArgs, x []*Tensor) *Tensor {
			return Rot90(s, x[0], a.int("k"), a.ints("dims")[0], a.ints("dims")[1])
		}),
		"chunk": func(s *Scope, a torchArgs, x []*Tensor) []*Tensor {
			return Chunk(s, x[0], a.int("chunks"), a.int("dim"))
		},
		"unfold": torchOne(func(s *Scope, a torchArgs, x []*Tensor) *Tensor { return Unfold(s, x[0], torchBlocks(a)) }),
		"fold": torchOne(func(s *Scope, a torchArgs, x []*Tensor) *Tensor {
			return Fold(s, x[0], a.ints("output_size"), torchBlocks(a))
		}),
		"pixel_shuffle": torchOne(func(s *Scope, a torchArgs, x []*Tensor) *Tensor {
			return PixelShuffle(s, x[0], a.int("upscale_factor"))
		}),
		"pixel_unshuffle": torchOne(func(s *Scope, a torchArgs, x []*Tensor) *Tensor {
			return PixelUnshuffle(s, x[0], a.int("downscale_factor"))
		}),
		"logcumsumexp":  torchOne(func(s *Scope, a torchArgs, x []*Tensor) *Tensor { return LogCumSumExp(s, x[0], a.int("dim")) }),
		"bucketize":     torchBinary(func(s *Scope, x, b *Tensor) *Tensor { return Bucketize(s, x, b, false) }),
		"masked_select": torchBinary(MaskedSelect),
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

func torchBlocks(a torchArgs) Blocks {
	return Blocks{Kernel: a.ints("kernel_size"), Stride: a.ints("stride"), Padding: a.ints("padding"), Dilation: a.ints("dilation")}
}
