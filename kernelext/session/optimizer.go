package session

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/amp/optim"
	"github.com/halftone-ml/halftone/kernelext/session/store"
)

// Optimizer returns the optimizer that build makes, with the state that the session keeps under name: momenta and the like, in memory that
// all cells share, step counts, and the numbers of its groups. A number that build gives otherwise than when the state was first kept,
// a learning rate that was edited, is the new one.
//
// Its parameters must be those of a session.Model or a session.Tensor. State that does not fit, or that belongs to a model which was
// built anew since, is refused with ErrStructure; see Rebuild.
func Optimizer[O optim.Optimizer](name string, build func() O, opts ...Option) O {
	c := use("Optimizer")
	if o, ok := live[O](c, "Optimizer", name); ok {
		return o
	}
	opt := build()
	c.optimizer(name, opt, opts)
	return opt
}

// An optimizerPart is an optimizer's state in this process. Its tensors come into being with the first step that needs them.
type optimizerPart struct {
	tensorPart
	c       *session
	opt     optim.Optimizer
	live    *optim.State
	homes   map[string]int // place among the object's tensors, by the state's key
	tensors map[string]*amp.Tensor
	rates   []float64 // of the groups, when the state was taken up
	steps   int       // then
}

func (c *session) optimizer(name string, opt optim.Optimizer, opts []Option) {
	of := c.parents(opt)
	p := &optimizerPart{c: c, opt: opt, homes: map[string]int{}, tensors: map[string]*amp.Tensor{}}
	p.tensorPart = newPart(nil, opt)
	built, err := json.Marshal(opt.LiveState().Groups)
	check("Optimizer", err)
	if o := c.kept("Optimizer", name, store.KindOptimizer, typeName(opt), opts); o != nil {
		fault := ""
		withoutGC(func() { fault = p.takeUp(o, of, built) })
		if fault == "" {
			p.note()
			c.add(name, p)
			c.st.CopyAhead() // who takes up an optimizer is about to train
			return
		}
		if !rebuild("Optimizer", opts) {
			c.refuse("Optimizer", name, fault)
		}
		check("Optimizer", c.st.Remove(name))
	}
	p.o = &store.Object{Name: name, Kind: store.KindOptimizer, Type: typeName(opt), Structure: string(built), Of: of}
	p.live = opt.LiveState()
	check("Optimizer", c.st.Add(p.o, nil, p, false, nil))
	check("Optimizer", p.prepare(c.st)) // of those whose state exists from the start
	p.note()
	c.add(name, p)
}

// parents returns the objects whose tensors an optimizer moves.
func (c *session) parents(opt optim.Optimizer) map[string]uint64 {
	of := map[string]uint64{}
	for i, t := range opt.Parameters() {
		o := c.owners[t]
		if o == nil {
			misused("Optimizer", "make the model with session.Model, and the optimizer of what it returns", "parameter %d (%s) is not kept in the session, so that its state would be lost or wrong in the next cell", i, t.Name())
		}
		of[o.Name] = o.Birth
	}
	return of
}

// takeUp gives the optimizer the kept state, or says why not.
func (p *optimizerPart) takeUp(o *store.Object, of map[string]uint64, built []byte) (fault string) {
	for _, name := range slices.Sorted(maps.Keys(o.Of)) {
		if of[name] != o.Of[name] {
			return fmt.Sprintf("it is the state for a %q that was built anew or left out since", name)
		}
	}
	if len(of) != len(o.Of) {
		return fmt.Sprintf("it is the state for %s alone", strings.Join(slices.Sorted(maps.Keys(o.Of)), ", "))
	}
	st := &optim.State{}
	if err := json.Unmarshal(o.State(), st); err != nil {
		return err.Error()
	}
	edit(st, o.Structure, built)
	p.o = o
	var made []*amp.Tensor
	for _, kept := range o.Tensors {
		made = append(made, p.c.empty("Optimizer", kept))
	}
	p.c.settle("Optimizer", o, made)
	check("Optimizer", p.c.st.Attach(o, p))
	st.Tensors = map[string]*amp.Tensor{}
	for i, kept := range o.Tensors {
		t := made[i]
		check("Optimizer", p.house(p.c, t, i))
		st.Tensors[kept.Name], p.tensors[kept.Name], p.homes[kept.Name] = t, t, i
	}
	if err := p.opt.TakeState(st); err != nil {
		_ = p.c.st.Attach(o, nil)
		return err.Error()
	}
	p.live = p.opt.LiveState()
	p.o.Structure = string(built)
	p.c.st.Describe(p.o)
	return ""
}

