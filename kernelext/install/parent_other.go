//go:build !linux

package install

import "syscall"

// dieWithParent is a Linux service; elsewhere JupyterLab outlives a launcher that is killed with SIGKILL.
func dieWithParent(*syscall.SysProcAttr) {}
