// Package testsignal lets tests interrupt programs that they start, even where they run in a background job of a shell.
package testsignal

import (
	"os"
	"os/signal"
	"syscall"
)

// Restore gives programs that are started from now on the interrupt and the hangup of a terminal. A shell without job control has the one
// ignored in what it starts in the background, nohup the other. What is ignored stays so in a new program, what is handled becomes the
// default there. This program goes on ignoring them.
func Restore() {
	for _, sig := range []os.Signal{os.Interrupt, syscall.SIGHUP} {
		if signal.Ignored(sig) {
			signal.Notify(make(chan os.Signal, 1), sig)
		}
	}
}
