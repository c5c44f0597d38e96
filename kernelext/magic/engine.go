package magic

import (
	"context"
	"errors"
	"fmt"
	"sync"
)

// An Engine answers the %amp lines of one notebook. It is safe across goroutines.
type Engine struct {
	// File is where cells read the settings; "" writes none.
	File string

	// Versions are rows of name and version, in order.
	Versions [][2]string

	// Devices lists what cells can run on; nil means the CPU alone.
	Devices func() []Device

	// Sessions is the store of live objects; nil: this kernel has none.
	Sessions Sessions

	// Doctor looks at the installation; nil: it cannot.
	Doctor func(ctx context.Context) ([]Check, error)

	// Usage returns what the last %%amp cell left about itself; nil or false: nothing.
	Usage func() (Usage, bool)

	mu       sync.Mutex
	settings Settings
}

// A Device is one that cells can ask for by name.
type Device struct {
	Name   string // as for amp.On
	Detail string
	Err    string // why it cannot be used, "" if it can
}

// A Check is one row of the doctor's report.
type Check struct {
	Name, Version, Path string
	Status              string // "ok", "warn" or "bad"
	Detail, Fix         string
}

// Usage is what the program of an %%amp cell says about itself when it ends.
type Usage struct {
	Seconds float64          `json:"seconds"` // the body ran
	Peak    map[string]int64 `json:"peak"`    // most bytes in tensors at once, by device
	Steps   int              `json:"steps"`   // training steps
}

// Sessions is the store of objects that live between cells.
type Sessions interface {
	List() ([]Object, error)
	Drop(name string) error
	Save(name, file string) error
	Load(name, file string) error
}

// An Object is one that lives between cells.
type Object struct {
	Name   string
	Kind   string // "model", "optimizer", "scaler", "tensor" …
	Bytes  int64
	Detail string // dtypes and shapes, steps committed
}

// Settings returns what is set now.
func (e *Engine) Settings() Settings {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.settings.clone()
}

// set changes the settings and writes them for the next cell.
func (e *Engine) set(change func(*Settings)) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	next := e.settings.clone()
	change(&next)
	if e.File != "" {
		if err := next.Write(e.File); err != nil {
			return fmt.Errorf("the settings cannot be written: %w", err)
		}
	}
	e.settings = next
	return nil
}

// Reset forgets all settings and writes the file as cells are to find it.
func (e *Engine) Reset() error { return e.set(func(s *Settings) { *s = Settings{} }) }

// Run answers one line. The error is an *Error unless something outside the line went wrong.
func (e *Engine) Run(ctx context.Context, l Line) (Answer, error) {
	a, err := e.run(ctx, l.Words)
	var wrong *Error
	if errors.As(err, &wrong) {
		wrong.Line, wrong.Source = l.Index+1, l.Text
	}
	return a, err
}

func (e *Engine) run(ctx context.Context, words []Word) (Answer, error) {
	if len(words) == 0 {
		return e.help(nil)
	}
	c := lookup(words[0].Text)
	if c == nil {
		return Answer{}, wrong(words[0].Text, "command of %amp", commandNames())
	}
	return c.run(e, ctx, texts(words[1:]))
}
