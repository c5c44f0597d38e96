package amp

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// A mutation is what FuzzOps does to the inputs of a call: other shapes, dtypes and strides than the op was made for.
type mutation struct {
	bytes []byte
	at    int
}

func (m *mutation) next() int {
	if len(m.bytes) == 0 {
		return 0
	}
	b := m.bytes[m.at%len(m.bytes)]
	m.at++
	return int(b)
}

// input makes a tensor or, one time in sixteen, nil.
func (m *mutation) input(s *Scope, asked []int, dt DType, nils bool) *Tensor {
	if nils && m.next()%16 == 15 {
		return nil
	}
	return m.tensor(s, asked, dt)
}

// tensor makes an input of an arbitrary shape near the one that was asked for.
func (m *mutation) tensor(s *Scope, asked []int, dt DType) *Tensor {
	shape := slices.Clone(asked)
	switch m.next() % 6 {
	case 1: // another size
		if len(shape) > 0 {
			shape[m.next()%len(shape)] = m.next() % 5
		}
	case 2: // another rank
		shape = append(shape, 1+m.next()%3)
	case 3:
		if len(shape) > 0 {
			shape = shape[1:]
		}
	case 4: // anything
		shape = nil
		for range m.next() % 5 {
			shape = append(shape, m.next()%4)
		}
	}
	if m.next()%4 == 0 {
		dt = AllDTypes()[m.next()%len(AllDTypes())]
	}
	values := make([]float64, length(shape))
	for i := range values {
		values[i] = float64(m.next()%7) - 3
	}
	t := fromFloat64s(dt, values, shape)
	if len(shape) >= 2 && m.next()%3 == 0 { // the same values with other strides
		a, b := m.next()%len(shape), m.next()%len(shape)
		t = Transpose(s, Contiguous(s, Transpose(s, t, a, b)), a, b)
	}
	if m.next()%5 == 0 && len(shape) > 0 { // a piece of a larger tensor
		d := m.next() % len(shape)
		t = Narrow(s, t, d, 0, t.shape[d])
		if t.shape[d] > 1 {
			t = Narrow(s, t, d, 1, t.shape[d]-1)
		}
	}
	if t.IsLeaf() && t.dt.IsFloat() {
		t.RequireGrad()
	}
	return t
}

// callMutated calls one case of an op with mutated inputs, under autocast or not, forward and backward. All that may come of it is a
// result or an *Error.
func callMutated(t *testing.T, name string, c opCase, bytes []byte) {
	t.Helper()
	m := &mutation{bytes: bytes}
	root := NewScope()
	defer root.Close()
	s := root
	switch m.next() % 4 {
	case 1:
		s = root.Autocast(Float16)
	case 2:
		s = root.Autocast(BFloat16, UseLists(CPULists))
	case 3:
		s = root.Eval()
	}
	dt := []DType{Float32, Float64, Float16, BFloat16}[m.next()%4]
	var in []*Tensor
	for _, i := range c.inputs {
		in = append(in, m.input(root, i.shape, dt, name != "cast")) // the case of cast calls the scope's own cast
	}
	defer func() {
		if r := recover(); r != nil {
			if _, ok := r.(*Error); !ok && !(slices.Contains(in, nil) && faultOfTest()) {
				var shapes []string
				for _, x := range in {
					if x == nil {
						shapes = append(shapes, "nil")
						continue
					}
					shapes = append(shapes, fmt.Sprintf("%v %v strides %v", x.dt, x.shape, x.strides))
				}
				t.Errorf("%s/%s of %v, bytes %v: %v", name, c.name, shapes, bytes, r)
			}
		}
	}()
	y := c.call(s, in)
	if y.Len() != length(y.shape) || len(y.Float64s()) != y.Len() {
		t.Errorf("%s/%s: a result of shape %v with %d elements", name, c.name, y.shape, len(y.Float64s()))
	}
	if y.RequiresGrad() && y.Len() > 0 {
		Sum(root, y).Backward()
	}
}

// faultOfTest says, in a deferred function, whether the panic began in a test file: a case that reads the shape of its own input.
func faultOfTest() bool {
	pc := make([]uintptr, 32)
	frames := runtime.CallersFrames(pc[:runtime.Callers(1, pc)])
	for panicked := false; ; {
		f, more := frames.Next()
		if panicked && !strings.HasPrefix(f.Function, "runtime.") {
			return strings.HasSuffix(f.File, "_test.go")
		}
		panicked = panicked || f.Function == "runtime.gopanic"
		if !more {
			return false
		}
	}
}

// FuzzOps gives every op inputs of shapes, strides and dtypes it was not made for, and nil: nothing but a result or an *Error may come of it.
func FuzzOps(f *testing.F) {
	names := caseNames()
	for i := range names {
		f.Add(uint16(i), []byte{1, 2, 3, 4})
	}
	f.Fuzz(func(t *testing.T, op uint16, bytes []byte) {
		name := names[int(op)%len(names)]
		for _, c := range opCases[name] {
			callMutated(t, name, c, bytes)
		}
	})
}

// TestEveryOpRefusesCleanly is FuzzOps with a few hundred mutations drawn for each op.
func TestEveryOpRefusesCleanly(t *testing.T) {
	for k, name := range caseNames() {
		t.Run(name, func(t *testing.T) {
			for i := range 60 {
				bits := make([]float64, 48)
				NewStream(uint64(1000*k+i)).fill(bits, func(u, v float64) (float64, float64) { return u, v })
				bytes := make([]byte, len(bits))
				for j, u := range bits {
					bytes[j] = byte(256 * u)
				}
				for _, c := range opCases[name] {
					callMutated(t, name, c, bytes)
				}
			}
		})
	}
}

// gradientRows are rows that no public function passes on unchecked, and whose names do not say so.
var gradientRows = []string{"max_pool_values", "conv_weight_grad", "feature_dropout", "recurrence", "batch_norm_stats", "batch_norm_sums", "ctc_nll", "ctc_loss_curvature"}

// caseNames are the ops that a program can call; rows that only gradients are made of get the shapes that forward has checked.
func caseNames() []string {
	var names []string
	for name := range opCases {
		if !strings.HasSuffix(name, "_backward") && !slices.Contains(gradientRows, name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}
