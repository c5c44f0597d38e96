package safetensors_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/amp/bfloat16"
	"github.com/halftone-ml/halftone/amp/safetensors"
	"github.com/x448/float16"
)

// golden builds what testdata/generate.py wrote into all.safetensors, from the numbers in it.
func golden() (map[string]*amp.Tensor, map[string]string) {
	weight := make([]float32, 6)
	for i, b := range []uint32{0x3F800000, 0x80000000, 0x7F800000, 0xFF800000, 0x7FA12345, 1} {
		weight[i] = math.Float32frombits(b)
	}
	return map[string]*amp.Tensor{
		"0.weight": amp.From(weight, 2, 3),
		"0.bias":   amp.From([]float32{0.5, -1.25, 3}),
		"scale":    amp.Scalar(65536.5),
		"half":     amp.From([]float16.Float16{0x3C00, 0x7E01, 0x0001, 0xFC00}, 2, 2),
		"brain":    amp.From([]bfloat16.BFloat16{0x3F80, 0x7FA1, 0x8000}),
		"steps":    amp.From([]int64{math.MinInt64, 1<<53 + 1}),
		"mask":     amp.From([]bool{true, false, false, true}, 2, 1, 2),
		"none":     amp.From([]float32{}, 0, 4),
		"\u00e9 \"quoted\"\\\n\t\u0001\u007f\u2028<&>": amp.From([]float16.Float16{0x4000}),
	}, map[string]string{"format": "pt <&> \u00e9\u001f\""}
}

func raw(t *testing.T, x *amp.Tensor) string {
	t.Helper()
	var b bytes.Buffer
	if err := amp.WriteRaw(&b, x); err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%v %v %x", x.DType(), x.Shape(), b.Bytes())
}

func same(t *testing.T, got, want map[string]*amp.Tensor) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%d tensors, want %d", len(got), len(want))
	}
	for name, w := range want {
		if g := got[name]; g == nil {
			t.Errorf("%q is missing", name)
		} else if a, b := raw(t, g), raw(t, w); a != b || g.Name() != name {
			t.Errorf("%q (named %q): %s, want %s", name, g.Name(), a, b)
		}
	}
}

// TestPythonFiles: what the Python library wrote is read bit for bit, and written again byte for byte; and so are tensors made here.
func TestPythonFiles(t *testing.T) {
	tensors, metadata := golden()
	got, meta, err := safetensors.Load("testdata/all.safetensors")
	if err != nil {
		t.Fatal(err)
	}
	same(t, got, tensors)
	if len(meta) != 1 || meta["format"] != metadata["format"] {
		t.Errorf("metadata %q", meta)
	}
	for _, c := range []struct {
		file     string
		tensors  map[string]*amp.Tensor
		metadata map[string]string
	}{
		{"all", tensors, metadata}, {"all", got, meta}, {"bare", nil, nil},
		{"metadata", map[string]*amp.Tensor{"a": amp.From([]float16.Float16{0x3C00})}, map[string]string{}},
	} {
		var b bytes.Buffer
		if err := safetensors.Write(&b, c.tensors, c.metadata); err != nil {
			t.Fatal(err)
		}
		want, err := os.ReadFile("testdata/" + c.file + ".safetensors")
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(b.Bytes(), want) {
			t.Errorf("%s differs from Python's:\n%q\n%q", c.file, b.Bytes(), want)
		}
	}
}

