// Package driver speaks to NVIDIA's driver and libraries: libcuda, cuBLAS, cuBLASLt and NVRTC, loaded at run time. Programs that
// import it need no toolkit, no headers, no cgo and no build tag, and start on machines without a GPU, where Open returns an
// error wrapping ErrNoCUDA that lists what was looked for.
//
// Driver is a narrow interface over the driver API. Open returns the default implementation, on libcuda through dlopen.
// It follows the driver API's rules, and three of its own:
//
//   - Contexts belong to threads, goroutines do not: between Bind and Unbind a goroutine is locked to its thread and a context is
//     current there. Methods say when they need one. A pair costs about 100 ns and pairs nest.
//   - Memory that a call reads or writes after it has returned must not be Go's: use HostAlloc's with the Async copies.
//   - Launches and asynchronous calls fail late. An Error names the last launches, so that the culprit can be found.
//
// Handles are plain numbers; they are valid until they are destroyed, in every goroutine.
package driver
