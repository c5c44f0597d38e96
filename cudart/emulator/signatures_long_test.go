//go:build long && linux && amd64

package emulator

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/halftone-ml/halftone/cudart/internal/wheel"
)

// headersEnv names folders with headers of NVIDIA's to compare with in place of CUDA 12.6's: of CUDA 13, or of cuBLAS and cuDNN besides,
// whose wheels are too large for a test to fetch; separated by colons.
const headersEnv = "HALFTONE_TEST_CUDA_HEADERS"

// layouts are the structs that package driver writes and reads by their bytes.
const layouts = `
#define AT(type, field, byte, bytes) static_assert(offsetof(type, field) == byte && sizeof(((type*)nullptr)->field) == bytes, #type "." #field)
static_assert(sizeof(CUmemPoolProps) == 88 && sizeof(CUmemAllocationProp) == 32 && sizeof(CUmemAccessDesc) == 12, "sizes");
AT(CUmemPoolProps, allocType, 0, 4);
AT(CUmemPoolProps, handleTypes, 4, 4);
AT(CUmemPoolProps, location.type, 8, 4);
AT(CUmemPoolProps, location.id, 12, 4);
AT(CUmemAllocationProp, type, 0, 4);
AT(CUmemAllocationProp, requestedHandleTypes, 4, 4);
AT(CUmemAllocationProp, location.type, 8, 4);
AT(CUmemAllocationProp, location.id, 12, 4);
AT(CUmemAccessDesc, location.type, 0, 4);
AT(CUmemAccessDesc, location.id, 4, 4);
AT(CUmemAccessDesc, flags, 8, 4);
static_assert(sizeof(CUuuid) == 16 && sizeof(CUipcMemHandle) == 64 && sizeof(CUjit_option) == 4, "sizes");
`

const blasLayouts = `
static_assert(sizeof(cublasLtMatmulHeuristicResult_t) == 96, "the result of a heuristic");
AT(cublasLtMatmulHeuristicResult_t, algo, 0, 64);
AT(cublasLtMatmulHeuristicResult_t, workspaceSize, 64, 8);
AT(cublasLtMatmulHeuristicResult_t, state, 72, 4);
// The header overloads these two in C++; the functions of the library are the ones without inline.
using declared_cublasGemmEx = cublasStatus_t(cublasHandle_t, cublasOperation_t, cublasOperation_t, int, int, int, const void*, const void*,
  cudaDataType, int, const void*, cudaDataType, int, const void*, void*, cudaDataType, int, cublasComputeType_t, cublasGemmAlgo_t);
using declared_cublasGemmStridedBatchedEx = cublasStatus_t(cublasHandle_t, cublasOperation_t, cublasOperation_t, int, int, int, const void*,
  const void*, cudaDataType, int, long long, const void*, cudaDataType, int, long long, const void*, void*, cudaDataType, int, long long, int,
  cublasComputeType_t, cublasGemmAlgo_t);
constexpr auto one = static_cast<declared_cublasGemmEx*>(&::cublasGemmEx);
constexpr auto many = static_cast<declared_cublasGemmStridedBatchedEx*>(&::cublasGemmStridedBatchedEx);
`

// overloaded are the functions that blasLayouts names the types of.
var overloaded = []string{"cublasGemmEx", "cublasGemmStridedBatchedEx"}

// libraryHeaders are what declares the functions of each library, by the beginning of their names.
var libraryHeaders = []struct{ prefix, probe, include, more string }{
	{"cublas", "cublasLt.h", "#include <cublas_v2.h>\n#include <cublasLt.h>\n", blasLayouts},
	{"cudnn", "cudnn_graph.h", "#include <cudnn_graph.h>\n", ""},
	{"nvrtc", "nvrtc.h", "#include <nvrtc.h>\n", ""},
	{"cu", "cuda.h", "", ""},
}

var (
	apiFunction  = regexp.MustCompile(`(?m)^EMU_API [^(\n]*?(\w+)\(`)
	usedFunction = regexp.MustCompile("`c:\"(\\w+)\"`")
)

