package store

import (
	"os"
	"syscall"
)

// blocks returns the bytes that a file takes on its device.
func blocks(info os.FileInfo) int64 { return info.Sys().(*syscall.Stat_t).Blocks * 512 }
