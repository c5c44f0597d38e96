package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
)

// browsers are the names a Chromium goes by, as the browser tests look for it.
var browsers = []string{"chromium", "chromium-browser", "google-chrome"}

// chromium installs Debian's package where that may be done and no browser is there. Where it can't, the browser tests are
// counted as skipped; that is no failure of the project, so it is none here.
func (r *runner) chromium(ctx context.Context) (string, error) {
	if os.Getenv("CHROME") != "" {
		return "", nil
	}
	for _, name := range browsers {
		if _, err := exec.LookPath(name); err == nil {
			return "", nil
		}
	}
	if _, err := exec.LookPath("apt-get"); err != nil || os.Geteuid() != 0 {
		fmt.Println("no Chromium, and it can't be installed here (needs root and apt-get): browser tests will be skipped")
		return "", nil
	}
	fmt.Println("installing Chromium for the browser tests")
	for _, args := range [][]string{{"update", "-q"}, {"install", "-y", "-q", "--no-install-recommends", "chromium", "fonts-dejavu-core"}} {
		cmd := r.command(ctx, r.root, "apt-get", args...)
		cmd.Env = append(cmd.Env, "DEBIAN_FRONTEND=noninteractive")
		if out, err := cmd.CombinedOutput(); err != nil {
			fmt.Printf("Chromium can't be installed, browser tests will be skipped: apt-get %s: %v\n%s\n", args[0], err, lastLines(out, 3))
			return "", nil
		}
	}
	return "", nil
}

// lastLines returns the end of a program's output.
func lastLines(out []byte, n int) string {
	end := len(out)
	for i := end - 1; i >= 0; i-- {
		if out[i] == '\n' && i < end-1 {
			if n--; n == 0 {
				return string(out[i+1 : end])
			}
		}
	}
	return string(out)
}
