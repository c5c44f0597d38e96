package amp

import (
	"sync"
	"sync/atomic"

	"github.com/halftone-ml/halftone/amp/internal/cpu"
)

// Convolutions of 16 images side by side, each in a lane of its own. What a tap meets is then a cache line wherever it lies, whatever the stride,
// weights are read where they are, and taps beyond an edge are left out: of 3×3 taps over 4×4 images those are three in ten. The sums are those
// of the column matrix, in whose order they are taken: zeros times finite weights change nothing, but that they can make a negative zero positive,
// which is done at the end of all sums of such shapes.

// An imageWork is what a worker needs.
type imageWork struct {
	held     [3]int    // the job, the box and the group that buf is for
	buf      []float32 // [16 images][channel][row][column][image]
	wide     widener   // halves of 16 images: channels on their way in, positions on their way out
	weights  []float32 // of the rows of a tile, widened
	from, n  int       // rows of the source in it
	sums     []float32
	plan     cpu.ImageProduct
	masks    []uint64 // of each class, the taps that its positions meet
	class    []int    // of each position
	start    []int    // of each position, the least element that it meets
	taps     []cpu.ImageTap
	ofClass  [][]cpu.ImageTap
	cols     []cpu.ImageColumn
	blocks   int // of 16 images
	plane    int // elements of a channel of 16 images
	position int // positions of an image
}

var imageWorks = sync.Pool{New: func() any { return new(imageWork) }}

const (
	imageTaps   = 16      // of a kernel, at most
	imageWidth  = 16      // of a result: in longer rows few taps are beyond an edge, and windows that are read where they lie cross few lines
	imageBudget = 1 << 18 // elements of the source in a box: they stay in the L2 cache
)

// sideBySide says whether the job is one that is taken with images side by side where the processor has kernels for that.
func (j *convJob[T]) sideBySide() bool {
	return j.kernel.w != nil && fullOrWidened(j.src, j.out, j.kernel.w) && j.imageShapes()
}

// imageShapes says whether the shapes are those that are taken with images side by side.
func (j *convJob[T]) imageShapes() bool {
	l := &j.lattice
	if j.step != [3]int{1, 1, 1} || j.start != [3]int{} || j.outSize != l.grid || l.size[0] != 1 || l.grid[0] != 1 || l.grid[2] > imageWidth {
		return false
	}
	if len(l.taps) < 2 || j.kernel.size > imageTaps || j.kernel.size != len(l.taps) || j.m < 2*cpu.ImageRows || l.channels < 8 {
		return false
	}
	if most := 1 << 30 / cpu.ImagePanel(); j.kernel.in+j.kernel.size > most || l.volume()*vectorSize > most { // distances in a panel have 32 bits
		return false
	}
	used := (l.images + vectorSize - 1) / vectorSize * vectorSize
	return l.images > 0 && l.volume() > 0 && l.grid[1]*l.grid[2] > 0 && 4*l.images >= 3*used
}

// images computes the job with images side by side, if it is for that: not with weights that are infinite or NaN, which count beyond edges too.
func (j *convJob[T]) images() bool {
	if !j.sideBySide() {
		return false
	}
	if j.bias == nil {
		j.bias = zeroBias[T](j.m * j.groups) // a negative zero becomes a positive one
	}
	if !cpu.StepKernels() {
		return false
	}
	boxes := j.imageBoxes()
	shares, each := rowShares(j.m, len(boxes)*j.groups, 24, 2*cpu.ImageRows, cpu.ImageRows)
	serial := int(patchJobs.Add(1))
	var bad atomic.Bool
	cpu.Parallel(len(boxes)*j.groups*shares, 1, func(lo, hi int) {
		w := imageWorks.Get().(*imageWork)
		defer imageWorks.Put(w)
		for i := lo; i < hi; i++ {
			n, group, first := i/(j.groups*shares), i/shares%j.groups, i%shares*each
			if first >= j.m || bad.Load() {
				continue
			}
			if piece := [3]int{serial, n, group}; w.held != piece {
				j.imageBox(w, &boxes[n], group)
				w.held = piece
			}
			if !j.imageRows(w, &boxes[n], group, first, min(each, j.m-first)) {
				bad.Store(true)
			}
		}
	})
	return !bad.Load()
}

