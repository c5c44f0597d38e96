package session

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/internal/optional"
	"github.com/halftone-ml/halftone/kernelext/session/store"
)

// Kinds of errors that the functions of this package panic with, as *amp.Error; amp.Maybe returns them.
var (
	ErrStructure = errors.New("what is kept was made otherwise")
	ErrSpace     = store.ErrSpace
	ErrBusy      = store.ErrBusy
)

// A session is this process's part of the notebook's session.
type session struct {
	mu    sync.Mutex // of commits and of what is attached
	st    *store.Store
	root  *amp.Scope // joined last
	parts map[string]part
	order []string
	// owners says to which object's memory a tensor belongs, so that an optimizer knows whose parameters it moves.
	owners map[*amp.Tensor]*store.Object
}

// A part is what this process has of one object.
type part interface {
	store.Source
	// prepare is called before each commit; it may make tensors part of the object.
	prepare(st *store.Store) error
	// settled says whether there is nothing for prepare to do, and that without waiting for a device.
	settled() bool
	// value is what the function that made the part returned.
	value() any
}

var (
	opening sync.Mutex
	current *session
)

// use returns the session, opened by the first call.
func use(op string) *session {
	opening.Lock()
	defer opening.Unlock()
	if current != nil {
		return current
	}
	st, err := store.OpenDefault()
	check(op, err)
	current = &session{st: st, parts: map[string]part{}, owners: map[*amp.Tensor]*store.Object{}}
	if lost := st.Lost(); lost != nil {
		note("the last cell ended before it committed its last changes; everything is as of training step %d, %s ago",
			lost.Step, time.Since(lost.At).Round(10*time.Millisecond))
	}
	return current
}

// note tells the reader of the notebook something.
func note(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "session: "+format+"\n", args...)
}

// fail panics as package amp does.
func fail(op string, kind error, fix, format string, args ...any) {
	panic(&amp.Error{Op: "session." + op, Kind: kind, Detail: fmt.Sprintf(format, args...), Fix: fix})
}

// misused is fail for a call that would be wrong in any session.
func misused(op, fix, format string, args ...any) { fail(op, amp.ErrArgument, fix, format, args...) }

// check panics with an error that the world has given.
func check(op string, err error) {
	if err == nil {
		return
	}
	kind := err
	for _, k := range []error{ErrSpace, ErrBusy, store.ErrCorrupt} {
		if errors.Is(err, k) {
			kind = k
		}
	}
	detail := strings.TrimPrefix(err.Error(), "session: ")
	if kind == err {
		detail = ""
	}
	detail = strings.TrimPrefix(detail, kind.Error()+": ")
	panic(&amp.Error{Op: "session." + op, Kind: kind, Detail: detail})
}

// NewScope is amp.NewScope, joined to the session: see Join. Every cell makes one:
//
//	root := session.NewScope(amp.Seed(1))
//	defer root.Close()
func NewScope(opts ...amp.Option) *amp.Scope { return Join(amp.NewScope(opts...)) }

// Join makes a root scope the one that the session goes by, and returns it. Its random stream goes on where the last cell that
// used its seed left it; what is kept is committed at the end of its steps (at most a fiftieth of the time is spent on that), of
// its loops, and when it closes (the scope s of an %%amp cell does so by itself), unless it closes because of a panic.
func Join(root *amp.Scope) *amp.Scope {
	if root.Step() >= 0 {
		misused("Join", "join the root scope, before the loop", "it is the scope of training step %d", root.Step())
	}
	c := use("Join")
	c.mu.Lock()
	c.root = root
	name := fmt.Sprintf("random %d", root.Random().State().Seed)
	for k := 2; c.parts[name] != nil && c.parts[name].value() != root.Random(); k++ {
		name = fmt.Sprintf("random %d (%d)", root.Random().State().Seed, k)
	}
	c.mu.Unlock()
	Random(name, root.Random())
	root.OnStepEnd(func(int) error { return c.endStep() })
	root.OnLoopEnd(Commit)
	root.OnCapture(Commit)
	root.OnClose(func() error {
		if panicking() {
			return nil
		}
		return Commit()
	})
	return root
}

// scope returns the root scope to build in.
func (c *session) scope(op string) *amp.Scope {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.root == nil {
		misused(op, "call root := session.NewScope() before, or session.Join(s) with the root scope that is there, as in an %%amp cell", "there is no scope to build in")
	}
	return c.root
}

// stream returns the object of the joined scope's random stream, which building in that scope has moved.
func (c *session) stream() *store.Object {
	c.mu.Lock()
	defer c.mu.Unlock()
	for name, p := range c.parts {
		if p.value() == any(c.root.Random()) {
			return c.st.Find(name)
		}
	}
	return nil
}

// Commit makes everything that is kept, as it is now, what the next cell finds. It is needed after changes outside the steps of a joined
// scope that does not close; call it between steps, not within one. The error says what could not be kept; then the last
// commit stays.
func Commit() error {
	c := use("Commit")
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.arrive(); err != nil {
		return err
	}
	if err := c.prepare(); err != nil {
		return err
	}
	return c.st.Commit()
}

