package optim

import (
	"fmt"
	"math"
	"slices"

	"github.com/halftone-ml/halftone/internal/absent"
)

// Schedules made of others.

// A Sequence runs one scheduler after another.
type Sequence struct {
	parts      []Scheduler
	milestones []int
	epoch      int
	last       []float64
}

// NewSequentialLR runs the first scheduler until the first milestone, the second one from there, and so on, as torch's SequentialLR.
// Each part begins at its own step 0. It panics with amp.ErrArgument unless there is one milestone less than schedulers, in
// growing order, and all move one optimizer.
func NewSequentialLR(milestones []int, parts ...Scheduler) *Sequence {
	checkParts("NewSequentialLR", parts)
	if len(milestones) != len(parts)-1 || !slices.IsSorted(milestones) || len(milestones) > 0 && milestones[0] < 0 {
		misused("NewSequentialLR", "give one milestone less than schedulers, from 0 on, in order", "milestones %v for %d schedulers", milestones, len(parts))
	}
	q := &Sequence{parts: slices.Clone(parts), milestones: slices.Clone(milestones)}
	q.initial()
	return q
}

// NewWarmupCosine raises the rate from start times the optimizer's to the full one in warmup steps, and lowers it to etaMin along half
// a cosine in the rest of total steps: SequentialLR of LinearLR and CosineAnnealingLR.
func NewWarmupCosine(opt Optimizer, warmup, total int, start, etaMin float64) *Sequence {
	const op = "NewWarmupCosine"
	if absent.Is(opt) {
		misused(op, "pass the optimizer", "no optimizer")
	}
	if warmup < 1 || total <= warmup {
		misused(op, "use at least 1 step of warm-up, and a total above that", "%d steps of warm-up of a total of %d", warmup, total)
	}
	if p := first(in("start", start, math.SmallestNonzeroFloat64, 1), in("etaMin", etaMin, 0, huge)); p != "" {
		misused(op, "use values in range", "%s", p)
	}
	return NewSequentialLR([]int{warmup}, NewLinearWarmup(opt, start, warmup), NewCosineAnnealingLR(opt, total-warmup, etaMin))
}

func checkParts(op string, parts []Scheduler) {
	for i, p := range parts {
		if absent.Is(p) || p.optimizer() != parts[0].optimizer() {
			misused(op, "make all schedulers with one optimizer", "scheduler %d is nil or moves another optimizer", i)
		}
	}
	if len(parts) == 0 {
		misused(op, "pass at least one scheduler", "no schedulers")
	}
}

// reset puts the rates back to those that schedules start from.
func reset(opt Optimizer) {
	for _, g := range opt.Groups() {
		if g.initial != nil {
			g.SetLR(*g.initial)
		}
	}
}

func rates(opt Optimizer) []float64 {
	var out []float64
	for _, g := range opt.Groups() {
		out = append(out, g.LR())
	}
	return out
}

func (q *Sequence) optimizer() Optimizer { q.made("Step"); return q.parts[0].optimizer() }
func (q *Sequence) restart()             { q.initial() }

func (q *Sequence) undo() {
	q.epoch = -1
	for _, p := range q.parts {
		p.undo()
	}
}

func (q *Sequence) initial() {
	reset(q.optimizer())
	q.undo()
	q.epoch = 0
	i := q.current()
	q.parts[i].initial()
	q.last = q.parts[i].LastLR()
}

// current is the part whose turn it is.
func (q *Sequence) current() int {
	i, _ := slices.BinarySearch(q.milestones, q.epoch+1)
	return i
}

// Step moves on by one.
func (q *Sequence) Step() {
	q.made("Step")
	outside("SequentialLR", q.optimizer())
	q.epoch++
	i := q.current()
	if i > 0 && q.milestones[i-1] == q.epoch {
		q.parts[i].restart()
	} else {
		q.parts[i].Step()
	}
	q.last = q.parts[i].LastLR()
}

// LastLR returns the learning rates that the last Step set.
func (q *Sequence) LastLR() []float64 {
	q.made("LastLR")
	return slices.Clone(q.last)
}

type milestones struct {
	Milestones []int `json:"_milestones"`
}

// State returns the position, and the states of the parts.
func (q *Sequence) State() *ScheduleState {
	q.made("State")
	return &ScheduleState{
		Kind: "SequentialLR", Epoch: q.epoch, LastLRs: slices.Clone(q.last), Parts: states(q.parts), Settings: encode(milestones{q.milestones}),
	}
}

// LoadState restores what State returned; see Schedule.LoadState. The milestones must be the same.
func (q *Sequence) LoadState(st *ScheduleState) error {
	q.made("LoadState")
	const kind = "SequentialLR"
	if err := st.fits(kind, 0, len(q.last), len(q.parts)); err != nil {
		return err
	}
	var m milestones
	if err := decode(st.Settings, &m); err != nil {
		return unfit(kind, "%v", err)
	}
	if !slices.Equal(m.Milestones, q.milestones) {
		return unfit(kind, "its milestones are %v, here %v", m.Milestones, q.milestones)
	}
	if err := loadParts(q.parts, st.Parts); err != nil {
		return err
	}
	q.epoch, q.last = st.Epoch, slices.Clone(st.LastLRs)
	return nil
}

