package amp

import (
	"sync"
	"syscall"
)

// systemMemory returns the bytes of memory and swap that this machine has, 0 if that is unknown. A block beyond it would end the
// process instead of being refused.
var systemMemory = sync.OnceValue(func() uint64 {
	var info syscall.Sysinfo_t
	if syscall.Sysinfo(&info) != nil {
		return 0
	}
	return (uint64(info.Totalram) + uint64(info.Totalswap)) * uint64(info.Unit)
})
