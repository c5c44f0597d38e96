package dataset

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync/atomic"

	"github.com/halftone-ml/halftone/amp"
)

// A job is one batch being prepared, by a goroutine that ends with it: there are no workers to shut down.
type job struct {
	seed        uint64
	epoch, from int
	idx         []int32
	x           []float32
	tokens, y   []int64
	values      []float32 // targets of float32
	rand        *Rand
	stop        atomic.Bool
	done        chan struct{}
	err         error // why the batch could not be made
	bad         int   // the sample at fault
	panicked    any
	stack       []byte
}

var errGone = errors.New("the goroutine that prepared it ended early")

// A WorkerPanic is what a Dataset or Transform panicked with while a batch was prepared; the loader panics with it in the
// caller's goroutine.
type WorkerPanic struct {
	Sample int
	Value  any
	Stack  []byte // of the goroutine that prepared the batch
}

// Error names the sample, the value and the place.
func (p *WorkerPanic) Error() string {
	return fmt.Sprintf("dataset: preparing sample %d: panic: %v\n\n%s", p.Sample, p.Value, p.Stack)
}

// Unwrap returns the value if it is an error.
func (p *WorkerPanic) Unwrap() error {
	err, _ := p.Value.(error)
	return err
}

// start returns the job of the batch at a position; it runs already if there is prefetch.
func (l *Loader) start(epoch, from int) *job {
	var j *job
	if n := len(l.free); n > 0 {
		j, l.free = l.free[n-1], l.free[:n-1]
	} else {
		j = &job{idx: make([]int32, l.batch), rand: &Rand{amp.NewStream(0)}}
		if l.spec.DType == amp.Int64 {
			j.tokens = make([]int64, l.batch*size(l.spec.Shape))
		} else {
			j.x = make([]float32, l.batch*size(l.spec.Shape))
		}
		if l.spec.Targets == amp.Float32 {
			j.values = make([]float32, l.batch*size(l.spec.Target))
		} else {
			j.y = make([]int64, l.batch*size(l.spec.Target))
		}
	}
	n := min(l.batch, l.end()-from)
	j.seed, j.epoch, j.from, j.idx = l.seed, epoch, from, j.idx[:n]
	j.err, j.bad, j.panicked, j.stack = errGone, 0, nil, nil
	j.stop.Store(false)
	j.done = make(chan struct{})
	l.indices(j.idx, epoch, from)
	if l.prefetch > 0 {
		go j.run(context.Background(), l)
	}
	return j
}

// run fills the job's buffers, unless ctx is done or the job is stopped before it has all samples: then it leaves errGone.
func (j *job) run(ctx context.Context, l *Loader) {
	defer close(j.done)
	defer func() {
		if r := recover(); r != nil {
			j.panicked, j.stack = r, debug.Stack()
		}
	}()
	s := Sample{Shape: l.spec.Shape, Rand: j.rand}
	for k, i := range j.idx {
		if j.stop.Load() || ctx.Err() != nil {
			return
		}
		s.Index, j.bad = int(i), int(i)
		own := j.place(l, k)
		// What a dataset forgets to write is then 0, and not what an earlier batch left.
		clear(own.X)
		clear(own.Tokens)
		clear(own.Y)
		clear(own.Values)
		s.X, s.Tokens, s.Y, s.Values = own.X, own.Tokens, own.Y, own.Values
		j.rand.key(j.seed, j.epoch, int(i))
		if err := l.data.Sample(int(i), &s); err != nil {
			j.err = err
			return
		}
		own.take(&s, func() string { return fmt.Sprintf("the dataset %T", l.data) })
		for _, t := range l.transforms {
			t.Apply(&s)
			own.take(&s, func() string { return "the transform " + t.Name })
		}
	}
	j.err = nil
}

