package main

import (
	"context"
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
	r.debian(ctx, "Chromium", "browser tests will be skipped", "chromium", "fonts-dejavu-core")
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
