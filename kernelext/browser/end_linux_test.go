package browser

import "syscall"

// endWithUs makes a child end, as by SIGTERM, when this process is killed before it can end it.
func endWithUs() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM} }
