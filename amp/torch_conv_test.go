package amp

// Calls of the convolutions, pools and their kin in the vectors of torch.

func init() {
	for name, f := range map[string]convFunc{
		"conv1d": Conv1d, "conv2d": Conv2d, "conv3d": Conv3d,
		"conv_transpose1d": ConvTranspose1d, "conv_transpose2d": ConvTranspose2d, "conv_transpose3d": ConvTranspose3d,
	} {
		torchCalls[name] = torchOne(func(s *Scope, a torchArgs, x []*Tensor) *Tensor { return f(s, x[0], x[1], x[2], a.windowOptions()...) })
	}
	for name, f := range map[string]poolFunc{
		"max_pool1d": MaxPool1d, "max_pool2d": MaxPool2d, "max_pool3d": MaxPool3d, "avg_pool1d": AvgPool1d, "avg_pool2d": AvgPool2d, "avg_pool3d": AvgPool3d,
	} {
		torchCalls[name] = torchOne(func(s *Scope, a torchArgs, x []*Tensor) *Tensor {
			return f(s, x[0], a.ints("kernel_size")[0], a.windowOptions()...)
		})
	}
	for name, f := range map[string]func(s *Scope, x *Tensor, size ...int) *Tensor{
		"adaptive_avg_pool1d": oneSize(AdaptiveAvgPool1d), "adaptive_avg_pool2d": AdaptiveAvgPool2d, "adaptive_avg_pool3d": AdaptiveAvgPool3d,
		"adaptive_max_pool1d": oneSize(AdaptiveMaxPool1d), "adaptive_max_pool2d": AdaptiveMaxPool2d, "adaptive_max_pool3d": AdaptiveMaxPool3d,
	} {
		torchCalls[name] = torchOne(func(s *Scope, a torchArgs, x []*Tensor) *Tensor { return f(s, x[0], a.ints("output_size")...) })
	}
	for name, f := range map[string]func(s *Scope, x *Tensor, kernel int, opts ...WindowOption) (values, indices *Tensor){
		"max_pool1d_with_indices": MaxPool1dIndices, "max_pool2d_with_indices": MaxPool2dIndices, "max_pool3d_with_indices": MaxPool3dIndices,
	} {
		torchCalls[name] = torchPair(func(s *Scope, a torchArgs, x []*Tensor) (*Tensor, *Tensor) {
			return f(s, x[0], a.ints("kernel_size")[0], a.windowOptions()...)
		})
	}
	for name, f := range map[string]func(s *Scope, x *Tensor, size ...int) (values, indices *Tensor){
		"adaptive_max_pool1d_with_indices": func(s *Scope, x *Tensor, size ...int) (values, indices *Tensor) {
			return AdaptiveMaxPool1dIndices(s, x, size[0])
		},
		"adaptive_max_pool2d_with_indices": AdaptiveMaxPool2dIndices, "adaptive_max_pool3d_with_indices": AdaptiveMaxPool3dIndices,
	} {
		torchCalls[name] = torchPair(func(s *Scope, a torchArgs, x []*Tensor) (*Tensor, *Tensor) {
			return f(s, x[0], a.ints("output_size")...)
		})
	}
	for name, f := range map[string]func(s *Scope, x, indices *Tensor, kernel int, opts ...WindowOption) *Tensor{
		"max_unpool1d": MaxUnpool1d, "max_unpool2d": MaxUnpool2d, "max_unpool3d": MaxUnpool3d,
	} {
		torchCalls[name] = torchOne(func(s *Scope, a torchArgs, x []*Tensor) *Tensor {
			return f(s, x[0], x[1], a.ints("kernel_size")[0], a.windowOptions()...)
		})
	}
	torchCalls["batch_norm"] = torchOne(func(s *Scope, a torchArgs, x []*Tensor) *Tensor {
		return BatchNorm(s, x[0], x[1], x[2], BatchNormState{Eps: a.float("eps")})
	})
	torchCalls["batch_norm_running"] = func(s *Scope, a torchArgs, x []*Tensor) []*Tensor {
		st := BatchNormState{RunningMean: x[3], RunningVar: x[4], Eps: a.float("eps"), Momentum: a.float("momentum")}
		return []*Tensor{BatchNorm(s, x[0], x[1], x[2], st), x[3], x[4]}
	}
	torchCalls["batch_norm_eval"] = torchOne(func(s *Scope, a torchArgs, x []*Tensor) *Tensor {
		return BatchNorm(s.Eval(), x[0], x[1], x[2], BatchNormState{RunningMean: x[3], RunningVar: x[4], Eps: a.float("eps")})
	})
	torchCalls["group_norm"] = torchOne(func(s *Scope, a torchArgs, x []*Tensor) *Tensor {
		return GroupNorm(s, x[0], a.int("num_groups"), x[1], x[2], a.float("eps"))
	})
	torchCalls["instance_norm"] = torchOne(func(s *Scope, a torchArgs, x []*Tensor) *Tensor {
		return InstanceNorm(s, x[0], x[1], x[2], a.float("eps"))
	})
}

// windowOptions translates the arguments that are there.
func (a torchArgs) windowOptions() []WindowOption {
	var out []WindowOption
	for name, option := range map[string]func(...int) WindowOption{
		"kernel_size": Kernel, "stride": Stride, "padding": Padding, "dilation": Dilation, "output_padding": OutputPadding, "output_size": OutputSize,
	} {
		if a.has(name) {
			out = append(out, option(a.ints(name)...))
		}
	}
	if a.has("groups") {
		out = append(out, Groups(a.int("groups")))
	}
	if a.has("ceil_mode") && a.bool("ceil_mode") {
		out = append(out, CeilMode())
	}
	if a.has("count_include_pad") && !a.bool("count_include_pad") {
		out = append(out, ExcludePadding())
	}
	if a.has("divisor_override") {
		out = append(out, Divisor(a.int("divisor_override")))
	}
	return out
}
