package amp

import (
	"errors"
	"strings"
	"testing"
)

// TestNilInputsAreNamed checks that a nil input is an *Error that says which one it is, in rows and in functions that look at shapes
// before their row.
func TestNilInputsAreNamed(t *testing.T) {
	s := NewScope()
	defer s.Close()
	x := From([]float32{1, 2, 3, 4}, 2, 2)
	cell := CellWeights{IH: x}
	for want, call := range map[string]func(){
		"matmul: bad argument: b is nil":                   func() { MatMul(s, x, nil) },
		"div: bad argument: b is nil":                      func() { Div(s, x, nil) },
		"dropout: bad argument: the tensor is nil":         func() { Dropout(s, nil, 0.5) },
		"sort: bad argument: x is nil":                     func() { Sort(s, nil, 0, false) },
		"nll_loss: bad argument: target is nil":            func() { NLLLoss(s, x, nil) },
		"gaussian_nll_loss: bad argument: variance is nil": func() { GaussianNLLLoss(s, x, x, nil, 1e-6) },
		"kron: bad argument: b is nil":                     func() { Kron(s, x, nil) },
		"lstm_cell: bad argument: weight_hh is nil":        func() { LSTMCell(s, x, nil, nil, cell) },
		"gru: bad argument: the tensor is nil":             func() { GRU(s, nil, nil, cell, false) },
		"conv2d: bad argument: weight is nil":              func() { Conv2d(s, Reshape(s, x, 1, 1, 2, 2), nil, nil) },
		"relu: bad argument: the scope is nil":             func() { ReLU(nil, x) },
		"sum: bad argument: the scope is nil":              func() { Sum(nil, x) },
		"cross_entropy: bad argument: target is nil":       func() { CrossEntropy(s, x, nil) },
	} {
		err := Maybe(call)
		if !errors.Is(err, ErrArgument) || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, got %v", want, err)
		}
	}
}
