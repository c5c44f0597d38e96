package amp

import (
	"errors"
	"math"
	"slices"
	"testing"
)

func logistic(x float64) float64 { return 1 / (1 + math.Exp(-x)) }

// byHand is one step of a cell for one element of the batch, written gate by gate from PyTorch's documentation.
func byHand(kind string, x []float64, h, c []float64, ih, hh, bi, bh []float64) (hNext, cNext []float64) {
	n := len(h)
	from := func(w, v, b []float64, row int) float64 {
		sum := b[row]
		for k, a := range v {
			sum += w[row*len(v)+k] * a
		}
		return sum
	}
	hNext, cNext = make([]float64, n), make([]float64, n)
	for k := range n {
		a := func(gate int) (float64, float64) {
			return from(ih, x, bi, gate*n+k), from(hh, h, bh, gate*n+k)
		}
		sum := func(gate int) float64 { p, q := a(gate); return p + q }
		switch kind {
		case "tanh":
			hNext[k] = math.Tanh(sum(0))
		case "relu":
			hNext[k] = math.Max(0, sum(0))
		case "gru":
			r, z := logistic(sum(0)), logistic(sum(1))
			xn, hn := a(2)
			hNext[k] = (1-z)*math.Tanh(xn+r*hn) + z*h[k]
		case "lstm":
			i, f, g, o := logistic(sum(0)), logistic(sum(1)), math.Tanh(sum(2)), logistic(sum(3))
			cNext[k] = f*c[k] + i*g
			hNext[k] = o * math.Tanh(cNext[k])
		}
	}
	return hNext, cNext
}

// TestRecurrentValues runs every cell and layer against the formulas, forward and in reverse.
func TestRecurrentValues(t *testing.T) {
	root := NewScope(Seed(6))
	defer root.Close()
	const steps, batch, features, hidden = 5, 2, 3, 4
	for kind, gates := range map[string]int{"tanh": 1, "relu": 1, "gru": 3, "lstm": 4} {
		x := Randn(root, Float64, 0, 1, steps, batch, features)
		h0, c0 := Randn(root, Float64, 0, 1, batch, hidden), Randn(root, Float64, 0, 1, batch, hidden)
		w := CellWeights{Randn(root, Float64, 0, 1, gates*hidden, features), Randn(root, Float64, 0, 1, gates*hidden, hidden), Randn(root, Float64, 0, 1, gates*hidden), Randn(root, Float64, 0, 1, gates*hidden)}
		for _, reverse := range []bool{false, true} {
			var y, lastH, lastC *Tensor
			step := map[string]func(x, h *Tensor) *Tensor{
				"tanh": func(x, h *Tensor) *Tensor { return RNNTanhCell(root, x, h, w) },
				"relu": func(x, h *Tensor) *Tensor { return RNNReLUCell(root, x, h, w) },
				"gru":  func(x, h *Tensor) *Tensor { return GRUCell(root, x, h, w) },
				"lstm": func(x, h *Tensor) *Tensor { next, _ := LSTMCell(root, x, h, c0, w); return next },
			}[kind]
			switch kind {
			case "tanh":
				y, lastH = RNNTanh(root, x, h0, w, reverse)
			case "relu":
				y, lastH = RNNReLU(root, x, h0, w, reverse)
			case "gru":
				y, lastH = GRU(root, x, h0, w, reverse)
			case "lstm":
				y, lastH, lastC = LSTM(root, x, h0, c0, w, reverse)
			}
			if !slices.Equal(y.shape, []int{steps, batch, hidden}) {
				t.Fatalf("%s: %v", kind, y.shape)
			}
			close := func(what string, got, want []float64) {
				for i, v := range want {
					if !(math.Abs(got[i]-v) <= 1e-12) {
						t.Fatalf("%s reverse %v: %s %v, want %v", kind, reverse, what, got, want)
					}
				}
			}
			xs, ys := x.Float64s(), y.Float64s()
			for b := range batch {
				h, c := h0.Float64s()[b*hidden:(b+1)*hidden], c0.Float64s()[b*hidden:(b+1)*hidden]
				for i := range steps {
					at := i
					if reverse {
						at = steps - 1 - i
					}
					k := at*batch + b
					h, c = byHand(kind, xs[k*features:(k+1)*features], h, c, w.IH.Float64s(), w.HH.Float64s(), w.BiasIH.Float64s(), w.BiasHH.Float64s())
					close("state", ys[k*hidden:(k+1)*hidden], h)
					if i == 0 { // a cell is the first step
						one := step(Reshape(root, Narrow(root, x, 0, at, 1), batch, features), h0)
						close("cell", one.Float64s()[b*hidden:(b+1)*hidden], h)
					}
				}
				close("last", lastH.Float64s()[b*hidden:(b+1)*hidden], h)
				if lastC != nil {
					close("last c", lastC.Float64s()[b*hidden:(b+1)*hidden], c)
				}
			}
		}
	}
}

