//go:build !unix

package amp

import "os"

// interruptSelf ends the program as an interrupt does. A process on Windows can't send Ctrl+C to itself alone, only to all that share its
// console; its exit code for it is STATUS_CONTROL_C_EXIT.
func interruptSelf() {
	code := uint32(0xC000013A)
	os.Exit(int(int32(code)))
}
