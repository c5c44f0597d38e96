package dataset

import (
	"context"
	"iter"

	"github.com/halftone-ml/halftone/amp"
)

// A Batch is some samples as tensors. They belong to the scope of the loop's body, or to the one given to Next.
type Batch struct {
	X      *amp.Tensor // inputs: float32 [N C H W] for images, int64 [N T] for tokens
	Y      *amp.Tensor // targets: int64 [N] for labels, [N T] for tokens; float32 where the Spec's Targets are
	Index  []int       // the samples' numbers in the dataset
	Epoch  int
	Number int // of the batch in its epoch, from 0
}

// Len returns the number of samples.
func (b Batch) Len() int { return len(b.Index) }

// Next returns the next batch, owned by s: for loops that count steps. After an epoch's last batch comes the first of the next.
//
//	for s := range root.Steps(1000) {
//		b := loader.Next(s)
//
// It panics with an *amp.Error whose Kind is the dataset's error if a sample can't be had, and with a *WorkerPanic if a dataset
// or transform panicked; the position is then still that of the batch at fault.
func (l *Loader) Next(s *amp.Scope) Batch {
	l.made("Next")
	l.await(context.Background(), true)
	return l.take(s)
}

// Epoch yields what is left of the present epoch, one step of root.Steps per batch: s is the step's scope and owns b. After a
// break, the next call goes on with the batch that follows.
//
//	for epoch := loader.State().Epoch; epoch < epochs; epoch++ {
//		for s, b := range loader.Epoch(root) {
//			loss := amp.CrossEntropy(s, net.Forward(s, b.X), b.Y)
//
// It ends early when root's context is done, and panics as Next does.
func (l *Loader) Epoch(root *amp.Scope) iter.Seq2[*amp.Scope, Batch] {
	l.made("Epoch")
	return func(yield func(*amp.Scope, Batch) bool) {
		defer l.quiet()
		epoch, left := l.State().Epoch, l.Left()
		// Waiting comes before a step begins, so that an interrupt never leaves an empty one.
		if !l.await(root.Context(), false) {
			return
		}
		for s := range root.Steps(left) {
			if !yield(s, l.take(s)) || l.State().Epoch != epoch || !l.await(root.Context(), false) {
				return
			}
		}
	}
}

// Batches yields what is left of the present epoch, as Epoch does, but in child scopes of s that are no training steps: for
// evaluation.
//
//	for s, b := range test.Batches(root.NoGrad()) {
//		guess := amp.Values[int64](amp.ArgMax(s, net.Forward(s, b.X), 1))
func (l *Loader) Batches(s *amp.Scope) iter.Seq2[*amp.Scope, Batch] {
	l.made("Batches")
	return func(yield func(*amp.Scope, Batch) bool) {
		defer l.quiet()
		one := func() bool {
			c := s.Child()
			defer c.Close()
			return yield(c, l.take(c))
		}
		for epoch := l.State().Epoch; l.State().Epoch == epoch && l.await(s.Context(), false); {
			if !one() {
				return
			}
		}
	}
}

// take makes tensors of the batch at the position, which await has seen ready, and moves on.
func (l *Loader) take(s *amp.Scope) Batch {
	l.mu.Lock()
	defer l.mu.Unlock()
	j := l.queue[0]
	defer func() { // whether it was given or failed, the batch is not in the queue any more
		copy(l.queue, l.queue[1:])
		l.queue[len(l.queue)-1] = nil
		l.queue = l.queue[:len(l.queue)-1]
		l.recycle(j)
	}()
	j.check()
	n := len(j.idx)
	b := Batch{Index: make([]int, n), Epoch: j.epoch, Number: j.from / l.batch}
	for k, i := range j.idx {
		b.Index[k] = int(i)
	}
	shape := append([]int{n}, l.spec.Shape...)
	if j.tokens != nil {
		b.X = s.Own(amp.From(j.tokens[:n*size(l.spec.Shape)], shape...))
	} else {
		b.X = s.Own(amp.From(j.x[:n*size(l.spec.Shape)], shape...))
	}
	if shape := append([]int{n}, l.spec.Target...); j.values != nil {
		b.Y = s.Own(amp.From(j.values[:n*size(l.spec.Target)], shape...))
	} else {
		b.Y = s.Own(amp.From(j.y[:n*size(l.spec.Target)], shape...))
	}
	l.epoch, l.pos = l.after(j)
	return b
}
