package install

import (
	"os/exec"
	"syscall"
)

// ownGroup starts cmd in a process group of its own, so that Ctrl-C on the terminal reaches us first and the whole group can
// be stopped together.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

func killGroup(pid int, hard bool) {
	sig := syscall.SIGTERM
	if hard {
		sig = syscall.SIGKILL
	}
	_ = syscall.Kill(-pid, sig)
}
