// Package checkpoint saves everything a training run needs to go on, in one safetensors file, and restores it bit for bit.
//
//	parts := checkpoint.Parts{
//		Model: net, Optimizer: opt, Scheduler: schedule, Scaler: scaler, Random: root.Random(), Loader: loader,
//		Values: map[string]any{"epoch": &epoch},
//	}
//	err := checkpoint.Save("run.safetensors", parts)
//	// … in another process, after the same objects were made:
//	err = checkpoint.Load("run.safetensors", parts)
//
// The weights are tensors "model.<name>", the optimizer's state "optimizer.<place>.<name>"; all that is no tensor is JSON in the file's
// metadata. Any reader of the format opens it.
package checkpoint

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/amp/dataset"
	"github.com/halftone-ml/halftone/amp/nn"
	"github.com/halftone-ml/halftone/amp/optim"
	"github.com/halftone-ml/halftone/amp/safetensors"
	"github.com/halftone-ml/halftone/internal/absent"
)

// ErrMismatch is what errors wrap when a file does not fit the parts it is loaded into.
var ErrMismatch = errors.New("the checkpoint does not fit")

// formatKey and format mark a file as a checkpoint of this version.
const formatKey, format = "format", "halftone.checkpoint/1"

// A Scheduler is what optim's schedulers have in common, those that take a measure too.
type Scheduler interface {
	State() *optim.ScheduleState
	LoadState(st *optim.ScheduleState) error
}

// An Optimizer is what optim's optimizers have in common here; one of your own may have it too.
type Optimizer interface {
	State() *optim.State
	LoadState(st *optim.State) error
}

// Parts are what is saved or restored; nil ones are left out. Make them for Load as they were made for Save.
type Parts struct {
	Model     nn.Module           // parameters and buffers
	Optimizer Optimizer           // its state, learning rates and step counts
	Level     *amp.LevelOptimizer // master weights and loss scales of amp.Initialize; give Model and the wrapped Optimizer too
	Scheduler Scheduler           // its position
	Scaler    *amp.GradScaler     // scale and growth tracker; save after Update
	Random    *amp.Stream         // the position of the random stream: root.Random()
	Loader    *dataset.Loader     // the position in the data
	// Tensors are further tensors, such as running means. Load copies into them.
	Tensors map[string]*amp.Tensor
	// Values are further values, saved as JSON; Load needs pointers to fill in, which Save takes too.
	Values map[string]any
	// More are the parts of further models, by name, for runs with several.
	More map[string]Parts
}

// Save writes the parts to a file, which is replaced only when all is written; see safetensors.Save.
func Save(path string, p Parts) error {
	if err := p.present(""); err != nil {
		return fmt.Errorf("checkpoint: saving %s: %w", path, err)
	}
	c := collection{map[string]*amp.Tensor{}, map[string]string{formatKey: format}, nil}
	c.add("", p)
	if c.err != nil {
		return fmt.Errorf("checkpoint: saving %s: %w", path, c.err)
	}
	if err := safetensors.Save(path, c.tensors, c.metadata); err != nil {
		return fmt.Errorf("checkpoint: %w", err)
	}
	return nil
}

// present refuses parts that hold a nil pointer: nil itself leaves a part out.
func (p Parts) present(prefix string) error {
	for name, part := range map[string]any{"Model": p.Model, "Optimizer": p.Optimizer, "Scheduler": p.Scheduler} {
		if part != nil && absent.Is(part) {
			return fmt.Errorf("%s is a nil %T; make it, or leave it out of Parts", prefix+name, part)
		}
	}
	for name, more := range p.More {
		if err := more.present(prefix + name + "/"); err != nil {
			return err
		}
	}
	return nil
}

// A collection is what goes into the file.
type collection struct {
	tensors  map[string]*amp.Tensor
	metadata map[string]string
	err      error // the first
}

// add collects parts under a prefix.
func (c *collection) add(prefix string, p Parts) {
	if p.Model != nil {
		c.addTensors(prefix+"model", nn.StateDict(p.Model))
	}
	if p.Tensors != nil {
		c.addTensors(prefix+"tensors", p.Tensors)
	}
	if p.Optimizer != nil {
		st := stateOf(p.Optimizer)
		c.text(prefix+"optimizer", st)
		for key, t := range st.Tensors {
			c.tensors[prefix+"optimizer."+key] = t
		}
	}
	if p.Level != nil {
		c.text(prefix+"level", p.Level.State())
		for name, t := range masters(p) {
			c.tensors[prefix+"level."+name] = t
		}
	}
	if p.Scheduler != nil {
		c.text(prefix+"scheduler", p.Scheduler.State())
	}
	if p.Scaler != nil {
		c.text(prefix+"scaler", p.Scaler.State())
	}
	if p.Random != nil {
		c.text(prefix+"random", p.Random.State())
	}
	if p.Loader != nil {
		c.text(prefix+"loader", p.Loader.State())
	}
	for name, v := range p.Values {
		c.text(prefix+"value."+name, v)
	}
	for name, more := range p.More {
		if err := plainName(name); err != nil && c.err == nil {
			c.err = err
		}
		c.add(prefix+name+"/", more)
	}
}

// stateOf is an optimizer's state, with the tensors themselves where copies would be left to nobody: they are only read. One of the
// program's own, which may hold one of these and add to its State, is asked as it says.
func stateOf(o Optimizer) *optim.State {
	if live := plain(o); live != nil {
		return live.LiveState()
	}
	return o.State()
}

// plain returns an optimizer that is one of optim's itself, whose State makes copies; nil for others.
func plain(o Optimizer) optim.Optimizer {
	own, ok := o.(optim.Optimizer)
	if t := reflect.TypeOf(o); !ok || t.Kind() != reflect.Pointer || t.Elem().PkgPath() != reflect.TypeFor[optim.SGD]().PkgPath() {
		return nil
	}
	return own
}

// plainName keeps the names of More apart from those of tensors.
func plainName(name string) error {
	if name == "" || strings.ContainsAny(name, "./") {
		return fmt.Errorf("%q names parts in More; use a name without dots and slashes", name)
	}
	return nil
}

// text adds something that is JSON.
func (c *collection) text(key string, v any) {
	b, err := json.Marshal(v)
	if err != nil && c.err == nil {
		c.err = fmt.Errorf("%s can't be written as JSON: %w", key, err)
	}
	c.metadata[key] = string(b)
}

// addTensors adds tensors and their number, so that none can be said to be there.
func (c *collection) addTensors(key string, tensors map[string]*amp.Tensor) {
	c.text(key, len(tensors))
	for name, t := range tensors {
		c.tensors[key+"."+name] = t
	}
}

// masters returns the master weights, which are those of the level's parameters that are not the model's.
func masters(p Parts) map[string]*amp.Tensor {
	var own []*amp.Tensor
	if p.Model != nil {
		own = p.Model.Parameters()
	}
	out := map[string]*amp.Tensor{}
	for i, t := range p.Level.Parameters() {
		if !slices.Contains(own, t) {
			out[fmt.Sprintf("%d.%s", i, t.Name())] = t
		}
	}
	return out
}

// names returns the sorted keys of a map.
func names[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