// Cost returns the time that the steps of this cell have waited for commits, and for copies before a change, and the time since the cell
// first used the session. The first is at most about a fiftieth of the second. Waiting until a GPU has done what was queued is not in it.
func Cost() (spent, while time.Duration) {
	opening.Lock()
	defer opening.Unlock()
	if current == nil {
		return 0, 0
	}
	return current.st.Cost()
}

func (c *session) endStep() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.st.Later() {
		if !c.st.DueLater() {
			return c.st.EndStep(false)
		}
		if c.settled() {
			return c.st.EndStepLater()
		}
	}
	due := c.st.Due()
	if due {
		if err := c.arrive(); err != nil { // the device computes meanwhile: this is not what the commit costs
			return err
		}
	}
	start := time.Now()
	if due {
		if err := c.prepare(); err != nil {
			return err
		}
	}
	err := c.st.EndStep(due)
	if due {
		c.st.Charge(time.Since(start))
		c.st.CopyAhead()
	}
	return err
}

// arrive waits for the devices of the session, and for those whose tensors commits copy to the host: the copies would wait, too, and that
// be taken for their cost.
func (c *session) arrive() error {
	if err := c.st.Arrive(); err != nil {
		return err
	}
	devices := map[string]bool{}
	for _, p := range c.parts {
		if m, ok := p.(interface{ mirrors(devices map[string]bool) }); ok {
			m.mirrors(devices)
		}
	}
	for name := range devices {
		d, _, err := amp.OpenDevice(name)
		if err == nil {
			err = d.Sync()
		}
		if err != nil {
			return fmt.Errorf("session: %s: %w; what was committed before stays", name, err)
		}
	}
	return nil
}

// settled says whether a commit can be made of what is in the session's memory already.
func (c *session) settled() bool {
	for _, p := range c.parts {
		if !p.settled() {
			return false
		}
	}
	return true
}

func (c *session) prepare() error {
	for _, name := range c.order {
		if err := c.parts[name].prepare(c.st); err != nil {
			return fmt.Errorf("session: %s: %w", name, err)
		}
	}
	return nil
}

// live returns what this process has under a name already, which must be a T.
func live[T any](c *session, op, name string) (v T, ok bool) {
	c.mu.Lock()
	p := c.parts[name]
	c.mu.Unlock()
	if p == nil {
		return v, false
	}
	if v, ok = p.value().(T); !ok {
		fail(op, ErrStructure, "use another name", "%q is %T in this cell", name, p.value())
	}
	return v, true
}

// kept returns the object of a name; one of another kind or, if typ is given, another type is refused, or removed under Rebuild.
func (c *session) kept(op, name, kind, typ string, opts []Option) *store.Object {
	if name == "" {
		misused(op, "give it one", "the name is empty")
	}
	anew, o := rebuild(op, opts), c.st.Find(name)
	switch {
	case o == nil:
		return nil
	case o.Kind == kind && (typ == "" || o.Type == "" || o.Type == typ):
		return o
	case anew:
		check(op, c.st.Remove(name))
		return nil
	}
	if o.Kind == kind {
		c.refuse(op, name, "it is "+o.Type+", here "+typ)
	} else {
		c.refuse(op, name, "it is a "+o.Kind+", no "+kind)
	}
	return nil
}

// refuse words a mismatch and the choice.
func (c *session) refuse(op, name, detail string) {
	fail(op, ErrStructure, fmt.Sprintf("keep both by using another name, or build %q anew: add session.Rebuild() to the call, or session.Drop(%q) before it", name, name),
		"%q in the session does not fit: %s", name, detail)
}

// add notes a part, which the store knows already.
func (c *session) add(name string, p part) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.parts[name] == nil {
		c.order = append(c.order, name)
	}
	c.parts[name] = p
}

// An Option changes what is done with an object that is kept already.
type Option func(*options)

type options struct{ rebuild bool }

// Rebuild makes what does not fit what is kept under its name take its place, instead of being refused. What fits is kept.
func Rebuild() Option { return func(o *options) { o.rebuild = true } }

func rebuild(op string, opts []Option) bool {
	var o options
	optional.Apply(op, opts, &o, misused)
	return o.rebuild
}

// Drop removes objects from the session; names that it does not keep are left out. What this cell has made of them works on and is not
// kept; their memory goes back to the system when the cell ends.
func Drop(names ...string) {
	c := use("Drop")
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, name := range names {
		check("Drop", c.st.Remove(name))
		delete(c.parts, name)
		for i, n := range c.order {
			if n == name {
				c.order = append(c.order[:i:i], c.order[i+1:]...)
				break
			}
		}
	}
}

// panicking says whether a deferred call runs because of a panic.
func panicking() bool {
	pcs := make([]uintptr, 64)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs)])
	for {
		f, more := frames.Next()
		if f.Function == "runtime.gopanic" {
			return true
		}
		if !more {
			return false
		}
	}
}

// An Entry is one object of the session.
type Entry struct {
	Name, Kind, Type string
	Tensors          int
	Bytes            int64
}

// List returns what the session keeps, as of the last commit, in the order in which it was made. In the Halftone kernel `%amp session`
// shows it.
func List() []Entry {
	var list []Entry
	for _, o := range use("List").st.Objects() {
		list = append(list, Entry{o.Name, o.Kind, o.Type, len(o.Tensors), o.Size()})
	}
	return list
}