// imageBoxes cuts images, 16 or 32 at a time, and their rows.
func (l *lattice) imageBoxes() []box {
	together := vectorSize
	row := l.channels * l.size[2] * vectorSize
	if 2*row*l.size[1] <= imageBudget {
		together *= 2
	}
	rows := l.grid[1]
	for rows > 1 {
		b := box{hi: [4]int{1, 1, rows, l.grid[2]}}
		if _, n := l.imageSource(&b); n*row*together/vectorSize <= imageBudget {
			break
		}
		rows = (rows + 1) / 2
	}
	var out []box
	for i := 0; i < l.images; i += together {
		for y := 0; y < l.grid[1]; y += rows {
			out = append(out, box{lo: [4]int{i, 0, y, 0}, hi: [4]int{min(i+together, l.images), 1, min(y+rows, l.grid[1]), l.grid[2]}})
		}
	}
	return out
}

// imageSource is the first row of the source that a box sees, and how many there are.
func (l *lattice) imageSource(b *box) (from, n int) {
	lo, hi := l.reach(b)
	from = min(max(0, lo[1]), l.size[1])
	return from, max(0, min(hi[1], l.size[1])-from)
}

// imageBox brings the images of a box side by side, and makes the plan.
func (j *convJob[T]) imageBox(w *imageWork, b *box, group int) {
	l := &j.lattice
	w.from, w.n = l.imageSource(b)
	w.plane = w.n * l.size[2] * vectorSize
	w.blocks = (b.hi[0] - b.lo[0] + vectorSize - 1) / vectorSize
	w.position = (b.hi[2] - b.lo[2]) * l.grid[2]
	w.buf = cpu.Grow(w.buf, w.blocks*l.channels*w.plane+vectorSize)
	some := max(1, pieceOf(j.src, vectorSize)/l.volume()) // channels at a time
	seen := w.n * l.size[2]
	image := l.groups * l.channels * l.volume()
	for i := range w.blocks {
		first := b.lo[0] + i*vectorSize
		images := min(vectorSize, b.hi[0]-first)
		for c := 0; c < l.channels && seen > 0; c += some {
			n := min(some, l.channels-c)
			at := j.src.off + first*image + (group*l.channels+c)*l.volume() + w.from*l.size[2]
			src, row := w.wide.rows(j.src, at, images, image, (n-1)*l.volume()+seen)
			for p := range n {
				cpu.SideBySide(w.buf[(i*l.channels+c+p)*w.plane:][:w.plane], images, seen, src[p*l.volume():], row)
			}
		}
	}
	w.classes(l, b)
	w.columns(l, &j.kernel, b)
	w.plan.Pairs = false
	w.plan.Plan(l.channels, cpu.ImagePanel(), j.kernel.size, j.imageIn(), w.plane, w.ofClass, w.cols)
}

// met is where in a channel of the box the element is that a tap meets at a position, and whether there is one.
func (w *imageWork) met(l *lattice, b *box, at int, tap [3]int) (int, bool) {
	y, x := (b.lo[2]+at/l.grid[2])*l.step[1]+tap[1], at%l.grid[2]*l.step[2]+tap[2]
	return ((y-w.from)*l.size[2] + x) * vectorSize, tap[0] == 0 && y >= 0 && y < l.size[1] && x >= 0 && x < l.size[2]
}

// classes sorts the positions of a box by the taps that meet something.
func (w *imageWork) classes(l *lattice, b *box) {
	w.masks, w.class, w.start = w.masks[:0], w.class[:0], w.start[:0]
	for at := range w.position {
		var mask uint64
		start := 0
		for t, tap := range l.taps {
			if place, ok := w.met(l, b, at, tap); ok {
				if mask == 0 || place < start {
					start = place
				}
				mask |= 1 << t
			}
		}
		class := 0
		for class < len(w.masks) && w.masks[class] != mask {
			class++
		}
		if class == len(w.masks) {
			w.masks = append(w.masks, mask)
		}
		w.class, w.start = append(w.class, class), append(w.start, start)
	}
}

