package nn

import (
	"errors"
	"strings"
	"testing"

	"github.com/halftone-ml/halftone/amp"
)

// TestLayersRefuseByTheirOwnName what is too large to make, and an input that has no features.
func TestLayersRefuseByTheirOwnName(t *testing.T) {
	s := amp.NewScope()
	defer s.Close()
	x := amp.Scalar(float32(1))
	for _, c := range []struct {
		want string
		kind error
		call func()
	}{
		{"NewLinear: bad argument: sizes [1099511627776 1099511627776]", amp.ErrArgument, func() { NewLinear(s, 1<<40, 1<<40) }},
		{"NewLinear: bad argument: sizes [4611686018427387904 1]", amp.ErrArgument, func() { NewLinear(s, 1<<62, 1) }},
		{"NewGRU: bad argument: 4611686018427387905 layers", amp.ErrArgument, func() { NewGRU(s, 3, 4, RecurrentOptions{Layers: 1<<62 + 1}) }},
		{"NewLSTM: bad argument: -1 layers", amp.ErrArgument, func() { NewLSTM(s, 3, 4, RecurrentOptions{Layers: -1}) }},
		{"gru_cell: shape mismatch: x is []", amp.ErrShape, func() { NewGRUCell(s, 3, 4).Forward(s, x) }},
		{"lstm_cell: shape mismatch: x is []", amp.ErrShape, func() { NewLSTMCell(s, 3, 4).Forward(s, x) }},
		{"rnn_tanh_cell: shape mismatch: x is []", amp.ErrShape, func() { NewRNNCell(s, 3, 4).Forward(s, x) }},
	} {
		if err := amp.Maybe(c.call); !errors.Is(err, c.kind) || !strings.HasPrefix(err.Error(), "amp: "+c.want) {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
	if n := len(NewGRU(s, 3, 4, RecurrentOptions{}).Cells); n != 1 {
		t.Errorf("no number of layers stands for %d", n)
	}
}
