package checkpoint

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/amp/dataset"
	"github.com/halftone-ml/halftone/amp/nn"
	"github.com/halftone-ml/halftone/amp/optim"
	"github.com/halftone-ml/halftone/amp/safetensors"
)

// Load restores the parts from a file that Save wrote. Parts that are not asked for may be in the file: Load(path, Parts{Model: net})
// takes the weights alone. A part that is asked for and not in the file, or does not fit, is an error that wraps ErrMismatch and says
// what differs; then nothing is changed.
func Load(path string, p Parts) error {
	if err := p.present(""); err != nil {
		return fmt.Errorf("checkpoint: loading %s: %w", path, err)
	}
	f, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("checkpoint: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return fmt.Errorf("checkpoint: %w", err)
	}
	file, err := safetensors.NewReader(f, info.Size())
	if err != nil {
		return fmt.Errorf("checkpoint: %s: %w", path, err)
	}
	if err := restore(file, p); err != nil {
		return fmt.Errorf("checkpoint: %s: %w", path, err)
	}
	return nil
}

// A restoration is the plan of a Load: what is cheap to undo comes first, optimizers after it, weights last, where nothing can fail.
type restoration struct {
	file     *safetensors.Reader
	metadata map[string]string
	small    []change
	large    []change
	copies   []func()
	read     []*amp.Tensor
}

// A change loads one part; undo puts back what was there.
type change struct {
	load func() error
	keep func() (undo func())
}

func restore(file *safetensors.Reader, p Parts) error {
	r := &restoration{file: file, metadata: file.Metadata()}
	defer func() {
		for _, t := range r.read {
			t.Free()
		}
	}()
	if got := r.metadata[formatKey]; got != format {
		return fmt.Errorf("%w: its format is %q, this version reads %q", ErrMismatch, got, format)
	}
	if err := r.plan("", p); err != nil {
		return err
	}
	var undo []func()
	for i, c := range slices.Concat(r.small, r.large) {
		if last := len(r.small) + len(r.large) - 1; i < last { // the last one changes nothing if it fails
			undo = append(undo, c.keep())
		}
		if err := c.load(); err != nil {
			for k := range i {
				undo[k]()
			}
			return fmt.Errorf("%w: %w", ErrMismatch, err)
		}
	}
	for _, f := range r.copies {
		f()
	}
	return nil
}

// plan reads and checks the parts under a prefix.
func (r *restoration) plan(prefix string, p Parts) error {
	for _, f := range []func(string, Parts) error{r.planTensors, r.planOptimizer, r.planLevel, r.planPositions, r.planValues} {
		if err := f(prefix, p); err != nil {
			return err
		}
	}
	for _, name := range names(p.More) {
		if err := plainName(name); err != nil {
			return err
		}
		if err := r.plan(prefix+name+"/", p.More[name]); err != nil {
			return err
		}
	}
	return nil
}

// text decodes an entry of the metadata.
func (r *restoration) text(key string, v any) error {
	text, ok := r.metadata[key]
	if !ok {
		return fmt.Errorf("%w: it has no %q in it; it has %s", ErrMismatch, key, strings.Join(names(r.metadata), ", "))
	}
	if err := json.Unmarshal([]byte(text), v); err != nil {
		return fmt.Errorf("%w: %s: %w", ErrMismatch, key, err)
	}
	return nil
}

// under reads the tensors whose names begin with prefix, by the rest of their names.
func (r *restoration) under(prefix string) (map[string]*amp.Tensor, error) {
	out := map[string]*amp.Tensor{}
	for _, info := range r.file.Tensors() {
		name, ok := strings.CutPrefix(info.Name, prefix)
		if !ok {
			continue
		}
		t, err := r.file.Tensor(info.Name)
		if err != nil {
			return nil, err
		}
		r.read = append(r.read, t)
		out[name] = t
	}
	return out, nil
}

func (r *restoration) planTensors(prefix string, p Parts) error {
	var n int
	if p.Model != nil {
		if err := r.text(prefix+"model", &n); err != nil {
			return err
		}
		if err := r.planCopies(prefix+"model.", nn.StateDict(p.Model)); err != nil {
			return err
		}
	}
	if p.Tensors == nil {
		return nil
	}
	if err := r.text(prefix+"tensors", &n); err != nil {
		return err
	}
	return r.planCopies(prefix+"tensors.", p.Tensors)
}

