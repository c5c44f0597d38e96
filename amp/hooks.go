package amp

import "fmt"

// Hooks of a root scope: where what is kept beyond a step, a loop or the program is brought up to date.

// OnStepEnd adds a hook that runs at the end of every step of Steps, with the step's number, after its temporaries are freed:
// the place to commit state. A hook's error panics with it.
func (s *Scope) OnStepEnd(hook func(step int) error) {
	s.needHook("OnStepEnd", hook == nil)
	s.root.mu.Lock()
	defer s.root.mu.Unlock()
	s.root.hooks = append(s.root.hooks, hook)
}

// OnLoopEnd adds a hook that runs when a loop of Steps ends, by break or a done context too, after the last step's own hooks; not when
// a panic ends it. A hook's error panics with it.
func (s *Scope) OnLoopEnd(hook func() error) {
	s.needHook("OnLoopEnd", hook == nil)
	s.root.mu.Lock()
	defer s.root.mu.Unlock()
	s.root.loops = append(s.root.loops, hook)
}

// OnCapture adds a hook that runs before Capture records a step, which has run once by then: the place to move tensors to where they
// are to stay. A hook's error panics with it.
func (s *Scope) OnCapture(hook func() error) {
	s.needHook("OnCapture", hook == nil)
	s.root.mu.Lock()
	defer s.root.mu.Unlock()
	s.root.captures = append(s.root.captures, hook)
}

// OnClose adds a hook that runs when the root scope is closed, before its tensors are freed. A hook's error panics with it.
func (s *Scope) OnClose(hook func() error) {
	s.needHook("OnClose", hook == nil)
	s.root.mu.Lock()
	defer s.root.mu.Unlock()
	s.root.close = append(s.root.close, hook)
}

// needHook refuses a hook that is nil: it would be called far from here.
func (s *Scope) needHook(method string, none bool) {
	if s.known(method); none {
		fail(method, ErrArgument, "pass a function", "the hook is nil")
	}
}

func (r *root) endStep(step int) {
	r.mu.Lock()
	hooks := r.hooks
	r.mu.Unlock()
	for _, h := range hooks {
		if err := h(step); err != nil {
			panic(&Error{Op: "Steps", Kind: ErrHook, Detail: fmt.Sprintf("step-end hook after step %d: %v", step, err)})
		}
	}
}

func (r *root) run(what string, list *[]func() error) {
	r.mu.Lock()
	hooks := *list
	r.mu.Unlock()
	for _, h := range hooks {
		if err := h(); err != nil {
			panic(&Error{Op: "Steps", Kind: ErrHook, Detail: fmt.Sprintf("%s: %v", what, err)})
		}
	}
}
