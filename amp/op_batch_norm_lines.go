package amp

import (
	"math"
	"slices"

	"github.com/halftone-ml/halftone/amp/internal/cpu"
)

// Batch norm of float32 and halves in passes of package cpu. Where a channel has a plane of some size in each image, a pass goes over
// planes, with the channel's numbers as arguments. Short planes lie side by side: x is a matrix then, one row per image, and each of its
// columns has the numbers of its channel beside it.

const (
	shortPlane = 64   // planes below are columns
	planePiece = 2048 // elements of a plane that a pass takes
	stripWidth = 1024 // columns whose sums one task keeps
	sampleRows = 16   // rows whose mean stands in for that of a column at first
)

func (w channelWalk) short() bool { return w.plane < shortPlane }

// columns is the number of columns of short planes.
func (w channelWalk) columns() int { return w.c * w.plane }

// repeat gives every column the number of its channel.
func (w channelWalk) repeat(v []float32) []float32 {
	if w.plane == 1 {
		return v
	}
	out := make([]float32, 0, w.columns())
	for _, e := range v {
		for range w.plane {
			out = append(out, e)
		}
	}
	return out
}

// eachPlane calls f with the pieces of the planes of channel ch.
func (w channelWalk) eachPlane(k *lineWork, ch int, follow bool, f func(off, n int)) {
	for i := range w.n {
		k.lookAhead(w.columns(), follow && w.plane <= planePiece && i+1 < w.n)
		for at := 0; at < w.plane; at += planePiece {
			f((i*w.c+ch)*w.plane+at, min(planePiece, w.plane-at))
		}
	}
}

// eachChannel shares out the channels.
func (w channelWalk) eachChannel(f func(k *lineWork, ch int)) {
	cpu.Parallel(w.c, grainOf(w.perChannel()), func(lo, hi int) {
		k := lineWorks.Get().(*lineWork)
		defer k.release()
		for ch := lo; ch < hi; ch++ {
			f(k, ch)
		}
	})
}

func float32s(ts ...*Tensor) bool {
	return !slices.ContainsFunc(ts, func(t *Tensor) bool { return t.dt != Float32 })
}

func batchStatsLines(c *Call) {
	x := c.In[0]
	w := newChannelWalk(x)
	both := make([]float64, 2*w.c)
	if w.short() {
		w.columnStats(x, both[:w.c], both[w.c:])
	} else {
		w.eachChannel(func(k *lineWork, ch int) {
			sample := min(w.plane, chunk)
			k.Ahead = 0
			k.Arg[0] = float32(k.SumOf(k.read(0, x, x.off+ch*w.plane, 1, sample)) / float64(sample))
			k.Acc = [2]cpu.Lanes{}
			w.eachPlane(k, ch, float32s(x), func(off, n int) {
				k.F32[0] = k.read(0, x, x.off+off, 1, n)
				cpu.LineSpread.Run(n, &k.Line)
			})
			m := float64(w.perChannel())
			rest := k.Acc[0].Sum() / m
			both[ch], both[w.c+ch] = float64(k.Arg[0])+rest, max(0, k.Acc[1].Sum()/m-float64(rest*rest))
		})
	}
	store(c.Out, c.Out.off, both)
}

// columnStats sets mean and variance of the channels from moments of the columns about the mean of their first rows (Chan, Golub and
// LeVeque, "Algorithms for computing the sample variance", 1983).
func (w channelWalk) columnStats(x *Tensor, mean, variance []float64) {
	cols := w.columns()
	shift, row := make([]float32, cols), make([]float32, cols)
	sample := min(w.n, sampleRows)
	for i := range sample {
		load(row, x, x.off+i*cols, 1)
		for k, v := range row {
			shift[k] += v / float32(sample)
		}
	}
	sums, squares := w.columnPairs(func(k *lineWork, at, from, n int, a, b []float32) {
		k.F32[0], k.F32[1], k.F32[2], k.F32[3] = k.read(0, x, x.off+at, 1, n), shift[from:from+n], a, b
		cpu.LineSpreadColumns.Run(n, &k.Line)
	})
	n := float64(w.n)
	for ch := range mean {
		at := ch * w.plane
		for k := at; k < at+w.plane; k++ {
			sums[k] /= n
			variance[ch] += max(0, squares[k]-float64(n*sums[k]*sums[k]))
			sums[k] += float64(shift[k])
			mean[ch] += sums[k] / float64(w.plane)
		}
		for _, m := range sums[at : at+w.plane] {
			variance[ch] += float64(n * (m - mean[ch]) * (m - mean[ch]))
		}
		variance[ch] /= float64(w.perChannel())
	}
}

// columnPairs sums two numbers of each element over the rows: add adds those of n elements from offset at, which is column from, to a and
// b. Sums are in float32 for sumLines rows at most, and tasks are fixed blocks of rows and columns, whose sums are added up in order.
func (w channelWalk) columnPairs(add func(k *lineWork, at, from, n int, a, b []float32)) (first, second []float64) {
	cols := w.columns()
	block := max(sumRows, (w.n+normBlocks-1)/normBlocks)
	blocks, strips := (w.n+block-1)/block, (cols+stripWidth-1)/stripWidth
	parts := make([]float64, 2*cols*max(1, blocks)) // sums of no rows are 0
	cpu.Parallel(blocks*strips, 1, func(lo, hi int) {
		k := lineWorks.Get().(*lineWork)
		defer k.release()
		for task := lo; task < hi; task++ {
			from := task % strips * stripWidth
			n := min(stripWidth, cols-from)
			own := parts[task/strips*2*cols:]
			k.sums = resize(k.sums, 2*n)
			clear(k.sums)
			end := min(w.n, (task/strips+1)*block)
			for i := task / strips * block; i < end; i++ {
				add(k, i*cols+from, from, n, k.sums[:n], k.sums[n:])
				if i == end-1 || (i+1)%sumLines == 0 {
					cpu.AddWide(own[from:], k.sums[:n])
					cpu.AddWide(own[cols+from:], k.sums[n:])
					clear(k.sums)
				}
			}
		}
	})
	addBlocks(parts, 2*cols)
	return parts[:cols], parts[cols : 2*cols]
}

