package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// endings are the signals that end a command. A closed terminal does not end one that nohup has started: to listen to a signal would be
// to no longer ignore it.
func endings() []os.Signal {
	if signal.Ignored(syscall.SIGHUP) {
		return []os.Signal{os.Interrupt, syscall.SIGTERM}
	}
	return []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP}
}

// oneSignal is how long signals count as one: timeout(1) sends its own twice, to the command and to its group.
const oneSignal = 400 * time.Millisecond

// letSecondKill gives signals their usual meaning back once the first has come: a command that does not end by it is ended by the second.
func letSecondKill(ctx context.Context, stop func()) {
	context.AfterFunc(ctx, func() {
		time.Sleep(oneSignal)
		stop()
	})
}

// within is f, or ctx's error as soon as that ends: a read of a terminal, a pipe or a lost file system may wait for ever, and nothing
// interrupts it. What f does then ends with the program.
func within[T any](ctx context.Context, f func() (T, error)) (T, error) {
	type result struct {
		v   T
		err error
	}
	done := make(chan result, 1)
	go func() {
		v, err := f()
		done <- result{v, err}
	}()
	select {
	case r := <-done:
		return r.v, r.err
	case <-ctx.Done():
		var none T
		return none, context.Cause(ctx)
	}
}