// planCopies checks that the tensors in the file are those given, of the same shapes and dtypes, and plans to copy them.
func (r *restoration) planCopies(prefix string, into map[string]*amp.Tensor) error {
	from, err := r.under(prefix)
	if err != nil {
		return err
	}
	var faults []string
	for _, name := range names(into) {
		dst, src := into[name], from[name]
		switch {
		case src == nil:
			faults = append(faults, name+" is missing in it")
		case !slices.Equal(src.Shape(), dst.Shape()) || src.DType() != dst.DType():
			faults = append(faults, fmt.Sprintf("%s is %v %v in it, here %v %v", name, src.DType(), src.Shape(), dst.DType(), dst.Shape()))
		default:
			r.copies = append(r.copies, func() { amp.Assign(dst, src) })
		}
	}
	for _, name := range names(from) {
		if into[name] == nil {
			faults = append(faults, name+" is in it, and not here")
		}
	}
	if len(faults) == 0 {
		return nil
	}
	if more := len(faults) - 8; more > 0 {
		faults = append(faults[:8], fmt.Sprintf("and %d more", more))
	}
	return fmt.Errorf("%w: %s", ErrMismatch, strings.TrimSuffix(prefix, ".")+": "+strings.Join(faults, "; "))
}

func (r *restoration) planOptimizer(prefix string, p Parts) error {
	o := p.Optimizer
	if o == nil {
		return nil
	}
	var st optim.State
	if err := r.text(prefix+"optimizer", &st); err != nil {
		return err
	}
	var err error
	if st.Tensors, err = r.under(prefix + "optimizer."); err != nil {
		return err
	}
	r.large = append(r.large, change{
		load: func() error { return o.LoadState(&st) },
		keep: func() func() {
			old := o.State()
			if plain(o) != nil { // copies, which go when all is loaded
				r.read = slices.AppendSeq(r.read, maps.Values(old.Tensors))
			}
			return func() { _ = o.LoadState(old) }
		},
	})
	return nil
}

func (r *restoration) planLevel(prefix string, p Parts) error {
	o := p.Level
	if o == nil {
		return nil
	}
	var st amp.LevelState
	if err := r.text(prefix+"level", &st); err != nil {
		return err
	}
	r.small = append(r.small, change{
		load: func() error { return o.LoadState(st) },
		keep: func() func() { old := o.State(); return func() { _ = o.LoadState(old) } },
	})
	return r.planCopies(prefix+"level.", masters(p))
}

// planPositions plans what is a few numbers.
func (r *restoration) planPositions(prefix string, p Parts) error {
	if s := p.Scheduler; s != nil {
		var st *optim.ScheduleState
		if err := r.text(prefix+"scheduler", &st); err != nil {
			return err
		}
		r.small = append(r.small, change{
			load: func() error { return s.LoadState(st) },
			keep: func() func() { old := s.State(); return func() { _ = s.LoadState(old) } },
		})
	}
	if g := p.Scaler; g != nil {
		var st *amp.ScalerState
		if err := r.text(prefix+"scaler", &st); err != nil {
			return err
		}
		r.small = append(r.small, change{
			load: func() error { return g.LoadState(st) },
			keep: func() func() { old := g.State(); return func() { _ = g.LoadState(old) } },
		})
	}
	if s := p.Random; s != nil {
		var st amp.StreamState
		if err := r.text(prefix+"random", &st); err != nil {
			return err
		}
		r.copies = append(r.copies, func() { s.Load(st) })
	}
	if l := p.Loader; l != nil {
		var st dataset.State
		if err := r.text(prefix+"loader", &st); err != nil {
			return err
		}
		r.small = append(r.small, change{
			load: func() error { return l.Load(st) },
			keep: func() func() { old := l.State(); return func() { _ = l.Load(old) } },
		})
	}
	return nil
}

// planValues decodes into new values first, so that a bad one leaves all alone.
func (r *restoration) planValues(prefix string, p Parts) error {
	for _, name := range names(p.Values) {
		into := reflect.ValueOf(p.Values[name])
		if into.Kind() != reflect.Pointer || into.IsNil() {
			return fmt.Errorf("value %q is %T; give a pointer to fill in", name, p.Values[name])
		}
		fresh := reflect.New(into.Type().Elem())
		if err := r.text(prefix+"value."+name, fresh.Interface()); err != nil {
			return err
		}
		r.copies = append(r.copies, func() { into.Elem().Set(fresh.Elem()) })
	}
	return nil
}
