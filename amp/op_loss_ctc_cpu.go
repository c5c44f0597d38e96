package amp

import (
	"fmt"
	"math"

	"github.com/halftone-ml/halftone/amp/internal/cpu"
)

// The CPU's kernels of ctc_loss. Items are independent, and so are the steps of a gradient once the recursions are through: both are shared
// out, by shape alone. kernels/ctc.cu does the same.

// A ctcItem is what one item's target makes of a call.
type ctcItem struct {
	steps  int
	labels []int64
	at     int // column of its first state in alpha
}

// states is the number of states: blanks before, between and behind the labels.
func (i *ctcItem) states() int { return 2*len(i.labels) + 1 }

// A ctcCall is a call of one of the rows: logp [steps n classes] in memory, its items and the place of alpha.
type ctcCall struct {
	*Call
	logp  *Tensor
	items []ctcItem
	width int // of alpha: states of all items
}

// newCTC reads targets and lengths and refuses what is out of range.
func newCTC(c *Call, logp, targets, lengths *Tensor) *ctcCall {
	steps, n, classes := logp.shape[0], logp.shape[1], int64(logp.shape[2])
	k := &ctcCall{c, logp, make([]ctcItem, n), 2*targets.Len() + n}
	sizes, labels := make([]int64, 2*n), make([]int64, targets.Len())
	load(sizes[:n], lengths, lengths.off, lengths.strides[1])
	load(sizes[n:], lengths, lengths.off+lengths.strides[0], lengths.strides[1])
	i := 0
	targets.each(func(off int) { load(labels[i:i+1], targets, off, 1); i++ })
	at, total := 0, int64(0)
	for i := range k.items {
		room := int64(len(labels) - at)
		if len(targets.shape) == 2 {
			at, room = i*targets.shape[1], int64(targets.shape[1])
		}
		if t := sizes[i]; t < 0 || t > int64(steps) {
			fail("ctc_loss", ErrArgument, fmt.Sprintf("use lengths from 0 to %d", steps), "input length %d is %d", i, t)
		}
		size := sizes[n+i]
		if size < 0 || size > room {
			fail("ctc_loss", ErrArgument, fmt.Sprintf("use lengths from 0 to %d", room), "target length %d is %d", i, size)
		}
		k.items[i] = ctcItem{int(sizes[i]), labels[at : at+int(size)], 2*at + i}
		for j, label := range k.items[i].labels {
			if label < 0 || label >= classes || label == c.Ignore {
				fail("ctc_loss", ErrArgument, fmt.Sprintf("use classes from 0 to %d but for the blank, %d", classes-1, c.Ignore), "target %d is %d", at+j, label)
			}
		}
		at += int(size)
		total += size
	}
	if len(targets.shape) == 1 && total != int64(len(labels)) {
		fail("ctc_loss", ErrArgument, "use lengths that add up to the number of targets", "the sum of all %d target lengths is %d", n, total)
	}
	return k
}

// row reads x, which has the shape of logp, at a step of an item.
func (k *ctcCall) row(dst []float64, x *Tensor, t, n int) {
	load(dst, x, x.off+t*x.strides[0]+n*x.strides[1], x.strides[2])
}

var noPath = math.Inf(-1)

func ctcAlphaCPU(c *Call) {
	k := newCTC(c, c.In[0], c.In[1], c.In[2])
	alpha := elements[float64](c.Out)[c.Out.off : c.Out.off+c.Out.Len()]
	fill(alpha, noPath)
	cpu.Parallel(len(k.items), 1, func(lo, hi int) {
		lp := make([]float64, k.logp.shape[2])
		var paths ctcPaths
		for n := lo; n < hi; n++ {
			item := &k.items[n]
			paths.along(item.labels, k.Ignore, false)
			var before []float64
			for t := range item.steps {
				k.row(lp, k.logp, t, n)
				now := alpha[t*k.width+item.at:][:item.states()]
				paths.step(now, before, lp)
				before = now
			}
		}
	})
}

// lossOf returns the loss of an item.
func (k *ctcCall) lossOf(item *ctcItem, alpha *Tensor) float64 {
	if item.steps == 0 {
		if len(item.labels) == 0 {
			return 0
		}
		return math.Inf(1)
	}
	last := elements[float64](alpha)[alpha.off+(item.steps-1)*k.width+item.at:][:item.states()]
	if len(last) == 1 {
		return -last[0]
	}
	return -ctcLogSum(last[len(last)-1], last[len(last)-2])
}

// share is the weight that the reduction gives an item.
func (k *ctcCall) share(item *ctcItem) float64 {
	if k.Reduce != ReduceMean {
		return 1
	}
	return 1 / float64(max(1, len(item.labels))*len(k.items))
}

// zeroed says whether a loss counts as 0.
func (k *ctcCall) zeroed(loss float64) bool {
	return k.Mode == modeZeroInfinity && math.IsInf(loss, 1)
}

func ctcNLLCPU(c *Call) {
	k := newCTC(c, c.In[0], c.In[1], c.In[2])
	sum := 0.0
	for n := range k.items {
		loss := k.lossOf(&k.items[n], c.In[3])
		if k.zeroed(loss) {
			loss = 0
		}
		if c.Reduce == ReduceNone {
			store(c.Out, c.Out.off+n, []float64{loss})
			continue
		}
		sum += float64(loss * k.share(&k.items[n]))
	}
	if c.Reduce != ReduceNone {
		store(c.Out, c.Out.off, []float64{sum})
	}
}
