package install

import "syscall"

// dieWithParent makes the kernel stop the child when we are killed and cannot do it ourselves.
func dieWithParent(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGTERM }
