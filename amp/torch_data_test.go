package amp

import (
	"compress/gzip"
	le "encoding/binary"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// The files of testdata/torch.

type torchFile struct {
	Torch string
	Cases []torchCase
}

type torchCase struct {
	Op, Name string
	DType    DType
	Args     torchArgs
	In, DY   []*torchTensor
	Out      []*torchTensor
	Grad     []*torchTensor
	Autocast []torchDecision // by the CPU lists to bfloat16
	Refused  string          // why PyTorch takes no such inputs, if it does not
}

// A torchDecision is the dtypes of results under autocast, for those of the float inputs.
type torchDecision struct{ In, Out []DType }

// A torchTensor is given bits (inputs, integers), or what is known of a result.
type torchTensor struct {
	Shape []int
	DType DType
	Bits  []byte
	F64   []byte
	Torch []byte
	Scale []byte
}

type torchArgs map[string]any

func (a torchArgs) has(name string) bool { return a[name] != nil }

func (a torchArgs) float(name string) float64 { return a[name].(float64) }

// or returns a number of a case, or what PyTorch uses without.
func (a torchArgs) or(name string, v float64) float64 {
	if a.has(name) {
		return a.float(name)
	}
	return v
}

func (a torchArgs) int(name string) int { return int(a[name].(float64)) }

func (a torchArgs) bool(name string) bool { return a[name].(bool) }

func (a torchArgs) string(name string) string { return a[name].(string) }

// ints returns a list of integers; a single one is a list of one, nothing is nil.
func (a torchArgs) ints(name string) []int {
	switch v := a[name].(type) {
	case float64:
		return []int{int(v)}
	case []any:
		out := make([]int, len(v))
		for i, x := range v {
			out[i] = int(x.(float64))
		}
		return out
	}
	return nil
}

func (a torchArgs) floats(name string) []float64 {
	var out []float64
	for _, x := range a[name].([]any) {
		out = append(out, x.(float64))
	}
	return out
}

func (a torchArgs) reduction() Reduction {
	return map[string]Reduction{"mean": ReduceMean, "sum": ReduceSum, "none": ReduceNone}[a.string("reduction")]
}

// bitsAs reads little-endian numbers of a dtype.
func bitsAs(dt DType, b []byte) []float64 {
	size := dt.Size()
	out := make([]float64, len(b)/size)
	for i := range out {
		p := b[i*size:]
		switch dt {
		case Float64:
			out[i] = math.Float64frombits(le.LittleEndian.Uint64(p))
		case Float32:
			out[i] = float64(math.Float32frombits(le.LittleEndian.Uint32(p)))
		case Int64:
			out[i] = float64(int64(le.LittleEndian.Uint64(p)))
		case Bool:
			out[i] = float64(p[0])
		default:
			h := alloc("bits", theCPU, dt, []int{1})
			copy(h.st.mem, p[:2])
			out[i] = h.Item()
		}
	}
	return out
}

// tensor makes the input; floats in dtype dt, which holds them exactly.
func (v *torchTensor) tensor(dt DType) *Tensor {
	if v == nil {
		return nil
	}
	values := bitsAs(v.DType, v.Bits)
	switch v.DType {
	case Int64:
		ints := make([]int64, len(values))
		for i, x := range values {
			ints[i] = int64(x)
		}
		return From(ints, append([]int{}, v.Shape...)...)
	case Bool:
		truths := make([]bool, len(values))
		for i, x := range values {
			truths[i] = x != 0
		}
		return From(truths, append([]int{}, v.Shape...)...)
	}
	return fromFloat64s(dt, values, v.Shape)
}

func torchFiles(t *testing.T) []torchFile {
	t.Helper()
	paths, err := filepath.Glob("testdata/torch/*.json.gz")
	if err != nil {
		t.Fatal(err)
	}
	var files []torchFile
	for _, p := range paths {
		if slices.Contains([]string{"decisions.json.gz", "empties.json.gz", "extremes.json.gz", "fp4.json.gz", "fp8.json.gz", "modules.json.gz", "programs.json.gz", "promotions.json.gz", "specials.json.gz", "trajectories.json.gz"}, filepath.Base(p)) { // of other tests
			continue
		}
		var f torchFile
		readTorch(t, p, &f)
		files = append(files, f)
	}
	return files
}

func readTorch(t *testing.T, path string, v any) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(path, err)
	}
	if err := json.NewDecoder(z).Decode(v); err != nil {
		t.Fatal(path, err)
	}
}