// place is where the k-th sample of a batch is written.
func (j *job) place(l *Loader, k int) Sample {
	nx, ny := size(l.spec.Shape), size(l.spec.Target)
	var own Sample
	if j.values != nil {
		own.Values = j.values[k*ny : (k+1)*ny : (k+1)*ny]
	} else {
		own.Y = j.y[k*ny : (k+1)*ny : (k+1)*ny]
	}
	if j.tokens != nil {
		own.Tokens = j.tokens[k*nx : (k+1)*nx : (k+1)*nx]
	} else {
		own.X = j.x[k*nx : (k+1)*nx : (k+1)*nx]
	}
	return own
}

// take copies slices that a dataset or transform has put in place of those it was to fill, and gives it those again. It panics with
// amp.ErrArgument for others than the Spec asks for.
func (own *Sample) take(s *Sample, who func() string) {
	s.X = taken(who, s.Index, "X", own.X, s.X)
	s.Tokens = taken(who, s.Index, "Tokens", own.Tokens, s.Tokens)
	s.Y = taken(who, s.Index, "Y", own.Y, s.Y)
	s.Values = taken(who, s.Index, "Values", own.Values, s.Values)
}

func taken[T any](who func() string, index int, field string, own, got []T) []T {
	if len(own) != len(got) {
		misused("Loader", "fill the slices of the sample, or assign ones of the sizes that Spec says", "%s gave sample %d a %s of %d numbers, its Spec asks for %d",
			who(), index, field, len(got), len(own))
	}
	if len(own) > 0 && &own[0] != &got[0] {
		copy(own, got)
	}
	return own
}

// check panics with what went wrong in the job.
func (j *job) check() {
	if j.panicked != nil {
		if e, ok := j.panicked.(*amp.Error); ok {
			panic(e)
		}
		panic(&WorkerPanic{j.bad, j.panicked, j.stack})
	}
	if j.err != nil {
		panic(&amp.Error{Op: "Loader", Kind: j.err, Detail: fmt.Sprintf("preparing sample %d", j.bad), Fix: "repair what the dataset reads, or leave that sample out"})
	}
}

// head makes sure that the batch at the position and those after it are being prepared, and returns the first. Batches of the
// next epoch are begun only if across says so.
func (l *Loader) head(across bool) *job {
	l.mu.Lock()
	defer l.mu.Unlock()
	epoch, pos := l.epoch, l.pos
	if len(l.queue) > 0 && (l.queue[0].epoch != epoch || l.queue[0].from != pos) {
		l.drain()
	}
	if n := len(l.queue); n > 0 {
		epoch, pos = l.after(l.queue[n-1])
	}
	for len(l.queue) <= l.prefetch && (across || epoch == l.epoch) {
		j := l.start(epoch, pos)
		l.queue = append(l.queue, j)
		epoch, pos = l.after(j)
	}
	return l.queue[0]
}

// after returns the position that follows a job.
func (l *Loader) after(j *job) (epoch, pos int) {
	if pos = j.from + len(j.idx); pos >= l.end() {
		return j.epoch + 1, 0
	}
	return j.epoch, pos
}

// await waits until the batch at the position is ready; false if ctx is done before.
func (l *Loader) await(ctx context.Context, across bool) bool {
	if ctx.Err() != nil {
		return false
	}
	j := l.head(across)
	if l.prefetch == 0 {
		select {
		case <-j.done:
		default:
			j.run(ctx, l)
		}
		return !j.gone()
	}
	select {
	case <-j.done:
		return true
	case <-ctx.Done():
		return false
	}
}

// gone says whether a job that is over was ended before it had all samples.
func (j *job) gone() bool { return j.panicked == nil && j.err == errGone }

// drain gives up what was prepared ahead and waits until its goroutines have ended. The caller holds the lock.
func (l *Loader) drain() {
	for _, j := range l.queue {
		j.stop.Store(true)
	}
	for _, j := range l.queue {
		if l.prefetch > 0 {
			<-j.done
		}
		l.recycle(j)
	}
	clear(l.queue)
	l.queue = l.queue[:0]
}

// recycle keeps the buffers of a job that is over.
func (l *Loader) recycle(j *job) {
	j.idx = j.idx[:cap(j.idx)]
	l.free = append(l.free, j)
}

// quiet ends the goroutines of a loop that ends.
func (l *Loader) quiet() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.drain()
}
