//go:build !linux

package browser

import "syscall"

// endWithUs does nothing: only Linux can tie a child to its parent.
func endWithUs() *syscall.SysProcAttr { return nil }
