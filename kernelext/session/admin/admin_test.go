package admin

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/amp/safetensors"
	"github.com/halftone-ml/halftone/kernelext/session/store"
)

// floats are elements as bytes.
func floats(n int, first float32) []byte {
	var b []byte
	for i := range n {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(first+float32(i)))
	}
	return b
}

// fill makes a session of a model, its optimizer, a value and a trace.
func fill(t *testing.T, path string) {
	t.Helper()
	s, err := store.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	net := &store.Object{Name: "net", Kind: store.KindModel, Type: "*main.Net", Structure: "main.Net\n"}
	put := func(o *store.Object, c content, fixed bool, tensors ...*store.Tensor) {
		if err := replace(s, o, tensors, c, fixed); err != nil {
			t.Fatal(err)
		}
	}
	put(net, content{elements: [][]byte{floats(6, 1), floats(20000, 2)}}, false,
		&store.Tensor{Name: "0.bias", DType: "float32", Shape: []int{2, 3}, Size: 24},
		&store.Tensor{Name: "0.weight", DType: "float32", Shape: []int{20000}, Size: 80000})
	put(&store.Object{Name: "opt", Kind: store.KindOptimizer, Of: map[string]uint64{"net": net.Birth}}, content{state: []byte(`{"steps":3}`), elements: [][]byte{floats(1, 9)}}, false,
		&store.Tensor{Name: "0.exp_avg", DType: "float32", Shape: []int{}, Size: 4})
	put(&store.Object{Name: "epoch", Kind: store.KindValue, Type: "int"}, content{state: []byte{3, 4, 0, 18}}, false)
	put(&store.Object{Name: "random", Kind: store.KindPosition, Type: "*amp.Stream"}, content{state: []byte(`{"seed":1,"counter":5}`)}, false)
	put(&store.Object{Name: "run", Kind: store.KindTrace, Type: "2 events"}, content{elements: [][]byte{[]byte("{} 13 bytes…")}}, true,
		&store.Tensor{Name: "json", Shape: []int{14}, Size: 14})
}

func newSession(t *testing.T) (string, Admin) {
	t.Helper()
	o, err := store.NewOwner(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = o.Close() })
	return o.Path(), New(o.Path(), nil, nil)
}

func listed(t *testing.T, a Admin) (names []string, byName map[string]Entry) {
	t.Helper()
	list, err := a.List()
	if err != nil {
		t.Fatal(err)
	}
	byName = map[string]Entry{}
	for _, e := range list {
		names = append(names, e.Name)
		byName[e.Name] = e
	}
	return names, byName
}

func TestListAndDrop(t *testing.T) {
	path, a := newSession(t)
	if names, _ := listed(t, a); len(names) != 0 {
		t.Error(names)
	}
	fill(t, path)
	names, by := listed(t, a)
	if want := []string{"net", "opt", "epoch", "random", "run"}; !slices.Equal(names, want) {
		t.Errorf("%v, want %v", names, want)
	}
	if e := by["net"]; e.Bytes != 80024 || e.Tensors != 2 || e.Size() != "78.1 KB" || e.Detail() != "*main.Net · 2 tensors · float32" {
		t.Errorf("%+v %s %s", e, e.Size(), e.Detail())
	}
	if d := by["random"].Detail(); !strings.Contains(d, `"counter":5`) {
		t.Error(d)
	}
	if err := a.Drop("nett"); !errors.Is(err, ErrUnknown) || !strings.Contains(err.Error(), "epoch, net, opt") {
		t.Error(err)
	}
	if err := a.Drop("net"); err != nil {
		t.Fatal(err)
	}
	if names, _ = listed(t, a); slices.Contains(names, "net") || len(names) != 4 {
		t.Error(names)
	}
	if err := a.Drop("*"); err != nil {
		t.Fatal(err)
	}
	if names, _ = listed(t, a); len(names) != 0 {
		t.Error(names)
	}
	s, err := store.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	if list, err := a.List(); err != nil || len(list) != 0 {
		t.Error("listing must work while a cell runs:", err)
	}
	_ = s.Close()
}

