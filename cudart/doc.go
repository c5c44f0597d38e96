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
// values (Item, Values, Float64s, printing, saving). An op, or a dtype of it, that has no kernel yet runs on the host: right, and
// slow, since the device is waited for and the tensors go over the bus. Fallbacks says which ops did.
//
// # Memory
//
// Tensors give their memory to a cache of the process, which the next ones take it from; amp.MemStats counts both. What is cached goes
// back to the driver when an allocation needs it, and on EmptyCache. Host memory is copied through a ring of page-locked segments, so
// that bringing a batch to the device does not wait for it.
//
// # Without a GPU
//
// HALFTONE_CUDA=emulator runs the same kernels on the CPU, for tests: the device's name says "emulated", and "auto" never chooses it.
package cudart
