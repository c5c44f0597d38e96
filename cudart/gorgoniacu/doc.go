// Package gorgoniacu is the Driver of package cudart/driver over gorgonia.org/cu, for programs that use that package already
// and want one CUDA context for both. It needs the build tag gorgonia_cu, cgo, and a CUDA toolkit from 11.0 to 12.x: its
// headers, and a libcuda to link with. The program then starts only where libcuda is installed, since it is linked in.
//
// Importing it makes amp.On("cuda:0") run on it:
//
//	import _ "github.com/halftone-ml/halftone/cudart/gorgoniacu" // go build -tags gorgonia_cu
//
// The default driver needs none of that, and does more. What gorgonia.org/cu v0.9.6 has no function for returns an error that
// wraps driver.ErrUnsupported; Unsupported lists it. Matrix products run on Halftone's own kernels: that package has no cuBLAS
// function for half precision.
//
// gorgonia.org/cu calls cuInit when a program starts, and ends the program if there is no device. It does not build against
// CUDA 13, where functions that it calls have other parameters.
//
// This is a module of its own: modules that require gorgonia.org/cu load the files of 89 others, which costs each cell of a
// notebook a few milliseconds per go command.
package gorgoniacu

// Unsupported are the methods of driver.Driver that return driver.ErrUnsupported here.
var Unsupported = []string{
	"AllocAsync", "FreeAsync", "AllocFromPool", "DefaultPool", "NewPool", "DestroyPool", "SetPoolThreshold", "TrimPool", "PoolStats",
	"BeginCapture", "EndCapture", "Capturing", "GraphNodes", "Instantiate", "LaunchGraph", "DestroyGraph", "DestroyGraphExec",
	"Export", "ExportFD", "Import", "ReleaseShared", "IPCHandle", "OpenIPC", "CloseIPC",
}