// columns lists the vectors of the box, class by class, and the taps of each class.
func (w *imageWork) columns(l *lattice, k *kernelLayout, b *box) {
	w.cols, w.ofClass = w.cols[:0], w.ofClass[:0]
	w.taps = cpu.Grow(w.taps, len(w.masks)*len(l.taps))
	used := 0
	for class, mask := range w.masks {
		first := true
		for at, c := range w.class {
			if c != class {
				continue
			}
			if first {
				from := used
				for t, tap := range l.taps {
					if mask>>t&1 != 0 {
						place, _ := w.met(l, b, at, tap)
						w.taps[used] = cpu.ImageTap{A: k.place[t], B: place - w.start[at]}
						used++
					}
				}
				w.ofClass = append(w.ofClass, w.taps[from:used])
				first = false
			}
			for i := range w.blocks {
				w.cols = append(w.cols, cpu.ImageColumn{Class: class, From: i*l.channels*w.plane + w.start[at], To: i*w.position + at})
			}
		}
	}
}

// imageIn is how far apart the weights of channels lie for imageWeights.
func (j *convJob[T]) imageIn() int {
	k := &j.kernel
	if k.w.dt == Float32 || k.in < k.out {
		return k.in
	}
	return cpu.ImageRows * k.size
}

// imageWeights returns the weights of some rows of a group in float32, and the distance of the rows: in place, or widened.
func (j *convJob[T]) imageWeights(w *imageWork, group, first, rows int) ([]float32, int) {
	k := &j.kernel
	at := k.at(group) + first*k.out
	if k.w.dt == Float32 {
		return elements[float32](k.w)[at:], k.out
	}
	if k.in < k.out { // a row's channels follow each other
		n := j.channels * k.in
		w.weights = cpu.Grow(w.weights, rows*n)
		cpu.WidenRows(halfFormat(k.w), w.weights, n, halvesOf(k.w)[at:], k.out, rows, n)
		return w.weights, n
	}
	w.weights = cpu.Grow(w.weights, j.channels*j.imageIn())
	cpu.WidenRows(halfFormat(k.w), w.weights, j.imageIn(), halvesOf(k.w)[at:], k.in, j.channels, rows*k.size)
	return w.weights, k.size
}

// imageRows computes rows of a group for the positions of the box, and says whether their weights are finite.
func (j *convJob[T]) imageRows(w *imageWork, b *box, group, first, rows int) bool {
	row := (w.blocks*w.position + 1) * vectorSize
	w.sums = cpu.Grow(w.sums, cpu.ImageRows*row)
	plane := j.grid[1] * j.grid[2]
	image := j.groups * j.m * plane
	bias := any(j.bias).([]float32)[group*j.m:]
	for r := first; r < first+rows; r += cpu.ImageRows {
		high := min(cpu.ImageRows, first+rows-r)
		weights, out := j.imageWeights(w, group, r, high)
		if !w.plan.Rows(high, weights, out, w.buf, w.sums, row, bias[r:r+high]) {
			return false
		}
		for i := range high {
			for k := range w.blocks {
				n := b.lo[0] + k*vectorSize
				to := j.out.off + b.lo[2]*j.grid[2] + n*image + (group*j.m+r+i)*plane
				w.putImages(j.out, to, min(vectorSize, b.hi[0]-n), w.sums[i*row+k*w.position*vectorSize:], image)
			}
		}
	}
	return true
}

// putImages writes the sums of a row for up to 16 images, which lie image elements apart in the result.
func (w *imageWork) putImages(out *Tensor, at, images int, sums []float32, image int) {
	if out.dt == Float32 {
		cpu.OneByOne(elements[float32](out)[at:], images, w.position, sums, image)
		return
	}
	w.wide.buf = cpu.Grow(w.wide.buf, images*w.position)
	cpu.OneByOne(w.wide.buf, images, w.position, sums, w.position)
	cpu.NarrowRows(halfFormat(out), halvesOf(out)[at:], image, w.wide.buf, w.position, images, w.position)
}

// zeroBiases holds what zeroBias returns.
var zeroBiases struct {
	sync.Mutex
	f32 []float32
}

// zeroBias returns n zeros, which no one writes.
func zeroBias[T cpu.Float](n int) []T {
	var z []T
	f, ok := any(&z).(*[]float32)
	if !ok {
		return make([]T, n)
	}
	zeroBiases.Lock()
	defer zeroBiases.Unlock()
	if len(zeroBiases.f32) < n {
		zeroBiases.f32 = make([]float32, n)
	}
	*f = zeroBiases.f32[:n]
	return z
}
