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

// blank clears the lists of what was launched: a later launch of fewer tensors would name, behind its last, memory that has been freed since.
func (b *batch) blank() {
	switch b.op.Name {
	case "norm_add_", "clip_norm_":
		clear(b.clip.ptr[:])
	case "copy_", "cast":
		clear(b.copies.to[:])
		clear(b.copies.from[:])
		clear(b.copies.told[:])
	case "unscale_":
		clear(b.unscale.ptr[:])
		clear(b.unscale.told[:])
	default:
		clear(b.update.ptr[:])
	}
}