// A Chain steps several schedulers together.
type Chain struct{ parts []Scheduler }

// NewChained steps all schedulers at once, each on the rates that the one before it leaves, as torch's ChainedScheduler. It panics with
// amp.ErrArgument unless all move one optimizer.
func NewChained(parts ...Scheduler) *Chain {
	checkParts("NewChained", parts)
	return &Chain{slices.Clone(parts)}
}

func (c *Chain) optimizer() Optimizer { c.made("Step"); return c.parts[0].optimizer() }
func (c *Chain) restart()             { c.initial() }

func (c *Chain) undo() {
	for _, p := range c.parts {
		p.undo()
	}
}

func (c *Chain) initial() {
	reset(c.optimizer())
	for _, p := range c.parts {
		p.initial()
	}
}

// Step moves all of them on by one.
func (c *Chain) Step() {
	c.made("Step")
	for _, p := range c.parts {
		p.Step()
	}
}

// LastLR returns the learning rates that the last of them set.
func (c *Chain) LastLR() []float64 {
	c.made("LastLR")
	return c.parts[len(c.parts)-1].LastLR()
}

// State returns the states of the parts.
func (c *Chain) State() *ScheduleState {
	c.made("State")
	return &ScheduleState{Kind: "ChainedScheduler", Parts: states(c.parts)}
}

// LoadState restores what State returned; see Schedule.LoadState.
func (c *Chain) LoadState(st *ScheduleState) error {
	c.made("LoadState")
	if err := st.fits("ChainedScheduler", 0, 0, len(c.parts)); err != nil {
		return err
	}
	return loadParts(c.parts, st.Parts)
}

func states(parts []Scheduler) []*ScheduleState {
	var out []*ScheduleState
	for _, p := range parts {
		out = append(out, p.State())
	}
	return out
}

// loadParts loads all or none.
func loadParts(parts []Scheduler, st []*ScheduleState) error {
	old := states(parts)
	for i, p := range parts {
		err := p.LoadState(st[i])
		if err == nil {
			continue
		}
		for k := range i {
			// What a scheduler returned a moment ago it takes back.
			_ = parts[k].LoadState(old[k])
		}
		return fmt.Errorf("scheduler %d: %w", i, err)
	}
	return nil
}

// An Applied is a scheduler that counts the optimizer's steps instead of calls.
type Applied struct {
	Scheduler
	seen int
}

// CountApplied returns a scheduler whose Step moves s on once for every step the optimizer has taken since the last call, and not at
// all if a GradScaler skipped it: the learning rates depend on the steps that moved the weights alone, whatever the loss scale
// did. Call it after scaler.Step, as often as you like.
func CountApplied(s Scheduler) *Applied {
	checkParts("CountApplied", []Scheduler{s})
	return &Applied{s, s.optimizer().Steps()}
}

// Step moves the scheduler on by the steps that its optimizer has taken since the last call.
func (a *Applied) Step() {
	a.made("Step")
	outside("Applied", a.optimizer())
	taken := a.optimizer().Steps()
	for ; a.seen < taken; a.seen++ {
		a.Scheduler.Step()
	}
	a.seen = taken // less than before when an older state was loaded
}

// LastLR returns the learning rates that the scheduler's last Step set.
func (a *Applied) LastLR() []float64 {
	a.made("LastLR")
	return a.Scheduler.LastLR()
}

func (a *Applied) optimizer() Optimizer { a.made("Step"); return a.Scheduler.optimizer() }

func (a *Applied) undo()    { a.seen = a.optimizer().Steps(); a.Scheduler.undo() }
func (a *Applied) initial() { a.seen = a.optimizer().Steps(); a.Scheduler.initial() }
func (a *Applied) restart() { a.seen = a.optimizer().Steps(); a.Scheduler.restart() }

type seenSteps struct {
	Seen int `json:"seen"`
}

// State returns the state of the scheduler and the steps it has seen.
func (a *Applied) State() *ScheduleState {
	a.made("State")
	return &ScheduleState{Kind: "Applied", Parts: []*ScheduleState{a.Scheduler.State()}, Settings: encode(seenSteps{a.seen})}
}

// LoadState restores what State returned; load the optimizer's state too. See Schedule.LoadState.
func (a *Applied) LoadState(st *ScheduleState) error {
	a.made("LoadState")
	if err := st.fits("Applied", 0, 0, 1); err != nil {
		return err
	}
	var seen seenSteps
	if err := decode(st.Settings, &seen); err != nil {
		return unfit("Applied", "%v", err)
	}
	if seen.Seen < 0 {
		return unfit("Applied", "it has seen %d steps", seen.Seen)
	}
	if err := loadParts([]Scheduler{a.Scheduler}, st.Parts); err != nil {
		return err
	}
	a.seen = seen.Seen
	return nil
}
