// Package emulator is a CUDA device without a GPU, for tests: Halftone's kernels, compiled for the CPU, behind the C functions of
// the driver API, in a shared library that package driver loads as it loads NVIDIA's. It needs a C++ compiler (g++ or clang++) and
// Linux on x86-64 or arm64.
//
// Importing it makes HALFTONE_CUDA=emulator work: cudart then opens "cuda:0" on the library that Library builds.
//
//	import _ "github.com/halftone-ml/halftone/cudart/emulator"
//
// Nothing else picks it: "auto" never does, and the device's name says "emulated".
//
// A program's own kernels (cudart.Compile) find most of what CUDA C++ has without a header: vector types, warp and atomic operations, and the
// functions of device_more.h. There is no inline PTX.
//
// It is strict rather than fast. Work is deferred until the host waits for it, and runs in an order drawn by a seed, so that
// whatever was not ordered by a stream or an event comes out wrong. Threads of a block run forward, reversed or shuffled. Device
// memory can't be touched by the host, nor what lies behind a block's dynamic shared memory by its threads. New memory and shared memory hold
// NaN. The variable HALFTONE_EMULATOR, and Control, set how:
//
//	seed=7               another order of what is not ordered
//	order=shuffled       of threads and blocks; also forward, reversed
//	threads=1            of the CPU; the results are the same
//	memory=64M           of the device
//	devices=2
//	launched=FILE        the names of the kernels that have run are added to the file, one a line; its path has no comma or blank
//	capability=70        sm_70; of 90 are products of warpgroups (wgmma)
//	fence=0              let the host touch device memory, for debuggers
//	inject=alloc@3       the third allocation fails; also launch, kernel (fails when it runs), copy, sync, module, any,
//	                     alloc@3+ from the third on, any@5:214 with another error, several with ; between
//
// The checked library (Checked) looks at each access of a kernel: device memory out of bounds or freed, host memory, shared memory
// that threads touch without a barrier between them or read before anything was written. It is several times slower.
//
// The kernels are compiled from the .cu. With HALFTONE_EMULATOR_PTX=1 (Options.PTX) they are compiled from the embedded PTX, so that what a
// GPU's driver is given runs, and not only what a compiler made it of.
package emulator
