package amp

import (
	"math"

	"github.com/halftone-ml/halftone/amp/internal/cpu"
)

// The kernels of batch norm in float64, whose float32 and halves op_batch_norm_lines.go has, and what group_norm shares with them. A
// channel of x [n c …] is one plane of each image, or one column if there is no space.

type channelWalk struct{ n, c, plane int }

func newChannelWalk(x *Tensor) channelWalk {
	return channelWalk{n: x.shape[0], c: x.shape[1], plane: length(x.shape[2:])}
}

// perChannel is the number of elements of a channel.
func (w channelWalk) perChannel() int { return w.n * w.plane }

// eachPiece calls f with the pieces of a channel of at most chunk elements: offset, stride, count.
func (w channelWalk) eachPiece(ch int, f func(off, stride, n int)) {
	if w.plane == 1 {
		for i := 0; i < w.n; i += chunk {
			f(i*w.c+ch, w.c, min(chunk, w.n-i))
		}
		return
	}
	for i := range w.n {
		base := (i*w.c + ch) * w.plane
		for k := 0; k < w.plane; k += chunk {
			f(base+k, 1, min(chunk, w.plane-k))
		}
	}
}

// reduceChannels gives f every channel, spread over the workers; each is summed by one of them.
func reduceChannels[T cpu.Float](w channelWalk, f func(s *scratch[T], ch int)) {
	pool := scratches[T]()
	cpu.Parallel(w.c, grainOf(4*w.perChannel()), func(lo, hi int) {
		s := pool.Get().(*scratch[T])
		defer pool.Put(s)
		for ch := lo; ch < hi; ch++ {
			f(s, ch)
		}
	})
}

// mapChannels gives f consecutive pieces of x of at most chunk elements with the channel of the first, and whether the channel
// changes from element to element rather than being the same for all.
func mapChannels(w channelWalk, f func(s *scratch[float64], off, n, ch int, columns bool)) {
	rows, size := w.n*w.c, w.plane
	if w.plane == 1 {
		rows, size = w.n, w.c
	}
	pool := scratches[float64]()
	cpu.Parallel(rows, grainOf(4*size), func(lo, hi int) {
		s := pool.Get().(*scratch[float64])
		defer pool.Put(s)
		for r := lo; r < hi; r++ {
			for k := 0; k < size; k += chunk {
				if w.plane == 1 {
					f(s, r*size+k, min(chunk, size-k), k, true)
				} else {
					f(s, r*size+k, min(chunk, size-k), r%w.c, false)
				}
			}
		}
	})
}

func batchStatsCPU(c *Call) {
	w := newChannelWalk(c.In[0])
	reduceChannels(w, func(s *scratch[float64], ch int) {
		mean, variance := pieceStats(w, s, c.In[0], ch)
		s.buf[0][0], s.buf[0][1] = mean, variance
		store(c.Out, c.Out.off+ch, s.buf[0][:1])
		store(c.Out, c.Out.off+w.c+ch, s.buf[0][1:2])
	})
}

// pieceStats returns mean and biased variance of a channel. Moments are taken about the mean of its first piece, so that one pass in
// float64 loses nothing though the mean be large.
func pieceStats[T cpu.Float](w channelWalk, s *scratch[T], x *Tensor, ch int) (mean, variance float64) {
	shift, sum, square := math.NaN(), 0.0, 0.0
	w.eachPiece(ch, func(off, stride, n int) {
		v := fetch(&s.buf[0], x, x.off+off, stride, n)
		if shift != shift {
			d, _ := moments(v, 0)
			shift = d / float64(n)
		}
		d, q := moments(v, shift)
		sum += d
		square += q
	})
	m := float64(w.perChannel())
	mean = sum / m
	return shift + mean, max(0, square/m-float64(mean*mean))
}

// moments returns Σ(v - shift) and Σ(v - shift)².
func moments[T cpu.Float](v []T, shift float64) (sum, square float64) {
	var s0, s1, q0, q1 float64
	for len(v) >= 4 {
		a, b, c, d := float64(v[0])-shift, float64(v[1])-shift, float64(v[2])-shift, float64(v[3])-shift
		s0 += a + b
		s1 += c + d
		q0 += float64(a*a) + float64(b*b)
		q1 += float64(c*c) + float64(d*d)
		v = v[4:]
	}
	for _, x := range v {
		a := float64(x) - shift
		s0 += a
		q0 += float64(a * a)
	}
	return s0 + s1, q0 + q1
}

// products returns Σ a and Σ a·(b - shift).
func products(a, b []float64, shift float64) (sum, product float64) {
	var s0, s1, p0, p1 float64
	b = b[:len(a)]
	for len(a) >= 4 && len(b) >= 4 {
		s0 += a[0] + a[1]
		s1 += a[2] + a[3]
		p0 += float64(a[0]*(b[0]-shift)) + float64(a[1]*(b[1]-shift))
		p1 += float64(a[2]*(b[2]-shift)) + float64(a[3]*(b[3]-shift))
		a, b = a[4:], b[4:]
	}
	for i, v := range a {
		s0 += v
		p0 += float64(v * (b[i] - shift))
	}
	return s0 + s1, p0 + p1
}

