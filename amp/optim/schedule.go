package optim

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/internal/absent"
)

// A Scheduler moves the learning rates of an optimizer. The rates at the start are set when it is made, as in torch.optim; call Step
// after the optimizer's, once per epoch or once per step as its numbers are meant. Those of this package are the only ones;
// NewLambdaLR makes one of any function.
type Scheduler interface {
	Step()
	LastLR() []float64 // of every group
	State() *ScheduleState
	LoadState(st *ScheduleState) error

	initial() // sets the rates at the start
	undo()    // forgets that it has begun
	restart() // begins again, within a sequence
	optimizer() Optimizer
}

// A ScheduleState is a scheduler's saved state, plain JSON. The learning rates themselves are in the optimizer's state.
type ScheduleState struct {
	Kind     string           `json:"kind"`       // "StepLR" …, the names of torch.optim.lr_scheduler
	Epoch    int              `json:"last_epoch"` // steps since the start
	BaseLRs  []float64        `json:"base_lrs,omitempty"`
	LastLRs  []float64        `json:"_last_lr,omitempty"`
	Settings json.RawMessage  `json:"settings,omitempty"` // of the kind
	Parts    []*ScheduleState `json:"_schedulers,omitempty"`
}

// A Schedule is a Scheduler of one rule.
type Schedule struct {
	opt    Optimizer
	rule   rule
	base   []float64 // the groups' rates that the rule starts from
	last   []float64
	epoch  int
	steps  int // of the optimizer at the last Step
	skips  int
	warned bool // of a step that followed only skipped ones
}

// A rule is one formula. Its exported fields are its settings, with torch's names in JSON.
type rule interface {
	kind() string
	fresh() rule                     // a rule of the same kind, to read settings into
	problem(groups int) string       // what is out of range, "" if nothing is
	next(s *Schedule, i int) float64 // torch's get_lr: the rate of group i from the present one
	at(s *Schedule, i int) float64   // the same without the present one, where torch has a closed form
}

func newSchedule(opt Optimizer, r rule) *Schedule {
	if absent.Is(opt) {
		misused("New"+r.kind(), "pass the optimizer", "no optimizer")
	}
	if p := r.problem(len(opt.Groups())); p != "" {
		misused("New"+r.kind(), "use values in range", "%s", p)
	}
	s := &Schedule{opt: opt, rule: r}
	for _, g := range opt.Groups() {
		if g.initial == nil {
			lr := g.LR()
			g.initial = &lr
		}
		s.base = append(s.base, *g.initial)
	}
	s.initial()
	return s
}

func (s *Schedule) initial()             { s.undo(); s.Step() }
func (s *Schedule) undo()                { s.epoch = -1; s.whole() }
func (s *Schedule) optimizer() Optimizer { s.made("Step"); return s.opt }

func (s *Schedule) restart() {
	s.epoch = 0
	s.whole()
	s.set(s.rule.at)
}

// Step moves on by one and sets the learning rates. After steps that were all skipped by a GradScaler it warns once, where torch warns
// (see amp.SetWarnings): the rate moves though the weights did not; CountApplied waits for them. It panics with amp.ErrArgument when groups
// were added since the schedule was made, and past the end of a OneCycleLR, and with amp.ErrCapture where a step is recorded, whose replays
// would not move on.
func (s *Schedule) Step() {
	s.made("Step")
	outside(s.rule.kind(), s.opt)
	s.notice()
	s.epoch++
	s.set(s.rule.next)
}

// outside refuses to move a schedule on in what Scope.Capture records: that is the host's, and no replay does it again.
func outside(kind string, o Optimizer) {
	for _, g := range o.Groups() {
		for _, p := range g.Params {
			if graph := amp.CapturingOn(p); graph != nil && graph.Recording() {
				panic(&amp.Error{Op: kind + ".Step", Kind: amp.ErrCapture, Detail: "no replay of the step that is recorded moves the schedule on",
					Fix: "call it after Capture and after each Replay, which follow the learning rate"})
			}
		}
	}
}

// notice warns once of a step after skipped ones.
func (s *Schedule) notice() {
	steps, skips := s.opt.progress()
	if skips > s.skips && steps == s.steps && !s.warned {
		s.warned = true
		amp.Warn("%s.Step: the GradScaler skipped the optimizer's step, so the learning rate moves on though no weight did; "+
			"to wait for applied steps make it optim.CountApplied(optim.New%[1]s(…))", s.rule.kind())
	}
	s.steps, s.skips = steps, skips
}