// TestCellsUnderAutocast: products in the lower dtype, gates in float32, the state rounded; by the CPU lists nothing is lowered.
func TestCellsUnderAutocast(t *testing.T) {
	root := NewScope(Seed(1), Record(Decisions))
	defer root.Close()
	x, h := Randn(root, Float32, 0, 1, 2, 3), Randn(root, Float32, 0, 1, 2, 4)
	w := CellWeights{IH: Randn(root, Float32, 0, 1, 16, 3).RequireGrad(), HH: Randn(root, Float32, 0, 1, 16, 4).RequireGrad()}
	next, c := LSTMCell(root.Autocast(Float16), x, h, h, w)
	if next.dt != Float16 || c.dt != Float16 {
		t.Errorf("%v %v", next.dt, c.dt)
	}
	RNNTanhCell(root.Autocast(Float16), x, h, CellWeights{IH: Randn(root, Float32, 0, 1, 4, 3), HH: Randn(root, Float32, 0, 1, 4, 4)})
	ran := map[string]bool{}
	for _, e := range root.Trace().Events {
		want := map[string]DType{"linear": Float16, "lstm_gates_": Float16, "tanh": Float32, "add": Float32}
		if dt, ok := want[e.Op]; ok && e.Compute != dt {
			t.Errorf("%s ran in %v", e.Op, e.Compute)
		}
		ran[e.Op] = true
	}
	for _, op := range []string{"linear", "lstm_gates_", "tanh", "add"} {
		if !ran[op] {
			t.Errorf("no %s in the trace", op)
		}
	}
	y, last := GRU(root.Autocast(BFloat16), Reshape(root, x, 1, 2, 3), h, CellWeights{IH: Randn(root, Float32, 0, 1, 12, 3), HH: Randn(root, Float32, 0, 1, 12, 4)}, false)
	if y.dt != BFloat16 || last.dt != BFloat16 {
		t.Errorf("%v %v", y.dt, last.dt)
	}
	if next, _ := LSTMCell(root.Autocast(BFloat16, UseLists(CPULists)), x, h, h, w); next.dt != Float32 {
		t.Errorf("CPU lists: %v", next.dt)
	}
	Sum(root, next).Backward()
	if g := w.IH.Grad(); g == nil || g.dt != Float32 {
		t.Errorf("gradient %v", g)
	}
}

// TestCellsFromZeros: nil is a state of zeros.
func TestCellsFromZeros(t *testing.T) {
	root := NewScope(Seed(1))
	defer root.Close()
	x, zero := Randn(root, Float32, 0, 1, 3, 2, 5), Full(root, Float32, 0, 2, 4)
	w := CellWeights{IH: Randn(root, Float32, 0, 1, 16, 5), HH: Randn(root, Float32, 0, 1, 16, 4)}
	y, h, c := LSTM(root.Autocast(Float16), x, nil, nil, w, false)
	y0, h0, c0 := LSTM(root.Autocast(Float16), x, zero, zero, w, false)
	for i, pair := range [][2]*Tensor{{y, y0}, {h, h0}, {c, c0}} {
		if pair[0].dt != Float16 || !slices.Equal(pair[0].Float64s(), pair[1].Float64s()) {
			t.Errorf("result %d differs", i)
		}
	}
}

func TestCellRefusals(t *testing.T) {
	root := NewScope()
	defer root.Close()
	z := func(shape ...int) *Tensor { return Full(root, Float32, 0, shape...) }
	w := CellWeights{IH: z(12, 3), HH: z(12, 4)}
	for name, c := range map[string]struct {
		call func()
		kind error
	}{
		"state":     {func() { GRUCell(root, z(2, 3), z(3, 4), w) }, ErrShape},
		"vector":    {func() { GRUCell(root, z(2, 3), z(4), w) }, ErrShape},
		"rows":      {func() { LSTMCell(root, z(2, 3), z(2, 4), z(2, 4), w) }, ErrShape},
		"cell":      {func() { LSTMCell(root, z(2, 3), z(2, 3), z(2, 4), w) }, ErrShape},
		"features":  {func() { GRUCell(root, z(2, 5), z(2, 4), w) }, ErrShape},
		"one bias":  {func() { GRUCell(root, z(2, 3), z(2, 4), CellWeights{IH: w.IH, HH: w.HH, BiasIH: z(12)}) }, ErrArgument},
		"dtype":     {func() { GRUCell(root, z(2, 3), Full(root, Float64, 0, 2, 4), w) }, ErrDType},
		"no steps":  {func() { GRU(root, z(0, 2, 3), z(2, 4), w, false) }, ErrShape},
		"one step":  {func() { GRU(root, z(3), z(4), w, false) }, ErrShape},
		"long bias": {func() { GRUCell(root, z(2, 3), z(2, 4), CellWeights{w.IH, w.HH, z(3), z(3)}) }, ErrShape},
	} {
		if err := Maybe(c.call); !errors.Is(err, c.kind) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
