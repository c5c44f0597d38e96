package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
)

var updateOnce sync.Once

// debian installs packages of Debian's where that may be done. Where it can't, it says what follows from that.
func (r *runner) debian(ctx context.Context, what, otherwise string, packages ...string) {
	if _, err := exec.LookPath("apt-get"); err != nil || os.Geteuid() != 0 {
		fmt.Printf("no %s, and it can't be installed here (needs root and apt-get): %s\n", what, otherwise)
		return
	}
	fmt.Printf("installing %s\n", what)
	failed := ""
	apt := func(args ...string) {
		cmd := r.command(ctx, r.root, "apt-get", args...)
		cmd.Env = append(cmd.Env, "DEBIAN_FRONTEND=noninteractive")
		if out, err := cmd.CombinedOutput(); err != nil {
			failed = fmt.Sprintf("apt-get %s: %v\n%s", args[0], err, lastLines(out, 3))
		}
	}
	updateOnce.Do(func() { apt("update", "-q") })
	if failed == "" {
		apt(append(strings.Fields("install -y -q --no-install-recommends"), packages...)...)
	}
	if failed != "" {
		fmt.Printf("%s can't be installed, %s: %s\n", what, otherwise, failed)
	}
}