// edit puts the numbers that were changed in the code since the state was first kept into the state.
func edit(st *optim.State, kept string, built []byte) {
	var before, now []optim.GroupState
	if json.Unmarshal([]byte(kept), &before) != nil || json.Unmarshal(built, &now) != nil || len(before) != len(now) || len(now) != len(st.Groups) {
		return
	}
	for i, g := range now {
		for key, v := range g.Numbers {
			if was, ok := before[i].Numbers[key]; ok && was != v {
				st.Groups[i].Numbers[key] = v
				if key == "lr" {
					delete(st.Groups[i].Numbers, "initial_lr")
				}
			}
		}
	}
}

// note remembers the rates: making a schedule may change them before it is moved to where it was.
func (p *optimizerPart) note() {
	p.rates, p.steps = nil, p.opt.Steps()
	for _, g := range p.opt.Groups() {
		p.rates = append(p.rates, g.LR())
	}
}

// restoreRates gives optimizers that have not moved in this cell the learning rates that they were taken up with.
func (c *session) restoreRates() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, part := range c.parts {
		if p, ok := part.(*optimizerPart); ok && p.steps > 0 && p.steps == p.opt.Steps() {
			for i, g := range p.opt.Groups() {
				if i < len(p.rates) {
					g.SetLR(p.rates[i])
				}
			}
		}
	}
}

// prepare moves state that has come into being into the session.
func (p *optimizerPart) prepare(st *store.Store) error {
	p.live = p.opt.LiveState()
	var fresh []string
	for key, t := range p.live.Tensors {
		if _, known := p.homes[key]; !known {
			fresh = append(fresh, key)
		} else if p.tensors[key] != t {
			p.replaced(key, t)
		}
	}
	if len(fresh) == 0 {
		return p.tensorPart.prepare(st)
	}
	slices.Sort(fresh)
	first := len(p.o.Tensors)
	var specs []*store.Tensor
	for _, key := range fresh {
		s := spec(key, p.live.Tensors[key])
		s.Device = p.c.place(p.live.Tensors[key])
		specs = append(specs, s)
	}
	if err := st.Extend(p.o, specs); err != nil {
		return err
	}
	for i, key := range fresh {
		p.homes[key] = first + i
		p.replaced(key, p.live.Tensors[key])
	}
	return p.tensorPart.prepare(st)
}

// settled says whether the optimizer has no tensors but those that the session has given their places.
func (p *optimizerPart) settled() bool {
	for key, t := range p.opt.LiveStateLater().Tensors {
		if p.tensors[key] != t {
			return false
		}
	}
	return p.tensorPart.settled()
}

// StateLater is AppendState for the optimizer as it is now, whose steps a device may still count.
func (p *optimizerPart) StateLater() (of []*amp.Tensor, state func(b []byte, elements [][]byte) ([]byte, error)) {
	l := p.opt.LiveStateLater()
	return l.Counters, func(b []byte, elements [][]byte) ([]byte, error) {
		text, err := json.Marshal(l.State(elements))
		return append(b, text...), err
	}
}

// replaced gives a tensor that the optimizer has made, or loaded, its place in the session.
func (p *optimizerPart) replaced(key string, t *amp.Tensor) {
	i := p.homes[key]
	p.tensors[key], p.at[i] = t, t
	p.c.owners[t] = p.o
	if !p.isAt(i) {
		p.copied[i] = t.Version() - 1
		return
	}
	delete(p.copied, i)
	if b := p.o.Tensors[i].Block(); b != nil {
		b.BeforeChange()
		t.Rehome(b.Buffer(), true)
		b.Taken()
		return
	}
	b := newSmallBuffer(p.c.st, make([]byte, t.Bytes()))
	p.small[i] = b
	t.Rehome(b, true)
}

// AppendState writes what LiveState returned, without the tensors.
func (p *optimizerPart) AppendState(b []byte) ([]byte, error) {
	text, err := json.Marshal(p.live)
	return append(b, text...), err
}
