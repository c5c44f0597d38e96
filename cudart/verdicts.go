package cudart

import (
	"sync"
	"sync/atomic"

	"github.com/halftone-ml/halftone/amp"
)

// The gradients of weights that autocast used as halves come out of casts to float32, which have every element in hand: a cast sets a word on
// the device unless all are finite. unscale_ then need not read such a gradient to test it: it asks for the word, and looks at the elements
// only where that is set, to say which was the first. A word is believed as long as nothing else has come near the memory that the cast wrote.

// verdictWords is how many words there are. With none left a gradient is read as it would be without.
const verdictWords = 1024

// A verdict is the word of the cast that wrote n elements of float32 from ptr on. It may be set for no reason, never the other way around: a
// word that nobody has asked for stays as it is when its next cast gets it, and who asks clears it.
type verdict struct {
	word, ptr uint64
	n         int
	of        *block // that the elements lie in, nil for a word that is free
}

// verdicts are those of a device.
type verdicts struct {
	some atomic.Int32 // that blocks have

	mu    sync.Mutex
	tried bool // to make them
	all   []verdict
	free  []*verdict
}

// words makes them, if there is memory for them; the context is bound and nothing is captured.
func (d *device) words() error {
	q := &d.verdicts
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.tried {
		return nil
	}
	q.tried = true
	mem, err := d.drv.Alloc(uint64(4 * verdictWords))
	if err != nil {
		return err
	}
	if err := d.drv.Memset8(mem, 0, uint64(4*verdictWords), d.stream); err != nil {
		_ = d.drv.Free(mem)
		return err
	}
	q.all = make([]verdict, verdictWords)
	for i := range q.all {
		q.all[i].word = uint64(mem) + uint64(4*i)
		q.free = append(q.free, &q.all[i])
	}
	return nil
}

// verdict returns a word for the cast of a call to float32, nil if there is none: then the cast tells nothing.
func (d *device) verdict(c *amp.Call, to *view) *verdict {
	b, own := c.Out.Layout().Buffer.(*block)
	if !own {
		return nil
	}
	if !d.capture.on.Load() && d.words() != nil { // which is no reason to fail
		return nil
	}
	q := &d.verdicts
	q.mu.Lock()
	defer q.mu.Unlock()
	n := len(q.free)
	if n == 0 {
		return nil
	}
	v := q.free[n-1]
	q.free = q.free[:n-1]
	v.ptr, v.n, v.of = to.ptr, to.len(), b
	return v
}

// believe gives a block the verdict on what it holds from now on.
func (d *device) believe(v *verdict) {
	q := &d.verdicts
	q.mu.Lock()
	defer q.mu.Unlock()
	q.part(v.of.verdict.Swap(v))
	q.some.Add(1)
}

// part takes a block's verdict from it, and gives the word back. The lock is held.
func (q *verdicts) part(v *verdict) {
	if v == nil {
		return
	}
	q.some.Add(-1)
	q.giveBack(v)
}

func (q *verdicts) giveBack(v *verdict) {
	v.of = nil
	q.free = append(q.free, v)
}

// unused gives a word back that no cast was given.
func (d *device) unused(v *verdict) {
	d.verdicts.mu.Lock()
	defer d.verdicts.mu.Unlock()
	d.verdicts.giveBack(v)
}

// verdictOn returns the word that tells of n elements of float32 at ptr, all that their memory has a verdict on; 0 without one.
func (d *device) verdictOn(b *block, at *view) uint64 {
	v := b.verdict.Load()
	if v == nil || at.dt != amp.Float32 || v.ptr != at.ptr || v.n != at.len() {
		return 0
	}
	return v.word
}

// doubt forgets the verdicts on memory that something reads or changes, unless it is unscale_.
func (d *device) doubt(bufs ...amp.Buffer) {
	if d.verdicts.some.Load() == 0 {
		return
	}
	for _, buf := range bufs {
		if b, ok := buf.(*block); ok && b.verdict.Load() != nil {
			b.dev.doubted(b)
		}
	}
}

func (d *device) doubted(b *block) {
	q := &d.verdicts
	q.mu.Lock()
	defer q.mu.Unlock()
	q.part(b.verdict.Swap(nil))
}

// doubts is doubt for all tensors of a call.
func (d *device) doubts(c *amp.Call) {
	if d.verdicts.some.Load() == 0 {
		return
	}
	for _, t := range c.In {
		if t != nil {
			d.doubt(t.Layout().Buffer)
		}
	}
	if c.Out != nil {
		d.doubt(c.Out.Layout().Buffer)
	}
}

// doubtAll is doubt for all memory: before a replay, or behind a launch that failed.
func (d *device) doubtAll() {
	if d.verdicts.some.Load() == 0 {
		return
	}
	q := &d.verdicts
	q.mu.Lock()
	defer q.mu.Unlock()
	for i := range q.all {
		if b := q.all[i].of; b != nil {
			q.part(b.verdict.Swap(nil))
		}
	}
}
