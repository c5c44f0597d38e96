package kernel

import (
	"strings"
	"testing"
)

// TestLastWords: the reason stays of a log, without colors and traces, and the variable is named.
func TestLastWords(t *testing.T) {
	t.Setenv("GOFLAGS", "-bogus")
	log := "E1127 20:52:45.790207   13482 main.go:191] \x1b[7;39;32m[d251d86f]\x1b[0m Error message\n" +
		"I1127 20:52:45.790250   13482 kernel.go:340] \x1b[7;39;32m[d251d86f]\x1b[0m started\n" +
		"E1127 20:52:45.790250   13482 goexec.go:258] \x1b[7;39;32m[d251d86f]\x1b[0m Failed to run `go mod init gonb_04a36916`:\n" +
		"go: parsing $GOFLAGS: unknown flag -bogus\n" +
		"F1127 20:52:45.790250   13482 main.go:231] \x1b[7;39;32m[d251d86f]\x1b[0m Failed to create go executor: exit status 1\n" +
		"main.runKernel\n\tgithub.com/janpfeifer/gonb@v0.11.4/main.go:229\nruntime.goexit\n\truntime/asm_amd64.s:1771\n" +
		"goroutine 1 [running]:\nmain.main()\n\t/x/main.go:9\n"
	want := "Failed to run `go mod init gonb_04a36916`:\ngo: parsing $GOFLAGS: unknown flag -bogus\nFailed to create go executor: exit status 1\n" +
		"the environment variable GOFLAGS is \"-bogus\": unset it"
	if got := lastWords(log); !strings.HasPrefix(got, want) || strings.Contains(got, ".go:") {
		t.Errorf("%q", got)
	}
	if got := lastWords(""); got != "" {
		t.Errorf("%q", got)
	}
}

// TestBrokenEnvironment: a user's Go that cannot work is named once, with the variable.
func TestBrokenEnvironment(t *testing.T) {
	s := startKernel(t, home(t), "GOFLAGS=-bogus")
	r := s.run("%%\nfmt.Println(1)")
	if r.reply["ename"] != "KernelBroken" || strings.Count(r.stderr, "GOFLAGS is \"") != 1 || strings.Contains(r.stderr, "\x1b") || strings.Count(r.stderr, "ended with status") > 1 {
		t.Errorf("%v %q", r.reply, r.stderr)
	}
}
