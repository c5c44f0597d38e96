package cudart

// Launches on lists of tensors (kernels/lists.h): calls that follow each other are gathered, and the blocks of a grid dealt out to their
// tensors.

const (
	listTensors = 64 // of a launch
	listThreads = 256
)

// A list is struct List.
type list struct {
	n     [listTensors]int64
	begin [listTensors + 1]int32
	count int32
}

// lay gives the tensor behind the last, of n elements, the blocks from the first on, and returns the one behind them.
func (l *list) lay(n int, first, blocks int32) int32 {
	l.n[l.count], l.begin[l.count] = int64(n), first
	l.count++
	l.begin[l.count] = first + blocks
	return first + blocks
}

// full says whether no other tensor has room.
func (l *list) full() bool { return l.count == listTensors }