// TestSaveAndLoad: a whole session comes back bit for bit in another one, and one object of it under another name.
func TestSaveAndLoad(t *testing.T) {
	path, a := newSession(t)
	fill(t, path)
	dir := t.TempDir()
	all, net := filepath.Join(dir, "all.safetensors"), filepath.Join(dir, "net.safetensors")
	if err := a.Save("", all); err != nil {
		t.Fatal(err)
	}
	if err := a.Save("net", net); err != nil {
		t.Fatal(err)
	}
	if err := a.Save("nothing", net); !errors.Is(err, ErrUnknown) {
		t.Error(err)
	}
	// A model's file is a state dict to everyone.
	tensors, _, err := safetensors.Load(net)
	if err != nil || !slices.Equal(tensors["0.bias"].Shape(), []int{2, 3}) || tensors["0.bias"].Float64s()[5] != 6 {
		t.Fatalf("%v %v", tensors, err)
	}
	path2, b := newSession(t)
	if err := b.Load("", all); err != nil {
		t.Fatal(err)
	}
	same(t, path, path2, "net", "net")
	same(t, path, path2, "opt", "opt")
	same(t, path, path2, "epoch", "epoch")
	same(t, path, path2, "run", "run")
	if err := b.Load("copy", net); err != nil {
		t.Fatal(err)
	}
	same(t, path, path2, "net", "copy")
	if err := b.Load("other", all); err == nil || !strings.Contains(err.Error(), "holds no") {
		t.Error(err)
	}
	if err := b.Load("net", filepath.Join(dir, "missing")); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}

// same compares two objects of two sessions.
func same(t *testing.T, p, q, from, to string) {
	t.Helper()
	type whole struct {
		o        *store.Object
		elements [][]byte
		state    []byte
	}
	read := func(path, name string) (w whole) {
		s, err := store.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		if w.o = s.Find(name); w.o == nil {
			t.Fatalf("no %s", name)
		}
		if err := s.Attach(w.o, nil); err != nil {
			t.Fatal(err)
		}
		w.state = slices.Clone(w.o.State())
		for _, x := range w.o.Tensors {
			e := x.Elements()
			if b := x.Block(); b != nil {
				e = b.Bytes()
			}
			w.elements = append(w.elements, slices.Clone(e))
		}
		return w
	}
	a, b := read(p, from), read(q, to)
	if a.o.Kind != b.o.Kind || a.o.Type != b.o.Type || a.o.Birth != b.o.Birth || a.o.Of["net"] != b.o.Of["net"] || !bytes.Equal(a.state, b.state) {
		t.Errorf("%+v %q, %+v %q", a.o, a.state, b.o, b.state)
	}
	for i, x := range a.o.Tensors {
		y := b.o.Tensors[i]
		if x.Name != y.Name || x.DType != y.DType || !slices.Equal(x.Shape, y.Shape) || !bytes.Equal(a.elements[i], b.elements[i]) {
			t.Errorf("%s: %+v, %+v", from, x, y)
		}
	}
}

// TestLoadWeights takes a file from elsewhere: rounded to the model's dtypes, refused where it does not fit, or as a new model.
func TestLoadWeights(t *testing.T) {
	path, a := newSession(t)
	fill(t, path)
	file := filepath.Join(t.TempDir(), "torch.safetensors")
	save := func(tensors map[string]*amp.Tensor) {
		t.Helper()
		if err := safetensors.Save(file, tensors, nil); err != nil {
			t.Fatal(err)
		}
	}
	big := make([]float64, 20000)
	big[3] = 0.1
	save(map[string]*amp.Tensor{"0.bias": amp.FromFloat64s(amp.Float16, []float64{1, 2, 3, 4, 5, 6}, 2, 3), "0.weight": amp.From(big)})
	if err := a.Load("net", file); err != nil {
		t.Fatal(err)
	}
	s, err := store.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	o := s.Find("net")
	if err := s.Attach(o, nil); err != nil {
		t.Fatal(err)
	}
	got := math.Float32frombits(binary.LittleEndian.Uint32(o.Tensors[1].Block().Bytes()[12:]))
	if got != float32(0.1) || o.Birth != s.Find("opt").Of["net"] || o.Structure == "" {
		t.Errorf("%v, %+v", got, o)
	}
	_ = s.Close()
	save(map[string]*amp.Tensor{"0.bias": amp.From([]float32{1}), "1.weight": amp.From(big)})
	err = a.Load("net", file)
	for _, want := range []string{"0.bias is [1] in it, the model's [2 3]", "0.weight is missing in it", "1.weight is in it, and not in the model"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("no %q in %v", want, err)
		}
	}
	if err := a.Load("epoch", file); err == nil || !strings.Contains(err.Error(), "no model") {
		t.Error(err)
	}
	if err := a.Load("*", file); err == nil {
		t.Error("weights need a name")
	}
	if err := a.Load("fresh", file); err != nil {
		t.Fatal(err)
	}
	if _, by := listed(t, a); by["fresh"].Tensors != 2 || by["fresh"].Kind != store.KindModel {
		t.Errorf("%+v", by["fresh"])
	}
}