// TestSignatures holds the emulator's functions to NVIDIA's headers: the same parameters in the same places, as wide, and results as
// wide where they are written. What package driver calls wrongly would then fail in the suites that run on the emulator.
func TestSignatures(t *testing.T) {
	compiler, err := findCompiler(t.Context(), Options{})
	if err != nil {
		t.Skip(err)
	}
	folders := filepath.SplitList(os.Getenv(headersEnv))
	if len(folders) == 0 {
		for _, w := range []struct {
			wheel  wheel.Wheel
			folder string
		}{{wheel.CUDA12Headers, "cuda_runtime"}, {wheel.NVRTC, "cuda_nvrtc"}} {
			dir, err := wheel.Fetch(t.Context(), w.wheel)
			if err != nil {
				t.Skipf("needs NVIDIA's wheels with headers, and they can't be had here: %v", err)
			}
			folders = append(folders, filepath.Join(dir, "nvidia", w.folder, "include"))
		}
	}
	work := t.TempDir()
	files, err := fs.Glob(runtimeSources, "csrc/*")
	if err != nil {
		t.Fatal(err)
	}
	compared := map[string]bool{}
	for _, file := range files {
		text, err := fs.ReadFile(runtimeSources, file)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(work, filepath.Base(file)), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	same, err := filepath.Abs(filepath.Join("testdata", "same.h"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if filepath.Ext(file) != ".cpp" {
			continue
		}
		text, _ := fs.ReadFile(runtimeSources, file)
		var names []string
		for _, m := range apiFunction.FindAllSubmatch(text, -1) {
			if name := string(m[1]); strings.HasPrefix(name, "cu") || strings.HasPrefix(name, "nvrtc") {
				names = append(names, name)
			}
		}
		source, asked := comparison(file, same, names, folders)
		if len(asked) == 0 {
			continue
		}
		program := filepath.Join(work, "comparison.cc")
		if err := os.WriteFile(program, []byte(source), 0o600); err != nil {
			t.Fatal(err)
		}
		args := []string{"-std=c++17", "-fsyntax-only", "-w", "-I", work}
		for _, f := range folders {
			args = append(args, "-isystem", f)
		}
		if out, err := exec.CommandContext(t.Context(), compiler.path, append(args, program)...).CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", file, err, firstLines(string(out), 40))
		}
		for _, n := range asked {
			compared[n] = true
		}
	}
	if len(compared) < 80 {
		t.Errorf("only %d functions were compared", len(compared))
	}
	t.Logf("%d functions compared", len(compared))
	for _, n := range usedFunctions(t) {
		if _, header := headerOf(n, folders); header && !compared[n] && n != "cudnnGetCudartVersion" { // which tells the stand-in from the library
			t.Errorf("%s is called and was not compared", n)
		}
	}
}

// comparison is a program that includes one of the emulator's files with its functions renamed, and NVIDIA's headers, and compares what is
// declared by both; asked are the functions that the headers at hand are to have.
func comparison(file, same string, names, folders []string) (source string, asked []string) {
	renamed := append([]string{"CUipcMemHandle", "uint3", "dim3"}, names...)
	var b strings.Builder
	define := func(format string) {
		for _, n := range renamed {
			fmt.Fprintf(&b, format, n)
		}
	}
	define("#define %[1]s emulated_%[1]s\n")
	fmt.Fprintf(&b, "#include %q\n", filepath.Base(file))
	define("#undef %s\n")
	// Declares the versions of functions that the names of the present ones stand for, too.
	b.WriteString("#define __CUDA_API_VERSION_INTERNAL\n#include <cuda.h>\n" + layouts)
	includes := map[string]bool{}
	for _, n := range names {
		if h, ok := headerOf(n, folders); ok {
			asked = append(asked, n)
			if include := libraryHeaders[h].include + libraryHeaders[h].more; !includes[include] {
				includes[include] = true
				b.WriteString(include)
			}
		}
	}
	define("#undef %s\n")
	fmt.Fprintf(&b, "#include %q\n", same)
	for _, n := range asked {
		declared := "decltype(::" + n + ")"
		if slices.Contains(overloaded, n) {
			declared = "declared_" + n
		}
		fmt.Fprintf(&b, "static_assert(same::Same<decltype(emulated_%[1]s), %[2]s>::value, \"%[1]s is not as in NVIDIA's header\");\n", n, declared)
	}
	return b.String(), asked
}

// headerOf returns which of libraryHeaders declares a function; false if none of the folders has it, or it is of CUDA 13 alone.
func headerOf(name string, folders []string) (at int, ok bool) {
	at = slices.IndexFunc(libraryHeaders, func(h struct{ prefix, probe, include, more string }) bool { return strings.HasPrefix(name, h.prefix) })
	return at, name != "cuEventElapsedTime_v2" && slices.ContainsFunc(folders, func(dir string) bool {
		_, err := os.Stat(filepath.Join(dir, libraryHeaders[at].probe))
		return err == nil
	})
}

// usedFunctions are those that package driver looks up.
func usedFunctions(t *testing.T) (names []string) {
	files, err := filepath.Glob(filepath.Join("..", "driver", "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range usedFunction.FindAllSubmatch(text, -1) {
			names = append(names, string(m[1]))
		}
	}
	return names
}
