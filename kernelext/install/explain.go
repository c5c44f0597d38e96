package install

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"
)

// A StepError is a failed step together with what its command printed; its message ends with what to do.
type StepError struct {
	Step   string // what was being done, e.g. "installing JupyterLab"
	Err    error
	Output string // tail of what the command printed
	Advice string // one sentence that says what to do
}

func (e *StepError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %v", e.Step, e.Err)
	if out := essence(e.Output); out != "" {
		b.WriteString("\n    " + strings.ReplaceAll(out, "\n", "\n    "))
	}
	if e.Advice != "" {
		b.WriteString("\n" + e.Advice)
	}
	return b.String()
}

func (e *StepError) Unwrap() error { return e.Err }

// explain wraps a failure with the advice that its cause calls for. home is the folder that is being written.
func explain(step, home string, err error, output string) error {
	if err == nil {
		return nil
	}
	var done *StepError
	if errors.As(err, &done) {
		return err
	}
	return &StepError{Step: step, Err: err, Output: output, Advice: advice(home, err, output)}
}

func advice(home string, err error, output string) string {
	text := strings.ToLower(output + "\n" + err.Error())
	has := func(parts ...string) bool {
		for _, p := range parts {
			if strings.Contains(text, p) {
				return true
			}
		}
		return false
	}
	switch {
	case errors.Is(err, syscall.ENOSPC) || has("no space left on device", "disk quota exceeded"):
		return fmt.Sprintf("The disk is full. Free about 2 GB, or point HALFTONE_HOME (now %s), GOCACHE and TMPDIR at a larger disk; "+
			"then run the same command again: it continues where it stopped.", home)
	case errors.Is(err, syscall.EROFS) || has("read-only file system"):
		return fmt.Sprintf("This file system is read-only. Set HALFTONE_HOME (now %s), GOCACHE and GOMODCACHE to folders that you can write.", home)
	case errors.Is(err, fs.ErrPermission) || has("permission denied"):
		return fmt.Sprintf("You may not write there. Set HALFTONE_HOME (now %s) to a folder of your own, or give the folder back to your user.", home)
	case has("hashes are required", "do not match the hashes", "checksum mismatch"):
		return "A download does not have the pinned checksum. Check the mirror or proxy in between; nothing was installed from it."
	case has("no such host", "temporary failure in name resolution", "failed to establish a new connection", "dial tcp",
		"connection refused", "network is unreachable", "connection reset", "i/o timeout", "read timed out", "proxyerror",
		"no matching distribution found", "tls handshake timeout", "newconnectionerror", "nameresolutionerror", "module lookup disabled"):
		return "A download failed. Check the network (and HTTPS_PROXY, GOPROXY, PIP_INDEX_URL where your network needs them), " +
			"then run the same command again: it continues where it stopped."
	}
	return ""
}

// essence returns the lines of a command's output that name an error, or its last ones.
func essence(output string) string {
	var errs []string
	for line := range strings.Lines(output) {
		if strings.HasPrefix(line, "ERROR") || strings.HasPrefix(line, "error:") || strings.HasPrefix(line, "OSError") {
			errs = append(errs, strings.TrimSpace(line))
		}
	}
	text := strings.Join(errs, "\n")
	if text == "" {
		text = output
	}
	const long = 300
	lines := strings.Split(tail(text, 8), "\n")
	for i, line := range lines {
		if r := []rune(line); len(r) > long {
			lines[i] = string(r[:long]) + "…"
		}
	}
	return strings.Join(lines, "\n")
}

// tail returns the last n non-empty lines of s.
func tail(s string, n int) string {
	var lines []string
	for line := range strings.SplitSeq(strings.TrimSpace(s), "\n") {
		if strings.TrimSpace(line) != "" {
			lines = append(lines, strings.TrimRight(line, " \r"))
		}
	}
	if len(lines) > n {
		lines = lines[len(lines)-n:]
	}
	return strings.Join(lines, "\n")
}

// IsOffline tells whether an installation failed for want of a network.
func IsOffline(err error) bool {
	return err != nil && strings.HasPrefix(advice("", err, ""), "A download failed")
}
