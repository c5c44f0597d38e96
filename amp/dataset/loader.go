package dataset

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/internal/absent"
	"github.com/halftone-ml/halftone/internal/optional"
)

// A Loader makes batches of a dataset's samples: it chooses the order, runs the transforms, prepares batches ahead of time and
// hands them out as tensors. It has a position that State saves and Load restores; everything it gives is a function of the
// seed, the epoch and the position, whatever the prefetch and the machine. One goroutine at a time may take batches from it.
type Loader struct {
	data       Dataset
	spec       Spec
	batch      int
	seed       uint64
	orders     []string // the options that were given for the order, of which one may be
	shuffle    bool
	draws      int       // samples of an epoch that are drawn; 0: each sample once
	weights    []float64 // of a weighted draw; nil for an even one
	once       bool      // a weighted draw gives no sample twice
	sums       []float64 // of the weights so far
	dropLast   bool
	prefetch   int
	transforms []Transform

	mu         sync.Mutex
	epoch, pos int // of the next sample to give
	perm       []int32
	permEpoch  int    // whose order perm holds; -1: none
	queue      []*job // from the position on, without gaps
	free       []*job // whose buffers can be used again
}

// An Option configures NewLoader. Transforms are options too.
type Option interface{ configure(*Loader) }

type option func(*Loader)

func (o option) configure(l *Loader) { o(l) }

func (t Transform) configure(l *Loader) { l.transforms = append(l.transforms, t) }

// Shuffle gives every sample once per epoch, in an order that depends on seed and epoch. Without it or Draw the order is the
// dataset's.
func Shuffle(seed uint64) Option {
	return option(func(l *Loader) { l.shuffle, l.seed, l.orders = true, seed, append(l.orders, "Shuffle") })
}

// Draw makes an epoch of n samples drawn independently, with replacement: for windows of a text, of which there are too many to
// see them all.
func Draw(n int, seed uint64) Option {
	if n < 1 {
		misused("Draw", "draw at least 1 sample per epoch", "%d", n)
	}
	return option(func(l *Loader) { l.draws, l.seed, l.orders = n, seed, append(l.orders, "Draw") })
}

// Seed sets the seed of random transforms where there is no Shuffle or Draw.
func Seed(seed uint64) Option { return option(func(l *Loader) { l.seed = seed }) }

// DropLast leaves out the last batch of an epoch when it has fewer samples than the others.
func DropLast() Option { return option(func(l *Loader) { l.dropLast = true }) }

// Prefetch prepares up to n batches ahead, each on a goroutine of its own, while the caller works on the present one; the
// default is 1. With 0 the caller's goroutine prepares its batch itself.
func Prefetch(n int) Option {
	if n < 0 {
		misused("Prefetch", "prepare 0 batches or more ahead", "%d", n)
	}
	return option(func(l *Loader) { l.prefetch = n })
}

// NewLoader returns a loader at the start of epoch 0. It panics with amp.ErrArgument for a batch below 1, a dataset that
// gives no batch or whose Spec has a size below 0, and a transform that does not fit the samples.
func NewLoader(data Dataset, batch int, opts ...Option) *Loader {
	if absent.Is(data) {
		misused("NewLoader", "pass a dataset", "the dataset is nil")
	}
	l := &Loader{data: data, spec: data.Spec(), batch: batch, prefetch: 1, permEpoch: -1}
	optional.Given("NewLoader", opts, misused)
	for _, o := range opts {
		o.configure(l)
	}
	if batch < 1 {
		misused("NewLoader", "use a batch of at least 1 sample", "batch %d", batch)
	}
	if len(l.orders) > 1 {
		misused("NewLoader", "give one of dataset.Shuffle, dataset.Draw, dataset.DrawWeighted and dataset.PickWeighted", "%s were given", strings.Join(l.orders, " and "))
	}
	if n := data.Len(); n < 1 || n > 1<<31-1 {
		misused("NewLoader", "use a dataset of 1 to 2147483647 samples", "the dataset has %d samples", n)
	}
	if l.spec.DType != amp.Float32 && l.spec.DType != amp.Int64 {
		misused("NewLoader", "let Spec say amp.Float32 or amp.Int64", "inputs of dtype %v", l.spec.DType)
	}
	if t := l.spec.Targets; t != amp.NoDType && t != amp.Int64 && t != amp.Float32 {
		misused("NewLoader", "let Spec say amp.Int64 or amp.Float32", "targets of dtype %v", t)
	}
	for _, shape := range [][]int{l.spec.Shape, l.spec.Target} {
		if !countable(shape) {
			misused("NewLoader", "let Spec say sizes of 0 and above that memory can hold", "samples of shape %v, targets of shape %v", l.spec.Shape, l.spec.Target)
		}
	}
	l.needWeights()
	if l.Len() == 0 {
		misused("NewLoader", "use a smaller batch, or leave DropLast out", "%d samples give no batch of %d", l.samples(), batch)
	}
	for _, t := range l.transforms {
		if t.Apply == nil {
			misused("NewLoader", "set Apply", "transform %q does nothing", t.Name)
		}
		if t.Check == nil {
			continue
		}
		if err := t.Check(l.spec); err != nil {
			misused("NewLoader", "leave the transform out, or fit its arguments to the samples", "transform %s: %v", t.Name, err)
		}
	}
	return l
}

