package frames

// callers fills rets with the return addresses of the frames of the stack, innermost first, beginning with that of its caller, and returns how many
// there are. It follows the chain of frame pointers, which the Go compiler keeps on this processor. It is in assembly because the stack
// must not move meanwhile, and a goroutine is not stopped in assembly.
//
//go:noescape
func callers(rets []uintptr) int