// A channelRule holds the numbers of each channel that the elementwise kernels use.
type channelRule[T cpu.Float] struct{ mean, scale, shift, slope []T }

// newChannelRule reads mean and 1/√(variance+eps) from stats, times weight if there is one.
func newChannelRule[T cpu.Float](stats, weight *Tensor, eps float64) channelRule[T] {
	n := stats.shape[1]
	mem := make([]T, 4*n)
	r := channelRule[T]{mean: mem[:n], scale: mem[n : 2*n], shift: mem[2*n : 3*n], slope: mem[3*n:]}
	load(r.mean, stats, stats.off, 1)
	load(r.scale, stats, stats.off+n, 1)
	for i, v := range r.scale {
		r.slope[i] = T(1 / math.Sqrt(float64(v)+eps))
		r.scale[i] = r.slope[i]
	}
	if weight != nil {
		load(r.shift, weight, weight.off, weight.strides[0])
		for i, v := range r.shift {
			r.scale[i] *= v
			r.shift[i] = 0
		}
	}
	return r
}

func batchNormCPU(c *Call) {
	r := newChannelRule[float64](c.In[3], c.In[1], c.Scalar)
	if b := c.In[2]; b != nil {
		load(r.shift, b, b.off, b.strides[0])
	}
	ruledElements(c.Out, c.In[0], r)
}

// ruledElements sets out to (x - mean)·scale + shift.
func ruledElements(out, x *Tensor, r channelRule[float64]) {
	mapChannels(newChannelWalk(x), func(s *scratch[float64], off, n, ch int, columns bool) {
		v := fetch(&s.buf[0], x, x.off+off, 1, n)
		dst, ok := direct[float64](out, out.off+off, 1, n)
		if !ok {
			dst = s.buf[1][:n]
		}
		if columns {
			mean, scale, shift := r.mean[ch:ch+n], r.scale[ch:ch+n], r.shift[ch:ch+n]
			for i, e := range v {
				dst[i] = float64((e-mean[i])*scale[i]) + shift[i]
			}
		} else {
			mean, scale, shift := r.mean[ch], r.scale[ch], r.shift[ch]
			for i, e := range v {
				dst[i] = float64((e-mean)*scale) + shift
			}
		}
		if !ok {
			store(out, out.off+off, dst)
		}
	})
}

func batchSumsCPU(c *Call) {
	dy, x := c.In[0], c.In[2]
	r := newChannelRule[float64](c.In[1], nil, c.Scalar)
	w := newChannelWalk(x)
	reduceChannels(w, func(s *scratch[float64], ch int) {
		sum, product := 0.0, 0.0
		w.eachPiece(ch, func(off, stride, n int) {
			d, p := products(fetch(&s.buf[0], dy, dy.off+off, stride, n), fetch(&s.buf[1], x, x.off+off, stride, n), r.mean[ch])
			sum += d
			product += p
		})
		s.buf[0][0], s.buf[0][1] = product*r.slope[ch], sum
		store(c.Out, c.Out.off+ch, s.buf[0][:1])
		store(c.Out, c.Out.off+w.c+ch, s.buf[0][1:2])
	})
}

// gradientRule is the rule of batch_norm_backward: dx = (dy - shift - (x - mean)·slope)·scale. With running statistics, which do not depend
// on x, it is that of batch_norm for dy: dx = dy·scale, also where x is infinite.
func gradientRule[T cpu.Float](c *Call, w channelWalk) channelRule[T] {
	sums := c.In[4]
	r := newChannelRule[T](c.In[3], c.In[2], c.Scalar)
	if c.Mode == modeRunning {
		clear(r.mean)
		return r
	}
	n, per := w.c, T(w.perChannel())
	both := make([]T, 2*n)
	load(both, sums, sums.off, 1)
	for i := range n {
		r.slope[i] *= both[i] / per
		r.shift[i] = both[n+i] / per
	}
	return r
}

func batchDXCPU(c *Call) {
	dy, x := c.In[0], c.In[1]
	w := newChannelWalk(x)
	r := gradientRule[float64](c, w)
	if c.Mode == modeRunning {
		ruledElements(c.Out, dy, r)
		return
	}
	mapChannels(w, func(s *scratch[float64], off, n, ch int, columns bool) {
		g, v := fetch(&s.buf[0], dy, dy.off+off, 1, n), fetch(&s.buf[1], x, x.off+off, 1, n)
		dst, ok := direct[float64](c.Out, c.Out.off+off, 1, n)
		if !ok {
			dst = s.buf[2][:n]
		}
		v = v[:len(g)]
		dst = dst[:len(g)]
		if columns {
			for i, e := range g {
				k := ch + i
				dst[i] = (e - r.shift[k] - float64((v[i]-r.mean[k])*r.slope[k])) * r.scale[k]
			}
		} else {
			mean, scale, shift, slope := r.mean[ch], r.scale[ch], r.shift[ch], r.slope[ch]
			for i, e := range g {
				dst[i] = (e - shift - float64((v[i]-mean)*slope)) * scale
			}
		}
		if !ok {
			store(c.Out, c.Out.off+off, dst)
		}
	})
}