func (s *Schedule) set(f func(s *Schedule, i int) float64) {
	groups := s.opt.Groups()
	if len(groups) != len(s.base) {
		misused(s.rule.kind()+".Step", "make the schedule after the last AddGroup", "the optimizer has %d groups, the schedule was made for %d", len(groups), len(s.base))
	}
	values := make([]float64, len(groups)) // all first: a rule that panics leaves the rates alone
	for i := range groups {
		values[i] = f(s, i)
		if v := values[i]; !(v >= s.lowest() && v <= huge) {
			misused(s.rule.kind()+".Step", "give the schedule numbers that lead to finite rates of 0 and above", "the learning rate of group %d would be %v", i, v)
		}
	}
	for i, g := range groups {
		g.set.LR = values[i]
	}
	s.last = values
}

// lowest is the rate below which a rule's is refused. Rules of settings in range stay above 0, but for torch's cosine chained to another,
// which dips a little below for a step; a function may return anything.
func (s *Schedule) lowest() float64 {
	if _, ok := s.rule.(*lambdaRule); ok {
		return 0
	}
	return -huge
}

// lr is the present rate of a group.
func (s *Schedule) lr(i int) float64 { return s.opt.Groups()[i].LR() }

// LastLR returns the learning rates that the last Step set.
func (s *Schedule) LastLR() []float64 {
	s.made("LastLR")
	return slices.Clone(s.last)
}

// Epoch returns the steps since the start.
func (s *Schedule) Epoch() int {
	s.made("Epoch")
	return s.epoch
}

// State returns the position and the settings.
func (s *Schedule) State() *ScheduleState {
	s.made("State")
	return &ScheduleState{
		Kind: s.rule.kind(), Epoch: s.epoch, BaseLRs: slices.Clone(s.base), LastLRs: slices.Clone(s.last), Settings: encode(s.rule),
	}
}

// LoadState restores what State returned, settings included, as torch.optim does; the functions of a LambdaLR stay. The learning rates
// are in the optimizer's state, which is loaded as well. A state of another kind or for another number of groups is refused,
// and nothing is changed.
func (s *Schedule) LoadState(st *ScheduleState) error {
	s.made("LoadState")
	if err := st.fits(s.rule.kind(), len(s.base), len(s.base), 0); err != nil {
		return err
	}
	r := s.rule.fresh()
	if err := decode(st.Settings, r); err != nil {
		return unfit(r.kind(), "%v", err)
	}
	if p := r.problem(len(s.base)); p != "" {
		return unfit(r.kind(), "%s", p)
	}
	s.rule, s.base, s.last, s.epoch = r, slices.Clone(st.BaseLRs), slices.Clone(st.LastLRs), st.Epoch
	return nil
}

// fits checks what all kinds have in common.
func (st *ScheduleState) fits(kind string, base, last, parts int) error {
	switch {
	case st == nil:
		return unfit(kind, "there is no state")
	case st.Kind != kind:
		return unfit(kind, "it was saved by %s", strconv.Quote(st.Kind))
	case len(st.BaseLRs) != base || len(st.LastLRs) != last:
		return unfit(kind, "it has rates of %d groups, the optimizer has %d", max(len(st.BaseLRs), len(st.LastLRs)), max(base, last))
	case len(st.Parts) != parts:
		return unfit(kind, "it has %d schedulers in it, %d here", len(st.Parts), parts)
	case st.Epoch < -1:
		return unfit(kind, "it is at step %d", st.Epoch)
	}
	return nil
}

func unfit(kind, format string, args ...any) error {
	return fmt.Errorf("optim: the state does not fit this %s: %s; load it into a scheduler built as the saved one was", kind, fmt.Sprintf(format, args...))
}

// encode never fails: rules hold finite numbers, which the checks of their constructors and of LoadState see to.
func encode(v any) json.RawMessage {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return b
}

// decode reads settings strictly: a key that is not known is an error.
func decode(raw json.RawMessage, v any) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return fmt.Errorf("its settings can't be read: %w", err)
	}
	if _, err := d.Token(); err != io.EOF {
		return fmt.Errorf("its settings can't be read: text after their end")
	}
	return nil
}