// made refuses a loader that NewLoader has not made.
func (l *Loader) made(method string) {
	if l == nil || l.data == nil {
		misused("Loader."+method, "make it with dataset.NewLoader", "the loader is nil or empty")
	}
}

// countable says whether a shape has no negative size, and no more elements than a batch can be counted with.
func countable(shape []int) bool {
	n := 1
	for _, d := range shape {
		if d < 0 || d > 0 && n > 1<<40/d {
			return false
		}
		n *= max(d, 1)
	}
	return true
}

// samples returns the samples of an epoch, before DropLast.
func (l *Loader) samples() int {
	if l.draws > 0 {
		return l.draws
	}
	return l.data.Len()
}

// end returns the position after an epoch's last batch.
func (l *Loader) end() int {
	n := l.samples()
	if l.dropLast {
		n -= n % l.batch
	}
	return n
}

// Len returns the batches of an epoch.
func (l *Loader) Len() int {
	l.made("Len")
	return (l.end() + l.batch - 1) / l.batch
}

// Left returns the batches that are left of the present epoch.
func (l *Loader) Left() int {
	l.made("Left")
	l.mu.Lock()
	defer l.mu.Unlock()
	return (l.end() - l.pos + l.batch - 1) / l.batch
}

// Dataset returns what the loader reads from.
func (l *Loader) Dataset() Dataset {
	l.made("Dataset")
	return l.data
}

// A State is where a loader stands: what a checkpoint keeps of it. Within the body of a loop it is the position after the batch
// of that body.
type State struct {
	Seed     uint64 `json:"seed"`
	Epoch    int    `json:"epoch"`
	Position int    `json:"position"` // samples of the epoch that were given
	Samples  int    `json:"samples"`  // of an epoch
	Batch    int    `json:"batch"`
	Order    string `json:"order"` // "sequential", "shuffled", "drawn", "weighted" or "weighted, each once"
}

// State returns the present position; batches prepared ahead do not count. Safe to call from any goroutine.
func (l *Loader) State() State {
	l.made("State")
	l.mu.Lock()
	defer l.mu.Unlock()
	return State{Seed: l.seed, Epoch: l.epoch, Position: l.pos, Samples: l.samples(), Batch: l.batch, Order: l.orderName()}
}

func (l *Loader) orderName() string {
	switch {
	case l.weights != nil && l.once:
		return "weighted, each once"
	case l.weights != nil:
		return "weighted"
	case l.draws > 0:
		return "drawn"
	case l.shuffle:
		return "shuffled"
	}
	return "sequential"
}

// Load moves the loader to a saved position, so that it goes on with exactly the batches that would have come next. The seed is
// the state's. It refuses a state of another number of samples, batch size or order, and a position that does not exist;
// SetEpoch starts an epoch afresh instead.
func (l *Loader) Load(st State) error {
	l.made("Load")
	l.mu.Lock()
	defer l.mu.Unlock()
	want := State{Seed: st.Seed, Epoch: st.Epoch, Position: st.Position, Samples: l.samples(), Batch: l.batch, Order: l.orderName()}
	if st != want {
		return fmt.Errorf("dataset: the state is of %d samples, %s, in batches of %d; this loader has %d, %s, in batches of %d; fix: make the loader as it was when the state was saved, or start an epoch afresh with SetEpoch(%d)",
			st.Samples, st.Order, st.Batch, want.Samples, want.Order, want.Batch, st.Epoch)
	}
	if st.Epoch < 0 || st.Epoch >= 1<<32-1 || st.Position < 0 || st.Position >= l.end() || st.Position%l.batch != 0 {
		return fmt.Errorf("dataset: epoch %d, position %d is none that a loader of %d samples in batches of %d saves; fix: load a state that State returned",
			st.Epoch, st.Position, want.Samples, want.Batch)
	}
	l.drain()
	l.seed, l.epoch, l.pos, l.permEpoch = st.Seed, st.Epoch, st.Position, -1
	return nil
}

// SetEpoch moves the loader to the start of an epoch.
func (l *Loader) SetEpoch(epoch int) {
	l.made("SetEpoch")
	if epoch < 0 {
		misused("SetEpoch", "use an epoch of 0 or above", "%d", epoch)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.drain()
	l.epoch, l.pos = epoch, 0
}

// indices writes the samples from position from on to idx.
func (l *Loader) indices(idx []int32, epoch, from int) {
	if !l.shuffle && l.draws == 0 {
		for k := range idx {
			idx[k] = int32(from + k)
		}
		return
	}
	if l.permEpoch != epoch {
		l.perm = slices.Grow(l.perm[:0], l.samples())[:l.samples()]
		if l.weights != nil {
			l.weigh(epoch)
		} else {
			order(l.perm, l.seed, epoch, l.data.Len(), l.draws > 0)
		}
		l.permEpoch = epoch
	}
	copy(idx, l.perm[from:])
}