func batchSumsLines(c *Call) {
	dy, x := c.In[0], c.In[2]
	r := newChannelRule[float32](c.In[1], nil, c.Scalar)
	w := newChannelWalk(x)
	both := make([]float64, 2*w.c) // Σ dy·x̂ and Σ dy
	if w.short() {
		mean := w.repeat(r.mean)
		sums, products := w.columnPairs(func(k *lineWork, at, from, n int, a, b []float32) {
			k.F32[0], k.F32[1], k.F32[2], k.F32[3], k.F32[4] = k.read(0, dy, dy.off+at, 1, n), k.read(1, x, x.off+at, 1, n), mean[from:from+n], a, b
			cpu.LineProductColumns.Run(n, &k.Line)
		})
		for j := range sums {
			both[j/w.plane] += products[j]
			both[w.c+j/w.plane] += sums[j]
		}
	} else {
		w.eachChannel(func(k *lineWork, ch int) {
			k.Arg[0], k.Arg[1], k.Arg[4] = r.mean[ch], 1, 0
			k.Acc = [2]cpu.Lanes{}
			w.eachPlane(k, ch, float32s(x, dy), func(off, n int) {
				k.F32[0], k.F32[1] = k.read(0, x, x.off+off, 1, n), k.read(1, dy, dy.off+off, 1, n)
				cpu.LineNormPlainSums.Run(n, &k.Line)
			})
			both[ch], both[w.c+ch] = k.Acc[1].Sum(), k.Acc[0].Sum()
		})
	}
	stats := c.In[1]
	variance := make([]float64, w.c)
	load(variance, stats, stats.off+w.c, 1)
	for ch, v := range variance {
		both[ch] /= math.Sqrt(v + c.Scalar)
	}
	store(c.Out, c.Out.off, both)
}

// mapLines calls f for every row of short planes, ch being 0, and else for every piece of a plane of channel ch: n elements from offset at.
func (w channelWalk) mapLines(follow bool, f func(k *lineWork, at, n, ch int)) {
	rows, size := w.n*w.c, w.plane
	if w.short() {
		rows, size = w.n, w.columns()
	}
	cpu.Parallel(rows, grainOf(size), func(lo, hi int) {
		k := lineWorks.Get().(*lineWork)
		defer k.release()
		for r := lo; r < hi; r++ {
			k.lookAhead(size, follow && size <= planePiece && r+1 < hi)
			if w.short() {
				f(k, r*size, size, 0)
				continue
			}
			for at := 0; at < size; at += planePiece {
				f(k, r*size+at, min(planePiece, size-at), r%w.c)
			}
		}
	})
}

func batchNormLines(c *Call) {
	r := newChannelRule[float32](c.In[3], c.In[1], c.Scalar)
	if b := c.In[2]; b != nil {
		load(r.shift, b, b.off, b.strides[0])
	}
	ruledLines(c.Out, c.In[0], r)
}

// ruledLines sets out to (x - mean)·scale + shift.
func ruledLines(out, x *Tensor, r channelRule[float32]) {
	w := newChannelWalk(x)
	var mean, scale, shift []float32
	if w.short() {
		mean, scale, shift = w.repeat(r.mean), w.repeat(r.scale), w.repeat(r.shift)
	}
	w.mapLines(float32s(x), func(k *lineWork, at, n, ch int) {
		dst := k.target(1, out, out.off+at, 1, n)
		k.F32[0], k.F32[1] = k.read(0, x, x.off+at, 1, n), dst
		if mean != nil {
			k.F32[1], k.F32[2], k.F32[3], k.F32[4] = mean, scale, shift, dst
			cpu.LineChannels.Run(n, &k.Line)
		} else {
			k.Arg[0], k.Arg[1], k.Arg[2] = r.mean[ch], r.scale[ch], r.shift[ch]
			cpu.LineChannel.Run(n, &k.Line)
		}
		k.write(out, out.off+at, 1, dst)
	})
}

func batchDXLines(c *Call) {
	dy, x, out := c.In[0], c.In[1], c.Out
	w := newChannelWalk(x)
	r := gradientRule[float32](c, w)
	if c.Mode == modeRunning {
		ruledLines(out, dy, r)
		return
	}
	var mean, scale, slope, shift []float32
	if w.short() {
		mean, scale, slope, shift = w.repeat(r.mean), w.repeat(r.scale), w.repeat(r.slope), w.repeat(r.shift)
	}
	w.mapLines(float32s(x, dy), func(k *lineWork, at, n, ch int) {
		dst := k.target(2, out, out.off+at, 1, n)
		k.F32[0], k.F32[1], k.F32[2] = k.read(0, dy, dy.off+at, 1, n), k.read(1, x, x.off+at, 1, n), dst
		if mean != nil {
			k.F32[2], k.F32[3], k.F32[4], k.F32[5], k.F32[6] = mean, scale, slope, shift, dst
			cpu.LineChannelsGrad.Run(n, &k.Line)
		} else {
			k.Arg[0], k.Arg[1], k.Arg[2], k.Arg[3] = r.mean[ch], r.scale[ch], r.shift[ch], r.slope[ch]
			cpu.LineChannelGrad.Run(n, &k.Line)
		}
		k.write(out, out.off+at, 1, dst)
	})
}
