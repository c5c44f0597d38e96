package amp

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"sync"
)

// InterruptEnv names the variable by which a notebook kernel asks that an interrupt (SIGINT) end the loops of a program and not the
// program: when it is "steps", scopes that were given no context have one that the first interrupt cancels. The step that
// runs is finished, Steps yields no other, and what follows the loop runs: figures are shown, files are written. The next
// interrupt ends the program as ever. While no loop of Steps runs, and nobody has asked a scope for its Context, interrupts
// do what they do in any Go program.
const InterruptEnv = "HALFTONE_INTERRUPT"

// An interruption is the context that an interrupt cancels, and who looks at it.
type interruption struct {
	ctx    context.Context
	cancel context.CancelFunc

	mu      sync.Mutex
	signals chan os.Signal // nil while nobody looks
	loops   int            // loops of Steps that run, and 1 for good after a question for the context
	asked   bool
}

// interrupts is nil outside notebooks.
var interrupts = sync.OnceValue(func() *interruption {
	if os.Getenv(InterruptEnv) != "steps" {
		return nil
	}
	i := &interruption{}
	i.ctx, i.cancel = context.WithCancel(context.Background())
	return i
})

// defaultContext is the context of a scope that was given none.
func defaultContext() context.Context {
	if i := interrupts(); i != nil {
		return i.ctx
	}
	return context.Background()
}

// watch notes that a loop looks at ctx until the returned function is called.
func watch(ctx context.Context) (leave func()) {
	i := interrupts()
	if i == nil || ctx != i.ctx {
		return func() {}
	}
	i.enter()
	return i.leave
}

// ask notes that ctx is looked at from now on.
func ask(ctx context.Context) {
	i := interrupts()
	if i == nil || ctx != i.ctx {
		return
	}
	i.mu.Lock()
	first := !i.asked
	i.asked = true
	i.mu.Unlock()
	if first {
		i.enter()
	}
}

func (i *interruption) enter() {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.loops++; i.loops > 1 || i.ctx.Err() != nil {
		return
	}
	i.signals = make(chan os.Signal, 1)
	signal.Notify(i.signals, os.Interrupt)
	go i.listen(i.signals)
}

// leave gives signals back. One that has come and was not heard is sent again.
func (i *interruption) leave() {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.loops--; i.loops > 0 || i.signals == nil {
		return
	}
	signal.Stop(i.signals)
	select {
	case <-i.signals:
		interruptSelf()
	default:
	}
	close(i.signals)
	i.signals = nil
}

func (i *interruption) listen(signals chan os.Signal) {
	if _, ok := <-signals; !ok {
		return
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.signals == signals {
		signal.Stop(signals) // the next one ends the program
		i.signals = nil
	}
	fmt.Fprintln(os.Stderr, "Interrupted: the loop ends with this step, and what follows it runs. Interrupt again to end the cell at once.")
	i.cancel()
}
