package amp

import (
	"compress/gzip"
	le "encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Every row against PyTorch's own numbers, from testdata/torch (generate.py there says what the vectors hold and how they are made).
// For each element v of a result, v64 PyTorch's float64 number from the same inputs:
//
//   - |v - v64| ≤ c·u·scale + one rounding of the dtype. scale is √K·Σ|terms|, in the vectors; u is 2^-24 for float32 and shorter
//     dtypes, whose kernels compute in float32 or wider and round once, 2^-53 for float64; c is the row's bound.
//   - the largest |v - v64| of the case is at most twice PyTorch's, plus half a unit in the last place.
//
// The same holds for gradients.

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
}

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
		if strings.HasPrefix(filepath.Base(p), "trajectories") {
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

// TestTorch walks the vectors.
func TestTorch(t *testing.T) {
	cases := map[string]int{}
	for _, f := range torchFiles(t) {
		for _, c := range f.Cases {
			call := torchCalls[c.Op]
			if call == nil {
				if torchAbsent[c.Op] == "" {
					t.Errorf("vectors of %s, which the test does not call", c.Op)
				}
				continue
			}
			cases[c.Op]++
			t.Run(strings.ReplaceAll(fmt.Sprintf("%s/%s/%v", c.Op, c.Name, c.DType), " ", "_"), func(t *testing.T) {
				c.check(t, call, c.DType)
				if c.DType == Float32 {
					c.check(t, call, Float64)
				}
			})
		}
	}
	for o := range Ops() {
		if o.InPlace || !o.Differentiable() && len(o.Composite) == 0 || cases[o.Name] > 0 || torchless[o.Name] != "" {
			continue
		}
		t.Errorf("row %s has no vectors of torch", o.Name)
	}
	for name := range torchCalls {
		if cases[name] == 0 {
			t.Errorf("no vectors of %s", name)
		}
	}
}

// check runs the case in dtype dt, which is the case's or float64.
func (c *torchCase) check(t *testing.T, call torchCall, dt DType) {
	root := NewScope()
	defer root.Close()
	defer func() {
		if r := recover(); r != nil {
			t.Errorf("%v: panic: %v", dt, r)
		}
	}()
	in := make([]*Tensor, len(c.In))
	for i, v := range c.In {
		in[i] = v.tensor(dt)
		if i < len(c.Grad) && c.Grad[i] != nil {
			in[i].RequireGrad()
		}
	}
	outs := call(root, c.Args, in)
	if len(outs) != len(c.Out) {
		t.Fatalf("%d results, torch has %d", len(outs), len(c.Out))
	}
	row, _ := LookupOp(c.Op)
	var differentiable, seeds []*Tensor
	for k, y := range outs {
		c.compare(t, fmt.Sprintf("result %d", k), row, y, c.Out[k], dt)
		if c.DY[k] != nil && y.needs {
			differentiable, seeds = append(differentiable, y), append(seeds, c.DY[k].tensor(dt))
		}
	}
	if len(differentiable) == 0 || t.Failed() {
		return
	}
	var leaves []*Tensor
	var want []*torchTensor
	var names []string
	for i, v := range c.Grad {
		if v != nil {
			leaves, want, names = append(leaves, in[i]), append(want, v), append(names, fmt.Sprintf("gradient of input %d", i))
		}
	}
	for i, g := range Grad(root, differentiable, leaves, GradOutputs(seeds...), AllowUnused()) {
		if g == nil {
			g = Full(root, dt, 0, want[i].Shape...)
		}
		c.compare(t, names[i], row, g, want[i], dt)
	}
}

// compare holds one result against its vector.
func (c *torchCase) compare(t *testing.T, what string, row *Op, got *Tensor, want *torchTensor, dt DType) {
	t.Helper()
	if !slices.Equal(got.shape, want.Shape) {
		t.Fatalf("%v %s: shape %v, torch has %v", dt, what, got.shape, want.Shape)
	}
	v := got.Float64s()
	if want.DType != NoDType { // integers and truths: exact
		if exact := bitsAs(want.DType, want.Bits); !slices.Equal(v, exact) {
			t.Errorf("%v %s: %v, torch has %v", dt, what, v, exact)
		}
		return
	}
	if got.dt != dt {
		t.Errorf("%s: %v, want %v", what, got.dt, dt)
	}
	v64, scale := bitsAs(Float64, want.F64), bitsAs(Float32, want.Scale)
	u := 0x1p-24
	if dt == Float64 {
		u = 0x1p-53
	}
	worst, largest := 0.0, 0.0
	for i, w := range v64 {
		d := distance(v[i], w)
		if os.Getenv("ZZ") != "" {
			fmt.Printf("ZZ %s %s %v %.2f %.2f\n", c.Op, what[:4], dt, (d-halfULP(dt, w))/(scale[i]*u), (d-halfULP(dt, w))/(scale[i]*map[DType]float64{Float16: 0x1p-11, BFloat16: 0x1p-8, Float32: 0x1p-24, Float64: 0x1p-53}[dt]))
		}
		if bound := torchBound(row)*u*scale[i] + halfULP(dt, w); !(d <= bound) {
			t.Errorf("%v %s element %d: %v, float64 %v, off by %.3g, bound %.3g", dt, what, i, v[i], w, d, bound)
		}
		worst, largest = math.Max(worst, d), math.Max(largest, math.Abs(w))
	}
	if want.Torch == nil || dt != c.DType {
		return
	}
	theirs := 0.0
	for i, x := range bitsAs(dt, want.Torch) {
		theirs = math.Max(theirs, distance(x, v64[i]))
	}
	if worst > 2*theirs+halfULP(dt, largest) {
		t.Errorf("%v %s: off by %.3g, torch only by %.3g (half a unit is %.3g)", dt, what, worst, theirs, halfULP(dt, largest))
	}
}

// distance is |a - b|; 0 between equal infinities.
func distance(a, b float64) float64 {
	if a == b {
		return 0
	}
	return math.Abs(a - b)
}

// halfULP is half the distance between neighbors of dt at v: the error of one rounding.
func halfULP(dt DType, v float64) float64 {
	digits := map[DType]int{Float16: 11, BFloat16: 8, Float32: 24, Float64: 53}[dt]
	_, e := math.Frexp(math.Max(math.Abs(v), dt.MinNormal()))
	return math.Ldexp(0.5, e-digits)
}