func TestWiden(t *testing.T) {
	const file = "testdata/wide.safetensors"
	_, _, err := safetensors.Load(file)
	if !errors.Is(err, safetensors.ErrDType) {
		t.Fatal(err)
	}
	b, _ := os.ReadFile(file)
	r, err := safetensors.NewReader(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	if r.Metadata() != nil || len(r.Tensors()) != 10 || r.Tensors()[0].Name != "u64" {
		t.Error(r.Metadata(), r.Tensors())
	}
	nan := math.NaN()
	for name, c := range map[string]struct {
		dt   amp.DType
		want []float64
	}{
		"u8": {amp.Int64, []float64{0, 127, 255}}, "i8": {amp.Int64, []float64{0, 127, -1}},
		"u16": {amp.Int64, []float64{1, 65535}}, "i16": {amp.Int64, []float64{1, -32768}},
		"u32": {amp.Int64, []float64{1, 4294967295}}, "i32": {amp.Int64, []float64{1, -2147483648}},
		"e5m2": {amp.Float16, []float64{0, 0x1p-16, 1, -1, 57344, math.Inf(1)}},
		"e4m3": {amp.Float16, []float64{math.Copysign(0, -1), 0x1p-9, 1, -1, 448, nan}},
		"f32":  {amp.Float32, []float64{7}},
	} {
		x, err := r.Tensor(name, safetensors.Widen())
		if err != nil || x.DType() != c.dt {
			t.Errorf("%s: %v %v", name, x, err)
			continue
		}
		for i, v := range x.Float64s() {
			if math.Float64bits(v) != math.Float64bits(c.want[i]) && !(v != v && c.want[i] != c.want[i]) {
				t.Errorf("%s: %v, want %v", name, x.Float64s(), c.want)
			}
		}
		if _, err := r.Tensor(name); name != "f32" && (!errors.Is(err, safetensors.ErrDType) || !strings.Contains(err.Error(), "Widen") || !strings.Contains(err.Error(), name)) {
			t.Errorf("%s without Widen: %v", name, err)
		}
	}
	if x, _ := r.Tensor("i32", safetensors.Widen()); !slices.Equal(x.Shape(), []int{1, 2}) {
		t.Error(x.Shape())
	}
	if _, err := r.Tensor("u64", safetensors.Widen()); !errors.Is(err, safetensors.ErrDType) || !strings.Contains(err.Error(), `"u64"`) || !strings.Contains(err.Error(), "U64") {
		t.Error(err)
	}
	if _, err := r.Tensor("x"); err == nil {
		t.Error("a tensor that is not there")
	}
}

func TestReadInto(t *testing.T) {
	b, _ := os.ReadFile("testdata/all.safetensors")
	r, err := safetensors.NewReader(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	x := amp.From([]float32{9, 9, 9})
	v := x.Version()
	if err := r.ReadInto("0.bias", x); err != nil || x.Float64s()[1] != -1.25 || x.Version() == v {
		t.Error(err, x.Float64s())
	}
	if err := r.ReadInto("0.weight", x); err == nil || !strings.Contains(err.Error(), "[2 3]") {
		t.Error(err)
	}
	if err := r.ReadInto("brain", x); err == nil || !strings.Contains(err.Error(), "BF16") {
		t.Error(err)
	}
	if err := r.ReadInto("nothing", x); err == nil {
		t.Error("a tensor that is not there")
	}
}

// TestSaveIsAtomic: a failed save leaves the old file and nothing else; a good one keeps the file's mode and follows a link.
func TestSaveIsAtomic(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "m.safetensors")
	one := map[string]*amp.Tensor{"a": amp.From([]float32{1})}
	if err := safetensors.Save(path, one, nil); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o640); err != nil {
		t.Fatal(err)
	}
	old, _ := os.ReadFile(path)
	for name, bad := range map[string]map[string]*amp.Tensor{
		"nil": {"a": amp.From([]float32{2}), "b": nil}, "reserved": {"__metadata__": amp.From([]float32{2})}, "not UTF-8": {"\xff": amp.From([]float32{2})},
	} {
		if err := safetensors.Save(path, bad, nil); err == nil {
			t.Errorf("%s was saved", name)
		}
	}
	if err := safetensors.Save(path, one, map[string]string{"k": "\xff"}); err == nil {
		t.Error("metadata that is not UTF-8 was saved")
	}
	if err := safetensors.Save(filepath.Join(dir, "no", "folder"), one, nil); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	if now, _ := os.ReadFile(path); !bytes.Equal(now, old) {
		t.Error("a failed save changed the file")
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	two := map[string]*amp.Tensor{"a": amp.From([]float32{2})}
	if err := safetensors.Save(link, two, nil); err != nil {
		t.Fatal(err)
	}
	got, _, err := safetensors.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	same(t, got, two)
	info, _ := os.Lstat(path)
	if info.Mode() != 0o640 {
		t.Error(info.Mode())
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 2 {
		t.Errorf("left behind: %v", entries)
	}
	if _, _, err := safetensors.Load(filepath.Join(dir, "nothing")); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}

// file is a file of the given header and number of zero bytes.
func file(header string, data int) []byte {
	b := binary.LittleEndian.AppendUint64(nil, uint64(len(header)))
	return append(append(b, header...), make([]byte, data)...)
}

var corrupt = map[string]struct {
	data []byte
	want string
}{
	"empty":              {nil, "too few"},
	"short":              {[]byte("1234567"), "too few"},
	"claims too much":    {binary.LittleEndian.AppendUint64(nil, 3), "claims 3"},
	"over the limit":     {binary.LittleEndian.AppendUint64(nil, 100_000_001), "100000000 are allowed"},
	"torch.save":         {append([]byte("PK\x03\x04\x00\x00\x08\x08"), make([]byte, 100)...), "safetensors.torch.save_file("},
	"2^64-1":             {binary.LittleEndian.AppendUint64(nil, math.MaxUint64), "are allowed"},
	"no header":          {file("", 0), "begin with {"},
	"leading space":      {file(" {}", 0), "begin with {"},
	"array":              {file("[]", 0), "begin with {"},
	"not JSON":           {file("{]", 0), "header"},
	"unfinished":         {file(`{"a":{"dtype":"F32"`, 0), "header"},
	"not UTF-8":          {file("{\"\xff\":{}}", 0), "UTF-8"},
	"text after":         {file("{} x", 0), "after its end"},
	"trailing bytes":     {file("{}", 1), "1 bytes follow"},
	"tensor is text":     {file(`{"a":"b"}`, 0), "object"},
	"tensor is null":     {file(`{"a":null}`, 0), "object"},
	"no dtype":           {file(`{"a":{"shape":[1],"data_offsets":[0,4]}}`, 4), "dtype is missing"},
	"no shape":           {file(`{"a":{"dtype":"F32","data_offsets":[0,4]}}`, 4), "shape is missing"},
	"no offsets":         {file(`{"a":{"dtype":"F32","shape":[1]}}`, 4), "data_offsets is missing"},
	"case":               {file(`{"a":{"DTYPE":"F32","shape":[1],"data_offsets":[0,4]}}`, 4), "dtype is missing"},
	"unknown dtype":      {file(`{"a":{"dtype":"F33","shape":[1],"data_offsets":[0,4]}}`, 4), "F33 is unknown"},
	"dtype is a number":  {file(`{"a":{"dtype":3,"shape":[1],"data_offsets":[0,4]}}`, 4), "unknown"},
	"null shape":         {file(`{"a":{"dtype":"F32","shape":null,"data_offsets":[0,4]}}`, 4), "null"},
	"negative":           {file(`{"a":{"dtype":"F32","shape":[-1],"data_offsets":[0,4]}}`, 4), "-1 is no size"},
	"fraction":           {file(`{"a":{"dtype":"F32","shape":[1.0],"data_offsets":[0,4]}}`, 4), "1.0 is no size"},
	"huge size":          {file(`{"a":{"dtype":"F32","shape":[99999999999999999999],"data_offsets":[0,4]}}`, 4), "no size"},
	"one offset":         {file(`{"a":{"dtype":"F32","shape":[1],"data_offsets":[4]}}`, 4), "1 offsets"},
	"backwards":          {file(`{"a":{"dtype":"F32","shape":[1],"data_offsets":[4,0]}}`, 4), "gap or an overlap"},
	"gap at the start":   {file(`{"a":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}}`, 8), "gap or an overlap"},
	"gap":                {file(`{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"b":{"dtype":"F32","shape":[1],"data_offsets":[8,12]}}`, 12), `"b"`},
	"overlap":            {file(`{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"b":{"dtype":"F32","shape":[1],"data_offsets":[2,6]}}`, 6), "gap or an overlap"},
	"same bytes":         {file(`{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"b":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}`, 4), "gap or an overlap"},
	"beyond the end":     {file(`{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}`, 4), "4 bytes after the file"},
	"far beyond":         {file(`{"a":{"dtype":"F32","shape":[70368744177664],"data_offsets":[0,281474976710656]}}`, 4), "after the file"},
	"wrong size":         {file(`{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,4]}}`, 4), "takes 8 bytes, and has 4"},
	"overflow":           {file(`{"a":{"dtype":"F32","shape":[4294967296,4294967296,4],"data_offsets":[0,0]}}`, 0), "too many elements"},
	"overflow and 0":     {file(`{"a":{"dtype":"F32","shape":[4294967296,4294967296,0],"data_offsets":[0,0]}}`, 0), "too many elements"},
	"half a byte":        {file(`{"a":{"dtype":"F4","shape":[1],"data_offsets":[0,0]}}`, 0), "part of a byte"},
	"name twice":         {file(`{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"a":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}}`, 8), "used twice"},
	"escaped twice":      {file(`{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"\u0061":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}}`, 8), "used twice"},
	"shape twice":        {file(`{"a":{"dtype":"F32","shape":[1],"shape":[1],"data_offsets":[0,4]}}`, 4), "twice"},
	"metadata twice":     {file(`{"__metadata__":{},"__metadata__":{}}`, 0), "used twice"},
	"metadata of number": {file(`{"__metadata__":{"a":1}}`, 0), "no text"},
	"metadata key twice": {file(`{"__metadata__":{"a":"1","a":"2"}}`, 0), "twice"},
	"metadata is text":   {file(`{"__metadata__":"x"}`, 0), "object"},
}

func TestCorruptFiles(t *testing.T) {
	for name, c := range corrupt {
		_, err := safetensors.NewReader(bytes.NewReader(c.data), int64(len(c.data)))
		if !errors.Is(err, safetensors.ErrFormat) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	// A bad bool is seen only when it is read.
	b := file(`{"a":{"dtype":"BOOL","shape":[2],"data_offsets":[0,2]}}`, 2)
	b[len(b)-1] = 7
	r, err := safetensors.NewReader(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.All(); err == nil || !strings.Contains(err.Error(), `"a": element 1`) {
		t.Error(err)
	}
	// A reader that holds less than it says: truncated while it is read.
	full := file(`{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}`, 8)
	for _, n := range []int{4, 20, len(full) - 3} {
		r, err := safetensors.NewReader(bytes.NewReader(full[:n]), int64(len(full)))
		if err == nil {
			_, err = r.Tensor("a")
		}
		if err == nil {
			t.Errorf("%d of %d bytes were enough", n, len(full))
		}
	}
	// Trailing spaces and keys of later versions are fine.
	ok := file(`{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4],"new":{"x":[1]}}}   `, 4)
	if _, err := safetensors.NewReader(bytes.NewReader(ok), int64(len(ok))); err != nil {
		t.Error(err)
	}
}

// lying is a reader of endless zeros behind a real header.
type lying struct{ head []byte }

func (l lying) ReadAt(p []byte, off int64) (int, error) {
	clear(p)
	if off < int64(len(l.head)) {
		return copy(p, l.head[off:]), io.EOF
	}
	return 0, io.EOF
}

// TestClaimsCostNothing: a header that claims 100 MB of itself in a file that claims to be larger takes no such memory.
func TestClaimsCostNothing(t *testing.T) {
	l := lying{binary.LittleEndian.AppendUint64(nil, 100_000_000)}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := safetensors.NewReader(l, 1<<40)
	runtime.ReadMemStats(&after)
	allocated := after.TotalAlloc - before.TotalAlloc
	if !errors.Is(err, safetensors.ErrFormat) || allocated > 1<<16 {
		t.Errorf("%d bytes, %v", allocated, err)
	}
}

// FuzzReader: no input panics, and what is read can be written and read again.
func FuzzReader(f *testing.F) {
	for _, name := range []string{"all", "wide", "bare", "metadata"} {
		b, err := os.ReadFile("testdata/" + name + ".safetensors")
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	for _, c := range corrupt {
		f.Add(c.data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := safetensors.NewReader(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			return
		}
		tensors, err := r.All(safetensors.Widen())
		if err != nil {
			return
		}
		var b bytes.Buffer
		if err := safetensors.Write(&b, tensors, r.Metadata()); err != nil {
			t.Fatal(err)
		}
		again, err := safetensors.NewReader(bytes.NewReader(b.Bytes()), int64(b.Len()))
		if err != nil {
			t.Fatal(err)
		}
		back, err := again.All()
		if err != nil {
			t.Fatal(err)
		}
		same(t, back, tensors)
	})
}

func Example() {
	dir, _ := os.MkdirTemp("", "")
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "model.safetensors")
	err := safetensors.Save(path, map[string]*amp.Tensor{
		"fc.weight": amp.From([]float32{1, 2, 3, 4}, 2, 2),
		"fc.bias":   amp.FromFloat64s(amp.Float16, []float64{0.5, -0.5}),
	}, map[string]string{"format": "pt"})
	if err != nil {
		fmt.Println(err)
		return
	}
	tensors, metadata, err := safetensors.Load(path)
	fmt.Println(tensors["fc.bias"].DType(), tensors["fc.bias"].Float64s(), metadata["format"], err)
	// Output: float16 [0.5 -0.5] pt <nil>
}
