package nn

import "github.com/halftone-ml/halftone/amp"

// Max pools that say where their maxima lie, and their inverse: of two results and of two inputs, so that they are no Modules.

// PoolIndices is a max pool with two results: PyTorch's MaxPool2d(…, return_indices=True). NoForward makes a Module of it.
type PoolIndices struct {
	poolSettings
	apply func(s *amp.Scope, x *amp.Tensor, kernel int, opts ...amp.WindowOption) (values, indices *amp.Tensor)
}

// MaxPool1dIndices is MaxPool1d that also returns where the maxima lie: amp.MaxPool1dIndices.
func MaxPool1dIndices(kernel int, opts ...WindowOption) *PoolIndices {
	return &PoolIndices{newPoolSettings("MaxPool1dIndices", kernel, opts), amp.MaxPool1dIndices}
}

// MaxPool2dIndices is MaxPool2d that also returns where the maxima lie: amp.MaxPool2dIndices.
func MaxPool2dIndices(kernel int, opts ...WindowOption) *PoolIndices {
	return &PoolIndices{newPoolSettings("MaxPool2dIndices", kernel, opts), amp.MaxPool2dIndices}
}

// MaxPool3dIndices is MaxPool3d that also returns where the maxima lie: amp.MaxPool3dIndices.
func MaxPool3dIndices(kernel int, opts ...WindowOption) *PoolIndices {
	return &PoolIndices{newPoolSettings("MaxPool3dIndices", kernel, opts), amp.MaxPool3dIndices}
}

// Forward returns the pooled x, and where in each plane of x its elements lie.
func (p *PoolIndices) Forward(s *amp.Scope, x *amp.Tensor) (values, indices *amp.Tensor) {
	built("PoolIndices", p != nil && p.apply != nil, "nn.MaxPool1dIndices", "nn.MaxPool2dIndices", "nn.MaxPool3dIndices")
	return p.apply(s, x, p.kernel, p.options...)
}

// MaxUnpool puts elements back where a max pool found them, among zeros. NoForward makes a Module of it.
type MaxUnpool struct {
	poolSettings
	apply func(s *amp.Scope, x, indices *amp.Tensor, kernel int, opts ...amp.WindowOption) *amp.Tensor
}

// MaxUnpool1d undoes MaxPool1dIndices: amp.MaxUnpool1d.
func MaxUnpool1d(kernel int, opts ...WindowOption) *MaxUnpool {
	return &MaxUnpool{newPoolSettings("MaxUnpool1d", kernel, opts), amp.MaxUnpool1d}
}

// MaxUnpool2d undoes MaxPool2dIndices: amp.MaxUnpool2d. Options: Kernel, Stride, Padding, those of the pool.
func MaxUnpool2d(kernel int, opts ...WindowOption) *MaxUnpool {
	return &MaxUnpool{newPoolSettings("MaxUnpool2d", kernel, opts), amp.MaxUnpool2d}
}

// MaxUnpool3d undoes MaxPool3dIndices: amp.MaxUnpool3d.
func MaxUnpool3d(kernel int, opts ...WindowOption) *MaxUnpool {
	return &MaxUnpool{newPoolSettings("MaxUnpool3d", kernel, opts), amp.MaxUnpool3d}
}

// Forward returns x at the places that indices names, and zeros elsewhere. size is that of the result, which windows that did not reach the
// end leave open: none, one number per spatial dimension, or the shape of what was pooled (output_size).
func (u *MaxUnpool) Forward(s *amp.Scope, x, indices *amp.Tensor, size ...int) *amp.Tensor {
	built("MaxUnpool", u != nil && u.apply != nil, "nn.MaxUnpool1d", "nn.MaxUnpool2d", "nn.MaxUnpool3d")
	options := u.options
	if len(size) > 0 {
		options = append(options[:len(options):len(options)], amp.OutputSize(size...))
	}
	return u.apply(s, x, indices, u.kernel, options...)
}
