package cudart

import (
	"unsafe"

	"github.com/halftone-ml/halftone/amp"
)

// Launches of the gates of recurrent layers (kernels/rnn.cu).

const gateThreads = 256

// gatesArgs is struct Gates.
type gatesArgs struct {
	ptr       [8]uint64
	n         int64
	hidden, _ int32
}

func init() {
	register(launchGates, "lstm_gates_", "lstm_gates_backward_", "gru_gates_", "gru_gates_backward_")
}

func launchGates(l *launcher) bool {
	f := l.kernel(l.c.Op.CUDA, l.out.dt, amp.NoDType)
	if f == 0 {
		return false
	}
	state := 1 // the input that is [rows hidden]
	if l.c.Op.Name == "gru_gates_backward_" {
		state = 2
	}
	a := gatesArgs{n: int64(l.in[state].len()), hidden: int32(l.in[state].shape[1])}
	for i := range l.c.In {
		if !l.given(i) {
			continue
		}
		if !l.in[i].contiguous() {
			return false
		}
		a.ptr[i] = l.in[i].ptr
	}
	if a.n > 0 {
		l.run(f, [3]uint32{blocks(int(a.n), gateThreads), 1, 1}, [3]uint32{gateThreads, 1, 1}, 0, unsafe.Pointer(&a), unsafe.Sizeof(a))
	}
	return true
}
