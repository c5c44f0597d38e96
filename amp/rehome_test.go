package amp

import (
	"bytes"
	"errors"
	"slices"
	"testing"
)

// outside is memory that counts the changes it is told of, and what it held then.
type outside struct {
	mem   []byte
	told  int
	freed int
	seen  float32
}

func (o *outside) Bytes() []byte { return o.mem }
func (o *outside) Len() int      { return len(o.mem) }
func (o *outside) Free()         { o.freed++ }
func (o *outside) BeforeChange() {
	o.told++
	o.seen = elements[float32](&Tensor{st: &storage{mem: o.mem}})[0]
}

func newOutside(n int) *outside {
	b, _ := theCPU.Alloc(n)
	clear(b.Bytes())
	return &outside{mem: b.Bytes()[:n]}
}

func TestRehome(t *testing.T) {
	if home() != "cpu" {
		t.Skip("the buffers of this test are the host's")
	}
	s := NewScope()
	defer s.Close()
	w := From([]float32{1, 2, 3, 4}, 2, 2).SetName("w").RequireGrad()
	view := Detach(s, w)
	version := w.Version()
	o := newOutside(64)
	w.Rehome(o, true)
	if !slices.Equal(w.Float64s(), []float64{1, 2, 3, 4}) || !slices.Equal(view.Float64s(), w.Float64s()) || w.Version() == version {
		t.Fatalf("%v %v version %d", w, view, w.Version())
	}
	told := 0
	// Everything that changes elements in place tells first.
	for name, change := range map[string]func(){
		"SetValues": func() { SetValues(w, []float32{5, 6, 7, 8}) },
		"Assign":    func() { Assign(w, From([]float32{9, 6, 7, 8}, 2, 2)) },
		"ReadRaw":   func() { _ = ReadRaw(bytes.NewReader(make([]byte, 16)), w) },
		"add_":      func() { AddInPlace(s.NoGrad(), w, Scalar(float32(1))) },
		"sgd_": func() {
			w.SetGrad(From([]float32{1, 1, 1, 1}, 2, 2))
			UpdateSGD(w, nil, Update{LR: 1})
		},
		"state": func() {
			p := From([]float32{1, 1, 1, 1}, 2, 2)
			p.SetGrad(From([]float32{1, 1, 1, 1}, 2, 2))
			UpdateSGD(p, w, Update{LR: 1, Momentum: 0.5})
		},
	} {
		before := Values[float32](w)[0]
		change()
		if o.told == told || o.seen != before {
			t.Errorf("%s: told %d times in all, when the first element was %v; it was %v", name, o.told, o.seen, before)
		}
		told = o.told
	}
	if view.Float64s()[0] != w.Float64s()[0] {
		t.Error("the view stayed behind")
	}
	_ = w.Float64s()
	Mul(s, w, w).Free()
	if o.told != told {
		t.Error("reading is no change")
	}
	p := newOutside(16)
	copy(p.mem, []byte{0, 0, 128, 63}) // 1
	w.Rehome(p, false)
	if w.Float64s()[0] != 1 || o.freed != 1 {
		t.Errorf("%v, the old memory was freed %d times", w, o.freed)
	}
	for _, bad := range []struct {
		t    *Tensor
		b    Buffer
		kind error
	}{{Mul(s, w, w), newOutside(64), ErrArgument}, {view, newOutside(64), ErrArgument}, {w, newOutside(8), ErrMemory}} {
		if err := Maybe(func() { bad.t.Rehome(bad.b, true) }); !errors.Is(err, bad.kind) {
			t.Errorf("%v, want %v", err, bad.kind)
		}
	}
}

func TestSkipInit(t *testing.T) {
	s := NewScope(Seed(3))
	defer s.Close()
	skip := s.SkipInit()
	a := Randn(skip, Float32, 0, 1, 3, 4)
	RandInt(skip, 0, 5, 2)
	if s.SkipsInit() || !skip.SkipsInit() || !slices.Equal(a.Shape(), []int{3, 4}) || s.Random().State().Counter != 0 {
		t.Errorf("%v, the stream is at %+v", a.Shape(), s.Random().State())
	}
	if got := Full(skip, Float32, 2, 2).Float64s(); !slices.Equal(got, []float64{2, 2}) {
		t.Errorf("constants are kept: %v", got)
	}
}

func TestLoopAndCloseHooks(t *testing.T) {
	root := NewScope()
	var order []string
	note := func(what string) func() error {
		return func() error { order = append(order, what); return nil }
	}
	root.OnStepEnd(func(int) error { return note("step")() })
	root.OnLoopEnd(note("loop"))
	root.OnClose(note("close"))
	for range root.Steps(2) {
	}
	for range root.Steps(5) {
		break
	}
	func() {
		defer func() { _ = recover() }()
		for range root.Steps(5) {
			panic("in a step")
		}
	}()
	c := root.Child()
	c.Close()
	root.Close()
	root.Close()
	if want := []string{"step", "step", "loop", "step", "loop", "close"}; !slices.Equal(order, want) {
		t.Errorf("%v, want %v", order, want)
	}
	root = NewScope()
	defer func() {
		if err := Maybe(root.Close); !errors.Is(err, ErrHook) {
			t.Error(err)
		}
	}()
	root.OnClose(func() error { return errors.New("full") })
	root.OnLoopEnd(func() error { return errors.New("full") })
	if err := Maybe(func() {
		for range root.Steps(1) {
		}
	}); !errors.Is(err, ErrHook) {
		t.Error(err)
	}
}
