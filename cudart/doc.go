// Package cudart runs Halftone's tensors on NVIDIA GPUs. Importing it registers the device kind "cuda":
//
//	import _ "github.com/halftone-ml/halftone/cudart"
//
//	root := amp.NewScope(amp.On("cuda:0"))   // or "auto": the GPU if there is one, else the CPU
//
// Nothing is linked against CUDA: package driver loads the driver's library at run time, so one binary runs on machines with and
// without a GPU, and opening a device where there is none is an error that wraps ErrNoCUDA and lists what was looked for.
//
// # What runs where
//
// Ops are queued on one stream per device, in the order of the program, and the host goes on. It waits only when a program reads
// values (Item, Values, Float64s, printing, saving). Every row of the op table has kernels for its dtypes and for tensors with gaps,
// which a test keeps so; what has none, such as tensors of 2³¹ elements and more in some rows, runs on the host: right, and slow, since the
// device is waited for and the tensors go over the bus. Fallbacks says which ops did.
//
// An index out of range (Embedding, Gather, Scatter, a loss's targets …) is found by the kernel, after the call has returned. Nothing outside the
// tensor is read or written, and whoever next waits for the device gets the *amp.Error that the CPU gives at once: the op, the index, its place,
// and what is allowed. It is that of the first such call; a captured step tells after its replay.
//
// Results are the same from run to run, bit for bit: sums have a fixed order, and no kernel adds floats atomically. Gradients that scatter
// (embedding, grid_sample, upsampling) gather instead: each element finds, or lists in order, what is added to it.
//
// What a trace at level Health says of tensors is counted on the device, one launch a tensor, into a ring that is read when the trace is.
//
// # NVIDIA's libraries
//
// Where they are found, large matrix products go to cuBLAS and large convolutions, forward and both gradients, to cuDNN; smaller ones,
// and everything where they are missing, run on Halftone's own kernels, which need the driver alone. BLAS and CuDNN say which files
// those are or why there is none, Convolutions which engine computes what, UseBLAS and UseCuDNN turn them off. AllowTF32 holds for
// float32 products and convolutions. Results are the same each time: of cuDNN's engines those that are not deterministic are passed
// over, unless Deterministic(false) allows them, and so are those that sum in half precision or transform their inputs.
//
// # Kernels of your own
//
// Compile takes CUDA C++ and Kernel.Launch queues a kernel of it on tensors, in order with the ops: see there for what goes with which
// parameter, and how halves are converted. A launch is an op, with a gradient and under autocast, inside of what amp.Register makes:
//
//	square := amp.Register(amp.Custom{Name: "square", Args: []string{"x"}, Class: amp.FP32,
//		Forward: func(c *amp.Context, in []*amp.Tensor) *amp.Tensor {
//			x := amp.Contiguous(c.S, in[0])
//			c.Save(x)
//			y := amp.ZerosLike(c.S, x)
//			check(forward.Launch(cudart.For(x.Len()), x, y, x.Len()))
//			return y
//		},
//		Backward: func(c *amp.Context, dy *amp.Tensor) []*amp.Tensor {
//			x := c.Saved(0)
//			dx := amp.ZerosLike(c.S, x)
//			check(backward.Launch(cudart.For(x.Len()), x, amp.Contiguous(c.S, dy), dx, x.Len()))
//			return []*amp.Tensor{dx}
//		}})
//
// # Memory
//
// Tensors give their memory to a cache of the process, which the next ones take it from; amp.MemStats counts both. What is cached goes
// back to the driver when an allocation needs it, and on EmptyCache. Host memory is copied through a ring of page-locked segments, so
// that bringing a batch to the device does not wait for it.
//
// # Without a GPU
//
// HALFTONE_CUDA=emulator runs the same kernels on the CPU, for tests: the device's name says "emulated", and "auto" never chooses it. A program
// imports cudart/emulator for it; cells need not where the kernel was started with the variable set.
package cudart
