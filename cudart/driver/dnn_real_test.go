//go:build linux && (amd64 || arm64)

package driver

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// realDNNEnv names NVIDIA's libcudnn.so.9, 9.8 or newer. Its wheel has 700 MB, so that tests do not fetch it; unpack nvidia-cudnn-cu12
// somewhere and set the variable. No GPU is needed.
const realDNNEnv = "HALFTONE_TEST_CUDNN"

// An H100 as cuDNN's device property descriptor has it.
const hopper = `{"maxGridSize":[2147483647,65535,65535],"maxBlockSize":[1024,1024,64],"regsPerBlock":65536,"multiProcessorCount":132,"smCountOrigin":0,` +
	`"warpSize":32,"maxSharedMemoryPerBlock":49152,"maxSharedMemoryPerBlockOptin":232448,"oversizedSharedMemoryPerBlock":0,"reservedSharedMemoryPerBlock":1024,` +
	`"maxRegistersPerSM":65536,"maxCtasPerSM":32,"maxThreadsPerBlock":1024,"maxThreadsPerSM":2048,"pciDeviceId":0,"isTccDriver":0,"supportCoopLaunch":1,` +
	`"totalGlobalMem":85000000000,"smClockRateKHz":1980000,"memClockRateKHz":2619000,"memoryBusWidth":5120,"l2CacheSize":52428800,"cudaDeviceId":0,` +
	`"deviceVer":900,"driverVer":12090,"deviceName":"NVIDIA H100"}`

// realDNN opens NVIDIA's library. One of its parts is linked with libcuda.so.1; without a driver, a library of that name whose functions
// say that there is no device does.
func realDNN(t *testing.T) *DNN {
	t.Helper()
	path := os.Getenv(realDNNEnv)
	if path == "" {
		t.Skipf("%s does not name NVIDIA's libcudnn.so.9", realDNNEnv)
	}
	if _, err := Open(""); err != nil {
		stub := t.TempDir()
		source, library := filepath.Join(stub, "stub.c"), filepath.Join(stub, "libcuda.so.1")
		var text strings.Builder
		for _, name := range []string{"cuGetErrorString", "cuModuleGetFunction", "cuModuleLoadData", "cuModuleUnload", "cuTensorMapEncodeIm2col", "cuTensorMapEncodeTiled"} {
			text.WriteString("int " + name + "(void) { return 100; }\n")
		}
		if err := os.WriteFile(source, []byte(text.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		if out, err := exec.CommandContext(t.Context(), "cc", "-shared", "-fPIC", "-Wl,-soname,libcuda.so.1", "-o", library, source).CombinedOutput(); err != nil {
			t.Skipf("needs a C compiler: %v\n%s", err, out)
		}
		if _, err := load(library); err != nil {
			t.Fatal(err)
		}
	}
	n, err := withoutDevice(path, hopper)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// realCases are convolutions as the op table has them: one dimension as two with a height of 1, groups, depthwise, three dimensions,
// padding that differs at the ends, odd channels.
func realCases() []Convolution {
	base := func(x, w, y [5]int, rank int) Convolution {
		return Convolution{Rank: rank, X: x, W: w, Y: y, Stride: [3]int{1, 1, 1}, Dilation: [3]int{1, 1, 1}, Align: 16, Workspace: 4 << 30}
	}
	pad := func(c Convolution, before, after [3]int) Convolution {
		c.Before, c.After = before, after
		return c
	}
	ones := [3]int{1, 1, 1}
	list := []Convolution{
		pad(base([5]int{32, 64, 56, 56}, [5]int{128, 64, 3, 3}, [5]int{32, 128, 56, 56}, 2), ones, ones),
		base([5]int{8, 64, 28, 28}, [5]int{128, 64, 1, 1}, [5]int{8, 128, 28, 28}, 2),
		pad(base([5]int{8, 16, 1, 100}, [5]int{32, 16, 1, 3}, [5]int{8, 32, 1, 100}, 2), [3]int{0, 1}, [3]int{0, 1}),
		pad(base([5]int{8, 16, 8, 10, 10}, [5]int{32, 16, 3, 3, 3}, [5]int{8, 32, 8, 10, 10}, 3), ones, ones),
		pad(base([5]int{8, 64, 28, 28}, [5]int{64, 16, 3, 3}, [5]int{8, 64, 28, 28}, 2), ones, ones),
		pad(base([5]int{8, 64, 28, 28}, [5]int{64, 1, 3, 3}, [5]int{8, 64, 28, 28}, 2), ones, ones),
		pad(base([5]int{3, 5, 11, 13}, [5]int{7, 5, 3, 3}, [5]int{3, 7, 11, 13}, 2), ones, ones),
	}
	strided := pad(base([5]int{4, 8, 9, 9}, [5]int{16, 8, 3, 3}, [5]int{4, 16, 5, 5}, 2), ones, ones)
	strided.Stride = [3]int{2, 2}
	same := pad(base([5]int{4, 8, 9, 9}, [5]int{16, 8, 2, 2}, [5]int{4, 16, 9, 9}, 2), [3]int{}, ones)
	return append(list, strided, same)
}

// TestRealCuDNN asks NVIDIA's library for plans of every kind, as training would, and checks that what is promised is kept.
func TestRealCuDNN(t *testing.T) {
	n := realDNN(t)
	t.Logf("%s is %d", n.Path(), n.Version())
	for _, dt := range []DataType{Float16, BFloat16, Float32} {
		for _, kind := range []ConvolutionKind{ConvolutionForward, ConvolutionData, ConvolutionFilter} {
			for _, c := range realCases() {
				for _, bias := range []bool{false, true} {
					c.Type, c.Kind, c.Bias = dt, kind, bias
					if bias && kind != ConvolutionForward {
						continue
					}
					p, err := n.Plan("conv", c)
					if err != nil {
						if c.Before != c.After && errors.Is(err, ErrUnsupported) {
							t.Log(err)
							continue
						}
						t.Error(err)
						continue
					}
					t.Logf("%v: engine %d, notes %v, %s of workspace", &c, p.Engine, p.Notes, Bytes(p.Workspace))
					for _, note := range p.Notes {
						if note == NoteNondeterministic || note == NoteReducedReduction || note == NoteTensorCore && dt == Float32 {
							t.Errorf("%v: engine %d with notes %v", &c, p.Engine, p.Notes)
						}
					}
				}
			}
		}
	}
	tf32 := realCases()[0]
	tf32.Type, tf32.TF32 = Float32, true
	if p, err := n.Plan("conv", tf32); err != nil || !p.TensorCores() {
		t.Errorf("with TF32: %v, %v", p, err)
	}
	wrong := realCases()[0]
	wrong.Y[2]++
	if _, err := n.Plan("conv", wrong); !errors.Is(err, ErrUnsupported) || !strings.Contains(err.Error(), "BAD_PARAM") {
		t.Errorf("of a wrong shape: %v", err)
	}
	little := realCases()[0]
	little.Workspace = 0
	if p, err := n.Plan("conv", little); err == nil && p.Workspace > 0 {
		t.Errorf("%d bytes of workspace, where none may be had", p.Workspace)
	}
	if err := n.Close(); err != nil {
		t.Error(err)
	}
	RealDescriptors(t, n.Path())
}

// RealDescriptors is drivertest.RunDNNDescriptors on NVIDIA's library; fake_test.go sets it, since package drivertest imports this one.
var RealDescriptors func(t *testing.T, path string)
